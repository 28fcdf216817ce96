"""The executor's pod template: complete, but for what only the allocator can know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.resources.executor import startup_options

Make = Callable[..., Any]


def test_template_is_a_pod_template(rendered: Make) -> None:
    """The file is an object of Kubernetes, so that scanners and policies can read it."""
    text = rendered().config_map("executor")["data"]["executor.json"]
    assert text.startswith('{\n  "apiVersion": "v1",\n  "kind": "PodTemplate",\n  "template": {')


def test_what_is_left_to_the_allocator(rendered: Make) -> None:
    """The template sets none of the variables, labels and names that differ from executor to executor."""
    made = rendered()
    assert not set(contract.ADDED_BY_ALLOCATOR) & made.env("executor").keys()
    assert (
        not {contract.LABEL_APP_ID, contract.LABEL_EXECUTOR_ID} & made.executor["metadata"]["labels"].keys()
    )
    assert made.executor["metadata"].keys() == {"labels", "annotations"}


def test_environment(rendered: Make) -> None:
    """What executor.sh and Spark read, sizes as Spark writes them."""
    made = rendered(
        executor={"cores": 2, "memory": "4g", "javaOptions": "-XX:+UseG1GC -Da='b c'"},
        sparkConf={"spark.executor.extraClassPath": "/opt/lib/*"},
    ).env("executor")
    assert made == {
        "SPARK_EXECUTOR_CORES": "2",
        "SPARK_EXECUTOR_MEMORY": "4096m",
        "SPARK_EXECUTOR_POD_IP": {"fieldRef": {"fieldPath": "status.podIP"}},
        "SPARK_EXECUTOR_POD_NAME": {"fieldRef": {"fieldPath": "metadata.name"}},
        "SPARK_CONF_DIR": "/opt/sparkgen/conf",
        "SPARK_LOCAL_DIRS": "/var/data/spark",
        "SPARK_CLASSPATH": "/opt/lib/*",
        "SPARKGEN_EXECUTOR_JAVA_OPTIONS": "-XX:+UseG1GC -Da='b c'",
        "SPARK_JAVA_OPT_0": "-Dspark.authenticate=true",
    }


def test_what_a_custom_log_url_names(rendered: Make) -> None:
    """Spark gives executors the attributes only where such a URL is set; the allocator has their values."""
    assert not any(name.startswith("SPARK_EXECUTOR_ATTRIBUTE_") for name in rendered().env("executor"))
    conf = {"spark.ui.custom.executor.log.url": "https://logs/{{APP_ID}}/{{EXECUTOR_ID}}"}
    made = rendered(sparkConf=conf)
    assert made.env("executor")["SPARK_EXECUTOR_ATTRIBUTE_APP_ID"] == "$(SPARK_APPLICATION_ID)"
    assert made.env("executor")["SPARK_EXECUTOR_ATTRIBUTE_EXECUTOR_ID"] == "$(SPARK_EXECUTOR_ID)"
    own = {**conf, "spark.executorEnv.SPARK_EXECUTOR_ATTRIBUTE_APP_ID": "mine"}
    assert rendered(sparkConf=own).env("executor")["SPARK_EXECUTOR_ATTRIBUTE_APP_ID"] == "mine"


def test_a_custom_log_url_names_the_folders_of_the_archive(rendered: Make) -> None:
    """By the pod's own fields: the names of a requested run's folders are those of its pods."""
    conf = {"spark.ui.custom.executor.log.url": "https://logs/{{RUN}}/{{POD_NAME}}"}
    logging = {"archive": {"url": "s3://logs", "image": "rclone:1"}}
    names = {"SPARK_EXECUTOR_ATTRIBUTE_POD_NAME", "SPARK_EXECUTOR_ATTRIBUTE_RUN"}
    assert not names & {*rendered(sparkConf=conf).env("executor")}
    assert not names & {*rendered(logging=logging).env("executor")}
    assert names <= {*rendered(sparkConf=conf, logging=logging).env("executor")}


def test_library_path(rendered: Make) -> None:
    """By Spark's own variable, which executor.sh puts in front of the image's LD_LIBRARY_PATH."""
    env = rendered(sparkConf={"spark.executor.extraLibraryPath": "/opt/native"}).env("executor")
    assert env["SPARK_EXECUTOR_LIBRARY_PATH"] == "/opt/native"


def test_python_modules_of_the_image(rendered: Make) -> None:
    """Archives and folders are on the path of both roles; executors get a copy of each single file."""
    entries = [
        "local:///opt/etl/helpers.zip",
        "local:///opt/etl/rates.py",
        "local:/opt/etl/lib",
        "s3a://b/c.py",
    ]
    made = rendered(
        type="Python",
        deps={"pyFiles": entries},
        sparkConf={"spark.executorEnv.PYTHONPATH": "/executors"},
        driver={"env": [{"name": "PYTHONPATH", "value": "/driver"}]},
    )
    assert made.env("driver")["PYTHONPATH"] == "/opt/etl/helpers.zip:/opt/etl/lib:/driver"
    assert made.env("executor")["PYTHONPATH"] == "/opt/etl/helpers.zip:/opt/etl/lib:/executors"
    assert made.env("executor")["SPARKGEN_PYTHON_FILES"] == "/opt/etl/rates.py"
    assert "SPARKGEN_PYTHON_FILES" not in made.env("driver"), "there Spark does it"
    submitted = "local:///opt/etl/helpers.zip,local:///opt/etl/rates.py,s3a://b/c.py"
    properties = made.config_map("conf")["data"]["spark-defaults.conf"].splitlines()
    assert f"spark.submit.pyFiles {submitted}" in properties, "Spark 4 refuses folders"


def test_nothing_is_submitted_where_all_modules_are_folders(rendered: Make) -> None:
    """An empty list would be a file without a name."""
    made = rendered(type="Python", deps={"pyFiles": ["local:///opt/etl/lib"]})
    assert "pyFiles" not in made.config_map("conf")["data"]["spark-defaults.conf"]


def test_script_is_run_by_the_stock_entrypoint(rendered: Make) -> None:
    """The entrypoint passes on what is no mode of its own; the script comes from the run's ConfigMap."""
    made = rendered()
    assert made.spark("executor")["args"] == ["bash", "/opt/sparkgen/conf/executor.sh"]
    assert "command" not in made.spark("executor")
    assert made.config_map("conf")["data"]["executor.sh"].startswith("#!/usr/bin/env bash\n")
    run = made.workload["metadata"]["name"]
    assert made.volumes("executor")["sparkgen-conf"]["configMap"] == {"name": f"{run}-conf"}


