"""The allocator: creates and removes executors while an application runs. Observe, decide, act.

It runs as a sidecar of the driver, on the standard library and urllib3 alone; beside a Connect server on h2,
too. It never imports the generator.
"""
