"""An application's shuffle service: what it needs, and which other settings it overrides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.shuffle import HOST_PORTS
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.servers import nested
from sparkgen.semantics.wording import shortened

FIELD = "shuffleService"
GROUP = 185
"""The group of stock Spark images, to which the directories of a service belong."""

AUTHENTICATE = "spark.authenticate"
HIGHEST_PORT = 65535
LEAST_PORT = 1024
NODE_PORTS = (30000, 32767)
"""Default of kube-apiserver's --service-node-port-range."""
OUTGOING_PORTS = (32768, 60999)
"""Default of Linux' net.ipv4.ip_local_port_range."""

ONLY_ON_NODE = ("name", "namespace", "directories", "secretName", "hostPorts", "hostNetwork")
"""Fields that mean nothing in the mode `sidecar`."""
ONLY_IN_POD = ("sidecarMemory", "sidecarResources")
"""Fields that mean nothing in the mode `daemonset`."""

SETTINGS: Mapping[str, str] = {
    "spark.shuffle.service.enabled": "true",
    "spark.shuffle.service.port": "",
    "spark.dynamicAllocation.shuffleTracking.enabled": "false",
}
"""Property that the service sets -> its value; "" stands for the service's port."""


def _section(facts: DocumentFacts) -> Mapping[str, Any] | None:
    section: Mapping[str, Any] | None = facts.get(FIELD)
    return section


def _on_node(facts: DocumentFacts) -> Mapping[str, Any] | None:
    """Returns the section of an application that uses the service of its node; None for any other."""
    section = _section(facts)
    return section if section is not None and section.get("mode", "daemonset") == "daemonset" else None


@rule("SG143", ERROR)
def names(facts: DocumentFacts) -> Iterator[Finding]:
    """A service of the node without its name: executors would not be scheduled beside it."""
    section = _on_node(facts)
    if section is not None and "name" not in section:
        yield about_key(
            facts.path(FIELD),
            "`daemonset` mode requires the name of the service",
            "add `name:` with the `metadata.name` of the SparkShuffleService, or write `mode: sidecar`",
        )


@rule("SG144", ERROR)
def secrets(facts: DocumentFacts) -> Iterator[Finding]:
    """Executors that authenticate without the service's secret, or the reverse: their registration fails.

    Source: ExternalBlockStoreClient.init, which follows spark.authenticate.
    """
    section = _on_node(facts)
    if section is None or "name" not in section:
        return
    authenticates = facts.is_true(AUTHENTICATE, default=True)
    if authenticates and "secretName" not in section:
        yield about_key(
            facts.path(FIELD),
            "each run has its own secret, which the service cannot know, so no executor can register",
            "add `secretName:` with a Secret that has the service's secret; or, for a service without a "
            'secret, set `spark.authenticate: "false"` in `sparkConf`',
        )
    if not authenticates and "secretName" in section:
        yield Finding(
            facts.place(AUTHENTICATE),
            "the service has a secret, so it refuses executors that do not authenticate",
            shortened(facts.properties[AUTHENTICATE]),
            "true",
            "delete it, or delete `secretName` if the service has none",
        )


def ports(text: str) -> tuple[int, int]:
    """Returns the two ends of a range in the form that the schema accepts: `23000-23999`."""
    first, _, last = text.partition("-")
    return int(first), int(last)


@rule("SG145", ERROR)
def host_ports(facts: DocumentFacts) -> Iterator[Finding]:
    """Invalid ranges, and a range with the service's port: it is in use on the executors' nodes."""
    section = _on_node(facts)
    if section is None:
        return
    text, port = section.get("hostPorts", HOST_PORTS), section.get("port", contract.SHUFFLE_PORT)
    first, last = ports(text)
    path = facts.path(FIELD, "hostPorts") if "hostPorts" in section else facts.path(FIELD, "port")
    if first > last or first < LEAST_PORT or last > HIGHEST_PORT:
        yield Finding(
            path,
            "is not a port range",
            text,
            f"two ports from {LEAST_PORT} to {HIGHEST_PORT}, the smaller one first",
            "write it as in `hostPorts: 23000-23999`",
        )
    elif first <= port <= last:
        yield Finding(
            path,
            f"the service's port, {port}, is in the range for executors, {text}",
            text if "hostPorts" in section else str(port),
            next_step="choose a range that does not contain the service's port",
        )


