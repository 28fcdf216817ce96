"""Sessions of these tests: a document, a command that runs in some network, and what is left of it."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
import yaml
from deployed import SMALL, spark_image, wait_until

from cluster.handle import Cluster
from common.cachedir import environment
from spark import spark_home
from sparkgen.local import spark as local_spark

PROGRAMS = Path(__file__).parent / "programs"
KINDS = "pods,jobs,configmaps,secrets,networkpolicies"


def document(name: str, version: str, *, instances: int = 0, **spec: Any) -> dict[str, Any]:
    """A document whose executors soon leave, or one of so many that stay."""
    coming = {
        "enabled": True,
        "maxExecutors": 2,
        "executorIdleTimeout": "5s",
        "shuffleTrackingTimeout": "5s",
    }
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": name},
        "spec": {
            "type": "Python",
            "sparkVersion": version,
            "image": spark_image(version),
            "imagePullPolicy": "IfNotPresent",
            "mainApplicationFile": "local:///opt/none.py",
            "driver": {"memory": "600m"},
            "executor": {**SMALL, **({"instances": instances} if instances else {})},
            **({} if instances else {"dynamicAllocation": coming}),
            **spec,
        },
    }


class Session:
    """`sparkgen shell`, and what it prints."""

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        asked: Mapping[str, Any],
        command: Sequence[str],
        *,
        enter: Sequence[str],
        folder: Path,
        options: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        kubeconfig: bool = True,
    ) -> None:
        self.cluster, self.namespace = cluster, namespace
        self.application = str(asked["metadata"]["name"])
        file = folder / f"{self.application}.yaml"
        file.write_text(yaml.safe_dump(dict(asked)))
        where = ["--kubeconfig", str(cluster.kubeconfig)] if kubeconfig else []
        words = [sys.executable, "-m", "sparkgen", "shell", str(file), "-n", namespace, *where, *options]
        home = spark_home.ensure(asked["spec"]["sparkVersion"])
        release = local_spark.inspect(home, "the tests")
        assert release is not None
        own = {"SPARK_HOME": str(home), "PYTHONPATH": release.python_path, "XDG_RUNTIME_DIR": str(folder)}
        self.process = subprocess.Popen(
            [*enter, *words, "--", *command],
            env={**environment(), **own, **(variables or {})},
            cwd=folder,  # Hive leaves its files there
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            text=True,
            start_new_session=True,
        )
        self.out: list[str] = []
        self.err: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        self._threads = [
            threading.Thread(target=self._read, args=(stream, kept), daemon=True)
            for stream, kept in ((self.process.stdout, self.out), (self.process.stderr, self.err))
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: Any, kept: list[str]) -> None:
        for line in stream:
            kept.append(line.rstrip("\n"))
            if kept is self.out:
                self._lines.put(kept[-1])

    def line(self, start: str, seconds: float = 120) -> str:
        """The next line of the program that begins so."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                found = self._lines.get(timeout=max(deadline - time.monotonic(), 0.1))
            except queue.Empty:
                pytest.fail(f"no line {start!r} after {seconds:.0f} s\n{self.story()}")
            if found.startswith(start):
                return found

    def say(self, text: str = "end") -> None:
        """Give the program a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def ended(self, seconds: float = 120) -> int:
        """Its exit code."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"it has not ended after {seconds:.0f} s\n{self.story()}")
        for thread in self._threads:
            thread.join(10)
        return code

    def driver(self) -> list[int]:
        """The processes of the program and of the driver's JVM."""
        return _below(self.process.pid)

    def kill(self, *pids: int) -> None:
        """End processes at once."""
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    @contextmanager
    def asleep(self) -> Iterator[None]:
        """Its machine sleeps: command, program and driver stand still, and say nothing."""
        pids = (self.process.pid, *self.driver())
        try:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    def close(self) -> None:
        """End whatever is left of it on this machine."""
        left = _below(self.process.pid)
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def pods(self, role: str) -> list[dict[str, Any]]:
        """The session's pods of a role."""
        selector = f"sparkgen.dev/application={self.application},spark-role={role}"
        return self.cluster.objects("pods", self.namespace, selector)

    def allocator_log(self) -> str:
        """What the allocator has written, this time."""
        pods = self.pods("driver")
        name = pods[0]["metadata"]["name"] if pods else "none"
        return self.cluster.try_kubectl("logs", "-n", self.namespace, name, "-c", "allocator").stdout

    def left(self) -> list[str]:
        """What there still is of sessions in the namespace."""
        text = self.cluster.kubectl("get", KINDS, "-n", self.namespace, "-o", "json")
        return [
            f"{item['kind']} {item['metadata']['name']}"
            for item in json.loads(text)["items"]
            if "-session-" in item["metadata"]["name"]
        ]

    def nothing_is_left(self, seconds: float) -> float:
        """Wait until nothing is; after how many seconds that was."""
        began = time.monotonic()
        wait_until(
            lambda: not self.left(), seconds, "nothing is left", lambda: f"{self.left()}\n{self.story()}"
        )
        return time.monotonic() - began

    def story(self) -> str:
        """All that helps to understand a failure."""
        shown = self.cluster.try_kubectl("get", "pods,jobs", "-n", self.namespace, "-o", "wide").stdout
        out, err = "\n".join(self.out[-20:]), "\n".join(self.err[-40:])
        return f"{shown}\n--- out\n{out}\n--- err\n{err}\n--- allocator\n{self.allocator_log()[-4000:]}"


def _below(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(status.parent.name))
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


Begin = Callable[..., Session]
"""A function that begins a session: its document and command, and what `Session` takes."""
