"""The driver: its reports, the answers to it, and the files that it starts with."""
