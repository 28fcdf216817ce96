"""`sparkgen render -R DIR`: all documents of a repository, for all environments, in one call.

First every application is checked and rendered, by all processors, and compared with its directory; then what
changed is written. One error anywhere, and nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.progress import progress
from sparkgen.cli.request import Request, command_line
from sparkgen.errors import Problem, Severity, SparkgenError
from sparkgen.usecases import configuration
from sparkgen.usecases.checking import agree, check
from sparkgen.usecases.collisions import Claim, claims, shared_objects
from sparkgen.usecases.environments import Part, parts
from sparkgen.usecases.parallel import each
from sparkgen.usecases.rendering import render

if TYPE_CHECKING:
    from sparkgen.document.load import Identity
    from sparkgen.writers.tree import Changes


_SHOWN = 4
"""Files that are named when a directory is out of date; the diff has all."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """One application in one environment.

    `place`: its directory below the output directory; `files`: the text of each by name, empty when nothing
    differs; `changes`, `difference`: what would change, and as a diff (only for a check).
    """

    place: str
    files: Mapping[str, str]
    changes: Changes
    difference: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a part: its problems, what its documents describe, and, without errors, their files.

    `claims`: the objects of each of its documents.
    """

    environment: str
    problems: tuple[Problem, ...]
    identities: tuple[Identity, ...]
    rendered: tuple[Rendered, ...]
    claims: tuple[Claim, ...] = ()


def render_repository(request: Request) -> int:
    """Render or check a whole repository. 1 if documents have errors or a directory is out of date."""
    root = _root(request)
    request = replace(request, configured=configuration.of(request.inputs))  # once, not for each part
    todo = parts(root, request.directory)
    if not todo:
        raise SparkgenError(
            f"no *.yaml or *.yml file in {root} or a folder below is a document of sparkgen's"
        )
    with progress(len(todo)) as count:
        outcomes = list(each(partial(_outcome, request), todo, count))
    problems = _problems(outcomes, request)
    if problems:
        show(problems, request, Stdin(), on_stdout=False)
    if any(problem.severity is Severity.ERROR for problem in problems):
        output.note("nothing was written: all documents have to be right first")
        return 1
    rendered = [one for outcome in outcomes for one in outcome.rendered]
    _refuse_shared_places(rendered)
    from sparkgen.writers import leftovers  # noqa: PLC0415 - only for a whole repository
    from sparkgen.writers.root import refuse_other  # noqa: PLC0415

    places = {one.place for one in rendered}
    stale = leftovers.find(Path(request.directory), places)
    refuse_other(Path(request.directory), Path(root), places, stale)
    return _check(rendered, stale, request) if request.only_check else _write(rendered, stale, request)


def _root(request: Request) -> str:
    """The one directory that the request names."""
    if len(request.sources) != 1 or request.sources[0] == "-":
        raise SparkgenError(
            "-R takes one directory, which holds all documents: sparkgen render -R DIR -o OUT"
        )
    if not request.directory:
        raise SparkgenError("-R writes into a directory, or compares with one: name it with --output-dir OUT")
    return request.sources[0]


def _outcome(request: Request, part: Part) -> Outcome:
    """Check and render one part, and compare it with what stands in its directory. Writes nothing."""
    from sparkgen.document.load import identities  # noqa: PLC0415 - see checking.py

    own = replace(request, sources=(part.file,), values=(*part.overlays, *request.values))
    checked = check(own.inputs, Stdin())
    found = tuple(identities(checked.documents))
    if checked.errors:
        return Outcome(part.environment, checked.problems, found, ())
    agree(checked.documents, request.namespace)
    rendered, bundles = [], []
    for document in checked.documents:
        bundle = render(document, request.namespace)
        bundles.append(bundle)
        files = {manifest.filename: manifest.text for manifest in bundle.files}
        rendered.append(_compared(part.place(bundle.name), files, request))
    claimed = tuple(claims(checked.documents, bundles))
    return Outcome(part.environment, checked.problems, found, tuple(rendered), claimed)


