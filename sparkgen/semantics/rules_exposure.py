"""Routes to Spark's pages from outside the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.errors import Path
from sparkgen.model import HISTORY_KIND
from sparkgen.semantics.facts import DocumentFacts, ServerFacts
from sparkgen.semantics.findings import ERROR, Finding, rule, server_rule
from sparkgen.semantics.wording import shortened

OWN_NAMES = ("history", "proxy")
"""Parts of an address from which Spark's pages derive their own address (ui/static/utils.js)."""


@rule("SG177", ERROR)
def paths(facts: DocumentFacts) -> Iterator[Finding]:
    """A route's path that an application's pages mistake for part of their own address."""
    yield from _path(
        facts.path("sparkUIOptions", "route", "path"), facts.get("sparkUIOptions", "route", "path")
    )


@server_rule("SG177", ERROR, kinds=(HISTORY_KIND,))
def server_paths(facts: ServerFacts) -> Iterator[Finding]:
    """A route's path that a history server's pages mistake for part of their own address."""
    route = (facts.spec.get("sparkUIOptions") or {}).get("route") or {}
    yield from _path(facts.path("sparkUIOptions", "route", "path"), route.get("path"))


def _path(path: Path, text: str | None) -> Iterator[Finding]:
    mistaken = [name for name in OWN_NAMES if name in (text or "").split("/")]
    if text is not None and mistaken:
        yield Finding(
            path,
            f"the Spark UI mistakes `{mistaken[0]}` for part of its own address, and stays empty",
            shortened(text),
            next_step="choose another path, such as /spark",
        )
