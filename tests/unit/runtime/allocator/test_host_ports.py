"""Host ports of block managers, and what else differs where a shuffle service serves executors' files."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.runtime.allocator.decide import host_ports
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.driver import session
from sparkgen.runtime.allocator.observe.causes import loss_of
from sparkgen.runtime.allocator.observe.trim_pod import trim_pod
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.pods.template import executor_pod
from sparkgen.runtime.allocator.values.actions import Create
from sparkgen.runtime.allocator.values.backend import PodList
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, CreateRequest
from sparkgen.runtime.allocator.values.observed import Cause, Loss, ObservedExecutor, PodPhase, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings, HostPortRange
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile
from tests.unit.runtime.allocator.recorded_pods import ATTEMPT, DRIVER_UID, executor

NOW = 10_000.0
THREE = AllocationSettings(dynamic=True, host_ports=HostPortRange(23000, 23002))
FOLDER = f"analytics_{DRIVER_UID}"
TEMPLATE: dict[str, Any] = {
    "metadata": {"annotations": {contract.ANNOTATION_BLOCK_MANAGER_PORTS: "23000-23999"}},
    "spec": {
        "containers": [
            {
                "name": contract.EXECUTOR_CONTAINER,
                "env": [{"name": "SPARK_LOCAL_DIRS", "value": "/data/$(SPARKGEN_SHUFFLE_FOLDER)"}],
                "ports": [{"name": "blockmanager", "containerPort": 7079}, {"name": "x", "containerPort": 1}],
                "volumeMounts": [
                    {"name": "conf", "mountPath": "/conf", "readOnly": True},
                    {
                        "name": "sparkgen-shuffle-1",
                        "mountPath": "/data/$(SPARKGEN_SHUFFLE_FOLDER)",
                        "subPath": "$(SPARKGEN_SHUFFLE_FOLDER)",
                    },
                ],
            }
        ]
    },
}


def pod(id_: int, port: int | None, phase: PodPhase = PodPhase.RUNNING, **rest: Any) -> ObservedExecutor:
    """An executor's pod."""
    values = {"profile": 0, "name": f"e-{id_}", "uid": f"uid-{id_}", "node": "node1", **rest}
    return ObservedExecutor(id=id_, phase=phase, since=NOW - 30, port=port, **values)


def decided(
    pods: list[ObservedExecutor],
    wanted: int,
    memory: AllocatorMemory | None = None,
    settings: AllocationSettings = THREE,
    **rest: Any,
) -> AllocationDecision:
    """The decision when these pods are seen and so many executors are wanted."""
    snapshot = Snapshot(True, {seen.id: seen for seen in pods}, NOW - 60)
    target = DriverTarget(
        DriverPhase.RUNNING, "s", 1, "app", True, {0: wanted}, {0: Profile()}, heard_at=NOW, **rest
    )
    return decide(snapshot, target, memory or AllocatorMemory(session="s", next_id=10), settings, NOW)


def created(decision: AllocationDecision) -> list[Create]:
    """The executors that a decision creates."""
    return [action for action in decision.actions if isinstance(action, Create)]


def made(order: Create, template: dict[str, Any] | None = None) -> dict[str, Any]:
    """The executor's pod."""
    return executor_pod(template or TEMPLATE, ATTEMPT, order, "http://start", "spark://driver")


def test_each_executor_has_a_port_that_no_other_one_has() -> None:
    """Those of pods that run, that leave, and that were asked for are taken; those of ended pods are not."""
    pods = [pod(1, 23000)]
    memory = AllocatorMemory(session="s", next_id=10, requests={4: CreateRequest(0, NOW - 1, port=23001)})
    orders = created(decided(pods, 5, memory, registered=frozenset({1})))
    assert [order.port for order in orders] == [23002]
    leaving = created(decided([pod(1, 23000, deleting=True)], 3))
    assert sorted(order.port or 0 for order in leaving) == [23001, 23002]
    ended = pod(1, 23000, PodPhase.FAILED, loss=Loss(Cause.OOM, "out of memory"))
    assert len(created(decided([ended], 3))) == 3


def test_a_request_is_sent_again_with_its_port() -> None:
    """The pod of the first try may be there: the second one must not be another."""
    memory = AllocatorMemory(
        session="s", next_id=10, requests={4: CreateRequest(0, NOW - 9, retry_at=NOW - 1, port=23001)}
    )
    (order,) = created(decided([], 1, memory))
    assert (order.id, order.again, order.port) == (4, True, 23001)


def test_ports_that_are_used_up_are_a_reason() -> None:
    """Nothing is created, and the reason says what to change."""
    pods = [pod(id_, 22999 + id_) for id_ in (1, 2, 3)]
    decision = decided(pods, 5, registered=frozenset({1, 2, 3}))
    assert decision.actions == ()
    assert (
        "all 3 host ports for block managers (23000-23002) are in use, and 2 more are needed"
        in decision.reason
    )
    assert "host ports" not in decided(pods, 3, registered=frozenset({1, 2, 3})).reason


def test_ports_go_round() -> None:
    """A port that has just become free is the last to be given again; each application begins elsewhere."""
    settings = replace(THREE, host_ports=HostPortRange(23000, 23002, start=1))
    assert [order.port for order in created(decided([], 3, AllocatorMemory(session="s"), settings))] == [
        23001,
        23002,
        23000,
    ]


