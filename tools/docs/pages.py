"""The pages of the documentation's site that are not in docs/: files and folders that its pages link to."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path

from common.cachedir import ToolError
from docs import links as docs_links

LANGUAGES = {
    ".py": "python",
    ".sh": "sh",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".scala": "scala",
}
EXAMPLES = "examples/"
"""Where files show how to do something: they are found by the search, and so is what stands beside them."""


def outside(root: Path) -> list[str]:
    """The paths outside docs/ that the documentation leads to, found from its pages on."""
    todo = [file.relative_to(root).as_posix() for file in sorted((root / docs_links.DOCS).rglob("*.md"))]
    known = set(todo)
    for path in todo:
        for target in _led_to(path, root):
            if not target.startswith(docs_links.DOCS) and target not in known:
                known.add(target)
                todo.append(target)
    return [path for path in todo if not path.startswith(docs_links.DOCS)]


def _led_to(path: str, root: Path) -> Iterator[str]:
    """The paths that a page links to. A link that leads nowhere is left for mkdocs to report."""
    for link in docs_links.links(page(path, root)):
        target = docs_links.resolved(path, link.target)
        if not link.leaves and (root / target).exists():
            yield docs_links.of_folder(target, root)


def page(path: str, root: Path) -> str:
    """The Markdown of a path of the repository: itself, the list of a folder, or a file as code."""
    file = root / path
    if path.endswith("/README.md") and not file.exists():
        return f"# {file.parent.relative_to(root)}\n\n{_listing(file.parent.iterdir())}"
    text = file.read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    if "````" in text:
        raise ToolError(f"{path} contains a code fence, so it cannot be shown on a page")
    shown = f"# {path}\n\n````{LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n````\n"
    if not path.startswith(EXAMPLES):
        return f"---\nsearch:\n  exclude: true\n---\n{shown}"
    beside = _listing(other for other in file.parent.iterdir() if other != file and other.is_file())
    shown += f"\nIn the same folder:\n\n{beside}" if beside else ""
    return f"{shown}\n[All examples]({posixpath.relpath(EXAMPLES, posixpath.dirname(path))}/README.md)\n"


def _listing(files: Iterable[Path]) -> str:
    """Links to the files and folders, by name."""
    shown = sorted(file.name for file in files if not file.name.startswith((".", "__")))
    return "".join(f"- [{name}]({name})\n" for name in shown)
