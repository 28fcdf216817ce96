"""How the project's pages are written: a sentence a line, short sentences and cells, no banned words.

    .venv/bin/python tools/docs/prose.py             say what is against the rules; 1 when something is
    .venv/bin/python tools/docs/prose.py --write     put each sentence of the pages on a line of its own

Code and the addresses of links are not prose. `vocabulary.yml` lists the banned words, each with what to
write instead. CONTRIBUTING.md has the rules for people.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
VOCABULARY = Path(__file__).with_name("vocabulary.yml")
MOST_WORDS = 35
"""Words of a sentence. A name in code counts as one."""
LONGEST_CELL = 160
"""Characters of a table's cell as a reader sees it: a cell has a fact, and prose is below the table."""

_MASKED = re.compile(
    r"!\[[^\]]*\]\([^)]*\)|(`+)(?:(?!`).|(?!\1)`)+?\1(?!`)|\]\([^)\s]*\)|<[^>\s]+>|https?://\S+"
)
_END = re.compile(r"""[.!?](?:[)"'*_\]]|\(x+\))*\s+(?=["'(*_]*(?:\[|[A-Z`]|sparkgen\b))""")
_LABEL = re.compile(r"\*\*[^*]+\*\*")
"""Words such as **Warning.** at the beginning of a line: they stay with the sentence after them."""
_SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|No|approx)|\.\.|^\**\d+)\.$")
"""What ends with a point and is no sentence: abbreviations, and the number of a step."""
_ITEM = re.compile(r"^(?P<quote>(?:\s*>\s?)*)(?P<marks>(?:\s*(?:[-*+]|\d+[.)])\s+)*)(?P<space>\s*)")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Prose of a page: its lines from `first` to `end` (without), counted from 0."""

    first: int
    end: int
    text: str
    """Its source, without the marks of lists and quotes, in one line."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is against the rules, and on which line of which page, counted from 1."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def masked(text: str) -> str:
    """The text with code and addresses as words of `X`, so that nothing in them looks like prose."""

    def mask(found: re.Match[str]) -> str:
        whole = found.group()
        return "](" + "x" * (len(whole) - 3) + ")" if whole.startswith("](") else "X" * len(whole)

    return _MASKED.sub(mask, text)


def sentences(text: str) -> list[str]:
    """The sentences of a line of Markdown."""
    found, start, plain = [], 0, masked(text)
    for end in _END.finditer(plain):
        if _SHORT.search(plain[start : end.start() + 1]) or _LABEL.fullmatch(
            plain[start : end.end()].strip()
        ):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    return [*found, text[start:].strip()]


def paragraphs(text: str) -> Iterator[Paragraph]:
    """The paragraphs of a page, those of lists and quotes too; without those that break lines on purpose."""
    lines = text.split("\n")
    for token, inline in _blocks(text, "paragraph_open"):
        first, end = token.map or (0, 0)
        if any(child.type in ("hardbreak", "html_inline") for child in inline.children or ()):
            continue
        if lines[first].lstrip().startswith(("!!!", "???")):
            continue
        yield Paragraph(first, end, " ".join(part.strip() for part in inline.content.split("\n")))


def _blocks(text: str, *kinds: str) -> Iterator[tuple[Token, Token]]:
    for one, following in pairwise(_parsed(text)):
        if one.type in kinds and following.type == "inline":
            yield one, following


@lru_cache(maxsize=1)
def _parsed(text: str) -> list[Token]:
    """The tokens of a page, which several checks ask for one after the other."""
    return _markdown().parse(text)


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def rewritten(text: str) -> str:
    """The page with one sentence a line; what a reader sees stays the same."""
    lines = text.split("\n")
    for one in reversed(list(paragraphs(text))):
        prefix, quote = _marks(lines[one.first])
        indent = quote + " " * (len(prefix) - len(quote))
        parts = sentences(one.text)
        lines[one.first : one.end] = [prefix + parts[0], *(indent + part for part in parts[1:])]
    return "\n".join(lines)


def _marks(line: str) -> tuple[str, str]:
    """What stands before the prose of a line: all of it, and the quote's part."""
    found = _ITEM.match(line)
    return (found.group(), found["quote"]) if found else ("", "")


