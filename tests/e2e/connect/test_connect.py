"""A Connect server on the cluster, and PySpark's own clients: the thin one of PyPI, and the full one."""

from __future__ import annotations

import base64
import os
import re
import secrets
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from deployed import SMALL, Deployed, deploy, spark_image, wait_until

from cluster import network
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import NAME
from common.cachedir import environment
from spark import connect_client, spark_home
from sparkgen.local import spark as local_spark
from tests.e2e.commands.looking import sparkgen, status, words

pytestmark = pytest.mark.own_cluster
VERSION = TESTED_VERSIONS[1]
CLIENTS = Path(__file__).parent / "clients"
RESULT = ["sum: 499500", "twice: [0, 2, 4, 6, 8]"]


def server(name: str, **spec: Any) -> dict[str, Any]:
    """A small Connect server, whose executors soon leave."""
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkConnectServer",
        "metadata": {"name": name},
        "spec": {
            "sparkVersion": VERSION,
            "image": spark_image(VERSION),
            "imagePullPolicy": "IfNotPresent",
            "dynamicAllocation": {
                "maxExecutors": 2,
                "executorIdleTimeout": "5s",
                "shuffleTrackingTimeout": "5s",
            },
            # The stock images of these tests hold no pyarrow.
            "sparkConf": {"spark.sql.execution.pythonUDF.arrow.enabled": "false"},
            "driver": {**SMALL, "memory": "1g"},
            "executor": SMALL,
            **spec,
        },
    }


def with_token(cluster: Cluster, namespace: str, name: str) -> tuple[Deployed, str]:
    """A Connect server that asks for a token, and the token."""
    token = secrets.token_urlsafe(24)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}}
    cluster.apply({**secret, "data": {"token": base64.b64encode(token.encode()).decode()}})
    document = server(name, connect={"token": {"name": name, "key": "token"}})
    return deploy(cluster, namespace, document), token


def python_path(full: str = "") -> str:
    """PYTHONPATH of the thin client, or of the full one of a version."""
    thin = str(connect_client.folder())
    if not full:
        return thin
    release = local_spark.inspect(spark_home.ensure(full), "the tests")
    assert release is not None
    return f"{release.python_path}{os.pathsep}{thin}"


def client(
    cluster: Cluster,
    namespace: str,
    name: str,
    *script: str,
    full: str = "",
    options: tuple[str, ...] = (),
) -> subprocess.Popen[str]:
    """A client that `sparkgen connect` starts."""
    command = words(cluster, namespace, "connect", name, "--port", "0", *options)
    return subprocess.Popen(
        [*command, "--", sys.executable, str(CLIENTS / script[0]), *script[1:]],
        env=environment() | {"PYTHONPATH": python_path(full)},
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    )


def end(started: subprocess.Popen[str]) -> list[str]:
    """What a client has printed at its end."""
    # PySpark alone tries for ten minutes to reach a server that was lost.
    out, err = started.communicate(timeout=900)
    assert started.returncode == 0, f"{out}\n{err}"
    return out.splitlines()


def connect(cluster: Cluster, namespace: str, name: str, *script: str, full: str = "") -> list[str]:
    """What a client prints that `sparkgen connect` starts: the thin one, or the full one of a version."""
    return end(client(cluster, namespace, name, *script, full=full))


@pytest.mark.families
def test_sessions_with_a_token(cluster: Cluster, restricted: str) -> None:
    """Both clients work; executors come and go; who has another token, or none, is not let in."""
    application, token = with_token(cluster, restricted, "team-a")
    assert connect(cluster, restricted, "team-a", "work.py") == RESULT, application.story()
    assert application.executors(), application.story()
    assert connect(cluster, restricted, "team-a", "work.py", "shuffle", full=VERSION) == [
        *RESULT,
        "groups: 7",
    ]
    wait_until(lambda: not application.executors(), 90, "no executor is left", application.story)
    assert status(cluster, restricted)["team-a"]["state"] == "Running"

    shown = words(cluster, restricted, "connect", "team-a", "--port", "0")
    forwards = subprocess.Popen(shown, text=True, stdout=PIPE, stderr=PIPE)
    assert forwards.stdout is not None
    address = forwards.stdout.readline().strip()
    assert address.startswith("sc://localhost:")
    assert "Invalid authentication token" in refusal(address, "wrong")
    assert "No authentication token provided" in refusal(address, "")
    forwards.terminate()
    out, err = forwards.communicate(timeout=30)
    assert token not in out + err
    assert token not in application.logs() + application.logs("allocator")
    assert token not in cluster.kubectl("get", "all,configmaps", "-n", restricted, "-o", "yaml")


