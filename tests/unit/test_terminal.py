"""What may come out of a command: nothing that a terminal, a CI runner or a reader's eye is misled by."""

from __future__ import annotations

import json
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.terminal import escaped_json, for_terminal, log_line, readable, visible

COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
HOSTILE = {
    "window title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;cm0gLXJmIC8=\x07",
    "cursor up": "\x1b[1A\x1b[2Kstarts a new run: no",
    "C1 CSI": "\x9b2J",
    "overwrites the line": "yes\rno",
    "backspace": "yes\b\b\bno",
    "delete": "a\x7f",
    "NUL": "a\x00b",
    "bidi override": "\u202etxt.exe",
    "bidi isolate": "\u2066a\u2069",
    "right-to-left mark": "\u200f",
    "no width": "pay\u200bpal",
    "joiner": "a\u2060b",
    "byte order mark": "\ufeffa",
    "soft hyphen": "a\xadb",
    "tag characters": "\U000e0041",
    "line separator": "a\u2028starts a new run: no",
    "next line": "a\x85b",
    "vertical tab": "a\x0bb",
    "surrogate": "a\udc80b",
    "no-break space": "a\xa0b",
    "filler": "a\u3164b",
    "grapheme joiner": "a\u034fb",
    "blank of Braille": "a\u2800b",
    "selectors of variants": "a\ufe01\U000e0101b",
    "beam": "a\U0001d173b",
    "shorthand": "a\U0001bca0b",
    "joiner of Brahmi": "a\U0001107fb",
    "filler of Khitan": "a\U00016fe4b",
    "no notehead": "a\U0001d159b",
}
# Text in which everything that matters is likely.
odd = st.text(st.one_of(st.sampled_from("\x1b[0;1m:#\r\n\t ]a\x9b\u202e\u2028\x00\x07"), st.characters()))


def commands(line: str) -> bool:
    """Whether GitHub's runner reads a line as a command: ActionCommand.TryParseV2, then TryParse.

    https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
    """
    start = line.lstrip()
    return (start.startswith("::") and "::" in start[2:]) or bool(re.search(r"##[a-zA-Z]*\[", line))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_hostile_is_left(text: str) -> None:
    """Neither in a value nor in text of several lines; what is seen is an escape."""
    assert visible(text).isprintable()
    assert readable(text).replace("\n", "").replace("\t", "").isprintable()
    assert "\\" in visible(text)
    assert "\\" in readable(text) or "\n" in text
    assert escaped_json(json.dumps(text, ensure_ascii=False)).count("\\") >= visible(text).count("\\")


def test_every_format_character_is_seen() -> None:
    """Unicode's category Cf, as far as this Python knows it."""
    controls = [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) == "Cf"]
    for shown in (visible, readable, for_terminal, log_line, escaped_json):
        assert not [char for char in controls if char in shown(f"a{char}b")]


@given(odd)
def test_a_value_is_one_printable_line(text: str) -> None:
    """Whatever it is; and what is printable stays as it is."""
    assert visible(text).isprintable()
    assert visible(visible(text)) == visible(text)


@given(odd)
def test_text_has_line_ends_tabs_and_printable_characters(text: str) -> None:
    """A carriage return only where a line ends. No line is an order for a CI runner, colours or not."""
    for shown in (readable(text), COLOUR.sub("", readable(text, colours=True))):
        assert re.sub(r"\r?\n|\t", "", shown).isprintable()
        assert shown.count("\n") == text.count("\n")
    assert not any(commands(line) for line in re.split("[\r\n]", readable(text)))


@given(st.sampled_from(["::error::x", " \t::set-output name=a::b", "a ##[add-mask]b", "##vso[task.x]y"]), odd)
def test_no_line_is_a_command(command: str, text: str) -> None:
    """Wherever the line begins."""
    lines = re.split("[\r\n]", readable(f"{text}\n{command}{text}\n"))
    assert not any(commands(line) for line in lines)


@given(odd)
def test_a_log_line_keeps_its_colours_alone(text: str) -> None:
    """They end with the line."""
    line = log_line(text.replace("\n", ""))
    assert COLOUR.sub("", line[:-1]).replace("\t", "").isprintable()
    assert line.endswith("\n")
    if COLOUR.search(line):
        assert line.endswith("\x1b[0m\n")


@given(st.recursive(odd, lambda inner: st.lists(inner) | st.dictionaries(odd, inner), max_leaves=5))
def test_json_is_the_same_value(value: object) -> None:
    """For every reader, and printable."""
    shown = escaped_json(json.dumps(value, indent=2, ensure_ascii=False))
    assert json.loads(shown) == value
    assert shown.replace("\n", "").isprintable()


def test_what_people_write_stays() -> None:
    """Letters of all scripts, emoji, tabs; Windows line ends."""
    text = "größer\tñ 日本語 🚀\r\nzweite Zeile\n"
    assert readable(text) == for_terminal(text) == text
    assert visible("größer 🚀 ❤\ufe0f") == "größer 🚀 ❤\ufe0f"
    assert (
        readable("a::b, ## heading, std::vector\n- [x] #[y]") == "a::b, ## heading, std::vector\n- [x] #[y]"
    )


def test_data_on_a_terminal_keeps_workflow_commands() -> None:
    """A report for GitHub is made of them."""
    assert for_terminal("::error file=a::b\x1b[0m\n") == "::error file=a::b\\x1b[0m\n"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("a \x1b[31mred\x1b[0m b", "a \x1b[31mred\x1b[0m b\x1b[0m\n"),
        ("a \x1b[1;91;4mbold\x1b[m", "a \x1b[1;91;4mbold\x1b[m\x1b[0m\n"),
        ("a \x1b[8mhidden\x1b[0m b", "a hidden\x1b[0m b\x1b[0m\n"),
        ("\x1b[08mhidden", "hidden\n"),
        ("\x1b[30;40mblack on black", "black on black\n"),
        ("\x1b[37;107mwhite on white", "white on white\n"),
        ("\x1b[1;38;2;0;0;0;48;2;0;0;0mblack on black", "\x1b[1mblack on black\x1b[0m\n"),
        ("\x1b[48:5:0;31mx", "\x1b[31mx\x1b[0m\n"),
    ],
)
def test_no_colour_of_a_log_hides_text(line: str, shown: str) -> None:
    """Concealed, or in the colour of what is behind it: a reader would copy what is not there to be seen."""
    assert log_line(line) == shown
