"""`sparkgen whatif`: what it prints, writes and ends with."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from tests.unit.eventlog import event_log as made

from .conftest import Cli

PRICES = "currency: USD\nonDemand: {coreHour: 36.0, gibHour: 0}\nspot: {coreHour: 3.6, gibHour: 0}\n"


@pytest.fixture
def log() -> str:
    """A log of an application of two executors and twelve tasks of 5 s."""
    events = [*made.start(**{"spark.executor.instances": "2", "spark.executor.memory": "1g"})]
    events += [made.executor(id_, 1.0) for id_ in ("1", "2")]
    events += [made.job_start(0, 1.0, [0]), made.stage_submitted(0, 12, 1.0)]
    for number in range(12):
        began = 1.0 + 5.0 * (number // 2)
        events.append(made.task(0, number, "12"[number % 2], began, began + 5.0))
    events += [made.stage_completed(0, 12, 1.0, 31.0), made.job_end(0, 31.0), made.end(31.0)]
    Path("log").write_bytes(made.text(events))
    return "log"


def test_the_truth_comes_first(cli: Cli, log: str) -> None:
    """What was recorded, its replay, and the error of that; then the answers."""
    result = cli("whatif", log, "--set", "spec.executor.instances=1,4,12")
    lines = result.out.splitlines()
    assert (result.code, result.err) == (0, "")
    assert lines[0] == "log: made, app-1, Spark 4.0.1"
    assert lines[1] == "recorded:  31.0 s, 60 executor-seconds, at most 2 executors"
    assert lines[3].startswith("error:     +0.0% wall time, +0.0% executor-seconds")
    table = {line.split()[0]: line.replace("*", "").split() for line in lines[5:10]}
    assert table["executor.instances=1"][1:4] == ["1", "m", "01"]
    assert table["executor.instances=4"][1:4] == ["16.0", "s", "-48%"]
    assert table["executor.instances=12"][1:4] == ["6.0", "s", "-81%"]
    assert "limit: 12 executors; more are not faster. The minimum wall time is 5.0 s" in lines


def test_several_fields_are_tried_each_with_each(cli: Cli, log: str) -> None:
    """And an overlay stands beside them."""
    Path("o.yaml").write_text("spec:\n  executor: {instances: 3}\n", "utf-8")
    sets = ["--set", "spec.executor.instances=1,2", "--set", "spec.executor.cores=1,2"]
    found = json.loads(cli("whatif", log, "--json", *sets, "--overlay", "o.yaml").out)
    labels = [run["label"] for run in found["studies"][0]["runs"]]
    assert labels[0] == "executor.instances=1, executor.cores=1"
    assert len(labels) == 5
    assert labels[4] == "o.yaml"
    assert found["studies"][0]["runs"][4]["mostExecutors"] == 3


def test_what_another_size_may_make_of_it_stands_beside(cli: Cli, log: str) -> None:
    """Tasks that used the processor all the time, on executors of four cores with as much heap each."""
    events = [json.loads(line) for line in Path(log).read_text("utf-8").splitlines()]
    for one in events:
        if one["Event"] == "SparkListenerTaskEnd":
            one["Task Metrics"] |= {"Executor CPU Time": 5_000_000_000, "Peak Execution Memory": 1 << 31}
    Path("busy").write_bytes(made.text(events))
    sets = ["--set", "spec.executor.cores=4", "--set", "spec.executor.memory=4g"]
    result = cli("whatif", "busy", *sets)
    line = next(line for line in result.out.splitlines() if line.startswith("executor.cores=4"))
    assert line.endswith("11.0 s to 13.0 s")
    assert "tasks had up to 2048 MiB for execution and would have 569: they may spill or fail" in result.out
    (run,) = json.loads(cli("whatif", "busy", "--json", *sets).out)["studies"][0]["runs"]
    assert run["wallRangeSeconds"] == pytest.approx([11.0, 13.0], abs=0.01)
    assert [remark["code"] for remark in run["notKnown"]] == ["MaySpill"]


def test_a_budget_is_held(cli: Cli, log: str) -> None:
    """Two cores for 31 s, and the driver's one, at a cent a core-second."""
    Path("prices.yaml").write_text(PRICES, "utf-8")
    priced = ["whatif", log, "--prices", "prices.yaml", "--json"]
    study = json.loads(cli(*priced).out)["studies"][0]
    assert study["recorded"]["cost"]["onDemand"] == pytest.approx(0.93, abs=0.01)
    assert study["recorded"]["cost"]["spot"] == pytest.approx(0.31 + 0.062, abs=0.01)
    assert cli(*priced, "--max-cost", "1").code == 0
    dear = cli(*priced, "--max-cost", "0.5")
    assert dear.code == 1
    assert "log: as recorded costs 0.92" in dear.err
    assert "USD, more than 0.5" in dear.err


