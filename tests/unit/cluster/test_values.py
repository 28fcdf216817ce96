"""The cluster as values: addresses, files, what makes it another cluster."""

from __future__ import annotations

import ipaddress
import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from cluster import certificates, cgroups, configs, lifecycle, plan
from cluster.lifecycle import Stamp
from cluster.plan import Family, Layout

LAYOUT = Layout(Path("/x"))
STAMP = Stamp("boot", "sources", ("a", "b"))


@pytest.mark.parametrize("family", [plan.IPV4, plan.IPV6])
def test_no_two_networks_overlap(family: Family) -> None:
    """Nodes, pods, services and fake pods are apart, and every node's pods are in the pods' network."""
    names = (family.nodes, family.pods, family.services, family.fakes)
    networks = [ipaddress.ip_network(name) for name in names]
    assert {network.version for network in networks} == {family.version}
    assert not any(one.overlaps(other) for one, other in combinations(networks, 2))
    for node in plan.NODES:
        assert node.pods_in(family) in {
            str(network) for network in networks[1].subnets(new_prefix=family.pods_of_a_node)
        }
        assert ipaddress.ip_address(node.address_in(family)) in networks[0]


def test_the_addresses_of_each_version() -> None:
    """Those that the head of plan.py names."""
    second = plan.NODES[1]
    found = [
        (family.control, second.address_in(family), second.pods_in(family), family.dns_service)
        for family in plan.FAMILIES["dual"]
    ]
    assert found == [
        ("10.77.0.1", "10.77.0.12", "10.88.2.0/24", "10.96.0.10"),
        ("fd00:10:77::1", "fd00:10:77::c", "fd00:10:88:2::/64", "fd00:10:96::a"),
    ]


VALUES = """
import json
from cluster import certificates, configs, plan
from cluster.plan import LAYOUT, NODES
server = dict(line[2:].split("=", 1) for line in configs.api_server(LAYOUT))
cni = json.loads(configs.cni(NODES[0]))["plugins"][0]["ipam"]
print(json.dumps({
    "name": plan.NAME,
    "server": plan.API_SERVER,
    "services": server["service-cluster-ip-range"],
    "bind": [server["bind-address"], json.loads(configs.kubelet("/x"))["address"]],
    "pods": [[part["subnet"] for part in parts] for parts in cni["ranges"]],
    "names": configs.corefile(LAYOUT).split("{")[1].splitlines()[-1].strip(),
    "node": certificates.wanted()[-2].names,
}))
"""


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (
            "ipv6",
            {
                "name": "sparkgen-x-ipv6",
                "server": "https://[fd00:10:77::1]:6443",
                "services": "fd00:10:96::/112",
                "bind": ["::", "::"],
                "pods": [["fd00:10:88:1::/64"]],
                "names": "kubernetes cluster.local ip6.arpa",
                "node": ["DNS:node1", "IP:fd00:10:77::b"],
            },
        ),
        (
            "dual",
            {
                "name": "sparkgen-x-dual",
                "server": "https://10.77.0.1:6443",
                "services": "10.96.0.0/16,fd00:10:96::/112",
                "bind": ["0.0.0.0", "0.0.0.0"],  # noqa: S104 - what is expected
                "pods": [["10.88.1.0/24"], ["fd00:10:88:1::/64"]],
                "names": "kubernetes cluster.local in-addr.arpa ip6.arpa",
                "node": ["DNS:node1", "IP:10.77.0.11", "IP:fd00:10:77::b"],
            },
        ),
    ],
)
def test_a_cluster_of_another_family_has_its_own_name_and_addresses(
    family: str, expected: dict[str, object]
) -> None:
    """It runs beside the usual one, and its programs listen where its pods can reach them."""
    tools = Path(plan.__file__).parents[1]
    variables = {"SPARKGEN_FAMILY": family, "SPARKGEN_CLUSTER": "sparkgen-x", "PYTHONPATH": str(tools)}
    done = subprocess.run(
        [sys.executable, "-c", VALUES], env={**os.environ, **variables}, capture_output=True, check=True
    )
    assert json.loads(done.stdout) == expected


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
