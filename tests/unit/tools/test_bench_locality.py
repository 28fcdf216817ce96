"""A scan of HDFS where its data is, and elsewhere (tools/bench/locality.py), without a cluster."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from bench import locality
from bench.locality_page import Plan, Round, Scan, page
from cluster.plan import NODES

PLAN = Plan("4.3.0", 16, "1gbit", 2)
RESULT = {
    "levels": [{"RACK_LOCAL": 2, "ANY": 1}, {"NODE_LOCAL": 1}],
    "scan": 12.5,
    "tasks": [["node1-00.txt", "10.88.1.7"], ["node2-00.txt", "10.88.2.9"], ["node2-01.txt", "10.88.1.7"]],
}


def test_a_task_is_local_on_the_node_of_its_file() -> None:
    """By the file's name, and the address of the executor's pod."""
    scan = locality.scan_of(RESULT, 30.0, 1000)
    assert (scan.local, scan.share) == (2, 2 / 3)
    assert scan.tasks == {"node1": 2, "node2": 1}
    assert json.loads(json.dumps(asdict(scan)))["executors"] == {"node1": 1, "node2": 1}


def test_an_address_of_no_node_is_no_executor() -> None:
    """Rather an error than a task that counts as remote."""
    with pytest.raises(StopIteration):
        locality.node_of("10.99.0.1")


def rounds() -> list[Round]:
    """Two rounds: native Spark reads everything remotely, sparkgen nothing."""
    names = [node.name for node in NODES]

    def scan(local: int, remote: int, seconds: float) -> Scan:
        tasks = {names[0]: 16, names[1]: 16}
        return Scan(40.0, seconds, remote, local, tasks, dict.fromkeys(names, 1), [{"ANY": 32}, {"ANY": 1}])

    sides = {"native": scan(16, 2 << 30, 20.0), "off": scan(15, 2 << 30, 20.0), "on": scan(32, 2 << 20, 10.0)}
    return [{"both": sides, "one": sides}] * 2


def test_the_page_says_what_was_measured() -> None:
    """Shares, ratios and places of all sides."""
    text = page(rounds(), PLAN)
    assert "reads less than 0.01 of the remote bytes of Spark's own backend, in 0.50 of the time" in text
    assert "4 GiB of text" in text
    assert "| on both nodes | sparkgen | 100% | 2 MiB | 10.0 s | 40 s |" in text
    assert "| 2 on node1, 2 on node2 | 32 on node1, 32 on node2 | 64 ANY | 2 ANY |" in text
    assert text.count("\n| 2 | ") == 6
