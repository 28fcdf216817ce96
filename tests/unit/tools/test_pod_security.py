"""The checker of Pod Security "restricted" knows every control of the profile."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from k8s import pod_security

GOOD: dict[str, Any] = {
    "metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/main": "runtime/default"}},
    "spec": {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "main",
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            }
        ],
        "volumes": [{"name": "scratch", "emptyDir": {}}],
    },
}

POD = ("spec", "securityContext")
MAIN = ("spec", "containers", 0)
CONTEXT = (*MAIN, "securityContext")

BAD = [
    (("spec", "hostNetwork"), True, "pod: hostNetwork is on"),
    (("spec", "hostPID"), True, "pod: hostPID is on"),
    (("spec", "hostIPC"), True, "pod: hostIPC is on"),
    ((*POD, "windowsOptions"), {"hostProcess": True}, "pod: hostProcess is on"),
    ((*CONTEXT, "privileged"), True, "containers main: privileged is on"),
    ((*CONTEXT, "procMount"), "Unmasked", "containers main: procMount is Unmasked"),
    ((*MAIN, "ports"), [{"containerPort": 1, "hostPort": 7337}], "containers main: host port 7337"),
    (
        (*MAIN, "livenessProbe"),
        {"httpGet": {"host": "node", "port": 1}},
        "containers main: httpGet names a host",
    ),
    (
        (*MAIN, "lifecycle"),
        {"preStop": {"tcpSocket": {"host": "node", "port": 1}}},
        "containers main: tcpSocket names a host",
    ),
    (
        ("metadata", "annotations", "container.apparmor.security.beta.kubernetes.io/main"),
        "unconfined",
        "pod: annotation container.apparmor.security.beta.kubernetes.io/main is unconfined",
    ),
    ((*POD, "appArmorProfile"), {"type": "Unconfined"}, "pod: AppArmor is unconfined"),
    ((*POD, "seLinuxOptions"), {"user": "u"}, "pod: SELinux options {'user': 'u'}"),
    ((*POD, "seLinuxOptions"), {"type": "spc_t"}, "pod: SELinux options {'type': 'spc_t'}"),
    ((*POD, "sysctls"), [{"name": "kernel.msgmax", "value": "1"}], "pod: sysctl kernel.msgmax"),
    (("spec", "volumes"), [{"name": "disk", "hostPath": {"path": "/"}}], "volume disk: hostPath"),
    (("spec", "volumes"), [{"name": "share", "nfs": {}}], "volume share: nfs"),
    (
        (*CONTEXT, "allowPrivilegeEscalation"),
        None,
        "containers main: allowPrivilegeEscalation is not false",
    ),
    (
        (*CONTEXT, "capabilities"),
        {"drop": ["NET_RAW"]},
        "containers main: capabilities are not all dropped",
    ),
    (
        (*CONTEXT, "capabilities"),
        {"drop": ["ALL"], "add": ["SYS_ADMIN"]},
        "containers main: capability SYS_ADMIN is added",
    ),
    ((*POD, "runAsUser"), 0, "pod: runAsUser is 0"),
    ((*CONTEXT, "runAsUser"), 0, "containers main: runAsUser is 0"),
    ((*POD, "runAsNonRoot"), None, "containers main: runAsNonRoot is not true"),
    ((*CONTEXT, "runAsNonRoot"), False, "containers main: runAsNonRoot is not true"),
    ((*POD, "seccompProfile"), None, "containers main: seccomp profile is None"),
    ((*CONTEXT, "seccompProfile"), {"type": "Unconfined"}, "containers main: seccomp profile is Unconfined"),
]

ALLOWED = [
    ((*CONTEXT, "capabilities"), {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}),
    ((*CONTEXT, "seccompProfile"), {"type": "Localhost", "localhostProfile": "spark.json"}),
    ((*POD, "seLinuxOptions"), {"type": "container_t"}),
    ((*POD, "sysctls"), [{"name": "net.ipv4.tcp_syncookies", "value": "1"}]),
    ((*MAIN, "ports"), [{"containerPort": 1, "hostPort": 0}]),
    (("spec", "volumes"), [{"name": "disk", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]),
]


def changed(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """The good pod with one value at `path`; None takes the field away."""
    pod = copy.deepcopy(GOOD)
    place: Any = pod
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return pod


def test_a_restricted_pod_passes() -> None:
    """Nothing is said about a pod that follows the profile."""
    assert pod_security.violations(GOOD) == []


@pytest.mark.parametrize(("path", "value", "sentence"), BAD)
def test_every_control_is_known(path: tuple[str | int, ...], value: object, sentence: str) -> None:
    """One wrong field gives one sentence that names the place."""
    assert pod_security.violations(changed(path, value)) == [sentence]


@pytest.mark.parametrize(("path", "value"), ALLOWED)
def test_what_the_profile_allows_is_allowed(path: tuple[str | int, ...], value: object) -> None:
    """The exceptions that the documentation lists are no findings."""
    assert pod_security.violations(changed(path, value)) == []


def test_init_and_ephemeral_containers_count() -> None:
    """A container is looked at wherever it stands."""
    pod = copy.deepcopy(GOOD)
    pod["spec"]["initContainers"] = [{"name": "first"}]
    pod["spec"]["ephemeralContainers"] = [{"name": "debug"}]
    places = {sentence.split(":")[0] for sentence in pod_security.violations(pod)}
    assert places == {"initContainers first", "ephemeralContainers debug"}
