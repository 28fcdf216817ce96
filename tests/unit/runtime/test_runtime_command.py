"""The command `sparkgen-runtime` as a process: exit codes and messages."""

from __future__ import annotations

import subprocess
import sys

import pytest


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it with this environment alone."""
    line = [sys.executable, "-m", "sparkgen.runtime", *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_the_version() -> None:
    """The contract's version is what counts when two things do not fit."""
    done = command("version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("sparkgen-runtime ")
    assert done.stdout.endswith("(contract 1)\n")


@pytest.mark.parametrize("arguments", [[], ["driver"], ["allocator", "x"]])
def test_called_wrongly(arguments: list[str]) -> None:
    """2, and what there is."""
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: sparkgen-runtime COMMAND" in done.stderr


@pytest.mark.parametrize("name", ["allocator", "install", "history"])
def test_not_in_a_pod(name: str) -> None:
    """One line, no traceback."""
    done = command(name)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("error: the manifests have contract version (none)")


def test_the_allocator_without_a_cluster() -> None:
    """What is missing is named; the volumes come first."""
    names = ("APPLICATION", "RUN", "POD_NAMESPACE", "POD_NAME", "POD_UID", "POD_IP")
    done = command("allocator", SPARKGEN_CONTRACT="1", **{f"SPARKGEN_{name}": "x" for name in names})
    assert done.returncode == 1
    assert "/opt/sparkgen/executor/executor.json" in done.stderr
