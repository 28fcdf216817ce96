"""The law of regular expressions: a text that is twice as long makes at most about twice the work."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from sparkgen.delivery import secret_files
from sparkgen.live import login
from sparkgen.schema.accepts import python_pattern
from sparkgen.semantics import well_known

from .expressions import ROOT, Expression, expressions
from .matcher import TooMuch, attacks, has_repeats, steps, tree

BOUNDED = {
    "sparkgen.whatif.evidence:": "the characters of a name in a cluster",
    "sparkgen.schema.accepts:": "the expressions of the product's own schemas",
    "sparkgen.semantics.secret:'\\\\.[\\\\w-]+": "LONGEST_NAME characters of a name",
}
"""The beginning of a place: what bounds the text, which the expression itself does not."""
FEW, MANY = 10, 20
MOST_GROWTH = 2.6
"""For twice as much. A square comes to nearly 4 with so small numbers, a line to at most 2."""


def of_schemas() -> Iterator[Expression]:
    """The expressions that JSON Schemas compare texts of documents with."""
    for path in sorted((ROOT / "schemas").glob("*.json")):
        for text in sorted(set(_patterns(json.loads(path.read_text())))):
            yield Expression(f"{path.name}:{text[:60]}", re.compile(python_pattern(text)), "search")


def of_tables() -> Iterator[Expression]:
    """The expressions that modules make of tables."""
    tables = [
        ("secret_files", secret_files._PATTERNS),
        ("well_known", well_known._patterns()),
        ("login", login._FAILURES),
    ]
    for name, table in tables:
        for row in table:
            values = row if isinstance(row, tuple) else (row.pattern,)
            for value in values:
                if isinstance(value, re.Pattern):
                    yield Expression(f"{name}:{value.pattern[:60]!r}", value, "search")


def _patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for part in schema.values():
            yield from _patterns(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _patterns(part)


def every() -> list[Expression]:
    """Each expression with a repetition without an end, once."""
    found = [item for item in (*expressions(), *of_schemas(), *of_tables()) if isinstance(item, Expression)]
    once = {(item.pattern.pattern, item.pattern.flags, item.method): item for item in found}
    return [item for item in once.values() if has_repeats(tree(item.pattern))]


def growth(pattern: re.Pattern[Any], method: str) -> tuple[float, str]:
    """The largest growth of the work when a text gets twice as long, and the beginning of that text."""
    worst = (0.0, "")
    for attack in attacks(pattern):
        if not _suspicious(pattern, method, attack(MANY)):
            continue
        works = [_steps(pattern, method, attack(number)) for number in (FEW, MANY, 2 * MANY)]
        # what has a limit, such as the 63 characters of a name, grows once and then no more
        grown = min(works[1] / works[0], works[2] / works[1])
        worst = max(worst, (grown, attack(3)))
    return worst


def _suspicious(pattern: re.Pattern[Any], method: str, text: str) -> bool:
    return _steps(pattern, method, text) > 4 * len(text) + 50


def _steps(pattern: re.Pattern[Any], method: str, text: str) -> float:
    try:
        return steps(pattern, method, text)
    except TooMuch:
        return 10.0**9 * len(text) ** 3


@pytest.fixture(autouse=True)
def _deep() -> Iterator[None]:
    """The matcher goes a level deeper for each character of a repetition of more than one."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("expression", every(), ids=lambda item: f"{item.place}-{item.method}")
