"""What if: a recorded application replayed with other settings, on a virtual clock.

Spark's own policy of dynamic allocation decides how many executors it wants, and the allocator's production
`decide` what becomes of that. Everything here is a function of values: the same recording and settings give
the same result, on every machine.
"""
