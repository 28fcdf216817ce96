"""Renders valid documents to manifests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sparkgen import __version__
from sparkgen.usecases.parallel import Progress, each
from sparkgen.usecases.runtime import config_map_of, with_runtime

if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.writers.manifest import Bundle, Manifest


def render(document: Document, namespace: str) -> Bundle:
    """Returns the manifests of a valid document; `namespace`: if it names none ("" leaves the default)."""
    from sparkgen import model, resources  # noqa: PLC0415
    from sparkgen.names import digest  # noqa: PLC0415
    from sparkgen.writers.manifest import bundle  # noqa: PLC0415

    given, document = document, with_runtime(document)
    described = model.describe(document.value, namespace or None)
    runtime, pinned = config_map_of(described, named=document is given)
    return bundle(
        described.name,
        described.namespace,
        resources.render(described),
        version=__version__,
        digest=digest(document.value),
        runtime=runtime,
        pinned=pinned,
    )


def render_all(
    documents: Sequence[Document], namespace: str, progress: Progress | None = None
) -> tuple[Bundle, ...]:
    """Returns the manifests of valid documents, in their order, rendered with all processors.

    The objects in them have only kind, name and namespace: their texts have the rest.
    """
    return tuple(each(partial(_rendered, namespace), documents, progress))


def _rendered(namespace: str, document: Document) -> Bundle:
    """Returns a document's manifests; of their objects, only kind and names go to the parent process."""
    bundle = render(document, namespace)
    return replace(bundle, manifests=tuple(_named_only(manifest) for manifest in bundle.manifests))


def _named_only(manifest: Manifest) -> Manifest:
    metadata = manifest.object["metadata"]
    names = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    return replace(manifest, object={"kind": manifest.object["kind"], "metadata": names})
