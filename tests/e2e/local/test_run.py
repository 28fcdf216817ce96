"""`sparkgen run --local` here: no cluster, a real Spark, real processes. It needs Java 17 or 21."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spark import connect_client
from sparkgen.runtime.allocator.driver.connect_server import why_not_serving
from sparkgen.spark_versions import NEWEST, OLDEST

SPARKGEN = Path(sys.executable).with_name("sparkgen")
MARK = "LOCAL_RUN_OF_A_TEST"
"""A variable that every process of a run inherits: how a test finds them all."""
PATIENCE = 180.0
"""Seconds for anything on a busy machine."""

VERSION = OLDEST.version
DOCUMENT = f"""
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata:
  name: local-test
spec:
  type: Python
  sparkVersion: "{VERSION}"
  image: docker.io/apache/spark:{VERSION}
  mainApplicationFile: local:///opt/app/app.py
  dynamicAllocation:
    enabled: true
    minExecutors: 0
    initialExecutors: 0
    maxExecutors: 2
    executorIdleTimeout: 2s
  driver:
    memory: 512m
    javaOptions: -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
  executor:
    memory: 512m
    javaOptions: -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
"""

SERVER = f"""
apiVersion: sparkgen.dev/v1alpha1
kind: SparkConnectServer
metadata:
  name: local-server
spec:
  sparkVersion: "{NEWEST.version}"
  image: docker.io/apache/spark:{NEWEST.version}-python3
  driver:
    memory: 512m
    javaOptions: -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
  executor:
    memory: 512m
  dynamicAllocation:
    maxExecutors: 1
"""

PROGRAM = """
import sys, time
from pathlib import Path
from pyspark import SparkContext

here = Path(__file__).parent

def until(name):
    (here / f"at-{name}").touch()
    while not (here / name).exists():
        time.sleep(0.1)

context = SparkContext.getOrCreate()
"""


class Running:
    """A run that has been started."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes], mark: str) -> None:
        self.folder = folder
        self.process = process
        self.mark = mark

    @property
    def lines(self) -> str:
        """What it has written to standard error."""
        return (self.folder / "stderr").read_text()

    @property
    def output(self) -> str:
        """What it has written to standard output."""
        return (self.folder / "stdout").read_text()

    def pids(self, word: str = "") -> list[int]:
        """Its processes whose command line has this word; all of them without one."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    mine = f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes()
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                except OSError:
                    continue
                if mine and word in command:
                    found.append(int(entry.name))
        return sorted(found)

    def executors(self) -> list[int]:
        """Its executors' JVMs."""
        return self.pids("org.apache.spark.executor.CoarseGrainedExecutorBackend")

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something to come true while it runs."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"{what} did not come:\n{self.lines}\n{self.output}"
            assert self.process.poll() is None, f"it ended before {what}:\n{self.lines}\n{self.output}"
            time.sleep(0.1)

    def at(self, step: str) -> None:
        """Wait until the program waits there."""
        self.until((self.folder / f"at-{step}").exists, step)

    def go_on(self, step: str) -> None:
        """Let the program go on."""
        (self.folder / step).touch()

    def code(self) -> int:
        """Its exit code."""
        return self.process.wait(PATIENCE)

    def gone(self, seconds: float = 20) -> bool:
        """Whether none of its processes is left, after so many seconds at most."""
        deadline = time.monotonic() + seconds
        while self.pids() and time.monotonic() < deadline:
            time.sleep(0.1)
        return not self.pids()


Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A function that runs a program's lines; nothing of it is left after the test."""
    started: list[Running] = []

    def begin(program: str, *more: str, terminal: int | None = None, document: str = DOCUMENT) -> Running:
        (tmp_path / "app.yaml").write_text(document)
        (tmp_path / "app.py").write_text(PROGRAM + program)
        mark = uuid.uuid4().hex
        command = [str(SPARKGEN), "run", "--local", "app.yaml", "--map", f"/opt/app={tmp_path}", *more]
        # A session of its own, and the terminal, if any, as what Ctrl-C is typed on.
        command = ["setsid", "--wait", *(["--ctty"] if terminal is not None else []), *command]
        with (tmp_path / "stdout").open("wb") as out, (tmp_path / "stderr").open("wb") as err:
            process = subprocess.Popen(
                command,
                cwd=tmp_path,
                env={**os.environ, MARK: mark},
                stdin=subprocess.DEVNULL if terminal is None else terminal,
                stdout=out if terminal is None else terminal,
                stderr=err if terminal is None else terminal,
            )
        started.append(Running(tmp_path, process, mark))
        return started[-1]

    yield begin
    for running in started:
        for pid in running.pids():
            os.kill(pid, signal.SIGKILL)
        running.process.wait()


