"""How many requests the rows of many runs take, and what they say: as much as those of few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from sparkgen.cluster import Cluster, ClusterError, Unreadable
from sparkgen.live import crowd
from sparkgen.live.find import find
from sparkgen.live.rows import RunStatus, every, rows
from tests.unit.live import objects, test_rows
from tests.unit.live.objects import NAMESPACE, Object, cron_job, driver, ends, job, runs

NOW = datetime(2026, 11, 22, 1, 12, tzinfo=UTC)
VOLCANO = "scheduling.volcano.sh/v1beta1"
MANY = crowd.FEW + 1


class Counting(objects.Cluster):
    """A cluster that selects as an API server does, and counts requests. `faults`: kind -> why no list."""

    def __init__(self, *items: Object, faults: dict[str, Exception] | None = None) -> None:
        super().__init__(*items)
        self.faults = faults or {}
        self.asked: Counter[str] = Counter()

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Any:
        """An object."""
        self.asked[f"get {kind}"] += 1
        found = super().list(api_version, kind, namespace)
        return next((item for item in found if item["metadata"]["name"] == name), None)

    def list(  # type: ignore[override]
        self,
        api_version: str,
        kind: str,
        namespace: str = "",
        selector: str = "",
        fields: str = "",
        **_: bool,
    ) -> Sequence[Any]:
        """Objects that match."""
        self.asked[f"list {kind}"] += 1
        if kind in self.faults:
            raise self.faults[kind]
        field, _, wanted = fields.removeprefix("involvedObject.").partition("=")
        return [
            item
            for item in super().list(api_version, kind, namespace or self.namespace, selector)
            if (not fields or item["involvedObject"][field] == wanted)
            and all(_matches(item["metadata"].get("labels", {}), one) for one in selector.split(",") if one)
        ]

    def log(self, pod: str, container: str, namespace: str = "", **_: Any) -> str:
        """An empty log."""
        self.asked["log"] += 1
        return ""


def _matches(labels: dict[str, str], selector: str) -> bool:
    return (selector.removeprefix("!") in labels) is not selector.startswith("!")


def pending(number: int) -> list[Object]:
    """The objects of a run that waits for its group, with Events, another's Event, and its tuning."""
    made = job(f"pi{number:04}-1a2b3c4d", f"pi{number:04}")
    pod = driver(made)
    labels = {"sparkgen.dev/application": f"pi{number:04}"}
    if number % 2:
        pod["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": made["metadata"]["name"]}
    tuning = test_rows.tuning(instances=number % 7 + 1)
    tuning["metadata"] = {"name": f"pi{number:04}-tuning", "labels": labels}
    group = {
        "kind": "PodGroup",
        "metadata": {"name": made["metadata"]["name"]},
        "spec": {"queue": f"queue-{number}"},
        "status": {"phase": "Inqueue"},
    }
    events = [
        {
            "kind": "Event",
            "metadata": {"name": "e", "creationTimestamp": objects.BORN},
            "involvedObject": {
                "kind": item["kind"],
                "uid": item["metadata"]["uid"],
                "name": item["metadata"]["name"],
            },
            "reason": reason,
            "message": f"no volume {number}",
        }
        for item, reason in ((made, "SuccessfulCreate"), (pod, "FailedMount"))
    ]
    return [made, pod, tuning, group, *events]


def crowded(count: int, **more: Any) -> Counting:
    """A cluster with so many pending runs."""
    return Counting(*(item for number in range(count) for item in pending(number)), **more)


def shown(cluster: Counting, said: list[str] | None = None) -> list[RunStatus]:
    """The rows of a cluster; counts only the requests for what they need beside the runs and pods."""
    there = cast(Cluster, cluster)
    found = find(there).applications
    cluster.asked.clear()
    return rows(there, found, every, NOW, [].append if said is None else said.append)


def test_the_requests_do_not_grow_with_the_runs() -> None:
    """A tenant with thousands of pending Jobs would make everybody's `status -A` take minutes."""
    asked = []
    for count in (MANY, 300):
        cluster = crowded(count)
        shown(cluster)
        asked.append(dict(cluster.asked))
    assert asked[0] == asked[1] == {"list Event": 2, "list ConfigMap": 1, "list PodGroup": 1}


