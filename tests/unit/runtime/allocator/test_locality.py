"""Where executors are asked for: how hosts of data are matched to nodes, one case each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from sparkgen.runtime.allocator.driver import protocol
from sparkgen.runtime.allocator.driver.protocol import NodeReport
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.pods.template import executor_pod, read_template
from sparkgen.runtime.allocator.values.actions import Create, NodeWish
from sparkgen.runtime.allocator.values.observed import ObservedExecutor, PodPhase, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import Profile
from tests.unit.runtime.allocator.recorded_pods import ATTEMPT
from tests.unit.runtime.allocator.test_decide import DYNAMIC, NOW, decided, pod, remembers, seen, wants
from tests.unit.runtime.allocator.test_template import rendered

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def wished(
    tasks: Mapping[str, int],
    *pods: ObservedExecutor,
    want: int = 4,
    settings: AllocationSettings = DYNAMIC,
    gone: tuple[ObservedExecutor, ...] = (),
    **memory: Any,
) -> tuple[NodeWish, ...]:
    """The wishes of the next executor, with tasks at these hosts."""
    snapshot = replace(seen(pods), vanished={one.id: one for one in gone})
    target = wants(want, host_tasks={0: dict(tasks)})
    decision = decided(snapshot, target, remembers(**memory), settings)
    creates = [action for action in decision.actions if isinstance(action, Create)]
    return creates[0].wishes


ON_NODE = pod(1, node="worker-1.example.org", node_address="10.0.0.1")


@pytest.mark.parametrize(
    ("host", "wish"),
    [
        ("worker-2", NodeWish(50, hostnames=("worker-2",))),
        ("worker-2.example.org", NodeWish(50, hostnames=("worker-2.example.org", "worker-2"))),
        ("worker-1", NodeWish(50, node="worker-1.example.org")),
        ("WORKER-1.hdfs.example.org", NodeWish(50, node="worker-1.example.org")),
        ("10.0.0.1", NodeWish(50, node="worker-1.example.org")),
        ("dn-0.datanodes.hdfs.svc.cluster.local", NodeWish(50, node="worker-9")),
        ("10.88.1.4", NodeWish(50, node="worker-8")),
    ],
)
def test_a_host_of_data_is_a_node(host: str, wish: NodeWish) -> None:
    """By the document, by an executor that is there, or by its name as the node's label has it."""
    hosts = (("10.88.1.4", "worker-8"), ("dn-0", "worker-9"))
    assert wished({host: 8}, ON_NODE, settings=replace(DYNAMIC, data_hosts=hosts)) == (wish,)


@pytest.mark.parametrize("host", ["10.9.9.9", "fd00::1", "-", "a b", "node\n", "ünicode", "x" * 64])
def test_what_is_no_node_is_not_wished_for(host: str) -> None:
    """An address that nobody knows, and what Kubernetes would refuse: there would be no pod at all."""
    assert wished({host: 8}, ON_NODE) == ()
    bad = (("dn-0", "Not A Node"), ("dn-1", "x" * 254))
    settings = replace(DYNAMIC, data_hosts=bad)
    assert wished({"dn-0": 8}, settings=settings) == (NodeWish(50, hostnames=("dn-0",)),)


def test_nodes_of_executors_that_are_gone_are_known_by_their_address() -> None:
    """Shuffle files that a service of the node keeps are there still, under the node's address."""
    gone = pod(7, PodPhase.SUCCEEDED, node="worker-1", node_address="10.0.0.1")
    assert wished({"10.0.0.1": 3}, gone=(gone,)) == (NodeWish(50, node="worker-1"),)


@pytest.mark.parametrize("host", ["[fd00:10:77::b]", "fd00:10:77::b", "fd00:10:77:0:0:0:0:B"])
def test_an_ipv6_address_is_known_however_it_is_written(host: str) -> None:
    """The kubelet writes it short, Spark puts it into brackets, and Java writes its zeros."""
    there = pod(1, node="worker-1", node_address="fd00:10:77::b")
    assert wished({host: 8}, there) == (NodeWish(50, node="worker-1"),)
    hosts = replace(DYNAMIC, data_hosts=(("fd00:10:77:0::b", "worker-8"),))
    assert wished({host: 8}, settings=hosts) == (NodeWish(50, node="worker-8"),)


