"""Pools of nodes: where new executors go, which pools are avoided, and when they are tried again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.decide import pools
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.observe.trim_pod import trim_pod
from sparkgen.runtime.allocator.pods.template import TemplateError, pools_of, read_template
from sparkgen.runtime.allocator.report import notices
from sparkgen.runtime.allocator.report.status import StatusFacts, status_body
from sparkgen.runtime.allocator.values.actions import Action, Create, Delete
from sparkgen.runtime.allocator.values.memory import CreateRequest, Interruption, PoolPause, Rate
from sparkgen.runtime.allocator.values.observed import Cause, Loss, ObservedExecutor, PodPhase, Waiting
from sparkgen.runtime.allocator.values.settings import Pool
from tests.unit.runtime.allocator.test_decide import DYNAMIC, NOW, decided, ids, pod, remembers, seen, wants
from tests.unit.runtime.allocator.test_template import pod as made_pod
from tests.unit.runtime.allocator.test_template import rendered

SPOT, STABLE = Pool("spot"), Pool("stable")
SETTINGS = replace(DYNAMIC, pools=(SPOT, STABLE), pool_timeout=60.0)
WHY = Hindrance(Code.POOL_PAUSED, "pool spot gave executors no node within 60 s")
FAST = {"rate": Rate(16)}


def waiting(id_: int, pool: str = "spot", waited: float = 30.0, **rest: Any) -> ObservedExecutor:
    """An executor without a node."""
    return pod(id_, PodPhase.PENDING, NOW - waited, pool=pool, **rest)


def placed(id_: int, pool: str = "spot", **rest: Any) -> ObservedExecutor:
    """An executor that runs on a node of a pool."""
    return pod(id_, pool=pool, **{"node": f"node-{id_}", **rest})


def paused(until: float, first_id: int = 5, **rest: Any) -> PoolPause:
    """A pause of a minute."""
    return PoolPause(until, 60.0, WHY, first_id, **rest)


def chosen(actions: Iterable[Action]) -> list[str]:
    """The pools of the executors that are created."""
    return [action.pool for action in actions if isinstance(action, Create)]


def test_without_pools_nothing_is_new() -> None:
    """Pods are as they were."""
    assert chosen(decided(seen(), wants(3)).actions) == ["", "", ""]


def test_the_first_pool_is_preferred() -> None:
    """All executors go there, and a repeated request names the same pool."""
    decision = decided(seen(), wants(3), settings=SETTINGS)
    assert chosen(decision.actions) == ["spot"] * 3
    lost = remembers(requests={3: CreateRequest(0, NOW - 9, retry_at=NOW - 1, pool="stable")}, next_id=4)
    assert chosen(decided(seen(), wants(1), lost, SETTINGS).actions) == ["stable"]


@pytest.mark.parametrize(
    ("shares", "count", "expected"),
    [
        ((0, 20), 10, {"spot": 8, "stable": 2}),
        ((0, 20), 1, {"stable": 1}),
        ((75, 25), 8, {"spot": 6, "stable": 2}),
        ((0, 100), 3, {"stable": 3}),
    ],
)
def test_a_pool_gets_its_share_rounded_up(
    shares: tuple[int, int], count: int, expected: dict[str, int]
) -> None:
    """A share is a minimum: what is more goes to the first pool."""
    settings = replace(
        SETTINGS,
        pools=tuple(Pool(name, share) for name, share in zip(("spot", "stable"), shares, strict=True)),
    )
    made = chosen(decided(seen(), wants(count), remembers(**FAST), settings).actions)
    assert Counter(made) == expected


def test_a_lost_share_comes_back() -> None:
    """Of ten executors, the two stable ones are gone: the next two are stable again."""
    settings = replace(SETTINGS, pools=(SPOT, Pool("stable", 20)))
    there = [placed(id_) for id_ in range(1, 9)]
    made = decided(seen(there), wants(10, registered=set(range(1, 9))), remembers(**FAST), settings)
    assert chosen(made.actions) == ["stable", "stable"]


def test_a_pool_without_nodes_is_avoided() -> None:
    """Executors that waited there for the time are removed, with all others that wait there."""
    pods = [placed(1), waiting(2, waited=60.0), waiting(3), waiting(4, "stable", 90.0, node="node-4")]
    decision = decided(seen(pods), wants(5, registered={1}), remembers(next_id=5, **FAST), SETTINGS)
    assert ids(decision.actions, Delete) == [2, 3]
    assert {a.why for a in decision.actions if isinstance(a, Delete)} == {pools.NO_NODE}
    assert chosen(decision.actions) == ["stable"]
    next_round = decided(seen(pods), wants(5, registered={1}), replace(decision.memory, **FAST), SETTINGS)
    assert chosen(next_round.actions) == ["stable"] * 2, "in place of those that leave"
    pause = decision.memory.pools["spot"]
    assert (pause.until, pause.length, pause.first_id) == (NOW + 60.0, 60.0, 5)
    assert (
        "pool spot gave executors no node within 60 s, so new executors avoid it for 60 s" in decision.reason
    )
    assert decision.memory.failures == (), "a full pool is nobody's failure"


def test_executors_of_a_queue_keep_their_place() -> None:
    """They wait for the queue, not for the pool."""
    queued = waiting(1, waited=1000.0, waiting=Waiting("SchedulingGated", "in the queue"))
    decision = decided(seen([queued]), wants(1), settings=SETTINGS)
    assert decision.actions == ()
    assert not decision.memory.pools


def test_where_no_pool_has_nodes_executors_wait() -> None:
    """To delete and to request them again would only cost them their places."""
    memory = remembers(pools={"stable": paused(NOW + 20.0)}, next_id=5)
    decision = decided(seen([waiting(1, waited=61.0)]), wants(2), memory, SETTINGS)
    assert ids(decision.actions, Delete) == []
    assert chosen(decision.actions) == ["stable"], "its pause ends first"


def test_one_that_waits_tries_a_pool_whose_pause_is_over() -> None:
    """Nobody else would: no executor is missing, and all wait for a pool that gives no node."""
    both = {"spot": paused(NOW - 1.0), "stable": paused(NOW + 20.0)}
    pods = [waiting(1, "stable", 61.0), waiting(2, "stable", 61.0)]
    memory = remembers(next_id=5, pools=both)
    decision = decided(seen(pods), wants(2), memory, SETTINGS)
    assert ids(decision.actions, Delete) == [1]
    assert chosen(decided(seen(pods), wants(2), decision.memory, SETTINGS).actions) == ["spot"]


def test_one_executor_tries_a_pool_after_its_pause() -> None:
    """The others go elsewhere until it has a node."""
    memory = remembers(pools={"spot": paused(NOW - 1.0)}, next_id=9, **FAST)
    made = decided(seen(), wants(3), memory, SETTINGS)
    assert chosen(made.actions) == ["spot", "stable", "stable"]
    again = decided(seen([waiting(9)]), wants(2), replace(memory, next_id=10), SETTINGS)
    assert chosen(again.actions) == ["stable"]
    got = decided(seen([placed(9)]), wants(3), replace(memory, next_id=10), SETTINGS)
    assert chosen(got.actions) == ["spot", "spot"]
    assert got.memory.pools["spot"].ended_at == NOW


def test_the_nodes_that_a_pool_gave_before_say_nothing() -> None:
    """Only a node since the pause began ends it."""
    memory = remembers(pools={"spot": paused(NOW - 1.0, first_id=5)}, next_id=9, **FAST)
    decision = decided(seen([placed(1)]), wants(3, registered={1}), memory, SETTINGS)
    assert chosen(decision.actions) == ["spot", "stable"]
    kept = replace(memory, pools={"spot": paused(NOW - 1.0, waiting=frozenset({1}))})
    assert chosen(decided(seen([placed(1)]), wants(3), kept, SETTINGS).actions) == ["spot", "spot"]


@pytest.mark.parametrize(
    ("before", "length"),
    [
        (paused(NOW - 1.0), 120.0),
        (paused(NOW - 300.0, ended_at=NOW - 30.0), 120.0),
        (paused(NOW - 300.0, ended_at=NOW - 61.0), 60.0),
        (replace(paused(NOW - 1.0), length=3000.0), 3600.0),
    ],
)
def test_the_next_pause_is_twice_as_long(before: PoolPause, length: float) -> None:
    """Unless the pool gave nodes for longer than the last one; and at most an hour."""
    memory = remembers(pools={"spot": before}, next_id=9)
    decision = decided(seen([waiting(8, waited=60.0)]), wants(1), memory, SETTINGS)
    assert decision.memory.pools["spot"].until == NOW + length


def test_without_a_time_to_wait_there_is_a_pause() -> None:
    """Otherwise executors would be created and deleted as fast as the API server accepts it."""
    settings = replace(SETTINGS, pool_timeout=0.0)
    decision = decided(seen([waiting(1, waited=0.0)]), wants(1), settings=settings)
    assert decision.memory.pools["spot"].until == NOW + 10.0


def lost(id_: int, node: str, cause: Cause = Cause.EVICTED) -> ObservedExecutor:
    """An executor whose node took it with it."""
    return replace(placed(id_, node=node), phase=PodPhase.FAILED, loss=Loss(cause, "gone"))


@pytest.mark.parametrize("cause", pools.INTERRUPTIONS)
def test_a_pool_that_loses_nodes_often_is_avoided(cause: Cause) -> None:
    """Three nodes within ten minutes; three executors of one node are one."""
    three = [lost(id_, f"node-{id_}", cause) for id_ in (1, 2, 3)]
    decision = decided(seen([*three, placed(4)]), wants(4, registered={1, 2, 3, 4}), settings=SETTINGS)
    assert set(chosen(decision.actions)) == {"stable"}
    assert ids(decision.actions, Delete) == [], "those that work stay"
    assert "pool spot lost 3 nodes within 600 s" in decision.reason
    one = [lost(id_, "node-1", cause) for id_ in (1, 2, 3)]
    decision = decided(seen(one), wants(4, registered={1, 2, 3}), settings=SETTINGS)
    assert set(chosen(decision.actions)) == {"spot"}
    assert len(decision.memory.interruptions) == 3


def test_losses_of_the_applications_own_are_no_interruptions() -> None:
    """Neither are nodes that were lost long ago, nor losses that an earlier process saw."""
    own = [lost(id_, f"node-{id_}", Cause.OOM) for id_ in (1, 2, 3)]
    found = [replace(lost(id_, f"node-{id_}"), found_ended=True) for id_ in (4, 5, 6)]
    decision = decided(seen([*own, *found]), wants(2, registered={1, 2, 3, 4, 5, 6}), settings=SETTINGS)
    assert decision.memory.interruptions == ()
    old = tuple(Interruption("spot", f"node-{number}", NOW - 601.0) for number in (7, 8, 9))
    later = decided(seen(), wants(1), remembers(interruptions=old), SETTINGS)
    assert chosen(later.actions) == ["spot"]
    assert later.memory.interruptions == ()


def test_another_driver_in_the_pod_keeps_what_is_known_of_pools() -> None:
    """They are not its executors' fault."""
    memory = remembers(pools={"spot": paused(NOW + 20.0)}, next_id=9)
    decision = decided(seen(), wants(1, session="next"), memory, SETTINGS)
    assert chosen(decision.actions) == ["stable"]