def findings(path: str, text: str, banned: Mapping[str, str]) -> list[Finding]:
    """What is against the rules in a page."""
    found = [
        *_long_sentences(path, text),
        *_long_cells(path, text),
        *_banned_words(path, text, banned),
        *_opening(path, text),
    ]
    written = rewritten(text)
    if written != text:
        lines = zip(text.split("\n"), written.split("\n"), strict=False)
        first = next((number for number, (old, new) in enumerate(lines, 1) if old != new), 1)
        found.append(Finding(path, first, "write one sentence a line: tools/docs/prose.py --write does it"))
    return sorted(found, key=lambda one: one.line)


def _long_sentences(path: str, text: str) -> Iterator[Finding]:
    for one in paragraphs(text):
        for number, sentence in enumerate(sentences(one.text), one.first + 1):
            words = len(masked(sentence).split())
            if words > MOST_WORDS:
                said = f'{words} words in a sentence, at most {MOST_WORDS}: split "{sentence[:50]}..."'
                yield Finding(path, min(number, one.end), said)


def _long_cells(path: str, text: str) -> Iterator[Finding]:
    for token, inline in _blocks(text, "td_open", "th_open"):
        length = len(_displayed(inline))
        if length > LONGEST_CELL:
            said = (
                f"{length} characters in a cell, at most {LONGEST_CELL}: leave the fact, and move the rest "
                f'of "{inline.content[:50]}..." below the table'
            )
            yield Finding(path, (inline.map or token.map or [0])[0] + 1, said)


def _displayed(inline: Token) -> str:
    """What a reader sees of a line of Markdown: neither the marks nor the addresses of links."""
    shown = (child.content for child in inline.children or () if child.type in ("text", "code_inline"))
    return "".join(shown)


def _opening(path: str, text: str) -> Iterator[Finding]:
    """A page's title is followed by words that say what the page is for, not by a table, a list or code."""
    blocks = (token for token in _parsed(text) if token.level == 0 and token.nesting >= 0)
    for title, following in pairwise(token for token in blocks if token.type != "html_block"):
        if title.tag == "h1" and following.type != "paragraph_open":
            line = (following.map or [0])[0] + 1
            yield Finding(
                path, line, "open the page with a sentence that says what its reader will be able to do"
            )


def _banned_words(path: str, text: str, banned: Mapping[str, str]) -> Iterator[Finding]:
    for token, inline in _blocks(text, "paragraph_open", "heading_open", "td_open", "th_open"):
        for said in misused(masked(inline.content), banned):
            yield Finding(path, (token.map or inline.map or [0])[0] + 1, said)


def misused(text: str, banned: Mapping[str, str]) -> list[str]:
    """The banned words of a text, each with what to write instead."""
    return [
        f'not "{found.group()}": {instead}'
        for pattern, instead in banned.items()
        for found in [_compiled(pattern).search(text)]
        if found
    ]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


def vocabulary(path: Path = VOCABULARY) -> dict[str, str]:
    """The banned words, as regular expressions, each with what to write instead."""
    return dict(yaml.safe_load(path.read_text()))


def pages(root: Path = ROOT) -> list[Path]:
    """All pages that people write, as Git has them.

    Left out are those that are generated, and the changelog: a record of what was said at its time.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.md"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    names = (name for name in listed.split("\0") if name)
    return [root / name for name in names if not name.startswith(("docs/reference/", "tests/", "CHANGELOG"))]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or write the pages; 1 when something is against the rules, which was said."""
    parser = argparse.ArgumentParser(description="Check how the pages are written.")
    parser.add_argument("--write", action="store_true", help="put each sentence on a line of its own")
    parser.add_argument(
        "pages", nargs="*", type=Path, help="pages to check (default: all pages of the repository)"
    )
    options = parser.parse_args(arguments)
    banned, number = vocabulary(), 0
    for page in options.pages or pages():
        text = page.read_text()
        if options.write and (written := rewritten(text)) != text:
            page.write_text(written)
            text = written
        for one in findings(str(page), text, banned):
            print(one)
            number += 1
    return 1 if number else 0


if __name__ == "__main__":
    sys.exit(main())
