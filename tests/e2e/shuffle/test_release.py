"""A shuffle service as a release of the chart: installed, used, upgraded and uninstalled."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import services
import yaml
from deployed import wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

NEW = TESTED_VERSIONS[-1]
PATIENCE = 900
OBJECTS = "daemonsets,pods,configmaps,serviceaccounts,networkpolicies"


@pytest.mark.full
@pytest.mark.parametrize("helm", ["helm"], indirect=True)
def test_a_service_installed_by_helm(
    helm: Callable[..., subprocess.CompletedProcess[str]],
    cluster: Cluster,
    namespace: str,
    images: None,
    tmp_path: Path,
) -> None:
    """It serves as one that is applied does; an upgrade without a change replaces no pod; nothing stays."""

    def install(document: dict[str, Any]) -> None:
        file = tmp_path / "service.yaml"
        file.write_text(yaml.safe_dump(document), encoding="utf-8")
        done = helm("upgrade", "--install", "shuffle", "CHART", "-n", namespace, "-f", str(file))
        assert done.returncode == 0, done.stderr

    def again(document: dict[str, Any]) -> None:
        documents.append(document)
        install(document)

    documents: list[dict[str, Any]] = []
    name, janitor = f"released-{uuid.uuid4().hex[:6]}", {"intervalSeconds": 2, "graceSeconds": 10}
    service = services.start(cluster, namespace, NEW, name=name, install=again, port=7357, janitor=janitor)
    selector = f"sparkgen.dev/shuffle-service={name}"

    def generation() -> int:
        (found,) = cluster.objects("daemonsets", namespace, selector)
        return int(found["metadata"]["generation"])

    before = generation()
    install(documents[0])
    assert generation() == before, "pods are replaced, though nothing changed"

    document = services.application("reused", NEW, service, "idle", "16", "4")
    run = services.deploy(cluster, namespace, document)
    assert run.wait(PATIENCE) == "Complete", run.story() + service.story()
    told = services.result(run)
    assert (told["bytes"], told["mapTasks"], services.again(told)) == ([told["expected"]], 4, 0), (
        f"{told}\n{run.story()}"
    )
    wait_until(
        lambda: not service.folders(namespace), PATIENCE, "the janitor has removed its files", service.story
    )

    gone = helm("uninstall", "shuffle", "-n", namespace)
    assert gone.returncode == 0, gone.stderr
    wait_until(
        lambda: not cluster.objects(OBJECTS, namespace, selector),
        PATIENCE,
        "nothing is left of the release",
        service.story,
    )
