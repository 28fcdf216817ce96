"""The runtime image: no registry has the default one, so a document or its repository must name it."""

from __future__ import annotations

from collections.abc import Iterable

from sparkgen import contract
from sparkgen.errors import Path, Position, Problem, Severity

UNNAMED = "SG020"


def unnamed(position: Position, path: Path) -> Problem:
    """Returns SG020 for a document without the field `path`, which would be at `position`."""
    return Problem(
        UNNAMED,
        Severity.WARNING,
        position,
        path,
        "no runtime image is set, and no registry has the default one",
        next_step=f"sparkgen image build --push REGISTRY/sparkgen-runtime:{contract.VERSION}, and set it as "
        "runtimeImage, here or in .sparkgen.yaml",
    )


def once(problems: Iterable[Problem]) -> list[Problem]:
    """Returns the problems with only the first SG020, or without any SG020 if there is an error.

    One line in `.sparkgen.yaml` fixes SG020 for all documents; and errors must be fixed before an image is
    pulled.
    """
    every = list(problems)
    reported = any(problem.severity is Severity.ERROR for problem in every)
    kept = []
    for problem in every:
        if problem.code != UNNAMED or not reported:
            kept.append(problem)
        reported = reported or problem.code == UNNAMED
    return kept
