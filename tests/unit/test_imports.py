"""No file imports a file that imports it, whether directly or by way of others.

What an import is for does not matter: one inside of a function hides a circle from Python, and one below
`if TYPE_CHECKING:` hides it from a running program, but neither hides it from a reader, who then cannot
understand either file alone. Layers between packages are held by import-linter, which does not look inside of
a package.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def modules(source: Path, top: Path) -> dict[str, Path]:
    """Name -> file of every module below `source`, as programs with `top` on their path import it."""
    found = {}
    for file in sorted(source.rglob("*.py")):
        parts = file.relative_to(top).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def graph(files: Mapping[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules among `files` that its text names in an import."""
    return {name: set(_imports(name, file, files)) - {name} for name, file in files.items()}


def _imports(name: str, file: Path, files: Mapping[str, Path]) -> Iterator[str]:
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield from (known for known in (inner if inner in files else source,) if known in files)


def circle(edges: Mapping[str, set[str]], start: str) -> list[str]:
    """The shortest way from a module back to it, with it at both ends; empty if there is none."""
    before: dict[str, str] = {}
    queue = deque([start])
    while queue:
        module = queue.popleft()
        for imported in sorted(edges[module]):
            if imported == start:
                way = [module]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return [*reversed(way), start]
            if imported not in before:
                before[imported] = module
                queue.append(imported)
    return []


def circles(files: Mapping[str, Path], base: Path) -> list[str]:
    """A line for each circle: its files as `base` names them, each of which imports the next one."""
    edges = graph(files)
    found: dict[frozenset[str], list[str]] = {}
    for module in edges:
        way = circle(edges, module)
        if way:
            found.setdefault(frozenset(way), way)
    return [" -> ".join(str(files[module].relative_to(base)) for module in way) for way in found.values()]


@pytest.mark.parametrize(
    ("source", "top"), [("sparkgen", "."), ("tools", "tools")], ids=["sparkgen", "tools"]
)
def test_no_file_imports_a_file_that_imports_it(source: str, top: str) -> None:
    """Move what both need to a file that imports neither, or to the one of the two that it belongs to."""
    files = modules(ROOT / source, ROOT / top)
    assert len(files) > 30
    found = circles(files, ROOT)
    assert not found, "\n".join(["these files import each other in a circle:", *found])


def write(folder: Path, **texts: str) -> dict[str, Path]:
    """A package `p` of these modules."""
    for name, text in {"__init__": "", **texts}.items():
        (folder / "p").mkdir(exist_ok=True)
        (folder / "p" / f"{name}.py").write_text(text, "utf-8")
    return modules(folder / "p", folder)


HIDDEN = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import a\n"


@pytest.mark.parametrize(
    "back",
    [
        "import p.a",
        "from p import a",
        "from p.a import x",
        "from . import a",
        "from .a import x",
        "def f():\n    from p.a import x",
        HIDDEN,
    ],
)
def test_every_way_to_import_is_seen(tmp_path: Path, back: str) -> None:
    """And the message names the files in the order in which they import each other."""
    files = write(tmp_path, a="import p.b", b="from p.c import y", c=back, d="import p.a")
    (found,) = circles(files, tmp_path)
    assert found == " -> ".join(f"p/{name}.py" for name in "abca")


def test_a_package_that_imports_its_modules_is_in_a_circle_only_if_they_import_it(tmp_path: Path) -> None:
    """`from p.a import x` runs p/__init__.py first, but the file that imports does not name it."""
    assert not circles(write(tmp_path, __init__="from p.a import x", a="from p.b import x"), tmp_path)
    assert circles(write(tmp_path, __init__="from p.a import x", a="from p import y"), tmp_path)


def test_what_is_imported_twice_is_no_circle(tmp_path: Path) -> None:
    """Two files may need the same third one."""
    files = write(tmp_path, a="import p.b, p.c", b="import p.d", c="import p.d", d="import json")
    assert not circles(files, tmp_path)
