"""Compares two sets of Kubernetes objects, object by object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from sparkgen import textdiff
from sparkgen.diff.values import ObjectChange, Side
from sparkgen.diff.words import masked
from sparkgen.objects import ObjectView
from sparkgen.yamltext import dump

Key = tuple[str, str, str]
_RUN = "<run>"


def object_changes(old: Side | None, new: Side | None) -> Iterator[ObjectChange]:
    """The objects that differ, in the order of the new side, then those that only the old side has."""
    before = _by_key(old)
    after = _by_key(new)
    runs = (old.run if old else "", new.run if new else "")
    for key in dict.fromkeys([*after, *before]):
        for pair in _pairs(before.get(key, []), after.get(key, [])):
            change = _change(*pair, runs)
            if change:
                yield change


def _by_key(side: Side | None) -> dict[Key, list[ObjectView]]:
    """Objects by group, kind and name; without the run in the name, to compare the objects of two runs.

    A folder may have several objects of one key, and who applies it gets one of them.
    """
    found: dict[Key, list[ObjectView]] = {}
    if side is None:
        return found
    run = side.run
    for item in side.objects:
        key = (item["apiVersion"].rpartition("/")[0], item["kind"], _plain(_name(item), run))
        found.setdefault(key, []).append(item)
    return found


def _pairs(
    old: Sequence[ObjectView], new: Sequence[ObjectView]
) -> Iterator[tuple[ObjectView | None, ObjectView | None]]:
    """The objects to compare: of several with one key, those that are equal first."""
    if len(old) > 1:
        old = sorted(old, key=lambda item: item not in new)
    yield from zip_longest(old, new)


def _plain(name: str, run: str) -> str:
    return name.replace(run, _RUN, 1) if run and name.startswith(run) else name


def _name(item: ObjectView) -> str:
    return str(item["metadata"]["name"])


def _change(old: ObjectView | None, new: ObjectView | None, runs: tuple[str, str]) -> ObjectChange | None:
    if old is None or new is None:
        item = old or new
        if item is None:
            return None
        names = (_name(item), "") if new is None else ("", _name(item))
        diff = unified(text(old), text(new), titled(old), titled(new))
        return ObjectChange("removed" if new is None else "added", item["kind"], *names, diff)
    renamed = _name(old) != _name(new)
    before = text(old).replace(*runs) if renamed else text(old)
    diff = unified(before, text(new), titled(old), titled(new))
    if not diff and not renamed:
        return None
    return ObjectChange("replaced" if renamed else "changed", new["kind"], _name(old), _name(new), diff)


def text(item: ObjectView | None) -> str:
    """An object as YAML; "" for None."""
    return "" if item is None else dump(dict(item))


def titled(item: ObjectView | None) -> str:
    """The file name of an object in a diff: `Job/pi-51bb888d`."""
    return "/dev/null" if item is None else f"{item['kind']}/{_name(item)}"


def unified(old: str, new: str, old_title: str, new_title: str) -> str:
    """A unified diff without secrets; "" if there is no difference."""
    if old == new:
        return ""
    return masked("\n".join(textdiff.unified(old.splitlines(), new.splitlines(), old_title, new_title, "")))
