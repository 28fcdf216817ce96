"""Logins to Kerberos: who the driver is, what Spark is told, and what no executor gets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sparkgen import contract, resources
from sparkgen.model import build
from sparkgen.model.kerberos import LOGINS, default_properties, login_properties
from sparkgen.model.properties import effective_properties

KEYTAB = {"name": "alice-keytab", "key": "alice.keytab"}
ALICE = {"principal": "alice@EXAMPLE.COM", "keytab": KEYTAB, "krb5ConfigMap": "krb5"}


def spec(**fields: Any) -> dict[str, Any]:
    """An application's spec."""
    base = {
        "type": "Python",
        "sparkVersion": "4.3.0",
        "image": "spark:4.3.0",
        "mainApplicationFile": "hdfs:///a.py",
    }
    return {**base, **fields}


def rendered(**fields: Any) -> list[dict[str, Any]]:
    """The objects of an application."""
    return resources.render(
        build({"kind": "SparkApplication", "metadata": {"name": "a"}, "spec": spec(**fields)})
    )


def pods(objects: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The driver's pod, and the executors'."""
    (job,) = [item for item in objects if item["kind"] == "Job"]
    texts = [item["data"] for item in objects if item["kind"] == "ConfigMap"]
    (executor,) = [
        data[contract.EXECUTOR_TEMPLATE_FILE] for data in texts if contract.EXECUTOR_TEMPLATE_FILE in data
    ]
    return job["spec"]["template"]["spec"], json.loads(executor)["template"]["spec"]


def variables(pod: dict[str, Any]) -> dict[str, str]:
    """The plain variables of Spark's container."""
    return {item["name"]: item["value"] for item in pod["containers"][0]["env"] if "value" in item}


@pytest.mark.parametrize("field", LOGINS)
def test_the_secret_is_in_the_driver_alone(field: str) -> None:
    """Of the driver's pod, too, only Spark's container mounts it; an executor knows nothing of it."""
    driver, executor = pods(rendered(kerberos={"principal": "alice@EXAMPLE.COM", field: KEYTAB}))
    secrets = [volume["name"] for volume in driver["volumes"] if "secret" in volume]
    assert secrets == [contract.KERBEROS_VOLUME]
    containers = [*driver["initContainers"], *driver["containers"]]
    mounting = [
        item["name"] for item in containers if contract.KERBEROS_VOLUME in str(item.get("volumeMounts", ()))
    ]
    assert mounting == [contract.DRIVER_CONTAINER]
    assert "alice-keytab" not in json.dumps(executor)
    assert contract.KERBEROS_DIR not in json.dumps(executor)


def test_a_keytab_logs_in_the_driver_and_is_renewed() -> None:
    """Variables for Hadoop's login, properties for Spark's renewal; the same file for both."""
    driver, _ = pods(rendered(kerberos=ALICE))
    found = variables(driver)
    file = f"{contract.KERBEROS_DIR}/keytab"
    assert (found["KRB5PRINCIPAL"], found["KRB5KEYTAB"]) == ("alice@EXAMPLE.COM", file)
    assert login_properties(spec(kerberos=ALICE)) == {
        "spark.kerberos.principal": "alice@EXAMPLE.COM",
        "spark.kerberos.keytab": file,
    }


def test_a_proxy_user_is_hadoops_alone() -> None:
    """With `spark.kerberos.*` the application would act as the gateway."""
    fields = {"proxyUser": "bob", "kerberos": ALICE}
    driver, executor = pods(rendered(**fields))
    assert variables(driver)["HADOOP_PROXY_USER"] == "bob"
    assert "--proxy-user" not in driver["containers"][0]["args"]
    assert variables(executor)["SPARK_USER"] == "bob"
    found = effective_properties(spec(**fields))
    assert [name for name in found if name.startswith("spark.kerberos.")] == []
    assert found["spark.hadoop.yarn.resourcemanager.principal"] == "bob"


def test_a_proxy_user_without_kerberos_is_spark_submits() -> None:
    """As before: the option, and no variable."""
    driver, _ = pods(rendered(proxyUser="bob"))
    assert "--proxy-user" in driver["containers"][0]["args"]
    assert "HADOOP_PROXY_USER" not in variables(driver)


@pytest.mark.parametrize(
    ("section", "renewer"),
    [
        (ALICE, "alice"),
        ({"principal": "etl/edge.example.com@EXAMPLE.COM", "ticketCache": KEYTAB}, "etl"),
        ({"delegationToken": KEYTAB}, "spark"),
    ],
)
def test_tokens_have_a_renewer(section: dict[str, Any], renewer: str) -> None:
    """Hadoop's output formats ask for one, and take no principal with its realm."""
    assert (
        default_properties(spec(kerberos=section))["spark.hadoop.yarn.resourcemanager.principal"] == renewer
    )


def test_the_document_decides_what_is_only_a_default() -> None:
    """Encryption and the renewer; and who logs in is never a default."""
    found = effective_properties(
        spec(
            kerberos=ALICE,
            hadoopConf={"yarn.resourcemanager.principal": "rm"},
            sparkConf={"spark.network.crypto.enabled": "false", "spark.kerberos.principal": "mallory"},
        )
    )
    assert found["spark.network.crypto.enabled"] == "false"
    assert found["spark.hadoop.yarn.resourcemanager.principal"] == "rm"
    assert found["spark.kerberos.principal"] == "alice@EXAMPLE.COM"


def test_executors_encrypt_from_their_first_word() -> None:
    """They ask the driver for all other properties over a connection that is encrypted already."""
    _, executor = pods(rendered(kerberos=ALICE))
    assert "-Dspark.network.crypto.enabled=true" in variables(executor).values()


def test_krb5_conf_is_where_everything_looks() -> None:
    """As one file of both roles: /etc keeps what else it has."""
    for pod in pods(rendered(kerberos=ALICE)):
        (mount,) = [
            item for item in pod["containers"][0]["volumeMounts"] if item["mountPath"] == "/etc/krb5.conf"
        ]
        assert (mount["subPath"], mount["readOnly"]) == ("krb5.conf", True)
        assert {"name": mount["name"], "configMap": {"name": "krb5"}} in pod["volumes"]


def test_hadoops_files_are_the_documents_own() -> None:
    """With a ConfigMap of them none is rendered, and both roles are told of its folder."""
    objects = rendered(hadoopConfigMap="hadoop-conf", hadoopConf={"fs.a": "1"})
    assert not [item for item in objects if item["metadata"]["name"].endswith("-hadoop")]
    for pod in pods(objects):
        assert variables(pod)["HADOOP_CONF_DIR"] == contract.HADOOP_DIR
        assert {"name": contract.HADOOP_VOLUME, "configMap": {"name": "hadoop-conf"}} in pod["volumes"]


def test_hadoop_is_told_of_the_login_before_spark_is() -> None:
    """The main file is fetched while core-site.xml is all that Hadoop knows."""
    objects = rendered(kerberos=ALICE, hadoopConf={"fs.defaultFS": "hdfs://namenode:8020"})
    (files,) = [item["data"] for item in objects if item["metadata"]["name"].endswith("-hadoop")]
    text = files[contract.HADOOP_FILE]
    assert "<name>hadoop.security.authentication</name>\n    <value>kerberos</value>" in text
