"""What a shuffle service makes of an application's objects, and its own objects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.model import build, describe
from sparkgen.resources import render, run_of

SPEC: dict[str, Any] = {
    "type": "Scala",
    "sparkVersion": "3.5.8",
    "image": "spark:3.5.8",
    "mainClass": "org.example.Main",
    "mainApplicationFile": "local:///opt/app/main.jar",
}
ON_NODE = {"name": "shuffle-35", "namespace": "spark-shuffle", "secretName": "shuffle-35"}


def objects(shuffle: dict[str, Any] | None, **spec: Any) -> dict[str, dict[str, Any]]:
    """The objects of an application, by kind and name without the run's hash."""
    every = {**SPEC, **({} if shuffle is None else {"shuffleService": shuffle}), **spec}
    value = {"kind": "SparkApplication", "metadata": {"name": "pi", "namespace": "analytics"}, "spec": every}
    run = run_of(build(value))
    return {
        f"{item['kind']} {item['metadata']['name']}".replace(run, "RUN"): item
        for item in render(build(value))
    }


def executor(made: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The executor's pod template."""
    text = made["ConfigMap RUN-executor"]["data"][contract.EXECUTOR_TEMPLATE_FILE]
    template: dict[str, Any] = json.loads(text)["template"]
    return template


def properties(made: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The driver's properties."""
    text = made["ConfigMap RUN-conf"]["data"][contract.SPARK_DEFAULTS_FILE]
    return dict(line.split(" ", 1) for line in text.splitlines())


def environment(container: dict[str, Any]) -> dict[str, Any]:
    """The variables of a container: name -> value, or where it comes from."""
    return {item["name"]: item.get("value", item.get("valueFrom")) for item in container["env"]}


def test_an_executor_beside_the_service_of_its_node() -> None:
    """Where it may run, where it writes, and how others find it."""
    pod = executor(objects({**ON_NODE, "directories": ["/mnt/a", "/mnt/b"]}))
    (spark,) = pod["spec"]["containers"]
    assert pod["metadata"]["annotations"][contract.ANNOTATION_BLOCK_MANAGER_PORTS] == "23000-23999"
    assert spark["args"] == ["bash", "/opt/sparkgen/conf/shuffle.sh"]
    variables = environment(spark)
    assert (
        variables["SPARK_LOCAL_DIRS"] == "/mnt/a/$(SPARKGEN_SHUFFLE_FOLDER),/mnt/b/$(SPARKGEN_SHUFFLE_FOLDER)"
    )
    assert variables["SPARKGEN_EXECUTOR_HOST"] == {"fieldRef": {"fieldPath": "status.hostIP"}}
    assert "-Dspark.blockManager.port=$(SPARKGEN_BLOCK_MANAGER_PORT)" in variables.values()
    mounts = {mount["mountPath"]: mount for mount in spark["volumeMounts"]}
    assert mounts["/mnt/b/$(SPARKGEN_SHUFFLE_FOLDER)"]["subPath"] == "$(SPARKGEN_SHUFFLE_FOLDER)"
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    assert volumes["sparkgen-shuffle-1"]["hostPath"] == {"path": "/mnt/b", "type": "Directory"}
    assert contract.SCRATCH_VOLUME not in volumes


def test_terms_of_the_document_stay_beside_that_of_the_service() -> None:
    """Lists of two layers do not add up: the document's own pod affinity is kept all the same."""
    own = {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": "zone"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [own]}}
    pod = executor(objects(ON_NODE, executor={"affinity": affinity}))
    (first, second) = pod["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert first == own
    assert second["namespaces"] == ["spark-shuffle"]
    assert second["labelSelector"] == {"matchLabels": {contract.LABEL_SHUFFLE_SERVICE: "shuffle-35"}}


@pytest.mark.parametrize("mode", ["daemonset", "sidecar"])
def test_spark_uses_the_service(mode: str) -> None:
    """The service's word wins over what the document says of it, and nothing tracks shuffle data."""
    conf = {"spark.shuffle.service.port": "1", "spark.shuffle.io.maxRetries": "99"}
    dynamic = {"enabled": True, "maxExecutors": 3}
    found = properties(
        objects({**ON_NODE, "mode": mode, "port": 7447}, sparkConf=conf, dynamicAllocation=dynamic)
    )
    assert found["spark.shuffle.service.enabled"] == "true"
    assert found["spark.shuffle.service.port"] == "7447"
    assert found["spark.dynamicAllocation.shuffleTracking.enabled"] == "false"
    assert found["spark.shuffle.io.maxRetries"] == "99"


def test_the_driver_takes_the_secret_by_its_name() -> None:
    """The allocator alone gets it, and no value stands in a manifest."""
    pod = objects(ON_NODE)["Job RUN"]["spec"]["template"]["spec"]
    holders = [
        item["name"] for item in (*pod["initContainers"], *pod["containers"]) if "shuffle-35" in str(item)
    ]
    assert holders == [contract.ALLOCATOR_CONTAINER]


def test_the_janitor_may_list_pods_and_nothing_else() -> None:
    """The right goes to the service's account in its own namespace; nobody gets it who renders no rights."""
    made = objects(ON_NODE)
    assert made["Role pi-shuffle-janitor"]["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    ]
    assert made["RoleBinding pi-shuffle-janitor"]["subjects"] == [
        {"kind": "ServiceAccount", "name": "shuffle-35", "namespace": "spark-shuffle"}
    ]
    for other in (objects(ON_NODE, rbac={"create": False}), objects({"mode": "sidecar"}), objects(None)):
        assert "Role pi-shuffle-janitor" not in other


def test_a_sidecar_shares_the_scratch_space() -> None:
    """Spark's service in the pod reads what the executor writes, from wherever the document has it."""
    volume = {"name": "spark-local-dir-1", "emptyDir": {}}
    mount = {"name": "spark-local-dir-1", "mountPath": "/scratch"}
    made = objects({"mode": "sidecar"}, volumes=[volume], executor={"volumeMounts": [mount]})
    pod = executor(made)
    (sidecar,) = pod["spec"]["initContainers"]
    assert (sidecar["name"], sidecar["restartPolicy"]) == ("shuffle-service", "Always")
    assert sidecar["volumeMounts"] == [mount]
    assert "-Dspark.local.dir=/scratch " in environment(sidecar)["SPARK_SHUFFLE_OPTS"]
    assert sidecar["resources"]["limits"] == {"memory": "896Mi"}
    assert pod["spec"]["containers"][0]["args"] == ["bash", "/opt/sparkgen/conf/executor.sh"]


def service(**spec: Any) -> dict[str, dict[str, Any]]:
    """The objects of a service, by kind."""
    every = {"sparkVersion": "3.5.8", "image": "spark:3.5.8", **spec}
    value = {"kind": "SparkShuffleService", "metadata": {"name": "s"}, "spec": every}
    return {item["kind"]: item for item in render(describe(value))}


def containers(made: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The containers of the service's pods by name."""
    pod = made["DaemonSet"]["spec"]["template"]["spec"]
    return {item["name"]: item for item in (*pod["initContainers"], *pod["containers"])}


def test_only_the_janitor_talks_to_kubernetes() -> None:
    """The token is mounted in its container, and in no other."""
    mounting = [
        name
        for name, item in containers(service()).items()
        if any(mount["name"] == contract.TOKEN_VOLUME for mount in item["volumeMounts"])
    ]
    assert mounting == ["janitor"]


def test_directories_lie_where_executors_say_they_are() -> None:
    """The same paths on the node and in each container; the default follows the name."""
    for item in containers(service()).values():
        assert item["volumeMounts"][0]["mountPath"] == "/var/lib/sparkgen/shuffle/s"
    conf = service(directories=["/a", "/b"])["ConfigMap"]["data"][contract.SPARK_DEFAULTS_FILE]
    assert "spark.local.dir /a,/b\n" in conf


@pytest.mark.parametrize(("secret", "authenticates"), [(None, "false"), ("x", "true")])
def test_the_secret_decides_whether_the_service_authenticates(secret: str | None, authenticates: str) -> None:
    """With a secret it refuses who does not know it; without one there is nothing to know."""
    made = service(**({} if secret is None else {"secretName": secret}))
    assert f"spark.authenticate {authenticates}\n" in made["ConfigMap"]["data"][contract.SPARK_DEFAULTS_FILE]
    assert (contract.ENV_AUTH_SECRET in environment(containers(made)["shuffle-service"])) == (
        secret is not None
    )


def test_on_the_nodes_own_network() -> None:
    """Where host ports are not supported: executors and service, and neither the driver nor anything else."""
    made = objects({**ON_NODE, "hostNetwork": True})
    for pod in (executor(made)["spec"], service(hostNetwork=True)["DaemonSet"]["spec"]["template"]["spec"]):
        assert (pod["hostNetwork"], pod["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
        (address,) = [one for one in pod["containers"][0]["env"] if one["name"] == "SPARK_LOCAL_IP"]
        assert address["valueFrom"]["fieldRef"] == {"fieldPath": "status.podIP"}, (
            "names of nodes may be unknown"
        )
    for pod in (executor(objects(ON_NODE))["spec"], made["Job RUN"]["spec"]["template"]["spec"]):
        assert "hostNetwork" not in pod


def test_another_configuration_replaces_the_pods() -> None:
    """The pod template changes with the ConfigMap, and with nothing that is no part of it."""

    def annotations(**spec: Any) -> Any:
        return service(**spec)["DaemonSet"]["spec"]["template"]["metadata"]["annotations"]

    assert annotations(sparkConf={"spark.shuffle.io.serverThreads": "8"}) != annotations()
    assert annotations(maxUnavailable="10%") == annotations()
