"""What driver and executor pods have in common: what the document says, and what wins over what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sparkgen import contract

Make = Callable[..., Any]
ROLES = pytest.mark.parametrize("role", ["driver", "executor"])

MAIN = {"driver": contract.DRIVER_CONTAINER, "executor": contract.EXECUTOR_CONTAINER}


@ROLES
def test_memory_is_request_and_limit(rendered: Make, role: str) -> None:
    """A pod gets all its memory or does not start; CPU has a limit only where one is asked for."""
    made = rendered(**{role: {"memory": "4g", "cores": 2}}).spark(role)["resources"]
    assert made == {"requests": {"cpu": "2", "memory": "4505Mi"}, "limits": {"memory": "4505Mi"}}
    fields = {"coreRequest": "500m", "coreLimit": "3", "gpu": {"name": "nvidia.com/gpu", "quantity": 1}}
    made = rendered(**{role: fields}).spark(role)["resources"]
    assert made["requests"] == {"cpu": "500m", "memory": "1408Mi"}
    assert made["limits"] == {"memory": "1408Mi", "cpu": "3", "nvidia.com/gpu": 1}


TYPED_POD_FIELDS = {
    "nodeSelector": {"disk": "ssd"},
    "affinity": {"nodeAffinity": {}},
    "tolerations": [{"operator": "Exists"}],
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    ],
    "priorityClassName": "high",
    "schedulerName": "volcano",
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["kafka"]}],
    "dnsConfig": {"nameservers": ["10.0.0.2"]},
    "terminationGracePeriodSeconds": 0,
}

TYPED_CONTAINER_FIELDS = {
    "envFrom": [{"configMapRef": {"name": "settings"}}],
    "lifecycle": {"preStop": {"exec": {"command": ["true"]}}},
}


@ROLES
@pytest.mark.parametrize("field", TYPED_POD_FIELDS)
def test_typed_fields_of_the_pod(rendered: Make, role: str, field: str) -> None:
    """Each goes into the role's own pod, as it is, and into no other."""
    value = TYPED_POD_FIELDS[field]
    made = rendered(**{role: {field: value}})
    assert made.pod(role)["spec"][field] == value
    assert field not in made.pod("executor" if role == "driver" else "driver")["spec"]


@ROLES
@pytest.mark.parametrize("field", TYPED_CONTAINER_FIELDS)
def test_typed_fields_of_the_container(rendered: Make, role: str, field: str) -> None:
    """Each goes into the role's Spark container."""
    made = rendered(**{role: {field: TYPED_CONTAINER_FIELDS[field]}})
    assert made.spark(role)[field] == TYPED_CONTAINER_FIELDS[field]


@ROLES
@pytest.mark.parametrize("field", [*TYPED_POD_FIELDS, *TYPED_CONTAINER_FIELDS])
def test_an_empty_field_is_none(rendered: Make, role: str, field: str) -> None:
    """What templates of documents leave behind, such as `tolerations: []`, changes no pod, and so no run."""
    example = {**TYPED_POD_FIELDS, **TYPED_CONTAINER_FIELDS}[field]
    if isinstance(example, dict | list):
        assert rendered(**{role: {field: type(example)()}}).objects == rendered().objects


@ROLES
def test_ports_are_added(rendered: Make, role: str) -> None:
    """The document's ports stand beside Spark's."""
    ports = rendered(**{role: {"ports": [{"name": "jmx", "containerPort": 9010}]}}).spark(role)["ports"]
    assert {"name": "jmx", "containerPort": 9010} in ports
    assert {"name": "blockmanager", "containerPort": 7079} in ports


# --- precedence: default < template < typed < contract ---------------------------------------------


@ROLES
def test_the_template_wins_over_defaults(rendered: Make, role: str) -> None:
    """A pod template changes what sparkgen would like."""
    inside = {"securityContext": {"runAsUser": 1000}, "enableServiceLinks": True}
    labels = {"sidecar.istio.io/inject": "true"}
    made = rendered(**{role: {"template": {"metadata": {"labels": labels}, "spec": inside}}}).pod(role)
    assert made["spec"]["securityContext"]["runAsUser"] == 1000
    assert made["spec"]["enableServiceLinks"] is True
    assert made["metadata"]["labels"]["sidecar.istio.io/inject"] == "true"


