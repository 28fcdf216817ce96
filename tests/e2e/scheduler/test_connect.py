"""Spark's own Connect server in a process of this machine: the kubelet's question, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from common.ports import free_port
from spark import fake_allocator, spark_home
from spark.trial_driver import Trial
from sparkgen.runtime.allocator.driver.connect_server import why_not_serving
from sparkgen.spark_versions import NEWEST

MAIN_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
Server = tuple[subprocess.Popen[bytes], Path]


@contextmanager
def started(folder: Path, port: int, master: str, conf: Mapping[str, Any]) -> Iterator[Server]:
    """A server at `port` that asks for a token, as soon as it serves, and its log; it ends with the block."""
    home, log = spark_home.ensure(NEWEST.version), folder / "server.log"
    properties = {
        "spark.connect.grpc.binding.port": port,
        "spark.driver.memory": "512m",
        "spark.local.dir": folder / "local",
        "spark.ui.enabled": "false",
        **conf,
    }
    command = [str(home / "bin" / "spark-submit"), "--master", master]
    for name, value in properties.items():
        command += ["--conf", f"{name}={value}"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--class", MAIN_CLASS, "spark-internal"],
            env={
                **os.environ,
                "SPARK_CONNECT_AUTHENTICATE_TOKEN": "a-token-of-this-test",
                "SPARK_HOME": str(home),
                "SPARK_LOCAL_IP": "127.0.0.1",
            },
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 120
        while why := why_not_serving("127.0.0.1", port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, why
            time.sleep(0.2)
        yield process, log
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.usefixtures("java")
def test_a_connect_server_serves_as_soon_as_it_listens(tmp_path: Path) -> None:
    """Although it asks for a token that is not shown; its log does not speak of the questions."""
    port = free_port()
    assert why_not_serving("127.0.0.1", port).endswith("is not listening yet")
    with started(tmp_path, port, "local[1]", {}) as (_, log):
        before = log.read_text()
        assert [why_not_serving("127.0.0.1", port) for _ in range(20)] == [""] * 20
        assert "ERROR" not in log.read_text()[len(before) :]


def test_a_connect_server_ends_when_its_context_has_stopped(trial: Callable[[str], Trial]) -> None:
    """Its main method would go on listening forever; there is no user code whose end to wait for."""
    made = trial(NEWEST.scala)
    made.allocator.start()
    token = made.folder / "token"
    token.write_text(fake_allocator.TOKEN)
    conf = {
        "spark.driver.extraClassPath": made.jar,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.port": made.driver_port,
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.sparkgen.failureGrace": "600s",
        "spark.sparkgen.tokenFile": token,
    }
    master = f"sparkgen://127.0.0.1:{made.allocator.port}"
    with started(made.folder, free_port(), master, conf) as (process, log):
        made.allocator.report(failure="[Forbidden] no executor can start")
        assert process.wait(60) == 1
        said = log.read_text()
        assert "ERROR ApplicationFailure: sparkgen: [Forbidden] no executor can start" in said
        assert "ERROR ConnectServer: The SparkContext of this Connect server has stopped" in said
        assert made.allocator.state["phase"] == "stopped"
