"""`sparkgen push`, and the push before an `apply`: prints artifacts, uploads and lock files."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CA_FILE, CHANGES, LOCK, QUIET, SOURCES
from sparkgen.cli.problems import valid_documents
from sparkgen.cli.request import Request
from sparkgen.delivery import environment
from sparkgen.delivery.limits import bytes_text
from sparkgen.errors import SparkgenError
from sparkgen.local.view import Plain
from sparkgen.phrases import number_of, some_of
from sparkgen.semantics.local_entries import entries_of
from sparkgen.usecases import local_files, untracked
from sparkgen.usecases import push as usecase

if TYPE_CHECKING:
    from sparkgen.delivery.requirements import Requirements
    from sparkgen.delivery.values import LocalFile
    from sparkgen.document import Document

HELP = """Push the files that documents name with ./ or ../ to the registry of `spec.delivery`.

The main file, pyFiles and files form one artifact, `code`. The jars, archives and the packages of a
requirements file form another artifact, `dependencies`. The same files give the same digest on every machine,
and the command uploads only what the registry does not have yet.

The command records what it pushed in a lock file beside each document: commit app.lock.yaml together with
app.yaml. render, diff, validate, lint and apply read the lock file and compare it with the local files.

Without `spec.delivery.repository`, the command uploads nothing, because ConfigMaps of the run contain the
files. It then writes a lock file with the files in it, which only Helm needs: pass it as another -f.

The command asks the registry for every part of an artifact, and uploads again what the registry has lost.

Log in to the registry with docker, podman, helm or oras: sparkgen uses the credentials that they store. To
leave out files of a folder, list them in .sparkgenignore, in the syntax of .gitignore.
"""
EXAMPLES = """\b
Examples:
  sparkgen push app.yaml
  sparkgen push app.yaml --dry-run               # what would be pushed, and its digests
  sparkgen push app.yaml --verify                # also what was pushed before, byte for byte
  sparkgen push apps/ --ca-file registry-ca.pem
  sparkgen push app.yaml -f prod.yaml --lock app.prod.lock.yaml
"""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Push(Request):
    """The documents, and the options of `push`. `verify`: compare what the registry has, byte for byte."""

    dry_run: bool = False
    verify: bool = False
    ca_file: str = ""


def push(options: Push) -> int:
    """Push what has changed; 1 if a document has errors."""
    inputs = replace(options, local_files="pushable")
    documents = valid_documents(replace(inputs, quiet=True))
    if documents is None:
        return 1
    for document in documents:
        if not local_files.lock_name(document, inputs) and entries_of(document.value):
            raise SparkgenError("a document from standard input has no lock file; add --lock FILE")
    with _asked(options.ca_file, verify=options.verify) as asked:
        plans = [usecase.plan(document, inputs, asked, whole=options.dry_run) for document in documents]
        _tell_left_out(plans, options)
        _tell_untracked(plans, options)
        if options.dry_run:
            _tell_plans(plans)
            return 0
        pushed = usecase.bring(plans, inputs, asked)
    locks = usecase.write_locks(plans, inputs)
    _tell(plans, pushed, locks, options)
    return 0


def brought(
    documents: Sequence[Document], request: Request, ca_file: str, *, dry_run: bool
) -> list[Document]:
    """Returns the documents with artifacts of the current files. Pushes those that are out of date.

    Asks no registry about the others. With `dry_run`, pushes and writes nothing.
    """
    with _asked(ca_file) as asked:
        plans = [usecase.plan(document, request, asked) for document in documents]
        late = [plan for plan in plans if plan.stale]
        if not late:
            return list(documents)
        _tell_untracked(late, request)
        if dry_run:
            _tell_plans(late)
        else:
            for plan in late:
                output.note(f"pushing {plan.document.source}: {'; '.join(map(str, plan.stale))}")
            pushed = usecase.bring(late, request, asked)
    if not dry_run:
        # The lock of a file covers all its documents, also those that are up to date.
        files = {plan.document.source for plan in late}
        locks = usecase.write_locks([plan for plan in plans if plan.document.source in files], request)
        _tell(late, pushed, locks, request, stdout=False)
    return [
        local_files.with_artifacts(plan.document, plan.values, local_files.lock_name(plan.document, request))
        if plan.stale
        else plan.document
        for plan in plans
    ]


@contextmanager
def _asked(ca_file: str, *, verify: bool = False) -> Iterator[usecase.Push]:
    view = Plain(sys.stderr)

    def build(wanted: Requirements) -> Sequence[LocalFile]:
        return environment.files(environment.built(wanted, os.environ, view))

    with _progress() as sent:
        yield usecase.Push(os.environ, build, ca_file, sent, verify=verify)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Yields a function that shows how far uploads are: one line on a terminal, nothing elsewhere."""
    known, held = dict[str, str](), threading.Lock()
    with output.live_line() as show:

        def sent(name: str, done: int, size: int) -> None:
            with held:
                known[name] = f"{name} {bytes_text(done)} of {bytes_text(size)}"
                show(", ".join(known.values()))

        yield sent