@ROLES
def test_typed_fields_win_over_the_template(rendered: Make, role: str) -> None:
    """Where both speak of the same thing, the document's own field counts."""
    container = {
        "name": MAIN[role],
        "image": "template",
        "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}, {"name": "B", "value": "kept"}],
    }
    inside = {"priorityClassName": "low", "nodeSelector": {"a": "1", "b": "2"}, "containers": [container]}
    fields = {
        "image": "typed",
        "priorityClassName": "high",
        "nodeSelector": {"a": "3"},
        "labels": {"team": "typed"},
        "annotations": {"note": "typed"},
        "env": [{"name": "A", "value": "typed"}],
        "template": {
            "metadata": {"labels": {"team": "template"}, "annotations": {"note": "template"}},
            "spec": inside,
        },
    }
    made = rendered(**{role: fields})
    assert made.spark(role)["image"] == "typed"
    assert made.pod(role)["spec"]["priorityClassName"] == "high"
    assert made.pod(role)["spec"]["nodeSelector"] == {"a": "3", "b": "2"}
    assert made.pod(role)["metadata"]["labels"]["team"] == "typed"
    assert made.pod(role)["metadata"]["annotations"]["note"] == "typed"
    assert {"name": "A", "value": "typed"} in made.spark(role)["env"]
    assert made.env(role)["B"] == "kept"


@ROLES
def test_the_contract_wins_over_everything(rendered: Make, role: str) -> None:
    """Names, labels, variables and mounts that the containers agreed on cannot be lost."""
    wrong = [{"name": "SPARK_CONF_DIR", "value": "/wrong"}, {"name": "SPARK_LOCAL_DIRS", "value": "/wrong"}]
    inside = {
        "serviceAccountName": "wrong",
        "automountServiceAccountToken": True,
        "restartPolicy": "OnFailure",
        "containers": [{"name": MAIN[role], "args": ["wrong"], "env": wrong}],
    }
    labels = {"sparkgen.dev/run": "wrong", "spark-role": "wrong", "sparkgen.dev/application": "wrong"}
    fields = {"labels": labels, "env": wrong, "template": {"metadata": {"labels": labels}, "spec": inside}}
    conf = {"spark.executorEnv.SPARK_CONF_DIR": "/wrong", "spark.executorEnv.SPARK_LOCAL_DIRS": "/wrong"}
    made = rendered(sparkConf=conf, **{role: fields})
    pod = made.pod(role)
    assert pod["metadata"]["labels"]["sparkgen.dev/run"] == made.workload["metadata"]["name"]
    assert pod["metadata"]["labels"]["spark-role"] == role
    assert pod["metadata"]["labels"]["sparkgen.dev/application"] == "pi"
    assert (pod["spec"]["serviceAccountName"], pod["spec"]["restartPolicy"]) == ("pi", "Never")
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert made.spark(role)["args"] != ["wrong"]
    assert made.env(role)["SPARK_CONF_DIR"] == "/opt/sparkgen/conf"
    assert made.env(role)["SPARK_LOCAL_DIRS"] == "/var/data/spark"


@ROLES
@pytest.mark.parametrize(
    "names",
    [["main"], ["main", "second"], ["second", "MAIN"], ["MAIN", "second"]],
    ids=lambda names: "-".join(names),
)
def test_which_container_of_a_template_is_sparks(rendered: Make, role: str, names: list[str]) -> None:
    """The one with Spark's name, or else the first; it stands first in the pod, the others follow."""
    names = [MAIN[role] if name == "MAIN" else name for name in names]
    chosen = MAIN[role] if MAIN[role] in names else names[0]
    containers = [{"name": name, "env": [{"name": "WAS", "value": name}]} for name in names]
    made = rendered(**{role: {"template": {"spec": {"containers": containers}}}})
    assert made.env(role)["WAS"] == chosen
    found = [container["name"] for container in made.pod(role)["spec"]["containers"]]
    assert found == [MAIN[role], *(name for name in names if name != chosen)]


