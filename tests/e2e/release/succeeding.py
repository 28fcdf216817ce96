"""Programs that must succeed, and the objects that they print."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import yaml


def run(
    *command: str | Path, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """The output of a command that succeeds. `environment` is added to this process's own."""
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        timeout=400,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def objects(text: str) -> list[tuple[str, str]]:
    """The kinds and names of the objects in a YAML stream; the tests of parity compare the rest."""
    return sorted((item["kind"], item["metadata"]["name"]) for item in yaml.safe_load_all(text) if item)
