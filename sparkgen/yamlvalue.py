"""YAML text -> plain values, for files that are not documents: the work is bounded by their size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

MOST_MERGED = 10_000
"""The most keys that merges (`<<`) may copy: each merge copies those that the one before has copied."""
MOST_VALUES = 200_000
"""The most values with aliases written out: nine lines of aliases can stand for thousands of millions."""
MOST_CHARACTERS = 4 * 1024 * 1024
"""The most characters that aliases may add to a text when they are written out."""
_MERGE = "tag:yaml.org,2002:merge"


# Whichever is installed: PyYAML has the one in C only where it was built with libyaml.
class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader, which gives up on merges that multiply."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._merged = 0

    def flatten_mapping(self, node: Any) -> None:
        """Put the keys of merges into a mapping."""
        lists = [value.value for key, value in node.value if key.tag == _MERGE and value.id == "sequence"]
        self._count(sum(1 + len(item.value) for items in lists for item in items))
        before = len(node.value)
        super().flatten_mapping(node)
        self._count(max(0, len(node.value) - before))

    def construct_yaml_int(self, node: Any) -> Any:
        """A number; digits between colons stay a string, as for kubectl: YAML 1.1 counts them by sixty."""
        return self.construct_scalar(node) if ":" in node.value else super().construct_yaml_int(node)

    def construct_yaml_float(self, node: Any) -> Any:
        """The same for floating-point numbers."""
        return self.construct_scalar(node) if ":" in node.value else super().construct_yaml_float(node)

    def _count(self, merged: int) -> None:
        self._merged += merged
        if self._merged > MOST_MERGED:
            raise ValueError(f"its merges (<<) copy more than {MOST_MERGED} keys: write them out")


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)


def value_of(text: str) -> Any:
    """The value of a text. Raises ValueError if it is not valid YAML, contains itself, or is too large."""
    try:
        value = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe one
        _size(value, len(text) + MOST_CHARACTERS, {})
        return value
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    except (AttributeError, LookupError) as error:  # PyYAML's own, for a value that its tag contradicts
        raise ValueError(f"a tag does not fit its value ({error})") from error
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


@dataclass(frozen=True, slots=True)
class _Size:
    """How many values and characters there are, with aliases written out."""

    values: int
    characters: int


def _size(value: Any, most_characters: int, known: dict[int, _Size | None]) -> _Size:
    """The size of a value. `known`: by the id of a collection; None while it is counted."""
    if not isinstance(value, dict | list | tuple | set):
        return _Size(1, len(value) if isinstance(value, str | bytes) else 0)
    if id(value) in known:
        if (size := known[id(value)]) is None:
            raise ValueError("a value contains itself")
        return size
    known[id(value)] = None
    values, characters = 1, 0
    if isinstance(value, dict):
        characters = sum(len(key) for key in value if isinstance(key, str))
    for item in value.values() if isinstance(value, dict) else value:
        size = _size(item, most_characters, known)
        values, characters = values + size.values, characters + size.characters
    if values > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values when its aliases are written out")
    if characters > most_characters:
        raise ValueError(f"it has more than {most_characters:,} characters when its aliases are written out")
    known[id(value)] = size = _Size(values, characters)
    return size
