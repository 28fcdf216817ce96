"""Containers, their variables and ports: names that are in use, and names that Kubernetes refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.errors import Path
from sparkgen.model.connect import CONNECT_KIND
from sparkgen.model.delivery import fetches, python_path
from sparkgen.model.kerberos import kerberos
from sparkgen.model.notebook import NOTEBOOK_KIND
from sparkgen.semantics.facts import ROLES, SPARK_CONTAINER, Container, DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.wording import listed, shortened

_HELPERS: Mapping[str, tuple[str, ...]] = {"driver": contract.DRIVER_HELPERS, "executor": ()}
"""Role -> the containers that sparkgen adds to its pods."""

POD_PORTS = {
    "driver": {
        contract.UI_PORT: "the Spark UI",
        contract.DRIVER_PORT: "the driver",
        contract.BLOCK_MANAGER_PORT: "Spark's block manager",
        contract.SCHEDULER_PORT: "the allocator",
        contract.ALLOCATOR_PORT: "the allocator",
    },
    "executor": {contract.BLOCK_MANAGER_PORT: "Spark's block manager"},
}
"""Role -> port -> what listens on it in the role's pods."""

SERVED: Mapping[str, tuple[int, str, str]] = {
    CONNECT_KIND: (contract.CONNECT_PORT, "connect", "the Connect server"),
    NOTEBOOK_KIND: (contract.NOTEBOOK_PORT, "notebook", "JupyterLab"),
}
"""Kind -> another port of its driver's container, the port's name, and what listens on it."""

ALLOCATOR_PORTS = (contract.SCHEDULER_PORT, contract.ALLOCATOR_PORT)

PORT_NAMES = {"driver": ("driver-rpc-port", "blockmanager", "spark-ui"), "executor": ("blockmanager",)}
"""Role -> names of ports that sparkgen gives to the Spark container."""

SET = {
    "driver": {contract.ENV_BIND_ADDRESS, contract.ENV_SPARK_CONF_DIR, contract.ENV_LOCAL_DIRS},
    "executor": {
        *contract.ADDED_BY_ALLOCATOR,
        contract.ENV_EXECUTOR_CORES,
        contract.ENV_EXECUTOR_MEMORY,
        contract.ENV_EXECUTOR_POD_IP,
        contract.ENV_EXECUTOR_POD_NAME,
        contract.ENV_SPARK_CONF_DIR,
        contract.ENV_LOCAL_DIRS,
    },
}
"""Role -> variables of the Spark container that sparkgen sets, whatever the document says."""

SET_OF_NOTEBOOK = (
    contract.ENV_HOME,
    "JUPYTER_TOKEN",
    "JUPYTER_TOKEN_FILE",
    "JUPYTER_RUNTIME_DIR",
)
"""Variables of the driver's Spark container that notebook.sh sets or needs itself."""

LOGIN_VARIABLES = (
    contract.ENV_KRB5_PRINCIPAL,
    contract.ENV_KRB5_KEYTAB,
    contract.ENV_KRB5_CACHE,
    contract.ENV_HADOOP_TOKENS,
    contract.ENV_HADOOP_PROXY_USER,
)
"""Variables with which Hadoop logs in: a document with a login in `kerberos` may not set them."""

INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(LOGIN_VARIABLES, "delete it: `kerberos` configures the login"),
    **dict.fromkeys(("JUPYTER_TOKEN", "JUPYTER_TOKEN_FILE"), "delete it: `notebook.token` sets the token"),
    contract.ENV_HOME: f"delete it: the home directory is {contract.HOME_DIR}, on `notebook.claim`",
    contract.ENV_CONNECT_TOKEN: "delete it, or `connect.token`, which sets it",
    contract.ENV_HADOOP_CONF_DIR: "delete it, or delete `hadoopConf` and `hadoopConfigMap`",
    contract.ENV_LOCAL_DIRS: "delete it; for scratch space, mount a volume named `spark-local-dir-1`",
    contract.ENV_SPARK_CONF_DIR: "delete it, and use `sparkConf` and `sparkConfFiles`",
    contract.ENV_PYTHON_PATH: (
        "write it as a string in `env` of the role: local modules are put in front of it"
    ),
    contract.ENV_EXECUTOR_CORES: "delete it, and set `executor.cores`",
    contract.ENV_EXECUTOR_MEMORY: "delete it, and set `executor.memory`",
}
"""Variable -> what to do instead of setting it."""


