"""`sparkgen verify`: prints whether each ConfigMap with the runtime is what this version makes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sparkgen import __version__
from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import PLACE
from sparkgen.cli.request import ClusterOptions
from sparkgen.errors import SparkgenError
from sparkgen.phrases import some_of
from sparkgen.terminal import escaped_json, visible

if TYPE_CHECKING:
    from sparkgen.errors import Problem
    from sparkgen.usecases.verify import Checked

HELP = """Check that the runtime in manifests or in a namespace is what this version of sparkgen makes.

The runtime is a ConfigMap with the program of sparkgen's containers. The command looks for it in the files
and folders that you name, or in the namespace of a cluster if you name none. It compares the content with the
digest in the ConfigMap's name, and with the runtime of this version.

`current`: this version makes it. `other version`: it fits its name, but this version does not make it, and
cannot say who did. `altered`: it does not fit its name, or a field is not as sparkgen writes it. `missing`:
an application names it, but it is not there.

In a clone, the command compiles the runtime, as `sparkgen render` does.

Exit codes: 0 each runtime is current, 1 one of them is not or there is none, 2 wrong usage or an error.
"""
EXAMPLES = """\b
Examples:
  sparkgen verify deploy                    # manifests, without a cluster
  sparkgen render app.yaml | sparkgen verify -
  sparkgen verify -n analytics              # in a cluster
  sparkgen verify deploy --allow-other      # you have checked the other version
  sparkgen verify deploy -o json | jq '.runtimes[] | select(.state == "altered")'
"""
_TITLES = ("STATE", "NAMESPACE", "RUNTIME", "APPLICATIONS")
_SHOWN = 10
"""The most applications in a cell of the table, and problems of a ConfigMap, that are printed as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions(ClusterOptions):
    """Where to look, and whether another version's runtime is accepted; `output`: text or json."""

    paths: tuple[str, ...]
    allow_other: bool
    output: str


def verify(options: VerifyOptions) -> int:
    """Print a row for each runtime. Returns 1 if one is not as it must be, or if there is none."""
    from sparkgen.usecases import verify as usecase  # noqa: PLC0415 - not for --help

    unseen: tuple[str, ...] = ()
    if options.paths:
        if options.namespace or options.context or options.kubeconfig:
            raise SparkgenError("give files or folders, or a namespace of a cluster, not both")
        found, where = usecase.in_files(options.paths), " or ".join(options.paths)
    else:
        from sparkgen.cluster import connect  # noqa: PLC0415 - not for files

        cluster = connect(options.place)
        found, unseen = usecase.in_cluster(cluster)
        where = cluster.namespace
    rows = found.rows()
    _print(rows, found.unread, options.output)
    for text in unseen:
        output.note(f"not checked: {text}")
    if not rows:
        output.note(f"no ConfigMap with the runtime in {where}, and no application that names one")
    accepted = ("current", "other version") if options.allow_other else ("current",)
    for row in rows if options.output == "text" else ():
        if row.state not in accepted:
            _explain(row, in_cluster=not options.paths)
    return int(bool(found.unread) or not rows or any(row.state not in accepted for row in rows))


_WIDEST = 100
"""Characters to which a column is padded; the name of a ConfigMap has fewer."""


def _print(rows: Sequence[Checked], unread: Sequence[Problem], form: str) -> None:
    if form == "json":
        problems = [f"{one.position}: {one.message}; {one.next_step}" for one in unread]
        value = {"sparkgen": __version__, "runtimes": [asdict(row) for row in rows], "unread": problems}
        output.data(escaped_json(f"{json.dumps(value, indent=2, ensure_ascii=False)}\n"))
        return
    cells = [_TITLES, *(tuple(map(visible, _cells(row))) for row in rows)]
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(*cells, strict=True)]
    for line in cells if rows else ():
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        output.write(f"{'   '.join(padded).rstrip()}\n")
    for one in unread:
        output.note(f"{one.position}: not checked: {one.message}; {one.next_step}")


def _cells(row: Checked) -> tuple[str, ...]:
    return row.state, row.namespace or "-", row.name, some_of(row.applications, _SHOWN) or "-"


def _explain(row: Checked, *, in_cluster: bool) -> None:
    """Print what is wrong with a runtime, and the next step."""
    for text in row.problems[:_SHOWN]:
        output.note(text)
    if len(row.problems) > _SHOWN:
        output.note(f"and {len(row.problems) - _SHOWN} more; -o json prints all of them")
    output.note(f"{row.where or row.name}: {row.state}; {_next_step(row, in_cluster=in_cluster)}")


def _next_step(row: Checked, *, in_cluster: bool) -> str:
    name, namespace = shlex.quote(row.name), shlex.quote(row.namespace)
    if row.state == "other version":
        return "run `sparkgen verify` of the version that made it; if it says current, add --allow-other here"
    if in_cluster and row.state == "missing":
        return "its pods cannot start; to create it, run `sparkgen apply` again"
    if in_cluster:
        return f"find out who changed it, then delete it: kubectl delete configmap {name} -n {namespace}"
    if row.state == "missing":
        return f"give its folder, too, or check it in the cluster: sparkgen verify -n {namespace}"
    return "find out who changed it (git log), then run `sparkgen render` again"


COMMAND = command(
    VerifyOptions,
    verify,
    Option(
        "paths", "PATH", "Manifests: files, folders, or - for standard input. Default: a cluster.", many=True
    ),
    Option("allow_other", "--allow-other", "Accept the runtime of another version, too."),
    *PLACE,
    Option("output", "--output -o", "Output format.", choices=("text", "json"), default="text"),
)
