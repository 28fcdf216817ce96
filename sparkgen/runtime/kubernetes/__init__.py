"""Calls to the API server: its address, the token, HTTP, and what answers mean. Answers are untrusted."""
