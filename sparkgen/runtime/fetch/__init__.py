"""The init container `fetch`: it downloads the document's artifacts, checks them, and unpacks them.

What is read here was written by others: the registry, the archive, and a cache that pods of a node share.
"""