STARTUP = {
    "spark.auth.x": "1",
    "spark.authenticate.enableSaslEncryption": "true",
    "spark.network.crypto.enabled": "true",
    "spark.rpc.askTimeout": "60s",
    "spark.ssl.enabled": "true",
    "spark.port.maxRetries": "3",
    "spark.shuffle.service.port": "7337",
}

NOT_STARTUP = {
    "spark.authenticate.secret": "hidden",
    "spark.sql.shuffle.partitions": "8",
    "spark.executor.memory": "1g",
    "sparkling.port": "1",
    "spark.driver.port": "1",
    "spark.blockManager.port": "1",
    "spark.driver.blockManager.port": "1",
    "spark.ui.port": "1",
}


def test_startup_options() -> None:
    """SparkConf.isExecutorStartupConf decides what an executor must know before it can ask the driver.

    Ports that the contract fixes are the driver's to say.
    """
    assert startup_options({**STARTUP, **NOT_STARTUP}) == [
        f"-D{name}={text}" for name, text in sorted({**STARTUP, "spark.authenticate": "true"}.items())
    ]


def test_no_password_is_on_a_command_line() -> None:
    """As in Spark 4. A reference is no password: the executor's JVM reads the variable."""
    said = {
        "spark.ssl.keyPassword": "changeit1",
        "spark.ssl.keyStorePassword": "changeit2",
        "spark.ssl.rpc.trustStorePassword": "${env:TRUST_STORE_PASSWORD}",
        "spark.ssl.ui.keyStorePassword": "a${env:X}",
        "spark.ssl.rpc.keyStore": "/k.jks",
    }
    assert startup_options(said) == [
        "-Dspark.authenticate=true",
        "-Dspark.ssl.rpc.keyStore=/k.jks",
        "-Dspark.ssl.rpc.trustStorePassword=${env:TRUST_STORE_PASSWORD}",
    ]


