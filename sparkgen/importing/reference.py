"""The page docs/reference/import.md: what becomes of every field, told by the importer's own tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sparkgen.importing import apache, conf, kubeflow, kubeflow_connect
from sparkgen.importing.submit_options import OPTIONS, Option
from sparkgen.importing.table import Row

_HEAD = """# How `sparkgen import` converts each field

<!-- Generated from the tables of sparkgen/importing. Do not edit: change a table, then run `make golden`. -->

On this page you look up what becomes of a field or an option.
[Import from an operator or spark-submit](../import.md) shows how to import.
`ROLE` is `driver` or `executor`, and `*` is any name.
Fields that are not in these tables are reported as unknown.
Every report lists the values that are **lost**, with their lines.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [
        _HEAD,
        "## kubeflow: SparkApplication (sparkoperator.k8s.io/v1beta2)\n",
        _table(kubeflow.ROWS),
        "## kubeflow: ScheduledSparkApplication\n",
        "Fields below `spec.template` are converted as above.\n",
        _table(kubeflow.OUTER_ROWS),
        "## kubeflow: SparkConnect (sparkoperator.k8s.io/v1alpha1)\n",
        _table(kubeflow_connect.SPEC_ROWS),
        "## Apache: SparkApplication (spark.apache.org)\n",
        _table(row for row in apache.ROWS if not row.source.startswith(("metadata", "status"))),
        "## spark-submit\n",
        _options(),
        "## Spark properties\n",
        "These tables apply to all formats.\n"
        "With spark-submit, Apache's operator and SparkConnect, a property that has its own field in a "
        "document, "
        "such as `spark.executor.memory`, becomes that field.\n",
        _properties(),
    ]
    return "\n".join(parts)


def _table(rows: Iterable[Row]) -> str:
    lines = ["| input | document | remarks |", "|---|---|---|"]
    lines += [f"| `{row.source}` | {_here(row)} | {_cell(_words(row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def _here(row: Row) -> str:
    if row.needless:
        return "not needed"
    if row.target:
        return f"`{row.target.replace('outer.', 'spec.')}`"
    return "see remarks" if row.how else "**lost**"


def _words(row: Row) -> str:
    same = " or ".join(f"`{str(value).lower() if isinstance(value, bool) else value}`" for value in row.same)
    parts = [
        f"{same} is left out: sparkgen always works this way" if same else "",
        row.words,
        row.reason,
        row.step,
    ]
    return "; ".join(part for part in parts if part)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _options() -> str:
    lines = ["| input | document | remarks |", "|---|---|---|"]
    lines += [
        f"| `{option.name}` | {_place(option)} | {_cell(_option_words(option))} |" for option in OPTIONS
    ]
    lines.append(
        "| main file | `spec.mainApplicationFile` | without a scheme: a file in the image, or "
        "beside the document |"
    )
    lines.append("| arguments | `spec.arguments` | shell variables are copied unchanged, and reported |")
    return "\n".join(lines) + "\n"


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
        "master": "cluster managers other than Kubernetes are reported",
        "mode": "`client` is reported",
        "name": "shortened if necessary; `spark.app.name` keeps the full name",
        "list": "a list",
    }.get(option.kind, "")
    return "; ".join(part for part in (special, option.reason, option.step) if part)


def _properties() -> str:
    lines = ["| input | document | remarks |", "|---|---|---|"]
    for row in conf.ROWS:
        here = ", ".join(f"`spec.{target}`" for target in row.targets)
        lines.append(f"| `{row.name}` | {here} | {_cell(row.reason)} |")
    lines += [
        "| `spark.kubernetes.ROLE.volumes.*` | `spec.volumes`, `spec.ROLE.volumeMounts` "
        "| on-demand claims become `ephemeral` volumes |",
        "| `spark.kubernetes.namespace` | `metadata.namespace` | unless it is already set |",
    ]
    lines += [f"| `{name}` | **lost** | {_cell('; '.join(filter(None, words)))} |" for name, words in _lost()]
    lines += [f"| `{name}` | not needed | {_cell(why)} |" for name, why in conf.NEEDLESS.items()]
    lines += [
        "| other `spark.kubernetes.*` | **lost**, or not needed | see [the rules](rules.md), SG120, SG121 |",
        "| names without `spark.` | not needed | spark-submit drops them |",
        "| all others | `spec.sparkConf` | |",
    ]
    return "\n".join(lines) + "\n"


def _lost() -> Iterator[tuple[str, tuple[str, str]]]:
    yield from conf.LOST.items()
