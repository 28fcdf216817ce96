"""What an import has found in its inputs, before it converts the applications."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sparkgen.document import Node
from sparkgen.errors import Position, Problem
from sparkgen.importing.budget import Beyond
from sparkgen.importing.commands import Word
from sparkgen.importing.convert import JOB, Context, job_document, not_converted
from sparkgen.importing.emr import Unreadable, job_of
from sparkgen.importing.emr_commands import request_of
from sparkgen.importing.imported import Imported, LeftAlone

_MOST_VARIABLES = 200
"""The most expansions that a command for a job may have: each is searched for in all of its texts."""
_STEP = "write its entry point and its sparkSubmitParameters as a spark-submit command, and import that"


@dataclass(slots=True)
class Gathered:
    """What was found so far. `work`: functions that each convert an application, in their order.

    `requests`: files that are requests of EMR on EKS; those that a script names are read with the script.
    """

    context: Context
    work: list[Callable[[], Imported | LeftAlone]] = field(default_factory=list)
    left_alone: list[LeftAlone] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    requests: list[Node] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of applications, other documents and requests so far."""
        return len(self.work) + len(self.left_alone) + len(self.requests)

    def add_command(self, words: Sequence[Word], file: str) -> None:
        """Add the job that a command of a script starts; report it as not converted if it cannot be read."""
        variables = tuple(dict.fromkeys(name for word in words for name in word.variables))
        place = Position(file, words[0].line, words[0].column)
        if len(variables) > _MOST_VARIABLES:
            self._refuse(place, f"it has more than {_MOST_VARIABLES} variables of the shell")
            return
        try:
            request = request_of(words, file, self.context.files)
        except Unreadable as error:
            self._refuse(place, str(error))
        except Beyond:
            self.left_alone.append(not_converted(JOB, place))
        else:
            self._add_request(request, place, variables)

    def add_requests(self) -> None:
        """Add the jobs in request files that no script names."""
        for request in self.requests:
            if os.path.normpath(request.position.file) not in self.context.files.used:
                self._add_request(request, request.position, ())
        self.requests.clear()

    def _add_request(self, request: Node, place: Position, variables: Sequence[str]) -> None:
        try:
            job = job_of(request, variables)
        except Unreadable as error:
            self._refuse(place, str(error))
        else:
            self.work.append(functools.partial(job_document, job, place, self.context))

    def _refuse(self, place: Position, reason: str) -> None:
        self.left_alone.append(LeftAlone(JOB, "", place, reason, _STEP, finding=True))
