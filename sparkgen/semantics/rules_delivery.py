"""What of a document's delivery of local files does not do what it says."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import Finding, about_key

_FIELDS = (("delivery",), ("artifacts",), ("deps", "requirements"), ("deps", "pythonVersion"))


def without_effect(facts: DocumentFacts) -> Iterator[Finding]:
    """Fields of the delivery: the schema has them, and no pod gets anything from them."""
    for field in _FIELDS:
        if facts.get(*field) is not None:
            yield about_key(
                facts.path(*field),
                "no pod gets anything from it: local files are not delivered yet",
                "put the files into the image, or name URLs that the driver can fetch",
            )
