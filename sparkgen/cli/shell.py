"""`sparkgen shell`: a session in a cluster, and a program on this machine whose Spark uses it."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import secrets
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen import contract, model, names
from sparkgen.cli import output, run_local
from sparkgen.cli.leaving import leaving_by_signals
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CHANGES, PLACE, QUIET, port
from sparkgen.cli.request import ProgramOptions, Request
from sparkgen.cli.wait import seconds_of
from sparkgen.cluster import ClusterError, connect
from sparkgen.local.view import Plain
from sparkgen.shell import client_files, driver_address, driver_files, requirements, session, session_rights
from sparkgen.shell.allocator_client import AllocatorClient
from sparkgen.shell.driver_files import Listening, Reached
from sparkgen.shell.heartbeat import Heartbeat
from sparkgen.shell.session_objects import AskedSession, objects_of
from sparkgen.shell.unused_fields import unused_fields
from sparkgen.usecases.bring_runtime import bring_all
from sparkgen.usecases.connect import run_client
from sparkgen.usecases.forwarding import Forwarding, Served
from sparkgen.usecases.local_files import folder_of
from sparkgen.usecases.runtime import config_map_of, with_runtime
from sparkgen.usecases.validate import agree
from sparkgen.usecases.wait import TimeLimit

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.document import Document
    from sparkgen.model.application import Application

HELP = """Run a shell, a script or a notebook on this machine, with Spark's executors in a cluster.

COMMAND runs on this machine, and contains the driver. The default is pyspark for Python documents, and
spark-shell for others. The document describes the executors; its main file does not run. A Job in the cluster
creates and deletes the executors. The Job ends when COMMAND ends, or one minute after the Job loses contact
with this machine. In both cases, no pod is left in the cluster.

Executors connect to the driver, so pods must be able to reach this machine. sparkgen finds the address of
this machine, or you set the address with --driver-host. A pod then tests the address. If pods cannot reach
this machine, use a Connect server: `sparkgen connect`.

The exit code is that of COMMAND, and COMMAND handles Ctrl-C.
"""
EXAMPLES = """\b
Examples:
  sparkgen shell app.yaml                           # pyspark, or spark-shell
  sparkgen shell app.yaml -- python report.py 2026-01-01
  sparkgen shell app.yaml -n analytics -- spark-sql
  sparkgen shell app.yaml --set spec.dynamicAllocation.maxExecutors=4 -- jupyter lab
  sparkgen shell app.yaml --driver-host 10.1.2.3 --driver-port 7078
"""

STOP_SECONDS = 10.0
"""Seconds that Spark may take to stop after the program: a Python program's JVM ends later."""
SERVED = Served(
    contract.SCHEDULER_PORT,
    "the session's allocator does not answer",
    again="the session's allocator restarted",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellOptions(ProgramOptions):
    """The options of `shell`. `arguments`: the program and its arguments, () for Spark's shell."""

    driver_host: str
    driver_port: int
    block_manager_port: int

    @property
    def listening(self) -> Listening:
        """Where the driver listens."""
        return Listening(self.driver_host, self.driver_port, self.block_manager_port)


def run(options: ShellOptions) -> int:
    """Start a session, run the program, end the session. Returns its exit code; 1 for a bad document."""
    request = options.request
    document = run_local.one_document(request, options.name)
    if document is None:
        return 1
    agree([document], request.namespace)
    gc.enable()  # a session lasts for hours
    with output.outliving_readers(), leaving_by_signals():
        return _run(document, request, options)


def _bring_runtime(cluster: Cluster, application: Application, *, named: bool) -> None:
    """Create the ConfigMap with the runtime if it is missing, or check the one that is there."""
    for _ in bring_all(cluster, [(application.namespace, *config_map_of(application, named=named))]):
        pass


def _run(document: Document, request: Request, options: ShellOptions) -> int:
    seconds = seconds_of(options.timeout) or 0
    requirements.check_kind(document)
    cluster = connect(options.place)
    given, document = document, with_runtime(document)
    application = model.build(document.value, request.namespace or cluster.namespace)
    requirements.check_authenticates(application)
    requirements.check_scheduler(application)
    requirements.check_allocator(application)
    program = requirements.command(options.arguments, application, os.environ)
    host = options.listening.host or driver_address.own_address(cluster.server)
    address = driver_address.resolved(host)
    if not request.quiet:
        run_local.tell_left_aside(document, unused_fields(document.value), "in a session")
    session_rights.check(cluster, application.namespace)
    _, python_path = run_local.in_place(document, request, Plain(sys.stderr))
    token = secrets.token_hex(32)
    id_ = secrets.token_hex(names.SESSION_ID_LENGTH)[: names.SESSION_ID_LENGTH]
    asked = AskedSession(application.name, id_, hashlib.sha256(token.encode()).hexdigest())
    objects = objects_of(application, asked)
    limit = TimeLimit(options.timeout, time.monotonic() + seconds)
    with client_files.client_folder(os.environ) as folder, contextlib.ExitStack() as stack:
        _bring_runtime(cluster, application, named=document is given)
        session.make_basis(cluster, objects)
        # Registered before the Job is created: if the answer is lost, or a signal comes, the Job may exist.
        ending = stack.enter_context(contextlib.ExitStack())
        ending.callback(session.end_session, cluster, objects.job, output.say)
        try:
            job = session.make(cluster, objects)
        except ClusterError as error:
            if error.status == 409:
                ending.pop_all()  # another session's Job has this name
            raise
        session.complete(cluster, objects, job, address, output.say)
        session_run = session.await_allocator(cluster, job, limit, output.say)
        forwarding = stack.enter_context(
            contextlib.closing(Forwarding(cluster, session_run, SERVED, 0, output.say))
        )
        forwarding.start(session_run)
        client = AllocatorClient(forwarding.open, token)
        heartbeat = Heartbeat(client.say_alive, output.say)
        heartbeat.start()
        stack.callback(heartbeat.stop)
        reached = Reached(host, address, options.listening, forwarding.port)
        home = folder_of(document)
        driver = driver_files.prepare(application, client, folder, reached, home, output.say)
        over = threading.Event()
        stack.callback(over.set)
        watch = (cluster, forwarding, heartbeat, over, output.say)
        threading.Thread(target=session.report_end, args=watch, daemon=True).start()
        variables = client_files.environment_of(application, os.environ, folder, python_path)
        code = run_client(program, variables)
        session.await_stop(client, driver, STOP_SECONDS)
        return code


COMMAND = command(
    ShellOptions,
    run,
    Option("source", "PATH", "Document: a file, a directory, or -.", required=True),
    Option("arguments", "[-- COMMAND...]", "Program that uses Spark, and its arguments.", many=True),
    *CHANGES,
    Option("name", "--name NAME", "Use the application with this metadata.name, if there are several."),
    Option(
        "driver_host", "--driver-host HOST", "Address of this machine that pods can reach. Default: detected."
    ),
    port(
        "driver_port", "--driver-port", "Port of the driver, for executors; 0 for any free port.", default=0
    ),
    port(
        "block_manager_port",
        "--block-manager-port",
        "Port of the driver's block manager, for executors; 0 for any free port.",
        default=0,
    ),
    Option(
        "timeout",
        "--timeout TIME",
        "Maximum time to wait for the session's pod, for example 30m.",
        default="5m",
    ),
    *PLACE,
    QUIET,
)
