"""A real Kubernetes on this machine, for tests: see README.md beside this file."""
