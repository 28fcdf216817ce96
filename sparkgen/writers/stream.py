"""Applications -> one YAML stream, as `kubectl apply -f -` reads it."""

from __future__ import annotations

from collections.abc import Sequence

from sparkgen.writers.layout import refuse_twins
from sparkgen.writers.manifest import Bundle


def stream(bundles: Sequence[Bundle]) -> str:
    """All manifests of all applications, each after `---`; only directories have kustomizations.

    Raises SparkgenError if two bundles are the same application.
    """
    refuse_twins(bundles)
    return "".join(f"---\n{manifest.text}" for bundle in bundles for manifest in bundle.manifests)
