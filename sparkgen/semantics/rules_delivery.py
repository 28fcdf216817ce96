"""What of a document's delivery of local files pods cannot have, or nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import Finding, about_key
from sparkgen.semantics.wording import listed, shortened

_OF_FETCH = ("caConfigMap", "cacheVolume")
"""Settings that `fetch` alone reads."""


def cache_without_volume(facts: DocumentFacts) -> Iterator[Finding]:
    """A cache in a volume that the document does not have: the API server refuses the pods."""
    name = facts.get("delivery", "cacheVolume")
    known = sorted(str(volume.get("name")) for volume in facts.spec.get("volumes") or ())
    if name is not None and name not in known:
        yield Finding(
            facts.path("delivery", "cacheVolume"),
            "the document has no volume of this name",
            shortened(str(name)),
            listed(known, "or") if 0 < len(known) <= 5 else "",
            f"define the volume in `{'.'.join(map(str, facts.path('volumes')))}`, or fix the name",
        )


def settings_without_fetch(facts: DocumentFacts) -> Iterator[Finding]:
    """Settings of `fetch` where the kubelet pulls: it has its own certificates, and its own cache."""
    if facts.get("delivery", "mount") != "image":
        return
    for name in _OF_FETCH:
        if facts.get("delivery", name) is not None:
            yield about_key(
                facts.path("delivery", name),
                "nothing reads it with `mount: image`: the kubelet pulls, as its node is set up",
                "delete it, or use `mount: fetch`",
            )
