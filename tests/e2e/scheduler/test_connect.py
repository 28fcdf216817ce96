"""The question of the kubelet's probes, asked of Spark's own Connect server."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from spark import spark_home
from spark.trial_driver import free_port
from sparkgen.runtime.allocator.driver.connect_server import why_not_serving
from sparkgen.spark_versions import NEWEST


@pytest.mark.usefixtures("java")
def test_a_connect_server_serves_as_soon_as_it_listens(tmp_path: Path) -> None:
    """Although it asks for a token that is not shown; its log does not speak of the questions."""
    home, port, log = spark_home.ensure(NEWEST.version), free_port(), tmp_path / "server.log"
    conf = {
        "spark.connect.grpc.binding.port": port,
        "spark.driver.memory": "512m",
        "spark.local.dir": tmp_path / "local",
        "spark.ui.enabled": "false",
    }
    command = [home / "bin" / "spark-submit", "--master", "local[1]"]
    for name, value in conf.items():
        command += ["--conf", f"{name}={value}"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *command,
                "--class",
                "org.apache.spark.sql.connect.service.SparkConnectServer",
                "spark-internal",
            ],
            env={
                **os.environ,
                "SPARK_CONNECT_AUTHENTICATE_TOKEN": "a-token-of-this-test",
                "SPARK_HOME": str(home),
                "SPARK_LOCAL_IP": "127.0.0.1",
            },
            cwd=tmp_path,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        assert why_not_serving("127.0.0.1", port).endswith("does not listen yet")
        deadline = time.monotonic() + 120
        while why := why_not_serving("127.0.0.1", port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, why
            time.sleep(0.2)
        before = log.read_text()
        assert [why_not_serving("127.0.0.1", port) for _ in range(20)] == [""] * 20
        assert "ERROR" not in log.read_text()[len(before) :]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
