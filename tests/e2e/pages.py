"""Pages of the documentation, followed to the letter: their commands, and a shell that has the tools."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME
from gotools import gotools

DOCS = Path(__file__).parents[2] / "docs"
PERSON = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A Person"), ("EMAIL", "person@example.org"))
}


def section(page: str, title: str) -> str:
    """The commands of a section of a page and of its subsections, as one script."""
    return "\n".join(blocks(page, title, "sh"))


def blocks(page: str, title: str, language: str) -> list[str]:
    """The blocks of a language in a section of a page and in its subsections."""
    text = (DOCS / page).read_text("utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert found, f"{title} has no {language}"
    return found


def shell(cluster: Cluster, folder: Path) -> dict[str, str]:
    """An environment in which kubectl, helm, git and sparkgen are found, and talk to the cluster."""
    tools = folder / "bin"
    tools.mkdir()
    enter = " ".join(network.enter(NAME)) if cluster.own else ""
    programs = {name: gotools.ensure(name) for name in ("kubectl", "helm")}
    for name, program in {**programs, "sparkgen": Path(sys.executable).with_name("sparkgen")}.items():
        (tools / name).write_text(f'#!/bin/sh\nexec {enter} {program} "$@"\n', encoding="utf-8")
        (tools / name).chmod(0o755)
    homes = {f"HELM_{name}_HOME": str(folder / name) for name in ("CACHE", "CONFIG", "DATA")}
    path = f"{tools}:{os.environ['PATH']}"
    return {**os.environ, **PERSON, **homes, "PATH": path, "KUBECONFIG": str(cluster.kubeconfig)}


def follow(script: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a script line by line, in a folder; it ends at the first command that fails. Its output."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        ["sh", "-euxc", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
