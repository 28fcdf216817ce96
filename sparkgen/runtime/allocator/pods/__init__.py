"""Executors as pods: their template, and all that the allocator asks an API server to do."""
