"""Local files of a document as OCI artifacts: found, checked, compared with the lock, packed and pushed.

What a document names with `./` or `../` is packed into at most two artifacts, `code` and `dependencies`, the
same bytes on every machine. What was pushed stands in the lock beside the document. Reading files and talking
to a registry are apart from what is decided: docs/design/delivery.md.
"""
