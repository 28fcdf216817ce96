"""Reports of two sides, compared: names that differ in each run become words, then what differs is listed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from differential.differences import Difference, Seen

ABSENT = "-"
"""Stands for a value that one side does not have."""
_PATTERNS = (
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
    (r"\bspark-[0-9a-f]{32}\b", "APP-ID"),
    (r"(?<=spark-drv-)[0-9a-f]{16}|(?<=spark-exec-)[0-9a-f]{16}", "HEX"),
    (r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b", "IP"),
    (r"(?<=IP:)\d{2,5}\b", "PORT"),
    (r"(?<=spark://)[^/@]+\.svc:\d+(?=/)", "IP:PORT"),
    (r"\b\d{13}\b", "MILLISECONDS"),
    (r"\b[0-9a-f]{64}\b", "SECRET"),
)


UNORDERED = ("*/spark.app.initial.*.urls", "executor/jvm/loaded", "executor/jvm/texts")
"""Places where the order is that of a hash table of Spark's, with addresses as keys: by chance."""


@dataclass(frozen=True, slots=True)
class Differs:
    """A value that differs: its place, such as "driver/jvm/conf/spark.master", and the text of each side."""

    at: str
    native: str
    sparkgen: str

    def __str__(self) -> str:
        return f"{self.at}: {self.native!r} natively, {self.sparkgen!r} by sparkgen"


def normalised(value: Any, names: Mapping[str, str]) -> Any:
    """A report without what differs in each run: `names` is a name of this run -> the word for it."""
    order = sorted((name for name in names if name), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, order))) if order else None

    def text(old: str) -> str:
        new = pattern.sub(lambda found: names[found[0]], old) if pattern is not None else old
        for each, word in _PATTERNS:
            new = re.sub(each, word, new)
        return new

    def walk(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {text(str(key)): walk(below) for key, below in part.items()}
        if isinstance(part, list | tuple):
            return [walk(below) for below in part]
        return text(part) if isinstance(part, str) else part

    return walk(value)


def comparable(native: dict[str, Any], sparkgen: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both reports, without the facts of an executor's pod where only one side has made one."""
    sides = native, sparkgen
    if all("pod" in side.get("executor", {}) for side in sides):
        return sides
    first, second = ({**side, "executor": _without_pod(side.get("executor", {}))} for side in sides)
    return first, second


def _without_pod(executor: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in executor.items() if name != "pod"}


def differences(native: Any, sparkgen: Any, at: str = "") -> Iterator[Differs]:
    """What differs between two reports, in the order of their places."""
    if isinstance(native, Mapping) or isinstance(sparkgen, Mapping):
        ours, theirs = _mapping(sparkgen), _mapping(native)
        for key in sorted(theirs.keys() | ours.keys()):
            yield from differences(theirs.get(key), ours.get(key), f"{at}/{key}" if at else str(key))
    elif isinstance(native, list) or isinstance(sparkgen, list):
        yield from _of_lists(_list(native), _list(sparkgen), at)
    elif _is_unordered(at):
        yield from _of_lists(_text(native).split(","), _text(sparkgen).split(","), at)
    elif _text(native) != _text(sparkgen):
        yield Differs(at, _text(native), _text(sparkgen))


def _of_lists(native: Sequence[Any], sparkgen: Sequence[Any], at: str) -> Iterator[Differs]:
    """Items that one side alone has; then, whether the common ones have another order."""
    theirs, ours = [_text(item) for item in native], [_text(item) for item in sparkgen]
    yield from (Differs(f"{at}[]", item, ABSENT) for item in theirs if item not in ours)
    yield from (Differs(f"{at}[]", ABSENT, item) for item in ours if item not in theirs)
    common = [[item for item in side if item in theirs and item in ours] for side in (theirs, ours)]
    if common[0] != common[1] and not _is_unordered(at):
        yield Differs(f"{at}[order]", " ".join(common[0]), " ".join(common[1]))


def _is_unordered(at: str) -> bool:
    return any(fnmatchcase(at, pattern) for pattern in UNORDERED)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {} if value is None else {"": value}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: Any) -> str:
    return ABSENT if value is None else str(value)


def explained(
    found: Iterable[Differs], table: Sequence[Difference]
) -> tuple[dict[str, list[Differs]], list[Differs]]:
    """The differences by the row that knows them, and those that no row knows."""
    known: dict[str, list[Differs]] = {}
    unknown = []
    for one in found:
        row = next((row for row in table if any(is_seen(one, seen) for seen in row.seen)), None)
        if row is None:
            unknown.append(one)
        else:
            known.setdefault(row.name, []).append(one)
    return known, unknown


def is_seen(one: Differs, seen: Seen) -> bool:
    """Whether a pattern of the table is about a difference."""
    values = ((one.at, seen.at), (one.native, seen.native), (one.sparkgen, seen.sparkgen))
    return all(fnmatchcase(value, pattern) for value, pattern in values)
