"""Text that is not YAML: where the mistake is, and what to do about it."""

from __future__ import annotations

import pytest

from sparkgen.document.parse import parse
from sparkgen.errors import Problem

OURS, THEIRS = "<<<<<<< HEAD", ">>>>>>> topic"
CASES = {
    # text: (code, place, a part of the message, a part of the next step)
    "spec:\n  image:foo\n  type: Python\n": ("SG002", "2:9", "a space is missing", "write `image: foo`"),
    "image:foo\ntype: Python\n": ("SG002", "1:7", "a space is missing", "write `image: foo`"),
    "spec:\n  type: x\n  image:foo\n": ("SG002", "3:9", "a space is missing", "write `image: foo`"),
    "a: b: c\n": ("SG002", "1:4", "a string with `: `", 'put it in quotes: "b: c"'),
    "s:\n  - k: x=1 note: z # why\n": ("SG002", "2:8", "a string with `: `", 'quotes: "x=1 note: z"'),
    'a: say "b": c\n': ("SG002", "1:4", "a string with `: `", "put it in quotes: 'say \"b\": c'"),
    "a: [b:]\n": ("SG002", "1:", "", ""),
    "s:\n  cores: 1\n    memory: 2g\n": ("SG002", "3:5", "indented more than line 2", "same indentation"),
    "s:\n  cores: 1\n\n  # why\n    memory: 2g\n": (
        "SG002",
        "5:5",
        "indented more than line 2",
        "same indentation",
    ),
    "s:\n    cores: 1\n  memory: 2g\n": ("SG002", "3:3", "indentation of this line", "same column"),
    "spec\n  driver: 1\n": ("SG002", "1:1", "the colon is missing", "write `spec:`"),
    "s:\n  driver\n    cores: 1\n": ("SG002", "2:3", "the colon is missing", "write `driver:`"),
    "s:\n  type: x\n  driver\n  cores: 1\n": ("SG002", "3:3", "the colon is missing", "write `driver:`"),
    "a: 1\nfoo\n": ("SG002", "2:1", "the colon is missing", "write `foo:`"),
    "a: 1\n" + "x" * 1100 + ": 1\n": ("SG002", "2:1", "too long for a key", "1024"),
    'a: "foo\nb: 1\n': ("SG002", "1:4", 'the quote " that opens here is never closed', "close it"),
    "a: 'foo\nb: 1\n": ("SG002", "1:4", "the quote ' that opens here is never closed", "close it"),
    'a: "foo\nb: "x"\n': ("SG002", "1:4", "is closed only on line 2", "close it"),
    "a: 'it's'\nb: 1\n": ("SG002", "1:8", "text follows the closing quote", "write '' for a '"),
    'a: "x" z\n': ("SG002", "1:8", "text follows the closing quote", 'write \\" for a "'),
    'a: "x": z\n': ("SG002", "1:7", "text follows the closing quote", "quote the value as a whole"),
    "a: [1, 2\nb: 1\n": ("SG002", "1:4", "`[` that opens here is never closed", "close it with `]`"),
    "a: [1, 2\n": ("SG002", "1:4", "`[` that opens here is never closed", "close it with `]`"),
    "a: {x: 1\nb: 1\n": ("SG002", "1:4", "`{` that opens here is never closed", "close it with `}`"),
    "a: ['b' 1]\n": ("SG002", "1:9", "a comma or `]` is missing", "put a comma"),
    "a: [1]]\n": ("SG002", "1:7", "`]` closes a bracket that was never opened", "delete it"),
    "a: 1\n}\n": ("SG002", "2:1", "`}` closes a bracket that was never opened", "delete it"),
    f"a: 1\n{OURS}\nb: 1\n=======\nb: 2\n{THEIRS}\n": ("SG002", "2:1", "unresolved merge", "keep one side"),
    f"{OURS}\na: 1\n=======\na: 2\n{THEIRS}\n": ("SG002", "1:1", "unresolved merge", "keep one side"),
    f"s:\n{OURS}\n  b: 1\n=======\n  b: 2\n{THEIRS}\n": ("SG002", "2:1", "unresolved merge", "`>>>>>>>`"),
    f"a: 1\n=======\nb: 2\n{THEIRS}\n": ("SG002", "2:1", "unresolved merge", "keep one side"),
    "a: {{ .Values.x }}\n": ("SG002", "1:4", "`{{`", "does not expand templates"),
    "a: {{ x }}-suffix\nb: 1\n": ("SG002", "1:4", "`{{`", "does not expand templates"),
    "{{- if .Values.x }}\na: 1\n": ("SG002", "1:1", "`{{`", "does not expand templates"),
    "a: {% x %}\n": ("SG002", "1:4", "`{%`", "does not expand templates"),
    "a: *\n": ("SG002", "1:4", "must not start with `*`", 'quotes: "*"'),
    "a: *.jar\n": ("SG002", "1:4", "must not start with `*`", 'quotes: "*.jar"'),
    "a: */5 * * * *  # every\n": ("SG002", "1:4", "must not start with `*`", 'quotes: "*/5 * * * *"'),
    "a: *foo\n": ("SG002", "1:4", "there is no `&foo` before it", '"*foo"'),
    "a: @foo\n": ("SG002", "1:4", "must not start with `@`", 'quotes: "@foo"'),
    "a: `foo`\n": ("SG002", "1:4", "must not start with ```", 'quotes: "`foo`"'),
    "a: %foo\n": ("SG002", "1:4", "must not start with `%`", 'quotes: "%foo"'),
    "a: & b\n": ("SG002", "1:4", "must not start with `&`", 'quotes: "& b"'),
    "a: !foo!bar\n": ("SG002", "1:4", "must not start with `!`", 'quotes: "!foo!bar"'),
    "a: !foo bar\n": ("SG002", "1:4", "the tag !foo", "delete the tag"),
    "a: - b\n": ("SG002", "1:4", "a list cannot start on the line of its key", "next line"),
    "a: 1\n- b\n": ("SG002", "2:1", "a list item is among the keys", "indent it"),
    "a:\n  b: 1\n  - c\n": ("SG002", "3:3", "a list item is among the keys", "indent it"),
    "a:\n  - b\n  c: 1\n": ("SG002", "3:3", "same column as the `-`", "two more spaces"),
    "a:\n  - b\n c: 1\n": ("SG002", "3:2", "indentation of this line", "same column"),
    'a: "\\d+"\n': ("SG002", "1:4", "a backslash in double quotes", "single quotes"),
    'a: "C:\\Users"\n': ("SG002", "1:4", "a backslash in double quotes", "single quotes"),
    'a: "\\ud83d\\ude00"\n': ("SG002", "1:4", "half of a surrogate pair", "the character itself"),
    "a: |foo\n  x\n": ("SG002", "1:4", "`|` starts a string on the lines below", '"|foo"'),
    "a: >=1\n": ("SG002", "1:4", "`>` starts a string on the lines below", '">=1"'),
    "a: [,]\n": ("SG002", "1:5", "a value is missing before `,`", "write the value"),
    "a: , b\n": ("SG002", "1:4", "a value is missing before `,`", "quote it"),
    "a: 1\n...\nb: 2\n": ("SG002", "3:1", "text follows the end of the document", "with `---`"),
    "  a: 1\nb: 2\n": ("SG002", "2:1", "text follows the end of the document", "same indentation"),
    "%YAML 2.0\n---\na: 1\n": ("SG002", "1:1", "a line that starts with `%`", "delete the line"),
    "a:\n\tb: 1\n": ("SG004", "2:1", "a tab", "spaces"),
    "a:\n  b: 1\n\tc: 2\n": ("SG004", "3:1", "a tab", "spaces"),
    "a:\n  b:\n  \tc: 1\n": ("SG004", "3:3", "a tab", "spaces"),
    "a:\n  - x\n\t- z\n": ("SG004", "3:1", "a tab", "spaces"),
    "a: b\n\tc\n": ("SG004", "2:1", "a tab", "spaces"),
    "a: |\n\tfoo\n": ("SG004", "2:1", "a tab", "spaces"),
    "\ta: 1\n": ("SG004", "1:1", "a tab", "spaces"),
    "a:\n  -\tb: 1\n    c: 2\n": ("SG004", "2:4", "a tab", "spaces"),
}
LIBYAML_ONLY = {"a: [b:]\n", 'a: "\\ud83d\\ude00"\n'}
"""PyYAML's own parser reads it."""


