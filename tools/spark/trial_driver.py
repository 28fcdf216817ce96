"""A real driver for tests of the scheduler jar: spark-submit, under a program that does what a test says.

The program (`agent.py` in the test's folder) connects back and executes the Python text that it is sent, so
that one JVM serves many steps of a test.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from common.ports import free_port
from spark import fake_allocator, scheduler, spark_home
from sparkgen.contract import DRIVER_ARGUMENTS, SESSION_LAUNCH_PROPERTIES
from sparkgen.runtime.allocator.driver.properties import text_of
from sparkgen.runtime.allocator.driver.session import launch_properties
from sparkgen.spark_versions import COMPILED

AGENT = """\
import json, os, socket, sys, time, traceback
from pyspark import SparkConf, SparkContext

def until(path):
    # A task: says that it runs (by a byte in path + ".began"), and works until there is a file `path`.
    def run(value):
        with open(path + ".began", "a") as began:
            began.write(".")
        while not os.path.exists(path):
            time.sleep(0.05)
        return value
    return run

connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
names = {"SparkContext": SparkContext, "SparkConf": SparkConf, "until": until, "time": time}
for line in connection.makefile():
    try:
        answer = {"value": repr(eval(json.loads(line), names))}
    except SyntaxError:
        try:
            exec(json.loads(line), names)
            answer = {"value": ""}
        except Exception:
            answer = {"error": traceback.format_exc()}
    except Exception:
        answer = {"error": traceback.format_exc()}
    connection.sendall(json.dumps(answer).encode() + b"\\n")
"""


class RaisedError(Exception):
    """What the program's text raised, as Python prints it."""


@dataclass(frozen=True, slots=True)
class Properties:
    """The files with which a driver starts, as the allocator writes them."""

    all: Path
    launch: Path

    def write(self, properties: Mapping[str, str]) -> None:
        """Write both files."""
        self.all.write_text(text_of(properties))
        self.launch.write_text(text_of(launch_properties(properties, self.all)))

    def command(self, home: Path) -> list[str]:
        """The command that the stock entrypoint runs; the options of the application follow."""
        options = [str(self.launch) if one == SESSION_LAUNCH_PROPERTIES else one for one in DRIVER_ARGUMENTS]
        return [str(home / "bin" / "spark-submit"), "--deploy-mode", "client", *options[1:]]

    def plain_command(self, home: Path) -> list[str]:
        """The command of a driver outside the cluster; the options of the application follow."""
        return [str(home / "bin" / "spark-submit"), "--properties-file", str(self.all)]


