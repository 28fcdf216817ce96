"""What is gathered about runs, and the table that it makes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.live.facts import Executors, gather
from sparkgen.live.find import find
from sparkgen.live.rows import RunStatus, current, every, names, rows
from sparkgen.live.table import HISTORY, STATUS, count, short, table, value
from sparkgen.resources.spark_backend import MASTER
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLine
from tests.unit.live import objects
from tests.unit.live.cases import NO_CLASS, event, told
from tests.unit.live.objects import Object, cron_job, driver, ends, executor, job, runs

NOW = datetime(2026, 11, 22, 1, 12, tzinfo=UTC)
OLD = "2026-11-21T01:00:00Z"
ALLOCATOR = told(LogLine(LogEvent.TARGET, "4 wanted", facts={"wanted": {"0": 4}}))
OLD = "2026-11-22T01:01:00.000Z info    the driver's target: 4 wanted\n"


class Cluster(objects.Cluster):
    """One with logs, too: (pod, container) -> text, or an error. `asked`: which logs were."""

    def __init__(self, *items: Object, logs: dict[tuple[str, str], str | int] | None = None) -> None:
        super().__init__(*items)
        self.logs = logs or {}
        self.asked: list[tuple[str, str, bool]] = []

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Object | None:
        """An object."""
        return next((item for item in self.list(api_version, kind, namespace) if named(item) == name), None)

    def list(  # type: ignore[override]
        self,
        api_version: str,
        kind: str,
        namespace: str = "",
        selector: str = "",
        fields: str = "",
        **_: bool,
    ) -> Sequence[Object]:
        """Objects; Events by the name that they are about."""
        found = [
            dict(item) for item in super().list(api_version, kind, namespace or self.namespace, selector)
        ]
        if fields:
            uid = fields.partition("=")[2].removeprefix("uid-")
            return [item for item in found if item["involvedObject"]["name"] == uid]
        return found

    def log(
        self,
        pod: str,
        container: str,
        namespace: str = "",
        *,
        tail: int | None = None,
        previous: bool = False,
        most: int = 0,
    ) -> str:
        """A log."""
        self.asked.append((pod, container, previous))
        found = self.logs.get((pod, container), 404)
        if isinstance(found, int):
            raise ClusterError("no log", found)
        return found


def named(item: Any) -> str:
    """An object's name."""
    return str(item["metadata"]["name"])


def tuning(**executors: int) -> Object:
    """The ConfigMap that may change."""
    import json  # noqa: PLC0415

    return {
        "kind": "ConfigMap",
        "metadata": {"name": "pi-tuning"},
        "data": {"tuning.json": json.dumps({"version": 1, "executors": executors})},
    }


def by_spark() -> Object:
    """A Job whose driver creates its executors."""
    arguments = [*contract.DRIVER_ARGUMENTS_OF_SPARK, "local:///a.py"]
    container = {"name": contract.DRIVER_CONTAINER, "args": arguments}
    return job(spec={"template": {"spec": {"containers": [container]}}})


def conf_map(conf: str) -> Object:
    """The run's ConfigMap with the properties of Spark's own backend."""
    text = f"spark.master {MASTER}\n{conf}"
    return {
        "kind": "ConfigMap",
        "metadata": {"name": "pi-1a2b3c4d-conf"},
        "data": {contract.SPARK_DEFAULTS_FILE: text},
    }


def with_allocator(pod: Object) -> Object:
    """A driver's pod whose allocator runs."""
    pod["status"]["initContainerStatuses"] = [{"name": "allocator", "state": runs()}]
    return pod


def made(cluster: Cluster, chosen: Any = current) -> list[RunStatus]:
    """The rows of a cluster."""
    return rows(cluster, find(cluster).applications, chosen, NOW)


