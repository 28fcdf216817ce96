"""Problems as a JSON array, for scripts. The names of the fields are stable.

New fields may be added; existing fields are not removed or changed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sparkgen.errors import Problem, path_text
from sparkgen.terminal import escaped_json


def as_json(problems: Sequence[Problem]) -> str:
    """An array with an object per problem; ``[]`` if there are none. Lines and columns count from 1."""
    return escaped_json(json.dumps([_object(problem) for problem in problems], indent=2)) + "\n"


def _object(problem: Problem) -> dict[str, str | int]:
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "file": problem.position.file,
        "line": problem.position.line,
        "column": problem.position.column,
        "path": path_text(problem.path),
        "message": problem.message,
        "found": problem.found,
        "allowed": problem.allowed,
        "nextStep": problem.next_step,
    }
