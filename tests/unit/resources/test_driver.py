"""The driver's pod: three containers that meet in a few volumes, and one of them with a token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sparkgen import contract

Make = Callable[..., Any]


def containers(made: Any) -> dict[str, dict[str, Any]]:
    """All containers of the driver's pod by name."""
    spec = made.driver["spec"]
    return {item["name"]: item for item in [*spec["initContainers"], *spec["containers"]]}


def mounts(container: dict[str, Any]) -> dict[str, bool]:
    """Volume -> whether the container only reads it."""
    return {item["name"]: item.get("readOnly", False) for item in container["volumeMounts"]}


def test_order_of_the_containers(rendered: Make) -> None:
    """The jar first, the document's own, then the allocator, whose start-up probe gates the driver."""
    fields = {
        "initContainers": [{"name": "own", "image": "o"}],
        "sidecars": [{"name": "beside", "image": "b"}],
    }
    spec = rendered(driver=fields).driver["spec"]
    assert [item["name"] for item in spec["initContainers"]] == ["install", "own", "beside", "allocator"]
    assert [item["name"] for item in spec["containers"]] == ["spark-kubernetes-driver"]
    assert spec["initContainers"][3]["restartPolicy"] == "Always"
    assert "startupProbe" in spec["initContainers"][3]


def test_only_the_allocator_has_a_token(rendered: Make) -> None:
    """No other container mounts the token, the document's own included, and the pod gets none by itself."""
    fields = {
        "initContainers": [{"name": "own", "image": "o"}],
        "sidecars": [{"name": "beside", "image": "b"}],
    }
    made = rendered(driver=fields, hadoopConf={"a": "b"})
    assert made.driver["spec"]["automountServiceAccountToken"] is False
    holders = [
        name
        for name, item in containers(made).items()
        for mount in item.get("volumeMounts", ())
        if mount["name"] == contract.TOKEN_VOLUME
    ]
    assert holders == ["allocator"]
    projected = [name for name, volume in made.volumes("driver").items() if "projected" in volume]
    assert projected == [contract.TOKEN_VOLUME]
    assert not any("projected" in volume for volume in made.volumes("executor").values())


def test_who_writes_where(rendered: Make) -> None:
    """Each shared volume has one writer; everybody else reads it."""
    made = containers(rendered())
    assert mounts(made["install"]) == {"sparkgen-lib": False, "sparkgen-tuning": True}
    assert mounts(made["allocator"]) == {
        "sparkgen-session": False,
        "sparkgen-conf": True,
        "sparkgen-executor": True,
        "sparkgen-tuning": True,
        "sparkgen-token": True,
    }
    assert mounts(made["spark-kubernetes-driver"]) == {
        "sparkgen-scratch": False,
        "sparkgen-lib": True,
        "sparkgen-session": True,
        "sparkgen-conf": True,
    }


def test_the_secret_stays_in_memory(rendered: Make) -> None:
    """The volume with the RPC secret is never on a disk."""
    assert rendered().volumes("driver")["sparkgen-session"]["emptyDir"]["medium"] == "Memory"


def test_config_maps_are_those_of_the_run(rendered: Make) -> None:
    """The pod reads its own run's files, and the application's tuning."""
    made = rendered(hadoopConf={"a": "b"})
    run = made.workload["metadata"]["name"]
    found = {
        volume["configMap"]["name"] for volume in made.volumes("driver").values() if "configMap" in volume
    }
    assert found == {f"{run}-conf", f"{run}-executor", f"{run}-hadoop", "pi-tuning"}
    assert found == {item["metadata"]["name"] for item in made.all("ConfigMap")}


COMMANDS: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({}, ["--class", "org.example.Main", "local:///opt/app/main.jar"]),
    (
        {
            "type": "Python",
            "mainClass": None,
            "mainApplicationFile": "local:///app.py",
            "arguments": ["--x", "1"],
        },
        ["local:///app.py", "--x", "1"],
    ),
    (
        {"arguments": ["a b", "$HOME"]},
        ["--class", "org.example.Main", "local:///opt/app/main.jar", "a b", "$HOME"],
    ),
)