def test_a_running_application_in_one_line() -> None:
    """Executors are counted from pods; how many are wanted is in the allocator's log."""
    pod = with_allocator(driver(job(), state=runs()))
    pods = [executor(pod, 1), executor(pod, 2), executor(pod, 3, "Pending"), executor(pod, 4, "Succeeded")]
    cluster = Cluster(job(), pod, *pods, logs={(named(pod), "allocator"): ALLOCATOR})
    assert table(made(cluster), STATUS, NOW) == [
        "NAME   RUN           STATE     EXECUTORS        SINCE   REASON",
        "pi     pi-1a2b3c4d   Running   2/4 +1 pending   11m",
    ]


@pytest.mark.parametrize(
    ("planned", "shown"),
    [({"instances": 3}, "0/3"), ({"minimum": 0, "initial": 2, "maximum": 9}, "0/-")],
)
def test_how_many_an_older_image_wants_is_not_guessed(planned: dict[str, int], shown: str) -> None:
    """With static allocation the tuning says it; with dynamic allocation nobody knows, and why is said."""
    pod = with_allocator(driver(job(), state=runs()))
    [row] = made(Cluster(job(), pod, tuning(**planned), logs={(named(pod), "allocator"): OLD}))
    assert count(row.executors) == shown
    assert row.reason is not None
    assert row.reason.code == "unknown"


@pytest.mark.parametrize(
    ("planned", "shown"),
    [({"instances": 3}, "0/3"), ({"minimum": 0, "initial": 2, "maximum": 9}, "0/2"), ({}, "0/-")],
)
def test_until_the_allocator_speaks_the_tuning_says_how_many(planned: dict[str, int], shown: str) -> None:
    """And without it nobody knows."""
    [row] = made(Cluster(job(), driver(job()), *([tuning(**planned)] if planned else [])))
    assert count(row.executors) == shown


@pytest.mark.parametrize(
    ("conf", "shown"),
    [
        ("spark.executor.instances 3\n", "0/3"),
        ("spark.executor.instances 3\nspark.dynamicAllocation.enabled true\n", "0/-"),
        (f"spark.executor.instances {'9' * 4300}\n", "0/-"),
    ],
)
def test_without_an_allocator_the_properties_say_how_many(conf: str, shown: str) -> None:
    """With Spark's own backend nothing has a target; with dynamic allocation only the driver knows it."""
    of_spark = by_spark()
    [row] = made(Cluster(of_spark, driver(of_spark, state=runs()), conf_map(conf)))
    assert (count(row.executors), row.reason) == (shown, None)


def test_what_many_runs_name_is_read_once() -> None:
    """Anybody labels a thousand small Jobs so that they name one large ConfigMap, which nobody parses."""
    large = conf_map("spark.executor.instances 3\n" + "a\n" * 40_000)
    first, second = by_spark(), by_spark()
    second["metadata"] = {**second["metadata"], "name": "pi-again", "uid": "uid-again"}
    cluster = Cluster(first, second, large)
    asked: list[str] = []
    get = cluster.get

    def counted(api_version: str, kind: str, name: str, namespace: str = "") -> Object | None:
        asked.append(name)
        return get(api_version, kind, name, namespace)

    cluster.get = counted  # type: ignore[method-assign]
    assert [count(row.executors) for row in made(cluster)] == ["0/-", "0/-"]
    assert asked == ["pi-1a2b3c4d-conf"]


def test_a_deployment_has_its_own_pods_only() -> None:
    """Whatever labels others have: the log of one driver is not read for each of them."""
    own, other = objects.deployment(), objects.deployment()
    other["metadata"] = {**other["metadata"], "name": "stream-2", "uid": "uid-2"}
    pod = with_allocator(driver(own, state=runs()))
    cluster = Cluster(own, other, pod, logs={(named(pod), "allocator"): ALLOCATOR})
    assert {row.workload: row.driver for row in made(cluster)} == {
        "deployment.apps/stream": "stream-x7k2p",
        "deployment.apps/stream-2": "",
    }
    assert cluster.asked == [("stream-x7k2p", "allocator", False)]


