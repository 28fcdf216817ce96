"""An allocator for tests of the scheduler jar: the server's side of the protocol, and real executors.

It speaks docs/design/protocol.md over real HTTP and starts real executors of Spark as processes. What it
decides is simple: as many as the target says, at once. Tests change its report to cause what they want.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from spark import spark_home

OPENED = (
    *(
        "java.base/java.lang",
        "java.base/java.lang.invoke",
        "java.base/java.lang.reflect",
        "java.base/java.io",
    ),
    *("java.base/java.net", "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent"),
    *("java.base/java.util.concurrent.atomic", "java.base/sun.nio.ch", "java.base/sun.nio.cs"),
    *("java.base/sun.security.action", "java.base/sun.util.calendar"),
)
"""The packages that Spark reaches into on Java 17 and newer: its JavaModuleOptions."""

JAVA_OPTIONS = (
    *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx512m"),
    *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED),
)
"""Of a JVM that lives for seconds: it shall start fast, and not compile much."""

TOKEN = "a-token-for-tests"  # noqa: S105 - of a server that tests start
POLL_SECONDS = 0.05

PATIENCE = 180.0
"""Seconds that a JVM may take to start on a slow machine."""


class FakeAllocator:
    """An allocator at `port` of the loopback address for the driver whose port is `driver_port`.

    `folder` takes the executors' logs. With `automatic` it follows the driver's targets and kills; without it
    starts no executor by itself. All times are seconds.
    """

    def __init__(self, home: Path, folder: Path, port: int, driver_port: int, automatic: bool = True) -> None:
        """Make it; `start` begins to serve."""
        self.home, self.folder, self.port, self.driver_port = home, folder, port, driver_port
        self.automatic = automatic
        self.java = spark_home.java()
        self.secret: str | None = None
        self.states: list[dict[str, Any]] = []
        self.executors: dict[str, subprocess.Popen[bytes]] = {}
        self.verdicts: dict[str, dict[str, Any]] = {}
        self.profile_of: dict[str, str] = {}
        self.refuse: set[str] = set()
        self.bounds: dict[str, int] | None = None
        self.failure: str | None = None
        self.nodes: dict[str, dict[str, list[str]]] = {}
        """Nodes with their executors and addresses; {}: as an allocator that tells none."""
        self.data_hosts: dict[str, str] = {}
        self.options: tuple[str, ...] = ()
        """More Java options of the executors."""
        self.host_of: dict[str, str] = {}
        """Hosts of executors, where they are not all 127.0.0.1; an address of this machine."""
        self.taken: str | None = None
        """Why no driver is taken now: another one has the allocator."""
        self.silent: set[str] = set()
        self.next_id = 1
        self.connections: set[socket.socket] = set()
        self._changed = threading.Condition(threading.RLock())
        self._server: _Server | None = None
        self._ended = False
        self._tag = ("", 0)

    # --- what a test asks -------------------------------------------------------------------------

    @property
    def state(self) -> dict[str, Any]:
        """The last state of the driver; {} before the first."""
        with self._changed:
            return self.states[-1] if self.states else {}

    def wait(
        self, condition: Callable[[dict[str, Any]], object], what: str, seconds: float = PATIENCE
    ) -> dict[str, Any]:
        """The first state, from now on, that meets `condition`; TimeoutError when none does in time."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not (self.states and condition(self.states[-1])):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{what}: not within {seconds:.0f} s; the last state is {self.state}")
                self._changed.wait(left)
            return self.states[-1]

    def report(self, **changes: Any) -> None:
        """Change fields of the report (`refuse`, `bounds`, `failure`), or `taken`."""
        with self._changed:
            for name, value in changes.items():
                setattr(self, name, value)
            self._changed.notify_all()

    def kill(self, executor: str, verdict: Mapping[str, Any] | None) -> None:
        """End an executor as a machine would (SIGKILL), and give `verdict` on it; with None, none ever."""
        with self._changed:
            if verdict is None:
                self.silent.add(executor)
            else:
                self.verdicts[executor] = dict(verdict)
        self.executors[executor].send_signal(signal.SIGKILL)

    def running(self) -> set[str]:
        """The ids of the executors whose process lives."""
        return {name for name, process in list(self.executors.items()) if process.poll() is None}

    # --- life -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Serve. The tag of the report restarts, as that of a new process does."""
        self._ended = False
        self._tag = (f"{time.monotonic_ns():x}", 0)
        self._server = _Server(self)
        threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True).start()
        threading.Thread(target=self._follow, daemon=True).start()

    def stop(self) -> None:
        """Stop serving, as a killed allocator does: executors go on, and what it was told is forgotten."""
        with self._changed:
            self._ended = True
            self.states.clear()
            self._changed.notify_all()
        if self._server:
            self._server.shutdown()
            self._server.server_close()
        with self._changed:
            for connection in self.connections:  # a client may keep one for its next request
                _cut(connection)

    def serve(self, connection: socket.socket) -> None:
        """Remember a connection, so that `stop` ends it; one that comes after `stop` ends at once."""
        with self._changed:
            self.connections.add(connection)
            if self._ended:
                _cut(connection)

    def forget(self, connection: socket.socket) -> None:
        """Forget a connection that has ended."""
        with self._changed:
            self.connections.discard(connection)

    def end(self) -> None:
        """Stop serving, and end every executor."""
        self.stop()
        for process in self.executors.values():
            if process.poll() is None:
                process.kill()
            process.wait()

    # --- the server's side ------------------------------------------------------------------------

    def take(self, state: dict[str, Any]) -> dict[str, Any]:
        """Take a state of the driver: the answer."""
        with self._changed:
            older = self.states and self.states[-1]["session"] == state["session"]
            if not older or self.states[-1]["revision"] <= state["revision"]:
                self.states.append(state)
            self._changed.notify_all()
        return {"version": 1, "session": state["session"], "revision": state["revision"]}

    def give(self, seen: str, seconds: float) -> dict[str, Any] | None:
        """The report when it is not the one called `seen`, waiting for a change; None when there was none."""
        deadline = time.monotonic() + seconds
        while not self._ended:
            with self._changed:
                body = self._report()
                text = json.dumps(body, sort_keys=True)
                if text != self._last_text:
                    self._last_text = text
                    self._tag = (self._tag[0], self._tag[1] + 1)
                tag = f"{self._tag[0]}-{self._tag[1]}"
                if tag != seen:
                    return {**body, "tag": tag}
                if time.monotonic() >= deadline:
                    return None
                self._changed.wait(POLL_SECONDS)
        return None

    _last_text = ""

    def _report(self) -> dict[str, Any]:
        state = self.state
        named = [
            *state.get("registered", ()),
            *state.get("lost", ()),
            *state.get("kills", ()),
            *state.get("draining", ()),
        ]
        gone = {}
        for executor in named:
            process = self.executors.get(executor)
            if executor not in self.silent and (process is None or process.poll() is not None):
                gone[executor] = self.verdicts.get(executor) or _verdict(executor, process)
        refuse = sorted(self.refuse)
        body = {"version": 1, "gone": gone, "refuse": refuse, "bounds": self.bounds, "failure": self.failure}
        return body | ({"nodes": self.nodes, "dataHosts": self.data_hosts} if self.nodes else {})

    # --- the simplest allocator -------------------------------------------------------------------

    def _follow(self) -> None:
        while not self._ended:
            with self._changed:
                state = self.state
                if self.automatic and state.get("phase") == "running":
                    self._create(state)
                    self._remove(state)
            time.sleep(POLL_SECONDS)

    def _create(self, state: dict[str, Any]) -> None:
        leaving = {*state["kills"], *state["draining"], *state["refused"], *state["lost"]}
        for profile, target in state["targets"].items():
            alive = [name for name in self.running() - leaving if self.profile_of[name] == profile]
            for _ in range(target - len(alive)):
                self.launch(profile)

    def _remove(self, state: dict[str, Any]) -> None:
        for executor in state["kills"]:
            process = self.executors.get(executor)
            if process is not None and process.poll() is None:
                process.terminate()

    def launch(self, profile: str = "0", executor: str | None = None) -> str:
        """Start an executor: its id, the next one unless `executor` says another."""
        with self._changed:
            name = executor or str(self.next_id)
            self.next_id = max(self.next_id, int(name) + 1)
            self.profile_of[name] = profile
            self.executors[name] = self._process(name, profile)
        return name

    def _process(self, name: str, profile: str) -> subprocess.Popen[bytes]:
        needs, host = self.state["profiles"][profile], self.host_of.get(name, "127.0.0.1")
        # An executor asks the driver for its configuration, and that needs the authentication already.
        options = [*self.options, *(["-Dspark.authenticate=true"] if self.secret else [])]
        command = [
            *(str(self.java), *JAVA_OPTIONS, *options, "-cp", f"{self.home / 'jars'}/*"),
            "org.apache.spark.executor.CoarseGrainedExecutorBackend",
            *("--driver-url", f"spark://CoarseGrainedScheduler@127.0.0.1:{self.driver_port}"),
            *("--executor-id", name, "--hostname", host, "--bind-address", host),
            *("--cores", str(needs["cores"]), "--app-id", self.state["applicationId"]),
            *("--resourceProfileId", profile),
        ]
        variables = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
        }
        if self.secret:
            variables["_SPARK_AUTH_SECRET"] = self.secret
        with (self.folder / f"executor-{name}.log").open("wb") as log:
            return subprocess.Popen(
                command, env=variables, cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
            )