def test_who_is_there_lessens_the_wish() -> None:
    """By the part of each node: two of four are where half of the tasks are."""
    there = [pod(1, node="a"), pod(2, node="a")]
    assert wished({"a": 10, "b": 10}, *there) == (NodeWish(50, hostnames=("b",)),)
    weights = wished({"a": 10, "b": 10}, pod(1, node="a"))
    assert weights == (NodeWish(50, hostnames=("b",)), NodeWish(25, node="a"))
    another = [replace(one, profile=1) for one in there]  # executors of another profile run none of its tasks
    assert len(wished({"a": 10, "b": 10}, *another, want=6)) == 2


def test_what_is_avoided_is_not_wished_for() -> None:
    """A node without a shuffle service would keep the executor from working."""
    assert wished({"worker-1": 9, "b": 1}, ON_NODE, unusable={"worker-1.example.org": NOW + 99}) == (
        NodeWish(50, hostnames=("b",)),
    )


def test_each_profile_has_its_own_tasks() -> None:
    """Hints of a profile are for its executors alone."""
    profiles = {0: Profile(), 1: Profile()}
    target = wants(1, executors={0: 1, 1: 1}, profiles=profiles, host_tasks={1: {"b": 4}})
    orders = [one for one in decided(seen(), target).actions if isinstance(one, Create)]
    assert {one.profile: one.wishes for one in orders} == {0: (), 1: (NodeWish(50, hostnames=("b",)),)}


def made(order: Create, template: dict[str, Any]) -> dict[str, Any]:
    """The executor's pod from a template."""
    return executor_pod(template, ATTEMPT, order, ATTEMPT.start_url(order.id), ATTEMPT.driver_url)


def test_a_pod_with_wishes_keeps_the_affinity_of_its_template() -> None:
    """The template's terms come first, and what it requires holds; without wishes the pod is the same."""
    template = read_template(rendered())
    own = {"weight": 7, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]}
    template["spec"]["affinity"] = {
        "podAntiAffinity": {"is": "kept"},
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required, PREFERRED: [own]},
    }
    wishes = (NodeWish(50, node="a.example.org"), NodeWish(9, hostnames=("b.example.org", "b")))
    plain, hinted = made(Create(1, 0), template), made(Create(1, 0, wishes=wishes), template)
    affinity = hinted["spec"].pop("affinity")
    assert plain["spec"].pop("affinity") == template["spec"]["affinity"]
    assert hinted == plain
    assert affinity["podAntiAffinity"] == {"is": "kept"}
    of_node = affinity["nodeAffinity"]
    assert of_node["requiredDuringSchedulingIgnoredDuringExecution"] == required
    field = {"key": "metadata.name", "operator": "In", "values": ["a.example.org"]}
    label = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["b.example.org", "b"]}
    assert of_node[PREFERRED] == [
        own,
        {"weight": 50, "preference": {"matchFields": [field]}},
        {"weight": 9, "preference": {"matchExpressions": [label]}},
    ]


def test_the_driver_is_told_of_nodes() -> None:
    """Those with executors, with their addresses; and what the document says, as it has it."""
    pods = [ON_NODE, pod(2, node="worker-1.example.org", node_address="10.0.0.1"), pod(3), pod(4, node="b")]
    snapshot = Snapshot(executors={one.id: one for one in pods})
    settings = replace(DYNAMIC, data_hosts=(("dn-0", "b"),))
    target = wants(4)
    now = Round(NOW, snapshot, target, settings, decided(snapshot, target))
    assert now.report.nodes == {
        "b": NodeReport((4,)),
        "worker-1.example.org": NodeReport((1, 2), ("10.0.0.1",)),
    }
    body = protocol.report_body(now.report, "t")
    assert body["nodes"]["worker-1.example.org"] == {"executors": ["1", "2"], "addresses": ["10.0.0.1"]}
    assert body["dataHosts"] == {"dn-0": "b"}
    off = protocol.report_body(replace(now, settings=replace(settings, locality=False)).report, "t")
    assert not {"nodes", "dataHosts"} & off.keys()
