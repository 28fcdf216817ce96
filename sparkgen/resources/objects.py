"""The Kubernetes objects of an application, one small function each, all of the same form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sparkgen import contract
from sparkgen.model.application import Application
from sparkgen.objects import Object
from sparkgen.resources import conf
from sparkgen.resources.driver import driver_pod
from sparkgen.resources.exposure import exposures
from sparkgen.resources.fill import fill
from sparkgen.resources.object_layers import OBJECT_LAYERS
from sparkgen.resources.pod import picked
from sparkgen.resources.shuffle import host_ports

ALLOCATOR_RULES: tuple[Object, ...] = (
    # Executors: created, followed, removed.
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "delete", "get", "list", "watch"]},
    # One RPC secret per attempt. Never read back: the value stays in memory.
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
    # What a user must know, on the driver's pod.
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
)
"""All that the allocator may do, in one namespace."""


def metadata_of(application: Application, name: str, run: str | None = None) -> Object:
    """Name, namespace, labels and annotations of an object; `run`: for one that belongs to a run."""
    labels = {
        **application.labels,
        contract.LABEL_NAME: application.name,
        contract.LABEL_MANAGED_BY: "sparkgen",
        contract.LABEL_APPLICATION: application.name,
    }
    if run is not None:
        labels[contract.LABEL_RUN] = run
    found: Object = {"name": name, "namespace": application.namespace, "labels": labels}
    if application.annotations:
        found["annotations"] = dict(application.annotations)
    return found


def service_account(application: Application) -> Object | None:
    """The account of driver and executors. No pod gets its token unless it asks."""
    account = application.account
    if not account.create:
        return None
    metadata = metadata_of(application, account.name)
    if account.annotations:
        metadata["annotations"] = {**metadata.get("annotations", {}), **account.annotations}
    return fill(OBJECT_LAYERS["service_account"], {"metadata": metadata})


def rights(application: Application) -> tuple[Object, ...]:
    """The allocator's rights, in the application's namespace alone, given to the application's account."""
    account = application.account
    if not account.rbac:
        return ()
    metadata = metadata_of(application, application.name)
    return granted(metadata, ALLOCATOR_RULES, account.name, application.namespace)


def granted(metadata: Object, rules: Sequence[Object], account: str, namespace: str) -> tuple[Object, Object]:
    """A Role, and the RoleBinding that gives it to an account, which may be in another namespace."""
    values = {"metadata": metadata, "rules": list(rules), "account": account, "namespace": namespace}
    return fill(OBJECT_LAYERS["role"], values), fill(OBJECT_LAYERS["role_binding"], values)


def run_config_map(application: Application, run: str, suffix: str, data: Mapping[str, str]) -> Object:
    """A ConfigMap of one run: immutable, so that nothing changes under a running driver."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata_of(application, f"{run}-{suffix}", run),
        "immutable": True,
        "data": dict(data),
    }


def tuning_config_map(application: Application) -> Object:
    """The ConfigMap that may change while the application runs."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata_of(application, f"{application.name}-tuning"),
        "data": conf.tuning_files(application),
    }


def ui_service(application: Application, run: str) -> Object:
    """The Spark UI of the current run's driver. It selects nothing else."""
    options = application.ui
    metadata = metadata_of(application, f"{application.name}-ui")
    metadata["labels"] = {**(options.get("serviceLabels") or {}), **metadata["labels"]}
    if options.get("serviceAnnotations"):
        metadata["annotations"] = {**metadata.get("annotations", {}), **options["serviceAnnotations"]}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "type": options.get("serviceType", "ClusterIP"),
            "selector": {contract.LABEL_RUN: run, contract.LABEL_ROLE: "driver"},
            "ports": [
                {
                    "name": "spark-ui",
                    "port": options.get("servicePort", contract.UI_PORT),
                    "targetPort": "spark-ui",
                }
            ],
        },
    }


def ui_objects(application: Application, run: str) -> list[Object]:
    """The Service of the Spark UI, and what leads there from outside."""
    service = ui_service(application, run)
    name = service["metadata"]["name"]
    return [service, *exposures(application.ui, lambda: metadata_of(application, name), service)]


