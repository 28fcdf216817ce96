"""Volumes and mounts: what Kubernetes refuses, and what hides Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract, names
from sparkgen.errors import Path
from sparkgen.semantics.facts import ROLES, DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.mounts import is_below, mounted_at, places
from sparkgen.semantics.wording import listed, shortened

_MOST_COMPARED = 100
"""The most volumes that the name in a mount is compared with: each may be compared with each."""
OWN_VOLUMES = frozenset(
    {
        contract.LIB_VOLUME,
        contract.SESSION_VOLUME,
        contract.CONF_VOLUME,
        contract.HADOOP_VOLUME,
        contract.EXECUTOR_VOLUME,
        contract.TUNING_VOLUME,
        contract.TOKEN_VOLUME,
        contract.SCRATCH_VOLUME,
        contract.ARTIFACTS_VOLUME,
    }
)
"""Volumes that sparkgen adds to pods; a sidecar may mount most of them."""

SECRET_VOLUMES = (contract.TOKEN_VOLUME, contract.SESSION_VOLUME)
ARCHIVE_VOLUMES = (contract.LOGS_VOLUME, contract.LOG_ARCHIVE_VOLUME, contract.LOG_ARCHIVE_LOGIN_VOLUME)
"""With the credentials of the log archive, or with files that are taken into it."""
"""Volumes of sparkgen with credentials in them."""


@rule("SG150", ERROR)
def mounts_without_volume(facts: DocumentFacts) -> Iterator[Finding]:
    """Mounts of volumes that the pod does not have (the API server: `Not found`)."""
    for container in facts.containers:
        known = _volume_names(facts, container.role)
        for path, mount in container.items("volumeMounts"):
            name = str(mount.get("name"))
            if name not in known and name not in OWN_VOLUMES:
                near = _near(name, known)
                step = (
                    f"write `name: {near}`"
                    if near
                    else f"define the volume in `{_home(facts)}`, or fix the name"
                )
                yield Finding(
                    (*path, "name"),
                    f"the {container.role} pod has no volume with this name",
                    shortened(name),
                    listed(sorted(known), "or") if 0 < len(known) <= 5 else "",
                    step,
                )


def _home(facts: DocumentFacts) -> str:
    return ".".join(str(part) for part in facts.path("volumes"))


def _volume_names(facts: DocumentFacts, role: str) -> set[str]:
    """Returns the names of the volumes of a role's pods, with those for Secrets and ConfigMaps."""
    known = {str(volume.get("name")) for _, volume in facts.named_volumes(role)}
    known |= {names.volume_name(item["name"], "secret") for item in facts.role(role).get("secrets") or ()}
    known |= {names.volume_name(item["name"], "config") for item in facts.role(role).get("configMaps") or ()}
    return known


def _near(name: str, known: set[str]) -> str:
    from sparkgen.textdiff import nearest  # noqa: PLC0415 - only to word a problem

    return nearest(name, sorted(known), cutoff=0.7) if len(known) <= _MOST_COMPARED else ""


@rule("SG161", ERROR)
def volumes_twice(facts: DocumentFacts) -> Iterator[Finding]:
    """Volumes with the same name: the API server refuses the pod."""
    seen: dict[tuple[str, str], set[str]] = {}
    for path, volume in _once(facts):
        name, role = str(volume.get("name")), _role_of(facts, path)
        other = seen.get((role, name))
        if other is None and role:
            # A template's volume is merged with the application's of its name: one kind of source is fine.
            shared = seen.get(("", name))
            other = shared if shared is not None and shared != set(volume) else None
        if other is not None:
            message = "a volume with this name is already defined"
            step = "give it another name, or delete it"
            yield Finding((*path, "name"), message, shortened(name), next_step=step)
        seen.setdefault((role, name), set(volume))


def _once(facts: DocumentFacts) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yields every volume of the document once, with its path; the application's own first."""
    for index, volume in enumerate(facts.spec.get("volumes") or ()):
        yield facts.path("volumes", index), volume
    for role in ROLES:
        for index, volume in enumerate(facts.template(role).get("volumes") or ()):
            yield facts.path(role, "template", "spec", "volumes", index), volume


def _role_of(facts: DocumentFacts, path: Path) -> str:
    """Returns the role in whose template a volume is defined; "" for the application's own."""
    part = path[len(facts.root)]
    return str(part) if part in ROLES else ""


@rule("SG152", WARNING)
def unused_volumes(facts: DocumentFacts) -> Iterator[Finding]:
    """Volumes that no container mounts: they are in no pod."""
    mounted = {
        mount.get("name") for container in facts.containers for _, mount in container.items("volumeMounts")
    }
    mounted |= {
        device.get("name") for container in facts.containers for _, device in container.items("volumeDevices")
    }
    mounted.add(facts.get("delivery", "cacheVolume"))
    for index, volume in enumerate(facts.spec.get("volumes") or ()):
        if volume.get("name") not in mounted:
            yield Finding(
                facts.path("volumes", index),
                "no container mounts it, so it is not in any pod",
                shortened(str(volume.get("name"))),
                next_step="mount it in `volumeMounts` of a role, or delete it",
            )


