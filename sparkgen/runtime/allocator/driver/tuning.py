"""Reads tuning.json (docs/design/contract.md) as settings, and follows the file while the application runs.

Kubernetes changes a ConfigMap volume by swapping a symbolic link. So the whole file is read by its path each
time: it is a few hundred bytes, and a watch on the file itself would see no change.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sparkgen import contract
from sparkgen.jsonvalue import decode
from sparkgen.runtime.allocator.values.settings import AllocationSettings, HostPortRange, MemoryRecovery, Pool
from sparkgen.runtime.files import replace_file

GREATEST = 2**31 - 1
"""The largest number of anything: Spark reads these numbers into an int."""
LONGEST = 2**63 - 1
"""The longest duration, in milliseconds: Spark reads durations into a long, and documents allow as much."""


class BadTuning(Exception):
    """A tuning.json that cannot be used. `problems` has the sentences for all its problems."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ParsedTuning:
    """The content of tuning.json. `expires_at`: no new run may start from then on; it has a time zone."""

    settings: AllocationSettings
    expires_at: datetime | None = None


def parse(text: str) -> ParsedTuning:
    """The content of tuning.json as values. Raises BadTuning with every problem.

    Ignores keys that this version does not know: `run.history` is for other programs, and an older allocator
    goes on with the keys that it knows.
    """
    try:
        document = decode(text)
    except ValueError as error:
        raise BadTuning((f"it is not JSON ({error})",)) from None
    if not isinstance(document, dict):
        raise BadTuning(("it must be an object with the key version",))
    if document.get("version") != contract.VERSION:
        raise BadTuning(
            (
                f"its version is {document.get('version')!r}, but this runtime image reads version "
                f"{contract.VERSION}; render the application with the release of sparkgen that this image "
                "belongs to",
            )
        )
    reader = _Reader()
    settings = _settings(
        reader.section(document, "executors"), reader.section(document, "allocation"), reader
    )
    expires_at = reader.moment(reader.section(document, "run"), "run", "expiresAt")
    if reader.problems:
        raise BadTuning(tuple(reader.problems))
    return ParsedTuning(settings, expires_at)


def _settings(
    executors: Mapping[str, Any], allocation: Mapping[str, Any], reader: _Reader
) -> AllocationSettings:
    defaults = AllocationSettings()

    def bound(name: str) -> int | None:
        return reader.number(executors, "executors", name, 0)

    def limit(name: str, least: int) -> int | None:
        return reader.number(allocation, "allocation", name, least)

    def milliseconds(name: str) -> int | None:
        return reader.number(allocation, "allocation", name, 0, LONGEST)

    def seconds(name: str, default: float) -> float:
        given = milliseconds(name)
        return default if given is None else given / 1000

    instances, minimum, initial = bound("instances"), bound("minimum") or 0, bound("initial") or 0
    maximum = bound("maximum")
    if maximum is not None and maximum < minimum:
        reader.problems.append(
            f"executors.maximum ({maximum}) must not be less than executors.minimum ({minimum})"
        )
    pending = milliseconds("pendingTimeoutMs")
    title = "allocation.locality"
    locality = reader.section(allocation, "locality", title)
    return AllocationSettings(
        dynamic="instances" not in executors,
        instances=defaults.instances if instances is None else instances,
        minimum=minimum,
        initial=max(minimum, initial),
        maximum=maximum,
        batch_size=limit("batchSize", 1),
        batch_delay=seconds("batchDelayMs", defaults.batch_delay),
        max_pending=limit("maxPendingPods", 1),
        max_unschedulable=limit("maxUnschedulablePods", 1) or defaults.max_unschedulable,
        wait_for_registration=reader.switch(allocation, "allocation", "waitForRegistration"),
        executor_timeout=seconds("executorTimeoutMs", defaults.executor_timeout),
        pending_timeout=None if pending is None else pending / 1000,
        pool_timeout=seconds("poolTimeoutMs", defaults.pool_timeout),
        max_failures=limit("maxExecutorFailures", 0),
        failures_interval=seconds("executorFailuresValidityIntervalMs", defaults.failures_interval),
        memory_recovery=_memory_recovery(allocation, reader),
        hold=reader.switch(allocation, "allocation", "hold"),
        locality=reader.switch(locality, title, "enabled", default=defaults.locality),
        data_hosts=reader.texts(locality, title, "hosts"),
    )


