"""A small HTTP server for allocator and janitor that answers however many connections its neighbours hold.

One thread reads and writes all connections, so that one that says nothing costs a socket and no thread. What
may take a while runs on a bounded number of threads. It is the standard library's sockets alone: http.server
takes a thread per connection, and asyncio 0.1 s and 8 MB to import.
"""
