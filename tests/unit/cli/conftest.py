"""A command line in this process.

Exit code, standard output and standard error as a person would see them.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sparkgen import contract
from sparkgen.__main__ import run

from .kube import Kube

DOCUMENT = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata:
  name: pi
spec:
  type: Python
  sparkVersion: "3.5.8"
  image: docker.io/apache/spark:3.5.8
  mainApplicationFile: local:///opt/spark/examples/src/main/python/pi.py
  executor:
    instances: 2
"""


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Result]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Cli:
    """A function: run `sparkgen ARGUMENTS` in a directory that holds app.yaml, a valid document.

    And a configuration, which names the runtime image for all documents: as every repository does in the end.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "SPARKGEN_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    Path("app.yaml").write_text(DOCUMENT)
    Path(".sparkgen.yaml").write_text(f"runtimeImage: {contract.RUNTIME_IMAGE}\n")

    def call(*arguments: str, stdin: str | bytes = b"") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capfdbinary.readouterr()
        try:
            code = run(list(arguments))
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Result(code, out.decode(), err.decode())

    return call


@pytest.fixture
def broken() -> str:
    """The document with two mistakes and something to warn about."""
    return DOCUMENT.replace("type: Python", "type: python").replace("instances: 2", "instanzes: 2")


def child_environment(**changes: str) -> dict[str, str]:
    """The environment for a real process, without what would change its output."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return {**kept, "COLUMNS": "80", **changes}


@pytest.fixture
def kube() -> Iterator[Kube]:
    """An API server that is up; what it holds back is let go at the end."""
    made = Kube()
    yield made
    for held in made.hold.values():
        held.set()
    made.shutdown()
    made.server_close()
