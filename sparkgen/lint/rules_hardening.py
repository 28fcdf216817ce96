"""Rules of scanners and security reviewers for pods that Pod Security allows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.errors import Path
from sparkgen.lint.findings import (
    ERROR,
    INFO,
    PRODUCTION,
    WARNING,
    Finding,
    rule,
    server_rule,
    shared_rule,
    unset,
)
from sparkgen.lint.serversubject import ServerSubject
from sparkgen.lint.subject import Subject
from sparkgen.lint.view import Container, Pod, View
from sparkgen.model import HISTORY_KIND, SERVICE_KIND, STAGING_KIND
from sparkgen.model.connect import ASKS_FOR_TOKEN
from sparkgen.model.kerberos import ENCRYPTION

LOWEST_USER = 10_000
"""User IDs below this may belong to users of the node (Trivy KSV-0020, Datree, kube-score)."""

_DEBUGGERS = (
    (
        re.compile(r"-agentlib:jdwp\S*|-Xrunjdwp\S*"),
        "opens the JVM to a debugger: anyone who connects can run code in it",
    ),
    (
        re.compile(r"-Dcom\.sun\.management\.jmxremote\.authenticate=false"),
        "opens the JVM's management to everyone: anyone who connects can run code in it",
    ),
)


@rule("SG286", WARNING, PRODUCTION)
def token_for_code(subject: Subject) -> Iterator[Finding]:
    """Drivers that create their executors themselves: the token for that is in the container of the code."""
    if subject.application.by_spark:
        yield Finding(
            subject.facts.path("allocator"),
            "your code in the driver gets a Kubernetes token that may create and delete pods: so it can read "
            "every Secret, and use every service account, of the namespace",
            "spark",
            "`sparkgen`, with which only the allocator has a token",
            "set `allocator: sparkgen`, or give the application a namespace of its own, and ignore this",
        )


@rule("SG230", INFO, PRODUCTION)
def writable_root(subject: Subject) -> Iterator[Finding]:
    """Containers that can write to their own programs."""
    for _, container in subject.containers():
        if container.security("readOnlyRootFilesystem") is not True:
            yield Finding(
                subject.where(container.places, "securityContext", "readOnlyRootFilesystem"),
                f"the container `{container.name}` can write to its own file system",
                allowed="true",
                next_step=(
                    "set it, and mount an `emptyDir` where it writes (Spark: /tmp, /opt/spark/work-dir)"
                ),
                on_key=True,
            )


@shared_rule("SG231", INFO, PRODUCTION, servers=(HISTORY_KIND, STAGING_KIND))
def low_user(subject: View) -> Iterator[Finding]:
    """User IDs that may also belong to users of the node."""
    for pod in subject.pods:
        user = pod.security("runAsUser")
        if isinstance(user, int) and 0 < user < LOWEST_USER:
            yield Finding(
                subject.where(pod.places, "runAsUser"),
                f"the {pod.role} runs as user {user}, which may be a real user on the node",
                allowed=f"a user ID from {LOWEST_USER}",
                next_step="build the image with such a user, and set `podSecurityContext: {runAsUser: ...}`",
            )


@rule("SG232", INFO, PRODUCTION)
def cpu_limit(subject: Subject) -> Iterator[Finding]:
    """Spark containers without a CPU limit, which may use a whole node."""
    for _, container in subject.containers("spark"):
        if "cpu" not in _resources(container, "limits"):
            yield unset(
                subject.facts.path(container.role, "coreLimit"),
                f"the {container.role} can use all CPU of its node",
                f"set `coreLimit` of the {container.role}, or ignore this if nodes are not shared",
            )


@rule("SG233", WARNING, PRODUCTION)
def container_resources(subject: Subject) -> Iterator[Finding]:
    """Init containers and sidecars without requests or limits: a quota refuses them; leaks hurt others."""
    for _, container in subject.containers("init", "sidecar"):
        wanted = (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"))
        missing = [f"{side}.{name}" for side, name in wanted if name not in _effective(container, side)]
        if missing:
            yield unset(
                subject.where(container.places, "resources"),
                f"the container `{container.name}` has no {', '.join(missing)}",
                "set them: without them, a namespace with a quota refuses the pod",
            )


def _resources(container: Container, side: str) -> dict[str, str]:
    found: dict[str, str] = (container.spec.get("resources") or {}).get(side) or {}
    return found


def _effective(container: Container, side: str) -> dict[str, str]:
    """The requests or limits with the API server's default: a missing request is the limit."""
    given = _resources(container, side)
    return {**_resources(container, "limits"), **given} if side == "requests" else given


