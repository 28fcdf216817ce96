"""The view of an attempt's executors: lists and events, in every order that a network can make of them."""

from __future__ import annotations

from typing import Any

from sparkgen.runtime.allocator.observe.view import MAX_VANISHED, PodView
from sparkgen.runtime.allocator.values.backend import PodList, WatchEvent
from sparkgen.runtime.allocator.values.observed import Cause, PodPhase
from tests.unit.runtime.allocator.recorded_pods import ATTEMPT, executor, recorded


def listing(*pods: dict[str, Any], version: str = "100") -> PodList:
    """A whole list."""
    return PodList(tuple(pods), version)


def event(kind: str, pod: dict[str, Any], version: str = "101") -> WatchEvent:
    """One event of a watch."""
    return WatchEvent(kind, pod, version)


def view(*pods: dict[str, Any]) -> PodView:
    """A view that has read a whole list at 10, asked for at 9."""
    return PodView(ATTEMPT).with_list(listing(*pods), asked_at=9, now=10)


def test_nothing_is_known_before_the_first_list() -> None:
    """An empty view is not a cluster without executors."""
    snapshot = PodView(ATTEMPT).snapshot()
    assert (snapshot.complete, snapshot.listed_at, dict(snapshot.executors)) == (False, None, {})


def test_a_list_becomes_executors() -> None:
    """Each pod of the list is an executor with its phase, node and reason; a list makes the view complete."""
    snapshot = view(
        executor("running", 1), executor("unschedulable", 2), executor("oom-killed", 3)
    ).snapshot()
    assert snapshot.complete
    assert snapshot.listed_at == 9
    assert [seen.phase for seen in snapshot.executors.values()] == [
        PodPhase.RUNNING,
        PodPhase.PENDING,
        PodPhase.FAILED,
    ]
    assert snapshot.executors[1].node == "node2"
    waiting, loss = snapshot.executors[2].waiting, snapshot.executors[3].loss
    assert waiting is not None
    assert waiting.reason == "Unschedulable"
    assert loss is not None
    assert loss.cause is Cause.OOM


def test_the_time_of_a_pod_begins_when_its_queue_lets_it_go() -> None:
    """`since` is when it was first seen without a gate: what it waited in the queue counts for nothing."""
    now = view(executor("gated", 1)).with_event(event("MODIFIED", executor("gated", 1)), 14)
    assert (now.snapshot().executors[1].since, now.snapshot().executors[1].queued) == (10, True)
    now = now.with_event(event("MODIFIED", executor("unschedulable", 1), "102"), 20)
    now = now.with_event(event("MODIFIED", executor("unschedulable", 1), "103"), 30)
    assert (now.snapshot().executors[1].since, now.snapshot().executors[1].queued) == (20, False)


def test_the_profile_is_the_labels() -> None:
    """The resource profile is a label of the pod; a label that is no number is the default profile."""
    pods = [executor("running", id_) for id_ in (1, 2, 3)]
    for pod, profile in zip(pods, ("3", "three", "9" * 5000), strict=True):
        pod["metadata"]["labels"]["spark-exec-resourceprofile-id"] = profile
    assert [view(*pods).snapshot().executors[id_].profile for id_ in (1, 2, 3)] == [3, 0, 0]


def test_the_time_in_a_phase_is_by_our_clock() -> None:
    """`since` changes with the phase, and with nothing else: no list and no event of the same phase."""
    now = view(executor("pending", 1)).with_event(event("MODIFIED", executor("unschedulable", 1)), 12)
    assert now.snapshot().executors[1].since == 10
    now = now.with_event(event("MODIFIED", executor("running", 1)), 14)
    assert now.snapshot().executors[1].since == 14
    now = now.with_gap().with_list(listing(executor("running", 1)), 20, 21)
    assert now.snapshot().executors[1].since == 14


def test_a_deleted_executor_vanishes_with_its_cause() -> None:
    """Who saw the executor last knows why it is gone, though no pod is there to say it."""
    now = view(executor("running", 1), executor("running", 2))
    now = now.with_event(event("MODIFIED", executor("preempting", 1)), 11)
    assert now.snapshot().executors[1].deleting
    now = now.with_event(event("DELETED", executor("preempted", 1)), 12)
    now = now.with_event(event("DELETED", executor("running", 2)), 13)
    snapshot = now.snapshot()
    assert not snapshot.executors
    causes = {id_: seen.loss.cause for id_, seen in snapshot.vanished.items() if seen.loss}
    assert causes == {1: Cause.PREEMPTED, 2: Cause.DELETED}


def test_the_first_cause_of_an_end_stays() -> None:
    """A pod that ran out of memory and is then deleted has still run out of memory."""
    now = view(executor("oom-killed", 1)).with_event(event("MODIFIED", executor("deleted-143", 1)), 11)
    loss = now.snapshot().executors[1].loss
    assert loss is not None
    assert loss.cause is Cause.OOM
    gone = now.with_event(event("DELETED", executor("deleted-143", 1)), 12).snapshot().vanished[1].loss
    assert gone == loss


