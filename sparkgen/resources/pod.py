"""What driver and executor pods have in common, as small steps: application and role in, one layer out.

A layer is a partial pod template. Layers are merged in order (merge.py), so that precedence is the order
of a list: sparkgen's defaults, then the document's `template`, then its typed fields, then what the
contract requires.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sparkgen import contract, names
from sparkgen.model.application import Application, Role
from sparkgen.model.properties import is_true
from sparkgen.resources.fill import fill
from sparkgen.resources.layers import LAYERS, Layer, config_map_volume, read_only
from sparkgen.resources.merge import merge
from sparkgen.resources.security import secured

Step = Callable[[Application, Role], Layer]

MAIN_CONTAINER = {"driver": contract.DRIVER_CONTAINER, "executor": contract.EXECUTOR_CONTAINER}

SECRET_TYPES = {
    "GCPServiceAccount": ("GOOGLE_APPLICATION_CREDENTIALS", "key.json"),
    "HadoopDelegationToken": ("HADOOP_TOKEN_FILE_LOCATION", "hadoop.token"),
}
"""secretType -> environment variable that names a file of the mounted Secret (kubeflow's meaning)."""


def values(application: Application, role: Role, run: str) -> dict[str, Any]:
    """The values that the layers of both roles have places for (layers.py)."""
    sources = conf_sources(application)
    return {
        "name": application.name,
        "run": run,
        "role": role.spec,
        "mainContainer": MAIN_CONTAINER[role.name],
        "image": role.image,
        "rolePullPolicy": role.image_pull_policy,
        "pullPolicy": application.image_pull_policy,
        "pullSecrets": [{"name": name} for name in application.image_pull_secrets],
        "hadoop": bool(application.hadoop),
        "plainConf": not sources,
        "confSources": sources,
        "confVolumeName": contract.CONF_FILES_VOLUME if sources else contract.CONF_VOLUME,
        "account": (role.name == "executor" and role.spec.get("serviceAccount")) or application.account.name,
    }


def conf_sources(application: Application) -> list[dict[str, Any]]:
    """The keys that a document names for Spark's configuration folder, as sources of a projected volume."""
    return [
        {file.kind: {"name": file.name, "items": [{"key": file.key, "path": file.file}]}}
        for file in application.conf_files.keys
    ]


def assemble(
    application: Application, role: Role, steps: Sequence[Step | str], filling: Mapping[str, Any]
) -> dict[str, Any]:
    """The pod template that the steps make, one laid over the other. A text names a layer of layers.py."""
    pod: dict[str, Any] = {"metadata": {"labels": {}}, "spec": {}}
    for step in steps:
        layer = fill(LAYERS[step], filling) if isinstance(step, str) else step(application, role)
        pod = merge(pod, layer)
    return secured(pod, MAIN_CONTAINER[role.name])


def picked(source: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    """The named fields that a document sets. An empty list or map sets nothing: it must start no new run."""
    return {field: source[field] for field in fields if source.get(field) not in (None, {}, [])}


def main_container(role: Role, **fields: Any) -> Layer:
    """A layer that touches the Spark container alone."""
    return {"spec": {"containers": [{"name": MAIN_CONTAINER[role.name], **fields}]}}


def template(application: Application, role: Role) -> Layer:
    """The document's own pod template.

    Its Spark container is the one that has the name, or else the first (Spark's own rule:
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
        # The Spark container stays the first: `kubectl logs` shows the first one.
        own = [container for container in containers if container.get("name") == name]
        layer["spec"]["containers"] = own + [item for item in containers if item.get("name") != name]
    if containers:
        first, *others = layer["spec"]["containers"]
        # Left out: with another command the image's entrypoint, and so Spark, would never start.
        layer["spec"]["containers"] = [{key: first[key] for key in first if key != "command"}, *others]
    return layer


def metadata(application: Application, role: Role) -> Layer:
    """The application's labels, the role's labels and annotations, and sparkgen's own labels."""
    labels = _allowed(role, {**application.labels, **role.labels})
    own = {
        contract.LABEL_NAME: application.name,
        contract.LABEL_COMPONENT: role.name,
        contract.LABEL_MANAGED_BY: "sparkgen",
        contract.LABEL_APPLICATION: application.name,
        contract.LABEL_ROLE: role.name,
    }
    return {"metadata": {"labels": {**labels, **own}, "annotations": _allowed(role, role.annotations)}}


def _allowed(role: Role, texts: Mapping[str, str]) -> dict[str, str]:
    """The labels, or annotations, that pods of this role may carry."""
    return {
        key: text for key, text in texts.items() if role.name == "driver" or contract.belongs_on_executor(key)
    }


def resources(application: Application, role: Role) -> Layer:
    """CPU and memory as Spark's backend requests them: a limit of CPU only where asked for."""
    memory = f"{role.memory.total}Mi"
    limits: dict[str, Any] = {"memory": memory}
    if role.core_limit is not None:
        limits["cpu"] = role.core_limit
    limits.update(_custom_resources(application, role))
    gpu = role.spec.get("gpu")
    if gpu:
        limits[gpu["name"]] = gpu["quantity"]
    return main_container(
        role, resources={"requests": {"cpu": role.core_request, "memory": memory}, "limits": limits}
    )


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


def mounted_objects(application: Application, role: Role) -> Layer:
    """Secrets and ConfigMaps that exist in the namespace, mounted where the document says."""
    layer: Layer = {}
    for secret in role.spec.get("secrets") or ():
        name = names.volume_name(secret["name"], "secret")
        volume = {"name": name, "secret": {"secretName": secret["name"]}}
        layer = merge(layer, _mounted(role, volume, secret["path"]))
        env = secret_env(secret)
        if env:
            layer = merge(layer, main_container(role, env=env))
    for config_map in role.spec.get("configMaps") or ():
        volume = config_map_volume(names.volume_name(config_map["name"], "config"), config_map["name"])
        layer = merge(layer, _mounted(role, volume, config_map["path"]))
    return layer


def secret_env(secret: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The variable that names a file of a mounted Secret, for the types that have one."""
    variable, file = SECRET_TYPES.get(secret.get("secretType", "Generic"), (None, None))
    return [{"name": variable, "value": f"{secret['path'].rstrip('/')}/{file}"}] if variable else []


def _mounted(role: Role, volume: Mapping[str, Any], path: str) -> Layer:
    mounts = [read_only(volume["name"], path)]
    return merge({"spec": {"volumes": [volume]}}, main_container(role, volumeMounts=mounts))


def user_containers(application: Application, role: Role) -> Layer:
    """Init containers of the document, then its sidecars, which end when Spark does (native sidecars).

    As ordinary containers they would keep the pod, and so the driver's Job, running for ever.
    """
    sidecars = [{**sidecar, "restartPolicy": "Always"} for sidecar in role.spec.get("sidecars") or ()]
    containers = [*(role.spec.get("initContainers") or ()), *sidecars]
    return {"spec": {"initContainers": containers} if containers else {}}


def volumes(application: Application, role: Role) -> Layer:
    """The document's volumes that a container of this role mounts, and no others."""
    wanted = {name for container in _containers(role) for name in _used_volumes(container)}
    used = [dict(volume) for volume in application.volumes if volume["name"] in wanted]
    return {"spec": {"volumes": used}} if used else {}


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


def scratch(application: Application, role: Role) -> Layer:
    """Spark's scratch space: the volumes named `spark-local-dir-*` in its container, or else an emptyDir.

    Source: LocalDirsFeatureStep.
    """
    if role.name == "executor" and application.shuffle is not None and application.shuffle.on_node:
        return {}  # the service's directories: step `shuffle_service`
    given = local_dir_mounts(application, role)
    if given:
        return main_container(role, env=[{"name": contract.ENV_LOCAL_DIRS, "value": ",".join(given)}])
    tmpfs = is_true(application.properties, "spark.kubernetes.local.dirs.tmpfs")
    volume = {"name": contract.SCRATCH_VOLUME, "emptyDir": {"medium": "Memory"} if tmpfs else {}}
    container = main_container(
        role,
        env=[{"name": contract.ENV_LOCAL_DIRS, "value": contract.SCRATCH_DIR}],
        volumeMounts=[{"name": contract.SCRATCH_VOLUME, "mountPath": contract.SCRATCH_DIR}],
    )
    return merge({"spec": {"volumes": [volume]}}, container)


def local_dir_mounts(application: Application, role: Role) -> dict[str, Mapping[str, Any]]:
    """The mounts of the Spark container that a document means as scratch space, by their paths."""
    own, *_ = template(application, role)["spec"].get("containers") or [{}]
    return {
        mount["mountPath"]: mount
        for mount in (*_mounts(own), *_mounts(role.spec))
        if mount["name"].startswith(contract.LOCAL_DIR_VOLUME_PREFIX)
    }


COMMON_STEPS: tuple[Step | str, ...] = (
    "default_security",
    "default_neighbours",
    template,
    metadata,
    "image",
    resources,
    "scheduling",
    "pod_settings",
    "container_settings",
    mounted_objects,
    volumes,
    scratch,
)
