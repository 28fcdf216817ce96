"""The configuration of the repository in which a command is called (`.sparkgen.yaml`)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.document import configuration as reader
from sparkgen.document.configuration import Configured
from sparkgen.document.sources import read_file
from sparkgen.errors import Problem, SparkgenError

if TYPE_CHECKING:
    from sparkgen.usecases.inputs import Inputs


def found() -> str:
    """Returns the path of the configuration for the working directory; "" if there is none."""
    file = reader.find(Path.cwd())
    return os.path.relpath(file) if file else ""


def read(file: str) -> Configured:
    """Returns a configuration's settings for documents ("": none). SparkgenError lists all its problems."""
    if not file:
        return Configured()
    data = read_file(file)
    if isinstance(data, Problem):
        raise SparkgenError(f"cannot read the configuration {file}: {data.message}")
    return parsed(data, file)


def parsed(data: bytes, file: str) -> Configured:
    """Returns the settings for documents in a configuration's bytes; `file`: its name in messages."""
    said = reader.read(data, file)
    if isinstance(said, Configured):
        return said
    raise wrong(said)


def of(inputs: Inputs) -> Configured:
    """Returns the settings in the inputs, or else those of the configuration for the working directory."""
    return read(found()) if inputs.configured is None else inputs.configured


def wrong(problems: Iterable[Problem]) -> SparkgenError:
    """Returns an error that lists all problems of a configuration."""
    return SparkgenError(
        "the configuration of the repository has errors:\n" + "\n".join(map(_line, problems))
    )


def _line(problem: Problem) -> str:
    value = f" (found: {problem.found})" if problem.found else ""
    field = f"{'.'.join(map(str, problem.path))} " if problem.path else ""
    step = f"; {problem.next_step}" if problem.next_step else ""
    return f"{problem.position}: error[{problem.code}] {field}{problem.message}{value}{step}"
