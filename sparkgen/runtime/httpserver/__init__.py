"""A small HTTP server for allocator and janitor that answers however many connections other clients hold.

One thread reads and writes all connections, so that an idle connection needs a socket but no thread. Work
that may take a while runs on a limited number of threads. It uses only the standard library's sockets:
http.server needs a thread per connection, and asyncio takes 0.1 s and 8 MB to import.
"""
