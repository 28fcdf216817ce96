"""Calls to the API server: address and token, HTTP, and what its answers mean. What it sends is untrusted."""