@rule("SG160", ERROR, chart="names: a container or volume would be merged into one of sparkgen's own")
def reserved_names(facts: DocumentFacts) -> Iterator[Finding]:
    """Containers and volumes with names that sparkgen uses for its own."""
    sidecar = facts.get("shuffleService", "mode") == "sidecar"
    archive = facts.get("logging", "archive")
    for container in facts.containers:
        reserved = _HELPERS[container.role]
        if fetches(facts.spec):
            reserved = (*reserved, contract.FETCH_CONTAINER)
        if sidecar and container.role == "executor":
            reserved = (*reserved, contract.SHUFFLE_CONTAINER)
        if archive is not None:
            reserved = (*reserved, contract.LOG_ARCHIVE_CONTAINER)
        if container.kind != "spark" and container.name in (*reserved, SPARK_CONTAINER[container.role]):
            yield _taken(
                (*container.path, "name"), container.name, f"a container of the {container.role}'s pod"
            )
    for role in ROLES:
        for path, volume in facts.named_volumes(role):
            name = str(volume.get("name", ""))
            if name.startswith(contract.VOLUME_PREFIX) and (role == "driver" or role in path):
                yield _taken((*path, "name"), name, "one of sparkgen's own volumes")


def _taken(path: Path, name: str, what: str) -> Finding:
    return Finding(path, f"is the name of {what}", shortened(name), "another name", "rename it")


@rule("SG161", ERROR)
def duplicate_names(facts: DocumentFacts) -> Iterator[Finding]:
    """Containers of one pod, and ports of one container, with the same name: the API server refuses the pod.

    A container of the template and a typed one with the same name are one container: they are merged.
    """
    for role in ROLES:
        seen: dict[str, Container] = {}
        for container in facts.containers:
            if container.role != role or container.kind == "spark":
                continue
            first = seen.setdefault(container.name, container)
            merged = first.typed != container.typed and first.kind == container.kind
            if first is not container and not merged:
                message = f"the {role}'s pod has another container of this name"
                yield Finding(
                    (*container.path, "name"),
                    message,
                    shortened(container.name),
                    next_step="rename one of them",
                )
    for container in facts.containers:
        yield from _port_names(facts, container)


