"""Applications -> one YAML stream, as `kubectl apply -f -` reads it."""

from __future__ import annotations

from collections.abc import Sequence

from sparkgen.writers.layout import refuse_twins
from sparkgen.writers.manifest import Bundle


def stream(bundles: Sequence[Bundle]) -> str:
    """Every manifest of every application, each behind `---`; kustomizations are for directories only.

    SparkgenError when two applications are the same one.
    """
    refuse_twins(bundles)
    return "".join(f"---\n{manifest.text}" for bundle in bundles for manifest in bundle.manifests)
