"""The texts for each sort of problem: what is wrong, what was found, what is allowed, what to do.

A report prints the path before the message, so a message has only the last name of the path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen.errors import path_text
from sparkgen.schema import corrections, wording
from sparkgen.schema.accepts import python_pattern
from sparkgen.schema.fields import Field
from sparkgen.schema.suggestions import Suggestion, nearest
from sparkgen.schema.wording import ARTICLES, either, flow, line, quoted, scalar, shortened

if TYPE_CHECKING:
    from sparkgen.document.node import Node

MOST_NAMES = 10
"""The most allowed field names that a message lists."""

_NAMES = frozenset({"Spark", "Python", "Scala", "Kubernetes", "Maven", "Kerberos", "JupyterLab", "Helm"})

_TEMPLATE = re.compile(r"\{\{|\{%|\$[{(]")  # the marks of Helm, Jinja and shells


@dataclass(frozen=True, slots=True)
class Said:
    """The four texts of a problem."""

    message: str
    found: str = ""
    allowed: str = ""
    next_step: str = ""


def called(field: Field) -> str:
    """The field's name for a sentence: `memory`, or `an item of arguments`."""
    if not field.path:
        return "the document"
    name = f"`{shortened(field.name)}`"
    return f"an item of {name}" if isinstance(field.path[-1], int) else name


def written(field: Field, value: Any) -> str | None:
    """The line that sets a field to a value, or None if it is too long to show."""
    text = line(field.path, flow(value))
    return text if len(text) <= wording.LONGEST else None


def example(field: Field) -> str:
    """`for example ...`: the field's shortest example as a line; "" if there is none."""
    value = corrections.minimal(field)
    text = None if value is None or not field.path else written(field, value)
    return f"for example `{text}`" if text else ""


def unknown(parent: Field, name: str, suggestion: Suggestion) -> Said:
    """The texts about a field that does not exist."""
    names = [child.name for child in parent.children()]
    where = f"of `{path_text(parent.path)}`" if parent.path else "of a document"
    return Said(
        message=f"`{shortened(name)}` is not a field {where}",
        found=shortened(name),
        allowed=", ".join(names) if len(names) <= MOST_NAMES else "",
        next_step=suggestion.next_step,
    )


def missing(field: Field) -> Said:
    """The texts about a required field that is missing."""
    value = corrections.minimal(field)
    text = None if value is None else written(field, value)
    if text is None:
        text = f"{field.name}:"
    title = str(field.schema.get("title", ""))
    about = f" ({_in_a_sentence(title)})" if title else ""
    return Said(f"{called(field)} is missing{about}", next_step=f"add `{text}`{_where(field, text)}")


def _in_a_sentence(title: str) -> str:
    """The title as part of a sentence: in lower case, but names keep their capital."""
    first = title.split()[0]
    return title if first in _NAMES or first.isupper() else f"{title[0].lower()}{title[1:]}"


def _where(field: Field, text: str) -> str:
    """Where to add a missing field, and its required fields if the line was too long to show."""
    parents = field.path[:-1]
    name = next((part for part in reversed(parents) if isinstance(part, str)), None)
    where = "" if name is None else f" below `{name}:`"
    if parents and isinstance(parents[-1], int):
        where = f" to this item of `{name}`"
    required = [child.name for child in field.children() if child.required]
    return f"{where} with {', '.join(required)} below it" if required and text.endswith(":") else where


def wrong_type(field: Field, node: Node | None) -> Said:
    """The texts about a value of the wrong type, or about no value at all."""
    allowed = either([ARTICLES[name] for name in field.types]) if field.types else "nothing"
    if node is None or node.value is None:
        text = "" if node is None else node.text
        return Said(f"{called(field)} has no value", text, allowed, _filled(field))
    instead = wording.kind_of(node.value)
    if isinstance(node.value, float) and "integer" in field.types:
        instead = "a number with a fraction"
    return Said(
        message=f"{called(field)} must be {allowed}, not {instead}",
        found=wording.as_written(node.value, node.text),
        allowed=allowed,
        next_step=_retyped(field, node),
    )


def _filled(field: Field) -> str:
    """The next step for a field that has no value."""
    required = [child.name for child in field.children() if child.required]
    step = example(field) or "give it a value"
    if required:
        step = f"write {', '.join(required)} below it"
    elif field.types == ("object",) and not field.examples and field.path:
        step = f"write `{line(field.path, '{}')}`, or fields below it"
    return step if field.required else f"{step}; or delete the line"


def _retyped(field: Field, node: Node) -> str:
    """The next step for a value of the wrong type: the corrected line, if there is a correction."""
    fixed = corrections.corrected(field, node)
    if fixed is not None and len(fixed) <= wording.LONGEST:
        if fixed == quoted(node.text) and _of_option(node):
            return f"give it as a string: `{wording.set_string(field.path, node.text)}`"
        if fixed == quoted(node.text) and isinstance(field.path[-1], int):
            return f"quote it: `{fixed}`"  # no `- ` before it, which would be wrong in brackets
        verb = "quote it:" if fixed == quoted(node.text) else "write"
        return f"{verb} `{line(field.path, fixed)}`"
    types = field.types
    if "string" in types and isinstance(node.value, dict) and (whole := _whole_name(field, node)):
        return whole
    if "array" in types and isinstance(node.value, dict) and "object" in field.item().types:
        return "put `- ` before its first field: it is a list, and each item starts with `- `"
    if "object" in types and isinstance(node.value, list) and len(node.value) == 1:
        return "remove the `- `: it is one mapping, not a list"
    names = [child.name for child in field.children()]
    if "object" in types and names and not field.examples:
        return f"write fields below it, such as {either(names[:3])}"
    return example(field) or f"write {either([ARTICLES[name] for name in types])}"


