"""Durations, schedules, time zones and moments: what their readers accept, and why the rest is refused."""

from __future__ import annotations

import pytest

from sparkgen.grammar import GrammarError, cron, duration, timestamp, timezone


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500ms", 500),
        ("60s", 60_000),
        ("2m", 120_000),
        ("2min", 120_000),
        ("1H", 3_600_000),
        ("1d", 86_400_000),
        ("1999us", 1),
        ("-1500us", -1),
        ("10", 10),
        (" 5s ", 5000),
    ],
)
def test_spark_reads_durations(text: str, expected: int) -> None:
    """JavaUtils.timeStringAs, rounding towards zero."""
    assert duration.to_milliseconds(text) == expected


def test_a_bare_number_counts_in_the_unit_of_its_setting() -> None:
    """Dynamic allocation's timers count in seconds, the allocator's in milliseconds."""
    assert duration.to_seconds("90") == 90
    assert duration.to_seconds("90", default_unit="ms") == 0
    assert duration.to_milliseconds("90", default_unit="s") == 90_000


def test_the_largest_duration_is_javas_largest_long() -> None:
    """TimeUnit.convert saturates."""
    assert duration.to_microseconds(f"{2**63 - 1}d") == 2**63 - 1


@pytest.mark.parametrize(
    ("text", "reason", "suggestion"),
    [
        ("60 s", "has a space before the unit", "60s"),
        ("60sec", 'has the unit "sec", which Spark does not know', "60s"),
        ("5 minutes", "has a space before the unit", "5m"),
        ("1.5h", "has a fraction, which Spark refuses", "90m"),
        ("0.0000001s", "has a fraction, which Spark refuses", ""),
        ("1h30m", "has more than one unit; Spark reads only one", "90m"),
        ("5w", 'has the unit "w", which Spark does not know', ""),
        ("", "is empty", ""),
        ("soon", "is not a number with a unit", ""),
        ("9" * 5000, "is too large for Spark", ""),
    ],
)
def test_a_refused_duration_says_why_and_what_was_meant(text: str, reason: str, suggestion: str) -> None:
    """The reason ends a sentence that starts with the text."""
    with pytest.raises(GrammarError) as caught:
        duration.to_milliseconds(text)
    assert (caught.value.reason, caught.value.suggestion) == (reason, suggestion)


def test_a_schedule_permits_the_numbers_of_its_five_fields() -> None:
    """Steps, ranges, lists and names, as robfig/cron reads them."""
    schedule = cron.parse("*/20 8-10 1,15 jan-MAR/2 mon-fri")
    assert (schedule.minutes, schedule.hours) == ({0, 20, 40}, {8, 9, 10})
    assert (schedule.days, schedule.months) == ({1, 15}, {1, 3})
    assert schedule.weekdays == {1, 2, 3, 4, 5}


def test_a_number_with_a_step_runs_to_the_end_of_the_field() -> None:
    """The parser's special handling: "N/step" means "N-max/step"."""
    assert cron.parse("50/5 * * * ?").minutes == {50, 55}


@pytest.mark.parametrize("text", ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly"])
def test_the_shorthands_are_schedules(text: str) -> None:
    """Source: parseDescriptor."""
    assert cron.parse(text).minutes == {0}


def test_every_counts_seconds_and_at_least_one() -> None:
    """The API server takes @every, although Kubernetes does not document it."""
    assert (cron.parse("@every 1h30m").every, cron.parse("@every 5ms").every) == (5400.0, 1.0)


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("0 0 30 2 *", True),
        ("0 0 31 4,6,9,11 *", True),
        ("0 0 29 2 *", False),
        ("0 0 30 2 mon", False),
        (", * * * *", True),
        ("@every 1h", False),
        ("0 0 31 * *", False),
    ],
)
def test_a_schedule_without_a_date_is_seen(text: str, never: bool) -> None:
    """With a day of week beside it, 30 February still runs: either one suffices."""
    assert cron.parse(text).never is never


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 3 * *", "has 4 fields, but a CronJob needs five"),
        ("now", "has 1 field, but a CronJob needs five"),
        ("0 0 3 * * *", "has 6 fields; a CronJob needs five, without seconds or years"),
        ("60 * * * *", 'has "60" for the minute, which is from 0 to 59'),
        ("0 0 * * 7", 'has "7" for the day of week, which is from 0 to 6; Sunday is 0'),
        ("0 0 * * sunday", 'has "sunday" for the day of week, which is neither a number nor a name'),
        ("0 5-3 * * *", 'has "5-3" for the hour, which runs backwards'),
        ("*/0 * * * *", 'has a step of zero in "*/0" for the minute'),
        ("1-2-3 * * * *", 'has "1-2-3" for the minute, which is not a range'),
        ("1/2/3 * * * *", 'has "1/2/3" for the minute, which is not a range'),
        ("@every hour", 'has no duration such as "1h30m" after @every'),
        ("@every 99999999999h", "has a duration after @every that is too long"),
        ("@fortnightly", "is not a known shorthand"),
        ("  ", "is empty"),
    ],
)
def test_a_refused_schedule_says_why(text: str, reason: str) -> None:
    """What the API server would refuse when the CronJob is applied."""
    with pytest.raises(GrammarError) as caught:
        cron.parse(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("0 0 3 * * MON", "0 3 * * MON"),
        ("30 0 3 * * MON", ""),
        ("0 3 * * 7", "0 3 * * 0"),
        ("0 3 * * 1,7", "0 3 * * 1,0"),
        ("0 3 * January Sunday", "0 3 * jan sun"),
        ("0 3 L * ?", ""),
    ],
)
def test_schedules_of_other_programs_are_translated(text: str, suggestion: str) -> None:
    """Seconds as of Quartz, Sunday as 7 as of cron, names in full: what is meant is plain."""
    with pytest.raises(GrammarError) as caught:
        cron.parse(text)
    assert caught.value.suggestion == suggestion