def test_twice_the_text_is_twice_the_work(expression: Expression) -> None:
    """No text that is made of an expression's own parts makes it track back again and again."""
    if any(expression.place.startswith(place) for place in BOUNDED):
        return
    grown, text = growth(expression.pattern, expression.method)
    assert grown < MOST_GROWTH, f"{text!r}"


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (r"\s+$", "search"),
        (r"\s*,\s*", "split"),
        (r"(a+)+b", "fullmatch"),
        (r"a*a*b", "match"),
        (r"\[[^]]+\]", "search"),
        (r"([a-z]+): *(.*?) *", "fullmatch"),
        (r".*:.*", "fullmatch"),
        (r"(?:a|aa)*b", "match"),
        (r": x [^)]*(?=\))", "sub"),
        (r"[0-9]+\.?[0-9]*", "fullmatch"),
        (r"[a-z]+=", "findall"),
        (r"Failure executing: POST at: \S+/pods\. Message: (.+?)\.? Received status:", "findall"),
    ],
)
def test_the_law_sees_what_is_not_linear(text: str, method: str) -> None:
    """Expressions whose work is known to grow with the square of the text, or faster."""
    assert growth(re.compile(text), method)[0] > MOST_GROWTH


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (r"(?<!\s)\s++$", "search"),
        (r"(?>a+)b", "fullmatch"),
        (r"a*+a*b", "match"),
        (r"\[[^][]*+\]", "search"),
        (r"([a-z]++):(.*)", "fullmatch"),
        (r"[^:\n]*+:.*", "fullmatch"),
        (r"(?m)^[a-z]+=", "search"),
    ],
)
def test_the_law_lets_pass_what_is_linear(text: str, method: str) -> None:
    """What takes the place of such expressions."""
    assert growth(re.compile(text), method)[0] < MOST_GROWTH


def test_the_steps_are_those_of_a_matcher_that_tracks_back() -> None:
    """Counted by hand: a run of n letters is read once, and then given back letter by letter."""
    few, many = (steps(re.compile("a*b"), "match", "a" * number) for number in (10, 20))
    assert many - few == 30  # per letter: one to read it, one to give it back, one to ask for `b`


UNREAD = {
    "sparkgen.delivery.ignore:linear(pattern.regex.pattern)": "delivery.ignore bounds it",
    "sparkgen.cli.revisions:MAGIC": "a name of the standard library",
    "sparkgen.delivery.look:MAGIC": "a name of the standard library",
    "sparkgen.delivery.secret_files:pattern": "a table, read here",
    "sparkgen.semantics.well_known:f'{pattern}[A-Za-z0-9_-]*+'": "a table, read here",
    "sparkgen.grammar.cron:f\"\\\\b({'|'.join(field.names)})[a-z]*\\\\b\"": "one word",
    "sparkgen.grammar.cron:f'[+-]?(?:0|(?:{part})+)'": "each part ends with a letter",
    "sparkgen.grammar.timestamp:date": "a time has few characters",
    "sparkgen.grammar.timestamp:f'{date}[Tt ][0-9:.]{{8,}}'": "one run of digits",
    "sparkgen.grammar.timestamp:f'{date} [0-9:.]{{8,}} ?(Z|[+-][0-9]{{2}}:[0-9]{{2}})'": "one run of digits",
    "sparkgen.image.builders:pattern": "words of our own, in what a builder says",
    "sparkgen.image.loading:missing": "words of our own, in what a program says",
    "sparkgen.importing.formats:self.group": "names without repetitions",
    "sparkgen.importing.formats:self.kind": "names without repetitions",
    "sparkgen.live.archived:f'{re.escape(run.name)}-[a-z0-9]{{5}}'": "five characters after a name",
    "sparkgen.live.login:pattern": "a table, read here",
    "sparkgen.schema.accepts:python_pattern(pattern)": "of schemas, read here",
    "sparkgen.schema.corrections:python_pattern(pattern)": "of schemas, read here",
    "sparkgen.schema.describe:python_pattern(pattern)": "of schemas, read here",
    "sparkgen.schema.explain_failure:python_pattern(pattern)": "of schemas, read here",
    "sparkgen.schema.repaired:str(field.schema.get('pattern', ''))": "of schemas, read here",
    "sparkgen.semantics.rules_metadata:part": "a name of at most 63 characters",
    "sparkgen.semantics.rules_metadata:domain": "a prefix of at most 253 characters",
    "sparkgen.semantics.rules_settings:f'spark\\\\.{role}\\\\.resource\\\\.([^.]+)\\\\.amount'": "one run",
}
"""Expressions that only a call knows, and why their work has a bound."""


def test_every_expression_is_read() -> None:
    """A new one that only a call knows needs a reason."""
    unread = [item for item in expressions() if isinstance(item, str)]
    assert sorted(set(unread)) == sorted(UNREAD)
