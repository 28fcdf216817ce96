"""The rules about documents of the kind SparkStagingServer."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.model import STAGING_KIND
from sparkgen.model.staging import SIDES
from sparkgen.semantics.facts import ServerFacts
from sparkgen.semantics.findings import ERROR, Finding, about_key, server_rule
from sparkgen.semantics.wording import refusals

OPEN_TYPES = ("NodePort", "LoadBalancer")


@server_rule("SG180", ERROR, kinds=(STAGING_KIND,))
def schedules(facts: ServerFacts) -> Iterator[Finding]:
    """A schedule of the garbage collection that the API server refuses."""
    text = (facts.spec.get("garbageCollection") or {}).get("schedule")
    if text is None:
        return
    from sparkgen.grammar import cron  # noqa: PLC0415 - few documents have one

    place = facts.path("garbageCollection", "schedule")
    yield from refusals([(place, text)], cron.parse, cron.ALLOWED, "17 3 * * *")


@server_rule("SG313", ERROR, kinds=(STAGING_KIND,))
def collection_without_claim(facts: ServerFacts) -> Iterator[Finding]:
    """Garbage collection without a claim: it needs the claim to know the age and the writers of artifacts."""
    if "garbageCollection" in facts.spec and "claim" not in facts.spec["storage"]:
        yield about_key(
            facts.path("garbageCollection"),
            "works only on a claim: on an object store, nothing can block pushes while artifacts are removed",
            "delete it, and collect garbage manually with `readOnly: true` (docs/staging-server.md); "
            "or set a claim in "
            "`storage`",
        )


@server_rule("SG314", ERROR, kinds=(STAGING_KIND,))
def node_ports(facts: ServerFacts) -> Iterator[Finding]:
    """A node port that the API server refuses: for a type of Service without them, or for both sides."""
    for side in SIDES:
        options = facts.spec.get(side) or {}
        if "nodePort" in options and options.get("serviceType", "ClusterIP") not in OPEN_TYPES:
            yield about_key(
                facts.path(side, "nodePort"),
                "is refused by Kubernetes: only a Service of type NodePort or LoadBalancer has one",
                f"set `{side}.serviceType: NodePort`, or delete it",
            )
    ports = [(facts.spec.get(side) or {}).get("nodePort") for side in SIDES]
    if ports[0] is not None and ports[0] == ports[1]:
        yield Finding(
            facts.path("push", "nodePort"),
            "is the node port of both sides, but Kubernetes gives it to only one of them",
            str(ports[1]),
            next_step="choose another port for one of the two sides",
        )
