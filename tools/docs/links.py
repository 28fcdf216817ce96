"""Links and headings of the repository's Markdown, and where each file stands on the documentation's site.

A page of docs/ keeps its place there; every other file of the repository stands below `repository/`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = "docs/"
OUTSIDE = "repository/"
"""The folder of the site for what is outside docs/."""

_FENCED = r"^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence)[`~]* *$"
_SPAN = r"(?<!`)(?P<span>`+)(?!`).+?(?<!`)(?P=span)(?!`)"
_BLOCK, _CODE = (re.compile(form, re.MULTILINE | re.DOTALL) for form in (_FENCED, f"{_FENCED}|{_SPAN}"))
_LINK = re.compile(r"(?<=\]\()(?P<target>[^)#\s]*)(?P<anchor>#[^)\s]*)?(?=[)\s])")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", flags=re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page: a path relative to it ("": itself), and an anchor with its # ("": none)."""

    target: str
    anchor: str

    @property
    def leaves(self) -> bool:
        """Whether it leads away from the repository."""
        return re.match(r"[a-z][a-z+.-]*:", self.target) is not None


def links(text: str) -> Iterator[Link]:
    """The links of a Markdown text, in its order; what is code has none."""
    return (link for _, link in _found(text))


def relinked(text: str, change: Callable[[Link], str]) -> str:
    """The text, with what `change` says instead of each link's target and anchor."""
    for match, link in reversed(list(_found(text))):
        text = text[: match.start()] + change(link) + text[match.end() :]
    return text


def _found(text: str) -> Iterator[tuple[re.Match[str], Link]]:
    blank = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    for match in _LINK.finditer(blank):
        if match[0]:
            yield match, Link(match["target"], match["anchor"] or "")


def slug(heading: str, separator: str = "-") -> str:
    """The anchor that GitHub gives to a heading's plain text: no punctuation, a hyphen for each space."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def anchors(text: str) -> set[str]:
    """The anchors of a Markdown text's headings, as GitHub makes them."""
    found: dict[str, int] = {}
    result = set()
    for heading in _HEADING.findall(_BLOCK.sub("", text)):
        name = slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        count = found[name] = found.get(name, -1) + 1
        result.add(f"{name}-{count}" if count else name)
    return result


def resolved(page: str, target: str) -> str:
    """The path in the repository that a page's link leads to; the page itself for ""."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else page


def source(path: str, root: Path) -> str:
    """The site's source file for a path of the repository: a page, or one that shows a file or a folder."""
    page = of_folder(path, root)
    if page.startswith(DOCS):
        return page.removeprefix(DOCS)
    return f"{OUTSIDE}{page}{'' if page.endswith('.md') else '.md'}"


def origin(source_path: str, root: Path) -> str:
    """The path in the repository of a source file of the site: the inverse of `source`."""
    if not source_path.startswith(OUTSIDE):
        return DOCS + source_path
    path = source_path.removeprefix(OUTSIDE)
    shows_code = not (root / path).is_file() and not path.endswith("/README.md")
    return path.removesuffix(".md") if shows_code else path


def of_folder(path: str, root: Path) -> str:
    """The README of a folder, be it there or not; any other path as it is."""
    return f"{path}/README.md" if (root / path).is_dir() else path


def for_site(page: str, link: Link, root: Path) -> str:
    """What a link of a repository's page is on the site."""
    if link.leaves or not link.target:
        return link.target + link.anchor
    here = posixpath.dirname(source(page, root))
    there = source(resolved(page, link.target), root)
    return posixpath.relpath(there, here or ".") + link.anchor