@ROLES
def test_containers_of_the_document(rendered: Make, role: str) -> None:
    """Init containers of template and document add up; sidecars end with Spark, so that a Job can end."""
    fields = {
        "sidecars": [{"name": "proxy", "image": "p"}],
        "initContainers": [{"name": "second", "image": "b"}],
        "template": {"spec": {"initContainers": [{"name": "first", "image": "a"}]}},
    }
    spec = rendered(**{role: fields}).pod(role)["spec"]
    assert [container["name"] for container in spec["containers"]] == [MAIN[role]]
    own = [item for item in spec["initContainers"] if item["name"] not in ("install", "allocator")]
    assert [item["name"] for item in own] == ["first", "second", "proxy"]
    assert [item.get("restartPolicy") for item in own] == [None, None, "Always"]


# --- labels -----------------------------------------------------------------------------------------

CLAIMS = {
    "app.kubernetes.io/instance": "argo",
    "argocd.argoproj.io/instance": "argo",
    "kustomize.toolkit.fluxcd.io/name": "flux",
    "helm.toolkit.fluxcd.io/name": "flux",
    "batch.kubernetes.io/job-name": "job",
    "job-name": "job",
    "controller-uid": "uid",
    "pod-template-hash": "hash",
    "kueue.x-k8s.io/queue-name": "queue",
}


@pytest.mark.parametrize("label", CLAIMS)
@pytest.mark.parametrize("place", ["metadata", "labels", "template"])
def test_no_controller_claims_an_executor(rendered: Make, label: str, place: str) -> None:
    """Labels by which a controller would take executors for its own never reach them, wherever they stand."""
    claim, harmless = {label: CLAIMS[label]}, {"team": "a"}
    labels = {**claim, **harmless}
    executor = {"labels": {"labels": labels}, "template": {"template": {"metadata": {"labels": labels}}}}
    metadata = {"labels": labels} if place == "metadata" else None
    made = rendered(metadata=metadata, executor=executor.get(place, {}))
    assert label not in made.executor["metadata"]["labels"]
    assert made.executor["metadata"]["labels"]["team"] == "a"
    if place == "metadata":
        assert made.driver["metadata"]["labels"][label] == CLAIMS[label]


@pytest.mark.parametrize(
    "annotation", ["kueue.x-k8s.io/pod-suspending-parent", "argocd.argoproj.io/tracking-id"]
)
@pytest.mark.parametrize("place", ["annotations", "template"])
def test_no_controller_claims_an_executor_by_annotation(rendered: Make, annotation: str, place: str) -> None:
    """Kueue gates a pod that has this one and no queue's label: it would wait forever."""
    given = {annotation: "Job", "team": "a"}
    executor = {
        "annotations": {"annotations": given},
        "template": {"template": {"metadata": {"annotations": given}}},
    }
    made = rendered(executor=executor[place], driver=executor[place])
    assert annotation not in made.executor["metadata"]["annotations"]
    assert made.executor["metadata"]["annotations"]["team"] == "a"
    assert made.driver["metadata"]["annotations"][annotation] == "Job"


def test_annotations_of_the_application_stay_on_objects(rendered: Make) -> None:
    """As in kubeflow: labels go to pods, annotations do not."""
    made = rendered(metadata={"labels": {"l": "1"}, "annotations": {"a": "1"}})
    for role in ("driver", "executor"):
        assert made.pod(role)["metadata"]["labels"]["l"] == "1"
        assert "a" not in made.pod(role)["metadata"]["annotations"]
    assert all(item["metadata"]["annotations"]["a"] == "1" for item in made.objects)


# --- volumes ----------------------------------------------------------------------------------------

VOLUMES = [
    {"name": name, "emptyDir": {}}
    for name in ("one", "two", "three", "spark-local-dir-1", "spark-local-dir-2")
]


def mount(name: str, path: str = "") -> dict[str, Any]:
    """A mount of a volume."""
    return {"name": name, "mountPath": path or f"/mnt/{name}"}


