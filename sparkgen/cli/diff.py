"""`sparkgen diff`: prints what would change, in words and as objects."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CHANGES, COLOUR, CONTEXT, KUBECONFIG, LOCK, SOURCES, TARGET
from sparkgen.cli.problems import valid_documents
from sparkgen.cli.request import ClusterOptions, Request
from sparkgen.cli.revisions import NOT_COMPARED, points, sides
from sparkgen.diff.compare import compare_all
from sparkgen.diff.forms import FORMS, shown
from sparkgen.diff.git import repository
from sparkgen.diff.values import Difference
from sparkgen.errors import SparkgenError
from sparkgen.terminal import readable
from sparkgen.usecases.diff import EvidenceOptions, predicted, side, with_cluster, with_directory
from sparkgen.usecases.validate import agree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkgen.diff.values import ApplicationDiff, Side
    from sparkgen.document import Document

HELP = """Show what would change in each application, and whether it would run again.

For each application, the command prints a summary and the differences of its objects.

With --from, it compares two Git revisions. Without --to, the later revision is the work tree.

With --rendered, it compares a directory that `render -o` wrote with a new render of the documents.

With neither option, it compares the cluster with the documents, by server-side dry runs that change nothing.
This needs the extra `sparkgen[cluster]`.

With --evidence, it predicts for each changed application how long its next run takes and what it costs,
by a replay of an earlier run as in `sparkgen whatif` (docs/diff.md).

Exit codes, as for kubectl diff: 0 no changes, 1 changes, 2 an error. With --max-cost-increase, 1 means that a
predicted cost rises by more.
"""
EXAMPLES = """\b
Examples:
  sparkgen diff --from origin/main apps/             # this branch, with uncommitted changes
  sparkgen diff --from v1 --to v2 -f prod.yaml app.yaml
  sparkgen diff --from origin/main --merge-base -o markdown apps/ > comment.md
  sparkgen diff --rendered deploy/pi app.yaml
  sparkgen diff --from main apps/ --evidence logs/ --prices prices.yaml --max-cost-increase 10%
  sparkgen diff app.yaml                             # with the cluster of the current context
  sparkgen diff --context prod -n analytics --brief app.yaml
