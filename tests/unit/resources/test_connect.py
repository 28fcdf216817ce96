"""A Connect server: the objects of an application, and what leads clients to Spark's own server."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen.model import describe
from sparkgen.resources import render, run_of
from tests.unit.semantics.documents import CONNECT, merged


def document(**spec: Any) -> dict[str, Any]:
    """The least Connect server, with these fields."""
    value: dict[str, Any] = merged(CONNECT, {"spec": spec})
    return value


def found(**spec: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Its objects by kind and name."""
    made = render(describe(document(**spec)))
    return {(item["kind"], item["metadata"]["name"]): item for item in made}


def properties(**spec: Any) -> dict[str, str]:
    """The driver's properties."""
    (conf,) = [item for (_, name), item in found(**spec).items() if name.endswith("-conf")]
    lines = conf["data"]["spark-defaults.conf"].splitlines()
    return dict(line.split(" ", 1) for line in lines)


def spark(**spec: Any) -> dict[str, Any]:
    """The driver's Spark container."""
    pod = found(**spec)["Deployment", "team-a"]["spec"]["template"]["spec"]
    container: dict[str, Any] = pod["containers"][0]
    return container


def test_the_driver_is_sparks_own_server() -> None:
    """One of it, in the cluster, with the class that start-connect-server.sh starts."""
    deployment = found()["Deployment", "team-a"]["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    assert spark()["args"][-3:] == [
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
        "spark-internal",
    ]


def test_executors_come_with_work_unless_a_number_is_fixed() -> None:
    """Dynamic allocation from none on; FAIR, so that sessions share what there is."""
    dynamic = properties()
    assert dynamic["spark.dynamicAllocation.enabled"] == "true"
    assert dynamic["spark.scheduler.mode"] == "FAIR"
    fixed = properties(dynamicAllocation={"enabled": False}, executor={"instances": 3})
    assert fixed.get("spark.dynamicAllocation.enabled", "false") == "false"
    assert properties(sparkConf={"spark.scheduler.mode": "FIFO"})["spark.scheduler.mode"] == "FIFO"


def test_the_port_is_the_services_whatever_the_document_says() -> None:
    """Service, probes and server mean one port."""
    moved = {"spark.connect.grpc.binding.port": "443"}
    assert properties(sparkConf=moved)["spark.connect.grpc.binding.port"] == "15002"
    (port,) = found(connect={"servicePort": 443})["Service", "team-a-connect"]["spec"]["ports"]
    assert port == {"name": "connect", "port": 443, "targetPort": "connect", "appProtocol": "grpc"}
    assert {"name": "connect", "containerPort": 15002} in spark()["ports"]


def test_the_token_is_in_the_drivers_environment_alone() -> None:
    """By reference: no manifest has it, and no argument or property."""
    objects = found(connect={"token": {"name": "team-a-connect", "key": "token"}})
    pod = objects["Deployment", "team-a"]["spec"]["template"]["spec"]
    reference = {"secretKeyRef": {"name": "team-a-connect", "key": "token"}}
    token = {"name": "SPARK_CONNECT_AUTHENTICATE_TOKEN", "valueFrom": reference}
    holders = [
        container["name"]
        for container in (*pod["initContainers"], *pod["containers"])
        if token in container.get("env", [])
    ]
    assert holders == ["spark-kubernetes-driver"]
    (executor,) = [item for (_, name), item in objects.items() if name.endswith("-executor")]
    assert "TOKEN" not in executor["data"]["executor.json"]


def test_probes_ask_the_allocator_whether_the_server_serves() -> None:
    """Kubernetes' own gRPC probe asks a service that Spark's server has not."""
    for probe in ("startupProbe", "readinessProbe"):
        assert spark()[probe]["httpGet"] == {"path": "/connect", "port": 7091}
    pod = found()["Deployment", "team-a"]["spec"]["template"]["spec"]
    (allocator,) = [item for item in pod["initContainers"] if item["name"] == "allocator"]
    assert {"name": "SPARKGEN_CONNECT_PORT", "value": "15002"} in allocator["env"]


def test_named_peers_reach_the_server() -> None:
    """As they reach the UI and the metrics."""
    peer = {"podSelector": {"matchLabels": {"app": "jupyter"}}}
    policy = found(networkPolicy={"ingressFrom": [peer]})["NetworkPolicy", "team-a"]
    named = [rule for rule in policy["spec"]["ingress"] if rule["from"] == [peer]]
    assert [port["port"] for port in named[0]["ports"]] == [4040, 7091, 15002]


def test_a_route_speaks_grpc() -> None:
    """A GRPCRoute, written out as the API server completes it."""
    gateway = {"name": "internal", "namespace": "gateways"}
    route = found(connect={"route": {"parentRefs": [gateway], "host": "a.example.com"}})
    assert route["GRPCRoute", "team-a-connect"]["spec"] == {
        "parentRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", **gateway}],
        "hostnames": ["a.example.com"],
        "rules": [
            {
                "backendRefs": [
                    {"group": "", "kind": "Service", "name": "team-a-connect", "port": 15002, "weight": 1}
                ]
            }
        ],
    }


@pytest.mark.parametrize(
    "section",
    [{"servicePort": 443}, {"serviceType": "NodePort"}, {"serviceLabels": {"a": "b"}}],
)
def test_how_clients_come_starts_no_new_server(section: dict[str, Any]) -> None:
    """Sessions live in the server: what is outside of its pod must not replace it."""
    assert run_of(describe(document(connect=section))) == run_of(describe(document()))


def test_an_application_has_none_of_it() -> None:
    """Nor does another server."""
    value = {
        "kind": "SparkApplication",
        "metadata": {"name": "team-a"},
        "spec": {
            "type": "Python",
            "sparkVersion": "4.0.1",
            "image": "x",
            "mainApplicationFile": "local:///a.py",
        },
    }
    text = str(render(describe(value)))
    assert "15002" not in text
    assert "connect" not in text
