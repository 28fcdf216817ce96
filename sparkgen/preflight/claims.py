"""Claims that are not bound, and that nothing in the cluster will bind. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from sparkgen.objects import ObjectView
from sparkgen.preflight.parts import mapping

DEFAULT = "storageclass.kubernetes.io/is-default-class"
_NOBODY = "kubernetes.io/no-provisioner"


def unbound(claim: ObjectView, classes: Iterable[ObjectView], volumes: Iterable[ObjectView]) -> str:
    """Returns why nothing will bind a claim, to follow "the claim x is not bound: "; "" if it may be bound.

    `volumes`: all volumes of the cluster; an administrator may have made one of them for the claim.
    """
    if mapping(claim.get("status")).get("phase") != "Pending":
        return ""
    spec = mapping(claim.get("spec"))
    by_name = {str(one["metadata"]["name"]): one for one in classes}
    name = spec.get("storageClassName")
    if not isinstance(name, str):
        name = next((key for key, one in by_name.items() if is_default(one)), "")
    if any(_could_hold(volume, name) for volume in volumes):
        return ""
    if not name:
        what = "it names no StorageClass"
        return what if spec.get("storageClassName") == "" else f"{what}, and the cluster has no default one"
    if name not in by_name:
        return f"the StorageClass {name} does not exist"
    if by_name[name].get("provisioner") == _NOBODY:
        return f"the StorageClass {name} makes no volumes, and none is free"
    return ""


def is_default(item: ObjectView) -> bool:
    """Whether claims that name no StorageClass get this one."""
    return (item["metadata"].get("annotations") or {}).get(DEFAULT) == "true"


def _could_hold(volume: ObjectView, name: str) -> bool:
    free = (volume.get("status") or {}).get("phase") == "Available"
    return free and str((volume.get("spec") or {}).get("storageClassName") or "") == name
