"""The applications of a namespace in a cluster, the state of each of their runs, and the reasons for it.

`find` lists the applications in the cluster. `state` and the modules that use it are pure: they decide from
objects as the API server returns them.
"""