@rule("SG234", WARNING, PRODUCTION)
def network_policy(subject: Subject) -> Iterator[Finding]:
    """Pods that every other pod of the cluster may connect to."""
    if subject.application.network_policy is None:
        yield unset(
            subject.facts.path("networkPolicy", "enabled"),
            "every pod in the cluster can connect to the driver, its UI and the executors",
            "set `networkPolicy: {enabled: true}`, and list Prometheus and others in `ingressFrom`",
        )


@shared_rule("SG235", WARNING, PRODUCTION, servers=(HISTORY_KIND,))
def exposed_ui(subject: View) -> Iterator[Finding]:
    """Spark's pages outside the cluster, which do not authenticate users."""
    options = (subject.at(subject.path("sparkUIOptions")) or {}) if subject.shows_pages else {}
    opens = f"exposes {subject.PAGES} outside the cluster, and it does not authenticate its users"
    kind = options.get("serviceType", "ClusterIP")
    if kind in ("NodePort", "LoadBalancer"):
        yield Finding(
            subject.path("sparkUIOptions", "serviceType"),
            opens,
            kind,
            "ClusterIP",
            "use ClusterIP, and put an authenticating proxy in front of it",
        )
    for field in ("ingress", "route"):
        if field in options:
            yield unset(
                subject.path("sparkUIOptions", field),
                opens,
                "make the controller or gateway authenticate users, and ignore this with that reason",
            )


@rule("SG259", WARNING, PRODUCTION)
def open_connect_server(subject: Subject) -> Iterator[Finding]:
    """A Connect server that requires no token."""
    if subject.application.connect is None or any(subject.facts.connect_tokens()):
        return
    opens = "no token is required: anyone who reaches the server can run code with its account and data"
    version = subject.application.spark_version
    step = "set a Secret: `token: {name: ..., key: token}`"
    if not version.startswith(ASKS_FOR_TOKEN):
        step = (
            "use Spark 4, which supports tokens; or let a proxy authenticate, and ignore this with "
            "that reason"
        )
    yield unset(subject.path("connect", "token"), opens, step)


@shared_rule("SG257", WARNING, PRODUCTION, servers=(HISTORY_KIND,))
def plain_ingress(subject: View) -> Iterator[Finding]:
    """An Ingress without a certificate: pages, and the login of a proxy, are sent unencrypted."""
    for section, what in (
        ("sparkUIOptions", subject.PAGES),
        ("connect", "the Connect server"),
        ("notebook", "JupyterLab"),
    ):
        ingress = subject.at(subject.path(section, "ingress"))
        if section == "sparkUIOptions" and not subject.shows_pages:
            continue
        if ingress and not ingress.get("tlsSecretName"):
            yield unset(
                subject.path(section, "ingress", "tlsSecretName"),
                f"{what} and its login are sent unencrypted: the Ingress has no certificate",
                "set the Secret with the certificate of `host`: `tlsSecretName: ...`",
            )


@rule("SG271", WARNING, PRODUCTION)
def plain_port(subject: Subject) -> Iterator[Finding]:
    """A server or a notebook that is exposed outside the cluster without a gateway, and so unencrypted."""
    for section in ("connect", "notebook"):
        kind = (subject.at(subject.path(section)) or {}).get("serviceType", "ClusterIP")
        if kind in ("NodePort", "LoadBalancer"):
            yield Finding(
                subject.path(section, "serviceType"),
                "code, data and token leave the cluster unencrypted",
                kind,
                "ClusterIP",
                "use ClusterIP, with `route` or `ingress`, which have a certificate",
            )


@rule("SG236", WARNING, PRODUCTION)
def api_token(subject: Subject) -> Iterator[Finding]:
    """User containers with a token for the Kubernetes API, which only the allocator needs."""
    for pod, container in subject.containers():
        mounted = {
            mount.get("name"): index for index, mount in enumerate(container.spec.get("volumeMounts") or ())
        }
        for name in _token_volumes(pod):
            if name in mounted:
                homes = {volume.get("name"): path for path, volume in subject.facts.named_volumes(pod.role)}
                yield Finding(
                    homes.get(name, container.places[0]),
                    f"gives the container `{container.name}` a token for the Kubernetes API",
                    name,
                    next_step="delete it, or set an `audience` if it is for another service",
                )


