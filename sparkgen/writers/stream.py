"""Applications -> one YAML stream, as `kubectl apply -f -` reads it."""

from __future__ import annotations

from collections.abc import Sequence

from sparkgen.writers.layout import refuse_twins
from sparkgen.writers.manifest import Bundle, Manifest


def stream(bundles: Sequence[Bundle], shared: Sequence[Manifest] = ()) -> str:
    """All manifests of all applications, each after `---`; only directories have kustomizations.

    `shared`: the manifests that the applications share, which come first. Raises SparkgenError if two bundles
    are the same application.
    """
    refuse_twins(bundles)
    own = (manifest for bundle in bundles for manifest in bundle.manifests)
    return "".join(f"---\n{manifest.text}" for manifest in (*shared, *own))
