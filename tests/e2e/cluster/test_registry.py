"""The registries that tests of code delivery use: who reaches them, and what can be made to go wrong."""

from __future__ import annotations

import json

import pytest

from cluster import configs, images, network, registry, registry_client
from cluster.handle import Cluster
from cluster.ociimage import Image, layer, on_top, tar
from cluster.plan import NAME
from cluster.registry import Registry

pytestmark = pytest.mark.own_cluster
CONTENT = b"print('delivered')\n"


def _image() -> Image:
    return on_top(images.busybox(), layer(tar({"code/etl.py": CONTENT})))


def _push(it: Registry, user: str) -> str:
    with network.inside(NAME):
        return f"{it.address}/team/etl@{it.client(user).push('team/etl', _image())}"


def _pod(name: str, image: str, secret: str = "") -> dict[str, object]:
    container = {"name": "main", "image": image, "command": ["cat", "/code/etl.py"]}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container]}
    pull = {"imagePullSecrets": [{"name": secret}]} if secret else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {**spec, **pull}}


def _secret(name: str, config: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": config},
    }


def _apply(cluster: Cluster, namespace: str, *objects: dict[str, object]) -> None:
    for one in objects:
        cluster.kubectl("apply", "-n", namespace, "-f", "-", input_text=json.dumps(one))


def _wait(cluster: Cluster, namespace: str, pod: str, path: str, value: str) -> None:
    condition = f"--for=jsonpath={{{path}}}={value}"
    cluster.kubectl("wait", "-n", namespace, f"pod/{pod}", condition, "--timeout=60s")


def test_a_node_pulls_what_was_pushed_and_nobody_without_the_password(
    cluster: Cluster, namespace: str, registry: Registry
) -> None:
    """By TLS with a CA of the cluster's own, and with the password of a Secret."""
    reference = _push(registry, "team-a")
    wrong = registry_config(registry, "not it")
    _apply(
        cluster,
        namespace,
        _secret("right", registry.config_json("reader")),
        _secret("wrong", wrong),
        _pod("refused", reference, "wrong"),
    )
    waiting = ".status.containerStatuses[0].state.waiting.reason"
    _wait(cluster, namespace, "refused", waiting, "ErrImagePull")
    _apply(cluster, namespace, _pod("allowed", reference, "right"))
    _wait(cluster, namespace, "allowed", ".status.phase", "Succeeded")
    assert cluster.kubectl("logs", "-n", namespace, "allowed") == CONTENT.decode()


def registry_config(it: Registry, password: str) -> str:
    """The config.json of a reader with another password."""
    return registry.docker_config(it.address, "reader", password)


def test_plain_http_is_pulled_from_and_pods_reach_it(
    cluster: Cluster, namespace: str, plain_registry: Registry
) -> None:
    """From a node by its containerd, and from a pod by its address."""
    reference = _push(plain_registry, "")
    asks = _pod("asks", configs.PAUSE_IMAGE)
    asks["spec"]["containers"][0]["command"] = [  # type: ignore[index]
        *("wget", "-q", "-O", "-", f"http://{plain_registry.address}/v2/_catalog")
    ]
    _apply(cluster, namespace, _pod("pulls", reference), asks)
    for name in ("pulls", "asks"):
        _wait(cluster, namespace, name, ".status.phase", "Succeeded")
    assert json.loads(cluster.kubectl("logs", "-n", namespace, "asks")) == {"repositories": ["team/etl"]}


def test_it_refuses_strangers_and_keeps_what_it_has_while_it_is_away(registry: Registry) -> None:
    """What tests of faults build on: 401 without a password, nothing while it is away, all of it after."""
    digest = _push(registry, "team-a").rpartition("@")[2]
    reader = registry.client("reader")
    with network.inside(NAME):
        with pytest.raises(registry_client.Refused, match="401 UNAUTHORIZED"):
            registry.client().manifest("team/etl", digest)
        with registry.away(), pytest.raises(ConnectionRefusedError):
            reader.manifest("team/etl", digest)
        whole = reader.manifest("team/etl", digest)["layers"][-1]
        assert len(reader.blob("team/etl", whole["digest"])) == whole["size"]
        registry.blob(whole["digest"]).write_bytes(b"tampered")
        assert reader.blob("team/etl", whole["digest"]) == b"tampered"
    # A kubelet may go on asking this address for a pod of the test before.
    assert any(one.startswith("HEAD /v2/team/etl/blobs/sha256:") for one in registry.requests)
