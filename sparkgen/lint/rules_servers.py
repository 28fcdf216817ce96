"""Rules for history servers, shuffle services and staging servers."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.lint.findings import INFO, PRODUCTION, WARNING, Finding, server_rule, unset
from sparkgen.lint.serversubject import ServerSubject
from sparkgen.model import HISTORY_KIND, SERVER_KINDS, STAGING_KIND
from sparkgen.model.historyserver import HistoryServer
from sparkgen.model.staging import SIDES, StagingServer


@server_rule("SG232", INFO, PRODUCTION, kinds=SERVER_KINDS)
def cpu_limit(subject: ServerSubject) -> Iterator[Finding]:
    """A server without a CPU limit, which may use a whole node."""
    path = subject.path("resources", "limits", "cpu")
    if not subject.has(path):
        yield unset(
            path,
            f"the {subject.role} can use all CPU of its node",
            "set `resources: {limits: {cpu: ...}}`, or ignore this if nodes are not shared",
        )


@server_rule("SG234", WARNING, PRODUCTION, kinds=(HISTORY_KIND,))
def network_policy(subject: ServerSubject) -> Iterator[Finding]:
    """A history server whose logs every other pod of the cluster may read."""
    if subject.server.network_policy is None:
        yield unset(
            subject.path("networkPolicy", "enabled"),
            "every pod in the cluster can read the logs: the history server does not authenticate users",
            "set `networkPolicy: {enabled: true}`, and list the proxy in front of it in `ingressFrom`",
        )


@server_rule("SG258", WARNING, PRODUCTION, kinds=(HISTORY_KIND,))
def endless_logs(subject: ServerSubject) -> Iterator[Finding]:
    """A claim that fills up, because no server removes logs from it. An object store has its own rules."""
    server = subject.server
    if isinstance(server, HistoryServer) and server.claim is not None and not server.cleans:
        yield unset(
            subject.path("cleaner"),
            "nothing removes event logs: when the volume is full, applications that write to it fail",
            "add `cleaner: {maxAge: 30d}`, or ignore this if another server cleans this volume",
        )


@server_rule("SG234", WARNING, PRODUCTION, kinds=(STAGING_KIND,))
def staging_network_policy(subject: ServerSubject) -> Iterator[Finding]:
    """A staging server at which every pod of the cluster may try passwords."""
    if subject.server.network_policy is None:
        yield unset(
            subject.path("networkPolicy", "enabled"),
            "every pod in the cluster can try passwords at the staging server",
            "set `networkPolicy:`, and list who may pull in `pullFrom` and who may push in `pushFrom`",
        )


@server_rule("SG257", WARNING, PRODUCTION, kinds=(STAGING_KIND,))
def plain_staging_ingress(subject: ServerSubject) -> Iterator[Finding]:
    """An Ingress without a certificate: passwords and code are sent unencrypted."""
    for side in SIDES:
        ingress = subject.at(subject.path(side, "ingress"))
        if ingress and not ingress.get("tlsSecretName"):
            yield unset(
                subject.path(side, "ingress", "tlsSecretName"),
                "passwords and code are sent unencrypted: the Ingress has no certificate",
                "set the Secret with the certificate of `host`: `tlsSecretName: ...`",
            )


@server_rule("SG273", WARNING, PRODUCTION, kinds=(STAGING_KIND,))
def plain_staging_server(subject: ServerSubject) -> Iterator[Finding]:
    """A staging server without a certificate: anyone on the network can read its passwords."""
    if subject.has(subject.path("tls")):
        return
    types = ((subject.at(subject.path(side)) or {}).get("serviceType", "ClusterIP") for side in SIDES)
    leaves = any(kind != "ClusterIP" for kind in types)
    where = "leave the cluster unencrypted" if leaves else "are sent unencrypted"
    yield unset(
        subject.path("tls"),
        f"passwords and code {where}: the staging server has no certificate",
        "set a Secret of type kubernetes.io/tls: `tls: {secretName: ...}`",
    )


@server_rule("SG258", WARNING, PRODUCTION, kinds=(STAGING_KIND,))
def endless_artifacts(subject: ServerSubject) -> Iterator[Finding]:
    """A claim that fills up, because nothing removes artifacts from it."""
    server = subject.server
    if isinstance(server, StagingServer) and server.claim is not None and server.collection is None:
        yield unset(
            subject.path("garbageCollection"),
            "nothing removes artifacts: when the claim is full, pushes fail",
            "add `garbageCollection: {namespaces: [...]}` with the applications' namespaces",
        )


@server_rule("SG275", INFO, PRODUCTION, kinds=(STAGING_KIND,))
def single_replica(subject: ServerSubject) -> Iterator[Finding]:
    """One pod for each side: while it is replaced, no driver or executor can start."""
    server = subject.server
    if isinstance(server, StagingServer) and server.replicas == 1:
        yield Finding(
            subject.path("replicas"),
            "means one pod for each side: while that pod is replaced, no driver or executor can start",
            "1",
            next_step="set `replicas: 2`",
        )
