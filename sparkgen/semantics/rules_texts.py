"""Texts with characters that YAML can write as escapes, and that their destination cannot hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.errors import Path
from sparkgen.model import SERVER_KINDS
from sparkgen.semantics.facts import DocumentFacts, ServerFacts
from sparkgen.semantics.findings import ERROR, Finding, rule, server_rule

_NUL = "\0"
_NOT_XML = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What YAML can write and XML 1.0 cannot, not even as a reference (its production Char), less NUL."""


@rule("SG197", ERROR)
def unrepresentable(facts: DocumentFacts) -> Iterator[Finding]:
    """NUL anywhere, and what XML cannot hold in texts that become XML."""
    yield from _nuls(facts.value, ())
    for name, text in (facts.get("hadoopConf") or {}).items():
        if _NOT_XML.search(name):
            yield _not_xml(facts.path("hadoopConf"), name, "has a key with")
        if _NOT_XML.search(text):
            yield _not_xml(facts.path("hadoopConf", name), text, "has")
    for name, text in (facts.get("sparkConfFiles") or {}).items():
        if name.endswith(".xml") and isinstance(text, str) and _NOT_XML.search(text):
            yield _not_xml(facts.path("sparkConfFiles", name), text, "has")


@server_rule("SG197", ERROR, kinds=SERVER_KINDS)
def unrepresentable_of_server(facts: ServerFacts) -> Iterator[Finding]:
    """NUL anywhere."""
    yield from _nuls(facts.value, ())


def _nuls(value: Any, path: Path) -> Iterator[Finding]:
    if isinstance(value, str):
        if _NUL in value:
            yield _nul(path, "has")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if _NUL in key:
                yield _nul(path, "has a key with")
            yield from _nuls(inner, (*path, key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _nuls(inner, (*path, index))


def _nul(path: Path, subject: str) -> Finding:
    message = f"{subject} the character NUL, which ends arguments, environment variables and paths on Linux"
    return Finding(path, message, "U+0000", next_step="delete it")


def _not_xml(path: Path, text: str, subject: str) -> Finding:
    match = _NOT_XML.search(text)
    return Finding(
        path,
        f"{subject} a character that XML does not allow, so the file could not be read",
        f"U+{ord(match[0]):04X}" if match else "",
        "tabs, line breaks and visible characters",
        "delete it",
    )
