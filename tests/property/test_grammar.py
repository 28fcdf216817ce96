"""Laws of the grammars: formatting inverts parsing, suggestions are valid, one error type is raised."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.grammar import GrammarError, cpu, cron, duration, factor, memory, quantity, timestamp, timezone

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
