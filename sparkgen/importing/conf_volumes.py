"""`spark.kubernetes.ROLE.volumes.TYPE.NAME.*`: several properties describe one volume and its mount.

Source: org.apache.spark.deploy.k8s.KubernetesVolumeUtils and MountVolumesFeatureStep.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sparkgen.errors import Path
from sparkgen.importing.draft import Draft, Property
from sparkgen.importing.entry import Outcome

_ON_DEMAND = "OnDemand"


def volumes(draft: Draft, items: Iterable[Property]) -> None:
    """Add volumes and mounts for both roles; a volume that is the same for both is added once."""
    groups: dict[tuple[str, str, str], dict[str, Property]] = {}
    for item in items:
        role, _, rest = item.name.removeprefix("spark.kubernetes.").partition(".volumes.")
        kind, _, rest = rest.partition(".")
        name, _, key = rest.partition(".")
        if role in ("driver", "executor") and kind in _SOURCES and key:
            groups.setdefault((role, kind, name), {})[key] = item
        else:
            draft.tell(
                Outcome.LOST,
                item.source,
                item.position,
                (),
                "not a volume that Spark supports",
                "define it in `volumes`, and mount it in `volumeMounts` of the role",
            )
    for (role, kind, name), properties in groups.items():
        _volume(draft, role, kind, name, properties)


def _volume(draft: Draft, role: str, kind: str, name: str, properties: Mapping[str, Property]) -> None:
    options = {
        key.removeprefix("options."): item.text
        for key, item in properties.items()
        if key.startswith("options.")
    }
    read_only = "mount.readOnly" in properties and properties["mount.readOnly"].text.strip().lower() == "true"
    volume = {"name": name, **_SOURCES[kind](options)}
    if read_only and "persistentVolumeClaim" in volume:
        volume["persistentVolumeClaim"]["readOnly"] = True  # as Spark mounts the claim
    volumes = ("spec", "volumes")
    if draft.item(volumes, name) not in (None, volume):
        volume["name"] = f"{name}-{role}"
    place: Path = volumes
    if draft.item(volumes, volume["name"]) is None:
        place = draft.append(volumes, volume)
    mount: dict[str, Any] = {"name": volume["name"]}
    for key, field in (("mount.path", "mountPath"), ("mount.subPath", "subPath")):
        if key in properties:
            mount[field] = properties[key].text
    if "mount.readOnly" in properties:
        mount["readOnly"] = read_only
    target = ("spec", role, "volumeMounts")
    mounted = draft.append(target, mount) if "mount.path" in properties else None
    for key, item in properties.items():
        _tell(draft, (kind, key), item, mounted if key.startswith("mount.") else place)


def _tell(draft: Draft, what: tuple[str, str], item: Property, where: Path | None) -> None:
    kind, key = what
    if where is None:
        reason = "the volume has no mount path, which Spark requires"
        draft.tell(Outcome.LOST, item.source, item.position, (), reason, "add a mount in `volumeMounts`")
    elif key in _MOUNT or key.removeprefix("options.") in _OPTIONS[kind]:
        outcome = Outcome.REWRITTEN if item.text == _ON_DEMAND else Outcome.CARRIED
        draft.tell(outcome, item.source, item.position, where)
    elif key.startswith(("label.", "annotation.")):
        reason = "labels and annotations of on-demand claims are not converted"
        step = "add it to `volumeClaimTemplate.metadata` of the volume"
        draft.tell(Outcome.LOST, item.source, item.position, (), reason, step)
    else:
        reason = "not a volume option that Spark supports"
        draft.tell(Outcome.LOST, item.source, item.position, (), reason, "set it in `volumes`")


_MOUNT = ("mount.path", "mount.subPath", "mount.readOnly")
_OPTIONS = {
    "hostPath": ("path", "type"),
    "emptyDir": ("medium", "sizeLimit"),
    "nfs": ("server", "path"),
    "persistentVolumeClaim": ("claimName", "storageClass", "sizeLimit"),
}


def _some(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: text for name, text in values.items() if text is not None}


def _host_path(options: Mapping[str, str]) -> dict[str, Any]:
    return {"hostPath": _some({"path": options.get("path"), "type": options.get("type")})}


def _empty_dir(options: Mapping[str, str]) -> dict[str, Any]:
    return {"emptyDir": _some({"medium": options.get("medium"), "sizeLimit": options.get("sizeLimit")})}


def _nfs(options: Mapping[str, str]) -> dict[str, Any]:
    return {"nfs": _some({"server": options.get("server"), "path": options.get("path")})}


def _claim(options: Mapping[str, str]) -> dict[str, Any]:
    """Returns an existing claim; on demand, one that Kubernetes creates with each pod and deletes with it."""
    if options.get("claimName", _ON_DEMAND) != _ON_DEMAND:
        return {"persistentVolumeClaim": {"claimName": options["claimName"]}}
    size = options.get("sizeLimit") or "10Gi"
    spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"]}
    if "storageClass" in options:
        spec["storageClassName"] = options["storageClass"]
    spec["resources"] = {"requests": {"storage": size}}
    return {"ephemeral": {"volumeClaimTemplate": {"spec": spec}}}


_SOURCES = {
    "hostPath": _host_path,
    "emptyDir": _empty_dir,
    "nfs": _nfs,
    "persistentVolumeClaim": _claim,
}
