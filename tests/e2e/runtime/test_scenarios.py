"""Applications that scale, stream, and ask for executors of two shapes, on the real cluster."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import zipfile
from typing import Any

import pytest
from deployed import Deployed, deploy, document, leaving, wait_until

from cluster import faults
from cluster.configs import PAUSE_IMAGE
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

OLD, NEW = TESTED_VERSIONS
IMAGE = {
    "helpers.zip": "helpers.zip",
    "rates.py": "rates.py",
    "sibling.py": "sibling.py",
    "module_of_a_folder.py": "lib/module_of_a_folder.py",
}
"""Key -> path below /opt/etl."""
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
BESIDE_THE_DRIVER = {
    "labelSelector": {"matchLabels": {"spark-app-name": "nightly-eu-us", "spark-role": "driver"}},
    "topologyKey": "kubernetes.io/hostname",
}
"""By Spark's own labels: with none of them, the executor waits for ever."""


def dynamic(maximum: int, **more: object) -> dict[str, object]:
    """Dynamic allocation that lets idle executors go at once."""
    return {
        "enabled": True,
        "minExecutors": 0,
        "initialExecutors": 0,
        "maxExecutors": maximum,
        "executorIdleTimeout": "3s",
        **more,
    }


def ready(application: Deployed, count: int) -> None:
    """Wait until so many executors run."""
    wait_until(
        lambda: len(application.executors("Running")) >= count,
        300,
        f"{count} executors run",
        application.story,
    )


@pytest.mark.core
@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_executors_come_with_the_work_go_when_idle_and_come_again(
    version: str, cluster: Cluster, restricted: str
) -> None:
    """Dynamic allocation: three executors, none while the driver rests, three again; then the result."""
    application = deploy(
        cluster, restricted, document("waves", version, "waves.py", "12", dynamicAllocation=dynamic(3))
    )
    ready(application, 2)
    wait_until(lambda: "wave 1" in application.logs(), 300, "the first wave is done", application.story)
    wait_until(lambda: not application.executors(), 60, "idle executors are gone", application.story)
    ready(application, 1)
    assert application.wait() == "Complete", application.story()
    assert re.findall(r"wave \d: 36", application.logs()) == ["wave 1: 36", "wave 2: 36"]
    names = [event["reason"] for event in application.events()]
    assert "Failed" not in names
    wait_until(lambda: not application.executors(), 30, "nothing is left", application.story)


