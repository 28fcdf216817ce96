"""The driver: what it says, what it is told, and the files that it starts with."""
