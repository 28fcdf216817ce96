"""The texts of the problems with values in a document that is valid YAML: one function for each problem.

The composer finds the problems. A `path` is that of the value, or of the mapping that contains a wrong key.
"""

from __future__ import annotations

from typing import Any

from sparkgen.document.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES
from sparkgen.document.scalars import TAG_NAMES, short_tag
from sparkgen.document.text import shortened
from sparkgen.errors import Path, Position, Problem, Severity

TEMPLATE_STEP = (
    'sparkgen does not expand templates: write the value; if you mean the braces, quote it: "{{ ... }}"'
)


def _error(code: str, position: Position, path: Path, message: str, **texts: str) -> Problem:
    if "found" in texts:
        texts["found"] = shortened(texts["found"])
    return Problem(code, Severity.ERROR, position, path, message, **texts)


def boolean_word(position: Position, path: Path, text: str, value: bool) -> Problem:
    """SG008: a word such as `yes`."""
    word = "true" if value else "false"
    return Problem(
        "SG008",
        Severity.WARNING,
        position,
        path,
        f"`{text}` is read as {word}: it is a boolean in YAML 1.1",
        found=text,
        next_step=f'write {word}, or "{text}" in quotes if you mean a string',
    )


def unreadable_number(position: Position, path: Path, text: str, reason: str) -> Problem:
    """SG002: a number that changes, or is refused, on its way to Kubernetes."""
    message = f"`{text}` cannot be read as a number: {reason}"
    step = f'put it in quotes if you mean a string: "{text}"'
    return _error("SG002", position, path, message, found=text, next_step=step)


def wrong_tag(position: Position, path: Path, tag: str, text: str, reason: str) -> Problem:
    """SG002: a tag that is unknown, or that does not match its scalar."""
    return _error(
        "SG002",
        position,
        path,
        reason,
        found=f"{short_tag(tag)} {text}".strip(),
        allowed=", ".join(TAG_NAMES),
        next_step="delete the tag; or quote the value if you mean a string that starts with `!`",
    )


def collection_tag(position: Position, path: Path, tag: str) -> Problem:
    """SG002: a tag before a list or a mapping."""
    tag = shortened(short_tag(tag))
    message = f"Kubernetes does not support the tag {tag}"
    return _error("SG002", position, path, message, found=tag, next_step="delete the tag")


def question_mark(position: Position, path: Path, text: str) -> Problem:
    """SG002: go-yaml v2 ends an unquoted string in brackets at a `?`, and then expects a comma."""
    message = "kubectl and Helm refuse an unquoted `?` inside brackets"
    step = f'put it in quotes: "{shortened(text)}"'
    return _error("SG002", position, path, message, found=text, next_step=step)


def no_anchor(position: Position, path: Path, name: str) -> Problem:
    """SG002: an alias without an anchor, or an unquoted string that starts with `*`."""
    name = shortened(name)
    message = f"`*{name}` refers to an anchor, but there is no `&{name}` before it in this document"
    step = f'put the value in quotes if you mean a string that starts with `*`: "*{name}"'
    return _error("SG002", position, path, message, found=f"*{name}", next_step=step)


def endless_alias(position: Position, path: Path, name: str) -> Problem:
    """SG002: an alias inside its own anchor."""
    name = shortened(name)
    message = f"`*{name}` is inside `&{name}`: the value would contain itself"
    return _error(
        "SG002", position, path, message, found=f"*{name}", next_step="write the value instead of the alias"
    )


def duplicate_key(position: Position, path: Path, key: str, first: Position) -> Problem:
    """SG003: a key that the mapping already has."""
    key = shortened(key)
    message = f"duplicate key `{key}`: on lines {first.line} and {position.line}"
    step = f"delete one of them (the other is on line {first.line})"
    if path == ("apiVersion",):
        step = f"put `---` above line {position.line} if another document starts there, or {step}"
    return _error("SG003", position, path, message, found=key, next_step=step)


def duplicate_merge(position: Position, path: Path, first: Position) -> Problem:
    """SG003: a second `<<`."""
    message = f"duplicate key `<<`: on lines {first.line} and {position.line}"
    step = "merge both with one line: <<: [*first, *second]"
    return _error("SG003", position, path, message, found="<<", next_step=step)


def replaced_by_merge(position: Position, path: Path, key: str, merge: Position) -> Problem:
    """SG003: in go-yaml v2 a later `<<` replaces the mapping's own key, against YAML's rule."""
    key = shortened(key)
    message = f"kubectl and Helm replace this `{key}` with the one from `<<` on line {merge.line}"
    step = f"put `<<` above `{key}` to keep this value, or delete this line"
    return _error("SG003", position, path, message, found=key, next_step=step)


def merge_of_no_mapping(position: Position, path: Path, text: str) -> Problem:
    """SG002: `<<` with a value that is not a mapping."""
    message, step = (
        "`<<` needs a mapping, and this is not one",
        "write <<: *name, with &name before a mapping",
    )
    return _error("SG002", position, path, message, found=text, next_step=step)


def template(position: Position, path: Path) -> Problem:
    """SG002: `{{ x }}`, which YAML reads as a mapping with a mapping as its key."""
    message = "`{{` starts a mapping inside a mapping in YAML, not a template"
    return _error("SG002", position, path, message, found="{{", next_step=TEMPLATE_STEP)


def key_not_text(position: Position, path: Path, text: str, value: Any) -> Problem:
    """SG002: a key that is a number, a boolean, null, a list or a mapping."""
    step = f'put it in quotes: "{shortened(text)}"'
    if isinstance(value, dict | list):
        what, step = "a list" if isinstance(value, list) else "a mapping", "write a string as the key"
    elif value is None:
        what = "null"
        step = step if text else "write a key before the colon"
    else:
        what = "a boolean" if isinstance(value, bool) else "a number"
    message = f"a key must be a string, not {what}"
    return _error("SG002", position, path, message, found=text, next_step=step)


def key_as_text(position: Position, path: Path, text: str, key: str) -> Problem:
    """SG002: a key that is no string, and that kubectl converts to a string other than its text."""
    message = f"kubectl reads the key `{shortened(text)}` as `{key}`"
    step = f'check which of the two is meant; for the written text, use quotes: "{shortened(text)}"'
    return _error("SG002", position, path, message, found=text, next_step=step)


def yaml_version(position: Position, version: str) -> Problem:
    """SG002: a %YAML line that go-yaml v2 refuses."""
    message = f"kubectl and Helm read YAML 1.1, and refuse %YAML {version}"
    return _error("SG002", position, (), message, found=f"%YAML {version}", next_step="delete the line")


def too_many(position: Position, *, aliased: bool) -> Problem:
    """SG005: more than MAX_NODES values."""
    more = " after expanding aliases" if aliased else ""
    message = f"the document has more than {MAX_NODES} values{more}"
    step = "use fewer nested aliases" if aliased else "split it into several documents"
    return _error("SG005", position, (), message, next_step=step)


def too_long(position: Position) -> Problem:
    """SG005: more than MAX_CHARACTERS characters."""
    message = f"the document has more than {MAX_CHARACTERS} characters after expanding aliases"
    step = "replace the aliases of long texts, for example with a file of the image"
    return _error("SG005", position, (), message, next_step=step)


def too_deep(position: Position) -> Problem:
    """SG005: more than MAX_DEPTH nested lists and mappings."""
    message = f"lists and mappings are nested more than {MAX_DEPTH} levels deep"
    step = "look for brackets that are never closed"
    return _error("SG005", position, (), message, next_step=step)