@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_executors_have_what_sparks_own_backend_gives_them(
    version: str, cluster: Cluster, restricted: str
) -> None:
    """Modules of the image, native libraries, attributes for a log URL, and labels that affinities select."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("zipped.py", "VALUE = 3")
    files = {
        "data": {"rates.py": "VALUE = 1", "sibling.py": "", "module_of_a_folder.py": "VALUE = 2"},
        "binaryData": {"helpers.zip": base64.b64encode(archive.getvalue()).decode()},
    }
    metadata = {"name": "image", "namespace": restricted}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **files})
    volume = {
        "configMap": {"name": "image", "items": [{"key": key, "path": path} for key, path in IMAGE.items()]}
    }
    mounts = {"volumeMounts": [{"name": "image", "mountPath": "/opt/etl"}]}
    wanted = document(
        "modules",
        version,
        "modules.py",
        deps={"pyFiles": [f"local:///opt/etl/{name}" for name in ("helpers.zip", "rates.py", "lib")]},
        sparkConf={
            "spark.app.name": "Nightly: EU & US",
            "spark.executor.extraLibraryPath": "/opt/native",
            "spark.ui.custom.executor.log.url": "https://logs/{{APP_ID}}/{{EXECUTOR_ID}}",
            "spark.ui.enabled": "false",
        },
        volumes=[{"name": "image", **volume}],
        driver={**mounts, "configMaps": [{"name": "applications", "path": "/opt/applications"}]},
        executor={**mounts, "instances": 1, "affinity": {"podAffinity": {REQUIRED: [BESIDE_THE_DRIVER]}}},
    )
    application = deploy(cluster, restricted, wanted)
    wait_until(lambda: bool(application.executors()), 120, "an executor is there", application.story)
    (pod,) = application.executors()
    assert application.wait() == "Complete", application.story()
    (line,) = [line for line in application.logs().splitlines() if line.startswith("{")]
    found = json.loads(line)
    assert found["driver"] == [1, 2, 3]
    assert found["executor"] == {
        "modules": [1, 2, 3],
        "sibling": False,
        "libraries": "/opt/native",
        "executor": "1",
        "attributes": [found["id"], "1"],
    }
    labels = {name: text for name, text in pod["metadata"]["labels"].items() if name.startswith("spark-")}
    assert labels == {
        "spark-app-name": "nightly-eu-us",
        "spark-app-selector": found["id"],
        "spark-exec-id": "1",
        "spark-exec-resourceprofile-id": "0",
        "spark-role": "executor",
        "spark-version": version,
    }


def test_a_stage_gets_executors_of_its_own_shape(cluster: Cluster, restricted: str) -> None:
    """Two resource profiles: pods of two sizes, each with the memory of its profile."""
    application = deploy(
        cluster,
        restricted,
        document("profiles", NEW, "profiles.py", dynamicAllocation=dynamic(1, executorIdleTimeout="60s")),
    )
    shapes: set[tuple[str, str, str]] = set()

    def look() -> bool:
        for pod in application.executors():
            (spark,) = pod["spec"]["containers"]
            values = {entry["name"]: entry.get("value", "") for entry in spark["env"]}
            shapes.add(
                (
                    values["SPARK_RESOURCE_PROFILE_ID"],
                    values["SPARK_EXECUTOR_CORES"],
                    values["SPARK_EXECUTOR_MEMORY"],
                )
            )
        return bool(application.finished())

    wait_until(look, 240, "it has ended", application.story)
    assert application.finished() == "Complete", application.story()
    assert shapes == {("0", "1", "600m"), ("1", "1", "700m")}
    assert "plain: 45" in application.logs()
    assert "other: 210" in application.logs()


def test_a_stream_runs_on_and_its_driver_starts_again(cluster: Cluster, restricted: str) -> None:
    """A Deployment: batches come; when the driver's process dies, it starts again as another attempt."""
    application = deploy(
        cluster,
        restricted,
        document("stream", NEW, "stream.py", restartPolicy={"type": "Always"}, executor={"instances": 1}),
    )
    seen = re.compile(r"batch \d+: (\S+)")
    wait_until(lambda: bool(seen.search(application.logs())), 120, "a batch is done", application.story)
    first = seen.findall(application.logs())[-1]
    pod = application.driver()["metadata"]["name"]
    cluster.try_kubectl(
        *("exec", "-n", restricted, pod, "-c", "spark-kubernetes-driver", "--"),
        *("bash", "-c", "kill $(pgrep java)"),
    )
    wait_until(
        lambda: bool(seen.search(text := application.logs())) and seen.findall(text)[-1] != first,
        120,
        "a batch of the next attempt is done",
        application.story,
    )
    assert application.driver()["metadata"]["name"] == pod
    wait_until(
        lambda: len([p for p in application.executors() if not leaving(p)]) == 1,
        60,
        "the executors of the first attempt are gone",
        application.story,
    )
    cluster.kubectl("delete", "deployment", "stream", "-n", restricted)
    wait_until(lambda: not application.executors(), 90, "everything is gone")


def test_the_bounds_can_be_raised_while_it_runs(cluster: Cluster, restricted: str) -> None:
    """A commit that raises maxExecutors reaches the running application; nothing is run again."""
    wanted = document("raise", NEW, "hold.py", "3", "nothing", "60", dynamicAllocation=dynamic(1))
    application = deploy(cluster, restricted, wanted)
    ready(application, 1)
    wanted["spec"]["dynamicAllocation"]["maxExecutors"] = 3
    assert deploy(cluster, restricted, wanted).run == application.run
    # The kubelet looks at a pod's ConfigMaps again when the pod changes, and every minute otherwise.
    pod = application.driver()["metadata"]["name"]
    cluster.kubectl("annotate", "pod", pod, "-n", restricted, "looked-at=now")
    ready(application, 3)
    cluster.kubectl("delete", "job", application.run, "-n", restricted)


DECOMMISSIONED = {"sparkConf": {"spark.decommission.enabled": "true"}}
HELD: dict[str, tuple[str, dict[str, Any]]] = {
    "fixed": (NEW, {}),
    "decommissioned": (OLD, DECOMMISSIONED),
    "dynamic": (NEW, {"dynamicAllocation": dynamic(2), **DECOMMISSIONED}),
}