"""


@dataclass(frozen=True, slots=True)
class DiffOptions(ClusterOptions, Request):
    """The documents, what to compare them with, and how to print the difference (`output`: of FORMS)."""

    quiet: bool = True
    old: str = ""
    new: str = ""
    merge_base: bool = False
    rendered: str = ""
    output: str = "text"
    brief: bool = False
    evidence: tuple[str, ...] = ()
    prices: str = ""
    max_increase: str = ""


def compare(options: DiffOptions) -> int:
    """Compare, and print the difference. Returns 1 if there is any."""
    _agree(options)
    most = _part_of(options.max_increase)
    if options.old:
        difference = _revisions(options)
    elif options.rendered:
        difference = _directory(options)
    else:
        difference = _cluster(options)
    _print(shown(difference, options.output, brief=options.brief), options)
    if most is not None:
        return int(_dearer(difference, most))
    if difference:
        return 1
    if options.output == "text":
        output.note(f"no changes: {difference.unchanged} up to date")
    return 0


COMMAND = command(
    DiffOptions,
    compare,
    SOURCES,
    Option("old", "--from REV", "Earlier Git revision: a branch, tag or commit."),
    Option("new", "--to REV", "Later Git revision. Default: the work tree."),
    Option("merge_base", "--merge-base", "With --from: compare with the merge base of the two revisions."),
    Option("rendered", "--rendered DIR", "Compare with the manifests in this directory."),
    *CHANGES,
    LOCK,
    Option("recursive", "--recursive -R", "With --from: PATH is a whole repository, as for render -R."),
    Option(
        "namespace",
        "--namespace -n NAME",
        "Namespace for documents without one. Default with a cluster: the namespace of the context.",
    ),
    TARGET,
    CONTEXT,
    KUBECONFIG,
    Option(
        "evidence",
        "--evidence LOG",
        "Event log of an earlier run, or a folder of logs, to predict the next run from. Repeatable.",
        many=True,
    ),
    Option("prices", "--prices FILE", "With --evidence: on-demand prices, as for whatif."),
    Option(
        "max_increase",
        "--max-cost-increase PERCENT",
        "With --evidence: exit 1 only if a predicted cost rises by more, for example 10%.",
    ),
    Option("output", "--output -o", "Output format.", choices=FORMS, default="text"),
    Option("brief", "--brief", "Print the summary only, without object diffs."),
    COLOUR,
)


def _agree(options: DiffOptions) -> None:
    """Raise SparkgenError for options of two kinds of comparison."""
    if (options.prices or options.max_increase) and not options.evidence:
        raise SparkgenError("--prices and --max-cost-increase need event logs; add --evidence LOG")
    if (options.new or options.merge_base) and not options.old:
        raise SparkgenError("--to and --merge-base need an earlier revision; add --from REVISION")
    if options.old and options.rendered:
        raise SparkgenError("--from and --rendered cannot be combined; leave one of them out")
    if (options.old or options.rendered) and (options.context or options.kubeconfig):
        raise SparkgenError("--context and --kubeconfig need a cluster; leave out --from and --rendered")


def _part_of(percent: str) -> float | None:
    """Returns 0.1 for "10%"; None for "". SparkgenError for any other text."""
    if not percent:
        return None
    number = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)%", percent)
    if number is None:
        raise SparkgenError(f"--max-cost-increase {percent}: write a number with %, as in 10%")
    return float(number[1]) / 100


def _dearer(difference: Difference, most: float) -> bool:
    """Whether the cost of an application rises by more than a part of it. Prints which ones."""
    found = False
    for one in difference.applications:
        increase = one.prediction.cost_increase if one.prediction is not None else None
        if increase is not None and increase > most:
            output.note(
                f"{one.title}: the predicted cost rises by {increase:.1%}, more than {100 * most:.4g}%"
            )
            found = True
        elif one.prediction is not None and increase is None:
            output.note(f"{one.title}: no prediction, so its cost is not checked")
    return found


def _with_evidence(
    applications: Sequence[ApplicationDiff], old: Sequence[Side], new: Sequence[Side], options: DiffOptions
) -> tuple[ApplicationDiff, ...]:
    if not options.evidence:
        return tuple(applications)
    return predicted(applications, old, new, EvidenceOptions(options.evidence, options.prices))


def _revisions(options: DiffOptions) -> Difference:
    if "-" in options.sources:
        raise SparkgenError(
            "- (standard input) cannot be compared between revisions; give files or directories"
        )
    where = repository(Path())
    earlier, later = points(where, options.old, options.new, merge_base=options.merge_base)
    before, after, same = sides(where, earlier, later, options)
    applications, unchanged = compare_all(before, after)
    changed = _with_evidence(applications, before, after, options)
    return Difference(earlier.name, later.name, changed, unchanged + same)


def _documents(request: Request) -> tuple[Document, ...]:
    """Returns the documents of the work tree. Prints their errors; then raises SparkgenError."""
    documents = valid_documents(request)
    if documents is None:
        raise SparkgenError(NOT_COMPARED)
    agree(documents, request.namespace)
    return documents


def _directory(options: DiffOptions) -> Difference:
    documents = _documents(options)
    differing, same, others, overrides = with_directory(documents, options.namespace, Path(options.rendered))
    after = [side(one, options.namespace) for one in documents] if options.evidence else ()
    for text in (*others, *overrides):
        output.note(text)
    new = ", ".join(options.sources)
    changed = _with_evidence(differing, (), after, options)
    return Difference(options.rendered, new, changed, same, tuple(overrides), tuple(others))


def _cluster(options: DiffOptions) -> Difference:
    from sparkgen.cluster import connect  # noqa: PLC0415

    documents = _documents(options)
    cluster = connect(options.place)
    differing, same, unseen = with_cluster(documents, options.namespace, cluster)
    for text in unseen:
        output.note(f"not checked: {text}")
    namespace = options.namespace or cluster.namespace
    after = [side(one, namespace) for one in documents] if options.evidence else ()
    changed = _with_evidence(differing, (), after, options)
    return Difference(cluster.context, ", ".join(options.sources), changed, same)


def _print(text: str, options: DiffOptions) -> None:
    if options.output == "json":
        output.data(text)
    elif options.output == "text" and output.use_colour(options.colour, sys.stdout, os.environ):
        output.write(coloured(text), coloured=True)
    else:
        output.write(text)


def coloured(text: str) -> str:
    """Returns a text with colours for a terminal. No other control character of the text has an effect."""
    colours = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
    lines = readable(text).split("\n")
    return "\n".join(f"{colours[line[0]]}{line}\x1b[0m" if line[:1] in colours else line for line in lines)