def test_a_deletion_that_no_event_told_is_seen_in_the_next_list() -> None:
    """After a gap, what the list lacks is gone, by what was about to end it."""
    now = view(executor("evicting", 1), executor("running", 2)).with_gap()
    assert not now.snapshot().complete
    assert set(now.snapshot().executors) == {1, 2}
    snapshot = now.with_list(listing(executor("running", 2)), 20, 21).snapshot()
    assert snapshot.complete
    assert set(snapshot.executors) == {2}
    loss = snapshot.vanished[1].loss
    assert loss is not None
    assert loss.cause is Cause.EVICTED


def test_pods_of_others_are_not_seen() -> None:
    """Neither another driver's pods, nor pods without an owner, nor our own that are no executors."""
    other = executor("running", 1)
    other["metadata"]["ownerReferences"][0]["uid"] = "another"
    orphan = executor("running", 2)
    del orphan["metadata"]["ownerReferences"]
    helper = recorded("running", name="pi-1a2b3c4d-helper")
    now = view(other, orphan, helper)
    for pod in (other, orphan, helper):
        now = now.with_event(event("MODIFIED", pod), 11).with_event(event("DELETED", pod), 12)
    assert not now.snapshot().executors
    assert not now.snapshot().vanished


def test_late_events_do_not_turn_time_back() -> None:
    """An older state of a pod, told again, changes neither phase, nor deletion, nor node, nor cause."""
    now = view(executor("running", 1), executor("exited-1", 2))
    now = now.with_event(event("MODIFIED", executor("deleting", 1)), 11)
    before = now.snapshot()
    for late in ("pending", "unschedulable"):
        now = now.with_event(event("ADDED", executor(late, 1)), 12)
        now = now.with_event(event("MODIFIED", executor(late, 2)), 12)
    now = now.with_event(event("MODIFIED", executor("running", 1)), 13)
    assert now.snapshot() == before


def test_what_had_ended_at_first_sight_is_marked() -> None:
    """Whoever restarts knows of its end only, and not of what was asked of it."""
    now = view(executor("exited-1", 1), executor("running", 2))
    now = now.with_event(event("MODIFIED", executor("exited-1", 2)), 11)
    now = now.with_event(event("MODIFIED", executor("exited-1", 1)), 12)
    assert {id_: seen.found_ended for id_, seen in now.snapshot().executors.items()} == {1: True, 2: False}


def test_a_late_event_does_not_bring_a_deleted_pod_back() -> None:
    """A UID that was deleted never comes back, whatever comes late."""
    now = view(executor("running", 1)).with_event(event("DELETED", executor("running", 1)), 11)
    late = now.with_event(event("MODIFIED", executor("running", 1)), 12)
    late = late.with_event(event("DELETED", executor("running", 1)), 13)
    assert late.snapshot() == now.snapshot()


def test_a_late_deletion_does_not_remove_the_next_pod_of_that_name() -> None:
    """A creation that is sent again may make a second pod of the name: the first one's end is not its end."""
    first, second = executor("running", 1, "first"), executor("pending", 1, "second")
    now = view(first).with_event(event("ADDED", second), 11)
    now = now.with_event(event("MODIFIED", first), 12).with_event(event("DELETED", first), 12)
    assert now.snapshot().executors[1].uid == "second"
    now = view(first).with_event(event("DELETED", first), 11).with_event(event("ADDED", second), 12)
    now = now.with_event(event("MODIFIED", first), 13)
    snapshot = now.snapshot()
    assert (snapshot.executors[1].uid, snapshot.executors[1].since, dict(snapshot.vanished)) == (
        "second",
        12,
        {},
    )


def test_a_bookmark_moves_only_the_version() -> None:
    """A bookmark says from where the watch goes on, and nothing of any executor."""
    now = view(executor("running", 1))
    later = now.with_event(
        WatchEvent("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": "200"}}, "200"), 11
    )
    assert later.version == "200"
    assert later.snapshot() == now.snapshot()


def test_why_a_pull_failed_is_kept_while_the_kubelet_pauses() -> None:
    """Older kubelets say only "Back-off pulling image" while they pause: the reason they gave stays known."""
    pause = executor("image-back-off", 1)
    state = pause["status"]["containerStatuses"][0]["state"]
    state["waiting"]["message"] = 'Back-off pulling image "docker.io/apache/spark:3.5.88"'
    now = view(executor("image-not-found", 1)).with_event(event("MODIFIED", pause), 11)
    waiting = now.snapshot().executors[1].waiting
    assert waiting is not None
    assert (waiting.reason, waiting.permanent) == ("ImagePullBackOff", True)
    assert waiting.message.endswith("3.5.88: not found")


def test_vanished_executors_are_forgotten_oldest_first() -> None:
    """An application that runs for months does not grow without bound."""
    now = view(*(executor("running", id_) for id_ in range(1, MAX_VANISHED + 11)))
    now = now.with_list(listing(), 20, 21)
    assert sorted(now.snapshot().vanished) == list(range(11, MAX_VANISHED + 11))


def test_a_phase_that_is_not_known_is_unknown() -> None:
    """A word that Kubernetes may have in years to come does not end the allocator."""
    pod = executor("running", 1)
    pod["status"]["phase"] = "Hibernating"
    assert view(pod).snapshot().executors[1].phase is PodPhase.UNKNOWN


def test_executors_with_the_start_word_are_passed_on() -> None:
    """Who may start is known elsewhere, and belongs to the snapshot that a decision sees."""
    assert view().snapshot(frozenset({4})).started == {4}
