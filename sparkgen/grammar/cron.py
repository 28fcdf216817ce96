"""Schedules as a Kubernetes CronJob reads them: "0 3 * * *", "@daily".

Source: github.com/robfig/cron/v3, ParseStandard (parser.go, spec.go), which the API server and the CronJob
controller both use, and batch/validation validateScheduleFormat, which refuses "TZ" anywhere in the text.
Five fields; names of months and days have three letters; Sunday is 0 and never 7; "N/step" means from N to
the field's largest value; "?" is "*".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sparkgen.grammar.error import GrammarError

ALLOWED = (
    'five fields (minute, hour, day of month, month, day of week), as in "30 3 * * mon-fri", '
    "or @hourly, @daily, @weekly, @monthly, @yearly"
)

_MONTHS = dict(
    zip(("jan", "feb", "mar", "apr", "may", "jun"), range(1, 7), strict=True),
    **dict(zip(("jul", "aug", "sep", "oct", "nov", "dec"), range(7, 13), strict=True)),
)
_DAYS = dict(zip(("sun", "mon", "tue", "wed", "thu", "fri", "sat"), range(7), strict=True))

DESCRIPTORS: Mapping[str, str] = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_LONGEST_GO_DURATION = 2**63 // 10**9
"""The seconds of Go's longest time.Duration, which counts nanoseconds."""

_LONGEST_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    least: int
    most: int
    names: Mapping[str, int]


FIELDS = (
    _Field("minute", 0, 59, {}),
    _Field("hour", 0, 23, {}),
    _Field("day of month", 1, 31, {}),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 6, _DAYS),
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times at which a CronJob starts: the numbers that each field allows, or `every` (seconds).

    `days_star` and `weekdays_star`: whether the field is unrestricted. If both fields are restricted, a day
    has to match only one of them (SpecSchedule.dayMatches).
    """

    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    days_star: bool = False
    weekdays_star: bool = False
    every: float | None = None

    @property
    def never(self) -> bool:
        """Whether no date matches, as with 30 February."""
        if self.every is not None:
            return False
        if not (self.minutes and self.hours and self.months):
            return True
        day_exists = any(day <= _LONGEST_MONTH_DAYS[month - 1] for day in self.days for month in self.months)
        if self.days_star or self.weekdays_star:
            return not (day_exists and self.weekdays)
        return not (day_exists or self.weekdays)


def parse(text: str) -> Schedule:
    """The schedule of a string. Raises GrammarError."""
    if "TZ" in text:
        meant = re.sub(r"^(?:CRON_)?TZ=\S*\s+", "", text)
        raise GrammarError("contains a time zone, which a CronJob refuses in its schedule", meant)
    if not text.strip():
        raise GrammarError("is empty")
    if text.startswith("@"):
        return _descriptor(text)
    fields = text.split()
    if len(fields) != len(FIELDS):
        raise GrammarError(_wrong_count(len(fields)), _without_seconds(fields))
    try:
        minutes, hours, days, months, weekdays = (
            _numbers(part, field) for part, field in zip(fields, FIELDS, strict=True)
        )
    except GrammarError as error:
        raise GrammarError(error.reason, _with_short_names(fields)) from None
    return Schedule(
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=weekdays,
        days_star=_is_star(fields[2]),
        weekdays_star=_is_star(fields[4]),
    )


def _wrong_count(count: int) -> str:
    if count in (6, 7):
        return f"has {count} fields; a CronJob needs five, without seconds or years"
    return f"has {count} field{'s' if count != 1 else ''}, but a CronJob needs five"


def _without_seconds(fields: list[str]) -> str:
    """The schedule without the first of six fields, if this is 0 (the second); "" otherwise."""
    return _if_valid(fields[1:]) if len(fields) == len(FIELDS) + 1 and fields[0] == "0" else ""


def _with_short_names(fields: list[str]) -> str:
    """The schedule with names of three letters, and 0 for Sunday instead of 7; "" if it is still invalid."""
    *others, weekdays = (
        re.sub(rf"\b({'|'.join(field.names)})[a-z]*\b", r"\1", part.lower()) if field.names else part
        for part, field in zip(fields, FIELDS, strict=True)
    )
    return _if_valid([*others, re.sub(r"(?<![0-9/-])7(?![0-9-])", "0", weekdays)])


def _if_valid(fields: list[str]) -> str:
    try:
        for part, field in zip(fields, FIELDS, strict=True):
            _numbers(part, field)
    except GrammarError:
        return ""
    return " ".join(fields)


def _descriptor(text: str) -> Schedule:
    if text in DESCRIPTORS:
        return parse(DESCRIPTORS[text])
    if text.startswith("@every "):
        return Schedule(every=_go_duration(text.removeprefix("@every ")))
    lower = text.strip().lower()
    raise GrammarError("is not a known shorthand", lower if lower in DESCRIPTORS else "")


def _go_duration(text: str) -> float:
    """The seconds of a Go duration such as "1h30m" (time.ParseDuration): whole, at least 1, as in robfig."""
    units = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
    part = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h)"
    if len(text) > 40 or not re.fullmatch(rf"[+-]?(?:0|(?:{part})+)", text):
        raise GrammarError('has no duration such as "1h30m" after @every')
    parts = re.findall(r"(?<![0-9.])([0-9.]++)(ns|us|µs|μs|ms|s|m|h)", text)
    seconds = 0.0 if text.startswith("-") else sum(float(number) * units[unit] for number, unit in parts)
    if seconds > _LONGEST_GO_DURATION:
        raise GrammarError("has a duration after @every that is too long")
    return max(1.0, float(int(seconds)))


def _is_star(part: str) -> bool:
    """Whether robfig sets its star bit: a range of the field is a star without a step above one."""
    for expression in part.split(","):
        ends, _, step = expression.partition("/")
        if ends.split("-")[0] in ("*", "?") and (not step or int(step) == 1):
            return True
    return False


def _numbers(part: str, field: _Field) -> frozenset[int]:
    numbers: set[int] = set()
    for expression in part.split(","):
        if expression:
            numbers.update(_range(expression, field))
    return frozenset(numbers)


def _range(expression: str, field: _Field) -> range:
    ends, *steps = expression.split("/")
    low, *highs = ends.split("-")
    if len(steps) > 1 or len(highs) > 1:
        raise GrammarError(f'has "{expression}" for the {field.name}, which is not a range')
    if low in ("*", "?"):
        first, last = field.least, field.most
    else:
        first = _number(low, field)
        last = _number(highs[0], field) if highs else first
    step = 1
    if steps:
        step = _plain_number(steps[0], expression, field)
        if not highs:
            last = field.most
    if step == 0:
        raise GrammarError(f'has a step of zero in "{expression}" for the {field.name}')
    return _checked(range(first, last + 1, step), first, last, expression, field)


def _checked(numbers: range, first: int, last: int, expression: str, field: _Field) -> range:
    if first < field.least or last > field.most:
        sunday = "; Sunday is 0" if field.names is _DAYS and last == 7 else ""
        raise GrammarError(
            f'has "{expression}" for the {field.name}, which is from {field.least} to {field.most}{sunday}'
        )
    if first > last:
        raise GrammarError(f'has "{expression}" for the {field.name}, which runs backwards')
    return numbers


def _number(text: str, field: _Field) -> int:
    named = field.names.get(text.lower())
    return named if named is not None else _plain_number(text, text, field)


def _plain_number(text: str, expression: str, field: _Field) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise GrammarError(f'has "{expression}" for the {field.name}, which is neither a number nor a name')
    return int(text)
