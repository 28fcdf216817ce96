"""The janitor of a shuffle service: removes what applications have left in its directories, and nothing else.

It runs beside the service on each node, from the runtime image. docs/design/shuffle.md says why it is so.
"""
