"""The README's way to a first success on a cluster, followed word by word."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from deployed import spark_image

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from acting import on

ROOT = Path(__file__).resolve().parents[3]
TITLE = "## Your script in a cluster in five minutes\n"
BEFORE, _, BEHIND = (ROOT / "README.md").read_text("utf-8").partition(TITLE)
SECTION = BEHIND.partition("\n## ")[0]
COMMANDS = [
    shlex.split(line, comments=True)
    for block in re.findall(r"^```sh\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)[:1]
    for line in block.splitlines()
]
EXAMPLE = ROOT / "examples" / "code-in-git" / "app.yaml"
PRINTED = ["France: 1", "Germany: 2", "unknown: 1"]


def test_it_takes_few_words_and_commands() -> None:
    """At most 700 words and four commands, from the first line of the page on."""
    assert len((BEFORE + TITLE + SECTION).split()) <= 700
    assert [command[:2] for command in COMMANDS[:2]] == [["kind", "create"], ["pip", "install"]]
    assert len(COMMANDS) <= 4


def test_it_shows_the_document_that_runs() -> None:
    """The block of YAML is the example's document, without the comments above it."""
    [shown] = re.findall(r"^```yaml\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    assert EXAMPLE.read_text("utf-8").endswith(shown)


@pytest.mark.parametrize("version", TESTED_VERSIONS)
@pytest.mark.parametrize("allocator", ["sparkgen", "spark"])
def test_its_commands_run_the_script(
    version: str, allocator: str, cluster: Cluster, restricted: str, images: None
) -> None:
    """A script, a module and a table run on three executors, by either allocator.

    The test cluster stands for kind's, and its image of Python for the official one.
    """
    sparkgen = on(cluster, restricted, ROOT)
    chosen = {"sparkVersion": version, "image": spark_image(version)}
    chosen |= {"allocator": "spark"} if allocator == "spark" else {"pythonImage": cluster.load_python()}
    options = [word for name, value in chosen.items() for word in ("--set", f"spec.{name}={value}")]
    program, *words = COMMANDS[2]
    assert (program, words[0]) == ("sparkgen", "apply")
    applied = sparkgen(*words, *options)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    printed = sparkgen(*COMMANDS[3][1:])
    assert [line for line in printed.stdout.splitlines() if line in PRINTED] == PRINTED, printed
