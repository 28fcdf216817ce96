"""Rules about the secret of a shuffle service, which is the RPC secret of all applications that use it.

Spark uses one secret for both (SecurityManager.getSecretKey returns the same secret for all applications), so
all applications of a service share it: docs/shuffle-service.md#what-the-shared-secret-gives-access-to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sparkgen.lint.findings import PRODUCTION, WARNING, Finding, server_rule, unset
from sparkgen.lint.serversubject import ServerSubject
from sparkgen.model import SERVER_KINDS, SERVICE_KIND
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.wording import listed

NAMESPACE_LABEL = "kubernetes.io/metadata.name"
"""The label that the API server gives to each namespace: its name."""
_STEP = "render a SparkShuffleService with its own Secret for each group of namespaces that trust each other"
_OPENS = (
    "every application that uses the service has its secret, and can talk to the drivers and executors of "
    "the others"
)


@server_rule("SG270", WARNING, PRODUCTION, kinds=(SERVICE_KIND,))
def many_namespaces(subject: ServerSubject) -> Iterator[Finding]:
    """A service whose network policy lets in more than one namespace, as far as it names them."""
    peers = (subject.server.network_policy or {}).get("ingressFrom") or ()
    named: set[str] = set()
    for index, peer in enumerate(peers):
        if peer.get("namespaceSelector") == {} and "podSelector" not in peer:
            yield Finding(
                subject.path("networkPolicy", "ingressFrom", index, "namespaceSelector"),
                f"applications in all namespaces are let in; {_OPENS}",
                next_step=_STEP,
            )
        named |= _names(peer.get("namespaceSelector") or {})
    if len(named) > 1:
        yield unset(
            subject.path("networkPolicy", "ingressFrom"),
            f"applications in {listed(sorted(named))} are let in; {_OPENS}",
            _STEP,
        )


def _names(selector: Mapping[str, Any]) -> set[str]:
    """The namespaces that a selector lists by name."""
    labels: Mapping[str, str] = selector.get("matchLabels") or {}
    found = {value for name, value in labels.items() if name == NAMESPACE_LABEL}
    for expression in selector.get("matchExpressions") or ():
        if expression.get("key") == NAMESPACE_LABEL and expression.get("operator") == "In":
            found |= set(expression.get("values") or ())
    return found


def shared_services(values: Sequence[Mapping[str, Any]]) -> list[tuple[int, Finding]]:
    """Findings for those of these valid documents whose service applications of other namespaces use, too.

    Each has the index of its document. Documents without a namespace are ignored, because the caller of
    kubectl or helm chooses it.
    """
    uses: dict[tuple[str, str], dict[int, tuple[str, DocumentFacts]]] = {}
    for index, value in enumerate(values):
        namespace = value["metadata"].get("namespace")
        facts = None if value["kind"] in SERVER_KINDS else DocumentFacts.of(value)
        section = facts.get("shuffleService") if facts is not None else None
        if facts is None or namespace is None or not section or not section.get("secretName"):
            continue
        if section.get("mode", "daemonset") == "daemonset" and "name" in section:
            key = section.get("namespace") or namespace, section["name"]
            uses.setdefault(key, {})[index] = (namespace, facts)
    return sorted(
        ((index, finding) for users in uses.values() for index, finding in _shared(users)),
        key=lambda pair: pair[0],
    )


def _shared(users: Mapping[int, tuple[str, DocumentFacts]]) -> Iterator[tuple[int, Finding]]:
    namespaces = {namespace for namespace, _ in users.values()}
    for index, (namespace, facts) in users.items():
        others = sorted(namespaces - {namespace})
        if others:
            yield (
                index,
                Finding(
                    facts.path("shuffleService", "secretName"),
                    f"applications in {listed(others)} use the same service, and so this RPC secret: they "
                    "can talk to driver and executors of this one, and it can talk to theirs",
                    facts.get("shuffleService", "secretName"),
                    next_step=_STEP,
                ),
            )
