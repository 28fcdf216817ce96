"""Writes the page docs/reference/import.md: what becomes of every field, from the importer's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from docs.reference import conversions
from docs.reference.markdown import sentences, table
from sparkgen.importing import apache, kubeflow, kubeflow_connect
from sparkgen.importing.submit_options import OPTIONS, Option
from sparkgen.importing.table import Row

_HEAD = """# How `sparkgen import` converts each field

<!-- Generated from the tables of sparkgen/importing. Do not edit: change a table, then run `make golden`. -->

On this page you look up what `sparkgen import` does with each field, option and Spark property.
[Import from an operator or spark-submit](../import.md) shows how to import.

The column "input" names a field of another operator's resource, or an option of spark-submit.
The column "document" names the field of sparkgen's document that gets its value.
Two entries in this column name no field:

- "not needed" means that nothing is lost without the value.
- "**lost**" means that the value cannot be converted.
  Every report lists the lost values, with their lines.

In both columns, `ROLE` stands for `driver` or `executor`, and `*` stands for any name.
A field that is in none of these tables is reported as unknown.
"""
_HEADS = ("input", "document", "remarks")


def page() -> str:
    """Returns the page as Markdown."""
    parts = [
        _HEAD,
        "## kubeflow: SparkApplication (sparkoperator.k8s.io/v1beta2)\n",
        _table(kubeflow.ROWS, conversions.SPARK_APPLICATION),
        "## kubeflow: ScheduledSparkApplication\n",
        "Fields below `spec.template` are converted in the same way as the fields of a SparkApplication.\n",
        _table(kubeflow.OUTER_ROWS, conversions.SCHEDULED),
        "## kubeflow: SparkConnect (sparkoperator.k8s.io/v1alpha1)\n",
        _table(kubeflow_connect.SPEC_ROWS, conversions.SPARK_CONNECT),
        "## Apache: SparkApplication (spark.apache.org)\n",
        _table(
            [row for row in apache.ROWS if not row.source.startswith(("metadata", "status"))],
            conversions.APACHE,
        ),
        "## spark-submit\n",
        _options(),
        "## Spark properties\n",
        "[Spark properties](spark-properties.md) shows what becomes of each property, in all formats.\n"
        "Some properties have their own field in a document: for example, `spark.executor.memory` has "
        "`executor.memory`.\n"
        "With spark-submit, Apache's operator and SparkConnect, these properties become their fields.\n"
        "spark-submit ignores names that do not start with `spark.`, so they are not needed.\n",
    ]
    return "\n".join(parts)


def _table(rows: Sequence[Row], words: Mapping[str, str]) -> str:
    if unknown := words.keys() - {row.source for row in rows}:
        raise AssertionError(f"tools/docs/reference/conversions.py names fields without a row: {unknown}")
    return table(
        _HEADS, ((f"`{row.source}`", _here(row), _words(row, words.get(row.source, ""))) for row in rows)
    )


def _here(row: Row) -> str:
    if row.needless:
        return "not needed"
    if row.target:
        return f"`{row.target.replace('outer.', 'spec.')}`"
    return "see remarks" if row.how else "**lost**"


def _words(row: Row, what_it_does: str) -> str:
    same = " or ".join(f"`{str(value).lower() if isinstance(value, bool) else value}`" for value in row.same)
    reason = f"any other value is lost, because {row.reason}" if same else row.reason
    left_out = f"the value {same} is left out, because sparkgen always works this way" if same else ""
    return sentences(left_out, what_it_does, reason, row.step)


def _options() -> str:
    rows = [(f"`{option.name}`", _place(option), _option_words(option)) for option in OPTIONS]
    main = "A path without a scheme is a file in the image, or beside the document."
    rows.append(("main file", "`spec.mainApplicationFile`", main))
    arguments = "Shell variables are copied unchanged, and reported."
    rows.append(("arguments", "`spec.arguments`", arguments))
    return table(_HEADS, rows)


def _place(option: Option) -> str:
    if option.needless or option.kind in ("master", "mode"):
        return "not needed"
    if option.target.startswith("spark."):
        return f"`spec.sparkConf`: `{option.target}`"
    if option.kind == "property":
        return "see below"
    return f"`{option.target}`" if option.target else "**lost**"


def _option_words(option: Option) -> str:
    special = {
        "master": "the report lists a cluster manager other than Kubernetes",
        "mode": "the report lists the value `client`",
        "name": "the name is shortened if necessary, and `spark.app.name` keeps the full name",
        "list": "the text becomes a list",
    }.get(option.kind, "")
    return sentences(special, option.reason, option.step)