@contextlib.contextmanager
def a_terminal() -> Iterator[tuple[int, int]]:
    """A terminal: the person's end, the program's end."""
    person, program = os.openpty()
    try:
        yield person, program
    finally:
        os.close(person)
        os.close(program)


def _listeners(pids: list[int]) -> set[str]:
    """The addresses, as /proc/net writes them, that these processes listen on."""
    sockets = set()
    for pid in pids:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                sockets.add(str(entry.readlink()))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                found.add(fields[1].partition(":")[0])
    return found


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}
"""127.0.0.1, and the same as an IPv6 socket of Java shows it."""


def test_executors_come_with_the_work_go_without_it_and_are_replaced(start: Start) -> None:
    """Up, one of them killed and replaced, down; output, addresses and the exit code are as promised."""
    running = start(
        """
print("the answer is", context.parallelize(range(8), 8).map(lambda n: time.sleep(1) or n).sum(), flush=True)
until("idle")
context.parallelize(range(2), 2).foreach(lambda n: time.sleep(20))
"""
    )
    running.until(lambda: "(2 registered)" in running.lines, "two executors")
    running.at("idle")
    assert _listeners(running.pids()) <= LOOPBACK
    busy = len(running.lines)
    running.until(lambda: "0 of 0 executors\n" in running.lines[busy:], "nobody after a time without work")
    idle = len(running.lines)
    running.go_on("idle")
    running.until(lambda: "(2 registered)" in running.lines[idle:], "two executors again")
    victim = running.executors()[0]
    os.kill(victim, signal.SIGKILL)
    running.until(lambda: "exited with code 137" in running.lines, "news of the killed executor")
    running.until(lambda: len(set(running.executors()) - {victim}) >= 2, "its replacement")
    assert running.code() == 0, running.lines
    assert "the answer is 28\n" in running.output
    assert "sparkgen:" not in running.output
    assert "done after" in running.lines
    assert running.gone(5)


def test_modules_of_the_image_and_an_id_of_the_documents_own(start: Start, tmp_path: Path) -> None:
    """Executors import an archive, a file and a folder, and know the application by the id that it names."""
    (tmp_path / "rates.py").write_text("VALUE = 3")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "folder_module.py").write_text("VALUE = 4")
    with zipfile.ZipFile(tmp_path / "helpers.zip", "w") as archive:
        archive.writestr("zipped_module.py", "VALUE = 5")
    entries = ", ".join(f"local:///opt/app/{name}" for name in ("rates.py", "helpers.zip", "lib"))
    more = f"  deps: {{pyFiles: [{entries}]}}\n  sparkConf: {{spark.app.id: my-own-id}}\n"
    running = start(
        """
def work(n):
    import folder_module, rates, zipped_module
    return n * rates.VALUE * folder_module.VALUE * zipped_module.VALUE

print(context.applicationId, work(1), context.parallelize(range(4), 2).map(work).sum(), flush=True)
""",
        document=DOCUMENT + more,
    )
    assert running.code() == 0, running.lines
    assert running.output == "my-own-id 60 360\n"


def test_files_beside_the_document_need_no_registry(start: Start, tmp_path: Path) -> None:
    """A script, a module and a table of the folder are in driver and executors, from a ConfigMap."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "beside.py").write_text("def read(name): return open(name).read()\n")
    (tmp_path / "table.csv").write_text("42")
    document = DOCUMENT.replace("local:///opt/app/app.py", "./app.py")
    document += "  deps: {pyFiles: [./lib], files: [./table.csv]}\n"
    program = """