def test_executors_with_cached_data_go_without_a_session(cluster: Cluster, restricted: str) -> None:
    """Spark keeps them forever, and the session's end frees nothing; the next session gets new ones.

    So it does when the driver is lost: the next one serves.
    """
    document = server("idle", connect={"idleTimeout": "10s"})
    application = deploy(cluster, restricted, document)
    assert connect(cluster, restricted, "idle", "cached.py") == ["count: 1000"], application.story()
    assert application.executors(), application.story()
    wait_until(lambda: not application.executors(), 90, "no executor is left", application.story)
    assert connect(cluster, restricted, "idle", "work.py") == RESULT, application.story()

    lost = application.driver()["metadata"]["name"]
    cluster.kubectl("delete", "pod", lost, "-n", restricted, "--grace-period=0", "--force")
    assert connect(cluster, restricted, "idle", "work.py") == RESULT, application.story()
    assert application.driver()["metadata"]["name"] != lost


@pytest.mark.parametrize("count", [3, pytest.param(30, marks=pytest.mark.full)])
def test_each_session_ends_without_an_executor(cluster: Cluster, restricted: str, count: int) -> None:
    """Sessions one after the other: each gets executors of its own, and they are gone before the next."""
    soon = {"maxExecutors": 1, "executorIdleTimeout": "1s", "shuffleTrackingTimeout": "1s"}
    application = deploy(cluster, restricted, server("many", dynamicAllocation=soon))
    user = client(cluster, restricted, "many", "sessions.py", str(count))
    assert user.stdin is not None
    assert user.stdout is not None
    for number in range(1, count + 1):
        assert user.stdout.readline() == f"session {number}\n", application.story()
        wait_until(lambda: not application.executors(), 90, "no executor is left", application.story)
        user.stdin.write("\n")
        user.stdin.flush()
    assert end(user) == []
    assert len(re.findall(r"Registered executor .* with ID", application.logs())) >= count
    assert len(application.drivers()) == 1


def test_two_sessions_at_once(cluster: Cluster, restricted: str) -> None:
    """Two users do not see each other; who comes after the server was stopped starts it."""
    application = deploy(cluster, restricted, server("two"))
    users = [client(cluster, restricted, "two", "work.py", "shuffle") for _ in range(2)]
    assert [end(one) for one in users] == [[*RESULT, "groups: 7"]] * 2, application.story()
    assert len(application.drivers()) == 1

    assert sparkgen(cluster, restricted, "kill", "two", "--yes").returncode == 0
    wait_until(lambda: not application.has_driver(), 90, "the driver has ended", application.story)
    step = status(cluster, restricted)["two"]["reason"]["nextStep"]
    assert f"sparkgen connect two -n {restricted} --start" in step
    again = client(cluster, restricted, "two", "work.py", options=("--start",))
    assert end(again) == RESULT, application.story()


def refusal(address: str, token: str) -> str:
    """What a client with this token is told."""
    variables = {
        "PYTHONPATH": python_path(),
        "SPARK_REMOTE": address,
        "SPARK_CONNECT_MODE_ENABLED": "1",
    }
    if token:
        variables["SPARK_CONNECT_AUTHENTICATE_TOKEN"] = token
    command = [*network.enter(NAME), sys.executable, str(CLIENTS / "refused.py")]
    done = subprocess.run(
        command, env=environment() | variables, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
