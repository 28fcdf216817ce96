"""Rules of Pod Security "restricted", for the pods as they are rendered.

Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/, every control of the profiles
"baseline" and "restricted" for Linux pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparkgen.errors import Path
from sparkgen.lint.findings import ERROR, PSS_RESTRICTED, Finding, Put, rule, shared_rule, unset
from sparkgen.lint.subject import Subject
from sparkgen.lint.view import Container, Pod, View
from sparkgen.model import HISTORY_KIND, STAGING_KIND

VOLUME_TYPES = frozenset(
    (
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    )
)
SAFE_SYSCTLS = frozenset(
    (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    )
)
SELINUX_TYPES = frozenset(
    (None, "", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
)
APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
_HANDLERS = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)

Places = tuple[Path, ...]


@rule("SG210", ERROR, PSS_RESTRICTED)
def host_access(subject: Subject) -> Iterator[Finding]:
    """Namespaces, ports and addresses of the node."""
    for pod in subject.pods:
        for name in ("hostNetwork", "hostPID", "hostIPC"):
            if pod.spec.get(name):
                path = subject.facts.path(pod.role, "template", "spec", name)
                yield Finding(path, "lets the pod use a namespace of the node", "true", "false", "delete it")
    for _, container in subject.containers():
        for port in container.spec.get("ports") or ():
            if port.get("hostPort"):
                yield Finding(
                    subject.where(container.places, "ports"),
                    f"the container `{container.name}` uses port {port['hostPort']} of the node",
                    next_step="delete `hostPort`; use a Service to reach the pod's port",
                )
        yield from _foreign_handlers(subject, container)


def _foreign_handlers(subject: Subject, container: Container) -> Iterator[Finding]:
    """Probes and hooks with a host, which "restricted" refuses since Kubernetes 1.34."""
    for names in _HANDLERS:
        handler: Any = container.spec
        for name in names:
            handler = (handler or {}).get(name)
        for action in ("httpGet", "tcpSocket"):
            if ((handler or {}).get(action) or {}).get("host"):
                path = subject.where(container.places, *names, action, "host")
                yield unset(path, "makes the kubelet connect to another host", "delete `host`")


@shared_rule("SG211", ERROR, PSS_RESTRICTED, servers=(HISTORY_KIND, STAGING_KIND))
def privileged(subject: View) -> Iterator[Finding]:
    """Containers with the rights of root on the node."""
    for places, context in _contexts(subject):
        if context.get("privileged"):
            path = subject.where(places, "privileged")
            yield Finding(path, "gives the container full access to its node", "true", "false", "delete it")
        if context.get("procMount") not in (None, "Default"):
            path = subject.where(places, "procMount")
            yield Finding(path, "shows the container the unmasked /proc", next_step="delete it")
        if (context.get("windowsOptions") or {}).get("hostProcess"):
            path = subject.where(places, "windowsOptions", "hostProcess")
            yield Finding(path, "runs on the node itself", "true", "false", "delete it")


@rule("SG212", ERROR, PSS_RESTRICTED)
def privilege_escalation(subject: Subject) -> Iterator[Finding]:
    """Containers whose programs may gain more rights than the container has at its start."""
    for _, container in subject.containers():
        given = container.security("allowPrivilegeEscalation")
        if given is False:
            continue
        path = _context_path(subject, container, "allowPrivilegeEscalation")
        unsaid = given is None and not container.security("privileged") and not _is_admin(container)
        yield Finding(
            path,
            f"the container `{container.name}` may gain privileges, for example with a setuid program",
            "" if given is None else "true",
            "false",
            "set `allowPrivilegeEscalation: false` in its `securityContext`",
            fix=(Put(path, value=False),) if unsaid else (),
        )


@rule("SG213", ERROR, PSS_RESTRICTED)
def capabilities(subject: Subject) -> Iterator[Finding]:
    """Containers with kernel capabilities, which Spark does not need."""
    for pod, container in subject.containers():
        added = sorted(set(container.security("capabilities", "add") or ()) - {"NET_BIND_SERVICE"})
        if added:
            yield Finding(
                _context_path(subject, container, "capabilities", "add"),
                f"the container `{container.name}` gets kernel capabilities",
                ", ".join(added),
                "NET_BIND_SERVICE",
                "delete those that are not allowed",
            )
        dropped = container.security("capabilities", "drop")
        if "ALL" in (dropped or ()):
            continue
        path = _context_path(subject, container, "capabilities", "drop")
        # In a program that is not root, none of them is effective, so dropping them changes nothing.
        safe = not added and dropped is None and _user(pod, container) not in (None, 0)
        yield Finding(
            path,
            f"the container `{container.name}` keeps kernel capabilities",
            allowed='drop: ["ALL"]',
            next_step='set `capabilities: {drop: ["ALL"]}` in its `securityContext`',
            fix=(Put(path, value=["ALL"]),) if safe else (),
        )


@shared_rule("SG214", ERROR, PSS_RESTRICTED, servers=(HISTORY_KIND, STAGING_KIND))
def root(subject: View) -> Iterator[Finding]:
    """Containers that run, or may run, as root."""
    for pod in subject.pods:
        if pod.security("runAsUser") == 0:
            yield _as_root(subject.where(pod.places, "runAsUser"), "0")
        unsaid = any(container.security("runAsNonRoot") is None for container in pod.containers)
        if unsaid and pod.security("runAsNonRoot") is not True:
            yield _may_be_root(subject.where(pod.places, "runAsNonRoot"))
    for _, container in subject.containers():
        if container.security("runAsUser") == 0:
            yield _as_root(subject.where(container.places, "securityContext", "runAsUser"), "0")
        if container.security("runAsNonRoot") not in (None, True):
            yield _may_be_root(subject.where(container.places, "securityContext", "runAsNonRoot"))


def _as_root(path: Path, found: str) -> Finding:
    return Finding(path, "runs as root", found, "a user ID from 1", "use a user of the image other than root")


def _may_be_root(path: Path) -> Finding:
    return Finding(path, "lets the container run as root", "false", "true", "delete it; the default is true")


@shared_rule("SG215", ERROR, PSS_RESTRICTED, servers=(HISTORY_KIND, STAGING_KIND))
def seccomp(subject: View) -> Iterator[Finding]:
    """Containers that may make all system calls."""
    for places, context in _contexts(subject):
        kind = (context.get("seccompProfile") or {}).get("type")
        if kind is not None and kind not in ("RuntimeDefault", "Localhost"):
            yield Finding(
                subject.where(places, "seccompProfile", "type"),
                "lets the container make every system call",
                str(kind),
                "RuntimeDefault, Localhost",
                "delete the profile: the default is RuntimeDefault",
            )


@rule("SG216", ERROR, PSS_RESTRICTED)
def volume_types(subject: Subject) -> Iterator[Finding]:
    """Volumes of types that "restricted" refuses, such as a directory of the node or an NFS server."""
    told: set[Path] = set()
    for pod in subject.pods:
        homes = {volume.get("name"): path for path, volume in subject.facts.named_volumes(pod.role)}
        for volume in pod.spec.get("volumes") or ():
            path = homes.get(volume["name"], subject.facts.path(pod.role))
            for kind in sorted(volume.keys() - {"name"} - VOLUME_TYPES):
                if path not in told:
                    told.add(path)
                    step = "use a PersistentVolumeClaim, or `emptyDir` for scratch space"
                    yield Finding(path, f"volumes of type {kind} are not allowed", kind, next_step=step)


@shared_rule("SG217", ERROR, PSS_RESTRICTED, servers=(HISTORY_KIND, STAGING_KIND))
def confinement(subject: View) -> Iterator[Finding]:
    """Disabled AppArmor, changed SELinux contexts, and kernel settings that affect more than the pod."""
    yield from _apparmor_annotations(subject)
    for places, context in _contexts(subject):
        if (context.get("appArmorProfile") or {}).get("type") == "Unconfined":
            path = subject.where(places, "appArmorProfile", "type")
            yield Finding(path, "turns AppArmor off", "Unconfined", "RuntimeDefault, Localhost", "delete it")
        options = context.get("seLinuxOptions") or {}
        if options.get("type") not in SELINUX_TYPES or options.get("user") or options.get("role"):
            step = "delete `user` and `role`, and delete `type` or use one of the container types"
            path = subject.where(places, "seLinuxOptions")
            yield unset(path, "changes the SELinux context", step)
        for sysctl in context.get("sysctls") or ():
            if sysctl["name"] not in SAFE_SYSCTLS:
                path = subject.where(places, "sysctls")
                message = f"the sysctl {sysctl['name']} affects more than the pod"
                yield unset(path, message, "delete it")


def _apparmor_annotations(subject: View) -> Iterator[Finding]:
    """Annotations that turn AppArmor off, as before Kubernetes 1.30."""
    for pod in subject.pods:
        for key, text in pod.annotations.items():
            if key.startswith(APPARMOR_ANNOTATION) and not (
                text in ("", "runtime/default") or text.startswith("localhost/")
            ):
                path = subject.where(pod.annotated, key)
                yield Finding(path, "turns AppArmor off", text, "runtime/default, localhost/*", "delete it")


def _contexts(subject: View) -> Iterator[tuple[Places, dict[str, Any]]]:
    """The security contexts of the pods and their containers, each with its places in the document."""
    for pod in subject.pods:
        yield pod.places, pod.spec.get("securityContext") or {}
    for _, container in subject.containers():
        places = tuple((*place, "securityContext") for place in container.places)
        yield places, container.spec.get("securityContext") or {}


def _context_path(subject: Subject, container: Container, *names: str) -> Path:
    """The path of a setting, or the best path to add it: in the container's existing security context."""
    whole = subject.where(container.places, "securityContext", *names)
    if subject.has(whole):
        return whole
    return (*subject.where(container.places, "securityContext"), *names)


def _user(pod: Pod, container: Container) -> Any:
    own = container.security("runAsUser")
    return pod.security("runAsUser") if own is None else own


def _is_admin(container: Container) -> bool:
    added = container.security("capabilities", "add") or ()
    return bool({"SYS_ADMIN", "CAP_SYS_ADMIN"} & set(added))
