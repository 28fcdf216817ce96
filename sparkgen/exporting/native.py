"""The table for Spark's own Kubernetes support: a document as properties and as pod templates of both roles.

Source of the properties: sparkgen/properties. Spark adds its own settings to the templates (KubernetesUtils,
features of org.apache.spark.deploy.k8s).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from sparkgen.errors import Path
from sparkgen.exporting import rows
from sparkgen.exporting.rows import to_property
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import ROLES, Row, Take
from sparkgen.model.properties import TYPED_PROPERTIES
from sparkgen.resources.merge import merge

PODS = "pods"
"""First part of a target in the pod template of a role."""
_IN_POD = {
    "affinity": "affinity",
    "tolerations": "tolerations",
    "topologySpreadConstraints": "topologySpreadConstraints",
    "priorityClassName": "priorityClassName",
    "podSecurityContext": "securityContext",
    "initContainers": "initContainers",
    "hostAliases": "hostAliases",
    "dnsConfig": "dnsConfig",
    "terminationGracePeriodSeconds": "terminationGracePeriodSeconds",
}
"""Field of a role -> field of the pod."""
_IN_CONTAINER = ("env", "envFrom", "volumeMounts", "securityContext", "lifecycle", "ports")
"""Fields of a role that Spark's container has under the same name."""
_GROUPS = {"labels": "label", "annotations": "annotation", "nodeSelector": "node.selector"}
"""Mapping of a role -> the property for each of its keys."""
_NO_GANGS = "Spark's Kubernetes support needs a file for it"


def to_pod(target: Path, given: Take) -> None:
    """Set a part of a role's pod template."""
    given.put(target, given.node.value, Outcome.REWRITTEN)


def group(prefix: str, given: Take) -> None:
    """Set a property for each key of a mapping."""
    for key in given.node.entries:
        to_property(f"{prefix}.{key}", given.at(key))


def secrets(role: str, given: Take) -> None:
    """Set a property for each Secret that is mounted."""
    for index, item in enumerate(given.node.items):
        part, name = given.at(index), item.value["name"]
        part.put(
            (*rows.CONF, f"spark.kubernetes.{role}.secrets.{name}"), item.value["path"], Outcome.REWRITTEN
        )
        if item.value.get("secretType", "Generic") != "Generic":
            reason = "sparkgen and kubeflow's operator set a variable with the path of the key"
            given.at(index, "secretType").lost(reason, f"set the variable in `{role}.env`")


def config_maps(role: str, given: Take) -> None:
    """Mount each ConfigMap as a volume."""
    for index, item in enumerate(given.node.items):
        volume = f"config-map-{index}"
        source = {"name": volume, "configMap": {"name": item.value["name"]}}
        given.draft.put((PODS, role, "spec", "volumes"), [source])
        mount = {"name": volume, "mountPath": item.value["path"], "readOnly": True}
        given.draft.put((PODS, role, "container", "volumeMounts"), [mount])
    given.tell(Outcome.REWRITTEN, (PODS, role, "spec", "volumes"))


def sidecars(role: str, given: Take) -> None:
    """Set sidecars as init containers that always restart, which end with Spark's container."""
    target = (PODS, role, "spec", "initContainers")
    given.put(
        target, [{**item.value, "restartPolicy": "Always"} for item in given.node.items], Outcome.REWRITTEN
    )


def gpu(role: str, given: Take) -> None:
    """Limit the extended resource of Spark's container."""
    limits = {given.node.value["name"]: given.node.value["quantity"]}
    given.put((PODS, role, "container", "resources", "limits"), limits, Outcome.REWRITTEN)


def volumes(given: Take) -> None:
    """Give each volume to the pods with a container that mounts it."""
    for index, item in enumerate(given.node.items):
        part = given.at(index)
        users = [role for role in ROLES if item.value["name"] in _mounted(given.draft, role)]
        for role in users:
            given.draft.put((PODS, role, "spec", "volumes"), [item.value])
        if users:
            part.tell(Outcome.REWRITTEN, (PODS, users[0], "spec", "volumes"))
        else:
            part.needless("no container mounts it")


def _mounted(draft: Draft, role: str) -> set[str]:
    """Returns the names of the volumes that the containers of a role mount."""
    spec = pod_template(draft.value[PODS], role).get("spec", {})
    containers = (*spec.get("containers", ()), *spec.get("initContainers", ()))
    return {str(mount["name"]) for item in containers for mount in item.get("volumeMounts") or ()}


def pod_template(pods: Mapping[str, Any], role: str) -> dict[str, Any]:
    """Returns the pod template of a role, with Spark's container first; {} if Spark needs none.

    The document's own `template` is below its fields, as sparkgen renders it.
    """
    own = pods.get(role, {})
    base, container = own.get("template", {}), own.get("container", {})
    if not base and not container and not own.get("spec"):
        return {}
    name = f"spark-kubernetes-{role}"
    given = [dict(item) for item in base.get("spec", {}).get("containers", ())]
    main = next((item for item in given if item.get("name") == name), {"name": name})
    others = [item for item in given if item is not main]
    below = {key: value for key, value in base.get("spec", {}).items() if key != "containers"}
    spec = {"containers": [merge(main, container), *others], **merge(below, own.get("spec", {}))}
    metadata = {"metadata": base["metadata"]} if base.get("metadata") else {}
    return {**metadata, "spec": spec}


