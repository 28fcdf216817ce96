"""Spark on this machine: its releases, the scheduler jar, and what tests of the jar need."""