@rule("SG146", WARNING)
def pod_security(facts: DocumentFacts) -> Iterator[Finding]:
    """Host paths and host ports, which Pod Security refuses from "baseline" on; ports that others use."""
    section = _on_node(facts)
    if section is None:
        return
    yield about_key(
        facts.path(FIELD),
        "executors need a directory and a port of the node: namespaces with Pod Security "
        '"baseline" or "restricted" refuse them',
        "run it in a namespace that allows such pods; or write `mode: sidecar`, where shuffle data "
        "is lost with its executor",
    )
    text = section.get("hostPorts", HOST_PORTS)
    first, last = ports(text)
    for (least, most), whose in (
        (NODE_PORTS, "Kubernetes' node ports"),
        (OUTGOING_PORTS, "the nodes' ports for outgoing connections"),
    ):
        if first <= most and last >= least:
            yield Finding(
                facts.path(FIELD, "hostPorts"),
                f"some of these are {whose}, and may be in use when an executor starts",
                text,
                next_step="choose a range below 30000",
            )


@rule("SG147", WARNING)
def sidecar_data(facts: DocumentFacts) -> Iterator[Finding]:
    """A service in the executor's pod, with executors that are removed when they are idle.

    Source: ExecutorMonitor, which tracks shuffle data only where there is no service.
    """
    section = _section(facts)
    if section is None or _on_node(facts) is not None:
        return
    if facts.is_true("spark.dynamicAllocation.enabled"):
        yield Finding(
            facts.path(FIELD, "mode"),
            "when idle executors are removed, their pods' shuffle data is lost and computed again",
            "sidecar",
            "daemonset",
            "write `mode: daemonset`; or delete `shuffleService`, so that executors with shuffle data stay",
        )


@rule("SG189", WARNING)
def meaningless(facts: DocumentFacts) -> Iterator[Finding]:
    """Fields of the other mode, properties that the service sets, and scratch volumes without effect."""
    section = _section(facts)
    if section is None:
        return
    on_node = _on_node(facts) is not None
    for field in ONLY_IN_POD if on_node else ONLY_ON_NODE:
        if field in section:
            mode = "daemonset" if on_node else "sidecar"
            yield about_key(
                facts.path(FIELD, field), f"has no effect in `{mode}` mode", "delete it, or the mode"
            )
    port = str(section.get("port", contract.SHUFFLE_PORT))
    for name, value in SETTINGS.items():
        wanted, text = value or port, facts.properties.get(name)
        if text is not None and text.strip().lower() != wanted:
            yield Finding(
                facts.place(name),
                f"has no effect: `{FIELD}` sets it to {wanted}",
                shortened(text),
                wanted,
                "delete it" if value else f"delete it, and set `{FIELD}.port`",
            )
    if on_node:
        yield from _scratch(facts)


def _scratch(facts: DocumentFacts) -> Iterator[Finding]:
    for container in facts.containers:
        if container.role != "executor" or container.kind != "spark":
            continue
        for path, mount in container.items("volumeMounts"):
            if str(mount.get("name", "")).startswith(contract.LOCAL_DIR_VOLUME_PREFIX):
                yield Finding(
                    (*path, "name"),
                    "Spark writes to the shuffle service's directories, not here",
                    shortened(str(mount["name"])),
                    next_step=(
                        "delete the mount, and list fast disks in `directories` of the service and here"
                    ),
                )


@rule("SG149", WARNING)
def groups(facts: DocumentFacts) -> Iterator[Finding]:
    """Executors outside the group that may write to the service's directories."""
    if _on_node(facts) is None:
        return
    typed = facts.role("executor").get("podSecurityContext") or {}
    context = {**(facts.template("executor").get("securityContext") or {}), **typed}
    own = [context.get(field, GROUP) for field in ("runAsGroup", "fsGroup")]
    if GROUP not in (*own, *(context.get("supplementalGroups") or ())):
        path = facts.path("executor", "podSecurityContext" if typed else "template")
        yield about_key(
            path,
            f"executors are not in the group {GROUP}, so they cannot write to the service's directories",
            f"add {GROUP} to `supplementalGroups`",
        )


@rule("SG158", ERROR)
def directories(facts: DocumentFacts) -> Iterator[Finding]:
    """Directories of a service that are the same, or one below another."""
    section = _on_node(facts)
    if section is not None:
        yield from nested(facts.path(FIELD, "directories"), section.get("directories") or ())