REFUSED = """\
26/11/22 01:02:00 ERROR Utils: Uncaught exception in thread kubernetes-executor-snapshots-subscribers-0
io.fabric8.kubernetes.client.KubernetesClientException: Failure executing: POST at: \
https://kubernetes.default.svc/api/v1/namespaces/analytics/pods. Message: pods "pi-1-exec-3" is forbidden: \
exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3. Received status: Status(code=403)
\tat io.fabric8.kubernetes.client.dsl.internal.OperationSupport.requestFailure(OperationSupport.java:642)
"""


REFUSED_IN_POD = """\
26/11/22 01:02:00 WARN ExecutorPodsSnapshotsStoreImpl: Exception when notifying snapshot subscriber.
Caused by: io.fabric8.kubernetes.client.KubernetesClientException: Failure executing: POST at: \
https://kubernetes.default.svc/api/v1/namespaces/analytics/pods. Message: Forbidden!Configured service \
account doesn't have access. Service account may have been revoked. pods "pi-1-exec-3" is forbidden: \
exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3.
\tat io.fabric8.kubernetes.client.dsl.internal.OperationSupport.requestFailure(OperationSupport.java:671)
"""


@pytest.mark.parametrize("log", [REFUSED, REFUSED_IN_POD], ids=["4.3", "3.5"])
def test_the_log_of_a_driver_that_creates_executors_says_why_it_cannot(log: str) -> None:
    """The API server's message is explained as one about the driver's pod is."""
    of_spark = by_spark()
    pod = driver(of_spark, state=runs())
    cluster = Cluster(
        of_spark,
        pod,
        conf_map("spark.executor.instances 3\n"),
        logs={(named(pod), contract.DRIVER_CONTAINER): log},
    )
    [row] = made(cluster)
    assert row.reason is not None
    assert row.reason.code == "quota"
    assert "requested: pods=1, used: pods=3, limited: pods=3" in row.reason.text


def test_only_the_log_that_tells_is_read() -> None:
    """None of a run that went well; the driver's of one that failed, of the time before if it waits again."""
    good = Cluster(job(ended="Complete"), driver(job(), state=ends()))
    assert made(good)[0].reason is None
    assert good.asked == []
    bad = Cluster(
        job(ended="Failed"), driver(job(), state=ends(101)), logs={("pi-1a2b3c4d-x7k2p", D): NO_CLASS}
    )
    [row] = made(bad)
    assert row.reason is not None
    assert row.reason.code == "main-class"
    assert bad.asked == [("pi-1a2b3c4d-x7k2p", D, False)]
    again = {"name": D, "restartCount": 1, "state": {"waiting": {}}, "lastState": ends(1)}
    stream = objects.deployment()
    waits = Cluster(stream, driver(stream, containerStatuses=[again]))
    assert made(waits)[0].life.state.value == "Restarting"
    assert waits.asked == [("stream-x7k2p", D, True)]


D = "spark-kubernetes-driver"


@pytest.mark.parametrize("status", [400, 403, 404])
def test_what_may_not_be_read_is_left_out(status: int) -> None:
    """A log without a right, or without a container: the exit code still says something."""
    cluster = Cluster(
        job(ended="Failed"), driver(job(), state=ends(101)), logs={("pi-1a2b3c4d-x7k2p", D): status}
    )
    [row] = made(cluster)
    assert row.reason is not None
    assert row.reason.cause == "the driver's program ended with code 101"


def test_a_server_that_fails_is_no_missing_right() -> None:
    """It is said, and ends the command."""
    pod = driver(job(), state=ends(101))
    with pytest.raises(ClusterError):
        made(Cluster(job(ended="Failed"), pod, logs={(named(pod), D): 503}))


def test_events_come_in_their_order() -> None:
    """Those about the Job and about its newest pod."""
    late, early = event("B", "2", last="2026-11-22T01:10:00Z"), event("A", "1", last=OLD)
    other = {**early, "involvedObject": {"name": "other"}}
    cluster = Cluster(job(), late, early, other)
    [run] = find(cluster).applications[0].runs
    assert [one["reason"] for one in gather(cluster, run).events] == ["A", "B"]


