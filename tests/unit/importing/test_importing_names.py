"""The names and files of imported applications."""

from __future__ import annotations

from sparkgen.errors import Position
from sparkgen.importing.imported import Imported
from sparkgen.importing.naming import Names, file_names
from sparkgen.names import MAX_APPLICATION_NAME
from tests.unit.bounds.work import work

PLACE = Position("a.yaml", 1, 1)


def application(name: str, namespace: str = "") -> Imported:
    """One of this name."""
    return Imported(name, namespace, "SparkApplication", PLACE, "", ())


def test_each_application_has_a_file_of_its_own() -> None:
    """Equal names get the namespace or a number; no number is given twice."""
    items = [("a", ""), ("a", ""), ("a", "b"), ("b-a", ""), ("a-2", ""), ("a", ""), ("c", "d")]
    names = file_names([application(*item) for item in items])
    assert names == ["a.yaml", "a-2.yaml", "b-a.yaml", "b-a-2.yaml", "a-2-2.yaml", "a-3.yaml", "c.yaml"]


def test_names_that_are_made_are_free() -> None:
    """Also those that are shortened, and those that documents keep."""
    names = Names()
    names.reserve([("", "a", PLACE), ("x", "a-2", PLACE)])
    assert [names.make("a"), names.make("A"), names.make("a-2")] == ["a-3", "a-4", "a-2-2"]
    long = "l" * MAX_APPLICATION_NAME
    made = [names.make(long) for _ in range(12)]
    assert len({*made}) == 12
    assert max(map(len, made)) == MAX_APPLICATION_NAME


def test_equal_names_cost_no_square_of_work() -> None:
    """Neither in names nor in files."""

    def play(count: int) -> None:
        names = Names()
        for _ in range(count):
            names.make("a")
        file_names([application("a")] * count)

    few, many = (work(lambda count=count: play(count)) for count in (100, 400))
    assert many < 5 * few
