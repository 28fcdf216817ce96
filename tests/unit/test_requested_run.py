"""The arguments of a run that a person asks for: sparkgen/usecases/requested_run.py."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.errors import SparkgenError
from sparkgen.usecases.requested_run import with_arguments


def template(*arguments: str) -> dict[str, Any]:
    """A driver's pod template with these arguments."""
    return {"spec": {"containers": [{"name": contract.DRIVER_CONTAINER, "args": list(arguments)}]}}


OPTIONS = [
    [*proxy, *main]
    for proxy, main in itertools.product(([], ["--proxy-user", "ada"]), ([], ["--class", "org.example.Main"]))
]


@pytest.mark.parametrize("options", OPTIONS)
def test_only_the_applications_arguments_change(options: list[str]) -> None:
    """spark-submit's options and the main file stay, whichever options there are."""
    start = [*contract.DRIVER_ARGUMENTS, *options, "local:///opt/app/main"]
    assert with_arguments(template(*start, "--class", "old"), ["new"]) == template(*start, "new")


def test_a_command_that_somebody_changed() -> None:
    """Nobody knows which of its arguments are the application's."""
    with pytest.raises(SparkgenError, match="the driver's command was changed"):
        with_arguments(template("driver", "local:///opt/app/main.py"), [])