def test_a_pod_has_the_volumes_that_it_mounts(rendered: Make) -> None:
    """Wherever a container mounts one, and in the other role's pod not at all."""
    driver = {
        "volumeMounts": [mount("one")],
        "initContainers": [{"name": "i", "volumeMounts": [mount("two")]}],
    }
    inside = {"containers": [{"name": "x", "volumeMounts": [mount("two")]}]}
    executor = {
        "sidecars": [{"name": "s", "volumeMounts": [mount("three")]}],
        "template": {"spec": inside},
    }
    made = rendered(volumes=VOLUMES, driver=driver, executor=executor)
    assert set(made.volumes("driver")) & {"one", "two", "three"} == {"one", "two"}
    assert set(made.volumes("executor")) & {"one", "two", "three"} == {"two", "three"}


def test_block_devices_are_volumes_too(rendered: Make) -> None:
    """A container that uses a claim as a device has it in its pod."""
    claim = {"name": "raw", "persistentVolumeClaim": {"claimName": "c"}}
    sidecar = {"name": "s", "image": "s", "volumeDevices": [{"name": "raw", "devicePath": "/dev/raw"}]}
    assert rendered(volumes=[claim], executor={"sidecars": [sidecar]}).volumes("executor")["raw"] == claim


@ROLES
def test_scratch_is_an_empty_dir_by_default(rendered: Make, role: str) -> None:
    """Without a volume for it, shuffle and spill go to an emptyDir, in memory if so asked."""
    made = rendered()
    assert made.volumes(role)["sparkgen-scratch"] == {"name": "sparkgen-scratch", "emptyDir": {}}
    assert made.env(role)["SPARK_LOCAL_DIRS"] == "/var/data/spark"
    tmpfs = rendered(sparkConf={"spark.kubernetes.local.dirs.tmpfs": "true"})
    assert tmpfs.volumes(role)["sparkgen-scratch"]["emptyDir"] == {"medium": "Memory"}


@ROLES
def test_scratch_volumes(rendered: Make, role: str) -> None:
    """Mounted volumes named spark-local-dir-* are Spark's directories, in order, instead of the default."""
    mounts = [mount("spark-local-dir-2", "/b"), mount("one"), mount("spark-local-dir-1", "/a")]
    made = rendered(volumes=VOLUMES, **{role: {"volumeMounts": mounts}})
    assert made.env(role)["SPARK_LOCAL_DIRS"] == "/b,/a"
    assert "sparkgen-scratch" not in made.volumes(role)


@ROLES
def test_scratch_is_what_the_spark_container_mounts(rendered: Make, role: str) -> None:
    """Mounts of the template's Spark container count, once; those of other containers do not."""
    templated = [{"name": "main", "volumeMounts": [mount("spark-local-dir-1", "/a")]}]
    fields = {
        "template": {"spec": {"containers": templated}},
        "volumeMounts": [mount("spark-local-dir-1", "/a")],
        "sidecars": [{"name": "cleaner", "volumeMounts": [mount("spark-local-dir-1", "/elsewhere")]}],
    }
    assert rendered(volumes=VOLUMES, **{role: fields}).env(role)["SPARK_LOCAL_DIRS"] == "/a"


@ROLES
@pytest.mark.parametrize(
    ("kind", "variable", "file"),
    [
        (None, None, None),
        ("Generic", None, None),
        ("GCPServiceAccount", "GOOGLE_APPLICATION_CREDENTIALS", "key.json"),
        ("HadoopDelegationToken", "HADOOP_TOKEN_FILE_LOCATION", "hadoop.token"),
    ],
)
def test_mounted_secrets(
    rendered: Make, role: str, kind: str | None, variable: str | None, file: str | None
) -> None:
    """A Secret is mounted read-only; its type sets the variable that names its file."""
    secret = {"name": "keys", "path": "/mnt/keys/", **({"secretType": kind} if kind else {})}
    made = rendered(**{role: {"secrets": [secret]}})
    (volume,) = [item for item in made.volumes(role).values() if "secret" in item]
    assert volume["secret"] == {"secretName": "keys"}
    assert {"name": volume["name"], "mountPath": "/mnt/keys/", "readOnly": True} in made.spark(role)[
        "volumeMounts"
    ]
    expected = {variable: f"/mnt/keys/{file}"} if variable else {}
    names = {"GOOGLE_APPLICATION_CREDENTIALS", "HADOOP_TOKEN_FILE_LOCATION"}
    assert {name: text for name, text in made.env(role).items() if name in names} == expected


