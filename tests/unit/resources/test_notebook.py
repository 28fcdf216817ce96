"""A notebook: the objects of an application, with JupyterLab in the driver's container."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen import contract
from sparkgen.model import describe
from sparkgen.resources import render, run_of
from tests.unit.semantics.documents import NOTEBOOK, merged

TOKEN = {"name": "ada-notebook", "key": "token"}


def document(**spec: Any) -> dict[str, Any]:
    """The least notebook, with these fields."""
    value: dict[str, Any] = merged(NOTEBOOK, {"spec": spec})
    return value


def found(**spec: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Its objects by kind and name."""
    made = render(describe(document(**spec)))
    return {(item["kind"], item["metadata"]["name"]): item for item in made}


def pod(**spec: Any) -> dict[str, Any]:
    """The pod of the Deployment."""
    inside: dict[str, Any] = found(**spec)["Deployment", "ada"]["spec"]["template"]["spec"]
    return inside


def files(**spec: Any) -> dict[str, str]:
    """The files of Spark's configuration folder."""
    (conf,) = [item for (_, name), item in found(**spec).items() if name.endswith("-conf")]
    data: dict[str, str] = conf["data"]
    return data


def variables(container: dict[str, Any]) -> dict[str, str]:
    """The variables of a container that have a text."""
    return {item["name"]: item["value"] for item in container["env"] if "value" in item}


def volume(name: str, **spec: Any) -> dict[str, Any]:
    """A volume of the pod."""
    (one,) = [item for item in pod(**spec)["volumes"] if item["name"] == name]
    return one


def test_jupyterlab_is_in_the_drivers_place() -> None:
    """One of it, with the properties of the session as the configuration folder of every driver in it."""
    deployment = found()["Deployment", "ada"]["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    (spark,) = pod()["containers"]
    assert spark["args"] == ["bash", "/opt/sparkgen/conf/notebook.sh"]
    assert variables(spark)["SPARK_CONF_DIR"] == "/opt/sparkgen/session"
    assert {"name": "notebook", "containerPort": 8888} in spark["ports"]
    for probe in ("startupProbe", "readinessProbe"):
        assert spark[probe]["httpGet"] == {"path": "/api", "port": 8888}
    assert "livenessProbe" not in spark
    assert "notebook.sh" in files()


def test_the_allocator_is_told_that_drivers_come_and_go() -> None:
    """Kernels are drivers, one after another."""
    (allocator,) = [item for item in pod()["initContainers"] if item["name"] == "allocator"]
    assert variables(allocator)["SPARKGEN_SESSIONS"] == "notebook"


def test_the_token_is_a_file_of_its_container_alone() -> None:
    """By reference: no manifest has it, nor an argument, nor a variable of a kernel."""
    inside = pod()
    holders = [
        container["name"]
        for container in (*inside["initContainers"], *inside["containers"])
        if "sparkgen-notebook" in [mount["name"] for mount in container["volumeMounts"]]
    ]
    assert holders == ["spark-kubernetes-driver"]
    items = [{"key": "token", "path": "token"}]
    assert volume("sparkgen-notebook")["secret"] == {"secretName": "ada-notebook", "items": items}
    assert variables(inside["containers"][0])[contract.ENV_NOTEBOOK_TOKEN].endswith("/notebook/token")
    assert "secretKeyRef" not in str(inside["containers"])


def test_user_code_has_no_token_for_the_api() -> None:
    """The allocator alone makes pods."""
    inside = pod()
    assert inside["automountServiceAccountToken"] is False
    assert "sparkgen-token" not in [mount["name"] for mount in inside["containers"][0]["volumeMounts"]]


def test_the_home_directory_is_the_claims() -> None:
    """Without one it ends with the pod."""
    claimed = volume("sparkgen-home", notebook={"token": TOKEN, "claim": "ada-home"})
    assert claimed["persistentVolumeClaim"] == {"claimName": "ada-home"}
    assert volume("sparkgen-home") == {"name": "sparkgen-home", "emptyDir": {}}
    (spark,) = pod()["containers"]
    assert {"name": "sparkgen-home", "mountPath": "/home/spark"} in spark["volumeMounts"]
    assert variables(spark)["HOME"] == "/home/spark"


@pytest.mark.parametrize(("text", "seconds"), [("90m", "5400"), ("90000", "90"), ("1500ms", "1")])
def test_idle_kernels_end_after_whole_seconds(text: str, seconds: str) -> None:
    """As Jupyter counts; none ends by itself unless the document says so."""
    (spark,) = pod(notebook={"token": TOKEN, "kernelIdleTimeout": text})["containers"]
    assert variables(spark)["SPARKGEN_KERNEL_IDLE_SECONDS"] == seconds
    assert "SPARKGEN_KERNEL_IDLE_SECONDS" not in variables(pod()["containers"][0])


def test_packages_go_to_the_home_directory_unless_the_document_says_otherwise() -> None:
    """Kernels ask for packages when they run."""
    assert "spark.jars.ivy /home/spark/.ivy2" in files()["spark-defaults.conf"].splitlines()
    own = files(sparkConf={"spark.jars.ivy": "/opt/ivy"})["spark-defaults.conf"]
    assert "spark.jars.ivy /opt/ivy" in own.splitlines()
    packaged = files(deps={"packages": ["a:b:1"]})["spark-defaults.conf"]
    assert "spark.jars.ivy /home/spark/.ivy2" in packaged.splitlines()


def test_named_peers_reach_jupyterlab() -> None:
    """As they reach the UI and the metrics."""
    peer = {"podSelector": {"matchLabels": {"app": "proxy"}}}
    policy = found(networkPolicy={"ingressFrom": [peer]})["NetworkPolicy", "ada"]
    named = [rule for rule in policy["spec"]["ingress"] if rule["from"] == [peer]]
    assert [port["port"] for port in named[0]["ports"]] == [4040, 7091, 8888]


def test_a_route_speaks_http() -> None:
    """An HTTPRoute, written out as the API server completes it."""
    gateway = {"name": "internal", "namespace": "gateways"}
    section = {"token": TOKEN, "servicePort": 80, "route": {"parentRefs": [gateway], "host": "a.example.com"}}
    route = found(notebook=section)["HTTPRoute", "ada-notebook"]["spec"]
    assert route["rules"] == [
        {
            "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
            "backendRefs": [
                {"group": "", "kind": "Service", "name": "ada-notebook", "port": 80, "weight": 1}
            ],
        }
    ]


@pytest.mark.parametrize(
    "section",
    [{"servicePort": 443}, {"serviceType": "NodePort"}, {"serviceLabels": {"a": "b"}}],
)
def test_how_people_come_ends_no_kernel(section: dict[str, Any]) -> None:
    """What is outside of the pod must not replace it."""
    assert run_of(describe(document(notebook={"token": TOKEN, **section}))) == run_of(describe(document()))
