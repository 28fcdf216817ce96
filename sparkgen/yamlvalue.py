"""YAML text -> plain values, for files that are not documents: the work is bounded by their size."""

from __future__ import annotations

from typing import Any

import yaml

MOST_MERGED = 10_000
"""The most keys that merges (`<<`) may copy: each merge copies those that the one before has copied."""
MOST_VALUES = 200_000
"""The most values with aliases written out: nine lines of aliases can stand for thousands of millions."""
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
        _size(value, {})
        return value
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    except (AttributeError, LookupError) as error:  # PyYAML's own, for a value that its tag contradicts
        raise ValueError(f"a tag does not fit its value ({error})") from error
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _size(value: Any, known: dict[int, int]) -> int:
    """The number of values with aliases written out. `known`: by the id of a value; 0 while it is counted."""
    if not isinstance(value, dict | list | tuple | set):
        return 1
    if id(value) in known:
        if not known[id(value)]:
            raise ValueError("a value contains itself")
        return known[id(value)]
    known[id(value)] = 0
    size = 1 + sum(_size(item, known) for item in (value.values() if isinstance(value, dict) else value))
    if size > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values when its aliases are written out")
    known[id(value)] = size
    return size
