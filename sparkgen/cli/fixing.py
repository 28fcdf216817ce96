"""`lint --fix`: applies fixes to the files of a call. Each file is replaced as a whole, or not at all."""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen import model, resources
from sparkgen.cli import output
from sparkgen.cli.request import Request
from sparkgen.document import apply_ignores, load
from sparkgen.document.configuration import Configured, lay_under
from sparkgen.document.sources import STDIN, expand, read_file
from sparkgen.errors import Problem, SparkgenError
from sparkgen.lint.fix import Find, fix_text
from sparkgen.usecases.lint import Review

if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.lint.findings import Edit


def fix_files(request: Request, review: Review, *, only_show: bool) -> bool:
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
        data = read_file(name)
        if isinstance(data, Problem):
            continue  # the report has this problem
        fixed = fix_text(data, _finder(review, name))
        if fixed.data == data:
            continue
        changed = True
        if only_show:
            output.write(_difference(name, data, fixed.data))
        else:
            _replace(Path(name), data, fixed.data)
            _tell(name, data, fixed.data, len(fixed.done), review.configured)
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
    lines = difflib.unified_diff(before, after, name, name)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _tell(name: str, old: bytes, new: bytes, number: int, configured: Configured) -> None:
    """Print how many findings were fixed, and which applications get a new run."""
    output.note(f"{name}: fixed {number} {'finding' if number == 1 else 'findings'}")
    for before, after in zip(_runs(old, configured), _runs(new, configured), strict=True):
        if before != after:
            output.note(f"{name}: the next apply starts a new run: {after} instead of {before}")


def _runs(data: bytes, configured: Configured) -> list[str]:
    documents = load((STDIN,), stdin=lambda: data).documents
    laid = (lay_under(document, configured) for document in documents)
    return [resources.run_of(model.describe(document.value)) for document in laid]


def _replace(path: Path, old: bytes, new: bytes) -> None:
    """Replace a file as a whole, or not at all. A link stays a link, and its target keeps its mode."""
    target = Path(os.path.realpath(path))
    try:
        descriptor, staged = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(new)
                file.flush()
                os.fsync(file.fileno())
            Path(staged).chmod(target.stat().st_mode & 0o7777)
            if target.read_bytes() != old:
                raise SparkgenError(f"{path} changed while it was being fixed; run the command again")
            Path(staged).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(staged).unlink()
            raise
    except OSError as error:
        raise SparkgenError(f"cannot change {path}: {error.strerror}; the file is unchanged") from error
