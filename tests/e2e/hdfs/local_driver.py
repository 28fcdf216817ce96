"""A driver and an executor as processes, started with what a document is rendered to.

Paths of the pod become paths of this machine; everything else of the login is as rendered.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secure import Secure

from spark import fake_allocator
from spark.trial_driver import Properties, Trial
from sparkgen import contract
from sparkgen.model import build
from sparkgen.resources.conf import hadoop_files, spark_properties
from sparkgen.resources.driver import driver_pod
from sparkgen.resources.executor import executor_pod
from sparkgen.spark_versions import NEWEST

RPC_SECRET = "of-a-test"  # noqa: S105 - of processes that a test starts
OF_THE_POD = (
    "spark.driver.port",
    "spark.driver.blockManager.port",
    "spark.blockManager.port",
    "spark.ui.port",
)
SECONDS = 600.0
"""Of a run on a very slow machine; on an idle one it takes 25."""


@dataclass(frozen=True)
class Ended:
    """How a driver has ended, with what it said."""

    code: int
    log: str
    executors: str
    """What executors said."""


def document(secure: Secure, kerberos: Mapping[str, Any], *arguments: str, **spec: Any) -> dict[str, Any]:
    """An application whose main file is in HDFS."""
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": "secure"},
        "spec": {
            "type": "Python",
            "sparkVersion": NEWEST.version,
            "image": "spark",
            "mainApplicationFile": f"{secure.hdfs.url}/apps/secure_hdfs.py",
            "arguments": list(arguments),
            "hadoopConf": dict(secure.hdfs.client_conf),
            "kerberos": dict(kerberos),
            "driver": {"memory": "512m"},
            **spec,
        },
    }


def run(
    trial: Trial, secure: Secure, value: Mapping[str, Any], login: Path, seconds: float = SECONDS
) -> Ended:
    """Run a document to its end. `login`: the file that the Secret of its section `kerberos` has."""
    application, folder = build(value), trial.folder
    driver = driver_pod(application, "a-run")["spec"]
    executor = executor_pod(application, "a-run")["spec"]
    (kerberos,) = [one for one in driver["volumes"] if one["name"] == contract.KERBEROS_VOLUME]
    (item,) = kerberos["secret"]["items"]
    (folder / "kerberos").mkdir()
    shutil.copyfile(login, folder / "kerberos" / item["path"])
    for name, text in hadoop_files(application).items():
        (folder / "hadoop").mkdir(exist_ok=True)
        (folder / "hadoop" / name).write_text(text)
    (folder / "token").write_text(f"{fake_allocator.TOKEN}\n")
    properties = _properties(trial, spark_properties(application))
    files = Properties(folder / "spark.properties", folder / "launch.properties")
    files.write({name: _here(folder, text) for name, text in properties.items()})
    krb5 = f"-Djava.security.krb5.conf={secure.kdc.client_conf}"
    trial.allocator.secret = RPC_SECRET
    trial.allocator.options = (krb5, *_startup_options(executor))
    trial.allocator.start()
    arguments = driver["containers"][0]["args"][len(contract.DRIVER_ARGUMENTS) :]
    done = subprocess.run(
        [*files.command(trial.home), *arguments],
        env={
            **os.environ,
            **{name: _here(folder, text) for name, text in _login_variables(driver).items()},
            "SPARK_HOME": str(trial.home),
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_SUBMIT_OPTS": " ".join((*fake_allocator.JAVA_OPTIONS[:3], krb5)),
            "PYSPARK_PYTHON": sys.executable,
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    said = "".join(path.read_text("utf-8", "replace") for path in folder.glob("executor-*.log"))
    return Ended(done.returncode, done.stdout + done.stderr, said)


def _properties(trial: Trial, rendered: Mapping[str, str]) -> dict[str, str]:
    """The rendered properties, with what the allocator's session adds, on this machine's ports."""
    return {
        **{name: text for name, text in rendered.items() if name not in OF_THE_POD},
        "spark.master": f"sparkgen://127.0.0.1:{trial.allocator.port}",
        "spark.app.id": "trial-1a2b3c4d-9f8e7",
        "spark.authenticate.secret": RPC_SECRET,
        "spark.driver.extraClassPath": str(trial.jar),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.port": str(trial.driver_port),
        "spark.executor.instances": "1",
        "spark.ui.enabled": "false",
        "spark.sparkgen.tokenFile": str(trial.folder / "token"),
    }


def _here(folder: Path, text: str) -> str:
    return text.replace(contract.KERBEROS_DIR, str(folder / "kerberos")).replace(
        contract.HADOOP_DIR, str(folder / "hadoop")
    )


def _login_variables(pod: Mapping[str, Any]) -> dict[str, str]:
    """The variables of Spark's container that Hadoop reads."""
    return {
        item["name"]: item["value"]
        for item in pod["containers"][0]["env"]
        if item["name"].startswith(("KRB5", "HADOOP_"))
    }


def _startup_options(pod: Mapping[str, Any]) -> list[str]:
    """What an executor has to know before it asks the driver."""
    env = pod["containers"][0]["env"]
    return [item["value"] for item in env if item["name"].startswith(contract.ENV_JAVA_OPT_PREFIX)]
