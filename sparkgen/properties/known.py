"""The properties that Spark's own classes name: spark.tsv, which tools/spark/properties.py writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "spark.tsv"


@dataclass(frozen=True, slots=True)
class Known:
    """A property, a prefix that ends in a dot, or a class that a property can name.

    `since`: the version of Spark that brought it, if Spark says so. `versions`: the tested ones that have it.
    `readers`: "kubernetes" for Spark's Kubernetes module, "submit" for spark-submit, "plugin" for a class of
    the Kubernetes module; none for properties that are here for their older names. `older`: the names that
    every tested Spark reads in its place, in Spark's order.
    """

    name: str
    since: str
    versions: tuple[str, ...]
    readers: tuple[str, ...]
    older: tuple[str, ...]


@cache
def known() -> Mapping[str, Known]:
    """Returns name -> property, from the file."""
    lines = DATA.read_text(encoding="utf-8").splitlines()
    found = (_parsed(line) for line in lines if not line.startswith("#"))
    return {one.name: one for one in found}


def _parsed(line: str) -> Known:
    name, since, *lists = line.split("\t")
    versions, readers, older = (tuple(filter(None, text.split(","))) for text in lists)
    return Known(name, since, versions, readers, older)
