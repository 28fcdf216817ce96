"""`sparkgen run --local`: an application on this machine, with processes instead of pods.

Document, allocator and scheduler are those of a cluster; only the allocator's backend is another one.
"""
