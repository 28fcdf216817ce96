"""The allocator's production code in a modelled cluster, on a virtual clock, with faults from a seed.

Nothing of the allocator is written again here: its loop, watcher, view, decisions, Kubernetes client and
mailbox run as they are, and only their ports are other ones. docs/design/simulator.md says more.
"""
