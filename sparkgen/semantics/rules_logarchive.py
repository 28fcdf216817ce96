"""The archive of logs: one place, and lengths of time that can be kept."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.grammar.memory import to_mib
from sparkgen.model.logarchive import FIELDS_OF_STORES, INTERVAL, MAX_SIZE, seconds
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, Finding, about_key, rule
from sparkgen.semantics.wording import shortened

FIELD = ("logging", "archive")
SHORTEST_SECONDS = 5
"""How often archive.sh looks for new lines."""
LEAST_AGE_SECONDS = 3600
"""So a number that was meant in days does not delete the logs of today. The chart has the same number."""
LEAST_MIB = 8
"""The largest size of two files (logged.sh): those of driver and allocator that are not complete."""


@rule("SG326", ERROR)
def archives(facts: DocumentFacts) -> Iterator[Finding]:
    """No place or two, fields of a bucket for a claim, and times or a size that are too small."""
    section = facts.get(*FIELD)
    if section is None:
        return
    path = facts.path(*FIELD)
    if ("url" in section) == ("claim" in section):
        yield about_key(
            path,
            "needs one place for the logs: a bucket or a claim",
            "add `url:` or `claim:`" if "url" not in section else "delete `url` or `claim`",
        )
    for field in FIELDS_OF_STORES:
        if field in section and "url" not in section:
            yield about_key((*path, field), "has no effect without `url`", "delete it")
    interval = section.get("interval", INTERVAL)
    if seconds(interval) < SHORTEST_SECONDS:
        yield Finding(
            (*path, "interval"),
            "is too short",
            shortened(interval),
            f"{SHORTEST_SECONDS}s or more",
            f"write `interval: {INTERVAL}`",
        )
    age = section.get("maxAge")
    if age is not None and seconds(age) < LEAST_AGE_SECONDS:
        yield Finding(
            (*path, "maxAge"),
            "would delete logs that nobody has read",
            shortened(age),
            "1h or more",
            "write `maxAge: 30d`",
        )
    size = section.get("maxSize", MAX_SIZE)
    if to_mib(size) < LEAST_MIB:
        yield Finding(
            (*path, "maxSize"),
            "is too small for the files that are being written",
            shortened(size),
            f"{LEAST_MIB}m or more",
            f"write `maxSize: {MAX_SIZE}`",
        )
