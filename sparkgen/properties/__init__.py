"""Spark's properties: the known ones, their older names, and what sparkgen does with each of them."""

HADOOP = "spark.hadoop."
"""How properties begin that Spark gives to Hadoop."""
