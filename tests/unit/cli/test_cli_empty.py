"""Empty values on command lines: what a CI job passes on from a variable that is not set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkgen.cli.app import COMMANDS, commands_of

from .conftest import Cli

FREE = {"arguments", "single"}
"""Of `run`: the application's own arguments, which may be empty."""


def taking_texts() -> Iterator[tuple[list[str], str]]:
    """For each argument and option that takes a text: a command line that gives "", and its name."""
    for name in COMMANDS:
        for command in commands_of(name):
            words = [name, *([command.name] if command.name else [])]
            for option in command.options:
                if option.name in FREE or option.choices or option.type not in (str, Path):
                    continue
                others = [one for one in command.options if one.required and one is not option]
                needed = [word for one in others for word in (*one.flags[:1], *(one.choices[:1] or ("x",)))]
                name_or_flag = max(option.flags, key=len) if option.flags else str(option.metavar)
                yield [*words, *needed, *([name_or_flag] if option.flags else []), ""], name_or_flag


@pytest.mark.parametrize(
    ("words", "name"), taking_texts(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_empty_value_is_wrong_usage(cli: Cli, words: list[str], name: str) -> None:
    """Exit code 2 and the name, before anything is read, written or asked."""
    before = sorted(Path().iterdir())
    for blank in ("", "  "):
        result = cli(*(blank if word == "" else word for word in words))
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"sparkgen: {name} is empty; give it a value"), result.err
        assert "variable in your script or CI job unset" in result.err
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    "words",
    [
        ["diff", "--from=", "app.yaml"],
        ["diff", "--from", "", "-R", "apps"],
        ["render", "app.yaml", "-o", "", "--check"],
        ["render", "app.yaml", "--output-dir="],
        ["render", "app.yaml", ""],
        ["validate", "app.yaml", "-f", "values.yaml", "-f", ""],
        ["apply", "app.yaml", "--context="],
        ["status", "pi", "-n", "a", "-n", ""],
    ],
    ids=" ".join,
)
def test_however_it_is_written(cli: Cli, words: list[str]) -> None:
    """With an equals sign, by the short name, as one of several."""
    result = cli(*words)
    assert result.code == 2
    assert " is empty; " in result.err


def test_an_application_s_arguments_may_be_empty(cli: Cli) -> None:
    """They are the application's: the command goes on to look for a cluster."""
    for words in (["run", "pi", "--arg="], ["run", "pi", "--", ""]):
        result = (
            cli(*words, "--kubeconfig", "none")
            if "--" not in words
            else cli("run", "pi", "--kubeconfig", "none", "--", "")
        )
        assert "--kubeconfig none: there is no such file" in result.err


def test_help_is_help(cli: Cli) -> None:
    """Whatever stands before it."""
    assert cli("diff", "--from", "", "--help").code == 0
