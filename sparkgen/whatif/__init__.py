"""What if: replays a recorded application with other settings, on a virtual clock.

Spark's own policy of dynamic allocation sets the target number of executors, and the allocator's production
`decide` creates and deletes them. All results depend only on values: the same recording and settings give the
same result on every machine.
"""
