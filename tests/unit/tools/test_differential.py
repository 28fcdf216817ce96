"""What the differential tests make of files and reports (tools/differential)."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from differential import commands, reports, sides
from differential.ahead import Ahead
from differential.differences import BY_SPARKS_BACKEND, DIFFERENCES, TABLES, Difference, Seen
from differential.page import page
from differential.pods import facts
from differential.reports import Differs
from sparkgen.importing import Choices, Outcome, import_all
from sparkgen.usecases.validate import examine

FOLDER = Path(__file__).parents[2] / "e2e" / "differential" / "commands"
CASES = commands.read_all(FOLDER)
COMPANIONS = FOLDER.parent / "inputs" / "here"
VALUES = {
    "API": "https://10.0.0.1:6443",
    "NAMESPACE": "team",
    "WEB": "http://10.0.0.2:8083",
    "NAME": "case",
    "IMAGE": "docker.io/apache/spark:4.3.0",
    "VERSION": "4.3.0",
}
"""Values for the places of the commands."""
PAGE = Path(__file__).parents[3] / "docs" / "spark-differences.md"


def test_each_case_has_a_title_of_its_own() -> None:
    """No two are about the same."""
    assert len({case.title for case in CASES}) == len(CASES)
    assert all(case.title.endswith(".") for case in CASES)


def test_each_row_of_the_table_is_needed_by_a_case_and_cases_name_no_others() -> None:
    """A row that no case needs is taken out."""
    rows = {row.name for table in TABLES.values() for row in table}
    assert set().union(*(case.differs for case in CASES)) == rows


def test_at_least_sixty_cases_are_played() -> None:
    """So many that each way to give a value to an application is among them."""
    assert len(CASES) >= 60


def lost(case: commands.Case, folder: Path) -> set[str]:
    """The properties and variables of a command of which import says that they are lost."""
    shutil.copytree(COMPANIONS, folder, dirs_exist_ok=True)
    script = folder / "submit.sh"
    script.write_text(commands.filled(case, VALUES))
    result = import_all([str(script)], Choices(), examine, lambda: b"")
    assert not result.problems
    (item,) = result.imported
    assert not item.problems
    return {
        str(entry.source[-1]).removeprefix("before spark-submit: ")
        for entry in item.findings
        if entry.outcome is Outcome.LOST
    }


def test_each_command_is_imported_and_what_is_lost_is_in_the_table(tmp_path: Path) -> None:
    """Each name of the table is one that a case loses."""
    found = {case.name: lost(case, tmp_path / case.name) for case in CASES}
    assert set().union(*found.values()) == {name for row in DIFFERENCES for name in row.lost}, found


def test_a_file_is_read_as_title_rows_versions_and_command(tmp_path: Path) -> None:
    """Comments are the title, but for the two fields."""
    path = tmp_path / "ends.sh"
    path.write_text(
        "# How it ends,\n# in two lines.\n# differs: a, b\n# versions: 4\nspark-submit @COMMON@ x\n"
    )
    case = commands.read(path)
    assert case == commands.Case(
        "ends",
        "How it ends, in two lines.",
        "spark-submit @COMMON@ x",
        frozenset({"a", "b"}),
        ("4",),
    )
    assert case.is_for("4.3.0")
    assert not case.is_for("3.5.8")


@pytest.mark.parametrize(
    "text", ["spark-submit x\n", "# A title.\nkubectl get pods\n", "# versions: 4\nspark-submit x\n"]
)
def test_a_file_without_title_or_command_is_refused(tmp_path: Path, text: str) -> None:
    """The message names the file."""
    (tmp_path / "bad.sh").write_text(text)
    with pytest.raises(ValueError, match=r"bad\.sh"):
        commands.read(tmp_path / "bad.sh")


def test_places_are_filled_and_one_without_a_value_is_an_error() -> None:
    """A command never runs with a place left in it."""
    case = commands.Case("x", "X.", "spark-submit --name @NAME@ @WEB@/x")
    assert commands.filled(case, {"NAME": "n", "WEB": "http://w"}) == "spark-submit --name n http://w/x"
    with pytest.raises(KeyError, match="WEB"):
        commands.filled(case, {"NAME": "n"})


def test_what_differs_in_each_run_becomes_words() -> None:
    """Longer names first; then addresses, ports, ids and times."""
    names = {"case": "NAME", "case-0a1b-driver": "DRIVER-POD", "case-0a1b": "RUN"}
    report = {"case": ["case-0a1b-driver at 10.88.1.7:40123", "case-0a1b-x"], "n": 3, "at": "1795730590463"}
    assert reports.normalised(report, names) == {
        "NAME": ["DRIVER-POD at IP:PORT", "RUN-x"],
        "n": 3,
        "at": "MILLISECONDS",
    }
    served = [reports.normalised(f"spark://{host}:7078/files/a", {}) for host in ("x-svc.n.svc", "10.0.0.1")]
    assert served == ["spark://IP:PORT/files/a"] * 2
    application = "spark-0123456789abcdef0123456789abcdef"
    assert reports.normalised(f"work/{application}/x", {}) == "work/APP-ID/x"


def test_differences_are_listed_by_their_places() -> None:
    """Lists differ by their items, and by the order of those that both have."""
    native = {"a": {"x": "1", "same": "s"}, "list": ["p", "q", "r"], "only": {"deep": "d"}}
    ours = {"a": {"x": "2", "same": "s"}, "list": ["q", "p", "s"], "b": 1}
    assert list(reports.differences(native, ours)) == [
        Differs("a/x", "1", "2"),
        Differs("b", "-", "1"),
        Differs("list[]", "r", "-"),
        Differs("list[]", "-", "s"),
        Differs("list[order]", "p q", "q p"),
        Differs("only/deep", "d", "-"),
    ]
    assert list(reports.differences(native, native)) == []


def test_the_pod_of_an_executor_counts_where_both_sides_have_one() -> None:
    """A driver that fails at once may have none; whether it has is compared besides."""
    first, second = {"executor": {"pod": {"a": 1}, "jvm": 2}}, {"ended": {"executors": []}}
    assert reports.comparable(first, second) == (
        {"executor": {"jvm": 2}},
        {"ended": {"executors": []}, "executor": {}},
    )
    assert reports.comparable(first, first) == (first, first)


def test_order_by_chance_is_no_difference() -> None:
    """Spark keeps added jars in a hash table: executors load them in its order."""
    name = "spark.app.initial.jar.urls"
    native = {"conf": {name: "a,b"}, "executor": {"jvm": {"loaded": ["x", "y"]}}}
    ours = {"conf": {name: "b,a"}, "executor": {"jvm": {"loaded": ["y", "x"]}}}
    assert list(reports.differences(native, ours)) == []
    ours = {"conf": {name: "b"}, "executor": {"jvm": {"loaded": ["y"]}}}
    assert list(reports.differences(native, ours)) == [
        Differs(f"conf/{name}[]", "a", "-"),
        Differs("executor/jvm/loaded[]", "x", "-"),
    ]


def test_a_row_knows_what_fits_its_places_and_values_and_no_more() -> None:
    """Place and both values have to fit."""
    row = Difference("r", "w", "n", "s", "why", (Seen("*/conf/spark.master", "k8s://*", "sparkgen:*"),))
    known = Differs("driver/conf/spark.master", "k8s://x", "sparkgen://y")
    other = Differs("driver/conf/spark.master", "k8s://x", "local")
    assert reports.explained([known, other], [row]) == ({"r": [known]}, [other])


def test_the_facts_of_a_pod_name_the_volume_of_each_mount() -> None:
    """Only what an application may depend on is there."""
    main = {
        "name": "spark-kubernetes-driver",
        "ports": [{"name": "ui", "containerPort": 4040}],
        "volumeMounts": [{"name": "v", "mountPath": "/work", "readOnly": True}],
    }
    spec = {
        "containers": [main, {"name": "other"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "restartPolicy": "Never",
    }
    assert facts({"metadata": {"labels": {"a": "b"}}, "spec": spec}) == {
        "labels": {"a": "b"},
        "annotations": {},
        "containers": ["spark-kubernetes-driver", "other"],
        "initContainers": [],
        "restartPolicy": "Never",
        "main": {},
        "ports": {"ui": 4040},
        "mounts": {"/work": {"readOnly": True, "emptyDir": {}}},
    }


def test_the_page_has_the_table_and_the_cases(golden: Callable[[Path, str], None]) -> None:
    """`make golden` writes the page."""
    golden(PAGE, page(DIFFERENCES, BY_SPARKS_BACKEND, CASES))


def test_each_run_begins_once_and_another_when_it_is_asked_for_again() -> None:
    """Numbers are never used twice: names of the first run are still in the cluster.

    The other run does not wait for those that have not begun.
    """
    seen: list[int] = []
    held = threading.Event()

    def run(key: str, number: int) -> str:
        seen.append(number)
        if key == "slow":
            held.wait(10)
        return f"{key}{number}"

    ahead = Ahead(run, ["a", "b", "slow", "slow", "last"])
    assert (ahead.result("a"), ahead.result("b"), ahead.result("a")) == ("a1", "b2", "a6")
    assert 5 not in seen
    held.set()
    assert ahead.result("last") == "last5"
    ahead.close()
    assert sorted(seen) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("AFTER stopped", {"after main": {"context": "stopped"}}),
        ("AFTER open", {"after main": {"context": "open"}}),
        ("the JVM exits first", {}),
    ],
)
def test_what_the_context_is_after_main_is_what_the_probe_printed(line: str, told: dict[str, object]) -> None:
    """A driver that exits as its main function returns prints no line about it."""
    assert sides.printed(f'PROBE {{"driver": {{}}\nPROBE }}\n{line}\n') == {"driver": {}} | told
