"""The simulator itself: it repeats, it shrinks, it tells, and its API server answers as a real one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from simulator.__main__ import main
from simulator.apiserver import ApiServer, Change, Rules
from simulator.event_queue import EventQueue
from simulator.files import file_schedule_of
from simulator.gangs import gang_schedule_of
from simulator.memory import memory_schedule_of
from simulator.placement import tried_with
from simulator.pools import pool_schedule_of
from simulator.run import run
from simulator.scale import applications, measured
from simulator.schedule import (
    OF_SESSIONS,
    FaultKind,
    InjectedFault,
    SessionEnd,
    schedule_of,
    session_schedule_of,
)
from simulator.shrink import shrunk
from sparkgen.codes import Code
from sparkgen.runtime.kubernetes.answers import Answer, exists_already, is_other_object, verdict

PODS = "/api/v1/namespaces/team/pods"


def body(name: str) -> dict[str, object]:
    """A pod to be created."""
    return {"metadata": {"name": name}, "spec": {}}


def test_a_seed_repeats() -> None:
    """The same seed gives the same timeline, line by line, so that a failure can be looked at."""
    first, second = run(schedule_of(11)), run(schedule_of(11))
    assert first.timeline == second.timeline
    assert first.timeline != run(schedule_of(12)).timeline


def test_every_kind_of_fault_comes() -> None:
    """Within the first schedules of `make test`."""
    plans_of = (schedule_of, session_schedule_of, file_schedule_of, memory_schedule_of, pool_schedule_of)
    plans = [plan(seed) for plan in plans_of for seed in range(300)]
    assert {fault.kind for plan in plans for fault in plan.faults} == set(FaultKind)
    sessions = [plan.sessions for plan in plans if plan.sessions is not None]
    assert {(plan.end, plan.notebook) for plan in sessions} == set(product(SessionEnd, (False, True)))


def test_sessions_change_no_other_schedule() -> None:
    """What a seed says where the driver is the pod's own stays as it was."""
    assert not any(fault.kind in OF_SESSIONS for seed in range(300) for fault in schedule_of(seed).faults)


def test_what_is_due_at_one_time_comes_in_order() -> None:
    """And what happens may add to it."""
    event_queue, seen = EventQueue(), list[str]()
    event_queue.at(2.0, lambda: seen.append("later"))
    event_queue.at(
        1.0, lambda: (seen.append("first"), event_queue.after(0.0, lambda: seen.append("third")))[0]
    )
    event_queue.at(1.0, lambda: seen.append("second"))
    event_queue.run_until(1.5)
    assert (seen, event_queue.now) == (["first", "second", "third"], 1.5)


def test_shrinking_keeps_what_breaks_the_invariant() -> None:
    """And nothing else: here, whatever has a crash in it "breaks"."""
    crash = InjectedFault(1.0, FaultKind.CRASH, count=3)
    schedule = replace(
        schedule_of(3),
        faults=(InjectedFault(0.5, FaultKind.OOM), crash, InjectedFault(2.0, FaultKind.AWAY, 3.0)),
    )
    small = shrunk(schedule, lambda other: any(fault.kind is FaultKind.CRASH for fault in other.faults))
    assert (small.faults, small.target_changes) == ((replace(crash, count=1),), ())


def test_replay_tells_what_happens(capsys: pytest.CaptureFixture[str]) -> None:
    """With the faults, the requests, and the lines of the allocator's own log."""
    assert main(["replay", "11"]) == 0
    told = capsys.readouterr().out
    assert "allocator 1   asks for all executors" in told
    assert "says: the driver runs as" in told
    assert told.endswith("(replay: make replay SEED=11)\n")


def test_replay_tells_of_sessions(capsys: pytest.CaptureFixture[str]) -> None:
    """With the option that plays it again."""
    assert main(["replay", "11", "--sessions"]) == 0
    told = capsys.readouterr().out
    assert "ends the session: " in told
    assert told.endswith("(replay: make replay SEED=11 SESSIONS=1)\n")


