"""What is wrong with a folder of HTML pages: links that lead nowhere, and things fetched from elsewhere."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ELSEWHERE = "404.html"
"""Shown at any address, so that its links begin at the server's root: it says nothing of the others."""


@dataclass(slots=True)
class Page:
    """What a page refers to, as (tag, address), and the names that it can be entered at."""

    uses: list[tuple[str, str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


SHAPE = {"blockquote", "h1", "h2", "h3", "h4", "img", "li", "ol", "pre", "table", "tr", "ul"}
"""What differs where two programs read one Markdown text differently."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.shape: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to, and what it is called."""
        if tag in SHAPE:
            self.shape[tag] += 1
        for name, value in attrs:
            if name in ("href", "src", "data") and value:
                self.page.uses.append((tag, value))
            elif value and (name == "id" or (name == "name" and tag == "a")):
                self.page.names.add(value)


def read(text: str) -> Page:
    """An HTML page."""
    reader = _Reader()
    reader.feed(text)
    return reader.page


def other_shape(html: str, expected: str) -> str:
    """What the first HTML text has more or fewer of than the second, as "2 <li>, not 3"; "" if nothing."""
    shapes = []
    for text in (html, expected):
        reader = _Reader()
        reader.feed(text)
        shapes.append(reader.shape)
    found, wanted = shapes
    return ", ".join(
        f"{found[tag]} <{tag}>, not {wanted[tag]}" for tag in sorted(SHAPE) if found[tag] != wanted[tag]
    )


def problems(site: Path) -> list[str]:
    """Each dead link and each fetch from elsewhere, with its page; empty if all is well."""
    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    pages = {
        name: read(path.read_text(encoding="utf-8"))
        for name, path in files.items()
        if name.endswith(".html") and name != ELSEWHERE
    }
    found = [
        f"{name}: {problem}" for name, page in pages.items() for problem in _of(name, page, pages, files)
    ]
    for name, path in files.items():
        if name.endswith(".css"):
            found += [f"{name}: {problem}" for problem in _of_style(name, path.read_text("utf-8"), files)]
    return sorted(found)


def _of(name: str, page: Page, pages: dict[str, Page], files: dict[str, Path]) -> Iterator[str]:
    for tag, address in page.uses:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            if tag != "a" and parts.scheme != "data":
                yield f"<{tag}> fetches {address} from another site"
            continue
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
        target = target if parts.path else name
        if target not in files:
            yield f"{address} leads to no file"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
            yield f"{address} leads to no heading"


def _of_style(name: str, text: str, files: dict[str, Path]) -> Iterator[str]:
    for address in re.findall(r"url\(\s*[\"']?([^\"')]+)", text) + re.findall(
        r"@import\s+[\"']([^\"']+)", text
    ):
        parts = urlsplit(address)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), parts.path))
        if parts.scheme != "data" and (parts.scheme or parts.netloc or target not in files):
            yield f"{address} is not on this site"
