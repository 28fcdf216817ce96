"""The document's artifacts in pods: the values for the layers `fetch_container` and `artifacts`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application, Role
from sparkgen.model.delivery import Delivery, image_modules
from sparkgen.names import canonical_json
from sparkgen.resources.layers import read_only


def delivery_values(application: Application, role: Role) -> dict[str, Any]:
    """The values for a role's pod."""
    delivery = application.delivery
    by_kubelet = delivery is not None and delivery.by_kubelet
    with_jar = not application.by_spark
    in_config_map = bool(application.runtime.config_map)
    nothing: dict[str, Any] = {"fetch": None, "artifactMounts": [], "artifactVolumes": [], "mounted": {}}
    return {
        "install": with_jar and not by_kubelet and not in_config_map,
        "withoutInstall": with_jar and (by_kubelet or in_config_map),
        "mountsRuntimeImage": with_jar and by_kubelet and not in_config_map,
        "mountsJar": with_jar and in_config_map,
        "pythonPath": python_path(application, role),
        **(nothing if delivery is None else _values(delivery)),
    }


def mounted(application: Application) -> dict[str, Mapping[str, Any]]:
    """The contents of the run's ConfigMaps with files of the document, by their artifacts' names."""
    return application.delivery.mounted if application.delivery is not None else {}


def scheduler_jar(application: Application) -> str:
    """The path of the scheduler jar for the application's Scala version, in the driver."""
    by_kubelet = application.delivery is not None and application.delivery.by_kubelet
    if by_kubelet and not application.runtime.config_map:
        return contract.mounted_scheduler_jar(application.scala_version)
    return contract.SCHEDULER_JAR


def pull_secrets(application: Application) -> list[str]:
    """The Secrets for pulling images; with image volumes also the Secret for artifacts."""
    delivery, own = application.delivery, list(application.image_pull_secrets)
    if delivery is None or not delivery.by_kubelet or delivery.pull_secret in (None, *own):
        return own
    return [*own, str(delivery.pull_secret)]


def used_by_fetch(application: Application) -> set[str]:
    """The document's volumes that `fetch` mounts."""
    delivery = application.delivery
    return {delivery.cache_volume} if delivery and delivery.fetches and delivery.cache_volume else set()


def _values(delivery: Delivery) -> dict[str, Any]:
    if delivery.fetches:
        mounts = [read_only(contract.ARTIFACTS_VOLUME, contract.ARTIFACTS_DIR)]
    else:
        mounts = [
            read_only(f"{contract.ARTIFACT_VOLUME_PREFIX}{one.name}", f"{contract.ARTIFACTS_DIR}/{one.name}")
            for one in delivery.artifacts
        ]
    return {
        "fetch": _fetch(delivery) if delivery.fetches else None,
        "artifactMounts": mounts,
        # `fetch` brings its own volume, and the layers have those of the run's ConfigMaps.
        "artifactVolumes": [
            _image_volume(f"{contract.ARTIFACT_VOLUME_PREFIX}{one.name}", one.reference)
            for one in delivery.artifacts
            if delivery.by_kubelet and one.contents is None
        ],
        "mounted": delivery.mounted,
    }


def _image_volume(name: str, reference: str) -> dict[str, Any]:
    return {"name": name, "image": {"reference": reference, "pullPolicy": "IfNotPresent"}}


def _fetch(delivery: Delivery) -> dict[str, Any]:
    artifacts = [
        {
            "name": one.name,
            "reference": one.reference,
            "digest": one.digest,
            "size": one.size,
            "unpackedSize": one.unpacked_size,
        }
        for one in delivery.artifacts
        if one.contents is None
    ]
    return {
        "artifacts": canonical_json(artifacts),
        "insecure": delivery.insecure,
        "ca": delivery.ca,
        "pullSecret": delivery.pull_secret,
        "cacheVolume": delivery.cache_volume,
    }


def python_path(application: Application, role: Role) -> str | None:
    """PYTHONPATH: the pushed modules, those of the image, and those that the document names."""
    pushed = application.delivery.python_path if application.delivery is not None else ()
    own = (*pushed, *image_modules(application.properties).path)
    return ":".join((*own, *_given_python_path(application, role))) if own else None


def _given_python_path(application: Application, role: Role) -> Iterator[str]:
    """The document's own value of PYTHONPATH, which comes after ours; nothing if it has none."""
    last = None
    for name, text in _literals(application, role):
        if name == contract.ENV_PYTHON_PATH:
            last = text
    if last:
        yield last


def _literals(application: Application, role: Role) -> Iterator[tuple[str, str]]:
    """The variables of the Spark container with literal values; later ones win."""
    if role.name == "executor":
        yield contract.ENV_PYTHON_PATH, application.properties.get("spark.executorEnv.PYTHONPATH", "")
    for item in role.spec.get("env") or ():
        yield item["name"], item.get("value") or ""
