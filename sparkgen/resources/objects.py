"""The Kubernetes objects of an application: the values for object_layers.py."""

from __future__ import annotations

from functools import partial
from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application
from sparkgen.objects import Object
from sparkgen.resources import batch, conf, exposure
from sparkgen.resources.delivery import mounted
from sparkgen.resources.driver import driver_pod
from sparkgen.resources.executor import executor_pod
from sparkgen.resources.fill import fill
from sparkgen.resources.history import history_values
from sparkgen.resources.object_layers import OBJECT_LAYERS
from sparkgen.resources.shuffle import host_ports


def application_values(
    application: Application, run: str, files: dict[str, dict[str, str]]
) -> dict[str, Any]:
    """The values for the layer of all objects; `files` are those of the run's ConfigMaps."""
    made = workload(application, run)
    labels, annotations = _labels(application), application.annotations
    account, policy = application.account, application.network_policy or {}
    shuffle = application.shuffle
    on_node = shuffle is not None and shuffle.on_node
    return {
        **_values(application, run),
        "account": account.name,
        "createAccount": account.create,
        "accountAnnotations": {**annotations, **account.annotations},
        "rbac": account.rbac,
        "janitor": account.rbac and on_node,
        "registryGc": account.rbac and application.staging is not None,
        "staging": application.staging,
        "shuffle": {"name": shuffle.name, "namespace": shuffle.namespace} if shuffle else None,
        "files": files,
        "mounted": mounted(application),
        "tuning": conf.tuning_files(application),
        "policy": application.network_policy is not None,
        "peers": policy.get("ingressFrom"),
        "connectPeers": (application.connect or {}).get("ingressFrom"),
        "connectShared": application.connect is not None and "ingressFrom" not in application.connect,
        "hostPorts": host_ports(shuffle) if shuffle and on_node else [],
        "budget": _budget(application),
        "ui": exposure.values(application.ui, labels, annotations, contract.UI_PORT)
        if exposure.shows_pages(application.properties)
        else None,
        "connect": None
        if application.connect is None
        else exposure.values(application.connect, labels, annotations, contract.CONNECT_PORT),
        "notebook": None
        if application.notebook is None
        else exposure.values(application.notebook.exposed, labels, annotations, contract.NOTEBOOK_PORT),
        "workload": made,
        "podGroup": batch.pod_group(
            application, partial(driver_pod, application, run), partial(executor_pod, application, run)
        ),
        "makesPodGroups": batch.makes_pod_groups(application),
        "replaces": application.concurrency_policy == "Replace",
        **history_values(application, run, made["kind"], labels),
    }


def workload(application: Application, run: str) -> Object:
    """The object that runs the driver: a CronJob, a Deployment or a Job."""
    schedule, general, queued = application.schedule, _values(application, run), _queue_labels(application)
    values = {
        **general,
        "jobLabels": {**general["runLabels"], **queued},
        "deploymentLabels": {**general["labels"], **queued},
        "pod": driver_pod(application, run),
        "retries": application.retries,
        "deadline": application.deadline_seconds,
        "timeToLive": application.ttl_seconds,
        "suspended": True if application.suspend else None,
        "replicas": 0 if application.suspend else 1,
        "schedule": schedule,
    }
    kind = "cron_job" if schedule else "deployment" if application.restart == "Always" else "job"
    return fill(OBJECT_LAYERS[kind], values)


def _queue_labels(application: Application) -> dict[str, str]:
    """Labels for the workload of the driver, not for its pod: Kueue admits the workload as a whole."""
    found = application.batch
    if found is None or found.name != "kueue":
        return {}
    priority = {contract.LABEL_QUEUE_PRIORITY: found.priority} if found.priority else {}
    return {contract.LABEL_QUEUE: str(found.queue), **priority}


def _values(application: Application, run: str) -> dict[str, Any]:
    labels = _labels(application)
    return {
        "name": application.name,
        "byAllocator": not application.by_spark,
        "bySpark": application.by_spark,
        "concurrency": application.concurrency_policy,
        "namespace": application.namespace,
        "run": run,
        "labels": labels,
        "runLabels": {**labels, contract.LABEL_RUN: run},
        "annotations": application.annotations,
    }


def _labels(application: Application) -> dict[str, str]:
    """The labels of all objects; sparkgen's own win."""
    return {
        **application.labels,
        contract.LABEL_NAME: application.name,
        contract.LABEL_MANAGED_BY: "sparkgen",
        contract.LABEL_APPLICATION: application.name,
    }


def _budget(application: Application) -> dict[str, Any] | None:
    """The driver's disruption budget: for pods of a Job, only `minAvailable` as a whole number is allowed."""
    given = application.disruption_budget
    if given is None:
        return None
    return {**({} if "maxUnavailable" in given else {"minAvailable": 1}), **given}
