"""Values and paths in words, for reviewers. Secrets are masked."""

from __future__ import annotations

import re
from typing import Any

from sparkgen.diff.trees import ABSENT, Path
from sparkgen.errors import key_text
from sparkgen.schema.wording import flow, shortened
from sparkgen.semantics.secret import is_secret, redacted

LONGEST = 80
"""The most characters of a value."""
MASK = "***"

_SECTIONS = {
    "sparkConf": "Spark property",
    "hadoopConf": "Hadoop property",
    "labels": "label",
    "annotations": "annotation",
    "nodeSelector": "node selector",
    "env": "environment variable",
}
"""Mappings and lists with the user's own names, and the word for one entry."""
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def label(path: Path) -> str:
    """A field in words: `executor memory`, `driver environment variable MODE`, `Spark property spark.x`."""
    words: list[str] = []
    for index, part in enumerate(map(key_text, path)):
        if index and path[index - 1] in _SECTIONS:
            words.append(part)
        elif part in _SECTIONS and index + 1 < len(path):
            words.append(_SECTIONS[part])
        else:
            words.append(_spaced(part))
    return " ".join(words)


def _spaced(name: str) -> str:
    """`maxExecutors` as `max executors`; abbreviations stay as they are."""
    if not re.fullmatch(r"[A-Za-z0-9]+", name):
        return name
    words = _HUMPS.split(name)
    return " ".join(word if word.isupper() else word.lower() for word in words)


def value_text(path: Path, value: Any) -> str:
    """A value for people: "" if absent, shortened if long, and masked if secret."""
    if value is ABSENT:
        return ""
    text = value if isinstance(value, str) and value else flow(value)
    name = path[-1] if path else ""
    if is_secret(name, text):
        return MASK
    return shortened(redacted(" ".join(text.split())), LONGEST)


_LINE = re.compile(
    r"^(?P<before>[-+ ] *(?:- )?\"?)(?P<name>[\w.\-/]+)(?P<between>\"?: |[ =])(?P<value>\S.*)$"
)
_NAME = re.compile(r"^[-+ ] *(?:- )?\"?name\"?: \"?([\w.\-]+)\"?,?$")


def masked(diff: str) -> str:
    """A unified diff with all secrets masked: by the name of a property or variable, or by their form."""
    lines: list[str] = []
    variable = ""
    for line in diff.splitlines():
        if found := _NAME.match(line):
            variable = found[1]
        lines.append(_masked(line, variable))
    return "\n".join(lines) + "\n" if lines else ""


def _masked(line: str, variable: str) -> str:
    found = _LINE.match(line)
    if not found or line.startswith(("---", "+++", "@@")):
        return redacted(line)
    name = variable if found["name"] == "value" else found["name"]
    if is_secret(name, found["value"].strip('",')):
        return f"{found['before']}{found['name']}{found['between']}{MASK}"
    return redacted(line)
