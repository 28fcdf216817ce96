"""The pod templates that a spark-submit command names: files beside its script."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sparkgen.document import Node
from sparkgen.document.parse import parse
from sparkgen.errors import Severity
from sparkgen.importing.draft import Draft, Property
from sparkgen.importing.properties_files import Files
from sparkgen.importing.table import ROLES, Row, Take
from sparkgen.importing.transforms import template

_HEAD = ("apiVersion", "kind")
"""Fields of a pod that a template does not have."""


def add_templates(draft: Draft, files: Files, script: str) -> None:
    """Copy each template that import can read to its role; of the others, the property is lost.

    Raises `Beyond`.
    """
    for role in ROLES:
        name = f"spark.kubernetes.{role}.podTemplateFile"
        item = next((item for item in draft.properties if item.name == name), None)
        text = _text(item, files, script) if item is not None else None
        if item is None or text is None:
            continue
        files.budget.take(0, 1)  # raises before another template is read
        node = _parsed(*text)
        files.budget.take_node(node, text[1])
        if node is not None:
            draft.properties.remove(item)
            row = Row(name, f"spec.{role}.template")
            template(Take(draft, row, node, item.source))


def _text(item: Property, files: Files, script: str) -> tuple[str, str] | None:
    """Returns the name and the text of a template; None if import cannot read it."""
    contents = files.text(item.text.removeprefix("file://"), script)
    # The file of properties that names it may be somebody else's, even where the command is not.
    if contents is None or files.read(contents[0], item.position.file) is None:
        return None
    return contents


@lru_cache(maxsize=16)  # many commands name the same file
def _parsed(name: str, text: str) -> Node | None:
    """Returns the content of a template; None if it is no YAML."""
    parsed = parse(text.encode(), name, as_kubectl=True)
    found = [document for document in parsed.documents if document.root is not None]
    problems = [*parsed.problems, *(problem for document in found for problem in document.problems)]
    if len(found) != 1 or any(problem.severity is Severity.ERROR for problem in problems):
        return None
    root = found[0].root
    if root is None or not root.is_mapping or root.value.get("kind", "Pod") != "Pod":
        return None
    children = {key: child for key, child in root.entries.items() if key not in _HEAD}
    return replace(root, value={key: root.value[key] for key in children}, children=children)
