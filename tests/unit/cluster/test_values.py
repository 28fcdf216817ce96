"""The cluster as values: addresses, files, what makes it another cluster."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from cluster import certificates, cgroups, configs, lifecycle, plan
from cluster.lifecycle import Stamp
from cluster.plan import Layout

LAYOUT = Layout(Path("/x"))
STAMP = Stamp("boot", "sources", ("a", "b"))


def test_no_two_networks_overlap() -> None:
    """Nodes, pods, services and fake pods are apart, and every node's pods are in the pods' network."""
    names = (plan.NODE_NETWORK, plan.POD_NETWORK, plan.SERVICE_NETWORK, plan.KWOK_NETWORK)
    networks = [ipaddress.ip_network(name) for name in names]
    assert not any(one.overlaps(other) for one, other in combinations(networks, 2))
    for node in plan.NODES:
        assert ipaddress.IPv4Network(node.pods).subnet_of(ipaddress.IPv4Network(plan.POD_NETWORK))
        assert ipaddress.ip_address(node.address) in networks[0]


def test_a_node_s_certificate_is_good_for_its_name_and_address() -> None:
    """The node authorizer wants this subject; the API server calls the kubelet by its address."""
    (found,) = (entry for entry in certificates.wanted() if entry.name == "node2")
    assert found.subject == "/O=system:nodes/CN=system:node:node2"
    assert "subjectAltName=DNS:node2,IP:10.77.0.12\n" in certificates.extensions(found)


def test_service_accounts_are_audited_and_the_system_s_are_not() -> None:
    """The first rule that fits decides: so the system's own accounts come first."""
    rules = json.loads(configs.audit_policy())["rules"]
    assert [(rule["level"], rule.get("userGroups")) for rule in rules] == [
        ("None", ["system:serviceaccounts:kube-system"]),
        ("Metadata", ["system:serviceaccounts"]),
        ("None", None),
    ]


def test_a_node_keeps_its_files_to_itself() -> None:
    """Its /var, /mnt, /srv and /run are its own, and programs are bound before /var is hidden."""
    script = configs.node_init(Path("/x/nodes/node1"), {"kubelet": Path("/var/cache/kubelet")}).splitlines()
    assert script.index("mount --bind '/var/cache/kubelet' /run/bin/kubelet") < script.index(
        "mount --bind '/x/nodes/node1/var' /var"
    )
    assert "mount --bind '/x/nodes/node1/srv' /srv" in script


def test_what_cannot_be_kept_is_replaced_with_a_reason() -> None:
    """A reboot, another version or half a start means another cluster; nothing there means no reason."""
    reason = lifecycle.reason_to_replace
    assert reason(STAMP, STAMP, True) is None
    assert reason(None, STAMP, False) is None
    assert reason(None, STAMP, True) == "an earlier start was not finished"
    assert reason(replace(STAMP, boot="other"), STAMP, True) == "the machine was restarted since"
    assert "another version" in str(reason(replace(STAMP, tools=("a", "c")), STAMP, True))


@pytest.mark.parametrize("content", ["", "{", "{}", "[]"])
def test_half_a_stamp_is_none(tmp_path: Path, content: str) -> None:
    """A start that was cut off leaves a cluster that is replaced."""
    (tmp_path / "stamp.json").write_text(content)
    assert lifecycle.read_stamp(Layout(tmp_path)) is None


def test_cgroups_of_both_versions_are_found(tmp_path: Path) -> None:
    """Version 2 has one hierarchy, version 1 one folder for each controller (and links between them)."""
    for name in ("cpu", "memory"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cgroup.procs").touch()
    (tmp_path / "cpuacct").symlink_to("cpu")
    assert cgroups.hierarchies(tmp_path) == [tmp_path / "cpu", tmp_path / "memory"]
    (tmp_path / "cgroup.controllers").touch()
    assert cgroups.hierarchies(tmp_path) == [tmp_path]
