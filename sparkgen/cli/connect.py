"""`sparkgen connect`: forwards a port to a Connect server or a notebook, and may run a program with it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen import contract
from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import PLACE, port
from sparkgen.cli.request import ClusterOptions
from sparkgen.cli.wait import seconds_of
from sparkgen.cluster import connect
from sparkgen.cluster.annotations import controller_of
from sparkgen.errors import SparkgenError
from sparkgen.live.find import one
from sparkgen.live.state import State, life_of
from sparkgen.live.values import Run, notebook_port, served_as
from sparkgen.model.connect import REMOTE, address
from sparkgen.usecases import connect as usecase
from sparkgen.usecases.forwarding import Forwarding
from sparkgen.usecases.wait import TimeLimit, until_ready

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

HELP = """Forward a local port to a Spark Connect server or a notebook, until Ctrl-C or until the server ends.

If the server has not started or does not answer yet, the command waits. Then it prints the local address to
standard output. With COMMAND, it runs that program with the address in SPARK_REMOTE, and exits with the exit
code of the program.

If the server needs a token, sparkgen reads the token from its Secret with your permissions, and gives it to
COMMAND in SPARK_CONNECT_AUTHENTICATE_TOKEN. If you may not read the Secret, set that variable yourself, or
put a token in SPARK_REMOTE.

For a notebook, open the printed address in a browser. JupyterLab asks for its token.

A server that is suspended or scaled to 0 has no driver. With --start, the command scales the Deployment of
the server to 1 and waits; you need permission to patch the Deployment.

The connection goes through the API server, as with kubectl port-forward: you need permission to get and
create pods/portforward. If Kubernetes replaces the server's driver, new connections go to the new driver, and
the state of sessions is lost.
"""
EXAMPLES = """\b
Examples:
  sparkgen connect team-a               # prints sc://localhost:15002
  sparkgen connect team-a --port 0      # any free port
  sparkgen connect team-a -- python report.py 2026-01-01
  sparkgen connect team-a -n analytics -- pyspark
  sparkgen connect team-a -- jupyter lab
  sparkgen connect ada                  # a notebook: prints http://ada-NAMESPACE-RANDOM.localhost:8888
  sparkgen connect team-a --start       # start it if it is suspended
"""


_STOPPED = (State.SUSPENDED, State.DELETING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectOptions(ClusterOptions):
    """The options of a call. `arguments`: a program to run, and its arguments; `timeout`: such as `5m`.

    `port`: None for the server's own number. `start`: whether to start a suspended server.
    """

    name: str
    arguments: tuple[str, ...]
    port: int | None
    timeout: str
    start: bool = False


def connect_to(options: ConnectOptions) -> int:
    """Forward the port until the end. Returns 0, or the program's exit code."""
    seconds = seconds_of(options.timeout) or 0
    if options.arguments and shutil.which(options.arguments[0]) is None:
        raise SparkgenError(f"cannot run {options.arguments[0]}: command not found")
    cluster = connect(options.place)
    run = usecase.server(one(cluster, options.name))
    notebook = notebook_port(run)
    if notebook and options.arguments:
        raise SparkgenError(
            f"{run.application} is a notebook, not a server for {options.arguments[0]}; leave out the "
            "command after --, and open the address in a browser"
        )
    if options.start and life_of(run).state is State.SUSPENDED:
        run = _started(cluster, run)
    environment = usecase.environment_of(cluster, run, os.environ, output.say) if options.arguments else {}
    near = options.port if options.port is not None else notebook or contract.CONNECT_PORT
    forwarding = Forwarding(cluster, run, usecase.served(run, secrets.token_hex(8)), near, output.say)
    with contextlib.closing(forwarding):
        limit = TimeLimit(options.timeout, time.monotonic() + seconds)
        forwarding.start(until_ready(cluster, run, run.application, _STOPPED, limit, output.say))
        if not options.arguments:
            _tell(run, forwarding, options.here(run.namespace))
            _until_the_end(forwarding)
            return 0
        threading.Thread(target=_until_the_end, args=(forwarding,), daemon=True).start()
        return usecase.run_client(options.arguments, usecase.with_address(environment, forwarding.port))


def _started(cluster: Cluster, run: Run) -> Run:
    """Start a suspended server. Returns its run."""
    controller = controller_of(run.workload)
    run = usecase.start(cluster, run)
    output.say(f"started {run.application}")
    if controller:
        output.say(f"{controller} stops it at its next sync if spec.suspend is true in Git")
    return run


def _tell(run: Run, forwarding: Forwarding, place: str) -> None:
    """Print the address as data, and as notes how to use it and where its token is."""
    notebook = bool(notebook_port(run))
    remote = forwarding.page if notebook else address(forwarding.port)
    output.write(f"{remote}\n")
    output.note(f"forwarding {_title(run)}; press Ctrl-C to stop")
    if not notebook:
        output.note(f"to use it, run in another terminal: export {REMOTE}={remote}")
    if source := usecase.token_source(run):
        template = f'{{{{index .data "{source.key}" | base64decode}}}}'
        read = (
            f"kubectl get secret {shlex.quote(source.secret)}{place} -o go-template={shlex.quote(template)}"
        )
        output.note(
            f"its token is in the Secret {source.secret}, key {source.key}; if you have permission to read "
            "the Secret:"
        )
        output.note(f"  {read}" if notebook else f'  export {contract.ENV_CONNECT_TOKEN}="$({read})"')


def _title(run: Run) -> str:
    return f"the {served_as(run.workload)} {run.application}"


def _until_the_end(forwarding: Forwarding) -> None:
    if forwarding.until_the_end():
        output.note(f"{_title(forwarding.run)} has ended")


COMMAND = command(
    ConnectOptions,
    connect_to,
    Option("name", "NAME", "Application: a Connect server or a notebook.", required=True),
    Option("arguments", "[-- COMMAND...]", "Client program and its arguments.", many=True),
    port("port", "--port", "Local port; 0 for any free port (default 15002, or 8888 for a notebook)."),
    Option(
        "timeout", "--timeout TIME", "Maximum time to wait for the server, for example 30m.", default="5m"
    ),
    Option("start", "--start", "Start the server if it is suspended."),
    *PLACE,
)
