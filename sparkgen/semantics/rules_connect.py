"""Connect servers and notebooks: who may connect, and settings that break them."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen import contract
from sparkgen.grammar import GrammarError
from sparkgen.grammar.duration import to_milliseconds
from sparkgen.model.connect import (
    ADDRESS_PROPERTY,
    ASKS_FOR_TOKEN,
    BRINGS_SERVER,
    CONNECT_KIND,
    PORT_PROPERTY,
    TOKEN_PROPERTY,
)
from sparkgen.model.notebook import NOTEBOOK_KIND
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.mounts import mounted_at, places
from sparkgen.semantics.software import artifacts, is_stock, scala
from sparkgen.semantics.wording import shortened

SHORTEST_MS = 1000
_PACKAGE = "spark-connect_"


@rule("SG198", ERROR, chart="security: anyone who reaches the server could run code with its permissions")
def unknown_tokens(facts: DocumentFacts) -> Iterator[Finding]:
    """A token with a version of Spark that does not check it: everybody could connect."""
    version = facts.spec["sparkVersion"]
    if facts.value["kind"] != CONNECT_KIND or version.startswith(ASKS_FOR_TOKEN):
        return
    for path in facts.connect_tokens():
        variable = path[-1] == "name"
        yield Finding(
            path,
            f"Spark {shortened(version)} does not support tokens, and would let everyone in",
            contract.ENV_CONNECT_TOKEN if variable else str(path[-1]),
            next_step="use Spark 4; or delete it, and let a proxy authenticate clients",
            on_key=not variable,
        )


@rule("SG303", WARNING)
def open_to_all(facts: DocumentFacts) -> Iterator[Finding]:
    """A Connect server with neither a token nor a network policy: everybody can connect."""
    if facts.value["kind"] != CONNECT_KIND or any(facts.connect_tokens()):
        return
    if _has_no_policy(facts):
        knows = facts.spec["sparkVersion"].startswith(ASKS_FOR_TOKEN)
        step = (
            "name a Secret: `connect: {token: {name: ..., key: token}}`"
            if knows
            else "use Spark 4 and a token"
        )
        yield Finding(
            facts.path("connect", "token"),
            "every pod in the cluster can run code with the server's permissions: no token is required",
            next_step=f"{step}, or restrict who may connect: `networkPolicy: {{ingressFrom: [...]}}`",
            on_key=True,
        )


def _has_no_policy(facts: DocumentFacts) -> bool:
    policy = facts.get("networkPolicy")
    return policy is None or policy.get("enabled") is False


@rule("SG301", WARNING)
def missing_package(facts: DocumentFacts) -> Iterator[Finding]:
    """A stock image without Spark's Connect server, in a document that does not name the server's package."""
    version = facts.spec["sparkVersion"]
    if facts.value["kind"] != CONNECT_KIND or version.startswith(BRINGS_SERVER):
        return
    own = facts.role("driver").get("image")
    named = [text for _, text in artifacts(facts)] + [facts.properties.get("spark.driver.extraClassPath", "")]
    package = f"org.apache.spark:spark-connect_{scala(facts)}:{shortened(version)}"
    if is_stock(own or facts.spec["image"]) and not any(_PACKAGE in text for text in named):
        yield Finding(
            facts.path("driver", "image") if own else facts.path("image"),
            f"images of Spark {shortened(version)} do not include the Connect server, so the driver "
            "would not start",
            shortened(own or facts.spec["image"]),
            next_step=f'add `deps: {{packages: ["{package}"]}}`, or ignore this if the image has its jar',
        )


@rule("SG199", ERROR)
def own_settings(facts: DocumentFacts) -> Iterator[Finding]:
    """Settings with which Service or probes do not reach the server, or that make it work wrongly."""
    if facts.value["kind"] != CONNECT_KIND:
        return
    if facts.conf.get(PORT_PROPERTY, str(contract.CONNECT_PORT)).strip() != str(contract.CONNECT_PORT):
        yield Finding(
            facts.path("sparkConf", PORT_PROPERTY),
            f"has no effect: the server listens on port {contract.CONNECT_PORT}",
            shortened(facts.conf[PORT_PROPERTY]),
            next_step="delete it; `connect.servicePort` is the port of the Service",
        )
    if facts.get("connect", "token") is not None and TOKEN_PROPERTY in facts.conf:
        yield Finding(
            facts.path("sparkConf", TOKEN_PROPERTY),
            "overrides `connect.token`: clients that send the token from that Secret are refused",
            next_step="delete it",
            on_key=True,
        )
    if facts.get("connect", "ingressFrom") is not None and _has_no_policy(facts):
        yield about_key(
            facts.path("connect", "ingressFrom"),
            "has no effect without a network policy: everyone may connect",
            "add `networkPolicy: {enabled: true}`, or delete it",
        )
    yield from _too_short(
        facts, ("connect", "idleTimeout"), "executors would be removed as soon as the last session ends"
    )
    yield from _own_probes(facts, "sparkgen checks the server itself, by gRPC")
    if ADDRESS_PROPERTY in facts.conf:
        yield Finding(
            facts.path("sparkConf", ADDRESS_PROPERTY),
            "makes the server unreachable for the Service and the probes",
            shortened(facts.conf[ADDRESS_PROPERTY]),
            next_step=(
                "delete it: the server listens on every address of its pod; use `networkPolicy` to "
                "restrict access"
            ),
        )


@rule("SG199", ERROR)
def notebook_settings(facts: DocumentFacts) -> Iterator[Finding]:
    """Settings that have an unexpected effect in a notebook."""
    if facts.value["kind"] != NOTEBOOK_KIND:
        return
    effect = "Jupyter counts whole seconds, and 0 keeps idle kernels forever"
    yield from _too_short(facts, ("notebook", "kernelIdleTimeout"), effect)
    yield from _own_probes(facts, "sparkgen checks JupyterLab itself")
    for container in facts.containers:
        if container.role == "driver" and container.kind == "spark":
            for path, place, _ in places(container):
                if mounted_at(place) == contract.HOME_DIR:
                    yield Finding(
                        path,
                        "is the home directory, where sparkgen mounts `notebook.claim` or an emptyDir",
                        shortened(place),
                        f"another path, which may be below {contract.HOME_DIR}",
                        "set the claim in `notebook.claim`, or mount the volume somewhere else",
                    )


def _too_short(facts: DocumentFacts, field: tuple[str, str], effect: str) -> Iterator[Finding]:
    text = facts.get(*field)
    if text is None:
        return
    try:
        short = to_milliseconds(text, default_unit="ms") < SHORTEST_MS
    except GrammarError:
        return  # SG103
    if short:
        yield Finding(
            facts.path(*field),
            f"is less than a second: {effect}",
            shortened(text),
            "1s and more; a number without a unit is milliseconds",
            f"write `{field[-1]}: 30m`",
        )


def _own_probes(facts: DocumentFacts, reason: str) -> Iterator[Finding]:
    for container in facts.containers:
        if container.role == "driver" and container.kind == "spark":
            for probe in ("startupProbe", "readinessProbe"):
                if probe in container.spec:
                    yield about_key((*container.path, probe), reason, "delete it")
