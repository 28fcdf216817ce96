"""The command line: `python -m cluster COMMAND`, which the Makefile's cluster-* targets call."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

import gotools
import progress
from cachedir import ToolError
from cluster import control, images, lifecycle, lock, network, requirements
from cluster.handle import Cluster
from cluster.plan import LAYOUT, LOCK, NAME

COMMANDS = {
    "requirements": "install the Debian packages that the cluster needs",
    "up": "build what is missing and have a running cluster",
    "down": "end the cluster and remove all that it made",
    "status": "print what runs; 0 when all does",
    "load": "have Spark images on the nodes: tags like 3.5.8 (nothing: those of the end-to-end tests)",
    "shell": "a shell whose kubectl, helm and kustomize talk to the cluster",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: 0 ok, 1 it failed or (status) not all is well, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="cluster", description="A real Kubernetes for tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name == "load":
            command.add_argument("tags", nargs="*", help="tags of docker.io/apache/spark")
        if name == "shell":
            command.add_argument("rest", nargs=argparse.REMAINDER, help="a command instead of a shell")
    options = parser.parse_args(arguments)
    try:
        return _run(options)
    except ToolError as error:
        progress.say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        return 130


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
        if options.command == "up":
            lifecycle.up()
        elif options.command == "load":
            Cluster(LAYOUT.kubeconfig, own=True).load_spark(options.tags or images.TESTED_VERSIONS)
        else:
            there = bool(lifecycle.leftovers())
            lifecycle.down()
            progress.say("the cluster is down" if there else "there is no cluster")
    return 0


def _status() -> int:
    if not lifecycle.leftovers():
        print("there is no cluster; start it: make cluster-up")
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
        raise ToolError("there is no cluster; start it: make cluster-up")
    folders = [str(gotools.ensure(name).parent) for name in ("kubectl", "helm", "kustomize")]
    path = os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
    settings = {**os.environ, "PATH": path, "KUBECONFIG": str(LAYOUT.kubeconfig)}
    shell = os.environ.get("SHELL") or shutil.which("bash") or "/bin/sh"
    if not rest:
        progress.say("kubectl, helm and kustomize talk to the cluster here; leave with `exit`")
    command = [*network.enter(NAME), *(rest or [shell])]
    return subprocess.run(command, env=settings, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