def test_soak_says_which_seeds_it_played(capsys: pytest.CaptureFixture[str]) -> None:
    """Their range, the rate and the result, behind the progress that a slow machine has time to tell."""
    assert main(["soak", "8", "--seed", "5", "--jobs", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("seeds 5 to 12: 8 schedules in ")


def test_scale_measures_what_grows() -> None:
    """The parts of a round take some time each; a small application makes a dozen calls."""
    row = measured(100)
    assert row.executors == 100
    assert min(row.decide_ms, row.snapshot_ms, row.event_us, row.view_mib) > 0
    seconds, calls = applications(2)
    assert (seconds > 0, calls) == (True, 12)


def test_the_server_answers_as_kube_apiserver_does() -> None:
    """Names are taken once, deletions have preconditions, quotas refuse, and old versions are gone."""
    changes = list[Change]()
    server = ApiServer(changes.append)
    made = server.handle("POST", PODS, {}, body("a"))
    assert (made.status, made.body["metadata"]["resourceVersion"]) == (201, "101")
    assert exists_already(server.handle("POST", PODS, {}, body("a")))
    wrong = {"preconditions": {"uid": "another"}}
    assert is_other_object(server.handle("DELETE", f"{PODS}/a", {}, wrong))
    server.rules = Rules(quota=1)
    refused = verdict(server.handle("POST", PODS, {}, body("b")), "create")
    assert refused.hindrance is not None
    assert (refused.answer, refused.hindrance.code) == (Answer.REFUSED, Code.QUOTA_EXCEEDED)
    assert server.handle("DELETE", f"{PODS}/a", {}, {}).status == 200
    assert server.handle("GET", f"{PODS}/a", {}, None).status == 404
    assert [kind for _, kind, _ in server.since(100) or ()] == ["ADDED", "DELETED"]
    server.compact()
    assert server.since(101) is None


def test_lists_come_in_pages() -> None:
    """Each page says where the next one begins, and the last one says nothing."""
    server = ApiServer(lambda _: None)
    for name in ("a", "b", "c", "d"):
        server.handle("POST", PODS, {}, body(name))
    first = server.handle("GET", PODS, {}, None).body
    assert [item["metadata"]["name"] for item in first["items"]] == ["a", "b", "c"]
    second = server.handle("GET", PODS, {"continue": first["metadata"]["continue"]}, None).body
    assert [item["metadata"]["name"] for item in second["items"]] == ["d"]
    assert second["metadata"]["continue"] == ""


def _member(number: int, node: str = "", phase: str = "Pending") -> dict[str, object]:
    spec = {"schedulingGroup": {"podGroupName": "gang"}, **({"nodeName": node} if node else {})}
    return {"metadata": {"uid": str(number)}, "spec": spec, "status": {"phase": phase}}


def test_the_scheduler_places_members_together() -> None:
    """When as many are there as the group needs; one more then needs no others."""
    groups = {"gang": {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}}
    two = [_member(1), _member(2)]
    third = _member(3)
    assert tried_with(two[0], two, groups) == []
    assert tried_with(two[0], [*two, _member(3, "node-1", "Failed")], groups) == [], "it has ended"
    assert tried_with(two[1], [*two, third], groups) == [two[1], two[0], third]
    assert tried_with(two[1], [*two, third], {}) == [], "their group is not there"
    placed = [_member(number, "node-1", "Running") for number in (4, 5, 6)]
    assert tried_with(third, [*placed, third], groups) == [third]
    assert tried_with({"spec": {}}, [], {}) == [{"spec": {}}]


def test_every_world_of_gangs_comes() -> None:
    """A gang of Kubernetes' own, one that a queue lets go by parts, and two that want the same nodes."""
    plans = [gang_schedule_of(seed) for seed in range(60)]
    found = {(bool(plan.settings.gang), bool(plan.begins_with), plan.rival is not None) for plan in plans}
    assert found == {(True, False, False), (False, True, False), (True, True, True)}
    assert any(
        change.settings.minimum < plan.settings.gang for plan in plans for change in plan.settings_changes
    )


def test_replay_tells_of_two_gangs(capsys: pytest.CaptureFixture[str]) -> None:
    """Both of them, in one time; and how it is played again."""
    seed = next(seed for seed in range(60) if gang_schedule_of(seed).rival is not None)
    assert main(["replay", str(seed), "--gangs"]) == 0
    told = capsys.readouterr().out
    assert told.count("the driver's pod is deleted") == 2
    assert told.endswith(f"(replay: make replay SEED={seed} GANGS=1)\n")