def test_the_best_is_an_overlay(cli: Cli, log: str) -> None:
    """With where it comes from; the same on standard output."""
    result = cli("whatif", log, "--set", "spec.executor.instances=1,2,4", "--best", "best.yaml")
    assert "next: sparkgen diff --from HEAD -f best.yaml" in result.err
    text = Path("best.yaml").read_text("utf-8")
    assert yaml.safe_load(text)["spec"]["executor"] == {"instances": 2}
    assert "# Error of the replay: +0.0% wall time" in text
    assert cli("whatif", log, "--set", "spec.executor.instances=1,2,4", "--best", "-").out == text


def test_an_overlay_changes_no_more_than_it_has_to(cli: Cli, log: str) -> None:
    """Dynamic allocation is switched off only where it was on; what costs less than the best is said."""
    result = cli("whatif", log, "--search", "--best", "-")
    assert set(yaml.safe_load(result.out)["spec"]) == {"executor"}
    events = [json.loads(line) for line in Path(log).read_text("utf-8").splitlines()]
    events[1]["Spark Properties"] |= {"spark.dynamicAllocation.enabled": "true"}
    Path("dynamic").write_bytes(made.text(events))
    spec = yaml.safe_load(cli("whatif", "dynamic", "--search", "--best", "-").out)["spec"]
    assert spec["dynamicAllocation"] == {"enabled": False}
    dear = cli("whatif", log, "--set", "spec.executor.instances=12").out
    assert "executor.instances=12, the cheapest that takes at most 10% longer than recorded" in dear
    assert "longer than recorded; the recorded configuration costs less" in dear


def test_another_cluster_is_not_the_recorded_one(cli: Cli, log: str) -> None:
    """The error is that of what was recorded; what the cluster makes of it stands beside."""
    study = json.loads(cli("whatif", log, "--json", "--ready", "1", "--scale-up", "30").out)["studies"][0]
    assert study["error"]["wall"] == pytest.approx(0.0, abs=0.01)
    (slower,) = study["runs"]
    assert slower["label"] == "as recorded, in this cluster"
    assert slower["wallSeconds"] > study["replayed"]["wallSeconds"] + 5
    assert study["best"] is None


def test_a_search_is_bounded_and_finds_the_limit(cli: Cli, log: str) -> None:
    """Fixed and dynamic, other sizes, with a service and without."""
    study = json.loads(cli("whatif", log, "--search", "--json").out)["studies"][0]
    labels = [run["label"] for run in study["runs"]]
    assert 10 < len(labels) <= 64
    assert {"1 executor", "12 executors", "dynamic, up to 12, idle 10 s, shuffle service"} <= set(labels)
    assert study["best"] in labels


def test_rows_of_a_search_with_one_result_are_one_row(cli: Cli, log: str) -> None:
    """What was asked by name has a row of its own; JSON has every replay."""
    lines = cli("whatif", log, "--search", "--set", "spec.executor.instances=2,12").out.splitlines()
    rows = lines[6 : lines.index("", 6)]
    begin = lines[5].index("wall time") - 5
    results = [row[begin:] for row in rows if "executor.instances" not in row]
    assert any("more)" in row for row in rows)
    assert len(set(results)) == len(results) < 21
    study = json.loads(cli("whatif", log, "--search", "--json").out)["studies"][0]
    assert len(study["runs"]) > len(rows)


