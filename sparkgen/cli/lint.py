"""`sparkgen lint`: prints the findings of rules, and fixes files with --fix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkgen import model, resources, textdiff
from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CHANGES, COLOUR, LOCK, PROBLEM_FORMAT, QUIET, SOURCES, TARGET
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.request import Request
from sparkgen.document import apply_ignores, load
from sparkgen.document.configuration import Configured, lay_under
from sparkgen.document.sources import STDIN, expand, read_file
from sparkgen.errors import Problem, SparkgenError
from sparkgen.lint.fix import Find, fix_text
from sparkgen.phrases import number_of
from sparkgen.usecases import lint as usecase
from sparkgen.usecases.lint import LintOptions, Review
from sparkgen.usecases.parallel import each
from sparkgen.writers import atomic

if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.lint.findings import Edit

HELP = """Check documents against best practices and policies, to find settings that are valid but unwise.

Reports everything that `validate` reports, and the findings of the chosen profiles. The profiles are gitops,
pss-restricted, production and cost; the first three are the default. Rules check the rendered pods, too,
including executors.

`sparkgen rule CODE` explains a finding. To ignore a finding, add a comment at the end of the reported line:
`# sparkgen: ignore CODE -- reason`. To configure a repository, put .sparkgen.yaml in its root: sparkgen reads
the .sparkgen.yaml in the current directory, or else the nearest one in a directory above it (docs/lint.md).

Exits 1 if a finding has the severity of --fail-on, or a higher one.
"""
EXAMPLES = """\b
Examples:
  sparkgen lint app.yaml
  sparkgen lint apps/ --profile pss-restricted --profile cost
  sparkgen lint app.yaml --show info    # also show infos
  sparkgen lint app.yaml -f prod.yaml --fail-on error
  sparkgen lint app.yaml --evidence app-1234.zstd   # compare with a run
  sparkgen lint app.yaml --rule SG220=error --rule SG234=off
  sparkgen lint apps/ --fix             # apply the safe fixes
  sparkgen lint apps/ --diff            # show what --fix would change
  sparkgen lint apps/ --format sarif > lint.sarif
