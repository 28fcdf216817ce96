"""The command line: `python -m cluster COMMAND`, which the Makefile's cluster-* targets call."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from cluster import argocd, control, fakes, faults, images, lifecycle, lock, network, requirements
from cluster.handle import Cluster
from cluster.plan import LAYOUT, LOCK, NAME, NODES
from common import progress
from common.cachedir import ToolError
from common.command import tells_errors
from gotools import gotools

NO_CLUSTER = "there is no cluster; start it: make cluster-up"

COMMANDS = {
    "requirements": "install the Debian packages that the cluster needs",
    "up": "build what is missing, and start the cluster",
    "down": "stop the cluster, and remove everything that it created",
    "status": "print which parts run; exit 0 if all of them do",
    "load": "load Spark images onto the nodes, by tag, such as 3.5.8 (default: those of the end-to-end "
    "tests)",
    "fakes": "create this many fake nodes (kwok), with a taint that keeps real pods away; 0 removes them",
    "argocd": "start an Argo CD that syncs Git repositories of this machine (file://...) to the cluster",
    "kill": "kill a process of the cluster, or a whole node, as a crash would; `up` starts it again",
    "shell": "open a shell whose kubectl, helm and kustomize use the cluster",
}


@tells_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0 if it succeeded, 1 if it failed or (status) not all run, 130 on Ctrl-C."""
    parser = argparse.ArgumentParser(prog="cluster", description="A real Kubernetes for tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name == "load":
            command.add_argument("tags", nargs="*", help="tags of docker.io/apache/spark")
        if name == "fakes":
            command.add_argument("count", type=_count)
        if name == "kill":
            command.add_argument("name", help="a process that `status` lists, or node1 or node2")
        if name == "shell":
            command.add_argument("rest", nargs=argparse.REMAINDER, help="command to run instead of a shell")
    options = parser.parse_args(arguments)
    return _run(options)


def _count(text: str) -> int:
    """The number of nodes in `text`. Raises ArgumentTypeError, which argparse reports."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of nodes; write 0 or more")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    if options.command == "requirements":
        requirements.install()
        return 0
    requirements.check()
    if options.command == "status":
        return _status()
    if options.command == "shell":
        return _shell(options.rest)
    with lock.held(LOCK, f"make cluster-{options.command}"):
        _change(options)
    return 0


def _change(options: argparse.Namespace) -> None:
    """Run a command that changes the cluster; the caller holds the lock."""
    if options.command == "up":
        lifecycle.up()
        return
    if options.command == "down":
        there = bool(lifecycle.leftovers())
        lifecycle.down()
        progress.say("the cluster is down" if there else "there is no cluster")
        return
    if not LAYOUT.stamp.exists():
        raise ToolError(NO_CLUSTER)
    match options.command:
        case "load":
            Cluster(LAYOUT.kubeconfig, own=True).load_spark(options.tags or images.TESTED_VERSIONS)
        case "argocd":
            argocd.start()
            progress.say(f"Argo CD {argocd.version()} runs; its Applications are in the namespace argocd")
        case "fakes":
            if options.count:
                fakes.add(options.count)
            fakes.remove(keep=options.count)
        case "kill" if options.name in [node.name for node in NODES]:
            faults.kill_node(options.name)
        case "kill":
            faults.kill(options.name)


def _status() -> int:
    if not lifecycle.leftovers():
        print(NO_CLUSTER)
        return 1
    states = lifecycle.states()
    for process in states:
        print(f"{process.name:26} {process.state:8} {process.pid or ''}")
    if network.exists(NAME) and LAYOUT.kubeconfig.exists():
        done = control.call(LAYOUT, gotools.ensure("kubectl"), "get", "nodes", "--request-timeout=5s")
        print(done.stdout or done.stderr, end="")
    return 0 if all(process.state == "running" for process in states) else 1


def _shell(rest: Sequence[str]) -> int:
    if not LAYOUT.stamp.exists():
        raise ToolError(NO_CLUSTER)
    folders = [str(gotools.ensure(name).parent) for name in ("kubectl", "helm", "kustomize")]
    path = os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
    settings = {**os.environ, "PATH": path, "KUBECONFIG": str(LAYOUT.kubeconfig)}
    shell = os.environ.get("SHELL") or shutil.which("bash") or "/bin/sh"
    if not rest:
        progress.say("kubectl, helm and kustomize use the cluster in this shell; leave it with `exit`")
    command = [*network.enter(NAME), *(rest or [shell])]
    return subprocess.run(command, env=settings, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
