"""Laws of the grammars: formatting inverts parsing, suggestions are valid, one error type is raised."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.grammar import GrammarError, cpu, cron, duration, factor, memory, quantity, timestamp, timezone
from sparkgen.schema.accepts import compile_schema, python_pattern
from sparkgen.schema.store import application_schema, kubernetes_schema

PARSERS: dict[str, Callable[[str], Any]] = {
    "memory": memory.to_bytes,
    "duration": duration.to_milliseconds,
    "quantity": quantity.parse,
    "cpu": cpu.to_cores,
    "factor": factor.parse,
    "cron": cron.parse,
    "timezone": timezone.check,
    "timestamp": timestamp.to_seconds,
}

NEARLY = st.text(alphabet="0123456789.,+-eEkKmMgGtTpPiIbBsuhdn%/*?@ZT:_ ", max_size=24)
"""Texts out of the letters that the grammars are made of: many are nearly right."""

FIELDS = st.sampled_from(
    ["*", "?", "0", "5", "1-3", "*/2", "2/3", "1,2", "31", "mon", "jan", "60", ",", "*/1"]
)


@pytest.mark.parametrize("name", PARSERS)
@given(text=st.one_of(st.text(), NEARLY))
def test_a_grammar_raises_nothing_but_its_own_error(name: str, text: str) -> None:
    """Whatever a document holds, a person gets a reason and never a traceback."""
    with contextlib.suppress(GrammarError):
        PARSERS[name](text)


@pytest.mark.parametrize("name", PARSERS)
@given(text=st.one_of(st.text(), NEARLY, st.lists(FIELDS, min_size=5, max_size=5).map(" ".join)))
def test_a_suggestion_is_always_valid(name: str, text: str) -> None:
    """Following the advice never leads to the next complaint."""
    try:
        PARSERS[name](text)
    except GrammarError as error:
        if error.suggestion and "TZ" not in text:
            PARSERS[name](error.suggestion)


@given(number=st.integers(min_value=0, max_value=8000), unit=st.sampled_from(sorted(memory.UNITS)))
def test_a_unit_of_memory_only_scales(number: int, unit: str) -> None:
    """Upper case, lower case and surrounding blanks say the same."""
    expected = number * memory.UNITS[unit]
    assert memory.to_bytes(f"{number}{unit}") == memory.to_bytes(f" {number}{unit.upper()} ") == expected


@given(milliseconds=st.integers(min_value=-(2**50), max_value=2**50))
def test_a_number_of_milliseconds_is_itself(milliseconds: int) -> None:
    """Negative ones included."""
    assert duration.to_milliseconds(f"{milliseconds}ms") == milliseconds


@given(value=st.decimals(min_value=-(10**12), max_value=10**12, places=9))
def test_quantity_formatting_inverts_parsing(value: Decimal) -> None:
    """Exact down to one billionth, which is as fine as Kubernetes counts."""
    assert quantity.parse(quantity.format_quantity(value)) == value


@given(seconds=st.integers(min_value=-62_135_596_800, max_value=253_402_300_799))
def test_a_moment_is_the_seconds_that_python_counts(seconds: int) -> None:
    """Every second of the years 1 to 9999."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    assert timestamp.to_seconds(moment.isoformat().replace("+00:00", "Z")) == seconds


@given(name=st.sampled_from(sorted(timezone.names())))
def test_every_listed_time_zone_is_taken(name: str) -> None:
    """And written in lower case, it is suggested."""
    timezone.check(name)
    assert timezone.suggest(name.lower()).lower() == name.lower()


# --- the same grammars as patterns of the schema --------------------------------------------------

BEYOND_PATTERNS = {
    "memory": ("is too large for Spark",),
    "duration": ("is too large for Spark",),
    "cpu": ("is too long for a quantity",),
    "factor": ("is too long for a factor",),
    "cron": ("has ", "names a time zone"),
    "timezone": ("is ", "has the area", "means the time zone of the controller"),
    "timestamp": ("is a date that does not exist",),
}
"""Grammar -> how the reasons begin for what its pattern takes all the same: what a pattern cannot count, the
fields of a schedule one by one, and the names of time zones."""

