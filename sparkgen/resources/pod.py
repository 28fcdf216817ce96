"""What driver and executor pods have in common: the values for their layers (layers.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sparkgen import contract, names
from sparkgen.model.application import Application, Role
from sparkgen.model.properties import app_name_label, is_true
from sparkgen.names import canonical_json
from sparkgen.resources import batch
from sparkgen.resources.delivery import delivery_values, pull_secrets, used_by_fetch
from sparkgen.resources.fill import fill
from sparkgen.resources.layers import (
    DEFAULT_RUNTIME_RESOURCES,
    LAYERS,
    STEPS,
    Layer,
    config_map_volume,
    read_only,
)
from sparkgen.resources.logarchive import log_archive_values
from sparkgen.resources.merge import merge
from sparkgen.resources.runtime import runtime_values
from sparkgen.resources.security import secured

MAIN_CONTAINER = {"driver": contract.DRIVER_CONTAINER, "executor": contract.EXECUTOR_CONTAINER}

SECRET_TYPES = {
    "GCPServiceAccount": ("GOOGLE_APPLICATION_CREDENTIALS", "key.json"),
    "HadoopDelegationToken": ("HADOOP_TOKEN_FILE_LOCATION", "hadoop.token"),
}
"""secretType -> environment variable that names a file of the mounted Secret (as in kubeflow's operator)."""


def assemble(role: Role, values: Mapping[str, Any]) -> dict[str, Any]:
    """The pod template of a role: its layers with their values, each merged over the ones before it."""
    pod: dict[str, Any] = {"metadata": {"labels": {}}, "spec": {}}
    for step in STEPS[role.name]:
        pod = merge(pod, fill(LAYERS[step], values))
    return secured(pod, MAIN_CONTAINER[role.name])


def values(application: Application, role: Role, run: str) -> dict[str, Any]:
    """The values for the layers of both roles."""
    sources = conf_sources(application)
    env, mounts, volumes = mounted_objects(role.spec)
    # Two objects at one path become one mount, as if they were merged one after the other.
    mounted = merge(
        {"env": [], "volumeMounts": [], "volumes": []},
        {"env": env, "volumeMounts": mounts, "volumes": volumes},
    )
    return {
        "name": application.name,
        "run": run,
        "byAllocator": not application.by_spark,
        "bySpark": application.by_spark,
        "concurrency": application.concurrency_policy,
        "role": role.spec,
        "roleName": role.name,
        "mainContainer": MAIN_CONTAINER[role.name],
        "template": template(role),
        "appNameLabel": app_name_label(application.properties, application.name),
        "sparkVersion": application.spark_version,
        "executorEnv": None,
        "podLabels": _allowed(role, {**application.labels, **role.labels}),
        "podAnnotations": _allowed(role, role.annotations),
        "image": role.image,
        "rolePullPolicy": role.image_pull_policy,
        "pullPolicy": application.image_pull_policy,
        "pullSecrets": [{"name": name} for name in pull_secrets(application)],
        **runtime_values(application.runtime),
        "runtimeResources": merge(DEFAULT_RUNTIME_RESOURCES, application.allocator_resources or {}),
        **delivery_values(application, role),
        "coreRequest": role.core_request,
        "memory": role.memory.total,
        "limits": _limits(application, role),
        "objectEnv": mounted["env"],
        "objectMounts": mounted["volumeMounts"],
        "objectVolumes": mounted["volumes"],
        "usedVolumes": _volumes(application, role),
        "userContainers": _user_containers(role),
        **_scratch(application, role),
        **batch.values(application, role.name),
        "pools": _pools(role),
        **log_archive_values(application, role),
        "hadoop": bool(application.hadoop or application.hadoop_config_map),
        "ownHadoop": bool(application.hadoop),
        "hadoopConfigMap": application.hadoop_config_map,
        "kerberosConfigMap": application.kerberos and application.kerberos.krb5_config_map,
        "plainConf": not sources,
        "confSources": sources,
        "confVolumeName": contract.CONF_FILES_VOLUME if sources else contract.CONF_VOLUME,
        "account": (role.name == "executor" and role.spec.get("serviceAccount")) or application.account.name,
    }


def _pools(role: Role) -> str | None:
    """The pools of nodes for executors, as JSON for the allocator; None if they run on any node."""
    pools = [
        {"name": pool["name"], "share": pool.get("share") or 0, **picked(pool, "nodeSelector", "tolerations")}
        for pool in role.spec.get("pools") or ()
    ]
    return canonical_json(pools) if pools else None


def conf_sources(application: Application) -> list[dict[str, Any]]:
    """The keys that a document adds to Spark's configuration folder, as sources of a projected volume."""
    return [
        {file.kind: {"name": file.name, "items": [{"key": file.key, "path": file.file}]}}
        for file in application.conf_files.keys
    ]


def picked(source: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    """The named fields that a document sets. An empty list or map sets nothing, and must start no new run."""
    return {field: source[field] for field in fields if source.get(field) not in (None, {}, [])}


def template(role: Role) -> Layer:
    """The document's own pod template.

    Its Spark container is the one with the right name, or otherwise the first one (Spark's own rule:
    KubernetesUtils.selectSparkContainer).
    """
    given = role.spec.get("template") or {}
    layer: Layer = {
        "metadata": picked(given.get("metadata") or {}, "labels", "annotations"),
        "spec": dict(given.get("spec") or {}),
    }
    layer["metadata"] = {field: _allowed(role, texts) for field, texts in layer["metadata"].items()}
    containers = layer["spec"].get("containers") or []
    name = MAIN_CONTAINER[role.name]
    if containers and name not in [container.get("name") for container in containers]:
        layer["spec"]["containers"] = [{**containers[0], "name": name}, *containers[1:]]
    elif containers:
        # The Spark container stays the first, because `kubectl logs` shows the first one.
        own = [container for container in containers if container.get("name") == name]
        layer["spec"]["containers"] = own + [item for item in containers if item.get("name") != name]
    if containers:
        first, *others = layer["spec"]["containers"]
        # Leave out the command: it would replace the image's entrypoint, and Spark would never start.
        layer["spec"]["containers"] = [{key: first[key] for key in first if key != "command"}, *others]
    return layer


def _allowed(role: Role, texts: Mapping[str, str]) -> dict[str, str]:
    """The labels or annotations that pods of this role may have."""
    return {
        key: text for key, text in texts.items() if role.name == "driver" or contract.belongs_on_executor(key)
    }


def _limits(application: Application, role: Role) -> dict[str, Any]:
    """Limits of the Spark container, as in Spark's backend: a CPU limit only if requested."""
    limits: dict[str, Any] = {"memory": f"{role.memory.total}Mi"}
    if role.core_limit is not None:
        limits["cpu"] = role.core_limit
    limits.update(_custom_resources(application, role))
    gpu = role.spec.get("gpu")
    if gpu:
        limits[gpu["name"]] = gpu["quantity"]
    return limits


def _custom_resources(application: Application, role: Role) -> dict[str, str]:
    """Limits for `spark.<role>.resource.<name>.{amount,vendor}` (buildResourcesQuantities)."""
    prefix, suffix = f"spark.{role.name}.resource.", ".amount"
    limits = {}
    for key, amount in sorted(application.properties.items()):
        name = key.removeprefix(prefix).removesuffix(suffix)
        vendor = application.properties.get(f"{prefix}{name}.vendor")
        if key == f"{prefix}{name}{suffix}" and vendor:
            limits[f"{vendor}/{name}"] = amount
    return limits


def mounted_objects(spec: Mapping[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Variables, mounts and volumes for the Secrets and ConfigMaps that a section names."""
    env, mounts, volumes = [], [], []
    for secret in spec.get("secrets") or ():
        name = names.volume_name(secret["name"], "secret")
        volumes.append({"name": name, "secret": {"secretName": secret["name"]}})
        mounts.append(read_only(name, secret["path"]))
        env += _secret_env(secret)
    for config_map in spec.get("configMaps") or ():
        name = names.volume_name(config_map["name"], "config")
        volumes.append(config_map_volume(name, config_map["name"]))
        mounts.append(read_only(name, config_map["path"]))
    return env, mounts, volumes


def _secret_env(secret: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The variable that names a file of a mounted Secret, for the types that have one."""
    variable, file = SECRET_TYPES.get(secret.get("secretType", "Generic"), (None, None))
    return [{"name": variable, "value": f"{secret['path'].rstrip('/')}/{file}"}] if variable else []


def _user_containers(role: Role) -> list[dict[str, Any]]:
    """The document's init containers and its sidecars.

    Sidecars as ordinary containers would keep the pod, and so the driver's Job, running forever.
    """
    sidecars = [{**sidecar, "restartPolicy": "Always"} for sidecar in role.spec.get("sidecars") or ()]
    return [*(role.spec.get("initContainers") or ()), *sidecars]


def _volumes(application: Application, role: Role) -> list[dict[str, Any]]:
    wanted = {name for container in _containers(role) for name in _used_volumes(container)}
    wanted |= used_by_fetch(application)
    return [dict(volume) for volume in application.volumes if volume["name"] in wanted]


def _containers(role: Role) -> Iterable[Mapping[str, Any]]:
    """All containers that the document gives to the pod; the role's own fields are the Spark container's."""
    inside = (role.spec.get("template") or {}).get("spec") or {}
    yield role.spec
    for containers in (role.spec.get("initContainers"), role.spec.get("sidecars")):
        yield from containers or ()
    for containers in (inside.get("initContainers"), inside.get("containers")):
        yield from containers or ()


def _mounts(container: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return container.get("volumeMounts") or ()


def _used_volumes(container: Mapping[str, Any]) -> Iterable[str]:
    for item in (*_mounts(container), *(container.get("volumeDevices") or ())):
        yield item["name"]


def _scratch(application: Application, role: Role) -> dict[str, Any]:
    """The volumes named `spark-local-dir-*` in the Spark container, or otherwise a volume of our own."""
    on_node = role.name == "executor" and application.shuffle is not None and application.shuffle.on_node
    given = local_dir_mounts(role)
    tmpfs = is_true(application.properties, "spark.kubernetes.local.dirs.tmpfs")
    return {
        # With a service on the node, these are its directories (layer `beside_service_of_node`).
        "localDirs": None if on_node else ",".join(given) or contract.SCRATCH_DIR,
        "ownScratch": not given,
        # By this name, Spark recognizes the scratch space in a template (LocalDirsFeatureStep).
        "scratchVolume": f"{contract.LOCAL_DIR_VOLUME_PREFIX}1"
        if application.by_spark
        else contract.SCRATCH_VOLUME,
        "scratchMedium": "Memory" if tmpfs else None,
    }


def local_dir_mounts(role: Role) -> dict[str, Mapping[str, Any]]:
    """The mounts of the Spark container that the document uses as scratch space, by their paths."""
    own, *_ = template(role)["spec"].get("containers") or [{}]
    return {
        mount["mountPath"]: mount
        for mount in (*_mounts(own), *_mounts(role.spec))
        if mount["name"].startswith(contract.LOCAL_DIR_VOLUME_PREFIX)
    }