def test_status_has_the_latest_and_what_runs_history_has_all() -> None:
    """Ended runs before the latest are history."""
    jobs = [
        job("pi-00000003", born="2026-11-22T01:00:03Z", ended="Complete"),
        job("pi-00000002", born="2026-11-22T01:00:02Z"),
        job("pi-00000001", born="2026-11-22T01:00:01Z", ended="Failed"),
    ]
    cluster = Cluster(*jobs)
    assert [row.run for row in made(cluster)] == ["pi-00000003", "pi-00000002"]
    assert [row.run for row in made(cluster, every)] == ["pi-00000003", "pi-00000002", "pi-00000001"]
    assert table(made(cluster, every), HISTORY, NOW)[0::3] == [
        "RUN           STATE       STARTED   DURATION   REASON",
        "pi-00000001   Failed      11m       9m59s      its driver's pod and log are gone: look "
        "for the log in your cluster's log collection, or run it again",
    ]


def test_a_schedule_before_and_after_its_firings() -> None:
    """It has a line before the first, and says when it comes round."""
    waiting = made(Cluster(cron_job(timeZone="Europe/Berlin")))
    [line] = table(waiting, STATUS, NOW)[1:]
    assert line.split(maxsplit=5) == [
        *("nightly", "-", "Scheduled", "-", "12m"),
        "it has not fired yet (0 3 * * * Europe/Berlin)",
    ]
    fired = job("nightly-1", "nightly", run="nightly-1a2b3c4d", ended="Complete")
    [row] = made(Cluster(cron_job(), fired))
    assert row.reason is not None
    assert row.reason.text == "it runs again on schedule (0 3 * * *)"
    [row] = made(Cluster(cron_job(suspend=True), fired))
    assert row.reason is not None
    assert row.reason.code == "suspended"


def test_a_long_reason_is_cut_in_a_table_and_makes_no_other_line_long() -> None:
    """Escapes count; JSON has more of it, but not without limit."""
    long = "a" * 300 + "\u202e" * 100_000 + "z" * 300
    shown = made(Cluster(cron_job(timeZone=long), *[job(f"pi-{n}", f"pi-{n}") for n in range(100)]))
    tracemalloc.start()
    lines = table(shown, STATUS, NOW)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    [line] = [line for line in lines if "aaaa" in line]
    assert len(line) < 1_200
    assert line.endswith("zzzz)")
    assert peak < 5_000_000
    [cause] = [value(row)["reason"]["cause"] for row in shown if not row.run]
    assert 9_900 < len(cause) < 10_100
    assert shown[0].reason is not None
    assert len(shown[0].reason.text) < 1_100


def test_wide_and_many_namespaces_have_more_columns() -> None:
    """Kind, exit code, driver and node; the namespace first."""
    pod = driver(job(), state=ends(3))
    pod["spec"]["nodeName"] = "node1"
    head, line = table(made(Cluster(job(ended="Failed"), pod)), STATUS, NOW, wide=True, spaces=True)
    assert head.split() == [
        "NAMESPACE",
        "NAME",
        "RUN",
        "STATE",
        "EXECUTORS",
        "SINCE",
        "KIND",
        "EXIT",
        "DRIVER",
        "NODE",
        "REASON",
    ]
    assert line.split()[:10] == [
        "analytics",
        "pi",
        "pi-1a2b3c4d",
        "Failed",
        "-",
        "2m",
        "job",
        "3",
        "pi-1a2b3c4d-x7k2p",
        "node1",
    ]


def test_names_are_kubectls() -> None:
    """Kind, group and name."""
    stream = objects.deployment()
    found = made(Cluster(job(), stream, cron_job()))
    assert names(found) == "cronjob.batch/nightly\njob.batch/pi-1a2b3c4d\ndeployment.apps/stream\n"


