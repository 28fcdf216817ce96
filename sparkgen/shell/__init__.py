"""A session in client mode: Spark's driver on this machine, executors and their allocator in a cluster."""
