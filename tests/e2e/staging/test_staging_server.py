"""A SparkStagingServer on the real cluster: two sides with two replicas each, and its garbage collection."""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

from cluster import network
from cluster.ociimage import Image, Layer, layer, tar
from cluster.plan import LAYOUT, NAME
from cluster.registry_client import Refused
from sparkgen.model import describe
from sparkgen.resources import render

sys.path.insert(0, str(Path(__file__).parent))

from staging_server import NODE, PULL_PORT, Staging

pytestmark = pytest.mark.own_cluster

SETTLE_SECONDS = 60.0
Answer = TypeVar("Answer")


def _image(text: str, size: int = 0) -> Image:
    files = {"code/etl.py": text.encode(), "code/data": text.encode() * size}
    return Image("amd64", {}, (layer(tar(files)),))


def _settled(action: Callable[[], Answer]) -> Answer:
    """What the action answers, again while nobody listens: a node's port comes some time after the pods.

    So do `sparkgen push` and the kubelet.
    """
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        try:
            return action()
        except (OSError, HTTPException):
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def _push(staging: Staging, text: str, size: int = 0) -> tuple[str, Layer]:
    """Push an artifact to the repository of the applications' namespace: its digest, and its layer."""
    image = _image(text, size)
    with network.inside(NAME):
        client = staging.client("push", "team-a")
        return _settled(lambda: client.push(f"{staging.users}/etl", image)), image.layers[-1]


def _pull(staging: Staging, digest: str, layer: Layer) -> bool:
    """Whether the whole artifact can be pulled, at the first try."""
    with network.inside(NAME):
        client = staging.client("pull", "reader")
        described = client.manifest(f"{staging.users}/etl", digest)["layers"][-1]
        return client.blob(f"{staging.users}/etl", described["digest"]) == layer.content


def _pulled(staging: Staging, digest: str, layer: Layer) -> bool:
    """Whether the whole artifact can be pulled, once the server is reached."""
    return _settled(lambda: _pull(staging, digest, layer))


def test_what_is_pushed_can_be_pulled_and_survives_all_pods(staging: Staging) -> None:
    """Pushed to one side, pulled from the other; every pod is replaced, and nothing is lost."""
    digest, pushed = _push(staging, "first")
    assert _pulled(staging, digest, pushed)
    staging.cluster.kubectl("delete", "pods", "-n", staging.namespace, "--all", "--grace-period=1")
    staging.rollout()
    assert _pulled(staging, digest, pushed)


def test_the_sides_have_their_own_passwords_and_rights(staging: Staging) -> None:
    """Nobody without a password, nobody with that of the other side or of another namespace's server."""
    digest, _ = _push(staging, "rights")
    repository = f"{staging.users}/etl"
    with network.inside(NAME):
        for side, user, password in (
            ("pull", "", ""),
            ("pull", "reader", "wrong"),
            ("pull", "team-a", ""),
            ("pull", "team-b", ""),
            ("push", "reader", ""),
            ("push", "team-b", ""),
        ):
            with pytest.raises(Refused, match="401 UNAUTHORIZED"):
                staging.client(side, user, password).manifest(repository, digest)
        with pytest.raises(Refused, match="405 "):
            staging.client("pull", "reader").begin_upload(repository)
        with pytest.raises(Refused, match="405 "):  # who pushes removes nothing
            staging.client("push", "team-a").ask("DELETE", f"/v2/{repository}/manifests/{digest}")


def test_an_upload_goes_on_at_another_replica(staging: Staging) -> None:
    """Begun at one pod of the side, ended at the other: they share the claim and what signs uploads."""
    data = b"begun here, ended there"
    one, other = (staging.client_of(pod, "push", "team-a") for pod in staging.pods("push"))
    with network.inside(NAME):
        place = one.begin_upload(f"{staging.users}/etl")
        digest = layer(data).digest
        other.end_upload(place, digest, data)
        assert staging.client("pull", "reader").blob(f"{staging.users}/etl", digest) == data


def test_pulls_survive_the_death_of_a_replica(staging: Staging) -> None:
    """One pod is killed between and during pulls: each pull gets all of it, at a second try."""
    digest, pushed = _push(staging, "a line of a large artifact\n", size=400_000)

    def pull(_: int) -> bool:
        for _ in range(3):
            try:
                return _pull(staging, digest, pushed)
            except (OSError, HTTPException, Refused):
                time.sleep(1)
        return False

    with ThreadPoolExecutor(4) as pool:
        pulls = pool.map(pull, range(24))
        victim = staging.pods("pull")[0]
        staging.cluster.kubectl(
            "delete", "pod", victim, "-n", staging.namespace, "--grace-period=0", "--force"
        )
        assert all(pulls)
    staging.rollout()