def test_decisions_name_the_times_of_pools() -> None:
    """The end of a pause, and the time at which an executor has waited long enough."""
    memory = remembers(pools={"spot": paused(NOW + 20.0)})
    assert decided(seen(), wants(0), memory, SETTINGS).wake_at == NOW + 20.0
    assert decided(seen([waiting(1)]), wants(1), settings=SETTINGS).wake_at == NOW + 30.0


def template(*found: dict[str, Any]) -> dict[str, Any]:
    """The rendered template with these pools."""
    made = read_template(rendered())
    annotations = {**made["metadata"]["annotations"], contract.ANNOTATION_POOLS: json.dumps(found)}
    return {**made, "metadata": {**made["metadata"], "annotations": annotations}}


def test_an_executor_selects_its_pool() -> None:
    """It has the pool's label, node selector and tolerations besides its own, and no list of pools."""
    key = {"key": "spot", "operator": "Exists"}
    own = {"key": "spark", "operator": "Exists"}
    given = template(
        {"name": "spot", "share": 0, "nodeSelector": {"life": "spot"}, "tolerations": [key]},
        {"name": "rest", "share": 30},
    )
    given["spec"] = {**given["spec"], "nodeSelector": {"disk": "ssd"}, "tolerations": [own]}
    assert pools_of(given) == (Pool("spot"), Pool("rest", 30))
    made = made_pod(Create(7, 0, pool="spot"), given)
    assert made["metadata"]["labels"][contract.LABEL_POOL] == "spot"
    assert contract.ANNOTATION_POOLS not in made["metadata"]["annotations"]
    assert made["spec"]["nodeSelector"] == {"disk": "ssd", "life": "spot"}
    assert made["spec"]["tolerations"] == [own, key]
    rest = made_pod(Create(8, 0, pool="rest"), given)
    assert (rest["spec"]["nodeSelector"], rest["spec"]["tolerations"]) == ({"disk": "ssd"}, [own])
    assert trim_pod({**made, "status": {}})["metadata"]["labels"][contract.LABEL_POOL] == "spot"


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '[{"name": 3, "share": 0}]', '[{"name": "a", "share": 101}]', "[1]"]
)
def test_pools_that_nobody_rendered_are_refused(text: str) -> None:
    """The allocator does not guess."""
    made = template()
    made["metadata"]["annotations"][contract.ANNOTATION_POOLS] = text
    with pytest.raises(TemplateError, match="must be a list of pools: render the application again"):
        pools_of(made)


def test_people_are_told() -> None:
    """In /status, in an Event and in the decision's hindrances."""
    memory = remembers(next_id=5, pools={"spot": paused(NOW + 20.0)})
    snapshot, target = seen([placed(1), placed(2, "stable")]), wants(2, registered={1, 2})
    decision = decide(snapshot, target, memory, SETTINGS, NOW)
    now = Round(NOW, snapshot, target, SETTINGS, decision)
    assert [one.code for one in decision.hindrances] == [Code.POOL_PAUSED]
    told = [one for one in notices.notices(None, now) if one.reason == "PoolPaused"]
    assert [one.hindrance for one in told] == [WHY]
    body = status_body(StatusFacts({}, NOW, now, {}, {}, 0, 1))
    assert body["pools"] == {
        "spot": {"executors": 1, "avoidedSeconds": 20.0},
        "stable": {"executors": 1, "avoidedSeconds": 0.0},
    }
    assert [one["pool"] for one in body["pods"]] == ["spot", "stable"]
