"""The quick reader of command lines: what it reads, typer would read alike; what it leaves, typer decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.cli import plain_arguments
from sparkgen.cli.app import build_app
from sparkgen.cli.option_table import Command

RENDER_WORDS = [
    *[
        "-f",
        "--values",
        "--set",
        "--set-string",
        "-n",
        "--namespace",
        "-o",
        "--output-dir",
        "-q",
        "--quiet",
        "--check",
    ],
    *[
        "--format",
        "--color",
        "text",
        "json",
        "always",
        "auto",
        "a.yaml",
        "b/",
        "-",
        "--",
        "k=v",
        "",
        "JSON",
        "--strict",
    ],
    *[
        "--values=a",
        "--set=k=v",
        "--format=sarif",
        "--color=never",
        "--check=x",
        "-qn",
        "-fa",
        "--out",
        "-h",
        "--help",
    ],
    *[
        "--set-string=",
        "--quiet=1",
        "-1",
        "--namespace=x",
        "--target",
        "argocd",
        "--target=flux",
        "-R",
        "--recursive",
        "-o=d",
        "=",
        "--=",
    ],
    *[
        "--dry-run",
        "--wait",
        "--timeout",
        "--skip-preflight",
        "--force-conflicts",
        "--context",
        "--kubeconfig=k",
        "--output",
        "--output=yaml",
        "name",
    ],
    *["--lock", "--ca-file=c", "--no-push", "--no-push=x", "--take-ownership"],
]

Read = Callable[[list[str]], tuple[Command[Any], Mapping[str, Any]] | None]


@pytest.fixture(scope="module")
def read_by_typer() -> Iterator[Read]:
    """A function: the command and the values that typer reads, or None if it refuses the command line."""
    calls: list[tuple[Command[Any], Mapping[str, Any]]] = []

    def remember(command: Command[Any], values: Mapping[str, Any]) -> int:
        calls.append((command, values))
        return 0

    patch = pytest.MonkeyPatch()
    patch.setattr(Command, "run", remember)
    app = build_app()

    def read(arguments: list[str]) -> tuple[Command[Any], Mapping[str, Any]] | None:
        calls.clear()
        try:
            app(arguments, prog_name="sparkgen", standalone_mode=False)
        except Exception:  # noqa: BLE001 - every kind of wrong usage, whatever typer calls it
            return None
        return calls[0] if calls else None

    yield read
    patch.undo()


@given(st.sampled_from(["render", "validate", "apply"]), st.lists(st.sampled_from(RENDER_WORDS), max_size=7))
def test_quick_reads_nothing_otherwise_than_typer(
    read_by_typer: Read, command: str, words: list[str]
) -> None:
    """Law: either quick leaves a command line to typer, or both understand the same."""
    plain = plain_arguments.parse([command, *words])
    assert plain is None or plain == read_by_typer([command, *words])


@pytest.mark.parametrize(
    "words",
    [
        ["render", "app.yaml"],
        ["render", "a.yaml", "-", "b/"],
        ["render", "app.yaml", "-o", "out", "--check", "-q"],
        ["render", "-f", "a.yaml", "--values", "b.yaml", "app.yaml", "--set", "a=b", "--set-string=c=d"],
        ["render", "app.yaml", "-n", "prod", "--output-dir=out", "--format", "json", "--color=never"],
        ["render", "app.yaml", "--target", "argocd", "-o", "deploy/pi"],
        ["render", "-R", "apps", "-o", "deploy", "--check"],
        ["validate", "app.yaml", "--strict", "--quiet", "--format=github"],
        ["apply", "a.yaml", "-n", "prod", "--context", "c", "--kubeconfig=k", "--wait", "--timeout", "30m"],
        ["apply", "a.yaml", "--lock", "l.yaml", "--ca-file=ca.pem", "--no-push", "--take-ownership"],
        ["apply", "a.yaml", "--skip-preflight", "--force-conflicts", "--dry-run", "-q", "-o", "json"],
    ],
)
def test_the_usual_command_lines_are_read_quickly(read_by_typer: Read, words: list[str]) -> None:
    """What people and CI write needs no typer."""
    plain = plain_arguments.parse(words)
    assert plain is not None
    assert plain == read_by_typer(words)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["explain", "spec"],
        ["render"],
        ["render", "--help"],
        ["render", "app.yaml", "--nope"],
        ["render", "app.yaml", "-o"],
        ["render", "app.yaml", "-o", "--check"],
        ["render", "app.yaml", "--quiet=1"],
        ["render", "app.yaml", "--set="],
        ["render", "app.yaml", ""],
        ["validate", "app.yaml", "--format", "xml"],
        ["validate", "app.yaml", "--format", "JSON"],
        ["validate", "app.yaml", "--check"],
        ["validate", "app.yaml", "--target", "flux"],
        ["render", "app.yaml", "--target", "jenkins"],
        ["apply", "app.yaml", "-o", "wide"],
        ["apply", "app.yaml", "--format", "json"],
    ],
)
def test_everything_else_is_left_to_typer(words: list[str]) -> None:
    """Help, mistakes and other commands."""
    assert plain_arguments.parse(words) is None
