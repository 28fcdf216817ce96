"""Where a run stands in its queue, from Kueue's Workloads, as far as somebody may read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from sparkgen.cluster import Cluster as ClusterOfCommands
from sparkgen.cluster import ClusterError
from sparkgen.live.facts import gather
from sparkgen.live.find import find
from sparkgen.live.queue import QueuePlace, Queues, without_class
from sparkgen.live.rows import every, rows
from sparkgen.live.values import Run
from tests.unit.live.objects import NAMESPACE, Cluster, Object, driver, job, queued_executor, runs

NOW = datetime(2026, 11, 22, 1, 12, tzinfo=UTC)
QUEUE = {"kueue.x-k8s.io/queue-name": "team-a"}


def queued_job(**more: Any) -> Object:
    """A Job in the queue team-a."""
    made = job(**more)
    made["metadata"]["labels"] |= QUEUE
    return made


def workload(
    name: str, born: str, owner: str = "", *, queue: str = "team-a", done: str = "", priority: int = 0
) -> Object:
    """A Workload of Kueue's. `done`: a condition that is true."""
    why = {"type": "QuotaReserved", "status": "False", "message": f"no quota for {name}"}
    conditions = [why, *([{"type": done, "status": "True"}] if done else [])]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "creationTimestamp": f"2026-11-22T0{born}:00:00Z",
            "ownerReferences": [{"uid": owner or f"uid-of-{name}", "controller": True}],
        },
        "spec": {"queueName": queue, "priority": priority},
        "status": {"conditions": conditions},
    }


def run_of(*objects: Object) -> Run:
    """The run of these objects."""
    [run] = find(Cluster(*objects)).applications[0].runs
    return run


def test_the_place_is_that_of_kueue() -> None:
    """By priority, then by age; others' queues and what has been admitted do not count."""
    waiting = queued_job(spec={"suspend": True})
    others = [
        workload("old", "1"),
        workload("young", "4"),
        workload("grave", "4", priority=10),
        workload("elsewhere", "1", queue="team-b"),
        workload("admitted", "1", done="Admitted"),
        workload("ended", "1", done="Finished"),
    ]
    own = workload("job-pi", "3", waiting["metadata"]["uid"])
    found = Queues(Cluster(waiting, own, *others)).place(run_of(waiting))
    assert found == QueuePlace("team-a", 3, 4, "no quota for job-pi")


def test_executors_are_found_by_an_owner_that_does_not_control_them() -> None:
    """They are the run's, and the first of them that waits has the run's place."""
    made = queued_job()
    pods = [driver(made, state=runs()), queued_executor(driver(made), 1), queued_executor(driver(made), 2)]
    run = run_of(made, *pods)
    assert [pod["metadata"]["uid"] for pod in run.executors] == ["uid-exec-1", "uid-exec-2"]
    waiting = [workload("pod-1", "1", "uid-exec-1"), workload("pod-2", "2", "uid-exec-2")]
    assert Queues(Cluster(made, *pods, *waiting)).place(run) == QueuePlace(
        "team-a", 1, 2, "no quota for pod-1"
    )


def test_without_a_queue_nothing_is_asked() -> None:
    """A run in no queue has no place, and costs no request."""
    assert Queues(Cluster(job(), forbidden=["Workload"])).place(run_of(job())) is None


class WithEvents(Cluster):
    """A cluster that has Events, and takes a field selector."""

    def list(  # type: ignore[override]
        self,
        api_version: str,
        kind: str,
        namespace: str = "",
        selector: str = "",
        fields: str = "",
        **_: bool,
    ) -> Sequence[Object]:
        """What there is of a kind."""
        return [dict(item) for item in super().list(api_version, kind, namespace, selector)]


class OldKueue(Cluster):
    """One that serves no v1beta2."""

    def list(  # type: ignore[override]
        self, api_version: str, kind: str, namespace: str = "", selector: str = "", **_: bool
    ) -> Sequence[Object]:
        """What there is of a kind."""
        if api_version == "kueue.x-k8s.io/v1beta2":
            raise ClusterError("not found", 404)
        return [dict(item) for item in super().list(api_version, kind, namespace, selector)]


def test_an_older_kueue_is_asked_too() -> None:
    """An older Kueue serves v1beta1 alone."""
    waiting = queued_job()
    own = workload("job-pi", "3", waiting["metadata"]["uid"])
    assert Queues(OldKueue(waiting, own)).place(run_of(waiting)) == QueuePlace(
        "team-a", 1, 1, "no quota for job-pi"
    )


def test_who_may_not_read_workloads_knows_the_queue() -> None:
    """No place and no reason, and no error."""
    waiting = queued_job()
    assert Queues(Cluster(waiting, forbidden=["Workload"])).place(run_of(waiting)) == QueuePlace("team-a")


