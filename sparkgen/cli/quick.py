"""Read plain command lines of `render` and `validate` without typer.

Importing typer takes longer than rendering a document (60 to 160 ms, depending on its version), and these two
commands run in every CI job and every commit hook. Here only well-formed command lines are read, with options
written out in the usual ways. Anything else, from `--help` to a mistake, is left to typer, which knows what
to say. A test holds both to the same meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparkgen.cli.request import COLOURS, FORMS, TARGETS, Request

# Option -> the field of Request that it sets.
_LISTS = {"-f": "values", "--values": "values", "--set": "sets", "--set-string": "set_strings"}
_SHARED_CHOICES = {"--format": ("form", FORMS), "--color": ("colour", COLOURS)}
_CHOICES = {
    "render": {**_SHARED_CHOICES, "--target": ("target", TARGETS)},
    "validate": _SHARED_CHOICES,
}
_FLAGS = {
    "render": {
        "-q": "quiet",
        "--quiet": "quiet",
        "--check": "only_check",
        "-R": "recursive",
        "--recursive": "recursive",
    },
    "validate": {"-q": "quiet", "--quiet": "quiet", "--strict": "strict"},
}
_TEXTS = {
    "render": {"-n": "namespace", "--namespace": "namespace", "-o": "directory", "--output-dir": "directory"},
    "validate": {},
}


def parse(arguments: Sequence[str]) -> tuple[str, Request] | None:
    """The command and what it is asked for; None if typer has to look at this."""
    if not arguments or arguments[0] not in _FLAGS:
        return None
    command = arguments[0]
    found: dict[str, Any] = {"sources": ()}
    rest = list(reversed(arguments[1:]))
    while rest:
        word = rest.pop()
        if not word.startswith("-") or word == "-":
            found["sources"] += (word,)
        elif word in _FLAGS[command]:
            found[_FLAGS[command][word]] = True
        elif not _option(command, word, rest, found):
            return None
    return (command, Request(**found)) if found["sources"] else None


def _option(command: str, word: str, rest: list[str], found: dict[str, Any]) -> bool:
    """Take an option and its value, the last of `rest`; False if this is not plain."""
    name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
    if not equals:
        if not rest or (rest[-1].startswith("-") and rest[-1] != "-"):
            return False
        value = rest.pop()
    if name in _LISTS:
        found[_LISTS[name]] = (*found.get(_LISTS[name], ()), value)
        return True
    choices = _CHOICES[command]
    if name in choices and value in choices[name][1]:
        found[choices[name][0]] = value
        return True
    if name in _TEXTS[command]:
        found[_TEXTS[command][name]] = value
        return True
    return False
