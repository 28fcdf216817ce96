"""Compares valid documents with a directory or a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen import model, resources
from sparkgen.diff import live, rendered
from sparkgen.diff.compare import compare, compare_all
from sparkgen.diff.values import ApplicationDiff, Side, Verdict
from sparkgen.usecases.runtime import not_made_here, with_runtime
from sparkgen.writers import overrides

if TYPE_CHECKING:
    from collections.abc import Sequence

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
