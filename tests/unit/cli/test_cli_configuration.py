"""The runtime image in `.sparkgen.yaml`, which names it for all documents."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from sparkgen import contract

from .conftest import DOCUMENT, Cli

IMAGE = "registry.example.com/sparkgen-runtime:1@sha256:" + "0" * 64
OTHER = IMAGE.replace(":1@", ":2@")
CONFIGURATION = Path(".sparkgen.yaml")


@pytest.fixture
def unnamed(cli: Cli) -> Cli:
    """The command line, in a folder without a configuration."""
    CONFIGURATION.unlink()
    return cli


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("spec:\n", "spec:\n  allocator: spark\n  artifacts: 5\n"),
        ("spec:\n", "spec:\n  allocator: spark\n  artifacts: [5]\n"),
        ("spec:\n", "spec:\n  allocator: spark\n  run: daily\n"),
        ("metadata:\n  name: pi\nspec:\n", "metadata: [pi]\nspec:\n  allocator: spark\n"),
        ("metadata:\n  name: pi\nspec:\n", "metadata: pi\nspec:\n  allocator: spark\n"),
    ],
)
def test_a_value_of_another_type_is_a_finding(unnamed: Cli, old: str, new: str) -> None:
    """Whether the document needs the image is asked before the schema is."""
    assert old in DOCUMENT
    Path("app.yaml").write_text(DOCUMENT.replace(old, new))
    result = unnamed("validate", "app.yaml")
    assert (result.code, result.err) == (1, "")
    assert "app.yaml:" in result.out


def images(text: str) -> set[str]:
    """The images of rendered containers."""
    return set(re.findall(r"^ +image: (.*)$", text, re.MULTILINE))


def test_nobody_can_publish_the_default() -> None:
    """Its registry's name is below `.invalid`, which never resolves: RFC 2606, section 2; RFC 6761, 6.4."""
    registry = contract.RUNTIME_IMAGE.partition("/")[0]
    assert registry.endswith(".invalid")


def test_the_configuration_names_it_for_all(cli: Cli) -> None:
    """It is as if every document had the line: the same bytes, hash included. A document's own line wins."""
    CONFIGURATION.write_text(f"runtimeImage: {IMAGE}\n")
    configured = cli("render", "app.yaml").out
    assert IMAGE in images(configured)
    Path("own.yaml").write_text(f"{DOCUMENT}  runtimeImage: {IMAGE}\n")
    CONFIGURATION.write_text(f"runtimeImage: {OTHER}\n")
    assert cli("render", "own.yaml").out == configured
    assert cli("render", "app.yaml").out != configured


def test_a_wrong_configuration_stops_every_command(cli: Cli) -> None:
    """Another image than the one that was meant is worse than none."""
    CONFIGURATION.write_text("runtimeImage: sparkgen-runtime:1\n")
    for command in (["validate"], ["render"], ["diff", "--rendered", "."], ["run", "--local"]):
        result = cli(*command, "app.yaml")
        assert (result.code, result.out) == (2, "")
        assert ".sparkgen.yaml:1:15: error[SG200] runtimeImage" in result.err


def test_lint_reads_the_one_that_it_is_told(cli: Cli) -> None:
    """`--config` names it, `--isolated` reads none; what it finds in it stands there."""
    Path("other.yml").write_text("runtimeImage: registry.example.com/x:1\n")
    assert "other.yml:1:15: warning[SG220]" in cli("lint", "app.yaml", "--config", "other.yml").out


def git(*arguments: str) -> None:
    """A Git command that succeeds."""
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *person, *arguments], check=True, capture_output=True)


def test_between_revisions_each_has_its_own_configuration(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that changes the configuration alone runs everything again, and the diff says so."""
    CONFIGURATION.write_text(f"runtimeImage: {IMAGE}\n")
    Path("apps").mkdir()
    Path("app.yaml").rename("apps/app.yaml")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "Begin")
    assert cli("diff", "--from", "HEAD", "apps").code == 0
    CONFIGURATION.write_text(f"runtimeImage: {OTHER}\n")
    git("commit", "-qam", "Another image")
    monkeypatch.chdir("apps")
    for options in (("--from", "HEAD~1"), ("--from", "HEAD~1", "--to", "HEAD")):
        for path in (["."], ["-R", "."]):
            result = cli("diff", "--brief", *options, *path)
            assert result.code == 1
            assert "caused by: runtime image" in result.out
    Path("../.sparkgen.yaml").unlink()
    assert "runtime image" in cli("diff", "--brief", "--from", "HEAD", ".").out
