"""The allocator's production code in a modelled cluster, on a virtual clock, with faults from a seed.

No part of the allocator is reimplemented here: its loop, watcher, view, decisions, Kubernetes client and
mailbox run unchanged, and only their ports are replaced. docs/design/simulator.md has the details.
"""