def problems(text: str) -> list[Problem]:
    """Everything that is wrong with a text."""
    found = parse(text.encode(), "f")
    return [*(problem for one in found.documents for problem in one.problems), *found.problems]


@pytest.mark.parametrize("text", CASES)
def test_advice(text: str, either_parser: str) -> None:
    """One problem, at the place of the mistake, that says what to do, whichever parser found it."""
    if either_parser == "pure" and text in LIBYAML_ONLY:
        return
    (problem,) = problems(text)
    code, place, message, step = CASES[text]
    assert problem.code == code
    assert str(problem.position).startswith(f"f:{place}")
    assert message in problem.message
    assert step in problem.next_step


@pytest.mark.parametrize("text", CASES)
def test_place_is_in_the_text(text: str, either_parser: str) -> None:
    """The line exists, and the column is at most one behind its end."""
    for problem in problems(text):
        line = text.split("\n")[problem.position.line - 1]
        assert 1 <= problem.position.column <= len(line) + 1


def test_tabs_that_yaml_allows() -> None:
    """A tab behind a colon, before a comment, in quotes and in a block text is no problem."""
    assert problems('a:\t1\nb: 2\t# c\nd: "e\tf"\ng: |\n  h\ti\n') == []


def test_long_lines_are_cut() -> None:
    """What was found is shown shortened, whatever its length."""
    (problem,) = problems("a: " + "b: " * 100_000)
    assert len(problem.found) <= 60
    assert len(problem.next_step) <= 120
