"""Cleans orders, by a table that Spark has put where `SparkFiles` looks."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from pyspark import SparkFiles


def cleaned(orders: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The name of each order's country; "unknown" for a code that the table does not have."""
    with Path(SparkFiles.get("countries.csv")).open(encoding="utf-8") as table:
        names = dict(csv.reader(table))
    for _, code in orders:
        yield names.get(code.strip().lower(), "unknown")
