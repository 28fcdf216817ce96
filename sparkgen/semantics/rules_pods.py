"""Settings of whole pods, most of them in templates: what is refused, replaced, or would be lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.errors import Path
from sparkgen.semantics.facts import ROLES, DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.wording import shortened

SHARED: Mapping[str, str] = {
    "shareProcessNamespace": "user code could read the allocator's memory, including its token",
    "hostNetwork": (
        "two drivers on one node would compete for the same ports, and the allocator would be exposed"
    ),
    "hostPID": "user code could see every process on the node, including the allocator and its token",
    "hostIPC": "user code could access the shared memory of the whole node",
}
"""Setting of a driver's whole pod -> why it is refused."""


@rule("SG166", ERROR, chart="security: user code could reach the allocator from outside its container")
def shared_pods(facts: DocumentFacts) -> Iterator[Finding]:
    """Settings of the driver's pod with which user code could reach the allocator or its token."""
    inside = facts.template("driver")
    for name, reason in SHARED.items():
        if inside.get(name) is True:
            path = facts.path("driver", "template", "spec", name)
            yield Finding(path, f"is refused for drivers: {reason}", "true", "false", "delete it")


@rule("SG167", ERROR)
def root_users(facts: DocumentFacts) -> Iterator[Finding]:
    """Containers that run as root while the pod forbids it: the kubelet does not start them.

    The pod has runAsNonRoot and user 185 unless the document says otherwise; a container's own setting wins.
    """
    for container in facts.containers:
        pod = _pod_security(facts, container.role)
        own = container.spec.get("securityContext") or {}
        user, strict = (
            own.get("runAsUser", pod.get("runAsUser")),
            own.get("runAsNonRoot", pod.get("runAsNonRoot", True)),
        )
        if user != 0 or strict is not True:
            continue
        if "runAsUser" in own:
            path = (*container.path, "securityContext", "runAsUser")
        elif container.typed and container.kind == "spark":
            path = _pod_user_path(facts, container.role)
        else:
            continue  # reported once, for the Spark container
        yield Finding(
            path,
            "is root, but `runAsNonRoot` is on by default: the container never starts",
            "0",
            "a user ID from 1",
            "use the image's own user (185 in the stock image), or set `runAsNonRoot: false` beside it",
        )


def _pod_security(facts: DocumentFacts, role: str) -> Mapping[str, Any]:
    """Returns the security settings that the document has for the pod; typed fields win over the template."""
    template = facts.template(role).get("securityContext") or {}
    return {**template, **(facts.role(role).get("podSecurityContext") or {})}


def _pod_user_path(facts: DocumentFacts, role: str) -> Path:
    if "runAsUser" in (facts.role(role).get("podSecurityContext") or {}):
        return facts.path(role, "podSecurityContext", "runAsUser")
    return facts.path(role, "template", "spec", "securityContext", "runAsUser")


@rule("SG168", WARNING)
def template_replaced(facts: DocumentFacts) -> Iterator[Finding]:
    """Parts of a template that sparkgen replaces; native Spark replaces most of them too."""
    for role in ROLES:
        inside = facts.template(role)
        path = facts.path(role, "template", "spec")
        if inside.get("restartPolicy") not in (None, "Never"):
            step = "delete it; the application's `restartPolicy` decides whether the driver is restarted"
            message = (
                "has no effect: executors are replaced by new pods, and drivers follow `spec.restartPolicy`"
            )
            yield about_key((*path, "restartPolicy"), message, step)
        for name in set((facts.get(role, "template", "metadata")) or {}) - {"labels", "annotations"}:
            yield about_key(
                facts.path(role, "template", "metadata", name),
                "has no effect: Kubernetes names the pods",
                "delete it",
                "labels, annotations",
            )
    for container in facts.containers:
        if container.kind == "spark" and not container.typed:
            for field, step in (
                ("image", "set `image` of the application or of the role"),
                ("args", "set `arguments`"),
                ("command", "the image's entrypoint starts Spark"),
            ):
                if field in container.spec:
                    message = "is overridden by the application's own fields"
                    yield about_key((*container.path, field), message, f"delete it; {step}")


@rule("SG169", ERROR)
def template_accounts(facts: DocumentFacts) -> Iterator[Finding]:
    """An account in a template: the application's own replaces it, and its rights are lost."""
    account = facts.get("driver", "serviceAccount") or facts.get("serviceAccount", "name") or facts.name
    for role in ROLES:
        for field in ("serviceAccountName", "serviceAccount"):
            name = facts.template(role).get(field)
            wanted = facts.role(role).get("serviceAccount") or account
            if name is not None and name != wanted:
                yield about_key(
                    facts.path(role, "template", "spec", field),
                    "would be lost: the application's own account replaces it",
                    f"write `serviceAccount: {shortened(str(name))}` below `{role}:` instead",
                )


@rule("SG170", WARNING)
def tokens(facts: DocumentFacts) -> Iterator[Finding]:
    """A template that mounts the account's token: only the allocator gets one."""
    for role in ROLES:
        if facts.template(role).get("automountServiceAccountToken") is True:
            yield about_key(
                facts.path(role, "template", "spec", "automountServiceAccountToken"),
                "stays false: user code gets no Kubernetes credentials, only the allocator does",
                "delete it; if your code needs the Kubernetes API, mount a token as a projected volume",
                "false",
            )
