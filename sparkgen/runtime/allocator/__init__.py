"""The allocator: creates and removes executors while an application runs. It observes, decides and acts.

It runs as a sidecar of the driver. It needs only the standard library and urllib3; beside a Connect server,
also h2. It never imports the generator.
"""
