"""`sparkgen diff`: prints what would change, in words and as objects."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from sparkgen.cli import output
from sparkgen.cli.options import (
    Colour,
    ColourChoice,
    Context,
    Kubeconfig,
    Lock,
    Set,
    SetString,
    Sources,
    Target,
    Values,
    requested,
)
from sparkgen.errors import SparkgenError

if TYPE_CHECKING:
    from sparkgen.cli.request import Request
    from sparkgen.diff.values import Difference
    from sparkgen.document import Document

SUMMARY = "Show what would change, and which applications would run again."
HELP = """Show what would change in each application, and whether it would run again.

For each application, the command prints a summary and the differences of its objects.

With --from, it compares two Git revisions. Without --to, the later revision is the work tree.

With --rendered, it compares a directory that `render -o` wrote with a new render of the documents.

With neither option, it compares the cluster with the documents, by server-side dry runs that change nothing.
This needs the extra `sparkgen[cluster]`.

Exit codes, as for kubectl diff: 0 no changes, 1 changes, 2 an error.
"""
EXAMPLES = """\b
Examples:
  sparkgen diff --from origin/main apps/             # this branch, with uncommitted changes
  sparkgen diff --from v1 --to v2 -f prod.yaml app.yaml
  sparkgen diff --from origin/main --merge-base -o markdown apps/ > comment.md
  sparkgen diff --rendered deploy/pi app.yaml
  sparkgen diff app.yaml                             # with the cluster of the current context
  sparkgen diff --context prod -n analytics --brief app.yaml
"""


class DiffForm(str, enum.Enum):
    """The formats of a difference: sparkgen.diff.forms.FORMS."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def command(
    sources: Sources,
    old: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="REV",
            help="Earlier Git revision: a branch, tag or commit.",
            show_default=False,
        ),
    ] = "",
    new: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="REV",
            help="Later Git revision. Default: the work tree.",
            show_default=False,
        ),
    ] = "",
    merge_base: Annotated[
        bool,
        typer.Option("--merge-base", help="With --from: compare with the merge base of the two revisions."),
    ] = False,
    rendered: Annotated[
        str,
        typer.Option(
            "--rendered",
            metavar="DIR",
            help=("Compare with the manifests in this directory."),
            show_default=False,
        ),
    ] = "",
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    lock: Lock = "",
    recursive: Annotated[
        bool,
        typer.Option("--recursive", "-R", help="With --from: PATH is a whole repository, as for render -R."),
    ] = False,
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace",
            "-n",
            metavar="NAME",
            help="Namespace for documents without one. Default with a cluster: the namespace of the context.",
            show_default=False,
        ),
    ] = "",
    target: Annotated[
        Target | None,
        typer.Option(
            "--target",
            help="Tool that applies the manifests. Overrides metadata.target.",
            case_sensitive=False,
            show_default=False,
        ),
    ] = None,
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    form: Annotated[
        DiffForm, typer.Option("--output", "-o", help="Output format.", case_sensitive=False)
    ] = DiffForm.TEXT,
    brief: Annotated[
        bool, typer.Option("--brief", help=("Print the summary only, without object diffs."))
    ] = False,
    colour: ColourChoice = Colour.AUTO,
) -> None:
    """Compare, print the difference, and exit with 1 if there is any."""
    from sparkgen.diff.forms import shown  # noqa: PLC0415 - not for every command's help

    asked = requested(sources, values, sets, set_strings, colour=colour, target=target, lock=lock)
    request = replace(asked, quiet=True, namespace=namespace, recursive=recursive)
    _agree(old, new, rendered, context, kubeconfig, merge_base=merge_base)
    if old:
        difference = _revisions(request, old, new, merge_base=merge_base)
    elif rendered:
        difference = _directory(request, rendered)
    else:
        difference = _cluster(request, context, kubeconfig)
    _print(shown(difference, form.value, brief=brief), form, colour)
    if difference:
        raise typer.Exit(1)
    if form is DiffForm.TEXT:
        output.note(f"no changes: {difference.unchanged} up to date")


