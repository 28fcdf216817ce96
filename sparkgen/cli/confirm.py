"""What `kill` and `delete` share: asks for confirmation, and prints the objects that it was about."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparkgen.cli import output
from sparkgen.cli.request import ClusterOptions
from sparkgen.errors import SparkgenError
from sparkgen.usecases import object_names


@dataclass(frozen=True, slots=True, kw_only=True)
class EndOptions(ClusterOptions):
    """The options that `kill` and `delete` share. `output`: a form of objects; `yes`: do not ask."""

    output: str
    yes: bool
    quiet: bool


def print_objects(items: Sequence[Mapping[str, Any]], what: str, options: EndOptions) -> None:
    """Print objects; in the form `text`, with what happened to them."""
    if options.output in ("json", "yaml"):
        output.data(object_names.objects_text(items, options.output))
        return
    after = f" {what}" if options.output == "text" else ""
    output.write("".join(f"{object_names.full_name(item)}{after}\n" for item in items))


def agreed(question: str, options: EndOptions) -> bool:
    """Whether the user says yes. Raises SparkgenError if there is no terminal to ask on."""
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise SparkgenError(f"{question} Cannot ask without a terminal; add --yes")
    output.complain(f"{question} [y/N] ")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    output.note("canceled; nothing was changed")
    return False