"""


@dataclass(frozen=True, slots=True)
class Lint(LintOptions, Request):
    """The documents, and the options of `lint`.

    `fix`: apply the fixes first; `diff`: print the fixes as a difference, and no findings.
    """

    fix: bool = False
    diff: bool = False


def lint(options: Lint) -> int:
    """Check documents, and print the findings.

    Returns 1 if a finding counts, or with `diff` if there are fixes; 2 if the configuration has errors.
    """
    stdin = Stdin()
    review = usecase.review_of(options)
    if isinstance(review, tuple):
        show(review, options, stdin, on_stdout=False)
        return 2
    if options.fix or options.diff:
        changed = _fix_files(options, review, only_show=options.diff)
        if options.diff:
            return int(changed)
    return _report(options, review, stdin, fixed=options.fix)


def _report(request: Request, review: Review, stdin: Stdin, *, fixed: bool) -> int:
    findings = usecase.lint(request, review, stdin, _each)
    wanted = findings.counted if request.quiet else findings.visible
    shown = [problem for problem in findings.found if problem in wanted | findings.counted]
    show(shown, request, stdin, on_stdout=True)
    if not request.quiet and request.form == "text":
        as_they_stand = not (fixed or request.values or request.target)
        number = sum(problem in findings.fixable for problem in shown) if as_they_stand else 0
        _say_rest(findings.documents, len(shown), number, len(findings.found) - len(shown))
    return int(bool(findings.counted))


def _each(function: Callable[[Any], Any], documents: Sequence[Any]) -> Iterable[Any]:
    with output.progress(len(documents), "reviewed") as count:
        yield from each(function, documents, count)


def _say_rest(documents: int, problems: int, fixable: int, hidden: int) -> None:
    if not problems:
        output.write(f"{number_of(documents, 'document')} checked, no problems found\n")
    if fixable:
        output.note(f"{fixable} fixable; next: sparkgen lint --fix")
    if hidden:
        output.note(f"{hidden} hidden; to show {'it' if hidden == 1 else 'them'}: sparkgen lint --show info")


def _fix_files(request: Request, review: Review, *, only_show: bool) -> bool:
    """Fix the files of a request, or print the difference. Returns whether there was anything to fix."""
    if request.values or request.sets or request.set_strings or request.target:
        raise SparkgenError(
            "--fix changes the files themselves; leave out -f, --set, --set-string and --target"
        )
    names = expand(request.sources)
    if STDIN in names:
        raise SparkgenError("--fix cannot change standard input; give a file")
    changed = False
    for name in names:
        data = read_file(name, "document")
        if isinstance(data, Problem):
            continue  # the report has this problem
        fixed = fix_text(data, _finder(review, name))
        if not fixed.complete:
            again = "sparkgen lint --fix" if only_show else "sparkgen lint --fix, again"
            step = f"next: {again}" if fixed.done else "fix some of them yourself, then run the command again"
            output.note(f"{name}: too many findings to try all fixes; {step}")
        if fixed.data == data:
            continue
        changed = True
        if only_show:
            output.write(_difference(name, data, fixed.data))
        else:
            _replace_file(Path(name), data, fixed.data)
            _tell_fixed(name, data, fixed.data, len(fixed.done), review.configured)
    return changed


def _finder(review: Review, file: str) -> Find:
    """Returns a function that finds the problems of a document that no comment ignores, with their fixes."""

    def find(document: Document) -> list[tuple[Problem, tuple[Edit, ...]]]:
        edits = dict(review.find(document))
        kept, _ = apply_ignores(list(edits), document.ignores, policy=True)
        return [(problem, edits.get(problem, ())) for problem in kept if review.weighed(problem, file)]

    return find


def _difference(name: str, old: bytes, new: bytes) -> str:
    before, after = (data.decode("utf-8", errors="replace").splitlines(keepends=True) for data in (old, new))
    lines = textdiff.unified(before, after, name, name)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _tell_fixed(name: str, old: bytes, new: bytes, number: int, configured: Configured) -> None:
    """Print how many findings were fixed, and which applications get a new run."""
    output.note(f"{name}: fixed {number_of(number, 'finding')}")
    for before, after in zip(_runs(old, configured), _runs(new, configured), strict=True):
        if before != after:
            output.note(f"{name}: the next apply starts a new run: {after} instead of {before}")


def _runs(data: bytes, configured: Configured) -> list[str]:
    documents = load((STDIN,), stdin=lambda: data).documents
    laid = (lay_under(document, configured) for document in documents)
    return [resources.run_of(model.describe(document.value)) for document in laid]


def _replace_file(path: Path, old: bytes, new: bytes) -> None:
    """Replace a file as a whole, or not at all. A link stays a link, and its target keeps its mode."""
    target = Path(os.path.realpath(path))
    try:
        if target.read_bytes() != old:
            raise SparkgenError(f"{path} changed while it was being fixed; run the command again")
        atomic.replace(target.parent, {target.name: (new,)})
    except OSError as error:
        raise SparkgenError(f"cannot change {path}: {error.strerror}; the file is unchanged") from error


COMMAND = command(
    Lint,
    lint,
    SOURCES,
    Option(
        "profiles",
        "--profile NAME",
        "Check the rules of this profile instead of the configured ones. Repeatable.",
        many=True,
    ),
    Option(
        "rules",
        "--rule CODE=LEVEL",
        "Set the severity of a rule: off, info, warning or error. Repeatable.",
        many=True,
    ),
    Option(
        "fail_on",
        "--fail-on LEVEL",
        "Exit 1 for this severity or higher: info, warning, error or never (default: warning).",
    ),
    Option(
        "show",
        "--show LEVEL",
        "Show findings of this severity or higher: info, warning or error (default: warning).",
    ),
    Option("fix", "--fix", "Apply the safe fixes to the files."),
    Option("diff", "--diff", "Print what --fix would change. Exit 1 if there are changes."),
    Option("config", "--config FILE", "Read this configuration file instead of .sparkgen.yaml."),
    Option("isolated", "--isolated", "Do not read a configuration file."),
    Option(
        "evidence",
        "--evidence LOG",
        "Event log of a run, to compare its real use with the document's requests. Repeatable.",
        many=True,
    ),
    TARGET,
    *CHANGES,
    LOCK,
    PROBLEM_FORMAT,
    COLOUR,
    QUIET,
)