def test_read_only_refuses_pushes_and_serves_pulls(staging: Staging) -> None:
    """As for a backup; afterwards pushes are taken again."""
    digest, pushed = _push(staging, "before the backup")
    staging.apply(readOnly=True)
    try:
        with pytest.raises(Refused, match="405 "):
            _push(staging, "during the backup")
        assert _pulled(staging, digest, pushed)
    finally:
        staging.apply()
    assert _pulled(staging, *_push(staging, "after the backup"))


def _collect(staging: Staging) -> tuple[bool, str]:
    """Run the garbage collection now: whether it succeeded, and what it said."""
    name = f"gc-{uuid.uuid4().hex[:6]}"
    kubectl = staging.cluster.kubectl
    kubectl("create", "job", name, "-n", staging.namespace, "--from=cronjob/staging-gc")
    until = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < until:
        found = json.loads(kubectl("get", "job", name, "-n", staging.namespace, "-o", "json"))
        conditions = {one["type"]: one["status"] for one in found["status"].get("conditions", [])}
        if conditions.get("Complete") == "True" or found["status"].get("failed"):
            said = kubectl("logs", "-n", staging.namespace, f"job/{name}", "-c", "registry-gc", "--tail=-1")
            kubectl("delete", "job", name, "-n", staging.namespace, "--wait=false")
            return conditions.get("Complete") == "True", said
        time.sleep(0.5)
    raise AssertionError(f"the garbage collection does not end: {found['status']}")


def _user(staging: Staging, digest: str) -> dict[str, Any]:
    """What an application's namespace has: a Job that names an artifact."""
    reference = f"{NODE.address}:{PULL_PORT}/{staging.users}/etl@{digest}"
    container = {
        "name": "fetch",
        "image": "docker.io/sparkgen/busybox:1",
        "env": [{"name": "SPARKGEN_ARTIFACTS", "value": json.dumps([{"reference": reference}])}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "user", "namespace": staging.users},
        "spec": {
            "suspend": True,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


RIGHTS = """
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: {{name: user, namespace: {users}}}
spec:
  type: Python
  sparkVersion: "4.3.0"
  image: docker.io/apache/spark:4.3.0
  mainApplicationFile: local:///opt/app/etl.py
  delivery: {{stagingServer: {{name: staging, namespace: {namespace}}}}}
"""


def _rights(staging: Staging) -> list[dict[str, Any]]:
    """What an application renders for the garbage collection."""
    document = yaml.safe_load(RIGHTS.format(users=staging.users, namespace=staging.namespace))
    return [item for item in render(describe(document)) if item["metadata"]["name"].endswith("-staging-gc")]


def test_garbage_collection_keeps_what_is_named_and_removes_the_rest(staging: Staging) -> None:
    """Without the right to look nothing goes; with it, all that no object names, and its room."""
    kept, kept_layer = _push(staging, "a run names it")
    gone, gone_layer = _push(staging, "nothing names it")
    foreign = _image("of no namespace that is collected")
    with network.inside(NAME):
        other = staging.client("push", "team-a").push("elsewhere/etl", foreign)
    staging.cluster.apply(_user(staging, kept))
    assert _collect(staging)[0] is False
    assert _pulled(staging, gone, gone_layer)

    staging.cluster.apply(*_rights(staging))
    succeeded, said = _collect(staging)
    assert succeeded, said
    assert f"removing {staging.users}/etl@{gone}" in said
    assert _pulled(staging, kept, kept_layer)
    with network.inside(NAME):
        with pytest.raises(Refused, match="404"):
            staging.client("pull", "reader").manifest(f"{staging.users}/etl", gone)
        assert staging.client("pull", "reader").manifest("elsewhere/etl", other)
    kind, _, word = gone_layer.digest.partition(":")
    blobs = LAYOUT.node(NODE) / "srv" / staging.namespace / "docker/registry/v2/blobs" / kind
    assert not (blobs / word[:2] / word).exists()
    # Pushes wait meanwhile, and go on; what was removed can be pushed again.
    staging.rollout()
    again, again_layer = _push(staging, "nothing names it")
    assert again == gone
    assert _pulled(staging, again, again_layer)


def test_pushes_during_collections_are_whole(staging: Staging) -> None:
    """Somebody pushes while garbage is collected: what was pushed is there, or has gone as a whole."""
    staging.cluster.apply(*_rights(staging))
    pushed: list[tuple[str, Layer]] = []
    with ThreadPoolExecutor(1) as pool:
        collection = pool.submit(_collect, staging)
        while not collection.done():
            pushed.append(_push(staging, f"pushed meanwhile {len(pushed)}"))
        succeeded, said = collection.result()
    assert succeeded, said
    assert len(pushed) > 1
    removed = said.count("removing ")
    whole = [_is_whole(staging, digest, part) for digest, part in pushed]
    assert whole.count("broken") == 0
    assert whole.count("gone") <= removed
    assert whole[-1] == "whole"


def _is_whole(staging: Staging, digest: str, part: Layer) -> str:
    try:
        return "whole" if _pulled(staging, digest, part) else "broken"
    except Refused as error:
        return "gone" if error.code == "MANIFEST_UNKNOWN" else "broken"
