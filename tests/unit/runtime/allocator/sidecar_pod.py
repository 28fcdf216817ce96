"""A driver's pod for tests of the sidecar: a process, a World in memory, and a driver that speaks."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.ports import free_ports
from sparkgen.runtime.allocator.driver import properties
from sparkgen.runtime.allocator.values.attempt import attempt_of

PROGRAM = Path(__file__).with_name("sidecar_program.py")
POD_UID = "0a1b2c3d-0000-0000-0000-000000000001"
APPLICATION_ID = f"pi-12345678-{attempt_of(POD_UID)}"
ENVIRONMENT = {
    "SPARKGEN_CONTRACT": "1",
    "SPARKGEN_APPLICATION": "pi",
    "SPARKGEN_RUN": "pi-12345678",
    "SPARKGEN_POD_NAME": "pi-12345678-abc",
    "SPARKGEN_POD_NAMESPACE": "default",
    "SPARKGEN_POD_UID": POD_UID,
    "SPARKGEN_POD_IP": "127.0.0.1",
}
TEMPLATE = {
    "kind": "PodTemplate",
    "template": {"spec": {"containers": [{"name": "spark-kubernetes-executor"}]}},
}
DEFAULTS = "spark.authenticate true\nspark.executor.cores 2\nspark.app.name pi \\u00e9\n"


def until(condition: Callable[[], Any], seconds: float = 20.0) -> Any:
    """What the condition gives as soon as that is something; a failure when it takes too long."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.02)
    return found


@dataclass
class Pod:
    """The driver's pod as far as the allocator sees it: volumes in a folder, ports on loopback."""

    folder: Path
    ports: list[int] = field(default_factory=lambda: free_ports(3))
    processes: list[subprocess.Popen[str]] = field(default_factory=list)
    session: str = "s1"
    revision: int = 0

    def write(self, tuning: dict[str, Any]) -> None:
        """Fill the volumes."""
        for name, file, text in (
            ("conf", "spark-defaults.conf", DEFAULTS),
            ("executor", "executor.json", json.dumps(TEMPLATE)),
            ("tuning", "tuning.json", json.dumps({"version": 1, **tuning})),
        ):
            (self.folder / name).mkdir(exist_ok=True)
            (self.folder / name / file).write_text(text)
        (self.folder / "session").mkdir(exist_ok=True)

    def start(self, **environment: str) -> subprocess.Popen[str]:
        """Start the allocator, and wait until its startup probe answers."""
        env = {**os.environ, **ENVIRONMENT, **environment}
        command = [sys.executable, str(PROGRAM), str(self.folder), *map(str, self.ports)]
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.processes.append(process)
        until(lambda: process.poll() is not None or self.get("/readyz")[0] == 200)
        return process

    def get(self, path: str, seconds: float = 10.0) -> tuple[int, str]:
        """Ask at the pod's address; 0 when nobody answers."""
        with suppress(OSError), closing(self._connection(self.ports[1], seconds)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        return 0, ""

    def status(self) -> dict[str, Any]:
        """What /status says."""
        body: dict[str, Any] = json.loads(self.get("/status")[1])
        return body

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
        """Ask on loopback, as the jar does."""
        token = (self.folder / "session" / "token").read_text() if token is None else token
        headers = {"Authorization": f"Bearer {token}"}
        with closing(self._connection(self.ports[0], 30)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None

    def say(self, targets: dict[str, int], **changes: Any) -> dict[str, Any]:
        """Say a state, and get it acknowledged."""
        self.revision += 1
        state = {
            "version": 1,
            "session": self.session,
            "revision": self.revision,
            "phase": "running",
            "applicationId": APPLICATION_ID,
            "dynamic": True,
            "targets": targets,
            **changes,
        }
        code, answer = self.ask("PUT", "/v1/state", state)
        assert code == 200, answer
        assert isinstance(answer, dict)
        return answer

    def executors(self) -> list[int]:
        """The executors whose pods run."""
        return [pod["id"] for pod in self.status().get("pods", ()) if not pod["deleting"]]

    def stop(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        """Tell it to end; its exit code and its log."""
        process.send_signal(signal.SIGTERM)
        log, _ = process.communicate(timeout=40)
        return process.returncode, log

    def world(self) -> dict[str, Any]:
        """What the World had seen when the process ended."""
        found: dict[str, Any] = json.loads((self.folder / "world.json").read_text())
        return found

    def properties(self) -> dict[str, str]:
        """What the driver starts with."""
        return properties.parse((self.folder / "session" / "spark.properties").read_text())

    def _connection(self, port: int, seconds: float) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
