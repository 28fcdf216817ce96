"""A real Airflow for tests: API server, scheduler with workers, triggerer and DAG processor, one database.

It runs in the network of the test cluster, listens on loopback, and is gone with its test.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cluster import network
from cluster.plan import NAME
from common import progress
from common.cachedir import ToolError, cache_root, environment, key, publish
from common.command import run, wait_for
from common.ports import free_port

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements" / "airflow.txt"
PARTS = ("api-server", "scheduler", "triggerer", "dag-processor")
SECONDS = 180.0
"""How long Airflow may take to start, on a machine that does other things."""
_ASK = """
import json, sys, urllib.request
method, address, body = sys.argv[1:]
headers = {"Content-Type": "application/json"}
request = urllib.request.Request(address, body.encode() or None, headers, method=method)
print(urllib.request.urlopen(request, timeout=30).read().decode())
"""


def folder() -> Path:
    """The folder with Airflow and its dependencies, to name in PYTHONPATH; ToolError if it cannot be had."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    name = f"{version}-{key(version, REQUIREMENTS.read_bytes())}"
    return publish(cache_root(environment()) / "airflow" / name, _install)


def _install(target: Path) -> None:
    progress.say("installing Airflow (once; a minute)")
    command = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    locked = ("--require-hashes", "--requirement", str(REQUIREMENTS))
    run(*command, "--target", str(target), *locked, failed="Airflow cannot be installed")


class Airflow:
    """An Airflow whose parts run. `home`: its folder; `paths`: of packages that its DAGs import."""

    def __init__(self, home: Path, dags: Path, paths: Sequence[Path]) -> None:
        self._home, self._port = home, free_port()
        self._parts: dict[str, subprocess.Popen[bytes]] = {}
        self._variables = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, [*paths, folder()])),
            "AIRFLOW_HOME": str(home),
            **_settings(home, dags, self._port),
        }

    def start(self, *parts: str) -> None:
        """Start parts that do not run."""
        for part in parts:
            with (self._home / f"{part}.log").open("ab") as log:
                self._parts[part] = subprocess.Popen(
                    self._command(part), env=self._variables, stdout=log, stderr=log, start_new_session=True
                )

    def kill(self, *parts: str) -> None:
        """Kill parts with all their processes, such as the workers of the scheduler, without a warning."""
        for part in parts:
            process = self._parts.pop(part)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        """Kill what runs."""
        self.kill(*self._parts)

    def ready(self) -> None:
        """Wait until the API server answers, and the other parts have said that they live."""

        def healthy() -> bool:
            try:
                found = self.ask("GET", "monitor/health")
            except ToolError:
                return False
            others = ("scheduler", "triggerer", "dag_processor")
            return all(found[part]["status"] == "healthy" for part in others)

        wait_for(healthy, SECONDS, 1.0)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Returns the answer of Airflow's REST API; ToolError for one that says no."""
        address = f"http://127.0.0.1:{self._port}/api/v2/{path}"
        text = "" if body is None else json.dumps(body)
        command = [*network.enter(NAME), sys.executable, "-I", "-c", _ASK, method, address, text]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"{method} {path}: {done.stderr.strip().rpartition(chr(10))[2]}")
        return json.loads(done.stdout or "null")

    def migrate(self) -> None:
        """Make the database."""
        run(*self._command("db", "migrate"), environment=self._variables, failed="Airflow makes no database")

    def story(self) -> str:
        """The ends of all logs."""
        return "\n".join(f"--- {path.name}\n{path.read_text()[-3000:]}" for path in self._home.glob("*.log"))

    def _command(self, *words: str) -> list[str]:
        return [*network.enter(NAME), sys.executable, "-m", "airflow", *words]


def _settings(home: Path, dags: Path, port: int) -> dict[str, str]:
    """Airflow's configuration: it notices quickly that a worker has died, and everybody may do everything."""
    found = {
        "core": {
            "dags_folder": str(dags),
            "load_examples": "False",
            "executor": "LocalExecutor",
            "parallelism": "4",
            "simple_auth_manager_all_admins": "True",
            "execution_api_server_url": f"http://127.0.0.1:{port}/execution/",
            "fernet_key": "",
        },
        "database": {"sql_alchemy_conn": f"sqlite:///{home}/airflow.db"},
        "api": {"host": "127.0.0.1", "port": str(port), "workers": "1"},
        "api_auth": {"jwt_secret": secrets.token_hex(16)},
        "scheduler": {
            "task_instance_heartbeat_timeout": "20",
            "task_instance_heartbeat_timeout_detection_interval": "5",
            "scheduler_health_check_threshold": "20",
            "orphaned_tasks_check_interval": "5",
        },
        "dag_processor": {"refresh_interval": "10"},
        "logging": {"base_log_folder": str(home / "logs")},
    }
    return {
        f"AIRFLOW__{section.upper()}__{name.upper()}": text
        for section, options in found.items()
        for name, text in options.items()
    }


@contextmanager
def running(home: Path, dags: Path, paths: Sequence[Path]) -> Iterator[Airflow]:
    """Run an Airflow in a folder during the block."""
    airflow = Airflow(home, dags, paths)
    airflow.migrate()
    try:
        airflow.start(*PARTS)
        airflow.ready()
        yield airflow
    finally:
        airflow.close()