@pytest.mark.parametrize("text", ["TZ=UTC 0 3 * * *", "CRON_TZ=Europe/Berlin 0 3 * * *"])
def test_a_time_zone_inside_a_schedule_is_refused(text: str) -> None:
    """validateScheduleFormat; the suggestion is the schedule alone."""
    with pytest.raises(GrammarError) as caught:
        cron.parse(text)
    assert caught.value.suggestion == "0 3 * * *"


@pytest.mark.parametrize("text", ["Europe/Berlin", "Etc/UTC", "UTC", "US/Pacific", "America/Indiana/Knox"])
def test_names_of_the_time_zone_database_are_taken(text: str) -> None:
    """Links are names too."""
    timezone.check(text)
    assert timezone.is_known(text)


@pytest.mark.parametrize("text", ["America/Atlantis", "Europe/Kiyv"])
def test_a_place_that_may_be_newer_than_the_list_is_not_refused(text: str) -> None:
    """A new release of the database must not make valid documents fail."""
    timezone.check(text)
    assert not timezone.is_known(text)


@pytest.mark.parametrize(
    ("text", "reason", "suggestion"),
    [
        (
            "Local",
            "means the time zone of the controller, and Kubernetes does not accept this name",
            "Etc/UTC",
        ),
        ("asia/tokyo", 'has the area "asia", which is not in the time zone database', "Asia/Tokyo"),
        ("Europe/Berln", "is not a time zone that Kubernetes knows", "Europe/Berlin"),
        ("Berlin", "is not a name from the time zone database, which has names of places", "Europe/Berlin"),
        ("CEST", "is not a name from the time zone database, which has names of places", ""),
        ("GMT+2", "is not a name from the time zone database, which has names of places", ""),
        ("America/New York", "is not the name of a time zone", "America/New_York"),
        ("../etc/passwd", "is not the name of a time zone", ""),
        ("", "is empty", ""),
    ],
)
def test_a_refused_time_zone_says_why_and_what_was_meant(text: str, reason: str, suggestion: str) -> None:
    """An offset or an abbreviation gets no guess: it would be another zone."""
    with pytest.raises(GrammarError) as caught:
        timezone.check(text)
    assert (caught.value.reason, caught.value.suggestion) == (reason, suggestion)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-03-01T06:00:00Z", 1_772_344_800),
        ("2026-03-01T06:00:00.999+01:00", 1_772_341_200),
        ("2026-03-01T06:00:00-00:30", 1_772_346_600),
    ],
)
def test_a_moment_is_seconds_since_1970(text: str, expected: int) -> None:
    """RFC 3339, as Go reads it."""
    assert timestamp.to_seconds(text) == expected


@pytest.mark.parametrize(
    ("text", "reason", "suggestion"),
    [
        ("2026-03-01", "has no time of day", "2026-03-01T00:00:00Z"),
        ("2026-03-01T06:00:00", "has no zone", "2026-03-01T06:00:00Z"),
        ("2026-03-01 06:00:00", "has no zone", "2026-03-01T06:00:00Z"),
        ("2026-03-01 06:00:00 Z", "has blanks", "2026-03-01T06:00:00Z"),
        ("2026-02-30T06:00:00Z", "is a date that does not exist", ""),
        ("2026-03-01T24:00:00Z", "has a time of day that does not exist", ""),
        ("2026-03-01T06:00:00+99:00", "has a zone that does not exist", ""),
        ("1 March", "is not in RFC 3339 format", ""),
        ("", "is empty", ""),
    ],
)
def test_a_refused_moment_says_why(text: str, reason: str, suggestion: str) -> None:
    """Half a moment is completed in the suggestion, never silently."""
    with pytest.raises(GrammarError) as caught:
        timestamp.to_seconds(text)
    assert (caught.value.reason, caught.value.suggestion) == (reason, suggestion)
