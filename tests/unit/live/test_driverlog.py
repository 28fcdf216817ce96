"""A driver's log is written by user code, too: whatever stands in it, it is read in a moment, and once."""

from __future__ import annotations

import time

import pytest

from sparkgen.live.driverlog import failure_in, telling_lines

LONGEST = 200_000
"""Characters of a line; status reads up to 300 lines of 16 KiB."""
BEGINNINGS = (
    *(" ERROR ", "Error: sparkgen", "ExecutorLostFailure (", "Lost task ", "stage failure: "),
    *("NoSuchMethodError ", "NoClassDefFoundError: ", "Failed to load class a", "java.lang.OutOfMemoryError"),
    *("Path does not exist: a", "FileNotFoundException: File ", "Caused by: ", "a.a", "aError", "a.Error: "),
    *("KrbException ", "LoginException", "Token1 ", "TokenToken", "TGT ", "User: a is not allowed to "),
    *("Exception in thread x FileNotFoundException: a", "FileNotFoundException: a"),
    *('Exception in thread "', "for principal: a", "can't open file '"),
)


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_line_that_begins_again_and_again_is_read_once(beginning: str) -> None:
    """It took minutes for each pattern that skips a part of a line: its square."""
    begun = time.monotonic()
    failure_in(beginning * (LONGEST // len(beginning)))
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("rest", ["a" * LONGEST, "a " * (LONGEST // 2), "FileNotFoundException: " * 9_000])
def test_a_file_that_is_missing_is_read_once(rest: str) -> None:
    """Its line may be of any length, and frames may follow or not."""
    begun = time.monotonic()
    for frames in ("", "\n", "\n\tat a.b\n" * 1_000):
        failure_in(f"Exception in thread x FileNotFoundException: {rest}{frames}")
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    ("log", "code", "words"),
    [
        ("26/01/01 ERROR Boot: sparkgen: the jar ERROR x sparkgen: y", "", "the jar ERROR x sparkgen: y"),
        ("a\nError: sparkgen: no", "", "no"),
        ("Lost task 1.0: x: java.lang.OutOfMemoryError: Java heap", "executor-memory", "Java heap"),
        ("x ExecutorLostFailure (executor 1 exited) Reason: gone", "executors-lost", "gone"),
        ("x\njava.lang.NoSuchMethodError: 'scala.Tuple'", "scala", "scala.Tuple"),
        ("KrbException: x\nLoginException: a timed out", "login", "cannot reach a KDC"),
        ("InvalidToken: token (x) is expired", "login", "tokens have expired"),
        ("TGT of x expired", "login", "tickets of"),
    ],
)
def test_a_line_still_says_what_it_said(log: str, code: str, words: str) -> None:
    """The patterns begin at the same place of a line as before."""
    found = failure_in(log)
    assert found is not None
    assert words in found.cause
    assert code in ("", found.code)


def test_a_version_of_java_without_end_is_none() -> None:
    """Its digits are no number for Python."""
    line = (
        "UnsupportedClassVersionError: A has been compiled by a more recent version of the Java Runtime "
        "(class file version {}.0), this version of the Java Runtime only recognizes class file versions "
        "up to 61.0"
    )
    assert failure_in(line.format("9" * 5000)) is not None
    assert failure_in(line.format(65)).cause.startswith("A was compiled for Java 21")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        ("", []),
        ("26/01/01 10:00:00 INFO X: a\nhello\n\nbye\n26/01/01 10:00:00 INFO X: b", ["hello", "bye"]),
        ("\n".join("abcdefgh"), list("defgh")),
        ("ValueError: a\nb\nKeyError: 'c'\nd", ["KeyError: 'c'"]),
        (
            'x\nException in thread "main" java.lang.A: b\n\tat c\nCaused by: java.io.IOException: d\n\tat e',
            ['Exception in thread "main" java.lang.A: b', "\tat c", "Caused by: java.io.IOException: d"],
        ),
        ("26/01/01 10:00:00 ERROR X: lost", ["26/01/01 10:00:00 ERROR X: lost"]),
        ("AError: " + "x" * 1000, ["AError: " + "x" * 289 + "..."]),
    ],
)
def test_the_lines_that_tell_most(log: str, lines: list[str]) -> None:
    """The last error with its trace, or the last words of the program."""
    assert telling_lines(log) == lines
