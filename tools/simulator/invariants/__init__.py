"""The invariants, which hold in every schedule: each is a class."""
