"""What a value of the wrong type was probably meant to be, as the text to write instead.

Each rule is a function `(field, node) -> text | None`; the first text is used. It is what to write after the
key. A rule never suggests a value that means something other than the value in the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sparkgen.grammar.whole import MOST_DIGITS
from sparkgen.schema.accepts import python_pattern
from sparkgen.schema.fields import Field
from sparkgen.schema.wording import flow, quoted, scalar

if TYPE_CHECKING:
    from sparkgen.document.node import Node

Rule = Callable[[Field, "Node"], str | None]

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
SMALLEST_MIB = 64
"""From this size on, a memory size without a unit is more likely in MiB than in GiB."""


def _amount(field: Field, node: Node) -> str | None:
    """`memory: 4` is meant as 4g, and `executorIdleTimeout: 60` as 60s: the fields need a unit."""
    if not isinstance(node.value, int) or isinstance(node.value, bool):
        return None
    if field.grammar == "memory":
        return f"{node.value}{'m' if node.value >= SMALLEST_MIB else 'g'}"
    if field.grammar == "duration":
        return f"{node.value}s" if node.value < 1000 else f"{node.value}ms"
    return None


def _quote(field: Field, node: Node) -> str | None:
    """`3.5` and `true` are meant as strings; `yes` as the value of a Spark or Hadoop property, as `true`."""
    if "string" not in field.types or not isinstance(node.value, bool | int | float):
        return None
    if isinstance(node.value, bool) and {"sparkConf", "hadoopConf"} & set(field.path):
        return quoted("true" if node.value else "false")
    return quoted(node.text)


def _whole_number(field: Field, node: Node) -> str | None:
    """`"4"` is meant as 4, and `30s` as 30 in a field that counts seconds."""
    if "integer" not in field.types or not isinstance(node.value, str):
        return None
    text = node.value.strip()
    if re.fullmatch(rf"-?[0-9]{{1,{MOST_DIGITS}}}", text):
        return str(int(text))
    match = re.fullmatch(rf"([0-9]{{1,{MOST_DIGITS}}})([smhd])", text)
    return str(int(match[1]) * SECONDS[match[2]]) if match and field.name.endswith("Seconds") else None


def _number(field: Field, node: Node) -> str | None:
    """`"0.5"` is meant as 0.5."""
    if "number" in field.types and isinstance(node.value, str) and re.fullmatch(r"[0-9.]+", node.value):
        return node.value
    return None


def _truth(field: Field, node: Node) -> str | None:
    """`"true"` and `1` are meant as true."""
    if "boolean" not in field.types:
        return None
    if node.text.lower() in ("true", "yes", "on", "y", "1"):
        return "true"
    return "false" if node.text.lower() in ("false", "no", "off", "n", "0") else None


def _list_of_one(field: Field, node: Node) -> str | None:
    """A string instead of a list of strings: items between commas; in `arguments` also between blanks."""
    if "array" not in field.types or not isinstance(node.value, str) or "string" not in field.item().types:
        return None
    if field.name == "arguments" and not re.search(r"[\"'\\]|,\s", node.value):
        return flow(node.value.split())
    return flow([part.strip() for part in node.value.split(",") if part.strip()])


def _variables(field: Field, node: Node) -> str | None:
    """`env: {A: b}` is meant as `[{name: A, value: "b"}]`."""
    if field.item().kubernetes != "EnvVar" or not node.entries:
        return None
    if any(isinstance(one.value, dict | list | None) for one in node.entries.values()):
        return None
    items = [f"{{name: {scalar(name)}, value: {quoted(one.text)}}}" for name, one in node.entries.items()]
    return f"[{', '.join(items)}]"


def _variable(field: Field, node: Node) -> str | None:
    """`A=b` as an item of `env` is meant as `{name: A, value: "b"}`."""
    if field.kubernetes != "EnvVar" or not isinstance(node.value, str) or "=" not in node.value:
        return None
    name, _, value = node.value.partition("=")
    return f"{{name: {scalar(name)}, value: {quoted(value)}}}"


def _member(field: Field, node: Node) -> str | None:
    """`restartPolicy: Never` is meant as `{type: Never}`, if exactly one field below allows the value."""
    if not isinstance(node.value, str):
        return None
    members = [child.name for child in field.children() if node.value in child.schema.get("enum", ())]
    return flow({members[0]: node.value}) if len(members) == 1 else None


def _reference(field: Field, node: Node) -> str | None:
    """`secretRef: s3` is meant as `{name: s3}`; so for every Kubernetes source that requires only a name."""
    if not isinstance(node.value, str) or not (field.kubernetes or "").endswith(("Source", "Reference")):
        return None
    names = {child.name for child in field.children() if child.required or child.name == "name"}
    return flow({"name": node.value}) if names == {"name"} else None


def _named(field: Field, node: Node) -> str | None:
    """`- name: x` instead of the name alone."""
    if "string" in field.types and isinstance(node.value, dict) and set(node.value) == {"name"}:
        return scalar(node.value["name"])
    return None


def _joined(field: Field, node: Node) -> str | None:
    """A list instead of a string: joined with commas, as Spark writes lists; `javaOptions`, with blanks."""
    if field.types != ("string",) or not isinstance(node.value, list) or not node.value:
        return None
    if not all(isinstance(one, str) for one in node.value):
        return None
    return quoted((" " if field.name == "javaOptions" else ",").join(node.value))


RULES: tuple[Rule, ...] = (
    _amount,
    _quote,
    _whole_number,
    _number,
    _truth,
    _list_of_one,
    _variables,
    _variable,
    _member,
    _reference,
    _named,
    _joined,
)


def corrected(field: Field, node: Node) -> str | None:
    """The text to write as a field's value instead of a node of the wrong type, or None."""
    return next((text for rule in RULES if (text := rule(field, node)) is not None), None)


def respelled(text: str, pattern: str, longest: int) -> str | None:
    """The text changed so that it matches a pattern: `My App` -> `my-app`; None if no small change does."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower())
    candidates = (
        re.sub(r"(?<=\w)\s+(?=\w)", "-", text.strip()),
        re.sub(r"\s+", "", text),
        text.lower(),
        text.lstrip("vV="),
        re.sub(r"(?i)^([0-9.]+)\s*([kmgt])i?b?$", lambda size: f"{size[1]}{size[2].upper()}i", text),
        name[:longest].strip("-"),
        re.sub(r"^[^a-z]+", "", name)[:longest].strip("-"),
        re.sub(r"[^A-Za-z0-9_.-]+", "-", text)[:longest].strip("-"),
    )
    return next((one for one in candidates if one and re.search(python_pattern(pattern), one)), None)


def minimal(field: Field) -> Any:
    """The shortest example of a field: only its required fields; None if the schema has no example."""
    required = [child for child in field.children() if child.required]
    if not required:
        return field.examples[0] if field.examples else None
    examples = {child.name: minimal(child) for child in required}
    return None if None in examples.values() else examples
