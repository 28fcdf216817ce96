"""The pods of an imported SparkApplication, against those that kubeflow's operator and Spark make of it.

The expected values follow the operator's submission.go and its webhook, and Spark's feature steps.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sparkgen import api
from sparkgen.importing import Choices, import_all
from sparkgen.usecases.validate import examine

AFFINITY = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"spark-role": "executor"}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
}
TOLERATION = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
CLAIM, EMPTY = {"claimName": "data"}, {"sizeLimit": "10Gi"}
COMMON = {
    "affinity": AFFINITY,
    "tolerations": [TOLERATION],
    "configMaps": [{"name": "settings", "path": "/etc/settings"}],
    "envFrom": [{"configMapRef": {"name": "more"}}],
    "envVars": {"PLAIN": "two words", "EMPTY": ""},
    "envSecretKeyRefs": {"PASSWORD_OF_DB": {"name": "db", "key": "password"}},
    "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
}
SPEC = {
    "type": "Scala",
    "mode": "cluster",
    "sparkVersion": "3.5.8",
    "image": "r.example.com/app:1",
    "mainClass": "a.B",
    "mainApplicationFile": "local:///opt/app.jar",
    "memoryOverheadFactor": "0.2",
    "nodeSelector": {"disk": "ssd"},
    "volumes": [
        {"name": "data", "persistentVolumeClaim": CLAIM},
        {"name": "spark-local-dir-1", "emptyDir": EMPTY},
    ],
    "sparkConf": {"spark.kubernetes.driverEnv.FROM_CONF": "1", "spark.executorEnv.FROM_CONF": "1"},
    "driver": {
        **COMMON,
        "cores": 2,
        "coreLimit": "2400m",
        "memory": "2g",
        "memoryOverhead": "512m",
        "serviceAccount": "spark",
        "secrets": [{"name": "gcp", "path": "/mnt/gcp", "secretType": "GCPServiceAccount"}],
        "volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True}],
    },
    "executor": {
        **COMMON,
        "instances": 2,
        "cores": 4,
        "coreRequest": "3500m",
        "memory": "4g",
        "gpu": {"name": "nvidia.com/gpu", "quantity": 1},
        "secrets": [{"name": "token", "path": "/mnt/token", "secretType": "HadoopDelegationToken"}],
        "volumeMounts": [{"name": "spark-local-dir-1", "mountPath": "/scratch"}],
    },
}
APPLICATION = {
    "apiVersion": "sparkoperator.k8s.io/v1beta2",
    "kind": "SparkApplication",
    "metadata": {"name": "app", "namespace": "ns", "labels": {"team": "data"}},
    "spec": SPEC,
}


@pytest.fixture(scope="module")
def pods(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Role -> its pod template, as it is rendered of the imported application."""
    result = import_all(["-"], Choices(), examine, json.dumps(APPLICATION).encode)
    (item,) = result.imported
    assert (result.problems, item.problems, item.findings) == ((), (), ())
    path: Path = tmp_path_factory.mktemp("imported") / "app.yaml"
    path.write_text(item.text)
    checked = api.load(api.Inputs((str(path),)))
    (bundle,) = api.render(checked.documents)
    objects = [manifest.object for manifest in bundle.manifests]
    (job,) = [one for one in objects if one["kind"] == "Job"]
    (text,) = [one["data"]["executor.json"] for one in objects if "executor.json" in one.get("data", {})]
    return {"driver": job["spec"]["template"], "executor": json.loads(text)["template"]}


def container(pod: dict[str, Any]) -> dict[str, Any]:
    """Spark's own container."""
    found: dict[str, Any] = next(
        one for one in pod["spec"]["containers"] if one["name"].startswith("spark-kubernetes-")
    )
    return found


def mounted(pod: dict[str, Any]) -> dict[str, Any]:
    """Path -> what is mounted there: the volume's source, and whether it is read-only."""
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    return {
        mount["mountPath"]: (
            {key: value for key, value in volumes[mount["name"]].items() if key != "name"},
            mount.get("readOnly", False),
        )
        for mount in container(pod)["volumeMounts"]
        if not mount["name"].startswith("sparkgen-") or mount["mountPath"].startswith(("/etc", "/mnt"))
    }


@pytest.mark.parametrize(
    ("role", "own"),
    [
        ("driver", {"GOOGLE_APPLICATION_CREDENTIALS": "/mnt/gcp/key.json"}),
        ("executor", {"HADOOP_TOKEN_FILE_LOCATION": "/mnt/token/hadoop.token"}),
    ],
)
def test_environment(pods: dict[str, Any], role: str, own: dict[str, str]) -> None:
    """From the list, from both mappings, from properties, and what a secret's type adds."""
    spark = container(pods[role])
    found = {item["name"]: item.get("value", item.get("valueFrom")) for item in spark["env"]}
    assert found.items() >= {"PLAIN": "two words", "EMPTY": "", "FROM_CONF": "1", **own}.items()
    assert found["PASSWORD_OF_DB"] == {"secretKeyRef": {"name": "db", "key": "password"}}
    assert found["NODE"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}
    assert spark["envFrom"] == COMMON["envFrom"]


def test_volumes(pods: dict[str, Any]) -> None:
    """Claims, scratch space, ConfigMaps and Secrets (which nobody can write to), at the same paths."""
    settings = {"/etc/settings": ({"configMap": {"name": "settings"}}, True)}
    assert mounted(pods["driver"]) == {
        **settings,
        "/data": ({"persistentVolumeClaim": CLAIM}, True),
        "/mnt/gcp": ({"secret": {"secretName": "gcp"}}, True),
    }
    assert mounted(pods["executor"]) == {
        **settings,
        "/scratch": ({"emptyDir": EMPTY}, False),
        "/mnt/token": ({"secret": {"secretName": "token"}}, True),
    }


@pytest.mark.parametrize("role", ["driver", "executor"])
def test_where_pods_run(pods: dict[str, Any], role: str) -> None:
    """Account, affinity, tolerations, node selector and labels; executors have the driver's account."""
    spec = pods[role]["spec"]
    assert (spec["serviceAccountName"], spec["nodeSelector"]) == ("spark", {"disk": "ssd"})
    assert (spec["affinity"], spec["tolerations"]) == (AFFINITY, [TOLERATION])
    assert pods[role]["metadata"]["labels"].items() >= {"team": "data", "spark-role": role}.items()


def test_resources(pods: dict[str, Any]) -> None:
    """Memory is heap and overhead, as request and limit; cores are a request, or `coreRequest` is."""
    assert container(pods["driver"])["resources"] == {
        "requests": {"cpu": "2", "memory": "2560Mi"},
        "limits": {"cpu": "2400m", "memory": "2560Mi"},
    }
    assert container(pods["executor"])["resources"] == {
        "requests": {"cpu": "3500m", "memory": "4915Mi"},
        "limits": {"memory": "4915Mi", "nvidia.com/gpu": 1},
    }
