"""A constant has one definition: two of them drift apart, and nobody sees it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "sparkgen"
LONG = 12
"""Characters from which on a text, whatever its name, is no coincidence."""
TWICE = {
    "ROLES": "import, rules, properties and local runs each go through Spark's two roles",
    "DEFAULT_NAMESPACE": "the cluster's package knows nothing of documents",
    "CONNECT_KIND": "model and schema know nothing of each other",
    "HISTORY_KIND": "model and schema know nothing of each other",
    "NOTEBOOK_KIND": "model and schema know nothing of each other",
    "SERVICE_KIND": "model and schema know nothing of each other",
    "STAGING_KIND": "model and schema know nothing of each other",
    "AUTHENTICATE": "rules and the allocator know nothing of each other",
    "TOKEN": "the cluster's package and the runtime know nothing of each other",
    "DIGEST": "fetch, the collection of garbage and builders know nothing of each other",
    "LOOPBACK": "tunnels, local runs and the allocator know nothing of each other",
    "SUFFIXES": "diff and document each say which files are documents",
}
"""Names with more than one definition, and why."""


def definitions() -> Iterator[tuple[str, str, str]]:
    """Name, value and place of each constant that is more than a number or a word."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(node, ast.AnnAssign):
                target = node.target
            if isinstance(target, ast.Name) and node.value is not None and _is_telling(node.value):  # type: ignore[union-attr]
                value = ast.unparse(node.value)  # type: ignore[union-attr]
                yield target.id.lstrip("_"), value, f"{path.relative_to(ROOT)}:{node.lineno}"


def _is_telling(value: ast.expr) -> bool:
    """Whether a value is a text, a group of texts or an expression."""
    texts = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
    if isinstance(value, ast.Call) and ast.unparse(value.func) != "re.compile":
        return False
    return any(isinstance(text, str | bytes) and len(text) > 2 for text in texts)


def test_a_constant_has_one_definition() -> None:
    """Neither under one name twice, nor a long text under two names."""
    by_name: dict[tuple[str, str], list[str]] = defaultdict(list)
    by_value: dict[str, list[str]] = defaultdict(list)
    excused: dict[str, str] = {}
    for name, value, place in definitions():
        by_name[name, value].append(place)
        if name in TWICE:
            excused[name] = value
        elif value.startswith(("'", '"')) and len(value) > LONG + 2:
            by_value[value].append(f"{place} {name}")
    twice = {name: places for (name, _), places in by_name.items() if len(places) > 1}
    assert {name: places for name, places in twice.items() if name not in TWICE} == {}
    same = {value: places for value, places in by_value.items() if len(places) > 1}
    assert {value: places for value, places in same.items() if value not in excused.values()} == {}
    assert sorted(TWICE) == sorted(set(TWICE) & set(twice)), "an exception that nothing needs any more"