def _verdict(executor: str, process: subprocess.Popen[bytes] | None) -> dict[str, Any]:
    if process is None:
        return {"cause": "unknown", "byApplication": False, "message": f"there is no executor {executor}"}
    message = f"executor {executor} exited with {process.returncode}"
    return {"cause": "exited", "byApplication": False, "exitCode": process.returncode, "message": message}


def _cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.allocator.serve(self.connection)

    def finish(self) -> None:
        self.server.allocator.forget(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # a connection that `stop` has cut
            super().handle()

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._allowed():
            return
        if taken := self.server.allocator.taken:
            self._answer(409, {"error": taken})
        else:
            self._answer(200, self.server.allocator.take(body))

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if self._allowed():
            report = self.server.allocator.give(query["seen"][0], float(query["wait"][0]))
            self._answer(200 if report else 204, report)

    def _allowed(self) -> bool:
        right = self.headers["Authorization"] == f"Bearer {TOKEN}"
        if not right:
            self._answer(401, {"error": "wrong token"})
        return right

    def _answer(self, code: int, body: dict[str, Any] | None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        with contextlib.suppress(OSError):  # the driver may be gone by now
            self.send_response(code)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        """Tests read states, not logs."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, allocator: FakeAllocator) -> None:
        super().__init__(("127.0.0.1", allocator.port), _Handler)
        self.allocator = allocator
