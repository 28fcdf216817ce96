"""What rendered objects need from a cluster: the pods of each role, and what these refer to. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.jsonvalue import decode
from sparkgen.model import key_fields
from sparkgen.objects import ObjectView
from sparkgen.preflight.ownership import server_words
from sparkgen.preflight.values import ClusterFacts, Reference, Wanted
from sparkgen.resources import spark_backend
from sparkgen.semantics.software import is_latest

_SERVERS = ("DaemonSet", "Deployment")
"""Kinds of objects that run a server, which has a document of its own."""
GIVEN_BY_KUBERNETES = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
"""Objects that every namespace has: Kubernetes creates them."""


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of one role: their template, and how many start at the beginning."""

    role: str
    template: ObjectView
    count: int


def pods(objects: Iterable[ObjectView]) -> tuple[Pods, ...]:
    """Returns the driver's pod and the executors that it starts with, or a server's pods with the count 0."""
    found: list[Pods] = []
    count = 0
    executor: ObjectView | None = None
    for item in objects:
        data = item.get("data") or {}
        if contract.TUNING_FILE in data:
            count = initial(decode(data[contract.TUNING_FILE]))
        if (planned := spark_backend.executors_in(data)) is not None:
            count = planned.initial
        if contract.EXECUTOR_TEMPLATE_FILE in data:
            executor = contract.executor_template(decode(data[contract.EXECUTOR_TEMPLATE_FILE]))
        if (template := driver(item)) is not None:
            found.append(Pods("driver", template, 1))
        elif item["kind"] in _SERVERS:
            template = item["spec"]["template"]
            found.append(Pods(server_words(item["metadata"].get("labels") or {}), template, 0))
    return (*found, Pods("executor", executor, count)) if executor is not None else tuple(found)


def driver(item: ObjectView) -> ObjectView | None:
    """The driver's pod template in the object that runs it; None for any other object."""
    spec = item.get("spec") or {}
    if item["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    elif item["kind"] not in ("Job", "Deployment"):
        return None
    template: ObjectView = spec["template"]
    # A pod without the label of a run belongs to the Job that removes ended runs, or to a server.
    return template if contract.LABEL_RUN in (template["metadata"].get("labels") or {}) else None


def name_of(item: ObjectView) -> str:
    """The name of an object."""
    return str(item["metadata"]["name"])


def starts(wanted: Wanted, facts: ClusterFacts) -> bool:
    """Whether applying creates the object that runs the driver: otherwise it takes nothing from a quota."""
    for item in wanted.objects:
        if driver(item) is not None:
            return facts.live.get((item["kind"], item["metadata"]["name"])) is None
    return False


def initial(tuning: Mapping[str, Any]) -> int:
    """The number of executors that an application starts with, from its tuning."""
    executors = tuning.get("executors") or {}
    for name in ("instances", "initial", "minimum"):
        if name in executors:
            return int(executors[name])
    return 0


def has_gang(objects: Iterable[ObjectView]) -> bool:
    """Whether executors start as a gang of Kubernetes' own (a PodGroup)."""
    return any(
        contract.ANNOTATION_GANG in (one.template["metadata"].get("annotations") or {})
        for one in pods(objects)
        if one.role == "executor"
    )


def expires_at(objects: Iterable[ObjectView]) -> str:
    """The date until which the run may start, as its tuning has it; "" if there is none."""
    for item in objects:
        text = (item.get("data") or {}).get(contract.TUNING_FILE)
        if text is not None:
            return str((decode(text).get("run") or {}).get("expiresAt") or "")
    return ""


def references(objects: Iterable[ObjectView], runtime: str = "") -> tuple[Reference, ...]:
    """Returns what pods refer to, each once: neither optional, nor rendered, nor created by Kubernetes.

    `runtime`: the name of a ConfigMap that is applied, too.
    """
    every = tuple(objects)
    rendered = {(str(item["kind"]), str(item["metadata"]["name"])) for item in every}
    known = rendered | GIVEN_BY_KUBERNETES | {("ConfigMap", runtime)}
    used_by: dict[tuple[str, str], str] = {}
    keys: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
    for group in pods(every):
        for kind, name, taken in _of_pod(group.template["spec"]):
            if (kind, name) not in known:
                used_by.setdefault((kind, name), group.role)
                keys.setdefault((kind, name), {}).update(dict.fromkeys(taken))
    return tuple(Reference(*key, role, tuple(keys[key])) for key, role in used_by.items())


def images(groups: Iterable[Pods]) -> dict[str, str]:
    """Returns image -> pull policy; where a container has none, the API server's default."""
    found: dict[str, str] = {}
    for group in groups:
        for container in containers(group.template["spec"]):
            image = str(container["image"])
            default = "Always" if is_latest(image) else "IfNotPresent"
            found.setdefault(image, str(container.get("imagePullPolicy") or default))
    return found


def containers(spec: ObjectView) -> Iterator[ObjectView]:
    """All containers of a pod, init containers first."""
    for name in ("initContainers", "containers"):
        yield from spec.get(name) or ()


_Taken = tuple[tuple[str, str], ...]
"""Keys that a pod takes from an object, each with the field of the document that names it."""


def _of_pod(spec: ObjectView) -> Iterator[tuple[str, str, _Taken]]:
    if spec.get("serviceAccountName"):
        yield "ServiceAccount", str(spec["serviceAccountName"]), ()
    for secret in spec.get("imagePullSecrets") or ():
        yield "Secret", str(secret["name"]), ()
    for volume in spec.get("volumes") or ():
        yield from _of_volume(volume)
    for container in containers(spec):
        for source in container.get("envFrom") or ():
            yield from _named(source.get("secretRef"), "Secret")
            yield from _named(source.get("configMapRef"), "ConfigMap")
        for variable in container.get("env") or ():
            given = variable.get("valueFrom") or {}
            where = f"the key in the variable {variable.get('name')}"
            yield from _named(given.get("secretKeyRef"), "Secret", key_field=where)
            yield from _named(given.get("configMapKeyRef"), "ConfigMap", key_field=where)


def _of_volume(volume: ObjectView) -> Iterator[tuple[str, str, _Taken]]:
    where = key_fields.of_volume(volume)
    yield from _named(volume.get("secret"), "Secret", "secretName", where)
    for kind, name, taken in _named(volume.get("configMap"), "ConfigMap", key_field=where):
        krb5 = ((contract.KRB5_FILE, where),) if volume["name"] == contract.KRB5_VOLUME else ()
        yield kind, name, (*taken, *krb5)
    yield from _named(volume.get("persistentVolumeClaim"), "PersistentVolumeClaim", "claimName")
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield from _named(source.get("secret"), "Secret", key_field=where)
        yield from _named(source.get("configMap"), "ConfigMap", key_field=where)


def _named(
    reference: ObjectView | None, kind: str, field: str = "name", key_field: str = ""
) -> Iterator[tuple[str, str, _Taken]]:
    """What a reference names, if it is not optional. `key_field`: the field that names its keys, or ""."""
    if not reference or reference.get("optional") or "$(" in str(reference.get(field, "")):
        return
    if reference.get(field):
        keys = [one.get("key") for one in (reference, *(reference.get("items") or ()))]
        yield kind, str(reference[field]), tuple((str(key), key_field) for key in keys if key and key_field)