def _agree(old: str, new: str, rendered: str, context: str, kubeconfig: str, *, merge_base: bool) -> None:
    """Raise SparkgenError for options of two kinds of comparison."""
    if (new or merge_base) and not old:
        raise SparkgenError("--to and --merge-base need an earlier revision; add --from REVISION")
    if old and rendered:
        raise SparkgenError("--from and --rendered cannot be combined; leave one of them out")
    if (old or rendered) and (context or kubeconfig):
        raise SparkgenError("--context and --kubeconfig need a cluster; leave out --from and --rendered")


def _revisions(request: Request, old: str, new: str, *, merge_base: bool) -> Difference:
    from pathlib import Path  # noqa: PLC0415 - see `command`

    from sparkgen.cli.revisions import points, sides  # noqa: PLC0415
    from sparkgen.diff.compare import compare_all  # noqa: PLC0415
    from sparkgen.diff.git import repository  # noqa: PLC0415
    from sparkgen.diff.values import Difference  # noqa: PLC0415

    if "-" in request.sources:
        raise SparkgenError(
            "- (standard input) cannot be compared between revisions; give files or directories"
        )
    where = repository(Path())
    earlier, later = points(where, old, new, merge_base=merge_base)
    before, after, same = sides(where, earlier, later, request)
    applications, unchanged = compare_all(before, after)
    return Difference(earlier.name, later.name, tuple(applications), unchanged + same)


def _documents(request: Request) -> tuple[Document, ...]:
    """Returns the documents of the work tree. Prints their errors; then raises SparkgenError."""
    from sparkgen.cli.problems import Stdin, show  # noqa: PLC0415
    from sparkgen.errors import Severity  # noqa: PLC0415
    from sparkgen.usecases.checking import agree, check  # noqa: PLC0415 - see `command`

    stdin = Stdin()
    checked = check(request, stdin)
    errors = [problem for problem in checked.problems if problem.severity is Severity.ERROR]
    if errors:
        show(errors, request, stdin, on_stdout=False)
        raise SparkgenError("cannot compare: the errors above must be fixed first")
    agree(checked.documents, request.namespace)
    return checked.documents


def _directory(request: Request, directory: str) -> Difference:
    from pathlib import Path  # noqa: PLC0415 - see `command`

    from sparkgen.diff.values import Difference  # noqa: PLC0415
    from sparkgen.usecases.comparing import with_directory  # noqa: PLC0415

    differing, same = with_directory(_documents(request), request.namespace, Path(directory))
    return Difference(directory, ", ".join(request.sources), tuple(differing), same)


def _cluster(request: Request, context: str, kubeconfig: str) -> Difference:
    from sparkgen.cluster import Place, connect  # noqa: PLC0415
    from sparkgen.diff.values import Difference  # noqa: PLC0415
    from sparkgen.usecases.comparing import with_cluster  # noqa: PLC0415 - see `command`

    documents = _documents(request)
    cluster = connect(Place(kubeconfig, context, request.namespace))
    differing, same, unseen = with_cluster(documents, request.namespace, cluster)
    for text in unseen:
        output.note(f"not checked: {text}")
    return Difference(cluster.context, ", ".join(request.sources), tuple(differing), same)


def _print(text: str, form: DiffForm, colour: Colour) -> None:
    import os  # noqa: PLC0415 - see `command`
    import sys  # noqa: PLC0415

    if form is DiffForm.JSON:
        output.data(text)
    elif form is DiffForm.TEXT and output.use_colour(colour.value, sys.stdout, os.environ):
        output.write(coloured(text), coloured=True)
    else:
        output.write(text)


def coloured(text: str) -> str:
    """Returns a text with colours for a terminal. No other control character of the text has an effect."""
    from sparkgen.terminal import readable  # noqa: PLC0415 - see `command`

    colours = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
    lines = readable(text).split("\n")
    return "\n".join(f"{colours[line[0]]}{line}\x1b[0m" if line[:1] in colours else line for line in lines)
