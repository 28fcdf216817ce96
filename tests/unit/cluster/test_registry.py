"""The registries of tests, as values: whose images nodes pull, who may, and where a blob is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cluster import configs, registry, registry_client
from cluster.plan import Layout
from cluster.registry import Registry

LAYOUT = Layout(Path("/x"))


def test_a_node_trusts_the_cluster_s_authority_or_speaks_plain_http() -> None:
    """What containerd reads for the registry, in the folder of its name."""
    assert 'ca = "/var/lib/kubelet/pki/ca.crt"' in configs.hosts("10.77.0.1:5443", tls=True)
    plain = configs.hosts("10.77.0.1:5080", tls=False)
    assert 'server = "http://10.77.0.1:5080"' in plain
    assert "ca =" not in plain
    assert f'config_path = "{configs.HOSTS}"' in configs.containerd()


def test_a_blob_is_where_distribution_keeps_it(tmp_path: Path) -> None:
    """So that a test can tamper with it."""
    found = Registry(tmp_path, layout=LAYOUT).blob("sha256:abcd")
    assert found == tmp_path / "data/docker/registry/v2/blobs/sha256/ab/abcd/data"


def test_passwords_are_hashed_and_a_config_names_the_registry(tmp_path: Path) -> None:
    """No password in the file that the registry reads; the client's has it, under the registry's address."""
    it = Registry(tmp_path, layout=LAYOUT)
    text = registry.htpasswd("team-a")
    assert text.startswith("team-a:$2b$")
    assert registry.PASSWORDS["team-a"][0] not in text
    assert json.loads(it.config_json("team-a"))["auths"][it.address]["username"] == "team-a"
    assert it.client().user == ""


@pytest.mark.parametrize("body", [b"", b"no json", b"{}", b'{"errors": []}'])
def test_a_refusal_without_a_code_shows_what_was_said(body: bytes) -> None:
    """A proxy's page is no error of the protocol."""
    refused = registry_client.Refused(502, body)
    assert (refused.status, refused.code) == (502, "")
    assert registry_client.Refused(401, b'{"errors":[{"code":"UNAUTHORIZED"}]}').code == "UNAUTHORIZED"