def _token_volumes(pod: Pod) -> Iterator[str]:
    """The names of volumes with a token that the API server accepts."""
    for volume in pod.spec.get("volumes") or ():
        sources = (volume.get("projected") or {}).get("sources") or ()
        tokens = [source["serviceAccountToken"] for source in sources if source.get("serviceAccountToken")]
        if volume["name"] != contract.TOKEN_VOLUME and any(not token.get("audience") for token in tokens):
            yield volume["name"]


@rule("SG237", INFO, PRODUCTION)
def secret_in_env(subject: Subject) -> Iterator[Finding]:
    """Secrets in environment variables, which every child process has, and crash reports show."""
    for container in subject.facts.containers:
        yield from _secrets_in(container.path, container.spec)


@server_rule("SG237", INFO, PRODUCTION, kinds=(HISTORY_KIND,))
def secret_in_env_of_server(subject: ServerSubject) -> Iterator[Finding]:
    """Secrets in a server's environment variables."""
    return _secrets_in(subject.root, subject.server.spec)


def _secrets_in(path: Path, spec: Mapping[str, Any]) -> Iterator[Finding]:
    """The Secrets in `env` and `envFrom` of the container at a path."""
    for index, item in enumerate(spec.get("env") or ()):
        if (item.get("valueFrom") or {}).get("secretKeyRef"):
            yield _leaking((*path, "env", index), str(item["name"]))
    for index, item in enumerate(spec.get("envFrom") or ()):
        if item.get("secretRef"):
            yield _leaking((*path, "envFrom", index), str(item["secretRef"].get("name", "")))


def _leaking(path: tuple[str | int, ...], name: str) -> Finding:
    message = "a Secret in an environment variable is visible to every child process and in crash reports"
    return Finding(path, message, name, next_step="mount it as a file with `secrets` of the role")


@rule("SG238", INFO, PRODUCTION)
def clear_traffic(subject: Subject) -> Iterator[Finding]:
    """Unencrypted data between driver and executors."""
    if not subject.is_encrypted:
        yield unset(
            subject.property_path(ENCRYPTION),
            "driver and executors exchange data unencrypted",
            f'set `{ENCRYPTION}: "true"` in `sparkConf` (on Spark 4: or `spark.ssl.rpc.enabled`)',
        )


@rule("SG239", ERROR, PRODUCTION)
def open_debugger(subject: Subject) -> Iterator[Finding]:
    """A JVM in which anyone who connects can run code."""
    for role in ("driver", "executor"):
        for name in (f"spark.{role}.extraJavaOptions", f"spark.{role}.defaultJavaOptions"):
            text = subject.facts.properties.get(name, "")
            yield from _debuggers_in(subject.facts.place(name), text)


@server_rule("SG239", ERROR, PRODUCTION, kinds=(SERVICE_KIND, HISTORY_KIND))
def open_debugger_of_server(subject: ServerSubject) -> Iterator[Finding]:
    """A server's JVM in which anyone who connects can run code."""
    return _debuggers_in(subject.path("javaOptions"), subject.server.java_options)


def _debuggers_in(path: Path, text: str) -> Iterator[Finding]:
    """Options at a path that open a JVM to anyone who connects."""
    for pattern, message in _DEBUGGERS:
        found = pattern.search(text)
        if found:
            yield Finding(path, message, found[0], next_step="delete the option")


@rule("SG240", INFO, PRODUCTION)
def kill_in_ui(subject: Subject) -> Iterator[Finding]:
    """A UI in which everyone who can open it may kill jobs."""
    facts = subject.facts
    served = facts.is_true("spark.ui.enabled", default=True) and facts.is_true(
        "spark.ui.killEnabled", default=True
    )
    if served and not facts.is_true("spark.acls.enable"):
        yield unset(
            subject.property_path("spark.ui.killEnabled"),
            "anyone who can open the Spark UI can kill jobs and stages",
            'set `spark.ui.killEnabled: "false"` in `sparkConf`, or `spark.acls.enable`',
        )
