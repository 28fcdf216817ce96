"""Ignore comments: what they say, which line they are for, and what they do to warnings."""

from __future__ import annotations

import pytest

from sparkgen.document.comments import find_ignores
from sparkgen.document.ignores import Ignore, apply_ignores
from sparkgen.document.parse import parse
from sparkgen.errors import Position, Problem, Severity


def found(text: str) -> tuple[tuple[Ignore, ...], tuple[Problem, ...]]:
    """The comments of a file f."""
    return find_ignores(parse(text.encode(), "f"), "f")


def warning(line: int, code: str = "SG117", severity: Severity = Severity.WARNING) -> Problem:
    """A problem in a line of f."""
    return Problem(code, severity, Position("f", line, 3), (), "something")


@pytest.mark.parametrize(
    ("text", "codes", "reason", "line"),
    [
        ("a: 1 # sparkgen: ignore SG117 -- a test", ("SG117",), "a test", 1),
        ("a: 1 # sparkgen: ignore SG117, SG118 -- a test", ("SG117", "SG118"), "a test", 1),
        ("a: 1 #sparkgen:ignore SG117,SG118 -- a -- test  ", ("SG117", "SG118"), "a -- test", 1),
        ("# sparkgen: ignore SG117 -- x\na: 1", ("SG117",), "x", 2),
        ("a:\n  # sparkgen: ignore SG117 -- x\n  b: 1", ("SG117",), "x", 3),
        ("# sparkgen: ignore SG117 -- x\n# and more\n\na: 1", ("SG117",), "x", 4),
        ("a: 1 # why # sparkgen: ignore SG117 -- x", ("SG117",), "x", 1),
        ("a: 'b' # sparkgen: ignore SG117 -- it's", ("SG117",), "it's", 1),
        ("a: | # sparkgen: ignore SG117 -- x\n  text\n", ("SG117",), "x", 1),
        ("a: |\n  text\n# sparkgen: ignore SG117 -- x\nb: 1\n", ("SG117",), "x", 4),
        ('a: "b\n  c" # sparkgen: ignore SG117 -- x\n', ("SG117",), "x", 2),
        ("a: [b, # sparkgen: ignore SG117 -- x\n  c]\n", ("SG117",), "x", 1),
        ("a: 1\r\n# sparkgen: ignore SG117 -- x\r\nb: 1\r\n", ("SG117",), "x", 3),
        ("a: é # sparkgen: ignore SG117 -- ünïcode", ("SG117",), "ünïcode", 1),
        ("a: 1\n# sparkgen: ignore SG117 -- at the end\n", ("SG117",), "at the end", 3),
    ],
)
def test_comment(text: str, codes: tuple[str, ...], reason: str, line: int) -> None:
    """Codes, reason, and the line: its own, or the next with content if the comment stands alone."""
    (ignore,), problems = found(text)
    assert (ignore.codes, ignore.reason, ignore.line) == (codes, reason, line)
    assert problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "a: 'x # sparkgen: ignore SG117 -- x'",
        'a: "x\n  # sparkgen: ignore SG117 -- x"',
        "a: |\n  # sparkgen: ignore SG117 -- x\n  b\n",
        "a: >-\n  b\n\n  # sparkgen: ignore SG117 -- x\n",
        "a: b# sparkgen: ignore SG117 -- x",
        "a: 1 # see the sparkgen: manual",
        "apiVersion: sparkgen.dev/v1alpha1 # sparkgen",
    ],
)
def test_no_comment(text: str) -> None:
    """Text in quotes or in a block is a value; other comments are somebody else's."""
    assert found(text) == ((), ())


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore SG117", "has no reason"),
        ("ignore SG117 --", "cannot be parsed"),
        ("ignore SG117 -- ", "cannot be parsed"),
        ("ignore SG117 - reason", "has no reason"),
        ("ignore -- reason", "does not name the warning"),
        ("ignore", "does not name the warning"),
        ("ignore all -- reason", "does not name the warning"),
        ("ignore SG117 SG118 -- reason", "cannot be parsed"),
        ("ingore SG117 -- reason", "starts with"),
        ("", "starts with"),
        ("disable SG117 -- reason", "starts with"),
    ],
)
def test_malformed(comment: str, message: str) -> None:
    """An SG018 warning at the comment, with the right form as the next step."""
    ignores, (problem,) = found(f"a: 1\nb: 2 # sparkgen: {comment}\n")
    assert ignores == ()
    assert (problem.code, problem.severity, problem.position) == (
        "SG018",
        Severity.WARNING,
        Position("f", 2, 6),
    )
    assert message in problem.message
    assert "# sparkgen: ignore SG117" in problem.next_step


def test_apply() -> None:
    """A warning of that code in that line of that file is ignored, and nothing else."""
    (ignore,), _ = found("a: 1 # sparkgen: ignore SG117 -- x")
    others = [
        warning(2),
        warning(1, "SG118"),
        Problem("SG117", Severity.WARNING, Position("g", 1, 1), (), "m"),
    ]
    assert apply_ignores([warning(1), *others], [ignore]) == (tuple(others), (warning(1),))


def test_apply_to_several() -> None:
    """One comment ignores all warnings of its codes in its line."""
    (ignore,), _ = found("a: 1 # sparkgen: ignore SG117, SG118 -- x")
    both = (warning(1), warning(1), warning(1, "SG118"))
    assert apply_ignores(both, [ignore]) == ((), both)


def test_errors_stay() -> None:
    """An error is not ignored, and the comment that tries is told so."""
    (ignore,), _ = found("a: 1 # sparkgen: ignore SG012 -- x")
    error = warning(1, "SG012", Severity.ERROR)
    (first, second), ignored = apply_ignores([error], [ignore])
    assert first == error
    assert (second.code, second.severity, second.position) == ("SG018", Severity.WARNING, ignore.position)
    assert "SG012 is an error" in second.message
    assert ignored == ()


def test_unused() -> None:
    """A comment that nothing needs any more is a warning, once for each code."""
    (ignore,), _ = found("a: 1 # sparkgen: ignore SG117, SG118 -- x")
    kept, ignored = apply_ignores([warning(1, "SG118")], [ignore])
    assert [problem.message for problem in kept] == ["there is no SG117 on line 1 to ignore"]
    assert ignored == (warning(1, "SG118"),)


def test_unused_is_not_said_after_an_error() -> None:
    """After an error later checks did not run, so that nobody knows whether the comment is needed."""
    (ignore,), _ = found("a: 1 # sparkgen: ignore SG117 -- x")
    error = warning(9, "SG012", Severity.ERROR)
    assert apply_ignores([error], [ignore]) == ((error,), ())


def test_unused_is_not_said_of_an_overlay() -> None:
    """A comment in an overlay may be for another document."""
    shared = Ignore(("SG117",), "x", 1, Position("o", 1, 5), shared=True)
    assert apply_ignores([], [shared]) == ((), ())
