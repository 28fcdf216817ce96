"""What the cluster must do as any Kubernetes does: names, services, host ports, admission, quotas, audit."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from cluster.configs import PAUSE_IMAGE
from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS
from cluster.plan import IPV6, NODES, USED
from common.cachedir import ToolError
from sparkgen.runtime.addresses import url_host

IMAGE = f"{REPOSITORY}:{TESTED_VERSIONS[0]}"
"""An image with Python: the small one's static programs cannot look up names."""

FETCH = "import sys,urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).status)"


def pod(name: str, namespace: str, command: list[str], **rest: Any) -> dict[str, Any]:
    """A pod of one container; `rest` is more of the container."""
    container = {"name": "main", "image": IMAGE, "command": command} | rest
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
    }


@pytest.mark.families
@pytest.mark.own_cluster
def test_names_services_and_host_ports_work_between_nodes(cluster: Cluster, namespace: str) -> None:
    """A server on one node answers both nodes by pod address, service name and host port."""
    cluster.load_spark([TESTED_VERSIONS[0]])
    server = pod(
        "web",
        namespace,
        ["python3", "-m", "http.server", "8080", *(["--bind", "::"] if IPV6 in USED else [])],
        ports=[{"containerPort": 8080, "hostPort": 18080}],
    )
    server["spec"]["nodeName"] = NODES[0].name
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
    }
    clients = [pod(f"client-{node.name}", namespace, ["sleep", "600"]) for node in NODES]
    for client, node in zip(clients, NODES, strict=True):
        client["spec"]["nodeName"] = node.name
    cluster.apply(server, service, *clients)
    cluster.kubectl("wait", "-n", namespace, "--for=condition=Ready", "pod", "--all", "--timeout=60s")
    (found,) = cluster.objects("pods", namespace, "app=web")
    addresses = (
        *(f"http://{url_host(entry['ip'])}:8080" for entry in found["status"]["podIPs"]),
        "http://web",
        f"http://web.{namespace}.svc.cluster.local",
        *(f"http://{url_host(address)}:18080" for address in NODES[0].addresses),
    )
    for client in clients:
        name = client["metadata"]["name"]
        for address in addresses:
            said = fetched(cluster, namespace, name, address)
            assert said == "200", f"{name} to {address}"


def fetched(cluster: Cluster, namespace: str, pod_name: str, address: str) -> str:
    """The status of an answer, asked for from a pod; for some seconds, as a new service takes a moment."""
    deadline = time.monotonic() + 20
    command = ("exec", "-n", namespace, pod_name, "--", "python3", "-c", FETCH, address)
    while (done := cluster.try_kubectl(*command)).returncode and time.monotonic() < deadline:
        time.sleep(0.5)
    return done.stdout.strip() or done.stderr


def test_pod_security_admission_refuses(cluster: Cluster, namespace: str) -> None:
    """In a restricted namespace, a privileged pod is refused."""
    label = "pod-security.kubernetes.io/enforce=restricted"
    cluster.kubectl("label", "namespace", namespace, label)
    with pytest.raises(ToolError, match='violates PodSecurity "restricted'):
        cluster.apply(pod("bad", namespace, ["sleep", "1"], securityContext={"privileged": True}))


def test_a_quota_holds(cluster: Cluster, namespace: str) -> None:
    """With a quota of one pod, the second is refused."""
    cluster.kubectl("create", "quota", "one", "-n", namespace, "--hard=pods=1")
    cluster.apply(pod("first", namespace, ["sleep", "1"], image=PAUSE_IMAGE))
    with pytest.raises(ToolError, match="exceeded quota: one"):
        cluster.apply(pod("second", namespace, ["sleep", "1"], image=PAUSE_IMAGE))


@pytest.mark.own_cluster
def test_the_calls_of_a_service_account_are_known(cluster: Cluster, namespace: str) -> None:
    """Each call of an account is in the audit log with its answer, and only from the asked time on."""
    cluster.kubectl("create", "serviceaccount", "watched", "-n", namespace)
    token = cluster.kubectl("create", "token", "watched", "-n", namespace).strip()
    before = datetime.now(UTC)
    # Without the administrator's certificate, which would win over the token.
    done = cluster.try_kubectl(
        *("get", "secrets", "-n", namespace, f"--token={token}", "--client-certificate=", "--client-key="),
        *("--kubeconfig=/dev/null", f"--server={server(cluster)}", "--insecure-skip-tls-verify"),
    )
    assert "forbidden" in done.stderr
    calls = cluster.calls(namespace, "watched", before)
    assert ("list", "secrets", 403) in {(call.verb, call.resource, call.code) for call in calls}
    time.sleep(0.01)
    assert cluster.calls(namespace, "watched", datetime.now(UTC)) == []


def server(cluster: Cluster) -> str:
    """The API server's address."""
    path = "jsonpath={.clusters[0].cluster.server}"
    return cluster.kubectl("config", "view", "--minify", "-o", path)