def test_few_runs_are_asked_for_one_by_one() -> None:
    """So that few do not wait for the lists of a large namespace; a run has no more requests than before."""
    cluster = crowded(1)
    shown(cluster)
    assert cluster.asked == {"list Event": 2, "get ConfigMap": 1}
    cluster = crowded(crowd.FEW)
    shown(cluster)
    assert (cluster.asked["get ConfigMap"], cluster.asked["list ConfigMap"]) == (crowd.FEW, 0)


def test_runs_that_need_no_events_make_no_crowd() -> None:
    """Many that succeeded, as in `history`, beside one that waits."""
    ended = [job(f"old{number:02}-1a2b3c4d", ended="Complete") for number in range(MANY)]
    cluster = Counting(*ended, *pending(1))
    assert len(shown(cluster)) == MANY + 1
    assert cluster.asked["list ConfigMap"] == 0


def test_rows_of_many_say_what_rows_of_few_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reasons in Events and groups, and how many executors are wanted; in the order of the applications."""
    others = [cron_job("nightly"), test_rows.by_spark(), test_rows.conf_map("spark.executor.instances 3")]
    others[2]["metadata"]["labels"] = {"sparkgen.dev/run": "pi-1a2b3c4d"}
    cluster = crowded(MANY)
    cluster.objects = (*cluster.objects, *others)
    many = shown(cluster)
    assert cluster.asked["list PodGroup"] == 1
    assert len({row.reason.cause for row in many if row.reason is not None}) == MANY + 1
    monkeypatch.setattr("sparkgen.live.rows.FEW", 1_000)
    assert many == shown(cluster)
    assert cluster.asked["get PodGroup"] > 1


@pytest.mark.parametrize("fault", [ClusterError("may not list", 403), Unreadable("more than 1 GiB")])
@pytest.mark.parametrize("kind", ["Event", "ConfigMap", "PodGroup"])
def test_what_cannot_be_listed_is_said_once(kind: str, fault: ClusterError) -> None:
    """The rows keep their states, and what other lists have."""
    said: list[str] = []
    found = shown(crowded(MANY, faults={kind: fault}), said)
    assert said == [f"{fault}; reasons and numbers of executors that need them are not shown"]
    assert [row.life.state.value for row in found] == ["Pending"] * MANY
    assert not [row for row in found if row.reason is not None and row.reason.code == "unreadable"]
    assert [row for row in found if row.reason is not None]


def test_a_cluster_without_groups_says_nothing() -> None:
    """Nobody installed Volcano."""
    said: list[str] = []
    shown(crowded(MANY, faults={"PodGroup": ClusterError("not found", 404)}), said)
    assert said == []


def test_a_crowd_changes_nothing_in_other_namespaces() -> None:
    """Those with few runs are asked for as if they were alone."""
    neighbour = job("neighbour-1a2b3c4d", "neighbour")
    neighbour["metadata"]["namespace"] = "other"
    cluster = crowded(MANY)
    cluster.objects = (*cluster.objects, neighbour)
    there = cast(Cluster, cluster)
    found = find(there, namespaces=[NAMESPACE, "other"]).applications
    cluster.asked.clear()
    made = rows(there, found, every, NOW)
    assert [row.namespace for row in made] == [NAMESPACE] * MANY + ["other"]
    assert cluster.asked == {
        "list Event": 3,
        "list ConfigMap": 1,
        "list PodGroup": 1,
        "get ConfigMap": 1,
    }


def test_the_logs_that_are_read_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each log is a request: a tenant's failed drivers must not keep everybody waiting."""
    monkeypatch.setattr(crowd, "MOST_LOGS", 5)
    failed = [job(f"pi{number:02}-1a2b3c4d", f"pi{number:02}", ended="Failed") for number in range(MANY)]
    cluster = Counting(*failed, *(driver(one, state=ends(1)) for one in failed))
    said: list[str] = []
    found = shown(cluster, said)
    assert cluster.asked["log"] == 5
    assert said == ["only 5 logs were read in analytics; to see more reasons, name applications"]
    assert {row.life.state.value for row in found} == {"Failed"}


def test_a_running_driver_of_a_crowd_is_not_lost() -> None:
    """It has no reason, and its own number of executors."""
    cluster = crowded(MANY)
    made = job("run-1a2b3c4d", "run")
    cluster.objects = (*cluster.objects, made, driver(made, state=runs()))
    [row] = [row for row in shown(cluster) if row.application == "run"]
    assert row.life.state.value == "Running"