def _memory_recovery(allocation: Mapping[str, Any], reader: _Reader) -> MemoryRecovery | None:
    if allocation.get("memoryOverheadRecovery") is None:
        return None
    title = "allocation.memoryOverheadRecovery"
    section = reader.section(allocation, "memoryOverheadRecovery", title)
    step = reader.number(section, title, "stepMiB", 0, LONGEST)
    maximum = reader.number(section, title, "maxIncreaseMiB", 0, LONGEST)
    return MemoryRecovery(step or 0, maximum or 0)


@dataclass(slots=True)
class _Reader:
    """Reads fields of the document, and collects their problems."""

    problems: list[str] = field(default_factory=list)

    def section(self, document: Mapping[str, Any], name: str, title: str = "") -> Mapping[str, Any]:
        """An object of the document, or of a section of it; an empty one if it is absent."""
        value = document.get(name, {})
        if isinstance(value, dict):
            return value
        self.problems.append(f"{title or name} must be an object, not {value!r}")
        return {}

    def number(
        self, section: Mapping[str, Any], title: str, name: str, least: int, most: int = GREATEST
    ) -> int | None:
        """A whole number of a section; None if it is absent."""
        value = section.get(name)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.problems.append(f"{title}.{name} must be a whole number from {least} to {most}, not {value!r}")
        return None

    def switch(self, section: Mapping[str, Any], title: str, name: str, *, default: bool = False) -> bool:
        """A switch of a section; `default` if it is absent."""
        value = section.get(name)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.problems.append(f"{title}.{name} must be true or false, not {value!r}")
        return default

    def texts(self, section: Mapping[str, Any], title: str, name: str) -> tuple[tuple[str, str], ...]:
        """The entries of an object of strings, sorted by name; none if it is absent."""
        value = section.get(name)
        if value is None:
            return ()
        if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
            return tuple(sorted(value.items()))
        self.problems.append(f"{title}.{name} must be an object whose values are strings, not {value!r}")
        return ()

    def moment(self, section: Mapping[str, Any], title: str, name: str) -> datetime | None:
        """A time with its zone (RFC 3339); None if it is absent."""
        value = section.get(name)
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            moment = None
        if moment is None or moment.tzinfo is None:
            self.problems.append(
                f'{title}.{name} must be a time such as "2026-03-01T06:00:00Z", not {value!r}'
            )
            return None
        return moment


def read(path: Path) -> ParsedTuning:
    """The tuning in a file. Raises BadTuning, whose text does not name the file."""
    return parse(_text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadTuning((f"it cannot be read ({error})",)) from None


@dataclass(frozen=True, slots=True)
class TuningChange:
    """A change of the file: new settings, or it became unusable (`bad` says why)."""

    settings: AllocationSettings
    bad: str | None = None


@dataclass(frozen=True, slots=True)
class FixedSettings:
    """The settings that come from the template, and that no tuning changes (see AllocationSettings)."""

    grace: float
    host_ports: HostPortRange | None = None
    gang: int = 0
    pools: tuple[Pool, ...] = ()


class TuningFile:
    """The settings of a file, as they were when it could last be read, and those of the template.

    The last valid text is saved in `kept`, so that a bad edit does not stop an allocator that restarts.
    """

    def __init__(self, path: Path, fixed: FixedSettings, kept: Path) -> None:
        """Read the file for the first time. Raises BadTuning if that fails, and no valid text is saved."""
        self._path = path
        self._fixed = fixed
        self._kept = kept
        self._read_last: str | None = None
        self._bad: str | None = None
        try:
            self.settings = self._read(path)
        except BadTuning:
            if not kept.exists():
                raise
            self.settings = self._read(kept)
            self._read_last = None

    def look(self) -> TuningChange | None:
        """Read the file again. Returns None if nothing is new. A bad edit leaves the settings unchanged."""
        before = self.settings
        try:
            self.settings = self._read(self._path)
        except BadTuning as error:
            news = str(error) != self._bad
            self._bad, self._read_last = str(error), None
            return TuningChange(before, str(error)) if news else None
        fixed, self._bad = self._bad is not None, None
        return TuningChange(self.settings) if fixed or self.settings != before else None

    def _read(self, path: Path) -> AllocationSettings:
        text = _text(path)
        if text == self._read_last:
            return self.settings
        fixed = self._fixed
        settings = replace(
            parse(text).settings,
            grace=fixed.grace,
            host_ports=fixed.host_ports,
            gang=fixed.gang,
            pools=fixed.pools,
        )
        self._read_last = text
        if path != self._kept:
            with contextlib.suppress(OSError):  # only a restart would miss it
                replace_file(self._kept, text)
        return settings