def _port_names(facts: DocumentFacts, container: Container) -> Iterator[Finding]:
    taken = set(_names_of_ports(facts, container.role)) if container.kind == "spark" else set()
    for path, port in container.items("ports"):
        name = port.get("name")
        if name is None:
            continue
        own = container.kind == "spark" and port.get("containerPort") in _own_ports(facts, container.role)
        if name in taken and not own:
            message = "another port of the container already has this name"
            yield Finding((*path, "name"), message, shortened(name), "another name", "rename it")
        elif len(name) > 15 or not re.fullmatch(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*", name):
            allowed = "at most 15 lower-case letters, digits and single `-`, with at least one letter"
            yield Finding(
                (*path, "name"),
                "Kubernetes refuses this port name",
                shortened(name),
                allowed,
                "rename it",
            )
        taken.add(name)


def _own_ports(facts: DocumentFacts, role: str) -> Mapping[int, str]:
    """Returns the ports that sparkgen gives the Spark container; a document's entry of one is merged."""
    number, _, user = _served(facts, role)
    return {**POD_PORTS[role], number: user} if user else POD_PORTS[role]


def _pod_ports(facts: DocumentFacts, role: str) -> Mapping[int, str]:
    ports = _own_ports(facts, role)
    if role == "executor" and facts.get("shuffleService", "mode") == "sidecar":
        number = facts.get("shuffleService", "port") or contract.SHUFFLE_PORT
        return {**ports, number: "the shuffle service"}
    return ports


def _names_of_ports(facts: DocumentFacts, role: str) -> tuple[str, ...]:
    _, name, _ = _served(facts, role)
    return (*PORT_NAMES[role], name) if name else PORT_NAMES[role]


def _served(facts: DocumentFacts, role: str) -> tuple[int, str, str]:
    nothing = (0, "", "")
    return SERVED.get(facts.value["kind"], nothing) if role == "driver" else nothing


@rule("SG162", ERROR)
def reserved_ports(facts: DocumentFacts) -> Iterator[Finding]:
    """Ports that are in use: the containers of a pod share one address."""
    for container in facts.containers:
        for path, port in container.items("ports"):
            number = port.get("containerPort")
            ports = _pod_ports(facts, container.role)
            user = ports.get(number)  # type: ignore[arg-type]
            if user is None or (container.kind == "spark" and number not in ALLOCATOR_PORTS):
                continue
            yield Finding(
                (*path, "containerPort"),
                f"{user} listens on this port of the {container.role}'s pod",
                str(number),
                f"any port except {listed([str(one) for one in ports])}",
                "make it listen on another port",
            )


@rule("SG163", ERROR)
def reserved_variables(facts: DocumentFacts) -> Iterator[Finding]:
    """Variables that sparkgen sets itself, so that the document's value would be lost."""
    for container in facts.containers:
        if container.kind != "spark":
            continue
        for path, item in container.items("env"):
            name = str(item.get("name"))
            if _is_set(facts, container.role, name) or _hides_modules(facts, container, item):
                yield Finding(
                    (*path, "name"),
                    "sparkgen sets this variable itself",
                    shortened(name),
                    next_step=INSTEAD.get(name, "delete it, or rename it"),
                )


def _is_set(facts: DocumentFacts, role: str, name: str) -> bool:
    if name in SET[role] or name.startswith("SPARKGEN_"):
        return True
    if name == contract.ENV_CONNECT_TOKEN:
        return role == "driver" and facts.get("connect", "token") is not None
    if name in SET_OF_NOTEBOOK:
        return role == "driver" and facts.value["kind"] == NOTEBOOK_KIND
    if name == contract.ENV_HADOOP_CONF_DIR:
        return bool(facts.get("hadoopConf") or facts.get("hadoopConfigMap"))
    if name in LOGIN_VARIABLES:
        return role == "driver" and _logs_in(facts, name)
    if name == contract.ENV_CLASSPATH:
        return role == "executor" and "spark.executor.extraClassPath" in facts.properties
    return role == "executor" and re.fullmatch(rf"{contract.ENV_JAVA_OPT_PREFIX}[0-9]+", name) is not None


def _logs_in(facts: DocumentFacts, name: str) -> bool:
    """Whether the driver logs in with this variable, or would log in with it in addition to `kerberos`."""
    settings = kerberos(facts.spec)
    if settings is None or settings.login is None:
        return False
    return name in settings.login.variables or name != contract.ENV_HADOOP_PROXY_USER


def _hides_modules(facts: DocumentFacts, container: Container, item: Mapping[str, Any]) -> bool:
    """Whether a variable is a PYTHONPATH to which the path of the delivered modules cannot be added."""
    if item.get("name") != contract.ENV_PYTHON_PATH or next(python_path(facts.spec), None) is None:
        return False
    return not container.typed or "valueFrom" in item


@rule("SG164", WARNING)
def variables_twice(facts: DocumentFacts) -> Iterator[Finding]:
    """A variable that is set twice in one list: the last one counts."""
    for container in facts.containers:
        last = {str(item.get("name")): index for index, (_, item) in enumerate(container.items("env"))}
        for index, (path, item) in enumerate(container.items("env")):
            name = str(item.get("name"))
            if last[name] != index:
                yield Finding(
                    (*path, "name"),
                    "is set again below, and the last value wins",
                    shortened(name),
                    next_step="delete one",
                )


@rule("SG165", ERROR)
def variable_sources(facts: DocumentFacts) -> Iterator[Finding]:
    """`env` with value and valueFrom; `envFrom` with two sources or none (ValidateEnv, ValidateEnvFrom)."""
    for container in facts.containers:
        for path, item in container.items("env"):
            yield from _variable(path, item)
        for path, item in container.items("envFrom"):
            sources = [name for name in ("configMapRef", "secretRef") if item.get(name) is not None]
            if len(sources) != 1:
                yield Finding(
                    path,
                    "refers to both a ConfigMap and a Secret"
                    if sources
                    else "refers to neither a ConfigMap nor a Secret",
                    listed(sources) if sources else "",
                    "configMapRef or secretRef",
                    "write one item for each"
                    if sources
                    else "add `configMapRef: {name: ...}` or `secretRef: {name: ...}`",
                )


def _variable(path: Path, item: Mapping[str, Any]) -> Iterator[Finding]:
    source = item.get("valueFrom")
    if source is None:
        return
    if item.get("value"):
        yield about_key(
            (*path, "valueFrom"),
            "`value` and `valueFrom` are mutually exclusive",
            "delete `value`, or `valueFrom`",
            "one of the two",
        )
