"""Where sparkgen's containers get their program from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.errors import Path
from sparkgen.model import SERVICE_KIND, STAGING_KIND
from sparkgen.semantics.facts import DocumentFacts, ServerFacts
from sparkgen.semantics.findings import ERROR, Finding, rule, server_rule
from sparkgen.semantics.wording import shortened

_CHART = "security: a reviewer would check the ConfigMap, and the pods would run the image's program"


@rule("SG324", ERROR, chart=_CHART)
def two_runtimes(facts: DocumentFacts) -> Iterator[Finding]:
    """An image and a ConfigMap with the runtime: the image wins, and the ConfigMap would be ignored."""
    return _both(facts.spec, facts.path("runtimeConfigMap"))


@server_rule("SG324", ERROR, kinds=(SERVICE_KIND, STAGING_KIND), chart=_CHART)
def two_runtimes_of_a_server(facts: ServerFacts) -> Iterator[Finding]:
    """The same for servers whose pods run the runtime."""
    return _both(facts.spec, facts.path("runtimeConfigMap"))


def _both(spec: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    if spec.get("runtimeConfigMap") and spec.get("runtimeImage"):
        yield Finding(
            path,
            "`runtimeImage` is set, too, so the pods would not run the program in this ConfigMap",
            shortened(spec["runtimeConfigMap"]),
            next_step="delete `runtimeConfigMap` or `runtimeImage`; in an overlay, set it to null",
        )
