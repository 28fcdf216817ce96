"""Older names that Spark still reads: sparkgen replaces them by the new name before it reads a property."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeVar

from sparkgen.properties.known import known

_Value = TypeVar("_Value")
_OF_YARN = "spark.yarn."


@cache
def older_names() -> Mapping[str, tuple[str, ...]]:
    """Returns new name -> its older names, in the order in which Spark reads them.

    Nothing reads the properties of YARN here, so their older names stay as they are.
    """
    return {
        one.name: one.older for one in known().values() if one.older and not one.name.startswith(_OF_YARN)
    }


@cache
def _newer() -> Mapping[str, str]:
    return {older: name for name, names in older_names().items() for older in names}


def new_name(name: str) -> str:
    """Returns the present name of a property."""
    return _newer().get(name, name)


def written_name(properties: Mapping[str, object], name: str) -> str:
    """Returns the name under which a property is written: the new name wins, then Spark's order decides."""
    names = (name, *older_names().get(name, ()))
    return next((one for one in names if one in properties), name)


def under_new_names(properties: Mapping[str, _Value]) -> dict[str, _Value]:
    """Returns the properties under their new names, each with the value that Spark would read.

    Source: SparkConf.getDeprecatedConfig and ConfigEntry.readString.
    """
    found = {}
    for name, value in properties.items():
        new = new_name(name)
        if written_name(properties, new) == name:
            found[new] = value
    return found


def overruled_names(properties: Mapping[str, object]) -> Mapping[str, str]:
    """Returns older names whose value Spark would not read -> the name whose value it reads instead."""
    winners = {name: written_name(properties, new_name(name)) for name in properties}
    return {name: winner for name, winner in winners.items() if name != winner}
