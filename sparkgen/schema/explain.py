"""Explains one field of the schema at a terminal: `sparkgen explain spec.executor.memory`.

The form is that of `kubectl explain`, which readers know.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from sparkgen.errors import Path, SparkgenError, path_text
from sparkgen.properties.older import new_name
from sparkgen.schema import fields, kubeflow_fields
from sparkgen.schema.describe import MOST_NAMES
from sparkgen.schema.explain_property import explain_property
from sparkgen.schema.fields import Field
from sparkgen.schema.identity import API_VERSION
from sparkgen.schema.suggestions import MOST_HOMES, homes, nearest
from sparkgen.schema.wording import block, either, flow, line

WIDTH = 92
STARTS: tuple[Path, ...] = ((), ("spec",), ("spec", "template"))
"""The fields that a path may start below: users can leave out `spec` and `spec.template`."""


def explain(path: str = "", recursive: bool = False, kind: str = fields.KINDS[0]) -> str:
    """The explanation of a field, ending with a newline.

    `path` has dots between names, with or without the leading `spec` and a kind before it; the fields of a
    list's items follow the list's name or an index; "" is the whole document. For a Spark property, the text
    says what sparkgen does with it. `recursive` shows the tree of names below instead of one level with
    titles. Raises SparkgenError, with similar names, if there is no such field.
    """
    kind, path = of_kind(path, kind)
    if path.startswith("spark.") and kind in fields.KINDS and (text := _spark_property(path, kind)):
        return text
    field = find(path, kind)
    blocks = [_head(field, kind), *_about(field)]
    inner = field.item()
    if any(inner.children()):
        shown = _tree(inner, 1) if recursive else _list(inner)
        title = "FIELDS OF EACH VALUE:" if field.is_map else "FIELDS:"
        blocks.append("\n".join([title, *shown]))
    return "\n\n".join(blocks) + "\n"


def of_kind(path: str, kind: str) -> tuple[str, str]:
    """The kind, and the path without it: as in kubectl, it may start with a kind in lower case."""
    first, _, rest = path.partition(".")
    return next(((known, rest) for known in fields.KINDS if known.lower() == first.lower()), (kind, path))


def find(path: str, kind: str) -> Field:
    """The field at a path of names. Raises SparkgenError if there is none."""
    if kind not in fields.KINDS:
        raise SparkgenError(f"there is no kind {kind}: choose {' or '.join(fields.KINDS)}")
    names = [name for name in re.sub(r"\[[^][]*+\]|(?<=\.)[0-9]++(?=\.|$)", "", path).split(".") if name]
    root = fields.document(kind)
    for start in STARTS:
        holder = root.find(start)
        if holder is not None and (not names or holder.child(names[0]) is not None):
            return _descend(holder, names, kind)
    if names[0] == "spark" and len(names) > 1:
        raise SparkgenError(f"there is no field {'.'.join(names)}: it is a Spark property")
    raise _no_field(root.find(("spec",)) or root, names[0], names, kind)


def _descend(field: Field, names: list[str], kind: str) -> Field:
    """The field below by names; a list's name stands for its items, and a map for all of its keys."""
    for name in names:
        inner = field.item() if "items" in field.schema else field
        if inner.is_map:
            return field
        child = inner.child(name)
        if child is None:
            raise _no_field(field, name, names, kind)
        field = child
    return field


def _no_field(parent: Field, name: str, names: list[str], kind: str) -> SparkgenError:
    known = [child.name for child in parent.item().children()]
    if (advice := kubeflow_fields.instead(parent.path, name)) is not None:
        return SparkgenError(f"there is no field {'.'.join(names)}: {advice[1]}")
    where = _shown(parent) or "a document"
    message = f"there is no field {'.'.join(names)}: {where} has no {name}"
    having = [one for one in fields.KINDS if fields.document(one).find(("spec", name)) is not None]
    paths = homes(kind).get(name, ())
    if having and parent.path == ("spec",) and not paths:
        do = "add" if kind == fields.KINDS[0] else "use"
        return SparkgenError(f"{message}; a {having[0]} has it: {do} --kind {having[0]}")
    if (guess := nearest(name, known, 0.6)) is not None:
        return SparkgenError(f"{message}; did you mean {guess}?")
    if not known:
        return SparkgenError(f"{message}; it has no fields")
    if parent.path == ("spec",) and 0 < len(paths) <= MOST_HOMES:
        return SparkgenError(f"{message}; did you mean {either([path_text((*one, name)) for one in paths])}?")
    if parent.path == ("spec",) and not paths and (command := _of_another_kind(name)):
        return SparkgenError(f"{message}; {command}")
    if len(known) > MOST_NAMES:
        return SparkgenError(f"{message}; list its fields: sparkgen explain {where}{_option(kind)}")
    return SparkgenError(f"{message}; it has {', '.join(known)}")


