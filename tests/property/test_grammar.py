"""Laws of the grammars: formatting inverts parsing, suggestions are valid, one error type is raised."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
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


@given(mib=st.integers(min_value=0, max_value=2**42))
def test_memory_formatting_inverts_parsing(mib: int) -> None:
    """Every number of MiB has a text, and the text has that number."""
    assert memory.to_mib(memory.format_mib(mib)) == mib


@given(number=st.integers(min_value=0, max_value=8000), unit=st.sampled_from(sorted(memory.UNITS)))
def test_a_unit_of_memory_only_scales(number: int, unit: str) -> None:
    """Upper case, lower case and surrounding blanks say the same."""
    expected = number * memory.UNITS[unit]
    assert memory.to_bytes(f"{number}{unit}") == memory.to_bytes(f" {number}{unit.upper()} ") == expected


@given(milliseconds=st.integers(min_value=-(2**50), max_value=2**50))
def test_duration_formatting_inverts_parsing(milliseconds: int) -> None:
    """Every whole number of milliseconds has a text, negative ones included."""
    assert duration.to_milliseconds(duration.format_milliseconds(milliseconds)) == milliseconds


@given(value=st.decimals(min_value=-(10**12), max_value=10**12, places=9))
def test_quantity_formatting_inverts_parsing(value: Decimal) -> None:
    """Exact down to one billionth, which is as fine as Kubernetes counts."""
    assert quantity.parse(quantity.format_quantity(value)) == value


@given(fields=st.lists(FIELDS, min_size=5, max_size=5))
def test_schedule_formatting_inverts_parsing(fields: list[str]) -> None:
    """The text of a schedule means that schedule."""
    try:
        schedule = cron.parse(" ".join(fields))
    except GrammarError:
        return
    assert cron.parse(cron.format_schedule(schedule)) == schedule


@given(seconds=st.integers(min_value=1, max_value=10**7))
def test_every_formatting_inverts_parsing(seconds: int) -> None:
    """@every keeps its whole seconds."""
    schedule = cron.parse(f"@every {seconds}s")
    assert cron.parse(cron.format_schedule(schedule)) == schedule


@given(seconds=st.integers(min_value=-62_135_596_800, max_value=253_402_300_799))
def test_moment_formatting_inverts_parsing(seconds: int) -> None:
    """Every second of the years 1 to 9999."""
    assert timestamp.to_seconds(timestamp.format_seconds(seconds)) == seconds


@given(name=st.sampled_from(sorted(timezone.names())))
def test_every_listed_time_zone_is_taken(name: str) -> None:
    """And written in lower case, it is suggested."""
    timezone.check(name)
    assert timezone.suggest(name.lower()).lower() == name.lower()
