"""Executors as pods: the pod template, and all calls of the allocator to the API server."""
