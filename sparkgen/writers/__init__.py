"""Rendered objects -> text, a stream, or files in a directory.

`layout`, `manifest` and `stream` are pure; the other modules read or write files, or handle signals.
"""