def test_for_machines_all_keys_are_there() -> None:
    """Null where nothing is known."""
    [row] = made(Cluster(job(), driver(job(), state=runs())))
    assert value(row) == {
        "namespace": "analytics",
        "application": "pi",
        "run": "pi-1a2b3c4d",
        "workload": "job.batch/pi-1a2b3c4d",
        "session": False,
        "latest": True,
        "state": "Running",
        "since": "2026-11-22T01:00:20Z",
        "started": "2026-11-22T01:00:00Z",
        "ended": None,
        "exitCode": None,
        "executors": {"running": 0, "pending": 0, "target": None},
        "driverPod": "pi-1a2b3c4d-x7k2p",
        "node": None,
        "reason": None,
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (185, "3m5s"),
        (3600, "60m"),
        (11000, "3h3m"),
        (90000, "25h"),
        (4e5, "4d"),
    ],
)
def test_ages_are_short(seconds: float, text: str) -> None:
    """As kubectl writes them."""
    assert short(timedelta(seconds=seconds)) == text
    assert count(Executors(1, 0, None)) == "1/-"


HOSTILE = "9" * 4300
NEIGHBOURS = [job("other-1a2b3c4d", "other"), driver(job("other-1a2b3c4d", "other"), state=runs())]


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, "[]", '{"executors": [1]}', f'{{"executors": {{"instances": {HOSTILE}}}}}', "{", '"x"'],
    ids=["deep", "list", "list inside", "large", "cut", "string"],
)
def test_a_strange_tuning_says_nothing(text: str) -> None:
    """Everybody who may write ConfigMaps in a namespace wrote it; the rows of the others are there."""
    strange = {**tuning(), "data": {"tuning.json": text}}
    found = made(Cluster(job(), driver(job()), strange, *NEIGHBOURS))
    assert [(row.application, count(row.executors)) for row in found] == [("other", "0/-"), ("pi", "0/-")]


@pytest.mark.parametrize(
    "counts", [{"0": int(HOSTILE), "1": 1}, {"0": "4"}, {"0": True}, [4], {"0": 2**31}], ids=range(5)
)
def test_a_strange_count_in_a_log_says_nothing(counts: Any) -> None:
    """Any program can write a line with the allocator's form."""
    log = told(LogLine(LogEvent.TARGET, "many wanted", facts={"wanted": counts}))
    pod = with_allocator(driver(job(), state=runs()))
    found = made(Cluster(job(), pod, *NEIGHBOURS, logs={(named(pod), "allocator"): log}))
    assert [(row.application, count(row.executors)) for row in found] == [("other", "0/-"), ("pi", "0/-")]


def test_what_cannot_be_read_takes_no_row_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a neighbour writes: the row says it, with a next step, and keeps its state."""

    def fails(facts: Any, now: datetime) -> None:
        if facts.run.application == "pi":
            raise TypeError("no \x1b[2Jnumber")

    monkeypatch.setattr("sparkgen.live.rows.explain", fails)
    other, pi = made(Cluster(job(), driver(job(), state=runs()), *NEIGHBOURS))
    assert other.reason is None
    assert (pi.life.state, pi.executors) == (other.life.state, None)
    assert pi.reason is not None
    assert pi.reason.code == "unreadable"
    assert "TypeError" in pi.reason.text
    assert "\x1b" not in pi.reason.text
    assert pi.reason.next_step == "look at them: kubectl get configmaps,events,pods -n analytics -o yaml"


def test_a_request_that_fails_for_one_run_takes_no_row_from_others() -> None:
    """Of several runs; alone, it is said and ends the command."""
    pod = driver(job(ended="Failed"), state=ends(101))
    failing = [job(ended="Failed"), pod]
    logs: dict[tuple[str, str], str | int] = {(named(pod), D): 503}
    other, pi = made(Cluster(*failing, *NEIGHBOURS, logs=logs))
    assert other.reason is None
    assert pi.reason is not None
    assert pi.reason.code == "unreadable"
    assert "no log" in pi.reason.text
