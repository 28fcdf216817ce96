"""The control plane: etcd, API server, controllers, scheduler and DNS, in one network namespace."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from cluster import certificates, configs, network, processes
from cluster.plan import NAME, Layout
from common.cachedir import ToolError, environment
from gotools import kubernetes_module

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "coredns")
"""The programs in the order of their start."""

_USERS = ("kube-controller-manager", "kube-scheduler", "coredns", "kwok")


def pid_file(layout: Layout, program: str) -> Path:
    """The pid file of one of the control plane's processes."""
    return layout.pids / f"{program}.pid"


def configure(layout: Layout) -> None:
    """Create the certificates, and write the configuration files."""
    certificates.make(layout.pki)
    layout.kubeconfig.write_text(configs.kubeconfig("admin", layout.pki))
    layout.kubeconfig.chmod(0o600)
    for user in _USERS:
        layout.config(f"{user}.kubeconfig").write_text(configs.kubeconfig(user, layout.pki))
    layout.config("audit-policy.yaml").write_text(configs.audit_policy())
    layout.config("Corefile").write_text(configs.corefile(layout))
    layout.etcd.mkdir(mode=0o700, exist_ok=True)


def arguments(layout: Layout, program: str) -> list[str]:
    """The arguments of one of the programs."""
    match program:
        case "etcd":
            return configs.etcd(layout)
        case "kube-apiserver":
            return configs.api_server(layout, gangs=_knows_gangs())
        case "kube-controller-manager":
            return configs.controller_manager(layout)
        case "kube-scheduler":
            return configs.scheduler(layout, gangs=_knows_gangs())
        case "coredns":
            return ["-conf", str(layout.config("Corefile"))]
    raise ToolError(f"the control plane has no {program}; it has: {', '.join(PROGRAMS)}")


def _knows_gangs() -> bool:
    """Whether this is Kubernetes 1.36, the pinned version, and not another version from the environment."""
    version = kubernetes_module.wanted(environment())
    return version is None or version.startswith("v1.36.")


def start(layout: Layout, program: str, tools: Mapping[str, Path]) -> bool:
    """Start one of the programs, if it does not run. Returns whether it was started."""
    file = pid_file(layout, program)
    if processes.alive(processes.read(file)):
        return False
    command = [*network.enter(NAME), str(tools[program]), *arguments(layout, program)]
    processes.start(command, layout.logs / f"{program}.log", file)
    return True


def wait_ready(layout: Layout, kubectl: Path, seconds: float = 60) -> None:
    """Wait until the API server reports that it is ready. Raises ToolError after `seconds`."""
    deadline = time.monotonic() + seconds
    while call(layout, kubectl, "get", "--raw", "/readyz").returncode:
        for program in ("etcd", "kube-apiserver"):
            dead = not processes.alive(processes.read(pid_file(layout, program)))
            if dead or time.monotonic() > deadline:
                log = layout.logs / f"{program}.log"
                state = "ended" if dead else f"is not ready after {seconds:.0f} s"
                raise ToolError(f"{program} {state}; {log} ends with:\n{processes.last_lines(log)}")
        time.sleep(0.1)


def call(
    layout: Layout, kubectl: Path, *arguments: str, input_text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run kubectl as the administrator."""
    command = [*network.enter(NAME), str(kubectl), f"--kubeconfig={layout.kubeconfig}", *arguments]
    return subprocess.run(command, input=input_text, capture_output=True, text=True, check=False)


def apply(layout: Layout, kubectl: Path, objects: str, *options: str) -> None:
    """Apply objects. Retries for 20 s, because a new API server does not have all namespaces at once."""
    deadline = time.monotonic() + 20
    while True:
        done = call(layout, kubectl, "apply", "--server-side", *options, "-f", "-", input_text=objects)
        if done.returncode == 0:
            return
        if time.monotonic() > deadline:
            raise ToolError(f"cannot create the cluster's own objects: {done.stderr.strip()}")
        time.sleep(0.2)


def stop(layout: Layout) -> list[str]:
    """Kill the control plane, in the reverse order of the start. Returns the names of those that ran."""
    return [
        name for name in ("kwok", *reversed(PROGRAMS)) if processes.stop(pid_file(layout, name), kill=True)
    ]
