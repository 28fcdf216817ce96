"""Spark's properties: the known ones, their older names, and what sparkgen does with each of them."""