def _role_rows(role: str) -> Iterator[Row]:
    field = f"spec.{role}"
    for name, property_name in _GROUPS.items():
        yield Row(f"{field}.{name}", how=partial(group, f"spark.kubernetes.{role}.{property_name}"))
    yield Row(f"{field}.image", how=partial(to_property, f"spark.kubernetes.{role}.container.image"))
    yield Row(f"{field}.schedulerName", how=partial(to_property, f"spark.kubernetes.{role}.scheduler.name"))
    yield Row(f"{field}.secrets", how=partial(secrets, role))
    yield Row(f"{field}.template", how=partial(to_pod, (PODS, role, "template")))
    for name, part in _IN_POD.items():
        yield Row(f"{field}.{name}", how=partial(to_pod, (PODS, role, "spec", part)))
    for name in _IN_CONTAINER:
        yield Row(f"{field}.{name}", how=partial(to_pod, (PODS, role, "container", name)))
    yield Row(f"{field}.sidecars", how=partial(sidecars, role))
    yield Row(f"{field}.configMaps", how=partial(config_maps, role))
    yield Row(f"{field}.gpu", how=partial(gpu, role))
    yield Row(
        f"{field}.imagePullPolicy",
        reason="Spark has one policy for both roles",
        step="set `spec.imagePullPolicy`",
    )


ROWS = (
    *rows.METADATA_ROWS,
    Row("spec.sparkConf", how=rows.spark_conf),
    Row("spec.hadoopConf", how=rows.hadoop_properties),
    *rows.property_rows(
        {"eventLog", "dynamicAllocation.shuffleTrackingTimeout", *(f"deps.{name}" for name in rows.FILES)}
    ),
    *(
        Row(f"spec.deps.{name}", how=partial(rows.local_files, (*rows.CONF, TYPED_PROPERTIES["deps", name])))
        for name in rows.FILES
    ),
    Row("spec.dynamicAllocation.shuffleTrackingTimeout", how=rows.tracking_timeout),
    Row("spec.eventLog", how=rows.event_log),
    Row("spec.image", how=partial(to_property, "spark.kubernetes.container.image")),
    Row("spec.imagePullPolicy", how=partial(to_property, "spark.kubernetes.container.image.pullPolicy")),
    Row("spec.imagePullSecrets", how=partial(to_property, "spark.kubernetes.container.image.pullSecrets")),
    Row("spec.hadoopConfigMap", how=partial(to_property, "spark.kubernetes.hadoop.configMapName")),
    *rows.KERBEROS_ROWS,
    *(row for role in ROLES for row in _role_rows(role)),
    Row(
        "spec.driver.serviceAccount",
        how=partial(rows.account, (*rows.CONF, "spark.kubernetes.authenticate.driver.serviceAccountName")),
    ),
    Row(
        "spec.executor.serviceAccount",
        how=partial(to_property, "spark.kubernetes.authenticate.executor.serviceAccountName"),
    ),
    Row("spec.volumes", how=volumes),
    Row(
        "spec.sparkConfFiles",
        reason="Spark reads such files on the submitting machine",
        step="put them into a folder, and set SPARK_CONF_DIR to it where you submit",
    ),
    Row("spec.batchScheduler", reason=_NO_GANGS, step="follow the scheduler's page for Spark"),
    Row("spec.batchSchedulerOptions", reason=_NO_GANGS, step="follow the scheduler's page for Spark"),
    *(
        Row(f"spec.sparkUIOptions.{name}", reason="Spark makes no Service for its UI", step="write one")
        for name in ("serviceType", "servicePort", "serviceAnnotations", "serviceLabels")
    ),
    Row(
        "spec.monitoring",
        reason="Spark reads metrics.properties of the image",
        step="set the same as properties `spark.metrics.conf.`",
    ),
    Row(
        "spec.podDisruptionBudget",
        reason="Spark makes no PodDisruptionBudget",
        step="write one that selects the driver's pod",
    ),
    Row("spec.activeDeadlineSeconds", how=partial(to_pod, (PODS, "driver", "spec", "activeDeadlineSeconds"))),
    *rows.OWN_ROWS,
)


def complete(draft: Draft) -> None:
    """Add what Spark does otherwise by default, and name an account for the driver."""
    rows.label_pods(draft, lambda role, key: (*rows.CONF, f"spark.kubernetes.{role}.label.{key}"))
    conf = draft.get(*rows.CONF) or {}
    if "spark.kubernetes.authenticate.driver.serviceAccountName" not in conf:
        rows.guess_account(draft, (*rows.CONF, "spark.kubernetes.authenticate.driver.serviceAccountName"))
    rows.authenticate(draft)
    if "spark.executor.instances" not in conf and conf.get("spark.dynamicAllocation.enabled") != "true":
        reason = "sparkgen's default; Spark's is 2"
        draft.add(Outcome.ADDED, (*rows.CONF, "spark.executor.instances"), "1", reason)
