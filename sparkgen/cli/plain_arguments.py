"""Reads plain command lines of `render`, `validate` and `apply` without typer.

Importing typer takes longer than rendering a document (60 to 160 ms, depending on its version), and these
commands run in every CI job and every commit hook. This module reads only well-formed command lines, with
options in their usual forms. Typer reads all others, from `--help` to a mistake, because it has the help and
the messages. A test checks that both read the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparkgen.cli.request import COLOURS, FORMS, OBJECT_FORMS, TARGETS, Apply, Request

# Option -> the field of Request, or of Apply, that it sets.
_LISTS = {"-f": "values", "--values": "values", "--set": "sets", "--set-string": "set_strings"}
_SHARED_CHOICES = {"--format": ("form", FORMS), "--color": ("colour", COLOURS)}
_CHOICES = {
    "render": {**_SHARED_CHOICES, "--target": ("target", TARGETS)},
    "validate": _SHARED_CHOICES,
    "apply": {
        "--target": ("target", TARGETS),
        "-o": ("form", OBJECT_FORMS),
        "--output": ("form", OBJECT_FORMS),
    },
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
    "apply": {
        "-q": "quiet",
        "--quiet": "quiet",
        "--dry-run": "dry_run",
        "--wait": "wait",
        "--skip-preflight": "skip_preflight",
        "--force-conflicts": "force",
    },
}
_TEXTS = {
    "render": {"-n": "namespace", "--namespace": "namespace", "-o": "directory", "--output-dir": "directory"},
    "validate": {},
    "apply": {
        "-n": "namespace",
        "--namespace": "namespace",
        "--context": "context",
        "--kubeconfig": "kubeconfig",
        "--timeout": "timeout",
    },
}
_OF_APPLY = ("kubeconfig", "context", "dry_run", "wait", "timeout", "skip_preflight", "force", "form")


def parse(arguments: Sequence[str]) -> tuple[str, Request, Apply] | None:
    """Returns the command, its request and the options of `apply`; None if typer must read the arguments."""
    if not arguments or arguments[0] not in _FLAGS:
        return None
    command = arguments[0]
    fields: dict[str, Any] = {"sources": ()}
    rest = list(reversed(arguments[1:]))
    while rest:
        word = rest.pop()
        if not word.strip():
            return None
        if not word.startswith("-") or word == "-":
            fields["sources"] += (word,)
        elif word in _FLAGS[command]:
            fields[_FLAGS[command][word]] = True
        elif not _option(command, word, rest, fields):
            return None
    if not fields["sources"]:
        return None
    names = _OF_APPLY if command == "apply" else ()
    options = Apply(**{name: fields.pop(name) for name in names if name in fields})
    return command, Request(**fields), options


def _option(command: str, word: str, rest: list[str], fields: dict[str, Any]) -> bool:
    """Read an option and its value, the last of `rest`. Returns False if they are not plain."""
    name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
    if not equals:
        if not rest or (rest[-1].startswith("-") and rest[-1] != "-"):
            return False
        value = rest.pop()
    if not value.strip():
        return False
    if name in _LISTS:
        fields[_LISTS[name]] = (*fields.get(_LISTS[name], ()), value)
        return True
    choices = _CHOICES[command]
    if name in choices and value in choices[name][1]:
        fields[choices[name][0]] = value
        return True
    if name in _TEXTS[command]:
        fields[_TEXTS[command][name]] = value
        return True
    return False
