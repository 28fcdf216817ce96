"""What a Connect server says of who may reach it, and how."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen import contract
from sparkgen.grammar import GrammarError
from sparkgen.grammar.duration import to_milliseconds
from sparkgen.model.connect import ADDRESS_PROPERTY, ASKS_FOR_TOKEN, CONNECT_KIND, PORT_PROPERTY
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import Finding, about_key
from sparkgen.semantics.wording import shortened

SHORTEST_MS = 1000


def unknown_tokens(facts: DocumentFacts) -> Iterator[Finding]:
    """A token with a version of Spark that does not ask for it: everybody would be let in."""
    version = facts.spec["sparkVersion"]
    asked = facts.value["kind"] == CONNECT_KIND and facts.get("connect", "token") is not None
    if asked and not version.startswith(ASKS_FOR_TOKEN):
        yield about_key(
            facts.path("connect", "token"),
            f"Spark {shortened(version)} asks no client for a token, and would let everybody in",
            "take Spark 4, or delete it and have a proxy ask who connects",
        )


def own_settings(facts: DocumentFacts) -> Iterator[Finding]:
    """What moves the server away from where its Service and its probes look for it, or stops its work."""
    if facts.value["kind"] != CONNECT_KIND:
        return
    if facts.conf.get(PORT_PROPERTY, str(contract.CONNECT_PORT)).strip() != str(contract.CONNECT_PORT):
        yield Finding(
            facts.path("sparkConf", PORT_PROPERTY),
            f"has no effect: the server listens at {contract.CONNECT_PORT}",
            shortened(facts.conf[PORT_PROPERTY]),
            "",
            "delete it; `connect.servicePort` is the port of the Service",
        )
    yield from _too_short(facts)
    yield from _own_probes(facts)
    if ADDRESS_PROPERTY in facts.conf:
        yield Finding(
            facts.path("sparkConf", ADDRESS_PROPERTY),
            "keeps the Service and the probes from the server",
            shortened(facts.conf[ADDRESS_PROPERTY]),
            "",
            "delete it: the server listens at every address of its pod; `networkPolicy` says who may connect",
        )


def _too_short(facts: DocumentFacts) -> Iterator[Finding]:
    text = facts.get("connect", "idleTimeout")
    if text is None:
        return
    try:
        short = to_milliseconds(text, default_unit="ms") < SHORTEST_MS
    except GrammarError:
        return  # SG103
    if short:
        yield Finding(
            facts.path("connect", "idleTimeout"),
            "is less than a second: executors would go between two sessions' first words",
            shortened(text),
            "1s and more; a number without a unit is milliseconds",
            "write `idleTimeout: 30m`",
        )


def _own_probes(facts: DocumentFacts) -> Iterator[Finding]:
    for container in facts.containers:
        if container.role == "driver" and container.kind == "spark":
            for probe in ("startupProbe", "readinessProbe"):
                if probe in container.spec:
                    yield about_key(
                        (*container.path, probe), "sparkgen asks the server itself, by gRPC", "delete it"
                    )
