"""`sparkgen-runtime janitor` and `sparkgen-runtime janitor prepare`, in the pods of a shuffle service.

Exit codes: 0 success, 1 refused or failed (with a message that says what to do), 2 wrong arguments.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from datetime import UTC, datetime

from sparkgen import contract
from sparkgen.runtime.contract_check import check_contract
from sparkgen.runtime.exits import Refused, exit_code
from sparkgen.runtime.httpserver.listening import listen
from sparkgen.runtime.janitor import cluster, settings
from sparkgen.runtime.janitor.disk import Disk
from sparkgen.runtime.janitor.endpoints import handler, patience
from sparkgen.runtime.janitor.prepare import BadDirectory, prepare, wait_for_the_end
from sparkgen.runtime.janitor.rounds import Janitor, JanitorPorts
from sparkgen.runtime.kubernetes.access import NoCluster, in_cluster
from sparkgen.runtime.kubernetes.transport import Transport

AGENT = "sparkgen-janitor"
LEAVING = 45.0
"""Seconds that an earlier service may take to end: its pod's grace period, and some more."""


def main(arguments: list[str]) -> int:
    """Run what the arguments name. Returns the exit code."""
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
        raise Refused(f"cannot prepare the service's directories: {error}") from None
    for line in done:
        _say(line)
    return 0


def _run() -> int:
    check_contract(os.environ)
    held, folders = settings.settings(os.environ), settings.directories(os.environ)
    try:
        calls = Transport(in_cluster(os.environ), AGENT, hook=cluster.trim_decoded)
    except NoCluster as error:
        raise Refused(str(error)) from None
    ports = JanitorPorts(Disk(folders), lambda name: cluster.drivers(calls, name), time.monotonic, _say)
    janitor, stop = Janitor(ports, held), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    port = settings.port(os.environ)
    try:
        listener = listen("", port, handler(janitor, patience(held.interval)))
    except OSError as error:
        raise Refused(f"cannot listen on port {port}: {error}") from None
    node = os.environ.get(contract.ENV_NODE_NAME, "")
    _say(f"janitor of {', '.join(map(str, folders))}{' on ' + node if node else ''}: {held}")
    janitor.run(stop)
    listener.close()
    return 0


def _say(line: str) -> None:
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    print(f"{moment} {printable(line)}", flush=True)  # noqa: T201 - the container's log


def printable(line: str) -> str:
    """A line made safe for the log: names of files are untrusted, and may not even be text."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape", "backslashreplace").decode()
        for one in line
    )
