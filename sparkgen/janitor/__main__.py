"""`sparkgen-runtime janitor` and `sparkgen-runtime janitor prepare`, in the pods of a shuffle service.

Exit codes: 0 done, 1 refused or failed (with a message that says what to do), 2 called wrongly.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sparkgen import contract
from sparkgen.allocator.exits import exit_code
from sparkgen.allocator.install import Refused, check_contract
from sparkgen.allocator.transport import NoCluster, Transport, in_cluster
from sparkgen.janitor import cluster, settings
from sparkgen.janitor.disk import BadDirectory, Disk, open_database, prepare
from sparkgen.janitor.rounds import Janitor, Ports

AGENT = "sparkgen-janitor"
HUNG = 10
"""So many intervals without a round, and the process is not well."""
LEAVING = 45.0
"""Seconds that a service before this one may take to end: its pod's grace, and some more."""


def main(arguments: list[str]) -> int:
    """Do what the arguments say; the exit code."""
    match arguments:
        case []:
            return exit_code(_run)
        case ["prepare"]:
            return exit_code(_prepare)
    print("usage: sparkgen-runtime janitor [prepare]", file=sys.stderr)  # noqa: T201
    return 2


def _prepare() -> int:
    check_contract(os.environ)
    folders = settings.directories(os.environ)
    wait_for_the_end(folders, LEAVING, time.monotonic, time.sleep)
    try:
        done = prepare(folders, str(time.time_ns()))
    except BadDirectory as error:
        raise Refused(str(error)) from None
    except OSError as error:
        raise Refused(f"the service's directories cannot be made ready: {error}") from None
    for line in done:
        _say(line)
    return 0


def wait_for_the_end(
    folders: Sequence[Path], patience: float, clock: Callable[[], float], sleep: Callable[[float], None]
) -> None:
    """Wait until no service has its database open, as one whose pod was deleted by force still may.

    Refused when one has it for longer than `patience` (seconds): the kubelet tries again.
    """
    deadline = clock() + patience
    while database := open_database(folders):
        if clock() > deadline:
            raise Refused(
                f"{database} is open: a shuffle service still runs in these directories, and another one "
                "beside it would forget what it serves. End it, or give each service directories of its own"
            )
        sleep(0.2)


def _run() -> int:
    check_contract(os.environ)
    held, folders = settings.settings(os.environ), settings.directories(os.environ)
    try:
        calls = Transport(in_cluster(os.environ), AGENT)
    except NoCluster as error:
        raise Refused(str(error)) from None
    ports = Ports(Disk(folders), lambda name: cluster.drivers(calls, name), time.monotonic, _say)
    janitor, stop = Janitor(ports, held), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    port = settings.port(os.environ)
    try:
        server = ThreadingHTTPServer(("", port), handler(janitor, HUNG * held.interval))
    except OSError as error:
        raise Refused(f"cannot listen on port {port}: {error}") from None
    threading.Thread(target=server.serve_forever, name="http", daemon=True).start()
    node = os.environ.get(contract.ENV_NODE_NAME, "")
    _say(f"janitor of {', '.join(map(str, folders))}{' on ' + node if node else ''}: {held}")
    janitor.run(stop)
    server.server_close()
    return 0


def handler(janitor: Janitor, patience: float) -> type[BaseHTTPRequestHandler]:
    """Answers probes, people and Prometheus; it is not well when no round was made for `patience` seconds."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer one question."""
            match self.path:
                case contract.READY_PATH:
                    self._answer(200 if janitor.last else 503, "ok\n" if janitor.last else "no round yet\n")
                case contract.HEALTH_PATH:
                    well = janitor.last is None or time.monotonic() - janitor.last.at < patience
                    self._answer(200 if well else 503, "ok\n" if well else "no round for long\n")
                case contract.METRICS_PATH:
                    self._answer(200, janitor.metrics(), "text/plain; version=0.0.4; charset=utf-8")
                case contract.STATUS_PATH:
                    self._answer(200, json.dumps(janitor.body(), indent=2) + "\n", "application/json")
                case _:
                    self._answer(404, "ask for /status or /metrics\n")

        def _answer(self, status: int, text: str, kind: str = "text/plain; charset=utf-8") -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Probes are no news."""

    return Handler


def _say(text: str) -> None:
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    print(f"{moment} {text}", flush=True)  # noqa: T201 - the container's log


def run() -> None:
    """Be a process."""
    sys.exit(main(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
