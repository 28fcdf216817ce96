"""Compares valid documents with a directory or a cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkgen import model, resources
from sparkgen.diff import live, rendered
from sparkgen.diff.compare import compare, compare_all
from sparkgen.diff.values import ApplicationDiff, Side, Verdict
from sparkgen.document.locks import spec_path
from sparkgen.schema.fields import APPLICATION_KINDS
from sparkgen.usecases.runtime import not_made_here, with_runtime
from sparkgen.writers import overrides

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sparkgen.cluster import Cluster
    from sparkgen.document import Document


def side(document: Document, namespace: str, source: str = "") -> Side:
    """Returns a document as a side of a comparison; `namespace` is for a document that names none."""
    document = with_runtime(document)
    application = model.describe(document.value, namespace or None)
    return Side(
        application.name,
        application.namespace,
        resources.render(application),
        document.value,
        source or document.source,
    )


def with_directory(
    documents: Sequence[Document], namespace: str, directory: Path
) -> tuple[list[ApplicationDiff], int, list[str], list[str]]:
    """Returns what rendering into a directory would change, and the number of unchanged applications.

    The third value: a sentence for each runtime that this version has not made, and for each kustomization
    of others. The fourth: one for each file by which another tool changes what it applies.
    """
    from sparkgen.usecases.render import render_all  # noqa: PLC0415 - one of three ways

    bundles = render_all(documents, namespace)
    found = rendered.read(directory)
    files = found.manifests
    differing, old = rendered.split(files, bundles)
    changed, same = compare_all(old, [side(documents[index], namespace) for index in differing])
    others = not_made_here(directory.as_posix(), {bundle.runtime for bundle in bundles})
    paths = [*map(Path, files)]
    others += overrides.of_others(directory, paths)
    changes = overrides.read_by_tools(directory, {path.parent for path in paths})
    changes += overrides.in_kustomizations(directory, paths, found.runtimes) + overrides.left_out(files)
    return changed, same + len(documents) - len(differing), others, changes


def with_cluster(
    documents: Sequence[Document], namespace: str, cluster: Cluster
) -> tuple[list[ApplicationDiff], int, list[str]]:
    """Returns what applying to a cluster would change, and the number of unchanged applications.

    The third value: why some kinds could not be listed, a sentence for each.
    """
    sides = [side(document, namespace or cluster.namespace) for document in documents]
    gathered = [live.gather(cluster, wanted) for wanted in sides]
    changed = [difference for each in gathered if (difference := _compared(each))]
    unseen = dict.fromkeys(text for each in gathered for text in each.unseen)
    return changed, len(documents) - len(changed), [*unseen]


def _compared(gathered: live.Gathered) -> ApplicationDiff | None:
    old, new, special = gathered.before, gathered.after, gathered.special
    difference = compare(old, new)
    refused = any(change.note for change in special)
    if difference is None and refused:
        verdict = Verdict(False, "the server rejects it", old.run if old else "", new.run)
        return ApplicationDiff(new.name, new.namespace, new.source, "changed", verdict, objects=special)
    return replace(difference, objects=(*difference.objects, *special)) if difference else None


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """Where recorded runs are: event logs, and folders with logs. `prices`: the name of a file, or ""."""

    places: tuple[str, ...]
    prices: str = ""


def predicted(
    applications: Iterable[ApplicationDiff],
    old: Iterable[Side],
    new: Iterable[Side],
    options: EvidenceOptions,
) -> tuple[ApplicationDiff, ...]:
    """Returns the applications, each with a prediction of its next run.

    Raises SparkgenError for prices or an event log that cannot be read.
    """
    from sparkgen.whatif.prediction import Prediction, newest_logs, predict  # noqa: PLC0415 - few need it
    from sparkgen.whatif.price_file import read_prices  # noqa: PLC0415

    logs = newest_logs(options.places)
    prices = read_prices(options.prices) if options.prices else None
    before, after = ({_place(one): one for one in sides} for sides in (old, new))

    def one(application: ApplicationDiff) -> ApplicationDiff:
        place = (application.environment, application.namespace, application.name)
        was, shall = before.get(place), after.get(place)
        spec = _spec(shall)
        if application.state == "removed" or spec is None:
            return application
        log = logs.get(application.name, "")
        if not log:
            return replace(application, prediction=Prediction("", reason="there is no log of an earlier run"))
        return replace(application, prediction=predict(log, _spec(was), spec, prices))

    return tuple(map(one, applications))


def _place(side: Side) -> tuple[str, str, str]:
    return side.environment, side.namespace, side.name


def _spec(side: Side | None) -> Mapping[str, Any] | None:
    """The spec of an application's document; None for a server, or where only objects are known."""
    document = side.document if side is not None else None
    if document is None or document.get("kind") not in APPLICATION_KINDS:
        return None
    spec: Mapping[str, Any] = reduce(lambda value, key: value[key], spec_path(document), document)
    return spec
