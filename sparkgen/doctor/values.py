"""The values of the doctor: a row for each check, and the request to a platform team that rows come to."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from sparkgen.terminal import visible


class Verdict(enum.StrEnum):
    """What a check says. Only FAILS makes the command exit with 1."""

    WORKS = "works"
    WARNS = "warns"
    FAILS = "fails"
    UNKNOWN = "unknown"
    """It could not be found out."""
    SKIPPED = "skipped"
    """It needs something that failed."""


@dataclass(frozen=True, slots=True)
class Row:
    """The result of a check. `found`: what is the case; `meaning`: for the user; `ask`: a platform team."""

    check: str
    verdict: Verdict
    found: str
    meaning: str = ""
    ask: str = ""

    @property
    def value(self) -> dict[str, str]:
        """The row for JSON."""
        return asdict(self)


def skipped(check: str, needs: Iterable[str], rows: Mapping[str, Row]) -> Row | None:
    """Returns the row of a check that needs something that does not work; None if it may be tried."""
    lacks = next((name for name in needs if _stops(rows.get(name))), "")
    return Row(check, Verdict.SKIPPED, f"not tried, because of: {words(lacks)}") if lacks else None


def _stops(row: Row | None) -> bool:
    return row is not None and row.verdict in (Verdict.FAILS, Verdict.SKIPPED)


def words(check: str) -> str:
    """The name of a check for people."""
    return check.replace("-", " ")


def request(rows: Iterable[Row], namespace: str, kubernetes: str) -> str:
    """Returns the text to paste into a ticket for the platform team; "" if there is nothing to ask for.

    A finding takes one line, so that no text of the cluster can look like another request.
    """
    asked = [row for row in rows if row.ask and row.verdict in (Verdict.FAILS, Verdict.WARNS)]
    if not asked:
        return ""
    version = visible("".join(kubernetes.split()))
    where = f"the namespace {namespace}" + (f" (Kubernetes {version})" if version else "")
    lines = [f"We want to run Apache Spark with sparkgen in {where}. `sparkgen doctor` found:"]
    for number, row in enumerate(asked, 1):
        found, ask = (visible(" ".join(text.split())) for text in (row.found, row.ask))
        lines += ["", f"{number}. {words(row.check)}: {found}.", f"   Please {ask}."]
    return "\n".join(lines) + "\n"