WRITTEN = {
    "memory": ["4g", " 4GB\t", "4\u212a", "0k", "9" * 30, "4i", "4 g", "4gb\n", "b", "1.5g"],
    "duration": ["-5MIN", "1us", "0", "9" * 30, "1d ", "1w", "--1s", "1 s", "5m\u0130n"],
    "cpu": [
        "-0.0e3",
        ".5",
        "5.",
        "+1Ki",
        "1e99",
        "1e+0030",
        "1e31",
        "1e-999",
        "-.0",
        "-0.1",
        ".",
        "1E",
        "1e",
        "1 ",
        "0" * 70,
    ],
    "factor": [".5", "1.", "+0.25e-3", "0", "0.0", ".", "1e100", "1" * 50, " 0.1\0", "0x1"],
    "cron": ["@every 1h.5m", "*-x * * * ,", "\u3000* * * * *\x1f", "@Daily", "* * * *", "0 0 0 * * *"],
    "timezone": ["UTC", "Etc/GMT+1", "-x/y", "a//b", "Local", "Europe/Berlni", "a/b/c", "", "A" * 15],
    "timestamp": [
        "2026-02-30T00:00:00Z",
        "2026-01-01T00:00:00,5+23:59",
        "2026-01-01T24:00:00Z",
        "2026-01-01",
    ],
}


def schema_pattern(grammar: str) -> re.Pattern[str]:
    """The pattern that the document's schema has for a grammar."""
    (found,) = [
        one["pattern"]
        for one in application_schema()["$defs"].values()
        if one.get("x-sparkgen-grammar") == grammar
    ]
    return re.compile(python_pattern(found))


def why_not(grammar: str, text: str) -> str | None:
    """Why a grammar refuses a text; None where it takes it."""
    try:
        PARSERS[grammar](text)
    except GrammarError as error:
        return error.reason
    return None


def both_agree(grammar: str, text: str) -> bool:
    """Whether a pattern takes a text where its grammar does, or where the reason is beyond patterns."""
    reason = why_not(grammar, text)
    if schema_pattern(grammar).search(text):
        return reason is None or reason.startswith(BEYOND_PATTERNS[grammar])
    return reason is not None


@pytest.mark.parametrize("grammar", WRITTEN)
@given(data=st.data())
def test_a_pattern_takes_what_its_grammar_takes(grammar: str, data: st.DataObject) -> None:
    """Each text of the grammar, and nothing else but what a pattern cannot say."""
    schedules = st.lists(FIELDS, min_size=4, max_size=6).map(" ".join)
    assert both_agree(grammar, data.draw(st.text() | NEARLY | schedules))


@pytest.mark.parametrize("grammar", WRITTEN)
def test_a_pattern_at_the_edges_of_its_grammar(grammar: str) -> None:
    """The same for the texts that are written here: some are taken, and some are not."""
    assert [text for text in WRITTEN[grammar] if not both_agree(grammar, text)] == []
    taken = [text for text in WRITTEN[grammar] if schema_pattern(grammar).search(text)]
    assert 0 < len(taken) < len(WRITTEN[grammar])


QUANTITY = compile_schema(kubernetes_schema()["$defs"]["Quantity"])
LONG = "0" * (quantity.LONGEST_TEXT - 1)


def parses(amount: object) -> bool:
    """Whether rendering can add an amount up."""
    return why_not("quantity", str(amount)) is None


@given(
    text=st.from_regex(r"[+-]?[0-9]{0,2}\.?[0-9]{0,2}([eE][+-]?[0-9]{1,3}|[KMGTPE]?[inumk]?)")
    | st.text()
    | NEARLY
)
def test_the_schema_takes_the_quantities_that_can_be_added_up(text: str) -> None:
    """So `validate` refuses what `render` cannot add up, and nothing else."""
    assert QUANTITY(text) is parses(text)


@pytest.mark.parametrize("text", [*WRITTEN["cpu"], "1e300", "1e-300", "1e-99999", LONG + "1", LONG + "12"])
def test_the_schema_at_the_edges_of_quantities(text: str) -> None:
    """The same for the texts that are written here."""
    assert QUANTITY(text) is parses(text)


@given(number=st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_the_schema_takes_the_numbers_that_can_be_added_up(number: float) -> None:
    """A number of a document that the schema takes is a quantity, however large or small it is."""
    assert not QUANTITY(number) or parses(number)


@pytest.mark.parametrize(("number", "taken"), [(1e30, True), (1e31, False), (-1e300, False), (5e-324, True)])
def test_the_schema_at_the_edges_of_numbers(number: float, taken: bool) -> None:
    """The largest and the smallest."""
    assert QUANTITY(number) is parses(number) is taken


@pytest.mark.parametrize("text", ["1e-30", "1e-99", "1e-100", "1e-99999", "9" * 55 + "e-99999"])
def test_the_smallest_quantities_are_a_billionth(text: str) -> None:
    """As in Kubernetes, which rounds away from zero."""
    assert quantity.parse(text) == Decimal("1e-9")
    assert quantity.parse(f"0{text[1:]}" if text[0] == "1" else "0e-99999") == 0
