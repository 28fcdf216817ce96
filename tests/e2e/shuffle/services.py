"""Shuffle services of these tests, and applications that use them."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import deployed
from deployed import Deployed, wait_until

from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS
from cluster.plan import NODES

SECRET = "shuffle-secret"  # noqa: S105 - a name
PORTS = dict(zip(reversed(TESTED_VERSIONS), (7337, 7347), strict=True))
HOST_PORT = 7367
"""Of a service in the nodes' own network, beside the others."""
SECOND_PORT = 7377
"""Of a second service of a version."""

APART = {
    "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 100,
                "podAffinityTerm": {
                    "labelSelector": {"matchLabels": {"spark-role": "executor"}},
                    "topologyKey": "kubernetes.io/hostname",
                },
            }
        ]
    }
}
"""The affinity of two executors that are on two nodes."""
SLOWLY = ("4", "3")
"""Map tasks, and the seconds of each: who comes later has some, too, and both nodes have files."""


@dataclass(frozen=True)
class Service:
    """A shuffle service on the cluster."""

    cluster: Cluster
    namespace: str
    name: str
    version: str
    directory: str
    port: int
    host_network: bool = False
    secret_name: str = SECRET

    def section(self) -> dict[str, Any]:
        """What a document says to use it: `spec.shuffleService`."""
        return {
            "mode": "daemonset",
            "name": self.name,
            "namespace": self.namespace,
            "port": self.port,
            "directories": [self.directory],
            "secretName": self.secret_name,
            "hostNetwork": self.host_network,
        }

    def pods(self) -> list[dict[str, Any]]:
        """Its pods, one per node."""
        return self.cluster.objects("pods", self.namespace, f"sparkgen.dev/shuffle-service={self.name}")

    def nodes(self) -> int:
        """On how many nodes it is to be."""
        if self.cluster.own:
            return len(NODES)
        (found,) = self.cluster.objects(
            "daemonsets", self.namespace, f"sparkgen.dev/shuffle-service={self.name}"
        )
        return int(found["status"].get("desiredNumberScheduled", 0))

    def is_ready(self) -> bool:
        """Whether the service answers on all of its nodes, and nothing is left of a pod before."""
        pods = self.pods()
        ready = [pod for pod in pods if _is_ready(pod) and not deployed.leaving(pod)]
        return len(pods) == len(ready) == self.nodes() > 0

    def wait(self) -> None:
        """Wait until it is ready."""
        wait_until(self.is_ready, 600, f"the shuffle service of {self.version} is ready", self.story)

    def on(self, node: str) -> dict[str, Any]:
        """Its pod on a node."""
        (pod,) = [pod for pod in self.pods() if pod["spec"]["nodeName"] == node]
        return pod

    def run(self, node: str, *command: str) -> str:
        """What a command prints in the service's container on a node."""
        name = self.on(node)["metadata"]["name"]
        return self.cluster.kubectl(
            "exec", "-n", self.namespace, name, "-c", "shuffle-service", "--", *command
        )

    def folders(self, namespace: str) -> set[str]:
        """The sub-directories of a namespace's applications that there are, on all nodes together.

        Those of another test may stay: its namespace goes, and the janitor's right to look there with it.
        """
        nodes = [pod["spec"]["nodeName"] for pod in self.pods()]
        found = {name for node in nodes for name in self.run(node, "ls", "-A", self.directory).split()}
        return {name for name in found if name.removeprefix(".trash-").startswith(f"{namespace}_")}

    def story(self) -> str:
        """All that helps to understand a failure."""
        parts = [self.cluster.kubectl("get", "pods", "-n", self.namespace, "-o", "wide")]
        for pod in self.pods():
            for container in ("prepare", "shuffle-service", "janitor"):
                arguments = ("logs", "-n", self.namespace, pod["metadata"]["name"], "-c", container)
                log = self.cluster.try_kubectl(*arguments, "--tail=40")
                parts.append(f"--- {pod['metadata']['name']} {container}\n{log.stdout}{log.stderr}")
        return "\n".join(parts)


