"""An optional real Argo CD beside the cluster: its controllers, repository server and Redis.

All are processes in the control plane's network namespace. Argo CD's API server and UI do not run: an
Application is an object, and its controller writes the object's status. Repositories are folders of this
machine (`repoURL: file:///...`); the cluster is `https://kubernetes.default.svc`, as in an installation.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from cluster import control, network, processes
from cluster.plan import LAYOUT as OWN
from cluster.plan import NAME, Layout
from common import progress
from common.cachedir import ToolError
from gotools import gotools

NAMESPACE = "argocd"
PROGRAMS = ("argocd-redis", "argocd-repo-server", "argocd-controller", "argocd-sets-controller")
"""The programs in the order of their start, as they are named in `make cluster-status`."""

ROLES = {
    "argocd-repo-server": "argocd-repo-server",
    "argocd-controller": "argocd-application-controller",
    "argocd-sets-controller": "argocd-applicationset-controller",
}
"""The names under which the single binary is started."""

REDIS, REPO_SERVER, METRICS, SETS = 6379, 8081, 8082, 8085
PORTS = {
    "argocd-redis": REDIS,
    "argocd-repo-server": REPO_SERVER,
    "argocd-controller": METRICS,
    "argocd-sets-controller": SETS,
}
"""The port that each program listens on once it is ready."""

MANIFESTS = (
    *("crds/application-crd.yaml", "crds/applicationset-crd.yaml", "crds/appproject-crd.yaml"),
    *("base/config/argocd-cm.yaml", "base/config/argocd-cmd-params-cm.yaml"),
    *("base/config/argocd-rbac-cm.yaml", "base/config/argocd-secret.yaml"),
)
"""Manifests of an installation, from the same module from which the program is built."""

PROJECT = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "AppProject",
    "metadata": {"name": "default", "namespace": NAMESPACE},
    "spec": {
        "sourceRepos": ["*"],
        "destinations": [{"namespace": "*", "server": "*"}],
        "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
    },
}
"""The project of every installation (Argo CD's API server would create it, but does not run here)."""


def version() -> str:
    """The pinned version, as "v3.5.7"."""
    tool = gotools.find_tool("argocd")
    return gotools.read_module(tool).version_of(tool.module)


def folder(layout: Layout) -> Path:
    """The folder of its files: clones of repositories, and commands for its PATH."""
    return layout.root / "argocd"


def wanted(layout: Layout) -> bool:
    """Whether it was started since the cluster was created."""
    return any(control.pid_file(layout, name).exists() for name in PROGRAMS)


def settings(layout: Layout, path: str) -> dict[str, str]:
    """The environment variables that differ from an installation; `path` has git, helm and kustomize.

    It checks for changes every 30 s instead of every few minutes, so that tests need not wait.
    """
    home = folder(layout)
    return {
        "PATH": f"{home / 'bin'}:{path}",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "KUBECONFIG": str(layout.kubeconfig),
        "ARGOCD_FAKE_IN_CLUSTER": "true",  # manage the cluster that it runs beside, although not in a pod
        "ARGOCD_GPG_ENABLED": "false",
        "ARGOCD_ASK_PASS_SOCK": str(home / "ask-pass.sock"),
        "ARGOCD_TLS_DATA_PATH": str(home / "tls"),
        "ARGOCD_CONTROLLER_SHARD": "0",
        "ARGOCD_RECONCILIATION_TIMEOUT": "30s",
        "ARGOCD_RECONCILIATION_JITTER": "0s",
    }


def arguments(layout: Layout, name: str) -> list[str]:
    """The arguments of one of the programs."""
    log = ("--loglevel", "info", "--logformat", "text")
    redis = ("--redis", f"127.0.0.1:{REDIS}", *log)
    place = ("--namespace", NAMESPACE, "--kubeconfig", str(layout.kubeconfig))
    match name:
        case "argocd-redis":
            save = ("--save", "", "--appendonly", "no")
            return ["--port", str(REDIS), "--bind", "127.0.0.1", *save, "--dir", str(folder(layout))]
        case "argocd-repo-server":
            plain = ("--disable-tls", "--client-ca-path", "")
            address = ("--address", "127.0.0.1", "--port", str(REPO_SERVER), "--metrics-address", "127.0.0.1")
            return [*redis, *plain, *address, "--revision-cache-expiration", "1s"]
        case "argocd-controller":
            server = ("--repo-server", f"127.0.0.1:{REPO_SERVER}", "--repo-server-plaintext")
            return [*redis, *server, *place, "--metrics-port", str(METRICS)]
        case "argocd-sets-controller":
            server = ("--argocd-repo-server", f"127.0.0.1:{REPO_SERVER}", "--repo-server-plaintext")
            ports = (
                "--metrics-addr",
                f"127.0.0.1:{SETS}",
                "--probe-addr",
                "0",
                "--webhook-addr",
                "127.0.0.1:0",
            )
            return [*log, *server, *place, *ports]
    raise ToolError(f"Argo CD has no {name} here; it has: {', '.join(PROGRAMS)}")


def start(layout: Layout = OWN) -> None:
    """Start the programs that do not run."""
    binary = gotools.ensure("argocd")
    paths = [str(gotools.ensure(name).parent) for name in ("helm", "kustomize")]
    values = settings(layout, os.pathsep.join([*paths, os.environ.get("PATH", os.defpath)]))
    if all(processes.alive(processes.read(control.pid_file(layout, name))) for name in PROGRAMS):
        return
    _configure(layout)
    for name in PROGRAMS:
        if _start(layout, name, binary, values):
            progress.say(f"started {name}")
    for name in PROGRAMS:
        _wait_listening(layout, name)


def stop(layout: Layout = OWN, *names: str) -> None:
    """Kill all programs, or those with these names, as a crash would."""
    for name in names or tuple(reversed(PROGRAMS)):
        processes.stop(control.pid_file(layout, name), kill=True)


def _configure(layout: Layout) -> None:
    """Write its files, and create its objects."""
    home = folder(layout)
    for name in ("bin", "tmp", "tls"):
        (home / name).mkdir(parents=True, exist_ok=True)
    # It is called for each revision, although nothing has to be verified; its output is ignored.
    script = home / "bin" / "git-verify-wrapper.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    # Otherwise git, which runs as root here, refuses folders of other users.
    (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
    kubectl = gotools.ensure("kubectl")
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    control.apply(layout, kubectl, json.dumps(space))
    source = gotools.source("argocd") / "manifests"
    texts = [(source / name).read_text(encoding="utf-8") for name in MANIFESTS]
    control.apply(layout, kubectl, "\n---\n".join(texts), "-n", NAMESPACE)
    # Argo CD's API server would create the key that the other programs read.
    key = {"data": {"server.secretkey": "c3BhcmtnZW4="}}
    control.call(
        layout, kubectl, "patch", "secret", "argocd-secret", "-n", NAMESPACE, "--patch", json.dumps(key)
    )
    # On a busy machine, the API server takes a while to know the kind.
    established = ("--for=condition=Established", "crd/appprojects.argoproj.io", "--timeout=60s")
    control.call(layout, kubectl, "wait", *established)
    control.apply(layout, kubectl, json.dumps(PROJECT))


def _start(layout: Layout, name: str, binary: Path, values: dict[str, str]) -> bool:
    file = control.pid_file(layout, name)
    if processes.alive(processes.read(file)):
        return False
    if name == "argocd-redis":
        command = [str(shutil.which("redis-server") or "redis-server")]
    else:
        command = ["env", *(f"{key}={text}" for key, text in values.items())]
        command += [f"ARGOCD_BINARY_NAME={ROLES[name]}", str(binary)]
    whole = [*network.enter(NAME), *command, *arguments(layout, name)]
    processes.start(whole, layout.logs / f"{name}.log", file)
    return True


def _wait_listening(layout: Layout, name: str, seconds: float = 90) -> None:
    """Wait until the program listens on its port. Raises ToolError with the end of its log if it does not."""
    file = control.pid_file(layout, name)

    def listens() -> bool:
        identity = processes.read(file)
        return bool(identity and processes.alive(identity) and PORTS[name] in listening(identity.pid))

    processes.wait_until(
        *(listens, f"{name} does not listen on its port", layout.logs / f"{name}.log", seconds),
        runs=lambda: processes.alive(processes.read(file)),
    )


def listening(pid: int, proc: Path = Path("/proc")) -> set[int]:
    """The TCP ports with a listening process in the network namespace of process `pid`."""
    ports = set()
    for name in ("tcp", "tcp6"):
        lines = (proc / str(pid) / "net" / name).read_text().splitlines()[1:]
        for fields in map(str.split, lines):
            if fields[3] == "0A":  # TCP_LISTEN
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports
