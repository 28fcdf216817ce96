"""Objects of an application as an API server gives them, less what nobody reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sparkgen.cluster import ALL_NAMESPACES, ClusterError, Unreadable
from sparkgen.cluster.shapes import completed
from sparkgen.objects import Object

NAMESPACE = "analytics"
BORN = "2026-11-22T01:00:00Z"
STARTED = "2026-11-22T01:00:20Z"
ENDED = "2026-11-22T01:10:00Z"


def job(name: str = "pi-1a2b3c4d", application: str = "pi", born: str = BORN, **more: Any) -> Object:
    """A Job. `run`: another run label than its name; `ended`: Complete or Failed, with `reason`."""
    run = more.pop("run", name)
    ended, reason, spec = more.pop("ended", ""), more.pop("reason", ""), more.pop("spec", {})
    made: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"uid-{name}",
            "creationTimestamp": born,
            "labels": {"sparkgen.dev/application": application, "sparkgen.dev/run": run},
            **more,
        },
        "spec": spec,
        "status": {"startTime": born},
    }
    if ended:
        condition = {"type": ended, "status": "True", "lastTransitionTime": ENDED, "reason": reason}
        made["status"]["conditions"] = [condition]
    return made


def session(name: str = "pi-session-0a1b2", application: str = "pi", born: str = BORN, **more: Any) -> Object:
    """The Job of a session, whose driver is outside of the cluster."""
    made = job(name, application, born, **more)
    component = {"app.kubernetes.io/component": "session"}
    made["metadata"]["labels"] |= {**component, "sparkgen.dev/requested": "true"}
    made["spec"] |= {"template": {"metadata": {"labels": component}}}
    return made


def allocator_pod(of: Object, state: Object, **more: Any) -> Object:
    """The pod of a session. `state`: of the allocator."""
    status = {"name": "allocator", "state": state, **more}
    return driver(of, containerStatuses=[status])


def _metadata(name: str, labels: Mapping[str, str]) -> Object:
    names = {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}"}
    return {**names, "labels": dict(labels), "creationTimestamp": BORN}


def history_job(application: str = "pi") -> Object:
    """The Job that removes ended runs."""
    made = job(f"{application}-history-99999999", application)
    del made["metadata"]["labels"]["sparkgen.dev/run"]
    return made


def cron_job(application: str = "nightly", run: str = "nightly-1a2b3c4d", **spec: Any) -> Object:
    """A CronJob."""
    labels = {"sparkgen.dev/application": application}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {
            "name": application,
            "namespace": NAMESPACE,
            "uid": f"uid-{application}",
            "labels": labels,
            "creationTimestamp": BORN,
        },
        "spec": {
            "schedule": "0 3 * * *",
            "jobTemplate": {"metadata": {"labels": {**labels, "sparkgen.dev/run": run}}},
            **spec,
        },
    }


def deployment(application: str = "stream", run: str = "stream-1a2b3c4d", replicas: int = 1) -> Object:
    """A Deployment."""
    labels = {"sparkgen.dev/application": application}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": application,
            "namespace": NAMESPACE,
            "uid": f"uid-{application}",
            "labels": labels,
            "creationTimestamp": BORN,
        },
        "spec": {
            "replicas": replicas,
            "template": {"metadata": {"labels": {**labels, "sparkgen.dev/run": run}}},
        },
    }


def connect_server(application: str = "team-a", run: str = "team-a-1a2b3c4d") -> Object:
    """The Deployment of a Connect server that asks for a token."""
    made = deployment(application, run)
    secret = {"secretKeyRef": {"name": "team-a-connect", "key": "the.token"}}
    made["spec"]["template"]["spec"] = {
        "containers": [
            {
                "name": "spark-kubernetes-driver",
                "ports": [{"name": "ui", "containerPort": 4040}, {"name": "connect", "containerPort": 15002}],
                "env": [{"name": "SPARK_CONNECT_AUTHENTICATE_TOKEN", "valueFrom": secret}],
            }
        ]
    }
    return made


def notebook(application: str = "ada", run: str = "ada-1a2b3c4d") -> Object:
    """The Deployment of a notebook."""
    made = deployment(application, run)
    items = [{"key": "the.token", "path": "token"}]
    made["spec"]["template"]["spec"] = {
        "containers": [
            {
                "name": "spark-kubernetes-driver",
                "ports": [{"name": "ui", "containerPort": 4040}, {"name": "notebook", "containerPort": 8888}],
            }
        ],
        "volumes": [{"name": "sparkgen-notebook", "secret": {"secretName": "ada-notebook", "items": items}}],
    }
    return made


def connect_driver(name: str = "team-a-x7k2p", *, ready: bool = True, **more: Any) -> Object:
    """The driver's pod of a Connect server, which runs."""
    status = {"name": "spark-kubernetes-driver", "state": runs(), "ready": ready, **more}
    return driver(connect_server(), name, containerStatuses=[status])


