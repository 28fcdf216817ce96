"""What sparkgen does with each Spark property: one table for validation, import, `explain` and the reference.

Properties that a typed field sets are not here, unless their name begins with `spark.kubernetes.`
(sparkgen/model/properties.py has the fields): they count in `sparkConf` as well. Nor are those that neither
Spark's Kubernetes module nor spark-submit reads: Spark gets them unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from sparkgen.properties import kubernetes_table, submit_table
from sparkgen.properties.verdicts import Form, Judgement, Verdict

ROLES = ("driver", "executor")
CATCH_ALL = ("spark.kubernetes.", "spark.submit.")
"""Prefixes with a verdict for names that no tested Spark has: a new name of Spark needs its own verdict."""


@cache
def judgements() -> Mapping[str, Judgement]:
    """Returns name, or prefix that ends in a dot -> the judgement."""
    rows = (*kubernetes_table.ROWS, *submit_table.ROWS)
    return {row.name: row for row in _for_roles(rows)}


def judgement(name: str) -> Judgement | None:
    """Returns the judgement on a property: of its full name, or of its longest prefix; None without one."""
    found = judgements().get(name) or judgements().get(f"{name}.")
    prefix = name
    while found is None and "." in prefix:
        prefix = prefix.rpartition(".")[0]
        found = judgements().get(f"{prefix}.")
    return found


def passed(prefix: str) -> tuple[str, ...]:
    """Returns the properties with this prefix that are passed on to Spark."""
    return _with(Verdict.PASSED, prefix)


def done() -> tuple[str, ...]:
    """Returns the properties that sparkgen sets itself."""
    return _with(Verdict.DONE)


def _with(verdict: Verdict, prefix: str = "") -> tuple[str, ...]:
    rows = judgements().values()
    return tuple(row.name for row in rows if row.verdict is verdict and row.name.startswith(prefix))


@cache
def same_fields() -> Mapping[str, tuple[str, ...]]:
    """Returns property, or prefix -> path of the only field, which has the same value (prefix: a mapping)."""
    return {
        row.name: tuple(row.fields[0].removesuffix(".*").split("."))
        for row in judgements().values()
        if row.verdict is Verdict.FIELD and len(row.fields) == 1 and row.form is Form.TEXT and not row.remark
    }


def _for_roles(rows: tuple[Judgement, ...]) -> Iterator[Judgement]:
    """Yields the rows; a row with ROLE in its name once for each role."""
    for row in rows:
        for role in ROLES if "ROLE" in row.name else ("",):
            yield replace(
                row,
                name=row.name.replace("ROLE", role),
                step=row.step.replace("ROLE", role),
                fields=tuple(field.replace("ROLE", role) for field in row.fields),
            )