def _tell(
    plans: Sequence[usecase.Plan],
    pushed: Sequence[usecase.Pushed],
    locks: Sequence[tuple[str, str]],
    request: Request,
    *,
    stdout: bool = True,
) -> None:
    say = _print if stdout else output.note
    is_late = any(plan.stale for plan in plans)
    for one in (one for one in pushed if one.uploaded or is_late):
        size = bytes_text(int(one.packed.value["size"]))
        became = f"pushed, {bytes_text(one.sent)} uploaded" if one.uploaded else "exists already"
        if one.packed.mounted:
            became = "nothing to upload"
        say(f"{one.packed.name}: {_place(one.packed)}, {size}: {became}")
    for name, became in locks:
        say(f"{name}: {became}")
    if not locks and not any(one.uploaded for one in pushed) and not request.quiet:
        names = ", ".join(dict.fromkeys(one.document.source for one in plans))
        none = not any(one.packed for one in plans)
        say(f"nothing to push: {names} {'names no local files' if none else 'is up to date'}")
    elif locks and not request.quiet and stdout:
        output.note(
            f"next: commit {', '.join(name for name, _ in locks)}, or run: sparkgen apply "
            f"{plans[0].document.source}"
        )


def _print(line: str) -> None:
    output.write(f"{line}\n")


def _tell_plans(plans: Sequence[usecase.Plan]) -> None:
    for plan in plans:
        for packed in plan.packed:
            late = packed.name in {different.artifact for different in plan.stale}
            became = "would be pushed" if late and not packed.mounted else "is up to date"
            size = bytes_text(int(packed.value["size"]))
            listed = _files(packed)
            files = number_of(len(listed), "file")
            _print(f"{packed.name}: {_place(packed)}, {size}, {files}: {became}")
            for path, bytes_ in listed:
                _print(f"  {path}  {bytes_text(bytes_)}")


def _place(packed: usecase.Packed) -> str:
    return str(packed.value.get("reference", "a ConfigMap of the run"))


def _files(packed: usecase.Packed) -> list[tuple[str, int]]:
    """Returns paths and sizes of the files in an artifact; if it was not packed, without its packages."""
    if packed.layer is not None:
        return [(member.path, member.size) for member in packed.layer.members]
    return [(file.inside, file.size) for file in packed.contents.files]


def _tell_left_out(plans: Sequence[usecase.Plan], request: Request) -> None:
    paths = sorted({path for plan in plans for path in plan.left_out})
    if paths and not request.quiet:
        output.note(f"ignored: {some_of(paths, _SHOWN)}")


def _tell_untracked(plans: Sequence[usecase.Plan], request: Request) -> None:
    """Warn about files in artifacts that are not in Git, so that a reviewer does not see them."""
    paths = untracked.untracked(plans)
    if request.quiet:
        return
    if paths.new:
        shown = some_of(paths.new, _SHOWN)
        output.note(f"warning: not in Git: {shown}; add them to Git, or to .sparkgenignore")
    if paths.ignored:
        output.note(f"in artifacts, although Git ignores it: {some_of(paths.ignored, _SHOWN)}")
    for place, option in [*paths.hidden.items()][:_SHOWN]:
        step = local_files.shown_again(option, place)
        output.note(f"warning: {place} has changes that git status hides; {step}")


COMMAND = command(
    Push,
    push,
    SOURCES,
    *CHANGES,
    LOCK,
    Option("dry_run", "--dry-run", "Push and write nothing; print what would be pushed."),
    Option("verify", "--verify", "Download what the registry has, compare it, and push again what differs."),
    CA_FILE,
    QUIET,
)