def driver(
    owner: Object, name: str = "", born: str = BORN, state: Object | None = None, **status: Any
) -> Object:
    """A driver's pod of a Job or a Deployment. `state`: of the Spark container; none yet without it."""
    labels = owner["metadata"]["labels"]
    template = owner["spec"].get("template", {}).get("metadata", {}).get("labels", {})
    name = name or f"{owner['metadata']['name']}-x7k2p"
    kind = "Job" if owner["kind"] == "Job" else "ReplicaSet"
    uid = owner["metadata"]["uid"] if kind == "Job" else f"uid-rs-{owner['metadata']['name']}"
    statuses = status.pop("containerStatuses", None)
    if statuses is None:
        statuses = [] if state is None else [{"name": "spark-kubernetes-driver", "state": state}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"uid-{name}",
            "creationTimestamp": born,
            "labels": {**labels, **template, "spark-role": "driver"},
            "ownerReferences": [
                {"kind": kind, "name": f"{owner['metadata']['name']}-7f9c", "uid": uid, "controller": True}
            ],
        },
        "spec": {
            "containers": [
                {"name": "spark-kubernetes-driver", "resources": {"limits": {"memory": "1408Mi"}}}
            ],
        },
        "status": {"phase": "Pending", "containerStatuses": statuses, **status},
    }


def runs(started: str = STARTED) -> Object:
    """The state of a container that runs."""
    return {"running": {"startedAt": started}}


def ends(code: int = 0, reason: str = "Error", **more: Any) -> Object:
    """The state of a container that has ended."""
    return {"terminated": {"exitCode": code, "reason": reason, "finishedAt": ENDED, **more}}


def queued_executor(of: Object, id_: int) -> Object:
    """An executor's pod in a queue, which its driver's pod owns and does not control."""
    gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    made = executor(of, id_, "Pending", conditions=[gated])
    made["metadata"]["ownerReferences"][0]["controller"] = False
    return made


def executor(of: Object, id_: int, phase: str = "Running", **status: Any) -> Object:
    """An executor's pod of a driver's pod."""
    labels = {"spark-role": "executor", "spark-exec-id": str(id_), "sparkgen.dev/attempt": "7bab1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{of['metadata']['labels']['sparkgen.dev/run']}-7bab1-exec-{id_}",
            "namespace": NAMESPACE,
            "uid": f"uid-exec-{id_}",
            "creationTimestamp": BORN,
            "labels": {**of["metadata"]["labels"], **labels},
            "ownerReferences": [{"kind": "Pod", "uid": of["metadata"]["uid"], "controller": True}],
        },
        "spec": {"containers": [{"name": "spark-kubernetes-executor"}]},
        "status": {"phase": phase, **status},
    }


def _namespace(item: Mapping[str, Any]) -> str:
    return str(item["metadata"].get("namespace", NAMESPACE))


class Cluster:
    """A cluster with these objects.

    `forbidden`: kinds, or "KIND in NAMESPACE", that may not be listed; `unreadable`: those with an
    unreadable object.
    """

    def __init__(
        self, *objects: Mapping[str, Any], forbidden: Sequence[str] = (), unreadable: Sequence[str] = ()
    ) -> None:
        self.unreadable = unreadable
        self.namespace = NAMESPACE
        self.objects = objects
        self.forbidden = forbidden
        self.selectors: list[str] = []

    def list(
        self, api_version: str, kind: str, namespace: str = "", selector: str = "", **_: bool
    ) -> list[Mapping[str, Any]]:
        """What there is of a kind, in a namespace."""
        if {kind, f"{kind} in {namespace}"} & {*self.forbidden}:
            raise ClusterError(f"cannot list {kind}s in {namespace}: forbidden", 403)
        if {kind, f"{kind} in {namespace}"} & {*self.unreadable}:
            raise Unreadable(f"cannot list {kind}s in {namespace}: unreadable")
        self.selectors.append(selector)
        return [
            completed(item)
            for item in self.objects
            if item["kind"] == kind
            and (namespace == ALL_NAMESPACES or kind == "Namespace" or _namespace(item) == namespace)
        ]
