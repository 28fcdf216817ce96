"""Pod Security "restricted" for one pod: what Kubernetes' admission would refuse, as sentences.

Written from https://kubernetes.io/docs/concepts/security/pod-security-standards/ (every control of the
profiles "baseline" and "restricted" for Linux pods, as of Kubernetes 1.36). Pure; nothing is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sparkgen.lint.rules_restricted import (
    APPARMOR_ANNOTATION,
    SAFE_SYSCTLS,
    SELINUX_TYPES,
    VOLUME_TYPES,
)

Pod = Mapping[str, Any]
Place = tuple[str, Mapping[str, Any]]
"""A path in words, and what stands there."""

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS = ("postStart", "preStop")


def violations(template: Pod) -> list[str]:
    """What the profile refuses in a pod or pod template (`metadata` and `spec`); [] when nothing."""
    return [sentence for control in CONTROLS for sentence in control(template)]


def containers(template: Pod) -> Iterator[Place]:
    """Every container of the pod, of whichever sort."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for container in template["spec"].get(field) or ():
            yield f"{field} {container.get('name', '?')}", container


def contexts(template: Pod) -> Iterator[Place]:
    """The security context of the pod and of each container, {} where there is none."""
    yield "pod", template["spec"].get("securityContext") or {}
    for place, container in containers(template):
        yield place, container.get("securityContext") or {}


def host_namespaces(template: Pod) -> Iterator[str]:
    """Baseline: the host's namespaces are not shared."""
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if template["spec"].get(field):
            yield f"pod: {field} is on"


def host_processes_and_privileges(template: Pod) -> Iterator[str]:
    """Baseline: no HostProcess, no privileged container, no /proc of another kind."""
    for place, context in contexts(template):
        if (context.get("windowsOptions") or {}).get("hostProcess"):
            yield f"{place}: hostProcess is on"
        if context.get("privileged"):
            yield f"{place}: privileged is on"
        if context.get("procMount", "Default") != "Default":
            yield f"{place}: procMount is {context['procMount']}"


def host_ports_and_targets(template: Pod) -> Iterator[str]:
    """Baseline: no port of the host; probes and hooks go to the pod itself (since 1.34)."""
    for place, container in containers(template):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield f"{place}: host port {port['hostPort']}"
        hooks = container.get("lifecycle") or {}
        handlers = [container.get(name) for name in PROBES] + [hooks.get(name) for name in HOOKS]
        for handler in handlers:
            for action in ("httpGet", "tcpSocket"):
                if ((handler or {}).get(action) or {}).get("host"):
                    yield f"{place}: {action} names a host"


def confinement(template: Pod) -> Iterator[str]:
    """Baseline: AppArmor and SELinux are not turned off, and only safe sysctls are set."""
    for key, value in (template.get("metadata", {}).get("annotations") or {}).items():
        allowed = value in ("", "runtime/default") or value.startswith("localhost/")
        if key.startswith(APPARMOR_ANNOTATION) and not allowed:
            yield f"pod: annotation {key} is {value}"
    for place, context in contexts(template):
        if (context.get("appArmorProfile") or {}).get("type") == "Unconfined":
            yield f"{place}: AppArmor is unconfined"
        options = context.get("seLinuxOptions") or {}
        if options.get("type", "") not in SELINUX_TYPES or options.get("user") or options.get("role"):
            yield f"{place}: SELinux options {options}"
        for sysctl in context.get("sysctls") or ():
            if sysctl["name"] not in SAFE_SYSCTLS:
                yield f"{place}: sysctl {sysctl['name']}"


def volume_types(template: Pod) -> Iterator[str]:
    """Restricted: volumes of these types only, and so no hostPath."""
    for volume in template["spec"].get("volumes") or ():
        for kind in volume.keys() - {"name"} - VOLUME_TYPES:
            yield f"volume {volume['name']}: {kind}"


def privilege_escalation(template: Pod) -> Iterator[str]:
    """Restricted: each container says that it may not gain privileges, and drops all capabilities."""
    for place, container in containers(template):
        context = container.get("securityContext") or {}
        if context.get("allowPrivilegeEscalation") is not False:
            yield f"{place}: allowPrivilegeEscalation is not false"
        capabilities = context.get("capabilities") or {}
        if "ALL" not in (capabilities.get("drop") or ()):
            yield f"{place}: capabilities are not all dropped"
        for added in set(capabilities.get("add") or ()) - {"NET_BIND_SERVICE"}:
            yield f"{place}: capability {added} is added"


def users(template: Pod) -> Iterator[str]:
    """Restricted: nobody runs as root."""
    default = (template["spec"].get("securityContext") or {}).get("runAsNonRoot")
    for place, context in contexts(template):
        if context.get("runAsUser") == 0:
            yield f"{place}: runAsUser is 0"
        if place != "pod" and context.get("runAsNonRoot", default) is not True:
            yield f"{place}: runAsNonRoot is not true"


def seccomp(template: Pod) -> Iterator[str]:
    """Restricted: each container has a seccomp profile, its own or the pod's, and none is unconfined."""
    default = (template["spec"].get("securityContext") or {}).get("seccompProfile")
    for place, context in contexts(template):
        profile = context.get("seccompProfile") or default or {}
        if place != "pod" and profile.get("type") not in ("RuntimeDefault", "Localhost"):
            yield f"{place}: seccomp profile is {profile.get('type')}"
        if place == "pod" and profile.get("type") == "Unconfined":
            yield "pod: seccomp profile is Unconfined"


CONTROLS: tuple[Callable[[Pod], Iterator[str]], ...] = (
    host_namespaces,
    host_processes_and_privileges,
    host_ports_and_targets,
    confinement,
    volume_types,
    privilege_escalation,
    users,
    seccomp,
)
"""Every control, in the order of the documentation."""