def _is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def start(
    cluster: Cluster,
    namespace: str,
    version: str,
    *,
    name: str = "shuffle",
    install: Callable[[dict[str, Any]], None] | None = None,
    **spec: Any,
) -> Service:
    """Have a service that is ready on its nodes. `install` is given its document, in place of kubectl."""
    line = version.split(".")[0]
    directory = f"/var/lib/sparkgen/shuffle/{namespace}-{name}-{line}"
    document = {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkShuffleService",
        "metadata": {"name": name},
        "spec": {
            "sparkVersion": version,
            "image": f"{REPOSITORY}:{version}",
            "imagePullPolicy": "IfNotPresent",
            "secretName": SECRET,
            "port": PORTS[version],
            "directories": [directory],
            "memory": "256m",
            "resources": {"requests": {"cpu": "50m"}},
            **spec,
        },
    }
    cluster.apply(secret(namespace, document["spec"]["secretName"]))
    if install:
        install(document)
    else:
        cluster.kubectl("apply", "-f", "-", input_text=deployed.render(document, namespace))
    made = document["spec"]
    where = made["directories"][0], made["port"], made.get("hostNetwork", False), made["secretName"]
    service = Service(cluster, namespace, name, version, *where)
    service.wait()
    return service


def secret(namespace: str, name: str = SECRET) -> dict[str, Any]:
    """A service's secret, in a namespace: each name has a value of its own."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "stringData": {"secret": f"what all applications of the service of {name} know"},
    }


def application(
    name: str, version: str, service: Service | None, *arguments: str, **spec: Any
) -> dict[str, Any]:
    """An application that shuffles: executors go when they have been idle for three seconds."""
    properties = {
        "spark.dynamicAllocation.executorIdleTimeout": "3s",
        "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
        # Work is there from the beginning: who waited for the other executor would be idle, and go.
        "spark.scheduler.minRegisteredResourcesRatio": "0",
        **spec.pop("sparkConf", {}),
    }
    given = {
        "dynamicAllocation": {"enabled": True, "minExecutors": 0, "initialExecutors": 2, "maxExecutors": 2},
        "sparkConf": properties,
        **spec,
    }
    if service is not None:
        given["shuffleService"] = service.section()
    return deployed.document(name, version, "reused.py", *arguments, **given)


def deploy(cluster: Cluster, namespace: str, document: dict[str, Any]) -> Deployed:
    """Render and apply an application."""
    section = document["spec"].get("shuffleService", {})
    cluster.apply(secret(namespace, section.get("secretName", SECRET)))
    return deployed.deploy(cluster, namespace, document)


def result(run: Deployed) -> dict[str, Any]:
    """What the application told at its end; `stages`: each of them, in the order of their numbers."""
    told = read_result(run.logs().splitlines())
    assert told, run.story()
    return told


def read_result(lines: Sequence[str]) -> dict[str, Any]:
    """What the lines of reused.py tell, as `result` gives it; {} when it has not come to its end."""
    told, stages = (
        [json.loads(line.removeprefix(word)) for line in lines if line.startswith(word)]
        for word in ("result: ", "stage: ")
    )
    if not told:
        return {}
    return {**told[-1], "stages": sorted(stages, key=lambda stage: (stage["stageId"], stage["attemptId"]))}


def again(told: dict[str, Any]) -> int:
    """How many stages were run more than once."""
    return sum(1 for stage in told["stages"] if stage["attemptId"] > 0)


def churn(run: Deployed, seconds: float, choose: random.Random, *, every: float = 4.0) -> int:
    """Delete a random executor every few seconds for a while; how many were deleted."""
    end, deleted = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        time.sleep(every)
        there = run.executors("Running")
        if there:
            name = choose.choice(there)["metadata"]["name"]
            options = ("--grace-period=1", "--wait=false", "--ignore-not-found")  # it may have gone by itself
            deleted += bool(run.cluster.kubectl("delete", "pod", "-n", run.namespace, name, *options))
    return deleted


def wait_for_line(run: Deployed, text: str, seconds: float = 180) -> None:
    """Wait until the driver has printed a line that begins so."""

    def printed() -> bool:
        return any(line.startswith(text) for line in run.logs().splitlines()) if run.has_driver() else False

    wait_until(printed, seconds, f"the driver prints {text!r}", run.story)
