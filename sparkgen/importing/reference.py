"""The page docs/reference/import.md: what becomes of every field, told by the importer's own tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sparkgen.importing import apache, conf, kubeflow, kubeflow_connect
from sparkgen.importing.submit_options import OPTIONS, Option
from sparkgen.importing.table import Row

_HEAD = """# What `sparkgen import` makes of each field

<!-- Generated from the tables of sparkgen/importing. Do not edit: change a table, then run `make golden`. -->

[Moving in](../import.md) tells how to import; this page is to look things up. `ROLE` is `driver` and
`executor`; `*` is any name. A field that is not on the list is reported as unknown.
What is **lost** is in every report, with its line.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [
        _HEAD,
        "## kubeflow: SparkApplication (sparkoperator.k8s.io/v1beta2)\n",
        _table(kubeflow.ROWS),
        "## kubeflow: ScheduledSparkApplication\n",
        "What stands below `spec.template` is as above.\n",
        _table(kubeflow.OUTER_ROWS),
        "## kubeflow: SparkConnect (sparkoperator.k8s.io/v1alpha1)\n",
        _table(kubeflow_connect.SPEC_ROWS),
        "## Apache: SparkApplication (spark.apache.org)\n",
        _table(row for row in apache.ROWS if not row.source.startswith(("metadata", "status"))),
        "## spark-submit\n",
        _options(),
        "## Spark properties\n",
        "Of all formats. With spark-submit, Apache's operator and SparkConnect a property that has a typed\n"
        "field here, such as `spark.executor.memory`, becomes that field.\n",
        _properties(),
    ]
    return "\n".join(parts)


def _table(rows: Iterable[Row]) -> str:
    lines = ["| there | here | |", "|---|---|---|"]
    lines += [f"| `{row.source}` | {_here(row)} | {_cell(_words(row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def _here(row: Row) -> str:
    if row.needless:
        return "not needed"
    if row.target:
        return f"`{row.target.replace('outer.', 'spec.')}`"
    return "see there" if row.how else "**lost**"


def _words(row: Row) -> str:
    same = " or ".join(f"`{str(value).lower() if isinstance(value, bool) else value}`" for value in row.same)
    parts = [f"{same} is left out: so it is here anyway" if same else "", row.words, row.reason, row.step]
    return "; ".join(part for part in parts if part)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _options() -> str:
    lines = ["| there | here | |", "|---|---|---|"]
    lines += [
        f"| `{option.name}` | {_place(option)} | {_cell(_option_words(option))} |" for option in OPTIONS
    ]
    lines.append("| main file | `spec.mainApplicationFile` | without a scheme: looked for in the image |")
    lines.append(
        "| arguments | `spec.arguments` | the shell's variables stay as they are, and are reported |"
    )
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
        "master": "another cluster manager than Kubernetes is reported",
        "mode": "`client` is reported",
        "name": "made to fit; `spark.app.name` keeps it as it is",
        "list": "a list",
    }.get(option.kind, "")
    return "; ".join(part for part in (special, option.reason, option.step) if part)


def _properties() -> str:
    lines = ["| there | here | |", "|---|---|---|"]
    for row in conf.ROWS:
        here = ", ".join(f"`spec.{target}`" for target in row.targets)
        lines.append(f"| `{row.name}` | {here} | {_cell(row.reason)} |")
    lines += [
        "| `spark.kubernetes.ROLE.volumes.*` | `spec.volumes`, `spec.ROLE.volumeMounts` "
        "| claims on demand become `ephemeral` volumes |",
        "| `spark.kubernetes.namespace` | `metadata.namespace` | unless that is said already |",
    ]
    lines += [f"| `{name}` | **lost** | {_cell('; '.join(filter(None, words)))} |" for name, words in _lost()]
    lines += [f"| `{name}` | not needed | {_cell(why)} |" for name, why in conf.NEEDLESS.items()]
    lines += [
        "| other `spark.kubernetes.*` | **lost**, or not needed | see [the rules](rules.md), SG120, SG121 |",
        "| what does not start with `spark.` | not needed | spark-submit drops it |",
        "| all others | `spec.sparkConf` | |",
    ]
    return "\n".join(lines) + "\n"


def _lost() -> Iterator[tuple[str, tuple[str, str]]]:
    yield from conf.LOST.items()
