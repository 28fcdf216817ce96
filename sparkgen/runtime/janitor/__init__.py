"""The janitor of a shuffle service: removes the files that ended applications left in its directories.

It runs beside the service on each node, from the runtime image. docs/design/shuffle.md has the reasons.
"""