def test_passwords_of_rpc_are_variables(rendered: Make) -> None:
    """An executor needs them before it can ask the driver; those of RPC win over those of everything."""
    said = {
        "spark.ssl.rpc.enabled": "true",
        "spark.ssl.keyStorePassword": "changeit1",
        "spark.ssl.rpc.keyStorePassword": "changeit2",
        "spark.ssl.keyPassword": "changeit3",
        "spark.ssl.trustStorePassword": "changeit4",
        "spark.ssl.rpc.trustStorePassword": "${env:TRUST_STORE_PASSWORD}",
    }

    def variables(properties: dict[str, str]) -> dict[str, Any]:
        env = rendered(sparkConf=properties).env("executor")
        return {name: text for name, text in env.items() if name.startswith("_SPARK_SSL_RPC_")}

    assert variables(said) == {
        "_SPARK_SSL_RPC_KEY_PASSWORD": "changeit3",
        "_SPARK_SSL_RPC_KEY_STORE_PASSWORD": "changeit2",
    }
    assert variables({**said, "spark.ssl.rpc.enabled": "false"}) == {}


def test_authentication_is_on_unless_turned_off() -> None:
    """Executors and driver agree, whatever the document says."""
    assert startup_options({}) == ["-Dspark.authenticate=true"]
    assert startup_options({"spark.authenticate": "false"}) == ["-Dspark.authenticate=false"]


@pytest.mark.parametrize("field", ["javaOptions", "spark.driver.defaultJavaOptions"])
def test_executors_prefer_the_addresses_that_the_driver_prefers(rendered: Make, field: str) -> None:
    """As Spark passes the driver's value on; options of the executor come later, and win."""
    prefer = "-Djava.net.preferIPv6Addresses=true"
    said = {"driver": {field: prefer}} if field == "javaOptions" else {"sparkConf": {field: prefer}}
    env = rendered(executor={"javaOptions": "-Dx=1"}, **said).env("executor")
    assert env["SPARKGEN_EXECUTOR_JAVA_OPTIONS"] == f"{prefer} -Dx=1"


def test_startup_options_are_numbered(rendered: Make) -> None:
    """The variables are those of the stock entrypoint, counted from 0 without a gap."""
    env = rendered(sparkConf=STARTUP).env("executor")
    options = {name: text for name, text in env.items() if name.startswith("SPARK_JAVA_OPT_")}
    assert list(options) == [f"SPARK_JAVA_OPT_{index}" for index in range(8)]


def test_executor_env(rendered: Make) -> None:
    """`spark.executorEnv` becomes variables: it wins over the template, and typed fields over it."""
    conf = {f"spark.executorEnv.{name}": "conf" for name in ("A", "B", "C")}
    inside = {"containers": [{"name": "x", "env": [{"name": "B", "value": "template"}]}]}
    fields = {"env": [{"name": "C", "value": "typed"}], "template": {"spec": inside}}
    env = rendered(sparkConf=conf, executor=fields).env("executor")
    assert [env[name] for name in ("A", "B", "C")] == ["conf", "conf", "typed"]


@pytest.mark.parametrize(
    ("conf", "fields", "command"),
    [
        ({}, {}, None),
        ({"spark.decommission.enabled": "false"}, {}, None),
        ({"spark.decommission.enabled": "true"}, {}, ["/opt/decom.sh"]),
        (
            {"spark.decommission.enabled": "true", "spark.kubernetes.decommission.script": "/my.sh"},
            {},
            ["/my.sh"],
        ),
        (
            {"spark.decommission.enabled": "true"},
            {"lifecycle": {"preStop": {"exec": {"command": ["mine"]}}}},
            ["mine"],
        ),
    ],
)
def test_decommissioning(rendered: Make, conf: Any, fields: Any, command: list[str] | None) -> None:
    """A leaving executor hands over its blocks first, unless the document has a hook of its own."""
    hook = rendered(sparkConf=conf, executor=fields).spark("executor").get("lifecycle")
    assert (hook and hook["preStop"]["exec"]["command"]) == command


def test_account_of_executors(rendered: Make) -> None:
    """Executors run as the application's account (for cloud identities) or their own, without a token."""
    assert rendered().executor["spec"]["serviceAccountName"] == "pi"
    assert rendered(executor={"serviceAccount": "own"}).executor["spec"]["serviceAccountName"] == "own"
    assert rendered().executor["spec"]["automountServiceAccountToken"] is False
