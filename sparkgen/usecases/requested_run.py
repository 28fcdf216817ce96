"""A run that a user or a scheduler requests, made from objects in the cluster. Pure.

It is in no Git repository: it has no labels or annotations by which Argo CD, Flux or Helm would claim it,
and it is removed some time after its end. docs/design/commands.md has the reasons.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparkgen import contract, names
from sparkgen.cluster.annotations import REQUEST_ARGUMENTS, REQUEST_ID, REQUESTED
from sparkgen.errors import SparkgenError
from sparkgen.grammar.whole import whole
from sparkgen.jsonvalue import decode
from sparkgen.killing import DEADLINE, KILLED
from sparkgen.objects import Object
from sparkgen.resources.text import json_text

KEPT_SECONDS = 7 * 24 * 3600
"""Seconds for which an ended run is kept that no CronJob counts, unless the document has a time to live."""
NOT_COPIED = (
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
    "helm.sh/",
    "meta.helm.sh/",
    "kubectl.kubernetes.io/",
    "batch.kubernetes.io/",
    "cronjob.kubernetes.io/",
    contract.OWN_PREFIX,
)
"""Beginnings of annotations that record the owner of an object, or its history."""
_QUEUES = "kueue.x-k8s.io/"
_ADMISSION = (
    "kueue.x-k8s.io/prebuilt-workload-name",
    "kueue.x-k8s.io/cluster-queue-name",
    "kueue.x-k8s.io/local-queue-name",
    "kueue.x-k8s.io/podset",
    "kueue.x-k8s.io/tas",
    "kueue.x-k8s.io/workload",
    "kueue.x-k8s.io/original-node-selectors",
    "kueue.x-k8s.io/original-pod-sets-info",
    "kueue.x-k8s.io/stopping",
)
"""Labels and annotations in which Kueue records, on a Job and its pod template, how it admitted this Job
(its constants.go and topology_types.go). With another Job's, an admission fails for good: podset.Merge."""


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """A request for a run. `arguments`: None leaves them unchanged; `id`: equal for equal runs."""

    application: str
    arguments: tuple[str, ...] | None
    id: str

    @property
    def run(self) -> str:
        """The name of the run, and of its Job."""
        wanted = {"application": self.application, "request": self.id}
        return names.run_name(self.application, names.digest(wanted, names.RUN_HASH_LENGTH))


def from_job(source: Mapping[str, Any], asked: RequestedRun) -> Object:
    """Returns a copy of a run's Job for a new run, suspended until its files exist."""
    spec = {key: value for key, value in source["spec"].items() if key not in ("selector", "manualSelector")}
    annotations = source["metadata"].get("annotations") or {}
    if KILLED in annotations:
        spec.pop("activeDeadlineSeconds", None)
        deadline = whole(str(annotations.get(DEADLINE)))
        if deadline is not None:
            spec["activeDeadlineSeconds"] = deadline
    spec.setdefault("ttlSecondsAfterFinished", KEPT_SECONDS)
    template = _ungated(renamed(spec["template"], run_of(source), asked.run))
    job = _job(source, asked, {**spec, "template": template, "suspend": True})
    job["metadata"]["labels"][contract.LABEL_RUN] = asked.run
    return job


