"""The texts that a user can meet, as they are in the code: for review, and for the rules of prose.

What is between braces is filled in at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST_WORDS = 3
"""Shorter texts are names and keys."""


@dataclass(frozen=True, slots=True)
class Message:
    """A text of the code: its file, relative to the repository, its line, and the text."""

    path: str
    line: int
    text: str


def messages(root: Path = ROOT) -> list[Message]:
    """All of them, in the order of files and lines."""
    found: list[Message] = []
    for path in sorted((root / "sparkgen").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        found += [Message(name, line, text) for line, text in sorted(of_module(path.read_text()))]
    return found


def of_module(source: str) -> Iterator[tuple[int, str]]:
    """The texts of a module that are prose, each with its line; docstrings are not: users do not see them."""
    tree = ast.parse(source)
    hidden = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            hidden |= {id(part) for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        text = _text(node)
        if id(node) not in hidden and len(re.findall(r"[A-Za-z']+", text)) >= LEAST_WORDS and " " in text:
            yield getattr(node, "lineno", 0), text


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
    return ""


def page(found: list[Message]) -> str:
    """The page of the site: a table for each folder, a row for each text."""
    lines = [
        "# Messages",
        "",
        "The texts that sparkgen shows, and the file and line each is in.",
        "What is between braces is filled in when it runs.",
    ]
    folder = ""
    for one in found:
        if one.path.rpartition("/")[0] != folder:
            folder = one.path.rpartition("/")[0]
            lines += ["", f"## {folder}", "", "| text | where |", "|---|---|"]
        shown = " ".join(one.text.split()).replace("|", "\\|").replace("`", "'")
        lines.append(f"| `{shown}` | {one.path.rpartition('/')[2]}:{one.line} |")
    return "\n".join(lines) + "\n"
