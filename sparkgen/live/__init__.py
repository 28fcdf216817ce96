"""What lives in a cluster: the applications of a namespace, how each of their runs fares, and why.

`find` asks the cluster which there are; `state` and what stands on it decide purely, from objects as the API
server gives them.
"""
