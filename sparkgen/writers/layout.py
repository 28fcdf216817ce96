"""Applications -> the files of an output directory, each with its path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sparkgen.errors import SparkgenError
from sparkgen.writers.manifest import KUSTOMIZATION, Bundle, Manifest, kustomization


def layout(bundles: Sequence[Bundle], shared: Sequence[Manifest] = (), *, version: str) -> dict[str, str]:
    """The text of every file by its path below the output directory, with `/` between folder and file.

    A single application is in the directory itself; several have a folder each, and one kustomization that
    lists the folders. `shared`: files that the applications share, in the directory itself. Each
    kustomization comes after the files that it lists. Raises SparkgenError if two bundles are the same
    application.
    """
    common = {manifest.filename: manifest.text for manifest in shared}
    if len(bundles) == 1 and not common:
        return {manifest.filename: manifest.text for manifest in bundles[0].files}
    if len(bundles) == 1:
        own = {manifest.filename: manifest.text for manifest in bundles[0].manifests}
        listed = kustomization([*common, *own], version=version, digest=bundles[0].digest)
        return {**common, **own, KUSTOMIZATION: listed.text}
    folders = _folders(bundles)
    files = {
        f"{folder}/{manifest.filename}": manifest.text
        for folder, bundle in zip(folders, bundles, strict=True)
        for manifest in bundle.files
    }
    top = kustomization([*common, *sorted(folders)], version=version)
    return {**common, **files, KUSTOMIZATION: top.text}


def _folders(bundles: Sequence[Bundle]) -> list[str]:
    """The folder of each application: its name, with its namespace in front if several share the name.

    A dot joins the two: neither may contain a dot, so no two applications get the same folder.
    """
    refuse_twins(bundles)
    shared = Counter(bundle.name for bundle in bundles)
    return [
        f"{bundle.namespace}.{bundle.name}" if shared[bundle.name] > 1 and bundle.namespace else bundle.name
        for bundle in bundles
    ]


def refuse_twins(bundles: Sequence[Bundle]) -> None:
    """Raise SparkgenError if two bundles would be the same objects in a cluster.

    The bundle that is applied last would replace the other without a message.
    """
    seen = Counter((bundle.namespace, bundle.name) for bundle in bundles)
    for (namespace, name), times in seen.items():
        if times > 1:
            where = f"in namespace {namespace}" if namespace else "without a namespace"
            raise SparkgenError(
                f"{times} documents describe the application {name} {where}; give each its own metadata.name "
                "or metadata.namespace, or render them one by one"
            )
