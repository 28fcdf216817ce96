"""The tables of options: they agree with what the work of each command takes."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from sparkgen.cli.app import COMMANDS, commands_of
from sparkgen.cli.option_table import Command
from sparkgen.cli.options import PROBLEM_FORMAT
from sparkgen.cli.request import Request
from sparkgen.reports import FORMATS

TABLES = {f"{name} {command.name}".strip(): command for name in COMMANDS for command in commands_of(name)}
BY_ALL = {field.name for field in dataclasses.fields(Request)}
"""Fields that commands on documents share: a command need not set all of them."""


@pytest.mark.parametrize("command", TABLES.values(), ids=TABLES)
def test_the_work_takes_what_the_rows_say(command: Command[Any]) -> None:
    """The class of the values is frozen, and has a field for each row, with the same default.

    Without such a class, the work has a parameter for each row.
    """
    if command.values is dict:
        assert [*inspect.signature(command.work).parameters] == [option.name for option in command.options]
        return
    fields = {field.name: field for field in dataclasses.fields(command.values)}
    rows = {option.name: option for option in command.options}
    assert command.values.__dataclass_params__.frozen
    assert len(rows) == len(command.options)
    assert rows.keys() - fields.keys() == set()
    assert fields.keys() - rows.keys() - BY_ALL == set()
    for name, option in rows.items():
        if fields[name].default is not dataclasses.MISSING:
            assert (name, option.absent) == (name, fields[name].default)


def test_reports_can_write_every_format_of_problems() -> None:
    """And a command offers every format that reports can write."""
    assert PROBLEM_FORMAT.choices == FORMATS