def _of_option(node: Node) -> bool:
    """Whether a value comes from the command line, where YAML quotes have no effect."""
    return node.position.file in ("--set", "--set-string")


def _whole_name(field: Field, node: Node) -> str | None:
    """The next step for `spark: {executor: {cores: 4}}` below sparkConf: `spark.executor.cores: "4"`."""
    if not {"sparkConf", "hadoopConf"} & set(field.path):
        return None
    names, value = [field.name], node.value
    while isinstance(value, dict) and value:
        name, value = next(iter(value.items()))
        names.append(name)
    if isinstance(value, dict | list):
        return None
    name, text = ".".join(names), value if isinstance(value, str) else flow(value)
    if _of_option(node):
        step = wording.set_string((*field.path[:-1], name), text)
        return f"put a backslash before each dot in the name: `{step}`"
    return f"write the whole name on one line: `{name}: {quoted(text)}`"


def not_allowed(field: Field, error: Any) -> Said:
    """The texts about a value that is not one of the allowed values."""
    allowed = [text for text in error.validator_value if text]
    guess = nearest(error.instance, allowed, 0.5)
    step = f"write `{line(field.path, scalar(guess))}`" if guess else f"choose {either(allowed)}"
    return Said(
        message=f"{called(field)} cannot be `{shortened(error.instance)}`",
        found=shortened(error.instance),
        allowed=", ".join(allowed),
        next_step=step,
    )


def pattern(field: Field, error: Any) -> Said:
    """The texts about a string that does not match its pattern."""
    found, form = shortened(error.instance), error.validator_value
    words = error.schema.get("patternErrorMessage", form)
    fixed = corrections.respelled(error.instance, form, error.schema.get("maxLength", wording.LONGEST))
    step = f"for example `{line(field.path, scalar(fixed))}`" if fixed else example(field)
    if _TEMPLATE.search(error.instance):
        step = "sparkgen does not expand templates or variables: write the value, or set it with --set"
    return Said(f"{called(field)} cannot be `{found}`", found, words, step or "write an allowed value")


def key(error: Any) -> Said:
    """The texts about a map's key of the wrong form, for example in `labels`."""
    found = shortened(error.instance)
    if error.validator != "pattern":
        return Said(f"`{found}` is too long for a key", found, f"at most {error.validator_value} characters")
    pattern = error.validator_value
    # If the key must not be a path, suggest the last part of the path.
    named = error.instance if "/" in pattern else error.instance.rpartition("/")[2]
    fits = named != error.instance and re.search(python_pattern(pattern), named)
    fixed = named if fits else corrections.respelled(named, pattern, wording.LONGEST)
    step = f"for example `{fixed}`" if fixed else "rename it"
    return Said(f"`{found}` is not a valid key here", found, error.schema["patternErrorMessage"], step)


SIZES = {
    "minimum": ("must be at least {0}", "{0} or more", "write a number from {0} up"),
    "maximum": ("must be at most {0}", "{0} or less", "write a number up to {0}"),
    "exclusiveMinimum": ("must be more than {0}", "more than {0}", "write a number above {0}"),
    "minLength": ("is empty", "at least {0} character", ""),
    "maxLength": ("is too long", "at most {0} characters", ""),
    "minItems": ("is empty", "at least {0} item", "add an item, or delete the field"),
    "maxItems": ("has too many items", "at most {0} items", "remove items"),
    "minProperties": ("is empty", "at least {0} field", ""),
    "maxProperties": ("has too many fields", "at most {0} fields", "remove fields"),
}
"""Keyword of a limit -> message, what is allowed, next step; `{0}` is the limit."""


def size(field: Field, error: Any, node: Node | None) -> Said:
    """The texts about a number, string or collection that is too small or too large."""
    message, allowed, step = (text.format(error.validator_value) for text in SIZES[error.validator])
    value, limit = error.instance, error.validator_value
    if error.validator == "maxProperties":
        return _one_of(field, value, limit, Said(f"{called(field)} {message}", "", allowed, step))
    found = ""
    if error.validator == "maxLength":
        found = shortened(value)
        message += f": {len(value)} characters"
        step = f"shorten it by {len(value) - limit}"
    elif not isinstance(value, dict | list | str):
        found = node.text if node is not None else str(value)
    return Said(f"{called(field)} {message}", found, allowed, step or _choices(field) or example(field))


def _one_of(field: Field, value: dict[str, Any], limit: int, otherwise: Said) -> Said:
    """The texts about too many members of a Kubernetes union, such as the sources of a volume."""
    required = field.schema.get("required", ())
    several = [name for name in value if name not in required]
    if limit - len(required) != 1:
        return otherwise
    message = f"{called(field)} can have only one of {', '.join(several)}"
    return Said(message, "", "one of them", f"keep one: {either(several)}")


def _choices(field: Field) -> str:
    """The next step for an empty union: write one of its first four members; "" if it has examples."""
    names = [child.name for child in field.children()]
    return f"write {either(names[:4])} below it" if names and not field.examples else ""
