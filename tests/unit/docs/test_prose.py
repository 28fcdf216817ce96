"""The rules for prose: what they find, and that rewriting changes nothing for a reader."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from docs import messages, prose

PAGES = {str(path.relative_to(prose.ROOT)): path for path in prose.pages()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One thing. Another thing.", ["One thing.", "Another thing."]),
        ("A name, e.g. Spark. Next.", ["A name, e.g. Spark.", "Next."]),
        ("See `a. B` here. Then.", ["See `a. B` here.", "Then."]),
        ("It is 3.5. `render` says so.", ["It is 3.5.", "`render` says so."]),
        ("It asks (why?) nobody. *So* it is.", ["It asks (why?) nobody.", "*So* it is."]),
        ("[A page.](a.md) Another.", ["[A page.](a.md)", "Another."]),
        ("**1. The Secret.** It holds a key.", ["**1. The Secret.** It holds a key."]),
        ("**Warning.** A field. More.", ["**Warning.** A field.", "More."]),
        ("![One. Two.](a.svg)", ["![One. Two.](a.svg)"]),
        ("Start here. [examples/x](y.md) is next.", ["Start here.", "[examples/x](y.md) is next."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Neither an abbreviation nor code, an address or a picture's text ends a sentence."""
    assert prose.sentences(text) == expected


def test_each_sentence_gets_a_line() -> None:
    """In paragraphs, lists and quotes; code, tables and headings stay."""
    text = (
        "# A. B\n\nOne\nthing. Two.\n\n- In a list. Still\n  in it.\n\n"
        "> Said. Again.\n\n```\nA. B\n```\n\n| A. B |\n|---|\n| C. D |\n"
    )
    assert prose.rewritten(text) == (
        "# A. B\n\nOne thing.\nTwo.\n\n- In a list.\n  Still in it.\n\n"
        "> Said.\n> Again.\n\n```\nA. B\n```\n\n| A. B |\n|---|\n| C. D |\n"
    )


def test_what_is_found() -> None:
    """Long sentences, banned words and shared lines, each with its line."""
    long = " ".join(["word"] * (prose.MOST_WORDS + 1)) + "."
    text = f"Fine.\n\n{long}\n\n| a |\n|---|\n| anew |\n\nOne. Two, anew and `anew`.\n"
    found = [(one.line, one.message) for one in prose.findings("a.md", text, {"anew": "again"})]
    assert [line for line, _ in found] == [3, 7, 9, 9]
    assert {said for line, said in found if line == 9} == {
        'not "anew": again',
        "write one sentence a line: tools/docs/prose.py --write does it",
    }


def test_a_cell_has_a_limit_for_what_a_reader_sees() -> None:
    """Neither the address of a link nor the marks of code count."""
    fact = "x" * (prose.LONGEST_CELL - 2)
    link = "https://example.com/" + "a" * 99
    text = f"A.\n\n| a |\n|---|\n| `{fact}` [b]({link}) |\n| {fact} `bcd` |\n"
    (found,) = prose.findings("a.md", text, {})
    assert (found.line, found.message[:48]) == (
        6,
        f"162 characters in a cell, at most {prose.LONGEST_CELL}: leave the",
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# A\n\nThis page shows you how.\n\n| a |\n|---|\n", []),
        ("# A\n\n<!-- made by a tool -->\n\nThis page shows you how.\n", []),
        ("# A\n\n| a |\n|---|\n| b |\n", [3]),
        ("# A\n\n- One\n", [3]),
        ("# A\n\n```sh\nmake\n```\n", [3]),
        ("# A\n\n## B\n\nWith.\n", [3]),
        ("Only words.\n", []),
    ],
)
def test_a_page_opens_with_a_paragraph(text: str, lines: list[int]) -> None:
    """Below its title, before any table, list, code or section."""
    assert [one.line for one in prose.findings("a.md", text, {})] == lines


@pytest.mark.parametrize("page", PAGES)
def test_rewriting_a_page_is_stable_and_changes_nothing_that_is_shown(page: str) -> None:
    """The same HTML but for white space, and nothing more to do at a second time."""
    text = PAGES[page].read_text()
    written = prose.rewritten(text)
    assert _shown(written) == _shown(text)
    assert prose.rewritten(written) == written


def _shown(text: str) -> str:
    return re.sub(r"\s+", " ", MarkdownIt("commonmark").enable("table").render(text))


def test_messages_of_a_module() -> None:
    """Texts with what is filled in; neither docstrings nor names."""
    source = '"""A module that says things."""\nA = "two words"\nB = f"cannot read {path}: {error}"\n'
    assert list(messages.of_module(source)) == [(3, "cannot read {path}: {error}")]


def test_no_message_uses_a_banned_word() -> None:
    """The words of the pages hold for what commands and logs say, too."""
    banned = prose.vocabulary()
    found = [
        f"{one.path}:{one.line}: {said}"
        for one in messages.messages()
        for said in prose.misused(one.text, banned)
    ]
    assert not found, "\n".join(found)


def test_no_description_of_the_schema_uses_a_banned_word() -> None:
    """They are the reference, and what `explain` says."""
    text = (prose.ROOT / "schemas" / "spark-application.schema.json").read_text()
    assert prose.misused(text, prose.vocabulary()) == []