def test_a_missing_class_keeps_a_job_out_of_its_queue() -> None:
    """Kueue says so in an Event of the Job; one about its Workload that comes later is the news."""
    waiting = queued_job(spec={"suspend": True})
    waiting["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "urgent"
    run = run_of(waiting)
    gone, taken = {"reason": "WorkloadPriorityClassNotFound"}, {"reason": "CreatedWorkload"}
    said = without_class(run, [{"reason": "Suspended"}, gone])
    assert said is not None
    assert said.cause == "not in the queue team-a: there is no WorkloadPriorityClass urgent"
    assert "workloadpriorityclasses.kueue.x-k8s.io" in said.next_step
    assert without_class(run, [gone, taken]) is None
    assert without_class(run, []) is None


def test_a_suspended_job_of_a_queue_is_asked_for_its_events() -> None:
    """So that `status` finds the reason; a Job that a person has suspended costs no request."""
    waiting = queued_job(spec={"suspend": True})
    waiting["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "urgent"
    event = {
        "kind": "Event",
        "metadata": {"name": "e", "namespace": NAMESPACE},
        "reason": "WorkloadPriorityClassNotFound",
        "involvedObject": {"name": waiting["metadata"]["name"]},
    }
    assert [one["reason"] for one in gather(WithEvents(waiting, event), run_of(waiting)).events] == [
        "WorkloadPriorityClassNotFound"
    ]
    assert (
        gather(WithEvents(job(spec={"suspend": True}), event), run_of(job(spec={"suspend": True}))).events
        == ()
    )


class Counting(WithEvents):
    """A cluster that counts how often the Workloads of a namespace are listed.

    `fault`: why they cannot be listed.
    """

    def __init__(self, *objects: Object, fault: Exception | None = None) -> None:
        super().__init__(*objects)
        self.fault = fault
        self.listed: Counter[str] = Counter()

    def list(  # type: ignore[override]
        self,
        api_version: str,
        kind: str,
        namespace: str = "",
        selector: str = "",
        fields: str = "",
        **_: bool,
    ) -> Sequence[Object]:
        """What there is of a kind."""
        self.listed[f"{kind} {namespace}"] += 1
        if kind == "Workload" and self.fault:
            raise self.fault
        return super().list(api_version, kind, namespace, selector, fields)


def test_workloads_are_listed_once_for_all_runs_of_a_command() -> None:
    """However many wait, and whatever their queues are."""
    jobs = [queued_job(name=f"job-{number}", spec={"suspend": True}) for number in range(1, 6)]
    jobs[4]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "team-b"
    own = [workload(f"w-{number}", str(number), f"uid-job-{number}") for number in range(1, 5)]
    own.append(workload("w-5", "1", "uid-job-5", queue="team-b"))
    cluster = Counting(*jobs, *own)
    shown = rows(cast(ClusterOfCommands, cluster), find(cluster).applications, every, NOW)
    assert cluster.listed[f"Workload {NAMESPACE}"] == 1
    assert {row.run: row.reason.cause for row in shown if row.reason is not None} == {
        "job-1": "queued in team-a, 1st of 4 (no quota for w-1)",
        "job-2": "queued in team-a, 2nd of 4 (no quota for w-2)",
        "job-3": "queued in team-a, 3rd of 4 (no quota for w-3)",
        "job-4": "queued in team-a, 4th of 4 (no quota for w-4)",
        "job-5": "queued in team-b, 1st of 1 (no quota for w-5)",
    }


@pytest.mark.parametrize(
    ("fault", "asked"),
    [
        (ClusterError("does not answer"), 1),
        (ClusterError("too many requests", 429), 1),
        (TypeError("odd"), 1),
        (ClusterError("forbidden", 403), 2),  # each version is asked for once
    ],
)
def test_a_list_that_fails_is_not_repeated_for_each_run(fault: Exception, asked: int) -> None:
    """A server that does not answer would keep each run waiting in turn, and all rows say why."""
    jobs = [queued_job(name=f"job-{number}", spec={"suspend": True}) for number in range(1, 20)]
    cluster = Counting(*jobs, fault=fault)
    shown = rows(cast(ClusterOfCommands, cluster), find(cluster).applications, every, NOW)
    assert cluster.listed[f"Workload {NAMESPACE}"] == asked
    causes = {row.reason.cause for row in shown if row.reason is not None}
    assert len(shown) == len(jobs)
    assert causes == {
        "queued in team-a"
        if asked > 1
        else f"sparkgen cannot read its objects ({type(fault).__name__}: {fault})"
    }
