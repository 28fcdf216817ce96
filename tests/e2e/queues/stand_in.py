"""A stand-in for Kueue's controller and webhooks, for tests: it is not Kueue.

It does to Jobs and pods what a real Kueue was seen to do (docs/design/allocation.md, "Executors in a
queue"): it suspends Jobs and gates pods that are made in a queue, writes a Workload for each, admits as many
executors as there is room for, the oldest first, and takes back what it admitted. The API server holds its
Workloads to Kueue's published schemas. It knows nothing of flavors, cohorts and fair sharing.

Gates come from the API server itself (MutatingAdmissionPolicy). So they are there when the controller is
dead, as with another replica of Kueue's webhooks.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from deployed import wait_until

from cluster.configs import PAUSE_IMAGE
from cluster.handle import Cluster
from sparkgen import contract
from sparkgen.resources.security import POD_SECURITY, RESTRICTED

API = "kueue.x-k8s.io/v1beta2"
GATE = "kueue.x-k8s.io/admission"
PAUSE = 0.5
"""Seconds between two looks."""
WHY_WAITING = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default"

Object = Mapping[str, Any]


@dataclass
class StandIn:
    """The controller of one namespace. `room`: executors that may run; `drivers`: whether Jobs are let go.

    `only`: the name of the one Job that is let go, "" for each.
    """

    cluster: Cluster
    namespace: str
    room: int = 0
    drivers: bool = True
    only: str = ""
    order: list[str] = field(default_factory=list)
    """The executors that were admitted, in this order."""
    _stopped: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look, and to admit."""
        self._stopped.clear()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def die(self) -> None:
        """Nothing is admitted or taken back any more."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def evict(self, pod: str, reason: str = "WorkloadEvictedDueToPreempted") -> None:
        """Take an executor back, as Kueue's pod reconciler does: a condition says why, then it is deleted."""
        condition = {"type": "TerminationTarget", "status": "True", "reason": reason, "message": "Preempted"}
        self._patch("pod", pod, {"status": {"conditions": [condition]}}, "--subresource=status")
        self.cluster.kubectl("delete", "pod", pod, "-n", self.namespace, "--wait=false")

    def preempt_driver(self, job: str) -> None:
        """Take the driver back: its Job is suspended, and not let go again before `drivers` is set."""
        self.drivers = False
        self._patch("job", job, {"spec": {"suspend": True}})

    def look(self) -> None:
        """One round: a Workload for each Job and pod in a queue, and what there is room for is let go."""
        items = self.cluster.objects("jobs,pods", self.namespace, contract.LABEL_QUEUE)
        known = {
            owner["uid"]: workload
            for workload in self.cluster.objects("workloads.kueue.x-k8s.io", self.namespace)
            for owner in workload["metadata"].get("ownerReferences") or ()
        }
        for item in items:
            if item["metadata"]["uid"] not in known:
                self._note(item)
        if self.drivers:
            for job in filter(_waits, items):
                if self.only in ("", job["metadata"]["name"]):
                    self._admitted(job)
                    self._patch("job", job["metadata"]["name"], {"spec": {"suspend": False}})
        self._let_go([item for item in items if item["kind"] == "Pod"])

    def _let_go(self, pods: list[Object]) -> None:
        running = [
            pod for pod in pods if not _gated(pod) and pod["status"]["phase"] in ("Pending", "Running")
        ]
        for pod in sorted(filter(_gated, pods), key=_age)[: max(self.room - len(running), 0)]:
            self._admitted(pod)
            self._patch("pod", pod["metadata"]["name"], {"spec": {"schedulingGates": None}})
            self.order.append(pod["metadata"]["name"])

    def _run(self) -> None:
        while not self._stopped.wait(PAUSE):
            self.look()

    def _note(self, item: Object) -> None:
        """Make the Workload of a Job or a pod, which waits."""
        metadata, labels = item["metadata"], item["metadata"]["labels"]
        template = {"spec": item["spec"]["template"]["spec"] if item["kind"] == "Job" else item["spec"]}
        spec = {
            "queueName": labels[contract.LABEL_QUEUE],
            "podSets": [{"name": "main", "count": 1, "template": template}],
        }
        owner = {"apiVersion": item["apiVersion"], "kind": item["kind"], "name": metadata["name"]}
        name = _workload(item)
        about = {"name": name, "namespace": self.namespace}
        about["ownerReferences"] = [{**owner, "uid": metadata["uid"], "controller": True}]
        self.cluster.apply({"apiVersion": API, "kind": "Workload", "metadata": about, "spec": spec})
        self._say(name, "False", "Pending", WHY_WAITING)

    def _admitted(self, item: Object) -> None:
        self._say(_workload(item), "True", "QuotaReserved", "Quota reserved in ClusterQueue standin")

    def _say(self, workload: str, status: str, reason: str, message: str) -> None:
        condition = {
            "type": "QuotaReserved",
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        # By its whole name: Kubernetes has Workloads of its own.
        kind, change = "workloads.kueue.x-k8s.io", {"status": {"conditions": [condition]}}
        self._patch(kind, workload, change, "--subresource=status", merge=True)

    def _patch(self, kind: str, name: str, change: Object, *options: str, merge: bool = False) -> None:
        """Change an object; one that is gone meanwhile is left alone."""
        how = "merge" if merge else "strategic"
        words = (
            "patch",
            kind,
            name,
            "-n",
            self.namespace,
            f"--type={how}",
            *options,
            "-p",
            json.dumps(change),
        )
        self.cluster.try_kubectl(*words)


@contextmanager
def webhooks(cluster: Cluster, namespace: str) -> Iterator[None]:
    """What is made in a queue of this namespace is gated or suspended, until the block ends."""
    pods = (
        'object.metadata.?labels["kueue.x-k8s.io/managed"].orValue("") == "true"',
        f'Object{{spec: Object.spec{{schedulingGates: [Object.spec.schedulingGates{{name: "{GATE}"}}]}}}}',
    )
    jobs = (
        'object.metadata.?labels["kueue.x-k8s.io/queue-name"].hasValue()',
        "Object{spec: Object.spec{suspend: true}}",
    )
    names = []
    for kind, group, (condition, change) in (("pods", "", pods), ("jobs", "batch", jobs)):
        name = f"{namespace}-{kind}"
        rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [kind]}
        cluster.apply(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "MutatingAdmissionPolicy",
                "metadata": {"name": name},
                "spec": {
                    "reinvocationPolicy": "Never",
                    "failurePolicy": "Fail",
                    "matchConstraints": {"resourceRules": [rule]},
                    "matchConditions": [{"name": "in-a-queue", "expression": condition}],
                    "mutations": [
                        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": change}}
                    ],
                },
            },
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "MutatingAdmissionPolicyBinding",
                "metadata": {"name": name},
                "spec": {
                    "policyName": name,
                    "matchResources": {
                        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
                    },
                },
            },
        )
        names.append(name)
    _wait_for_gates(cluster, namespace)
    try:
        yield
    finally:
        kinds = "mutatingadmissionpolicybinding,mutatingadmissionpolicy"
        cluster.kubectl("delete", kinds, *names)