@pytest.mark.parametrize("asked", [["spec.executor.instances=0"], ["spec.executor.instances=4,0"]])
def test_a_replay_that_never_ends_is_an_error(cli: Cli, log: str, asked: list[str]) -> None:
    """Told on stderr, and in its row; the table is as wide as the others need."""
    result = cli("whatif", log, "--set", *asked)
    assert result.code == 1
    assert "log: executor.instances=0: the replay is stuck: after " in result.err
    row = next(line for line in result.out.splitlines() if line.startswith("executor.instances=0: "))
    assert len(result.out.splitlines()[5]) < len(row) + 20


def test_where_nothing_was_replayed_there_is_no_error_of_it(cli: Cli, log: str) -> None:
    """And no limit, no best, and no number in their place."""
    events = [json.loads(line) for line in Path(log).read_text("utf-8").splitlines()]
    ratio = {
        "spark.dynamicAllocation.executorAllocationRatio": "0",
        "spark.dynamicAllocation.enabled": "true",
    }
    events[1]["Spark Properties"] = {**ratio, "spark.executor.memory": "1g"}
    Path("stuck").write_bytes(made.text(events))
    result = cli("whatif", "stuck", "--json")
    study = json.loads(result.out)["studies"][0]
    assert result.code == 1
    assert study["error"] == {"wall": None, "executorSeconds": None}
    assert (study["facts"]["limit"], study["best"], study["replayed"].get("wallSeconds")) == (
        None,
        None,
        None,
    )
    text = cli("whatif", "stuck", "--html", "page.html").out
    assert "limit: not known" in text
    assert "not known" in Path("page.html").read_text("utf-8")
    assert cli("whatif", "stuck", "--set", "spec.executor.instances=2", "--best", "-").code == 2


def test_pods_that_never_ran_cost_nothing(cli: Cli, log: str) -> None:
    """Where three executors fit, three, eight and fifty cost the same, but for a wait that is told."""
    Path("prices.yaml").write_text(PRICES, "utf-8")
    ask = [
        "whatif",
        log,
        "--prices",
        "prices.yaml",
        "--capacity",
        "3",
        "--set",
        "spec.executor.instances=3,8,50",
    ]

    def costs(*more: str) -> list[float]:
        runs = json.loads(cli(*ask, *more, "--json").out)["studies"][0]["runs"][1:]
        return [run["cost"]["onDemand"] for run in runs]

    ratio = ["--set", "spec.sparkConf.spark\\.scheduler\\.minRegisteredResourcesRatio=0"]
    assert costs(*ratio) == pytest.approx([costs(*ratio)[0]] * 3)
    three, eight, fifty = costs()
    assert eight == pytest.approx(fifty)
    assert eight > three
    assert "only after 30 s, because it waits for 7 to register" in cli(*ask).out


def test_a_best_that_costs_more_than_what_was_recorded_says_so(cli: Cli, log: str) -> None:
    """In the report, in JSON, on the page and in the overlay."""
    ask = ["whatif", log, "--set", "spec.executor.instances=12"]
    assert "; the recorded configuration costs less" in cli(*ask, "--html", "page.html").out
    assert "; the recorded configuration costs less" in Path("page.html").read_text("utf-8")
    assert json.loads(cli(*ask, "--json").out)["studies"][0]["bestCostsMore"] is True
    assert "# The recorded configuration costs less.\n" in cli(*ask, "--best", "-").out
    cheaper = cli("whatif", log, "--set", "spec.executor.instances=2", "--json").out
    assert json.loads(cheaper)["studies"][0]["bestCostsMore"] is False


