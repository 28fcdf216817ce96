"""Applications -> the files of an output directory: who stands where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sparkgen.errors import SparkgenError
from sparkgen.writers.manifest import KUSTOMIZATION, Bundle, kustomization


def layout(bundles: Sequence[Bundle], *, version: str) -> dict[str, str]:
    """The text of every file by its path below the output directory, with `/` between folder and file.

    One application stands in the directory itself; several have a folder each, and one kustomization that
    lists the folders. Each kustomization comes after the files it lists. SparkgenError when two applications
    are the same one.
    """
    if len(bundles) == 1:
        return {manifest.filename: manifest.text for manifest in bundles[0].files}
    folders = _folders(bundles)
    files = {
        f"{folder}/{manifest.filename}": manifest.text
        for folder, bundle in zip(folders, bundles, strict=True)
        for manifest in bundle.files
    }
    top = kustomization(sorted(folders), version=version)
    return {**files, KUSTOMIZATION: top.text}


def _folders(bundles: Sequence[Bundle]) -> list[str]:
    """A folder per application: its name, with its namespace in front where two share the name.

    The two are joined by a point: neither may contain one, so no two applications meet in one folder.
    """
    refuse_twins(bundles)
    shared = Counter(bundle.name for bundle in bundles)
    return [
        f"{bundle.namespace}.{bundle.name}" if shared[bundle.name] > 1 and bundle.namespace else bundle.name
        for bundle in bundles
    ]


def refuse_twins(bundles: Sequence[Bundle]) -> None:
    """SparkgenError when two bundles would be the same objects of a cluster.

    The last one applied would win unseen.
    """
    seen = Counter((bundle.namespace, bundle.name) for bundle in bundles)
    for (namespace, name), times in seen.items():
        if times > 1:
            where = f"in namespace {namespace}" if namespace else "without a namespace"
            raise SparkgenError(
                f"{times} documents describe the application {name} {where}; give each its own metadata.name "
                "or metadata.namespace, or render them one by one"
            )