@ROLES
def test_mounting_one_object_twice(rendered: Make, role: str) -> None:
    """Two places for one Secret or ConfigMap are one volume with two mounts."""
    places = [{"name": "a", "path": "/x"}, {"name": "a", "path": "/y"}]
    made = rendered(**{role: {"secrets": places, "configMaps": places}})
    found = {item["name"]: item for item in made.volumes(role).values() if item["name"].endswith("-a")}
    assert len(found) == 2
    mounts = [item["mountPath"] for item in made.spark(role)["volumeMounts"] if item["name"] in found]
    assert mounts.count("/x") + mounts.count("/y") == 2


@ROLES
def test_a_typed_volume_replaces_the_templates(rendered: Make, role: str) -> None:
    """One name, one type: an emptyDir and a claim do not mix into a volume that is refused."""
    fields = {
        "volumeMounts": [mount("one")],
        "template": {"spec": {"volumes": [{"name": "one", "persistentVolumeClaim": {"claimName": "c"}}]}},
    }
    made = rendered(volumes=VOLUMES, **{role: fields})
    assert made.volumes(role)["one"] == {"name": "one", "emptyDir": {}}


@ROLES
def test_images(rendered: Make, role: str) -> None:
    """Image, pull policy and pull secrets of a pod."""
    made = rendered(imagePullPolicy="Always", imagePullSecrets=["one", "two"], **{role: {"image": "own"}})
    assert (made.spark(role)["image"], made.spark(role)["imagePullPolicy"]) == ("own", "Always")
    assert made.pod(role)["spec"]["imagePullSecrets"] == [{"name": "one"}, {"name": "two"}]
    assert "imagePullPolicy" not in rendered().spark(role)


@ROLES
def test_custom_resources_of_spark_become_limits(rendered: Make, role: str) -> None:
    """`spark.<role>.resource.*` with a vendor asks the cluster for the devices, as in native Spark."""
    prefix = f"spark.{role}.resource"
    conf = {
        f"{prefix}.gpu.amount": "2",
        f"{prefix}.gpu.vendor": "nvidia.com",
        f"{prefix}.fpga.amount": "1",
    }
    made = rendered(sparkConf=conf).spark(role)["resources"]
    assert made["limits"] == {"memory": made["requests"]["memory"], "nvidia.com/gpu": "2"}


@ROLES
def test_a_command_of_a_template_does_not_replace_the_entrypoint(rendered: Make, role: str) -> None:
    """The Spark container keeps its entrypoint; other containers of the template keep their commands."""
    containers = [{"name": "spark", "command": ["sleep"]}, {"name": "b", "image": "b", "command": ["b"]}]
    made = rendered(**{role: {"template": {"spec": {"containers": containers}}}})
    assert "command" not in made.spark(role)
    pod = made.pod(role)["spec"]
    others = [*pod["containers"], *pod.get("initContainers", [])]
    assert [item["command"] for item in others if item["name"] == "b"] == [["b"]]


@ROLES
@pytest.mark.parametrize(
    ("name", "label"),
    [
        (None, "pi"),
        ("Spark Pi", "spark-pi"),
        ("\t Daily: EU & US_v1.4!", "daily-eu-us-v1-4"),
        ("\u0130stanbul \u212a", "i-stanbul-k"),
        ("-" + "x" * 70, "x" * 62),
        ("a" * 62 + " tail", "a" * 62),
        ("日本", ""),
    ],
)
def test_labels_of_sparks_own_pods(rendered: Make, role: str, name: str | None, label: str) -> None:
    """Selectors know pods by them; each name is cut as KubernetesConf.getAppNameLabel does it."""
    made = rendered(sparkConf={"spark.app.name": name} if name else {}).pod(role)["metadata"]["labels"]
    assert (made["spark-app-name"], made["spark-version"]) == (label, "3.5.8")
    assert made["spark-role"] == role
    assert made["sparkgen.dev/application"] == "pi"
    own = rendered(**{role: {"labels": {"spark-app-name": "mine"}}}).pod(role)["metadata"]["labels"]
    assert own["spark-app-name"] == "mine", "a document's own label"