@pytest.mark.parametrize(("spec", "expected"), COMMANDS)
def test_what_the_driver_runs(rendered: Make, spec: dict[str, Any], expected: list[str]) -> None:
    """The stock entrypoint's driver mode starts the scheduler jar's program; options before the main file."""
    start = ["driver", "--properties-file", "/opt/sparkgen/session/launch.properties"]
    program = ["--class", "org.apache.spark.deploy.sparkgen.DriverSubmit", "spark-internal"]
    assert rendered(**spec).spark("driver")["args"] == [*start, *program, *expected]


@pytest.mark.parametrize(
    ("spec", "line"),
    [({}, "2.12"), ({"sparkVersion": "4.0.1"}, "2.13"), ({"scalaVersion": "2.13"}, "2.13")],
)
def test_install_knows_the_scala_line(rendered: Make, spec: dict[str, Any], line: str) -> None:
    """The init container copies the jar of the application's Scala line."""
    env = {item["name"]: item["value"] for item in containers(rendered(**spec))["install"]["env"]}
    assert env["SPARKGEN_SCALA_VERSION"] == line
    assert (env["SPARKGEN_CONTRACT"], env["SPARKGEN_APPLICATION"]) == ("1", "pi")


def test_runtime_containers(rendered: Make) -> None:
    """Image, pull policy and resources of `install` and `allocator`; they write to no image."""
    made = rendered(
        runtimeImage="r@sha256:1",
        imagePullPolicy="Always",
        allocation={"resources": {"limits": {"memory": "1Gi"}}},
    )
    for name in ("install", "allocator"):
        container = containers(made)[name]
        assert (container["image"], container["imagePullPolicy"]) == ("r@sha256:1", "Always")
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["resources"] == {
            "requests": {"cpu": "100m", "memory": "64Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        }


def test_every_port_is_free_for_its_listener(rendered: Make) -> None:
    """No two containers of the pod declare one port, and the names are valid for Services."""
    ports = [port for item in containers(rendered()).values() for port in item.get("ports", ())]
    numbers = [port["containerPort"] for port in ports]
    assert sorted(numbers) == [4040, 7078, 7079, 7091]
    assert all(len(port["name"]) <= 15 for port in ports)


def test_a_driver_is_not_moved(rendered: Make) -> None:
    """Autoscalers leave drivers where they are, and may move executors."""
    made = rendered()
    moving = {"cluster-autoscaler.kubernetes.io/safe-to-evict", "karpenter.sh/do-not-disrupt"}
    assert moving <= made.driver["metadata"]["annotations"].keys()
    assert not moving & made.executor["metadata"]["annotations"].keys()


def test_hadoop_conf(rendered: Make) -> None:
    """Both roles read core-site.xml where there is one, and know nothing of it where there is none."""
    made = rendered(hadoopConf={"fs.x": "1"})
    for role in ("driver", "executor"):
        assert made.env(role)["HADOOP_CONF_DIR"] == "/opt/sparkgen/hadoop"
        assert "sparkgen-hadoop" in made.volumes(role)
        assert "HADOOP_CONF_DIR" not in rendered().env(role)
        assert "sparkgen-hadoop" not in rendered().volumes(role)


def test_nothing_runs_before_the_turn_of_the_run(rendered: Make) -> None:
    """Also no container of the document's template: it may change what the other run still uses."""
    template = {"spec": {"initContainers": [{"name": "clean", "image": "a", "restartPolicy": "Always"}]}}
    made = rendered(concurrencyPolicy="Replace", driver={"template": template}).driver
    names = [container["name"] for container in made["spec"]["initContainers"]]
    assert names[:2] == [contract.CONCURRENCY_CONTAINER, "clean"]


def test_executors_have_their_pools_as_an_annotation(rendered: Make) -> None:
    """One text, whatever the document leaves out; and no pools are no annotation."""
    pools = [
        {"name": "spot", "nodeSelector": {"life": "spot"}, "tolerations": []},
        {"name": "rest", "share": 20},
    ]
    made = rendered(executor={"pools": pools}).executor["metadata"]["annotations"]
    assert made[contract.ANNOTATION_POOLS] == (
        '[{"name":"spot","nodeSelector":{"life":"spot"},"share":0},{"name":"rest","share":20}]'
    )
    for none in ({}, {"pools": []}):
        assert contract.ANNOTATION_POOLS not in str(rendered(executor=none).executor)
