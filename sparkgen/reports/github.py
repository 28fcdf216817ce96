"""Problems as GitHub workflow commands, which appear as annotations on the lines of a pull request.

Format: `::error file=..,line=..,col=..,title=..::message`, from GitHub's page "Workflow commands for GitHub
Actions"; the runner decodes %25, %0D and %0A everywhere, and %3A and %2C in properties.
"""

from __future__ import annotations

from collections.abc import Sequence

from sparkgen.errors import Problem, Severity, path_text
from sparkgen.terminal import visible

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def as_github(problems: Sequence[Problem]) -> str:
    """One command per problem, each on its own line."""
    return "".join(f"{_command(problem)}\n" for problem in problems)


def _command(problem: Problem) -> str:
    where = path_text(problem.path) if problem.path else ""
    properties = {
        **_place(problem),
        "title": f"{problem.code} {where}".strip(),
    }
    details = (("found", problem.found), ("allowed", problem.allowed), ("next", problem.next_step))
    lines = [problem.message, *(f"{label}: {value}" for label, value in details if value)]
    text = "\n".join(map(visible, lines))
    listed = ",".join(f"{name}={_property(visible(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[problem.severity]} {listed}::{_data(text)}"


def _place(problem: Problem) -> dict[str, str]:
    position = problem.position
    if not is_file(position.file):
        return {}
    return {"file": position.file, "line": str(position.line), "col": str(position.column)}


def is_file(name: str) -> bool:
    """Whether a position's file is a file that readers can open, and not standard input or an option."""
    return not name.startswith(("<", "--"))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
