"""The quick start, followed literally: its commands print what the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "quick-start.md"
STEP = re.compile(r"^```sh\n(sparkgen [^\n]*)\n```\n\n```text\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
"""A command, and below it what it prints. What takes a cluster, Java or a network shows no output."""
HASH = re.compile(r"\bpi-[0-9a-f]{8}\b")


def unhashed(text: str) -> str:
    """The text, with each run's hash as the place at which it first stands: 1, 2."""
    order = list(dict.fromkeys(HASH.findall(text)))
    return HASH.sub(lambda run: f"pi-{order.index(run[0]) + 1}", text)


def test_the_quick_start_does_what_it_says(tmp_path: Path) -> None:
    """A reader who types the commands one after the other sees what the page shows."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    program = str(Path(sys.executable).with_name("sparkgen"))
    page = PAGE.read_text(encoding="utf-8")
    steps = STEP.findall(page)
    assert len(steps) >= 7
    for command, shown in steps:
        words = shlex.split(command, comments=True)[1:]
        run = subprocess.run(
            [program, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert (command, unhashed(run.stdout + run.stderr)) == (command, unhashed(shown))
