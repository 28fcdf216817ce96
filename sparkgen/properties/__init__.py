"""Spark's properties: which there are, their older names, and what becomes of each here."""
