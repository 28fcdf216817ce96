"""A history server: one pod that reads event logs, and can do nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen import contract
from sparkgen.model import describe
from sparkgen.model.historyserver import HistoryServer
from sparkgen.resources import render, run_of

CLAIMED = {"dir": "file:///mnt/event-logs", "claim": "event-logs"}


def described(**spec: Any) -> HistoryServer:
    """A valid document with these fields, as values."""
    least = {"sparkVersion": "3.5.8", "image": "i:1", "eventLog": {"dir": "s3a://logs/spark"}}
    found = describe(
        {"kind": "SparkHistoryServer", "metadata": {"name": "h"}, "spec": {**least, **spec}}, "n"
    )
    assert isinstance(found, HistoryServer)
    return found


def made(**spec: Any) -> dict[str, Any]:
    """Kind -> the object of a server with these fields."""
    return {item["kind"]: item for item in render(described(**spec))}


def pod(**spec: Any) -> dict[str, Any]:
    """The pod's spec."""
    found: dict[str, Any] = made(**spec)["Deployment"]["spec"]["template"]["spec"]
    return found


def container(**spec: Any) -> dict[str, Any]:
    """The only container."""
    (found,) = pod(**spec)["containers"]
    return dict(found)


def properties(**spec: Any) -> dict[str, str]:
    """The server's properties."""
    text = made(**spec)["ConfigMap"]["data"][contract.SPARK_DEFAULTS_FILE]
    return dict(line.split(" ", 1) for line in text.splitlines())


def test_it_is_no_run_and_has_no_rights() -> None:
    """Nothing of it is an application's; its account has no token and no Role."""
    assert run_of(described()) == ""
    assert set(made()) == {"ServiceAccount", "ConfigMap", "Service", "Deployment"}
    assert {item["metadata"]["namespace"] for item in made().values()} == {"n"}
    assert pod()["automountServiceAccountToken"] is False
    assert made()["ServiceAccount"]["automountServiceAccountToken"] is False


def test_the_service_leads_to_the_pod() -> None:
    """By labels that the pod has, to the port that the container listens on."""
    objects = made(sparkUIOptions={"servicePort": 80})
    service, deployment = objects["Service"]["spec"], objects["Deployment"]["spec"]
    assert service["selector"].items() <= deployment["template"]["metadata"]["labels"].items()
    assert service["selector"] == deployment["selector"]["matchLabels"]
    (port,) = service["ports"]
    assert (port["port"], port["targetPort"]) == (80, container()["ports"][0]["name"])
    assert container()["ports"][0]["containerPort"] == int(properties()["spark.history.ui.port"])


@pytest.mark.parametrize(
    ("cleaner", "read_only"), [(None, True), ({"enabled": False}, True), ({}, False), ({"maxNum": 9}, False)]
)
def test_the_claim_is_read_unless_old_logs_are_removed(cleaner: Any, read_only: bool) -> None:
    """A server that removes nothing can remove nothing."""
    spec = {"eventLog": CLAIMED, **({} if cleaner is None else {"cleaner": cleaner})}
    mounts = {mount["name"]: mount for mount in container(**spec)["volumeMounts"]}
    mount = mounts[contract.EVENT_LOG_VOLUME]
    assert (mount["mountPath"], mount.get("readOnly", False)) == ("/mnt/event-logs", read_only)
    said = properties(**spec).get("spark.history.fs.cleaner.enabled")
    assert said == (None if cleaner is None else str(not read_only).lower())


def test_a_claim_has_one_pod_at_a_time() -> None:
    """One that a single node may mount would keep the next pod waiting forever."""
    assert made(eventLog=CLAIMED)["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    assert made()["Deployment"]["spec"]["strategy"] == {"type": "RollingUpdate"}


def test_fields_win_over_properties() -> None:
    """Directory and port are the server's own; the cleaner's fields are what a person wrote last."""
    conf = {
        "spark.history.fs.logDirectory": "x",
        "spark.history.ui.port": "1",
        "spark.history.fs.cleaner.maxAge": "1d",
        "spark.hadoop.fs.a": "1",
        "spark.history.retainedApplications": "7",
    }
    found = properties(sparkConf=conf, cleaner={"maxAge": "30d"}, hadoopConf={"fs.a": "2"})
    assert found == {
        "spark.history.fs.logDirectory": "s3a://logs/spark",
        "spark.history.ui.port": "18080",
        "spark.history.fs.cleaner.enabled": "true",
        "spark.history.fs.cleaner.maxAge": "30d",
        "spark.hadoop.fs.a": "2",
        "spark.history.retainedApplications": "7",
    }


def test_pages_with_a_filter_are_probed_by_their_port() -> None:
    """One that asks who is there would answer 401 to the kubelet."""
    probes = ("startupProbe", "readinessProbe", "livenessProbe")
    assert all("httpGet" in container()[probe] for probe in probes)
    asked = container(sparkConf={"spark.ui.filters": "com.example.Login"})
    assert all("tcpSocket" in asked[probe] and "httpGet" not in asked[probe] for probe in probes)


def test_only_the_named_peers_or_the_namespace_reach_it() -> None:
    """A NetworkPolicy that lets everybody in would be none."""
    peers = [{"namespaceSelector": {"matchLabels": {"a": "b"}}}]
    (rule,) = made(networkPolicy={"ingressFrom": peers})["NetworkPolicy"]["spec"]["ingress"]
    assert rule["from"] == peers
    (rule,) = made(networkPolicy={})["NetworkPolicy"]["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {}}]
    (rule,) = made(networkPolicy={"ingressFrom": None})["NetworkPolicy"]["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {}}]
    assert "NetworkPolicy" not in made(networkPolicy={"enabled": False})


def test_an_empty_list_of_peers_lets_in_nobody() -> None:
    """Kubernetes takes an empty `from` for everybody, so there is no rule."""
    policy = made(networkPolicy={"ingressFrom": []})["NetworkPolicy"]["spec"]
    assert policy["policyTypes"] == ["Ingress"]
    assert "ingress" not in policy


def test_a_secret_is_a_file_with_its_variable() -> None:
    """As in applications."""
    key = {"name": "key", "path": "/mnt/key/", "secretType": "GCPServiceAccount"}
    found = container(secrets=[key])
    assert {"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": "/mnt/key/key.json"} in found["env"]
    assert {"name": "sparkgen-secret-key", "secret": {"secretName": "key"}} in pod(secrets=[key])["volumes"]


def test_another_configuration_replaces_the_pod() -> None:
    """The pod template changes with the ConfigMap."""

    def annotations(**spec: Any) -> Any:
        return made(**spec)["Deployment"]["spec"]["template"]["metadata"]["annotations"]

    assert annotations(sparkConf={"spark.history.retainedApplications": "7"}) != annotations()
