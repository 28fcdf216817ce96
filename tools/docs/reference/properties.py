"""Writes the page docs/reference/spark-properties.md: the verdict on every property, from the tables."""

from __future__ import annotations

from collections.abc import Iterable

from docs.reference.markdown import sentences, table
from sparkgen.model.properties import TYPED_PROPERTIES
from sparkgen.properties import kubernetes_table, submit_table
from sparkgen.properties.classes import BACKEND_CLASSES
from sparkgen.properties.known import known
from sparkgen.properties.older import older_names
from sparkgen.properties.table import ROLES
from sparkgen.properties.verdicts import Judgement, Verdict

_HEAD = """# Spark properties

<!-- Generated from sparkgen/properties. Do not edit: change a table there, then run `make golden`. -->

On this page you look up what a Spark property means in `spec.sparkConf`, and what `import` does with it.
`sparkgen explain PROPERTY` says the same at the command line.

Spark's Kubernetes module or spark-submit reads the properties on this page.
The list is made from the jars of each [tested Spark version](../compatibility.md).
Spark gets all other properties unchanged.

A property has one of these verdicts:

- **field**: a field of the document takes its place.
  In `sparkConf`, the property is an error (SG120); `import` sets the field if the table names one.
- **passed on**: Spark gets it unchanged.
- **read**: sparkgen reads it, and Spark may read it too.
- **done**: sparkgen decides it.
  In `sparkConf`, the property has no effect (SG121).
- **no effect**: nothing reads it here (SG121).
  If you lose something without it, `import` reports it as lost.
- **refused**: with it, Spark does not start (SG125).

In names and fields, `ROLE` stands for `driver` or `executor`, and `*` stands for any name.
"""
_VERDICTS = {
    Verdict.FIELD: "field",
    Verdict.PASSED: "passed on",
    Verdict.READ: "read",
    Verdict.DONE: "done",
    Verdict.NO_EFFECT: "no effect",
    Verdict.REFUSED: "refused",
}


def page() -> str:
    """Returns the page as Markdown."""
    parts = (
        _HEAD,
        "## Properties with a field that says the same\n",
        "These properties count in `sparkConf` as well; if both are set, the field takes precedence.\n",
        _typed(),
        "## Properties of native Spark on Kubernetes\n",
        _judged(kubernetes_table.ROWS),
        "## Other properties that spark-submit reads\n",
        _judged(submit_table.ROWS),
        "## Classes\n",
        "These classes need the scheduler backend of native Spark on Kubernetes.\n"
        "A property that names one of them, such as `spark.plugins`, gets a warning (SG121).\n",
        table(("class", "remarks"), ((f"`{name}`", sentences(why)) for name, why in BACKEND_CLASSES.items())),
        "## Older names\n",
        "Spark still reads these names, so sparkgen reads them as the new name.\n"
        "If several names of a property are set, the new one takes precedence, then the first in the list.\n",
        table(
            ("property", "older names"),
            ((f"`{name}`", ", ".join(f"`{one}`" for one in older)) for name, older in older_names().items()),
        ),
    )
    return "\n".join(parts)


def _typed() -> str:
    rows = (
        (f"`{name}`", _since(name), f"`spec.{'.'.join(path)}`") for path, name in TYPED_PROPERTIES.items()
    )
    return table(("property", "since Spark", "field"), sorted(rows))


def _judged(rows: Iterable[Judgement]) -> str:
    typed = set(TYPED_PROPERTIES.values())
    cells = (
        (
            f"`{row.name}{'*' if row.is_prefix else ''}`",
            _since(row.name),
            _VERDICTS[row.verdict],
            _remarks(row),
        )
        for row in rows
        if row.name.replace("ROLE", "driver") not in typed
    )
    return table(("property", "since Spark", "verdict", "remarks"), cells)


def _remarks(row: Judgement) -> str:
    fields = ", ".join(f"`spec.{field}`" for field in row.fields)
    if row.verdict is Verdict.FIELD:
        return sentences(fields or row.step, row.remark)
    return sentences(row.reason, row.step, f"import sets {fields}" if fields else "")


def _since(name: str) -> str:
    names = {name.replace("ROLE", role) for role in ROLES}
    return max((known()[one].since for one in names if one in known()), default="")