@pytest.mark.parametrize(("version", "more"), HELD.values(), ids=HELD)
def test_a_held_application_gives_its_executors_back_and_gets_them_again(
    version: str, more: dict[str, Any], cluster: Cluster, restricted: str
) -> None:
    """Tasks that run end first, and none is lost; the run and its driver stay, though the allocator dies."""
    wanted = document("held", version, "hold.py", "8", "nothing", "5", **more)
    application = deploy(cluster, restricted, wanted)
    ready(application, 2)
    driver = application.driver()["metadata"]
    for hold in (True, False):
        wanted["spec"]["allocation"] = {"hold": hold}
        assert deploy(cluster, restricted, wanted).run == application.run
        # The kubelet looks at a pod's ConfigMaps again when the pod changes.
        note = f"looked-at={hold}"
        cluster.kubectl("annotate", "pod", driver["name"], "-n", restricted, note, "--overwrite")
        if hold:
            wait_until(lambda: not application.executors(), 60, "the executors are gone", application.story)
            assert faults.kill_container(application.driver(), "allocator")
            wait_until(lambda: _restarted(application), 60, "the allocator runs again", application.story)
            assert not application.executors()
    assert application.wait() == "Complete", application.story()
    assert "total: 28" in application.logs()
    assert application.driver()["metadata"]["uid"] == driver["uid"]
    assert {"Held", "Resumed"} <= {event["reason"] for event in application.events()}
    assert not application.losses()


def _restarted(application: Deployed) -> bool:
    """Whether the allocator runs again after its end."""
    states = application.driver()["status"]["initContainerStatuses"]
    return any(one["name"] == "allocator" and one["restartCount"] and one["ready"] for one in states)


def test_what_the_code_asks_for_against_the_review_stops_the_application(
    cluster: Cluster, restricted: str
) -> None:
    """`.config("spark.executor.memory", "3g")` against 600m: a message that names both, and no result."""
    application = deploy(cluster, restricted, document("mismatch", NEW, "mismatch.py"))
    assert application.wait() == "Failed"
    said = application.logs()
    assert "spark.executor.memory" in said
    assert "3g" in said
    assert "600m" in said
    assert "must not come so far" not in said


@pytest.mark.core
def test_user_code_sees_no_credential(cluster: Cluster, restricted: str) -> None:
    """Neither the driver nor an executor finds a token; the RPC secret is in nothing that one can read.

    Connections and blocks are encrypted here, which needs the same secret on both sides.
    """
    encrypted = {"spark.network.crypto.enabled": "true", "spark.io.encryption.enabled": "true"}
    wanted = document("credentials", OLD, "credentials.py", sparkConf=encrypted)
    application = deploy(cluster, restricted, wanted)
    assert application.wait() == "Complete", application.story()
    assert "driver: (False, [])" in application.logs()
    assert "executors: [(False, ())]" in application.logs()
    secrets = cluster.objects("secrets", restricted)
    values = [value for secret in secrets for value in secret.get("data", {}).values()]
    assert values, "there is an RPC secret"
    said = "".join(
        [
            cluster.kubectl("get", "configmaps,pods,jobs,events", "-n", restricted, "-o", "json"),
            application.logs(),
            application.logs("allocator"),
        ]
    )
    for value in values:
        assert base64.b64decode(value).decode() not in said
        assert value not in said


def test_its_rights_are_all_used_and_no_others_are_asked_for(cluster: Cluster, restricted: str) -> None:
    """In the audit log: no 403 after the first minute, and every verb that the Role grants.

    Somebody else's pod has the name of the first executor: it is looked at, told as an Event, and left alone.
    """
    application = deploy(
        cluster, restricted, document("rights", NEW, "waves.py", "8", dynamicAllocation=dynamic(2))
    )
    wait_until(application.has_driver, 30, "there is a driver")
    uid = application.driver()["metadata"]["uid"]
    attempt = hashlib.sha256(uid.encode()).hexdigest()[:5]
    foreign = f"{application.run}-{attempt}-exec-1"
    cluster.apply(pause(foreign, restricted))
    assert application.wait() == "Complete", application.story()
    calls = cluster.calls(restricted, "rights")
    began = min(call.time for call in calls)
    late = [call for call in calls if call.code == 403 and (call.time - began).total_seconds() > 60]
    assert late == []
    role = json.loads(cluster.kubectl("get", "role", "rights", "-n", restricted, "-o", "json"))
    granted = {(rule["resources"][0], verb) for rule in role["rules"] for verb in rule["verbs"]}
    assert {(call.resource, call.verb) for call in calls if call.code < 400} == granted
    assert any(event["reason"] == "ExecutorsRefused" for event in application.events())
    assert cluster.kubectl("get", "pod", foreign, "-n", restricted, "-o=name").strip() == f"pod/{foreign}"


def pause(name: str, namespace: str) -> dict[str, object]:
    """A pod that does nothing, as restricted as it has to be."""
    security = {
        "runAsNonRoot": True,
        "runAsUser": 185,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "main", "image": PAUSE_IMAGE, "securityContext": security}]},
    }