def _compared(place: str, files: Mapping[str, str], request: Request) -> Rendered:
    from sparkgen.writers.check import difference  # noqa: PLC0415 - see checking.py
    from sparkgen.writers.held import refuse_links  # noqa: PLC0415
    from sparkgen.writers.tree import compare  # noqa: PLC0415

    refuse_links(Path(request.directory), place)
    directory = Path(request.directory, place)
    changes = compare(directory, files)
    shown = difference(directory, files) if changes and request.only_check else ""
    return Rendered(place, files if changes else {}, changes, shown)


def _problems(outcomes: Iterable[Outcome], request: Request) -> list[Problem]:
    """All problems, each once, whatever number of environments has it; --quiet hides warnings.

    What is defined twice is found here: within an environment, over all files.
    """
    from sparkgen.document.load import defined_twice  # noqa: PLC0415 - see checking.py
    from sparkgen.semantics.rules_runtime import once  # noqa: PLC0415

    found: list[Problem] = []
    together: dict[str, list[Identity]] = {}
    by_environment: dict[str, list[Claim]] = {}
    for outcome in outcomes:
        found += outcome.problems
        together.setdefault(outcome.environment, []).extend(outcome.identities)
        by_environment.setdefault(outcome.environment, []).extend(outcome.claims)
    for identities in together.values():
        found += defined_twice(identities)
    if not any(one.severity is Severity.ERROR for one in found):
        for claimed in by_environment.values():
            found += shared_objects(claimed)
    wanted = (one for one in found if not request.quiet or one.severity is Severity.ERROR)
    return once(dict.fromkeys(wanted))


def _refuse_shared_places(rendered: Iterable[Rendered]) -> None:
    for place, times in Counter(one.place for one in rendered).items():
        if times > 1:
            raise SparkgenError(
                f"{times} applications would be written to {place}: give one of them another metadata.name, "
                "or put its document into a folder of its own"
            )


def _write(rendered: Sequence[Rendered], stale: Sequence[str], request: Request) -> int:
    """Write what changed, remove what no document gives any more, and say what was done where."""
    from sparkgen.writers import leftovers  # noqa: PLC0415 - see checking.py
    from sparkgen.writers.directory import write  # noqa: PLC0415
    from sparkgen.writers.root import mark  # noqa: PLC0415

    written = [one for one in rendered if one.files]
    mark(Path(request.directory), Path(request.sources[0]))
    for one in written:
        write(Path(request.directory), one.files, below=one.place)
        _say(f"{request.directory}/{one.place}: {_why(one.changes)}", request)
    for place in stale:
        leftovers.remove(Path(request.directory), place)
        _say(f"{request.directory}/{place}: removed: no document gives it any more", request)
    gone = f", {len(stale)} removed" if stale else ""
    _say(
        f"{_number(rendered)}: {len(rendered) - len(written)} up to date, {len(written)} written{gone}",
        request,
    )
    return 0


def _check(rendered: Sequence[Rendered], stale: Sequence[str], request: Request) -> int:
    """Print what differs as a diff, and say for each application why it is out of date."""
    late = [one for one in rendered if one.files]
    if not late and not stale:
        _say(f"{request.directory}: {_number(rendered)}, all up to date", request)
        return 0
    output.write("".join(one.difference for one in late))
    for one in late:
        output.note(f"{request.directory}/{one.place} is out of date: {_why(one.changes)}")
    for place in stale:
        output.note(f"{request.directory}/{place} is out of date: no document gives it any more")
    number = len(late) + len(stale)
    which = "1 directory is" if number == 1 else f"{number} directories are"
    output.note(f"{which} out of date; to bring all up to date: {command_line(request)}")
    return 1


def _say(text: str, request: Request) -> None:
    if not request.quiet:
        output.note(text)


def _number(rendered: Sequence[Rendered]) -> str:
    return "1 application" if len(rendered) == 1 else f"{len(rendered)} applications"


def _why(changes: Changes) -> str:
    """Which files are new, differ or go: ``job.yaml differs, role.yaml is new``."""
    words = [
        *(f"{path} {'differs' if path in changes.old else 'is new'}" for path in changes.write),
        *(f"{path} is needed no more" for path in changes.stale),
    ]
    if changes.write and not changes.old:
        return f"all its {len(changes.write)} files are new"
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more
