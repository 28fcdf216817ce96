"""What a change of a document would do to its next run, predicted by a replay of an earlier one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sparkgen.errors import SparkgenError, path_text
from sparkgen.eventlog import read_recording
from sparkgen.eventlog.files import ROLLING
from sparkgen.model.properties import TYPED_PROPERTIES
from sparkgen.whatif.candidates import ANSWERED, Candidate, asked_properties
from sparkgen.whatif.configuration import is_task_resource
from sparkgen.whatif.evidence import application_of, application_of_id
from sparkgen.whatif.prices import Prices
from sparkgen.whatif.study import Question, Run, price, study

MOST_LOGS = 100_000
"""Entries of a folder that are looked at to find the newest log of an application."""
_ANSWERED_PATHS = frozenset(path for path, name in TYPED_PROPERTIES.items() if name in ANSWERED)
_CODEC = re.compile(r"\.(?:gz|lz4|lzf|snappy|zstd|zip)$")
_NAMES_ALONE = frozenset({"labels", "annotations", "run", "timeToLiveSeconds", "suspend", "schedule"})
"""Fields of a spec that change nothing in how a run works."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A predicted run. `cost`: on demand, in the currency of the prices; without prices, core-hours.

    `wall_range`: the least and the most wall time, if it is not certain, as for executors of another size.
    """

    wall_seconds: float
    executor_seconds: float
    cost: float
    wall_range: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction from one log. `log`: "" if there is none.

    `before`, `after`: None without a number; then `reason` says why. `wall_error`: the relative error in wall
    time of the replay of the recorded run: 0.1 is 10 % too long. `currency`: "" for core-hours.
    `not_predicted`: changed fields whose effect a replay does not know.
    """

    log: str
    before: Figures | None = None
    after: Figures | None = None
    wall_error: float | None = None
    currency: str = ""
    not_predicted: tuple[str, ...] = ()
    reason: str = ""

    @property
    def cost_increase(self) -> float | None:
        """The relative change of the cost: 0.1 is 10 % more; None if it is not known."""
        if self.before is None or self.after is None or self.before.cost <= 0:
            return None
        return self.after.cost / self.before.cost - 1


def predict(
    log: str, old: Mapping[str, Any] | None, new: Mapping[str, Any], prices: Prices | None
) -> Prediction:
    """Predict what a new spec changes. `old`: the spec before; None: as the run was recorded.

    A log that cannot be read or replayed, and a change of which a replay knows nothing, have a reason.
    """
    unknown = tuple(sorted(path_text(("spec", *path)) for path in _unanswered(old or new, new)))
    before, after = _candidates(old, new)
    if old is not None and asked_properties(old) == asked_properties(new):
        return Prediction(log, not_predicted=unknown, reason="a replay does not know what this change does")
    try:
        found = study(read_recording(log), Question([before, after], prices=prices))
    except SparkgenError as error:
        return Prediction(log, not_predicted=unknown, reason=str(error))
    runs = [run for run in found.runs if run.candidate in (before, after)]
    stopped = next((run.stopped for run in runs if run.outcome is None), "")
    if stopped:
        return Prediction(log, not_predicted=unknown, reason=stopped)
    one, other = map(_figures, runs)
    return Prediction(log, one, other, found.wall_error, found.currency, unknown)


def _candidates(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> tuple[Candidate, Candidate]:
    """The configurations before and after a change; what it takes away is not as recorded, either."""
    if old is None:
        return Candidate("before", {}), Candidate("after", new)
    gone = asked_properties(old).keys() - asked_properties(new).keys()
    come = asked_properties(new).keys() - asked_properties(old).keys()
    return Candidate("before", old, removed=frozenset(come)), Candidate("after", new, removed=frozenset(gone))


def _figures(run: Run) -> Figures:
    assert run.outcome is not None  # noqa: S101 - the caller has looked
    return Figures(run.outcome.wall, run.outcome.executor_seconds, price(run), run.span)


def _unanswered(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The paths of the sections or fields that differ, and whose effect a replay does not know."""
    for key in sorted({*old, *new} - _NAMES_ALONE):
        one, other = old.get(key), new.get(key)
        if one == other or key == "shuffleService":
            continue
        if not isinstance(one or {}, dict) or not isinstance(other or {}, dict):
            yield (key,)
            continue
        for name in sorted({*(one or {}), *(other or {})}):
            known = name in ANSWERED or is_task_resource(name) if key == "sparkConf" else False
            same = (one or {}).get(name) == (other or {}).get(name)
            if not (same or known or (key, name) in _ANSWERED_PATHS):
                yield key, name


def newest_logs(places: Iterable[str]) -> dict[str, str]:
    """Returns the newest log of each application in files, and in folders with logs.

    In a folder, the name of a log decides, which is the id of its run. Raises SparkgenError for a file that
    cannot be read.
    """
    found: dict[str, tuple[float, str]] = {}
    for place in places:
        for application, seen in _in_folder(place) if _is_folder(Path(place)) else _in_file(place):
            found[application] = max(seen, found.get(application, seen))
    return {application: log for application, (_, log) in found.items() if application}


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(ROLLING)


def _in_folder(folder: str) -> Iterator[tuple[str, tuple[float, str]]]:
    with os.scandir(folder) as entries:
        for entry in islice(entries, MOST_LOGS):
            if application := application_of_id(_id_of(entry.name)):
                yield application, (entry.stat(follow_symlinks=False).st_mtime, entry.path)


def _in_file(log: str) -> Iterator[tuple[str, tuple[float, str]]]:
    """A log whose own name does not tell the application is read; another program's has the name it gave."""
    names = {application_of_id(_id_of(Path(log).name))} - {""}
    if not names:
        recording = read_recording(log)
        names = {application_of(recording) or recording.name}
    for name in names:
        yield name, (Path(log).stat().st_mtime, log)


def _id_of(name: str) -> str:
    """The application's id in the name of a log (Spark's EventLogFileWriter); "" for a run that goes on."""
    if name.endswith(".inprogress"):
        return ""
    return _CODEC.sub("", name.removeprefix(ROLLING))
