"""Rendered objects -> text, a stream, or files in a directory.

Pure but for `directory` and `tree`, which touch the disk.
"""