class Driver:
    """A driver with the scheduler `jar` on its class path, for the allocator at `allocator_port`.

    `folder` takes its log (`driver.log`). `conf` are further Spark properties. All times are seconds.
    """

    def __init__(
        self,
        home: Path,
        jar: Path,
        folder: Path,
        allocator_port: int,
        conf: Mapping[str, str],
        program: str = AGENT,
        *,
        outside: bool = False,
    ) -> None:
        """Start it; `do` sends text to the agent. `outside`: without DriverSubmit, as outside the cluster."""
        self.port = int(conf.get("spark.driver.port") or free_port())
        self.log = folder / "driver.log"
        (folder / "token").write_text(fake_allocator.TOKEN + "\n")
        (folder / "agent.py").write_text(program)
        self._listener = socket.create_server(("127.0.0.1", 0))
        properties = {
            "spark.app.id": "trial-1a2b3c4d-9f8e7",
            "spark.master": f"sparkgen://127.0.0.1:{allocator_port}",
            "spark.driver.extraClassPath": str(jar),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.port": str(self.port),
            "spark.driver.memory": "512m",
            "spark.executor.cores": "1",
            "spark.ui.enabled": "false",
            "spark.sparkgen.tokenFile": str(folder / "token"),
            **conf,
        }
        files = Properties(folder / "spark.properties", folder / "launch.properties")
        files.write(properties)
        self._process = subprocess.Popen(
            [
                *(files.plain_command(home) if outside else files.command(home)),
                *(str(folder / "agent.py"), str(self._listener.getsockname()[1])),
            ],
            env={
                **os.environ,
                "SPARK_HOME": str(home),
                "SPARK_LOCAL_DIRS": str(folder / "local"),
                "SPARK_SUBMIT_OPTS": " ".join(fake_allocator.JAVA_OPTIONS[:3]),
                "PYSPARK_PYTHON": sys.executable,
            },
            cwd=folder,
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a JVM that exits leaves its Python behind: `kill` ends them together
        )
        self._connection: socket.socket | None = None

    def do(self, text: str, seconds: float = fake_allocator.PATIENCE) -> str:
        """Have the program evaluate or execute `text`: the value's repr, or RaisedError."""
        return self.answer(self.begin(text), seconds)

    def work(self, tasks: int, marker: Path, more: str = "") -> float:
        """Begin a job of `tasks` tasks that work until there is a file `marker`; `answer` counts them."""
        data = f"sc.parallelize(range({tasks}), {tasks})"
        return self.begin(f"{data}.map(until({str(marker)!r})){more}.count()")

    def begin(self, text: str) -> float:
        """Send `text` and do not wait for its end; `answer` does."""
        if self._connection is None:
            self._connection = self._accept()
        self._connection.sendall(json.dumps(text).encode() + b"\n")
        return time.monotonic()

    def _accept(self) -> socket.socket:
        """The agent's connection; RaisedError when the driver ends before its program begins."""
        deadline = time.monotonic() + fake_allocator.PATIENCE
        self._listener.settimeout(0.2)
        while time.monotonic() < deadline:
            with contextlib.suppress(TimeoutError):
                connection = self._listener.accept()[0]
                connection.setblocking(True)
                return connection
            if self._process.poll() is not None:
                raise RaisedError(f"the driver has ended:\n{self.output()}")
        raise TimeoutError("the driver's program has not begun")

    def answer(self, _began: float = 0, seconds: float = fake_allocator.PATIENCE) -> str:
        """The value's repr of the text that was sent last; RaisedError when it raised."""
        if self._connection is None:
            raise RaisedError("nothing was sent yet")
        self._connection.settimeout(seconds)
        data = b""
        while not data.endswith(b"\n"):
            part = self._connection.recv(1 << 16)
            if not part:
                raise RaisedError(f"the driver has ended:\n{self.output()}")
            data += part
        answer: dict[str, str] = json.loads(data)
        if "error" in answer:
            raise RaisedError(answer["error"])
        return answer["value"]

    def finish(self, seconds: float = fake_allocator.PATIENCE) -> int:
        """Close the connection, so that the agent ends, and wait: the exit code of spark-submit."""
        if self._connection:
            self._connection.close()
            self._connection = None
        return self.wait(seconds)

    def wait(self, seconds: float = fake_allocator.PATIENCE) -> int:
        """Wait for the end: the exit code."""
        return self._process.wait(seconds)

    def output(self) -> str:
        """What the driver has written so far, both streams."""
        return self.log.read_text("utf-8", "replace")

    def kill(self) -> None:
        """End it, if it has not ended."""
        if self._connection:
            self._connection.close()
        self._listener.close()
        with contextlib.suppress(ProcessLookupError):  # nothing of it is left
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class Trial:
    """An allocator and drivers for it, of the Scala line `line`, with their logs in `folder`."""

    def __init__(self, line: str, folder: Path) -> None:
        """Have what is needed; `start` begins."""
        self.home = spark_home.ensure(COMPILED[line])
        self.jar = scheduler.ensure(line)
        self.folder = folder
        self.driver_port = free_port()
        self.allocator = fake_allocator.FakeAllocator(self.home, folder, free_port(), self.driver_port)
        self._drivers: list[Driver] = []

    def start(
        self, conf: Mapping[str, str], program: str = AGENT, jar: Path | None = None, *, outside: bool = False
    ) -> Driver:
        """Start a driver with these properties; the allocator is started by who wants one."""
        settings = {"spark.driver.port": str(self.driver_port), **conf}
        port = self.allocator.port
        driver = Driver(self.home, jar or self.jar, self.folder, port, settings, program, outside=outside)
        self._drivers.append(driver)
        return driver

    def end(self) -> None:
        """End what still runs."""
        for driver in self._drivers:
            driver.kill()
        self.allocator.end()