def _of_another_kind(name: str) -> str:
    """The command that explains a field deeper in the spec of another kind; "" if no kind has it."""
    for kind in fields.KINDS:
        paths = homes(kind).get(name, ())
        if len(paths) == 1:
            return f"a {kind} has it: sparkgen explain {path_text((*paths[0], name))}{_option(kind)}"
    return ""


def _spark_property(name: str, kind: str) -> str | None:
    """What sparkgen does with a Spark property; None for kinds that are no applications."""
    own = list(fields.own_fields(fields.document(kind)))
    if not any(field.name == "driver" for field in own):
        return None
    said = [f"{word} `{new_name(name)}`" for word in ("Becomes", "Sets", "or")]
    paths = [
        _shown(field)
        for field in own
        if any(text in str(field.schema.get("description")) for text in said)
        and (field.path[-2] not in ("driver", "executor") or f".{field.path[-2]}." in name)
    ]
    return explain_property(name, paths, WIDTH)


def _option(kind: str) -> str:
    """The option for a kind on the command line; "" for the default, SparkApplication."""
    return "" if kind == fields.KINDS[0] else f" --kind {kind}"


def _shown(field: Field) -> str:
    """A field's path without indexes."""
    return path_text(tuple(part for part in field.path if isinstance(part, str))) if field.path else ""


def _head(field: Field, kind: str) -> str:
    rows = [("KIND:", kind), ("VERSION:", API_VERSION)]
    if field.path:
        rows.append(("FIELD:", f"{_shown(field)} <{field.type_label}>{_required(field)}"))
    return "\n".join(f"{label:<9} {text}" for label, text in rows)


def _required(field: Field) -> str:
    return " -required-" if field.required else ""


def _about(field: Field) -> Iterator[str]:
    """Description, default, allowed values and examples, as far as the schema has them.

    A link to another page, which a terminal cannot follow, becomes the path of the page.
    """
    text = str(field.schema.get("description") or field.item().schema.get("description", ""))
    text = re.sub(r"\[([^][]++)\]\(\.\./([^()]++)\)", r"\1 (docs/\2)", text)
    if text:
        yield f"DESCRIPTION:\n{_indented(textwrap.wrap(text, WIDTH - 4, break_on_hyphens=False))}"
    rows = []
    if "default" in field.schema:
        rows.append(("DEFAULT:", flow(field.schema["default"])))
    if allowed := [text for text in field.schema.get("enum", ()) if text]:
        rows.append(("ALLOWED:", ", ".join(allowed)))
    if field.tunable:
        rows.append(("TUNABLE:", "yes: a change does not start a new run"))
    if rows:
        yield "\n".join(f"{label:<9} {text}" for label, text in rows)
    if field.examples and field.path:
        yield "EXAMPLES:\n" + "\n".join(_indented(_example(field, one)) for one in field.examples)


def _example(field: Field, value: Any) -> list[str]:
    """An example as lines of YAML: one line if it fits."""
    short = line(field.path, flow(value))
    return [short] if len(short) < WIDTH else block({field.name: value}).splitlines()


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {one}" for one in lines)


def _list(field: Field) -> Iterator[str]:
    """One level of fields with their titles."""
    for child in field.children():
        yield f"  {child.name} <{child.type_label}>{_required(child)}"
        about = str(child.schema.get("title") or child.schema.get("description", ""))
        yield f"      {textwrap.shorten(about, WIDTH - 6, placeholder=' ...')}"


def _tree(field: Field, depth: int) -> Iterator[str]:
    """All fields below, names and types only."""
    for child in field.children():
        yield f"{'  ' * depth}{child.name} <{child.type_label}>{_required(child)}"
        yield from _tree(child.item(), depth + 1)
