"""`sparkgen run --local`: an application on this machine, with processes where a cluster has pods.

Document, allocator and scheduler are the ones of a cluster; only the world around the allocator is another.
"""
