"""The page: one file that fetches nothing, safe whatever a log says, whole in every drawing."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sparkgen.eventlog import read_recording
from sparkgen.whatif import page
from sparkgen.whatif.candidates import from_sets
from sparkgen.whatif.price_file import prices_of
from sparkgen.whatif.study import Question, Study, study
from tests.unit.eventlog import event_log as made

HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x1b[2J\u202e"


def asked(folder: Path, name: str = "made") -> Study:
    """A study of the small application, with prices, two candidates and the sweep."""
    events = made.small()
    events[2]["App Name"] = name
    events[6]["Stage Info"]["Stage Name"] = events[9]["Stage Info"]["Stage Name"] = name
    (folder / "log").write_bytes(made.text(events))
    priced = json.dumps({"currency": name, "onDemand": {"coreHour": 1, "gibHour": 0}})
    prices = prices_of(priced.encode(), "prices")
    question = Question(from_sets(["spec.executor.instances=1,3"]), sweep=True, prices=prices)
    return study(read_recording(str(folder / "log")), question)


class Tags(HTMLParser):
    """All tags of a page, those that are open, and the drawings' numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one."""
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one that closes itself."""
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """The innermost one that is open."""
        assert self.open.pop() == tag


def tags(text: str) -> list[tuple[str, dict[str, str | None]]]:
    """Those of a page, each of which is closed."""
    parser = Tags()
    parser.feed(text)
    assert parser.open == []
    return parser.seen


def test_a_page_fetches_nothing(tmp_path: Path) -> None:
    """And its policy forbids it."""
    text = page.text(asked(tmp_path))
    assert not re.search(r"https?:|//[a-z]|url\(|@import", text)
    assert "default-src 'none'" in text
    assert not [found for found in tags(text) if {"src", "href"} & found[1].keys()]


def test_what_a_log_says_stays_text(tmp_path: Path) -> None:
    """Names of applications, stages and currencies are somebody else's."""
    text = page.text(asked(tmp_path, HOSTILE))
    plain = page.text(asked(tmp_path))
    assert [tag for tag, _ in tags(text)] == [tag for tag, _ in tags(plain)]
    assert not any(name.startswith("on") for _, attributes in tags(text) for name in attributes)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_every_drawing_is_there(tmp_path: Path) -> None:
    """Executors, cost, stages; each with a name for those who do not see it."""
    found = tags(page.text(asked(tmp_path)))
    drawings = [attributes["aria-label"] for tag, attributes in found if tag == "svg"]
    assert drawings == [
        "Registered executors over time",
        "Wall time and cost of each replay",
        "Stages over time",
    ]
    slider = next(attributes for tag, attributes in found if tag == "input")
    assert (slider["min"], slider["max"]) == ("0", "1")


def test_no_number_of_a_drawing_is_missing(tmp_path: Path) -> None:
    """No place is nan, or outside of its drawing."""
    for tag, attributes in tags(page.text(asked(tmp_path))):
        for name in ("x", "cx", "width", "x1", "x2"):
            if tag in ("rect", "circle", "line", "text") and name in attributes:
                assert 0 <= float(attributes[name] or "nan") <= 720


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(1.0, 9.0), (2.0, 5.0), (3.0, 7.0), (4.0, 5.0), (5.0, 1.0)], [(1.0, 9.0), (2.0, 5.0), (5.0, 1.0)]),
        ([(2.0, 2.0)], [(2.0, 2.0)]),
        ([(1.0, 3.0), (1.0, 2.0)], [(1.0, 2.0)]),
    ],
)
def test_the_frontier_has_what_nothing_beats(
    points: list[tuple[float, float]], expected: list[tuple[float, float]]
) -> None:
    """No other point is both cheaper and as fast."""
    assert page.frontier(points) == expected