def test_node_shapes_are_paid_for_whole(cli: Cli, log: str) -> None:
    """Two executors fit on one node of two cores."""
    Path("p.yaml").write_text("nodes: [{name: small, cores: 2, memory: 8Gi, hour: 3600}]\n", "utf-8")
    study = json.loads(cli("whatif", log, "--prices", "p.yaml", "--json").out)["studies"][0]
    assert study["recorded"]["cost"]["node"] == "small"
    assert study["recorded"]["cost"]["onDemand"] == pytest.approx(31 + 31 / 2, abs=0.2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing"], "nothing does not exist; give a file"),
        (["log", "--max-cost", "3"], "--max-cost needs prices; add --prices FILE"),
        (["log", "--best", "x"], "add --set, --overlay or --search"),
        (["log", "--set", "spec.executor.instances"], "write PATH=VALUE"),
        (["log", "--set", "executor.instances=3"], "the path must start with spec."),
        (["log", "--set", "spec.executor.instances=3,spec.executor.cores=2"], "use one --set for each field"),
        (
            ["log", "--set", "spec.driver.cores=3"],
            "a replay cannot predict the effect of this. It can predict that of spec.",
        ),
        (["log", "--set", "spec.executor.instances=many"], "must be a whole number of at least 0"),
        (["log", "--set", "spec.executor.cores=0"], "must be a whole number of at least 1"),
        (["log", "--set", "spec.executor.memory=1x"], "spark.executor.memory is '1x'"),
        (["log", "--set", "spec.executor=3"], "spec.executor must be a mapping"),
        (["log", "--set", "spec.executor.instances=" + ",".join("1" * 65)], "asks for 65 replays"),
        (["log", "--overlay", "missing.yaml"], "the overlay cannot be read"),
        (["log", "--prices", "missing.yaml"], "cannot read missing.yaml"),
        (["log", "--capacity", "0"], "--capacity"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(
    cli: Cli, log: str, arguments: list[str], says: str
) -> None:
    """Exit code 2, and what to do."""
    result = cli("whatif", *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "p.yaml:1:1: the file must be a mapping"),
        ("onDemand: {coreHour: -1, gibHour: x, more: 1}", "p.yaml:1:38: unknown key 'more' in onDemand"),
        (
            "onDemand:\n  coreHour: -1",
            "p.yaml:2:13: onDemand.coreHour must be a number from 0 to 1000000000, not -1",
        ),
        (
            "onDemand:\n  coreHour: -1",
            "p.yaml:2:3: onDemand.gibHour is missing; add a number of at least 0",
        ),
        (
            "onDemand: {gibHour: x}",
            "p.yaml:1:21: onDemand.gibHour must be a number from 0 to 1000000000, not 'x'",
        ),
        ("currency: USD", "p.yaml:1:1: no price found"),
        ("", "p.yaml:1:1: no price found"),
        ("nodes: 3", "p.yaml:1:8: nodes must be a list, not 3"),
        ("nodes: [{name: a, cores: 1, memory: lots, hour: 1}]", "p.yaml:1:37: nodes[0].memory: "),
        ("nodes: [{name: a, cores: 1, memory: 1Gi, hour: 1}]", "no node in the price file has room"),
        ("a: 1\n---\nb: 2", "p.yaml:3:1: a price file must contain one document"),
        ("a: [", "p.yaml:1:4: the bracket `[` that opens here is never closed"),
    ],
)
def test_every_problem_of_a_file_of_prices_is_named(cli: Cli, log: str, text: str, says: str) -> None:
    """With file, line and column."""
    Path("p.yaml").write_text(text, "utf-8")
    result = cli("whatif", log, "--prices", "p.yaml")
    assert result.code == 2
    assert says in result.err


def test_an_unknown_library_is_named(cli: Cli, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is what to install."""
    for module in ("events", "gather"):
        monkeypatch.delattr(f"sparkgen.eventlog.{module}")
        monkeypatch.delitem(sys.modules, f"sparkgen.eventlog.{module}")
    monkeypatch.setitem(sys.modules, "msgspec", None)
    assert "pip install 'sparkgen[whatif]'" in cli("whatif", log).err


def test_names_in_a_log_cannot_give_orders_to_a_terminal(cli: Cli) -> None:
    """A log is somebody else's text."""
    events = made.small()
    events[2]["App Name"] = "\x1b[2Jhello\n::error::x"
    Path("log").write_bytes(made.text(events))
    out = cli("whatif", "log").out
    assert "\x1b" not in out
    assert "\n::error::" not in out


def test_a_page_is_written_whole(cli: Cli, log: str) -> None:
    """With every replay in its table, and a word where it is."""
    result = cli("whatif", log, "--set", "spec.executor.instances=4,12", "--html", "page.html")
    assert "wrote page.html" in result.err
    text = Path("page.html").read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert text.endswith("</html>\n")
    assert all(f"executor.instances={count}" in text for count in (4, 12))
    assert cli("whatif", log, log, "--html", "page.html").code == 2
    assert cli("whatif", log, "--html", "no/such/page.html").err.startswith("sparkgen: cannot write no/such")
