"""All documents of a repository, for all environments: checked, rendered, and compared with the output.

Every part is one document file in one environment; they are shared out over all processors. Nothing is
written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen import __version__, contract
from sparkgen.document.environments import Part
from sparkgen.document.sources import read_stdin
from sparkgen.errors import Problem, Severity, SparkgenError, reason_of
from sparkgen.usecases.collisions import Claim, claims, shared_objects
from sparkgen.usecases.inputs import Inputs
from sparkgen.usecases.parallel import Progress, each
from sparkgen.usecases.render import render
from sparkgen.usecases.runtime import Place, kept, manifests
from sparkgen.usecases.validate import agree, check

if TYPE_CHECKING:
    from sparkgen.document.load import Identity
    from sparkgen.writers.tree import Changes


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository to render. `inputs`: overlays and values for all parts; `directory`: of the output.

    `namespace`: of documents without one, or ""; `with_difference`: whether to compute a diff of the changes.
    """

    inputs: Inputs
    directory: str
    namespace: str = ""
    with_difference: bool = False


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
class Failure:
    """An internal error at a part: its file, the reason in a line, and the traceback."""

    file: str
    reason: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a part: its problems, its documents' identities, and, without errors, their files.

    `claims`: the objects of each of its documents. `runtimes`: the ConfigMaps that these share with others
    of their folder, by its path below the output directory; `pinned`: those of other versions.
    `failure`: if there is one, there is nothing else.
    """

    environment: str
    problems: tuple[Problem, ...]
    identities: tuple[Identity, ...]
    rendered: tuple[Rendered, ...]
    claims: tuple[Claim, ...] = ()
    runtimes: frozenset[tuple[str, Place]] = frozenset()
    pinned: frozenset[tuple[str, Place]] = frozenset()
    failure: Failure | None = None


def render_parts(repository: Repository, parts: Sequence[Part], count: Progress) -> list[Outcome]:
    """Returns the outcome of each part; `count` is called with the number of parts that are done."""
    inputs = replace(repository.inputs, configured=repository.inputs.settings)  # once, not for each
    return list(each(partial(_outcome_or_failure, replace(repository, inputs=inputs)), parts, count))


def _outcome_or_failure(job: Repository, part: Part) -> Outcome:
    """Returns the outcome of a part; an internal error at one part hides nothing of the others."""
    try:
        return _outcome(job, part)
    except (SparkgenError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is about this part
        import traceback  # noqa: PLC0415 - only for an internal error

        failure = Failure(part.file, reason_of(error), "".join(traceback.format_exception(error)))
        return Outcome(part.environment, (), (), (), failure=failure)


def _outcome(job: Repository, part: Part) -> Outcome:
    """Check and render one part, and compare it with the files in its directory. Writes nothing."""
    from sparkgen.document.load import identities  # noqa: PLC0415 - see validate.py

    own = replace(
        job.inputs, sources=(part.file,), values=(*part.overlays, *job.inputs.values), lock=_lock(part, job)
    )
    checked = check(own, read_stdin)
    own_identities = tuple(identities(checked.documents))
    if checked.errors:
        return Outcome(part.environment, checked.problems, own_identities, ())
    agree(checked.documents, job.namespace)
    rendered, bundles = [], []
    runtimes: set[tuple[str, Place]] = set()
    pinned: set[tuple[str, Place]] = set()
    for document in checked.documents:
        bundle = render(document, job.namespace)
        bundles.append(bundle)
        files = {manifest.filename: manifest.text for manifest in bundle.files}
        place = part.place(bundle.name)
        rendered.append(_compared(place, files, job))
        for names, name in ((runtimes, bundle.runtime), (pinned, bundle.pinned)):
            if name:
                names.add((place.rpartition("/")[0], (bundle.namespace, name)))
    claimed = tuple(claims(checked.documents, bundles))
    return Outcome(
        part.environment,
        checked.problems,
        own_identities,
        tuple(rendered),
        claimed,
        frozenset(runtimes),
        frozenset(pinned),
    )


def render_shared(job: Repository, outcomes: Sequence[Outcome]) -> list[Rendered]:
    """Returns a folder beside the applications for each folder with some that share the runtime.

    A runtime of another version stays as long as a document names it: its runs may still start executors.
    """
    from sparkgen.writers.manifest import KUSTOMIZATION, kustomization  # noqa: PLC0415

    found = kept(Path(job.directory), (name for one in outcomes for _, (_, name) in one.pinned))
    rendered = []
    for folder, places in sorted(_shared_places(outcomes, found).items()):
        files = {manifest.filename: manifest.text for manifest in manifests(places, found)}
        listed = kustomization([*files], version=__version__)
        place = "/".join(filter(None, (folder, contract.RUNTIME_NAME)))
        rendered.append(_compared(place, {**files, KUSTOMIZATION: listed.text}, job))
    return rendered


def _shared_places(outcomes: Iterable[Outcome], found: Collection[str]) -> dict[str, set[Place]]:
    """The ConfigMaps of each folder. If folders of an environment share a namespace, only the first has it.

    Two Applications of Argo CD would take the object from each other.
    """
    wanted = {(one.environment, *runtime) for one in outcomes for runtime in one.runtimes}
    wanted |= {(one.environment, *pin) for one in outcomes for pin in one.pinned if pin[1][1] in found}
    first: dict[tuple[str, Place], str] = {}
    by_folder: dict[str, set[Place]] = {}
    for environment, folder, place in sorted(wanted):
        owner = first.setdefault((environment, place), folder)
        by_folder.setdefault(owner, set()).add(place)
    return by_folder


def _lock(part: Part, job: Repository) -> str:
    """Returns the lock of a part: its environment's, if it exists; "" for the one beside the document."""
    from sparkgen.document.locks import lock_of  # noqa: PLC0415 - see validate.py

    own = lock_of(part.file, part.environment) if part.environment else ""
    return job.inputs.lock or (own if own and Path(own).is_file() else "")


