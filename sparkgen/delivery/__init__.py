"""Delivers a document's local files as OCI artifacts: finds, checks, compares (with the lock), packs, pushes.

The files that a document names with `./` or `../` are packed into at most two artifacts, `code` and
`dependencies`, with the same bytes on every machine. The lock beside the document records what was pushed.
Decisions are separate from reading files and requests to a registry: docs/design/delivery.md.
"""
