"""What goes wrong, as values: a problem in a document has a place, a reason and a next step.

One type (`Problem`) travels from every checker to every report. Exit codes: 0 ok, 1 problems found,
2 wrong usage or an internal error.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""Where a value stands in a document: keys and list indexes, e.g. ("spec", "volumes", 0, "name")."""


class Severity(enum.Enum):
    """How bad a problem is: an error stops a render, a warning does not, and an info is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in an input: `file` as the user named it, `line` and `column` counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, said once: where, what was found, what is allowed and what to do."""

    code: str
    severity: Severity
    position: Position
    path: Path
    message: str
    found: str = ""
    allowed: str = ""
    next_step: str = ""

    @property
    def sort_key(self) -> tuple[Position, str, str, str]:
        """Problems are shown in the order of the text they are about."""
        return (self.position, self.code, path_text(self.path), self.message)


LONGEST_KEY = 320
"""Characters of a key in a path as people write it; Kubernetes' own keys have up to 317."""
LONGEST_PATH = 1_000
"""Characters of such a path, half of them from its end."""


def key_text(key: str) -> str:
    """A key of a document, shortened if it is long."""
    return key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}..."


def path_text(path: Path) -> str:
    """A path as people write it: `spec.driver.volumeMounts[0].name`; the document itself is ``.``.

    What is long is shortened: each problem of a mapping has its path, so one key might fill gigabytes.
    """
    text = ""
    for one in path:
        part = one if isinstance(one, int) else key_text(one)
        if isinstance(part, int):
            text += f"[{part}]"
        elif part and all(char.isalnum() or char in "-_" for char in part):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    if len(text) > LONGEST_PATH:
        text = f"{text[: LONGEST_PATH // 2]}...{text[-LONGEST_PATH // 2 :]}"
    return text or "."


class SparkgenError(Exception):
    """Something a person can act on: wrong usage, or an environment that does not permit the work.

    `code`: what kind of error it is, for programs; the words of Kubernetes (StatusReason) where it has one.
    """

    exit_code = 2
    code = "Invalid"


class NotFound(SparkgenError):
    """There is no application, run or log of this name."""

    code = "NotFound"


class Conflict(SparkgenError):
    """Something else is there already, or several things are."""

    code = "Conflict"


def reason_of(error: Exception) -> str:
    """Returns what an internal error says, in one line."""
    return f"{type(error).__name__}: {error}".split("\n")[0][:300]


REPORT_IT = "Please report it with the output of the same command under SPARKGEN_DEBUG=1"
"""The next step after an internal error."""
