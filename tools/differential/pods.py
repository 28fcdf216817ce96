"""A watch of a namespace's pods: each as it was last, and the facts of a pod that a person sees."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Mapping
from typing import Any

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME
from gotools import gotools

Pod = Mapping[str, Any]
KEPT = (
    *("nodeSelector", "tolerations", "affinity", "schedulerName", "priorityClassName", "hostAliases"),
    *("serviceAccountName", "securityContext", "restartPolicy", "terminationGracePeriodSeconds"),
)
"""Fields of a pod that are compared as they are."""
MAIN = "spark-kubernetes-driver", "spark-kubernetes-executor"


class Watch:
    """The pods of a namespace from now on, by name; those that were deleted stay known."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._pods: dict[str, dict[str, Any]] = {}
        self._gone: set[str] = set()
        self._changed = threading.Condition()
        self._kubectl = [*network.enter(NAME), str(gotools.ensure("kubectl"))]
        self._kubectl += [f"--kubeconfig={cluster.kubeconfig}", "get", "pods", "-n", namespace]
        self._closed = False
        self._process = self._begin()
        threading.Thread(target=self._follow, daemon=True).start()

    def _begin(self) -> subprocess.Popen[str]:
        command = [*self._kubectl, "--watch", "--output-watch-events", "-o", "json"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def _follow(self) -> None:
        """Follow the pods; the API server ends each watch after half an hour or more."""
        while not self._closed:
            for line in self._process.stdout or ():
                event = json.loads(line)
                self._note(event["object"], gone=event["type"] == "DELETED")
            if not self._closed:
                self._process = self._begin()
                done = subprocess.run(
                    [*self._kubectl, "-o", "name"], capture_output=True, text=True, check=True
                )
                there = {name.partition("/")[2] for name in done.stdout.split()}
                for name in self._pods.keys() - there:
                    self._note(self._pods[name], gone=True)

    def _note(self, pod: dict[str, Any], *, gone: bool) -> None:
        name = pod["metadata"]["name"]
        with self._changed:
            self._pods[name] = pod
            if gone:
                self._gone.add(name)
            self._changed.notify_all()

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until a condition on the pods holds, for the seconds at most. Whether it held."""
        with self._changed:
            return self._changed.wait_for(condition, seconds)

    def of(self, labels: Mapping[str, str | None]) -> list[dict[str, Any]]:
        """The pods with these labels (None: without the label), in the order of their creation."""
        with self._changed:
            return [pod for pod in self._pods.values() if _has(pod, labels)]

    def is_gone(self, pod: Pod) -> bool:
        """Whether the pod was deleted."""
        return pod["metadata"]["name"] in self._gone

    def close(self) -> None:
        """Watch no more."""
        self._closed = True
        self._process.terminate()
        self._process.wait()


def _has(pod: Pod, labels: Mapping[str, str | None]) -> bool:
    own = pod["metadata"].get("labels", {})
    return all(own.get(name) == value for name, value in labels.items())


def is_ours(pod: Pod) -> bool:
    """Whether sparkgen made the pod."""
    return "sparkgen.dev/application" in pod["metadata"].get("labels", {})


def terminated(pod: Pod) -> Mapping[str, Any] | None:
    """How the Spark container of a pod ended; None while it runs."""
    for status in pod.get("status", {}).get("containerStatuses", ()):
        if status["name"] in MAIN:
            found: Mapping[str, Any] | None = status["state"].get("terminated")
            return found
    return None


def facts(pod: Pod) -> dict[str, Any]:
    """What of a pod an application may depend on."""
    spec, metadata = pod["spec"], pod["metadata"]
    (main,) = [container for container in spec["containers"] if container["name"] in MAIN]
    sources = {volume["name"]: _source(volume) for volume in spec.get("volumes", ())}
    return {
        "labels": metadata.get("labels", {}),
        "annotations": metadata.get("annotations", {}),
        "containers": [container["name"] for container in spec["containers"]],
        "initContainers": [container["name"] for container in spec.get("initContainers", ())],
        **{name: spec[name] for name in KEPT if name in spec},
        "main": {
            name: main[name]
            for name in ("imagePullPolicy", "resources", "securityContext", "lifecycle")
            if name in main
        },
        "ports": {port["name"]: port["containerPort"] for port in main.get("ports", ())},
        "mounts": {
            mount["mountPath"]: _mount(mount, sources[mount["name"]])
            for mount in main.get("volumeMounts", ())
        },
    }


def _source(volume: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in volume.items() if name != "name"}


def _mount(mount: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    more = {name: mount[name] for name in ("readOnly", "subPath") if name in mount}
    return {**more, **source}