def from_cron_job(source: Mapping[str, Any], asked: RequestedRun) -> Object:
    """Returns a firing's Job, as `kubectl create job --from` does: owned by the CronJob, with its files."""
    template = source["spec"]["jobTemplate"]
    metadata = {**(template.get("metadata") or {}), "namespace": source["metadata"]["namespace"]}
    spec = {key: value for key, value in template["spec"].items() if key != "suspend"}
    job = _job({"metadata": metadata}, asked, spec)
    job["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] = "manual"
    job["metadata"]["ownerReferences"] = [{**owner(source), "controller": True}]
    return job


def owner(item: Mapping[str, Any]) -> Object:
    """Returns an owner reference to an object: Kubernetes deletes objects with it together with the owner."""
    metadata = item["metadata"]
    return {
        "apiVersion": item["apiVersion"],
        "kind": item["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }


def queue_of(job: Mapping[str, Any]) -> str:
    """Returns the queue in which a Job waits until Kueue lets it start; "" if there is none."""
    return str((job["metadata"].get("labels") or {}).get(contract.LABEL_QUEUE, ""))


def run_of(job: Mapping[str, Any]) -> str:
    """Returns the name of a Job's run."""
    return str(job["metadata"]["labels"][contract.LABEL_RUN])


def files_of(job: Mapping[str, Any]) -> list[str]:
    """Returns the names of the ConfigMaps that belong to a Job's run."""
    prefix = f"{run_of(job)}-"
    volumes = job["spec"]["template"]["spec"].get("volumes") or ()
    mounted = (str((volume.get("configMap") or {}).get("name", "")) for volume in volumes)
    return [name for name in mounted if name.startswith(prefix)]


def copied(config_map: Mapping[str, Any], old: str, job: Mapping[str, Any]) -> Object:
    """Returns a copy of a ConfigMap of the run `old` for a new run's Job, which owns it."""
    new = run_of(job)
    metadata = config_map["metadata"]
    data = dict(config_map.get("data") or {})
    if contract.EXECUTOR_TEMPLATE_FILE in data:
        file = decode(data[contract.EXECUTOR_TEMPLATE_FILE])
        template = renamed(contract.executor_template(file), old, new)
        file = {**file, **(template if file.get("kind") == "Pod" else {"template": template})}
        data[contract.EXECUTOR_TEMPLATE_FILE] = json_text(file)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _owned(metadata, f"{new}{metadata['name'].removeprefix(old)}", job),
        "immutable": True,
        "data": data,
        **{key: dict(config_map[key]) for key in ("binaryData",) if config_map.get(key)},
    }


def grouped(job: Mapping[str, Any]) -> bool:
    """Whether the pods of a Job's run belong to a PodGroup of Volcano."""
    metadata = job["spec"]["template"].get("metadata") or {}
    return (metadata.get("annotations") or {}).get(contract.ANNOTATION_POD_GROUP) == run_of(job)


def copied_group(pod_group: Mapping[str, Any], job: Mapping[str, Any]) -> Object:
    """Returns a copy of a PodGroup for a new run's Job, which owns it."""
    return {
        "apiVersion": contract.POD_GROUPS_OF_VOLCANO,
        "kind": "PodGroup",
        "metadata": _owned(pod_group["metadata"], run_of(job), job),
        "spec": dict(pod_group["spec"]),
    }


def _owned(metadata: Mapping[str, Any], name: str, job: Mapping[str, Any]) -> Object:
    """Returns the metadata of an object's copy for a new run's Job, which owns it."""
    return {
        "name": name,
        "namespace": metadata["namespace"],
        "labels": {**kept_labels(metadata), contract.LABEL_RUN: run_of(job), REQUESTED: "true"},
        "ownerReferences": [owner(job)],
    }


def renamed(template: Mapping[str, Any], old: str, new: str) -> Object:
    """Returns a pod template of the run `old` for `new`: its labels, variable and ConfigMaps are renamed."""
    spec = template["spec"]
    lists = {
        field: [_container(container, old, new) for container in spec[field]]
        for field in ("initContainers", "containers")
        if field in spec
    }
    volumes = [_volume(volume, old, new) for volume in spec.get("volumes") or ()]
    metadata = _pod_metadata(template.get("metadata") or {}, **{contract.LABEL_RUN: new})
    for texts in metadata.values():
        texts.update({key: new for key in contract.NAMED_AFTER_RUN if texts.get(key) == old})
    return {"metadata": metadata, "spec": {**spec, **lists, **({"volumes": volumes} if volumes else {})}}


def _container(container: Mapping[str, Any], old: str, new: str) -> Object:
    env = [
        {**one, "value": new} if (one["name"], one.get("value")) == (contract.ENV_RUN, old) else one
        for one in container.get("env") or ()
    ]
    return {**container, **({"env": env} if env else {})}


def _volume(volume: Mapping[str, Any], old: str, new: str) -> Object:
    """Returns a volume with the new run's ConfigMaps, also in the sources of a projected volume."""
    projected = volume.get("projected")
    if projected:
        sources = [_source(source, old, new) for source in projected.get("sources") or ()]
        return {**volume, "projected": {**projected, "sources": sources}}
    return _source(volume, old, new)


def _source(source: Mapping[str, Any], old: str, new: str) -> Object:
    name = str((source.get("configMap") or {}).get("name", ""))
    if not name.startswith(f"{old}-"):
        return dict(source)
    return {**source, "configMap": {**source["configMap"], "name": f"{new}{name.removeprefix(old)}"}}


def with_arguments(template: Mapping[str, Any], arguments: Sequence[str]) -> Object:
    """Returns a driver's pod template with other arguments for the application.

    SparkgenError if Spark's command was changed, so that the application's arguments cannot be told apart.
    """
    containers = [dict(container) for container in template["spec"].get("containers") or ()]
    spark: Object = next((one for one in containers if one["name"] == contract.DRIVER_CONTAINER), {})
    given = list(spark.get("args") or ())
    plain = contract.plain_arguments(given)
    start = len(contract.DRIVER_ARGUMENTS)
    if plain[:start] != contract.DRIVER_ARGUMENTS:
        raise SparkgenError(
            "cannot replace the arguments: the driver's command was changed after sparkgen rendered it; "
            "leave out --arg, or change the document"
        )
    start += len(given) - len(plain)
    while given[start : start + 1] in (["--proxy-user"], ["--class"]):
        start += 2
    spark["args"] = [*given[: start + 1], *arguments]
    return {**template, "spec": {**template["spec"], "containers": containers}}


def _job(source: Mapping[str, Any], asked: RequestedRun, spec: Object) -> Object:
    metadata = source["metadata"]
    annotations = {**kept_annotations(metadata), REQUEST_ID: asked.id}
    template = {**spec["template"], "metadata": _pod_metadata(spec["template"].get("metadata") or {})}
    if asked.arguments is not None:
        annotations[REQUEST_ARGUMENTS] = json.dumps(list(asked.arguments), ensure_ascii=False)
        template = with_arguments(template, asked.arguments)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": asked.run,
            "namespace": metadata["namespace"],
            "labels": {**kept_labels(metadata), REQUESTED: "true"},
            "annotations": annotations,
        },
        "spec": {**spec, "template": template},
    }


