"""All regular expressions of the product, read from its source, with the methods that use them."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, where it stands, and how it is used."""

    place: str
    pattern: re.Pattern[Any]
    method: str


@cache
def sources() -> dict[str, str]:
    """The product's modules by their dotted names, with their text."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path.read_text()
        for path in sorted((ROOT / "sparkgen").rglob("*.py"))
    }


def expressions() -> Iterator[Expression | str]:
    """Each expression; the place of one that is made of what only a call knows."""
    for module, text in sources().items():
        if "re." in text:
            yield from _in_module(module, ast.parse(text))


def _in_module(module: str, tree: ast.Module) -> Iterator[Expression | str]:
    names = _names(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        if not of_re or node.func.attr not in (*_METHODS, "compile"):
            continue
        place = f"{module}:{ast.unparse(node.args[0])[:60]}"
        pattern = _pattern(module, node)
        if pattern is None:
            yield place
            continue
        methods = [node.func.attr]
        if node.func.attr == "compile":
            methods = _uses(module, names.get(id(node), "")) or _uses_of_tables(module)
        for method in dict.fromkeys(methods):
            yield Expression(place, pattern, method)


def _names(tree: ast.Module) -> dict[int, str]:
    """The name under which a module has what a call compiles: of a constant, or of a function."""
    names = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[id(node.value)] = node.targets[0].id
        if isinstance(node, ast.FunctionDef):
            for inner in node.body:
                if isinstance(inner, ast.Return) and inner.value is not None:
                    names[id(inner.value)] = f"{node.name}()"
    return names


def _uses(module: str, name: str) -> list[str]:
    if not name:
        return []
    of_module = name.startswith("_")
    texts = [sources()[module]] if of_module else list(sources().values())
    use = re.compile(rf"\b{re.escape(name)}\.({'|'.join(_METHODS)})\b")
    return [method for text in texts for method in use.findall(text)]


def _uses_of_tables(module: str) -> list[str]:
    """How a module uses the expressions that it has in tables: as it uses any that has no name of its own."""
    found = re.findall(
        rf"\b[a-z][a-z_]*\.({'|'.join(_METHODS)})\(", re.sub(r"\bre\.[a-z]+\(", "", sources()[module])
    )
    return [method for method in found if method != "split"] or ["search"]  # texts have a `split`, too


def _pattern(module: str, call: ast.Call) -> re.Pattern[Any] | None:
    given = {word.arg: word.value for word in call.keywords}
    parts = [call.args[0]]
    if call.func.attr == "compile" and len(call.args) > 1:  # type: ignore[attr-defined]
        given["flags"] = call.args[1]
    if call.func.attr in ("search", "match", "fullmatch", "findall", "finditer") and len(call.args) > 2:  # type: ignore[attr-defined]
        given["flags"] = call.args[2]
    parts.append(given.get("flags", ast.Constant(0)))
    namespace = vars(importlib.import_module(module))
    try:
        text, flags = (eval(ast.unparse(part), dict(namespace)) for part in parts)  # noqa: S307
    except (NameError, TypeError):
        return None
    return re.compile(text, flags) if isinstance(text, str | bytes) else None
