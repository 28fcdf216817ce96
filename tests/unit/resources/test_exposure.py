"""What leads to Spark's pages from outside: an Ingress for a host, a route for a path below one."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen.model import describe
from sparkgen.resources import render, run_of

REDIRECT = "spark.ui.proxyRedirectUri /\n"
GATEWAY = {"name": "internal", "namespace": "gateways"}
SPECS = {
    "SparkApplication": {"type": "Python", "mainApplicationFile": "local:///a.py"},
    "SparkHistoryServer": {"eventLog": {"dir": "s3a://logs/spark"}},
}
EACH_KIND = pytest.mark.parametrize("kind", SPECS)


def value(kind: str, **options: Any) -> dict[str, Any]:
    """A valid document with these options of its pages."""
    spec = {"sparkVersion": "3.5.8", "image": "i:1", **SPECS[kind], "sparkUIOptions": options}
    return {"kind": kind, "metadata": {"name": "x", "annotations": {"a": "b"}}, "spec": spec}


def made(kind: str, **options: Any) -> dict[str, Any]:
    """Kind -> the object, of those that there is one of."""
    return {item["kind"]: item for item in render(describe(value(kind, **options)))}


@EACH_KIND
def test_nothing_leads_there_unless_asked(kind: str) -> None:
    """A login is not Spark's, so that the default is closed."""
    assert not {"Ingress", "HTTPRoute"} & set(made(kind))


def test_without_pages_nothing_leads_there() -> None:
    """No Service, no port of the driver, no peer in the NetworkPolicy, and no Ingress either."""
    document = value("SparkApplication", ingress={"host": "x.example.com"})
    document["spec"] |= {
        "sparkConf": {"spark.ui.enabled": " False"},
        "networkPolicy": {"ingressFrom": [{"podSelector": {}}]},
    }
    objects = {item["kind"]: item for item in render(describe(document))}
    assert not {"Service", "Ingress"} & set(objects)
    (driver,) = objects["Job"]["spec"]["template"]["spec"]["containers"]
    assert [port["name"] for port in driver["ports"]] == ["driver-rpc-port", "blockmanager"]
    _, people = objects["NetworkPolicy"]["spec"]["ingress"]
    assert [port["port"] for port in people["ports"]] == [7091]


@EACH_KIND
def test_an_ingress_leads_to_the_service(kind: str) -> None:
    """At a host name of its own, with the class and the certificate that are asked for."""
    objects = made(
        kind, servicePort=80, ingress={"host": "x.example.com", "className": "c", "tlsSecretName": "t"}
    )
    service, spec = objects["Service"], objects["Ingress"]["spec"]
    (path,) = spec["rules"][0]["http"]["paths"]
    assert (path["path"], path["pathType"]) == ("/", "Prefix")
    assert path["backend"]["service"] == {
        "name": service["metadata"]["name"],
        "port": {"name": service["spec"]["ports"][0]["name"]},
    }
    assert (spec["rules"][0]["host"], spec["ingressClassName"]) == ("x.example.com", "c")
    assert spec["tls"] == [{"hosts": ["x.example.com"], "secretName": "t"}]


@EACH_KIND
def test_a_route_leads_to_the_service(kind: str) -> None:
    """Without a path nothing of a request is changed, and Spark is told nothing."""
    objects = made(kind, servicePort=80, route={"parentRefs": [GATEWAY], "host": "x.example.com"})
    spec = objects["HTTPRoute"]["spec"]
    assert spec["parentRefs"] == [{"group": "gateway.networking.k8s.io", "kind": "Gateway", **GATEWAY}]
    assert spec["hostnames"] == ["x.example.com"]
    (rule,) = spec["rules"]
    (backend,) = rule["backendRefs"]
    assert (backend["name"], backend["port"]) == (objects["Service"]["metadata"]["name"], 80)
    assert "filters" not in rule
    assert REDIRECT not in str(objects)


@EACH_KIND
def test_a_path_is_taken_away_and_told_to_spark(kind: str) -> None:
    """Links follow the header, redirects the property."""
    objects = made(kind, route={"parentRefs": [GATEWAY], "path": "/pi"})
    (rule,) = objects["HTTPRoute"]["spec"]["rules"]
    assert rule["matches"] == [{"path": {"type": "PathPrefix", "value": "/pi"}}]
    header, rewrite = rule["filters"]
    assert header["requestHeaderModifier"] == {"set": [{"name": "X-Forwarded-Context", "value": "/pi"}]}
    assert rewrite["urlRewrite"]["path"] == {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}
    texts = [
        text
        for item in render(describe(value(kind, route={"parentRefs": [GATEWAY], "path": "/pi"})))
        if item["kind"] == "ConfigMap"
        for text in item["data"].values()
    ]
    assert any(REDIRECT in text for text in texts)


def test_another_path_is_the_same_run() -> None:
    """Where there is a path, the driver knows; which one it is, the gateway says with each request."""

    def run(**route: Any) -> str:
        return run_of(describe(value("SparkApplication", route={"parentRefs": [GATEWAY], **route})))

    assert run(path="/a") == run(path="/b") != run()
    assert run() == run(path="/") == run_of(describe(value("SparkApplication")))


@EACH_KIND
def test_annotations_are_the_documents_and_its_own(kind: str) -> None:
    """Those of the Service are not among them."""
    options = {
        "serviceAnnotations": {"s": "1"},
        "ingress": {"host": "h", "annotations": {"a": "c", "d": "e"}},
    }
    objects = made(kind, **options)
    assert objects["Ingress"]["metadata"]["annotations"] == {"a": "c", "d": "e"}
    assert objects["Service"]["metadata"]["annotations"] == {"a": "b", "s": "1"}