def kept_labels(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Returns the labels without those by which a controller would claim the object.

    Kueue's labels stay, unlike on executors: a Job without its queue's label would bypass the queue.
    """
    labels = metadata.get("labels") or {}
    return {
        key: text
        for key, text in labels.items()
        if key not in _ADMISSION and (contract.belongs_on_executor(key) or key.startswith(_QUEUES))
    }


def kept_annotations(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Returns the annotations without those that record the object's owner or history."""
    given = (metadata.get("annotations") or {}).items()
    return {key: text for key, text in given if not (key.startswith(NOT_COPIED) or key in _ADMISSION)}


def _pod_metadata(metadata: Mapping[str, Any], **labels: str) -> Object:
    """Returns the labels and annotations of a pod template, without those that a Job's controllers add."""
    kept: Object = {"labels": {**kept_labels(metadata), **labels}}
    if annotations := metadata.get("annotations"):
        kept["annotations"] = {key: text for key, text in annotations.items() if key not in _ADMISSION}
    return kept


def _ungated(template: Object) -> Object:
    """Returns a pod template without the gates that Kueue added when it admitted the Job."""
    gates = template["spec"].get("schedulingGates") or ()
    kept = [gate for gate in gates if not gate["name"].startswith(_QUEUES)]
    spec = {key: value for key, value in template["spec"].items() if key != "schedulingGates"}
    return {**template, "spec": {**spec, **({"schedulingGates": kept} if kept else {})}}
