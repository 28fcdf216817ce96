"""Scalars mean what they mean to Helm (and so to kubectl: both read YAML with the same library)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sparkgen.document.parse import parse
from sparkgen.errors import Severity
from tests.unit.document.helm_reading import SCALARS as TABLE
from tests.unit.document.helm_reading import Golden, measure_scalars, read_table

_WORDS = ("yes", "Yes", "YES", "yEs", "no", "No", "NO", "on", "On", "ON", "oN", "off", "Off", "OFF", "y", "Y")
_WORDS += ("n", "N", "true", "True", "TRUE", "tRUE", "false", "False", "FALSE", "t", "f")
_NULLS = ("", "~", "null", "Null", "NULL", "nULL", "none", "nil", "!!null", "!!null ''", "!!null x")
_INTEGERS = (
    "0",
    "00",
    "-0",
    "+0",
    "1",
    "+1",
    "-1",
    "--1",
    "12",
    "012",
    "08",
    "09",
    "018",
    "0777",
    "0o17",
    "0o8",
)
_INTEGERS += (
    "0O17",
    "-0o17",
    "0b11",
    "0B11",
    "-0b11",
    "+0b11",
    "0b",
    "0b2",
    "0b-11",
    "0x1F",
    "0X1f",
    "-0x1F",
    "0x",
)
_INTEGERS += (
    "1_000",
    "1__0",
    "_1",
    "1_",
    "0x_1F",
    "1:30",
    "190:20:30",
    "12e03",
    "1e3",
    "1E3",
    "+1e3",
    "1e-3",
    "1e",
)
_INTEGERS += ("9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808")
_INTEGERS += ("18446744073709551615", "18446744073709551616", "12345678901234567890", "-9223372036854775809")
_INTEGERS += ("1152921504606846976", "123456789012345678901234567890")
_FLOATS = (
    ".5",
    "+.5",
    "-.5",
    "5.",
    "1.0",
    "3.10",
    "3.5.8",
    "0.1",
    "00.5",
    "1.5e3",
    "1e20",
    "1e21",
    "1e22",
    "1e400",
)
_FLOATS += (
    "-1e400",
    "1e-400",
    ".5_0",
    "._5",
    ".5_",
    "1_0.5",
    "1.5e+3",
    "-0.0",
    "1e6",
    "123456.789e3",
    ".",
    "..",
)
_FLOATS += (
    ".inf",
    ".Inf",
    ".INF",
    ".iNF",
    "+.inf",
    "-.inf",
    ".nan",
    ".NaN",
    ".NAN",
    "inf",
    "nan",
    "Infinity",
    "0.30",
)
_DATES = (
    "2001-01-01",
    "2001-1-1",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43",
    "2001-99-99",
    "20:30",
)
_TEXTS = (
    "=",
    "<<",
    "a",
    "é",
    "'1'",
    '"1"',
    "'true'",
    '"null"',
    "4g",
    "1k",
    "1Ki",
    "500m",
    "10%",
    "1.2.3",
    "v1",
)
_TEXTS += (
    "a b",
    "a#b",
    "a #b",
    "a:b",
    "-a",
    "- a",
    "[]",
    "{}",
    "[1, yes]",
    "{a: 1}",
    "!foo bar",
    "! a",
    "*x",
    "@a",
)
_TEXTS += (
    "'it''s'",
    '"a\\tb"',
    "|\n  a\n  b",
    ">-\n  a\n  b",
    "http://x:80/y?z#a",
    "[a?b]",
    "{a?: b}",
    "[a:b]",
)
_TAGGED = (
    "!!str 1",
    "!!str",
    "!!str true",
    "!!int 3",
    '!!int "3"',
    "!!int 0x1F",
    "!!int 1.0",
    "!!int x",
    "!!int yes",
)
_TAGGED += (
    "!!float 3",
    '!!float "3.5"',
    "!!float 1e400",
    "!!bool yes",
    '!!bool "on"',
    "!!bool 1",
    "!!binary aGk=",
)
_TAGGED += (
    "!!timestamp 2001-01-01",
    "!!timestamp x",
    "!!map {a: 1}",
    "!!seq [a]",
    "!!set {a, b}",
    "!!omap [a: 1]",
)

SCALARS = tuple(dict.fromkeys((*_WORDS, *_NULLS, *_INTEGERS, *_FLOATS, *_DATES, *_TEXTS, *_TAGGED)))

STRICTER = {
    "9007199254740993": "Helm rounds it",
    "1152921504606846976": "Helm rounds it (when it writes it: a template prints ...847000)",
    "9223372036854775807": "Helm rounds it",
    "9223372036854775808": "Helm rounds it",
    "18446744073709551615": "Helm rounds it",
    "18446744073709551616": "kubectl rounds it, too",
    "-9223372036854775809": "kubectl rounds it, too",
    "123456789012345678901234567890": "kubectl rounds it, too",
    "12345678901234567890": "Helm rounds it",
    "!foo bar": "Helm drops an unknown tag without a word",
    "!!binary aGk=": "a tag for which JSON has no type",
    "!!timestamp 2001-01-01": "a tag for which JSON has no type",
    "!!set {a, b}": "a tag for which JSON has no type",
    "!!omap [a: 1]": "a tag for which JSON has no type",
}
"""What is refused here though Helm reads it, and why."""


def read(scalar: str) -> tuple[Any, list[str]]:
    """The value that a scalar has here, and the codes of errors."""
    parsed = parse(f"v0: {scalar}\n".encode(), "f")
    problems = [*parsed.problems, *(one for found in parsed.documents for one in found.problems)]
    errors = [problem.code for problem in problems if problem.severity is Severity.ERROR]
    if not parsed.documents or parsed.documents[0].root is None:
        return None, errors
    return parsed.documents[0].root.value.get("v0"), errors


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same type: 1 is not 1.0, and not True."""
    return json.dumps(one) == json.dumps(other)


@pytest.mark.parametrize("record", read_table(TABLE), ids=lambda record: repr(record["yaml"]))
def test_scalar_means_what_helm_reads(record: dict[str, str]) -> None:
    """The value and its type are Helm's; what Helm refuses is refused; STRICTER lists the rest."""
    value, errors = read(record["yaml"])
    if "refused" in record or record["yaml"] in STRICTER:
        assert errors
    else:
        assert not errors
        assert same(value, json.loads(record["json"]))


def test_table_has_every_scalar() -> None:
    """The table was measured for exactly the scalars of this file."""
    assert [record["yaml"] for record in read_table(TABLE)] == list(SCALARS)


def test_helm_still_reads_so(helm: Path, golden: Golden) -> None:
    """Measure again with the pinned Helm: the committed table is what it says."""
    refused = {record["yaml"] for record in read_table(TABLE) if "refused" in record}
    golden(TABLE, measure_scalars(helm, SCALARS, refused))
