"""The driver: what it says and is told, and the files that it starts with."""