def test_without_a_shuffle_service_nothing_has_a_host_port() -> None:
    """And the container's port stays as it was rendered."""
    assert [order.port for order in created(decided([], 2, settings=AllocationSettings(dynamic=True)))] == [
        None,
        None,
    ]
    assert made(Create(7, 0))["spec"]["containers"][0]["ports"] == TEMPLATE["spec"]["containers"][0]["ports"]


def test_the_range_is_read_from_the_template() -> None:
    """And where to begin in it follows from the application."""
    found = host_ports.of_template(TEMPLATE, "a-1")
    assert found is not None
    assert (found.first, found.last, found.size) == (23000, 23999, 1000)
    assert found != host_ports.of_template(TEMPLATE, "b-1")
    assert host_ports.of_template({"metadata": {}, "spec": {}}, "a-1") is None


@pytest.mark.parametrize("text", ["", "23000", "9-23000", "23005-23000", "23000-70000", "23000 - 23999"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    """In words that say what it has to be like."""
    template = {"metadata": {"annotations": {contract.ANNOTATION_BLOCK_MANAGER_PORTS: text}}}
    with pytest.raises(host_ports.BadPorts, match="such as 23000-23999"):
        host_ports.of_template(template, "a-1")


def test_the_pod_has_its_port_and_its_folder() -> None:
    """Port, variables and mounts; the template stays as it is."""
    before = copy.deepcopy(TEMPLATE)
    container = made(Create(7, 0, port=23456))["spec"]["containers"][0]
    assert before == TEMPLATE
    assert container["ports"][0] == {"name": "blockmanager", "containerPort": 23456, "hostPort": 23456}
    assert container["ports"][1] == {"name": "x", "containerPort": 1}
    mount = container["volumeMounts"][1]
    assert (mount["mountPath"], mount["subPath"]) == (f"/data/{FOLDER}", FOLDER)
    names = [entry["name"] for entry in container["env"]]
    values = {entry["name"]: entry.get("value") for entry in container["env"]}
    assert values["SPARKGEN_BLOCK_MANAGER_PORT"] == "23456"
    assert values["SPARKGEN_SHUFFLE_FOLDER"] == FOLDER
    assert names.index("SPARKGEN_SHUFFLE_FOLDER") < names.index("SPARK_LOCAL_DIRS")


def test_the_service_in_a_sidecar_has_the_secret() -> None:
    """It is the application's own; other init containers have none."""
    template = copy.deepcopy(TEMPLATE)
    template["spec"]["initContainers"] = [{"name": "first"}, {"name": "shuffle-service", "env": []}]
    first, service = made(Create(7, 0), template)["spec"]["initContainers"]
    assert first == {"name": "first"}
    assert [entry["name"] for entry in service["env"]] == [contract.ENV_AUTH_SECRET]


def test_a_pods_port_is_seen_again_after_a_restart() -> None:
    """What a list shows is enough to know which ports are taken."""
    shown = executor("running", 3)
    shown["spec"]["containers"] = [made(Create(3, 0, port=23456))["spec"]["containers"][0]]
    shown["metadata"]["ownerReferences"] = [ATTEMPT.owner]
    view = PodView(ATTEMPT).with_list(PodList((trim_pod(shown),), "7"), NOW, NOW)
    assert view.snapshot().executors[3].port == 23456


def test_a_node_without_the_service_is_avoided() -> None:
    """It is nobody's failure, it is told, and the next executors would rather be elsewhere."""
    ended = executor("exited-1", 3)
    state = ended["status"]["containerStatuses"][0]["state"]["terminated"]
    state.update(exitCode=contract.NO_SHUFFLE_SERVICE, message="no shuffle service answers at 10.0.0.2:7337")
    loss = loss_of(ended)
    assert loss is not None
    assert (loss.cause, loss.by_application) == (Cause.FAILED_START, False)
    assert "is unusable: no shuffle service answers at 10.0.0.2:7337" in loss.message
    decision = decided([pod(3, 23000, PodPhase.FAILED, loss=loss)], 2)
    assert decision.memory.failures == ()
    assert decision.memory.unusable == {"node1": NOW + 300}
    assert "avoiding node node1 for 300 s" in decision.reason
    memory = replace(decision.memory, bad_starts=AllocatorMemory().bad_starts)
    orders = created(decided([], 1, memory))
    assert [order.avoid for order in orders] == [("node1",)]
    affinity = made(orders[0])["spec"]["affinity"]["nodeAffinity"]
    (wish,) = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    assert wish["preference"]["matchFields"] == [
        {"key": "metadata.name", "operator": "NotIn", "values": ["node1"]}
    ]


def test_the_services_secret_becomes_the_applications(tmp_path: Path) -> None:
    """A service knows one secret: it wins over what the document or an earlier allocator has."""
    place = session.DriverLocation(tmp_path, "pi-1-abcde", "10.1.2.3")
    begun = session.begin(
        place, "spark.authenticate true\n", AllocationSettings(), lambda: "random", "the service's"
    )
    assert begun.secret == "the service's"  # noqa: S105 - no secret at all
    assert "spark.authenticate.secret=the service's" in (tmp_path / "spark.properties").read_text()
