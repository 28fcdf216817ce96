"""What Argo CD does to an application that runs: nothing, whatever is synced.

One application for the whole module: its driver works in waves, and each wave needs new executors, so that a
driver or an account that was touched shows. Every test looks for executors that are created after its sync.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from argo import Application, Repository, creates_executors, executor_names, finish, in_namespace, waiting
from deployed import GO, document, wait_until

from cluster import argocd, images
from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS

VERSION = TESTED_VERSIONS[-1]
BUMPED = f"{REPOSITORY}:{VERSION}-bumped"
DYNAMIC = {"enabled": True, "minExecutors": 0, "initialExecutors": 0, "maxExecutors": 1}
DISKS = 150
"""More than executors come in these tests; each is bound once, as nothing empties a disk here."""


def steady(namespace: str, **spec: Any) -> dict[str, Any]:
    """The application, with changes. Each executor has a claim of its own."""
    allocation = {**DYNAMIC, "executorIdleTimeout": "2s"}
    asked = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": namespace,
        "resources": {"requests": {"storage": "1Mi"}},
    }
    claim = {
        "volumes": [{"name": "disk", "ephemeral": {"volumeClaimTemplate": {"spec": asked}}}],
        "executor": {"volumeMounts": [{"name": "disk", "mountPath": "/mnt/disk", "readOnly": True}]},
    }
    return in_namespace(
        document("steady", VERSION, "rounds.py", GO, **{"dynamicAllocation": allocation, **claim, **spec}),
        namespace,
    )


@pytest.fixture(scope="module")
def disks(cluster: Cluster, module_namespace: str) -> Iterator[None]:
    """Disks for the executors' claims, as the cluster has nothing that makes them."""
    metadata = {"labels": {"test": module_namespace}}
    spec = {
        "capacity": {"storage": "1Mi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": module_namespace,
        "hostPath": {"path": "/mnt"},
    }
    kind = {"apiVersion": "v1", "kind": "PersistentVolume", "spec": spec}
    cluster.apply(
        *(
            {**kind, "metadata": {**metadata, "name": f"{module_namespace}-{number}"}}
            for number in range(DISKS)
        )
    )
    yield
    cluster.kubectl("delete", "persistentvolumes", "-l", f"test={module_namespace}", "--wait=false")


@pytest.fixture(scope="module")
def running(
    cluster: Cluster, module_repository: Repository, module_namespace: str, disks: None
) -> Iterator[Application]:
    """The application, synced for the first time, with a driver that has done a wave of work."""
    cluster.load({BUMPED: images.spark(VERSION)})
    application = Application(cluster, module_repository, "steady", module_namespace)
    module_repository.release(steady(module_namespace), "Begin")
    application.create()
    application.synced()
    wait_until(
        lambda: "wave 1: 6" in application.run().logs(), 300, "a wave is done", application.run().story
    )
    yield application
    application.delete()


@pytest.fixture
def untouched(running: Application) -> Iterator[Application]:
    """The running application; after the test it has the same Job and driver, and creates executors."""
    jobs, drivers = running.jobs(), running.drivers()
    yield running
    assert (running.jobs(), running.drivers()) == (jobs, drivers)
    creates_executors(running.run())
    assert running.drivers() == drivers


def test_the_first_sync_runs_it_once(untouched: Application) -> None:
    """One Job, one driver; the sync is done and the application Progressing while the driver runs."""
    assert list(untouched.jobs()) == [untouched.repository.run("steady")]
    assert len(untouched.drivers()) == 1
    status = untouched.read()["status"]
    assert status["operationState"]["phase"] == "Succeeded"
    assert (status["sync"]["status"], status["health"]["status"]) == ("Synced", "Progressing")


def test_syncs_a_hard_refresh_and_a_restart_run_nothing(untouched: Application) -> None:
    """Ten syncs, a hard refresh, and a controller that starts again."""
    for _ in range(10):
        untouched.sync()
    untouched.refresh("hard")
    argocd.stop(argocd.OWN, "argocd-controller")
    argocd.start()
    untouched.synced()


def test_a_comment_and_another_format_run_nothing(untouched: Application) -> None:
    """The document is commented, written in another style, and rendered again."""
    value = steady(untouched.namespace)
    text = f"# Who asks: see the wiki.\n{yaml.safe_dump(value, default_flow_style=True, sort_keys=True)}"
    untouched.synced(untouched.repository.release(text, "Say whom to ask"))


def test_what_runs_adds_is_no_difference(untouched: Application) -> None:
    """Executors, Secrets and claims belong to the driver's pod, and are none of Argo CD's business."""
    run = untouched.run()
    wait_until(lambda: bool(executor_names(run)), 240, "an executor is there", run.story)
    untouched.refresh()
    assert untouched.differences() == []
    rendered = {
        f"{item['kind']}/{item['metadata']['name']}" for item in untouched.repository.objects("steady")
    }
    found = {f"{item['kind']}/{item['name']}" for item in untouched.read()["status"]["resources"]}
    assert found == rendered
    driver = run.driver()
    wait_until(lambda: bool(executor_names(run)), 240, "an executor is there", run.story)
    for kind in ("pods", "secrets"):
        for item in untouched.cluster.objects(kind, untouched.namespace, "spark-role=executor"):
            assert [owner["uid"] for owner in item["metadata"]["ownerReferences"]] == [
                driver["metadata"]["uid"]
            ]
    claims = untouched.cluster.objects("persistentvolumeclaims", untouched.namespace)
    assert claims
    for claim in claims:
        owners = [(owner["kind"], owner["name"]) for owner in claim["metadata"]["ownerReferences"]]
        assert owners == [("Pod", claim["metadata"]["name"].removesuffix("-disk"))]


def test_tuning_reaches_it_without_a_run(untouched: Application) -> None:
    """A higher maxExecutors is synced, and used by the very driver that runs."""
    allocation = {**DYNAMIC, "executorIdleTimeout": "2s", "maxExecutors": 2}
    value = steady(untouched.namespace, dynamicAllocation=allocation)
    untouched.synced(untouched.repository.release(value, "Allow two executors"))
    run = untouched.run()
    # The kubelet looks at a pod's ConfigMaps again when the pod changes, and every minute otherwise.
    pod = run.driver()["metadata"]["name"]
    untouched.cluster.kubectl("annotate", "pod", pod, "-n", untouched.namespace, "looked-at=now")
    wait_until(lambda: len(executor_names(run)) == 2, 240, "two executors at a time", run.story)


def test_another_name_with_prune_leaves_it_alone(untouched: Application) -> None:
    """The folder that is synced holds another application: the driver stays, with all that it uses."""
    repository, run = untouched.repository, untouched.run()
    untouched.synced(repository.rename("steady", waiting("renamed", untouched.namespace, VERSION)))
    creates_executors(run)
    assert untouched.differences() == [], untouched.story()
    repository.git("revert", "--no-edit", "HEAD")
    untouched.synced()
    # What was kept of the other name goes by hand, as docs/gitops-hazards.md says.
    kept = "job,configmap,serviceaccount,role,rolebinding"
    selector = ("-l", "sparkgen.dev/application=renamed")
    untouched.cluster.kubectl("delete", kept, "-n", untouched.namespace, *selector)
    untouched.refresh()
    assert all("renamed" not in item["name"] for item in untouched.read()["status"]["resources"])


def test_a_bump_runs_one_new_run_and_leaves_the_old_one_alone(running: Application) -> None:
    """Two runs side by side; the old one goes on creating executors and finishes."""
    old, before = running.run(), running.jobs()
    value = steady(running.namespace, image=BUMPED)
    running.synced(running.repository.release(value, "Bump the image"))
    new = running.run()
    assert running.jobs().keys() == {old.run, new.run}
    creates_executors(old)
    running.sync()
    running.refresh("hard")
    creates_executors(old)
    wait_until(lambda: "wave 1: 6" in new.logs(), 300, "the new run works, too", new.story)
    assert {run: running.jobs()[run] for run in before} == before
    assert sorted(running.drivers().values()) == sorted([old.run, new.run])
    assert running.differences() == [], running.story()
    for run in (old, new):
        finish(run)
    assert (old.wait(), new.wait()) == ("Complete", "Complete")
    wait_until(lambda: running.health() == "Healthy", 60, "all is well", running.story)