def work(n):
    import beside
    return beside.read("table.csv")

import beside
print(sorted(context.parallelize(range(2), 2).map(work).collect()), beside.read("lib/beside.py")[:8])
"""
    running = start(program, document=document)
    assert running.code() == 0, running.lines
    assert "['42', '42'] def read" in running.output


def test_the_exit_code_is_the_programs(start: Start) -> None:
    """A program that fails is told with its last lines, and where the rest is; other arguments reach it."""
    running = start("sys.exit('cannot go on with ' + sys.argv[1]) if len(sys.argv) > 1 else None", "--", "-x")
    assert running.code() == 1
    assert "cannot go on with -x" in running.lines
    log = re.search(r"logs: (\S+)", running.lines)
    assert log
    assert f"Running Spark version {VERSION}" in (Path(log[1]) / "driver.log").read_text()
    assert running.gone(5)


def test_ctrl_c_on_a_terminal_ends_everything(start: Start) -> None:
    """The view is drawn, the key ends the run in order, and the exit code says so."""
    with a_terminal() as (person, program):
        running = start(
            "context.parallelize(range(2), 2).foreach(lambda n: time.sleep(600))", terminal=program
        )
        os.set_blocking(person, False)
        shown = bytearray()

        def seen(text: str) -> bool:
            with contextlib.suppress(BlockingIOError):
                shown.extend(os.read(person, 65536))
            return text in shown.decode(errors="replace")

        running.until(lambda: seen("2 registered"), "a view of two executors")
        assert seen("decision")
        os.write(person, b"\x03")
        deadline = time.monotonic() + 60
        while running.process.poll() is None and time.monotonic() < deadline:
            seen("")
            time.sleep(0.05)
        assert running.process.poll() == 128 + signal.SIGINT
        assert seen("stopped after")
    assert running.gone(5)


def test_nothing_outlives_a_killed_sparkgen(start: Start) -> None:
    """Even when it can do nothing for it itself."""
    running = start("context.parallelize(range(2), 2).foreach(lambda n: time.sleep(600))")
    running.until(lambda: len(running.executors()) == 2, "two executors")
    running.process.kill()
    running.process.wait()
    assert running.gone()


def test_a_connect_server_serves_this_machine_until_it_is_asked_to_end(start: Start) -> None:
    """It says its address when it answers, listens on loopback alone, and its end is no failure."""
    client = connect_client.folder()
    running = start("", document=SERVER)
    running.until(lambda: "answers at sc://localhost:" in running.lines, "its address")
    port = re.search(r"answers at sc://localhost:(\d+)", running.lines)
    assert port
    assert not why_not_serving("127.0.0.1", int(port[1]))
    query = (
        "import sys; from pyspark.sql import SparkSession; "
        "spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate(); "
        "print(spark.range(100).count()); spark.stop()"
    )
    done = subprocess.run(
        [sys.executable, "-c", query, f"sc://localhost:{port[1]}"],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(client),
            "SPARK_HOME": str(client),  # the thin client imports pyspark.testing, which looks for one
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.stdout == "100\n", done.stderr
    assert "registered" in running.lines
    assert _listeners(running.pids()) <= LOOPBACK
    running.process.send_signal(signal.SIGINT)
    assert running.code() == 0, running.lines
    assert "stopped after" in running.lines
    assert running.output == ""
    assert running.gone(5)


def test_without_java_it_says_what_to_install(tmp_path: Path) -> None:
    """Before anything is fetched; a message and not a traceback."""
    (tmp_path / "app.yaml").write_text(DOCUMENT)
    done = subprocess.run(
        [str(SPARKGEN), "run", "--local", "app.yaml"],
        cwd=tmp_path,
        env={"PATH": str(tmp_path), "SPARKGEN_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Spark needs Java 17 or 21" in done.stderr
    assert not (tmp_path / "cache").exists()