@rule("SG153", ERROR)
def mount_clashes(facts: DocumentFacts) -> Iterator[Finding]:
    """Two mounts at the same path, and sub-paths that leave the volume: the API server refuses both."""
    for container in facts.containers:
        taken: dict[str, str] = {}
        for path, place, what in places(container):
            at = mounted_at(place)
            if at in taken:
                message = f"{taken[at]} is already mounted at this path"
                yield Finding(path, message, shortened(place), next_step=f"mount {what} somewhere else")
            taken.setdefault(at, what)
        for path, mount in container.items("volumeMounts"):
            yield from _sub_path(path, mount)


def _sub_path(path: Path, mount: Mapping[str, Any]) -> Iterator[Finding]:
    for field in ("subPath", "subPathExpr"):
        text = mount.get(field)
        if text and (str(text).startswith("/") or ".." in str(text).split("/")):
            yield Finding(
                (*path, field),
                "must stay inside the volume: Kubernetes refuses it",
                shortened(str(text)),
                "a relative path without `..`",
                f"write `{field}: {shortened(str(text).lstrip('/'))}`"
                if ".." not in text
                else "remove the `..`",
            )
    if mount.get("subPath") and mount.get("subPathExpr"):
        yield about_key(
            (*path, "subPathExpr"), "`subPath` and `subPathExpr` are mutually exclusive", "delete one of them"
        )


@rule("SG154", WARNING)
def relative_mounts(facts: DocumentFacts) -> Iterator[Finding]:
    """Mount paths that are not absolute: the kubelet puts them below `/`, whatever the working directory."""
    for container in facts.containers:
        for path, mount in container.items("volumeMounts"):
            place = str(mount.get("mountPath", "/"))
            if place and not place.startswith(("/", "$(")):
                yield Finding(
                    (*path, "mountPath"),
                    "is not absolute, so it is treated as a path below `/`",
                    shortened(place),
                    "an absolute path",
                    f"write `mountPath: /{shortened(place.removeprefix('./'))}`",
                )


@rule("SG155", ERROR, chart="security: user code could read the allocator's token")
def reserved_mounts(facts: DocumentFacts) -> Iterator[Finding]:
    """Mounts into the directory of sparkgen, and mounts of its volumes with credentials in them."""
    for container in facts.containers:
        for path, mount in container.items("volumeMounts"):
            if mount.get("name") in SECRET_VOLUMES:
                message = "contains the allocator's credentials, which no other container may have"
                yield Finding((*path, "name"), message, str(mount["name"]), next_step="delete the mount")
            elif mount.get("name") in ARCHIVE_VOLUMES:
                message = "is for the container that archives logs, which runs no other code"
                yield Finding((*path, "name"), message, str(mount["name"]), next_step="delete the mount")
        for path, place, _ in places(container):
            if is_below(place, contract.ROOT):
                yield Finding(
                    path,
                    f"everything below {contract.ROOT} is reserved for sparkgen",
                    shortened(place),
                    f"a path outside {contract.ROOT}",
                    "mount it somewhere else, such as /mnt or /etc",
                )


_CONF = "/opt/spark/conf"


@rule("SG156", WARNING)
def hidden_spark(facts: DocumentFacts) -> Iterator[Finding]:
    """Mounts that hide Spark's own files, and configuration where Spark does not look."""
    for container in facts.containers:
        if container.kind != "spark":
            continue
        for path, place, _ in places(container):
            at = mounted_at(place)
            if at == _CONF or at.startswith(f"{_CONF}/"):
                message = f"Spark reads its configuration from {contract.CONF_DIR} here, not from {_CONF}"
                if at == _CONF:
                    step = "copy its properties to `sparkConf` and its log levels to `logging`"
                else:
                    name = shortened(at.removeprefix(f"{_CONF}/"))
                    step = f"list the file {name} in `sparkConfFiles`, with `configMapKeyRef`"
                yield Finding(path, message, shortened(place), next_step=step)
            elif at in ("/", "/opt", "/opt/spark", "/opt/spark/bin", "/opt/spark/jars", "/opt/spark/python"):
                yield Finding(
                    path,
                    "hides Spark's files in the image",
                    shortened(place),
                    next_step="mount it somewhere else, or mount single files with `subPath`",
                )


@rule("SG157", WARNING)
def host_paths(facts: DocumentFacts) -> Iterator[Finding]:
    """Directories of the node: Pod Security refuses them from "baseline" on."""
    for path, volume in _once(facts):
        if "hostPath" in volume:
            yield about_key(
                (*path, "hostPath"),
                'namespaces with Pod Security "baseline" or "restricted" refuse the pod',
                "use `emptyDir` or `ephemeral` for scratch space, and a claim for data",
            )