def _compared(place: str, files: Mapping[str, str], job: Repository) -> Rendered:
    from sparkgen.writers.check import difference  # noqa: PLC0415 - see validate.py
    from sparkgen.writers.open_folders import refuse_links  # noqa: PLC0415
    from sparkgen.writers.tree import compare  # noqa: PLC0415

    refuse_links(Path(job.directory), place)
    directory = Path(job.directory, place)
    changes = compare(directory, files)
    shown = difference(directory, files) if changes and job.with_difference else ""
    return Rendered(place, files if changes else {}, changes, shown)


def problems_of(outcomes: Iterable[Outcome]) -> list[Problem]:
    """Returns all problems, each once, however many environments have it.

    It also finds documents that are defined twice, and shared objects: within an environment, in all files.
    """
    from sparkgen.document.load import defined_twice  # noqa: PLC0415 - see validate.py

    problems: list[Problem] = []
    together: dict[str, list[Identity]] = {}
    by_environment: dict[str, list[Claim]] = {}
    for outcome in outcomes:
        problems += outcome.problems
        together.setdefault(outcome.environment, []).extend(outcome.identities)
        by_environment.setdefault(outcome.environment, []).extend(outcome.claims)
    for identities in together.values():
        problems += defined_twice(identities)
    if not any(problem.severity is Severity.ERROR for problem in problems):
        for claimed in by_environment.values():
            problems += shared_objects(claimed)
    return [*dict.fromkeys(problems)]


def refuse_shared_places(rendered: Iterable[Rendered]) -> None:
    """Raises SparkgenError if two applications would be written to one directory."""
    for place, times in Counter(one.place for one in rendered).items():
        if times > 1:
            raise SparkgenError(
                f"{times} applications render to {place}; change the metadata.name of one, or move its "
                "document to its own folder"
            )