def _wait_for_gates(cluster: Cluster, namespace: str) -> None:
    """Until the API server holds to the policies: it reads them some time after they were made."""
    labels = {contract.LABEL_QUEUE: "trial", contract.LABEL_QUEUE_MANAGED: "true"}
    metadata = {"name": "trial", "namespace": namespace, "labels": labels}
    container = {"name": "main", "image": PAUSE_IMAGE, "securityContext": RESTRICTED}
    spec = {"restartPolicy": "Never", "securityContext": POD_SECURITY, "containers": [container]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"template": {"spec": spec}},
    }
    trial = ("create", "--dry-run=server", "-o", "json", "-f", "-")

    def held() -> bool:
        made = [json.loads(cluster.kubectl(*trial, input_text=json.dumps(item))) for item in (pod, job)]
        return _gated(made[0]) and bool(made[1]["spec"].get("suspend"))

    wait_until(held, 60, "the API server gates what is made in a queue")


def _workload(item: Object) -> str:
    return f"{item['kind'].lower()}-{item['metadata']['name']}"


def _waits(item: Object) -> bool:
    """Whether it is a Job that is suspended, and has not ended."""
    ended = {one["type"] for one in item.get("status", {}).get("conditions") or ()} & {"Complete", "Failed"}
    return item["kind"] == "Job" and bool(item["spec"].get("suspend")) and not ended


def _gated(pod: Object) -> bool:
    return any(gate["name"] == GATE for gate in pod["spec"].get("schedulingGates") or ())


def _age(pod: Object) -> tuple[str, int]:
    labels = pod["metadata"]["labels"]
    return str(pod["metadata"]["creationTimestamp"]), int(labels[contract.LABEL_EXECUTOR_ID])
