"""Reports what was imported, and what a person must look at, as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from sparkgen.errors import path_text
from sparkgen.importing.entry import FINDINGS, Entry, Outcome
from sparkgen.importing.imported import Imported, LeftAlone, Result
from sparkgen.phrases import number_of
from sparkgen.terminal import escaped_json, visible

VERSION = 1


def as_text(result: Result, *, full: bool = False, done: str = "imported") -> str:
    """Returns the report for people: every finding with its place, reason and next step; then the numbers.

    `full`: also the values without a finding, and everything that was skipped. `done`: what was done.
    """
    blocks = ["\n".join(_application(item, full)) for item in result.imported]
    # if nothing was imported, the user wants to know the reasons
    left = list(_left(result.left_alone, full or not result.imported))
    return "\n\n".join([*blocks, *(["\n".join(left)] if left else []), summary(result, done)]) + "\n"


def summary(result: Result, done: str = "imported") -> str:
    """Returns the numbers: ``2 applications imported: 31 values kept, 1 lost``."""
    numbers = Counter(entry.outcome for item in result.imported for entry in item.entries if entry.source)
    added = sum(entry.outcome is Outcome.GUESSED for item in result.imported for entry in item.entries)
    parts = [number_of(numbers[Outcome.CARRIED] + numbers[Outcome.REWRITTEN], "value") + " kept"]
    parts += [f"{numbers[Outcome.NEEDLESS]} not needed"] if numbers[Outcome.NEEDLESS] else []
    parts += [f"{numbers[Outcome.CHANGED]} with a different meaning"] if numbers[Outcome.CHANGED] else []
    parts += [f"{added} chosen for you"] if added else []
    parts += [f"{numbers[Outcome.LOST]} lost"]
    return f"{number_of(len(result.imported), 'application')} {done}: {', '.join(parts)}"


def _application(item: Imported, full: bool) -> Iterator[str]:
    findings = item.findings
    what = f"{item.origin}: {item.kind} {item.name}".rstrip()
    yield visible(f"{what}: {number_of(len(findings), 'finding') if findings else 'nothing lost'}")
    for entry in findings:
        yield from _finding(entry)
    for problem in item.problems:
        yield visible(f"  not valid: {path_text(problem.path)}: {problem.message}")
    needless = [entry for entry in item.entries if entry.outcome is Outcome.NEEDLESS]
    if needless and not full:
        names = ", ".join(f"{entry.subject} ({entry.position.line})" for entry in needless)
        yield visible(f"  not needed (line): {names}")
    if full:
        for entry in item.entries:
            if entry.outcome not in FINDINGS:
                yield visible(_line(entry))


def _finding(entry: Entry) -> Iterator[str]:
    yield visible(_line(entry))
    if entry.step:
        yield visible(f"    next: {entry.step}")


def _line(entry: Entry) -> str:
    target = f" -> {path_text(entry.target)}" if entry.target and entry.source else ""
    reason = f": {entry.reason}" if entry.reason else ""
    return f"  {entry.position}: {entry.outcome.value}: {entry.subject}{target}{reason}"


def _left(items: Iterable[LeftAlone], full: bool) -> Iterator[str]:
    quiet: Counter[str] = Counter()
    for item in items:
        if item.finding or full:
            name = " ".join(part for part in (item.kind, item.name) if part)
            yield visible(f"{item.position}: skipped: {name}: {item.reason}".replace(": : ", ": "))
            if item.step:
                yield visible(f"  next: {item.step}")
        else:
            quiet[item.kind or "empty file"] += 1
    if quiet:
        yield visible("skipped: " + ", ".join(f"{number} {kind}" for kind, number in sorted(quiet.items())))


def as_json(result: Result) -> str:
    """Returns the report for programs: all values, also those without a finding."""
    value = {
        "version": VERSION,
        "summary": {
            "applications": len(result.imported),
            **{
                _key(outcome): sum(
                    entry.outcome is outcome for item in result.imported for entry in item.entries
                )
                for outcome in Outcome
            },
        },
        "applications": [_application_value(item) for item in result.imported],
        "leftAlone": [
            {
                "kind": item.kind,
                "name": item.name,
                "file": item.position.file,
                "line": item.position.line,
                "reason": item.reason,
                "finding": item.finding,
                **({"next": item.step} if item.step else {}),
            }
            for item in result.left_alone
        ],
        "problems": [
            {"code": p.code, "position": str(p.position), "message": p.message, "next": p.next_step}
            for p in result.problems
        ],
    }
    return escaped_json(json.dumps(value, indent=2, ensure_ascii=False)) + "\n"


def _key(outcome: Outcome) -> str:
    return outcome.name.lower()


def _application_value(item: Imported) -> dict[str, Any]:
    return {
        "name": item.name,
        "namespace": item.namespace,
        "kind": item.kind,
        "file": item.origin.file,
        "line": item.origin.line,
        "valid": not item.problems,
        "values": [_entry_value(entry) for entry in item.entries],
    }


def _entry_value(entry: Entry) -> dict[str, Any]:
    value: dict[str, Any] = {
        "outcome": _key(entry.outcome),
        "finding": entry.outcome in FINDINGS,
        "source": entry.subject if entry.source else None,
        "target": path_text(entry.target) if entry.target else None,
        "file": entry.position.file,
        "line": entry.position.line,
        "column": entry.position.column,
    }
    return value | {key: text for key, text in (("reason", entry.reason), ("next", entry.step)) if text}