def network_policy(application: Application) -> Object | None:
    """Who may reach the pods: the application's own everywhere, the named peers the UI and the metrics."""
    if application.network_policy is None:
        return None
    own = {"matchLabels": {contract.LABEL_APPLICATION: application.name}}
    ingress: list[Object] = [{"from": [{"podSelector": own}]}]
    peers = application.network_policy.get("ingressFrom")
    if peers:
        ports = [{"protocol": "TCP", "port": port} for port in (contract.UI_PORT, contract.ALLOCATOR_PORT)]
        ingress.append({"from": list(peers), "ports": ports})
    if application.shuffle is not None and application.shuffle.on_node:
        # What comes in by a port of the node may have the node's address.
        first, last = host_ports(application.shuffle)
        ingress.append({"ports": [{"protocol": "TCP", "port": first, "endPort": last}]})
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata_of(application, application.name),
        "spec": {"podSelector": own, "policyTypes": ["Ingress"], "ingress": ingress},
    }


def disruption_budget(application: Application) -> Object | None:
    """Keeps a drain from evicting the driver. Pods of a Job take a whole number in `minAvailable` only."""
    given = application.disruption_budget
    if given is None:
        return None
    spec = picked(given, "minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy")
    if "minAvailable" not in spec and "maxUnavailable" not in spec:
        spec["minAvailable"] = 1
    selector = {contract.LABEL_APPLICATION: application.name, contract.LABEL_ROLE: "driver"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata_of(application, f"{application.name}-driver"),
        "spec": {**spec, "selector": {"matchLabels": selector}},
    }


def job_spec(application: Application, run: str) -> Object:
    """A driver that runs once: no retry unless asked, and never a second driver beside a lost one."""
    spec: Object = {"backoffLimit": application.retries, "podReplacementPolicy": "Failed"}
    if application.retries:
        # A drained or preempted driver is no failure of the application, and is not counted as one.
        spec["podFailurePolicy"] = {
            "rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
            ]
        }
    if application.deadline_seconds is not None:
        spec["activeDeadlineSeconds"] = application.deadline_seconds
    if application.ttl_seconds is not None:
        spec["ttlSecondsAfterFinished"] = application.ttl_seconds
    if application.suspend:
        spec["suspend"] = True
    return {**spec, "template": driver_pod(application, run)}


def job(application: Application, run: str) -> Object:
    """The driver of an application that runs once per run."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata_of(application, run, run),
        "spec": job_spec(application, run),
    }


def cron_job(application: Application, run: str) -> Object:
    """The driver of a scheduled application: one object, whose firings read the newest run's files."""
    schedule = application.schedule
    if schedule is None:
        raise ValueError("a CronJob needs a schedule")
    optional = {
        "timeZone": schedule.time_zone,
        "startingDeadlineSeconds": schedule.starting_deadline_seconds,
        "successfulJobsHistoryLimit": schedule.successful_history,
        "failedJobsHistoryLimit": schedule.failed_history,
    }
    metadata = metadata_of(application, application.name)
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": metadata,
        "spec": {
            "schedule": schedule.cron,
            **{name: value for name, value in optional.items() if value is not None},
            "concurrencyPolicy": schedule.concurrency_policy,
            "suspend": schedule.suspend,
            "jobTemplate": {
                "metadata": {"labels": {**metadata["labels"], contract.LABEL_RUN: run}},
                "spec": job_spec(application, run),
            },
        },
    }


def deployment(application: Application, run: str) -> Object:
    """The driver of an application that never ends. One name, so that a change replaces, never doubles."""
    selector = {contract.LABEL_APPLICATION: application.name, contract.LABEL_ROLE: "driver"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata_of(application, application.name),
        "spec": {
            "replicas": 0 if application.suspend else 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": selector},
            "template": driver_pod(application, run),
        },
    }


def workload(application: Application, run: str) -> Object:
    """What runs the driver: a CronJob, a Deployment or a Job."""
    if application.schedule is not None:
        return cron_job(application, run)
    if application.restart == "Always":
        return deployment(application, run)
    return job(application, run)
