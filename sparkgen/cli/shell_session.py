"""Runs `shell`: a session in a cluster, and a program on this machine whose Spark uses it."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import secrets
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from sparkgen import contract, model, names
from sparkgen.cli import output, run_local
from sparkgen.cli.request import ProgramOptions, Request
from sparkgen.cli.wait import seconds_of
from sparkgen.cluster import ClusterError, connect
from sparkgen.codes import Code
from sparkgen.errors import SparkgenError
from sparkgen.live.explain import fares
from sparkgen.live.facts import gather
from sparkgen.live.find import reread
from sparkgen.runtime.addresses import url_host
from sparkgen.shell import client_files, driver_address, session, session_rights
from sparkgen.shell.allocator_client import AllocatorClient, DriverSettings, Refusal
from sparkgen.shell.client_files import ClientFolder
from sparkgen.shell.driver_address import DriverAddress
from sparkgen.shell.ended_session import refuse_everything
from sparkgen.shell.heartbeat import Heartbeat
from sparkgen.shell.session_objects import AskedSession, objects_of
from sparkgen.shell.unused_fields import unused_fields
from sparkgen.usecases.connect import run_client
from sparkgen.usecases.forwarding import Forwarding, Served
from sparkgen.usecases.validate import agree
from sparkgen.usecases.wait import TimeLimit

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.document import Document
    from sparkgen.live.values import Run
    from sparkgen.model.application import Application
    from sparkgen.objects import Object

END_SECONDS = 15.0
"""Seconds for which the command tries to delete its session. A session also ends by itself."""
STOP_SECONDS = 10.0
"""Seconds that Spark may take to stop after the program: a Python program's JVM ends later."""
UNREACHABLE = 422
SERVED = Served(
    contract.SCHEDULER_PORT,
    "the session's allocator does not answer",
    again="the session's allocator restarted",
)
SHELLS = {"Python": "pyspark"}
"""Language -> the program to run if no command is given; SHELL for other languages."""
SHELL = "spark-shell"
_SPARKS_OWN = ("pyspark", "spark-shell", "spark-sql", "spark-submit", "sparkR")
_KINDS = ("SparkApplication", "ScheduledSparkApplication")
_COUNT_THE_DRIVER = ("volcano", "yunikorn")
"""Schedulers whose rendered group has the driver's pod as a member."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the driver listens; sparkgen chooses a value for "" and 0."""

    host: str = ""
    port: int = 0
    block_manager_port: int = 0


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
    with output.outliving_readers(), _leaving_by_signals():
        return _run(document, request, options)


def _run(document: Document, request: Request, options: ShellOptions) -> int:
    seconds = seconds_of(options.timeout) or 0
    _check_kind(document)
    cluster = connect(options.place)
    application = model.build(document.value, request.namespace or cluster.namespace)
    _check_authenticates(application)
    _check_scheduler(application)
    command = _command(options.arguments, application, os.environ)
    host = options.listening.host or driver_address.own_address(cluster.server)
    address = driver_address.resolved(host)
    if not request.quiet:
        run_local.tell_left_aside(document, unused_fields(document.value), "in a session")
    session_rights.check(cluster, application.namespace)
    here = _local(document, request)
    token = secrets.token_hex(32)
    id_ = secrets.token_hex(names.SESSION_ID_LENGTH)[: names.SESSION_ID_LENGTH]
    asked = AskedSession(application.name, id_, hashlib.sha256(token.encode()).hexdigest())
    objects = objects_of(application, asked)
    limit = TimeLimit(options.timeout, time.monotonic() + seconds)
    with client_files.client_folder(os.environ) as folder, contextlib.ExitStack() as stack:
        session.make_basis(cluster, objects)
        # Registered before the Job is created: if the answer is lost, or a signal comes, the Job may exist.
        ending = stack.enter_context(contextlib.ExitStack())
        ending.callback(_end, cluster, objects.job)
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
        driver = _prepare(application, client, folder, reached, here.folder)
        over = threading.Event()
        stack.callback(over.set)
        watch = (cluster, forwarding, heartbeat, over)
        threading.Thread(target=_until_the_end, args=watch, daemon=True).start()
        variables = client_files.environment_of(application, os.environ, folder, here.python_path)
        code = run_client(command, variables)
        session.await_stop(client, driver, STOP_SECONDS)
        return code


@dataclass(frozen=True, slots=True)
class Local:
    """The document's folder, and the folders of Python's modules and of the requirements' packages."""

    folder: Path
    python_path: tuple[str, ...]


def _local(document: Document, request: Request) -> Local:
    """Returns the document's folder and Python's folders. Installs packages into the cache."""
    from sparkgen.local.view import Plain  # noqa: PLC0415 - few documents have any
    from sparkgen.usecases.local_files import folder_of  # noqa: PLC0415

    _, python_path = run_local.in_place(document, request, Plain(sys.stderr))
    return Local(folder_of(document), python_path)


@dataclass(frozen=True, slots=True)
class Reached:
    """How executors reach this machine: at `host`, which resolves to `address`.

    `allocator_port`: of this machine, at which the driver reaches the allocator.
    """

    host: str
    address: str
    listening: Listening
    allocator_port: int


def _prepare(
    application: Application, client: AllocatorClient, folder: ClientFolder, reached: Reached, home: Path
) -> DriverAddress:
    """Test whether pods reach this machine, and write the driver's files. Returns the driver's address."""
    settings, driver = _tried(client, reached)
    if not driver_address.reaches(settings.pod_address, settings.allocator_port):
        place = f"{url_host(settings.pod_address)}:{settings.allocator_port}"
        output.say(
            f"this machine cannot reach pods ({place}): task "
            "results larger than spark.task.maxDirectResultSize (1 MiB) cannot be fetched"
        )
    folder.write(folder.jar, client.jar(application.scala_version))
    folder.write(folder.token, client.token.encode())
    files = client_files.files(application, settings.properties, folder, reached.allocator_port, home)
    for name, text in files.items():
        folder.write(folder.conf / name, text.encode())
    output.say(
        f"executors will connect to {url_host(driver.host)}:{driver.port} and {driver.block_manager_port}"
    )
    return driver


def _tried(client: AllocatorClient, reached: Reached) -> tuple[DriverSettings, DriverAddress]:
    """Returns the driver's settings and address. Raises SparkgenError if pods cannot reach the address."""
    listening = reached.listening
    taken = driver_address.taken_ports(reached.address, listening.port, listening.block_manager_port)
    with taken as sockets:
        port, block_manager_port = (int(one.getsockname()[1]) for one in sockets)
        driver, nonce = DriverAddress(reached.host, port, block_manager_port), secrets.token_hex(16)
        try:
            with driver_address.shown_nonce(sockets[0], nonce):
                settings = client.tell_driver(driver, nonce)
        except Refusal as error:
            if error.status != UNREACHABLE:
                raise
            raise SparkgenError(
                f"{error}. Executors could not connect, either. Open the port in this machine's firewall "
                "(choose it with --driver-port), or set another address with --driver-host. If pods cannot "
                "reach this machine at all, use a Connect server: docs/client-mode.md"
            ) from error
    return settings, driver


def _check_kind(document: Document) -> None:
    kind = document.value["kind"]
    if kind == model.CONNECT_KIND:
        raise SparkgenError(
            f"the driver of a {kind} runs in the cluster; next: sparkgen connect "
            f"{document.value['metadata']['name']}"
        )
    if kind not in _KINDS:
        why = "has no executors" if kind in model.SERVER_KINDS else "runs its driver in the cluster"
        raise SparkgenError(f"a {kind} {why}; give an application's document")


def _check_authenticates(application: Application) -> None:
    """Raise SparkgenError if anybody who reaches the driver's port could run code as this user."""
    asked = application.properties.get("spark.authenticate", "true")
    if asked.lower() != "true":
        raise SparkgenError(
            f"spark.authenticate is {asked}: anybody who can reach the driver's port on this machine "
            "could run "
            "programs as you. Delete it from spec.sparkConf; if you use a shuffle service, set its secretName"
        )


def _check_scheduler(application: Application) -> None:
    """Raise SparkgenError if the scheduler reserves room for a driver's pod: a session has none."""
    name = application.batch.name if application.batch else ""
    if name in _COUNT_THE_DRIVER:
        raise SparkgenError(
            f"batchScheduler {name} reserves room for a driver in the cluster, but the driver of a "
            "session runs "
            "on this machine; add --set spec.batchScheduler=null,spec.batchSchedulerOptions=null"
        )


def _command(
    asked: tuple[str, ...], application: Application, environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Returns the program's path on this machine, and its arguments. Raises SparkgenError if not found."""
    first, *arguments = asked or (SHELLS.get(application.language, SHELL),)
    home = environment.get("SPARK_HOME")
    places = (os.path.join(home, "bin") if home else "", environment.get("PATH", os.defpath))  # noqa: PTH118
    program = shutil.which(first, path=os.pathsep.join(filter(None, places)))
    if program is None:
        step = ""
        if first in _SPARKS_OWN:
            version = application.spark_version
            step = f"; install Spark {version} (pip install pyspark=={version}), or set SPARK_HOME"
        raise SparkgenError(f"cannot run {first}: command not found{step}")
    return (program, *arguments)


def _until_the_end(
    cluster: Cluster, forwarding: Forwarding, heartbeat: Heartbeat, over: threading.Event
) -> None:
    """If the session ends before the program does, print that, and tell the driver, until `over` is set."""
    if not forwarding.until_the_end():
        return
    heartbeat.stop()
    ended = f"the session {forwarding.run.name} has ended{_why(cluster, forwarding.run)}"
    output.say(f"{ended}; Spark stops in your program")
    # Otherwise, the driver tolerates the lost connection to its allocator for a minute and a half.
    reason = f"[{Code.SESSION_ENDED}] {ended}"
    with (
        contextlib.suppress(OSError),  # the command has ended, and closed the port
        contextlib.closing(refuse_everything(forwarding.hand_over(), reason)),
    ):
        over.wait()


def _why(cluster: Cluster, run: Run) -> str:
    try:
        return f" ({fares(gather(cluster, reread(cluster, run)), datetime.now(UTC))})"
    except SparkgenError:
        return ""


def _end(cluster: Cluster, job: Object) -> None:
    """Delete the session; if that fails, print that it ends by itself."""
    message = f"the session {job['metadata']['name']} could not be deleted; it ends by itself within a minute"
    failed: list[str] = []

    def delete() -> None:
        try:
            session.end(cluster, job)
        except SparkgenError as error:
            failed.append(f"{message}: {error}")

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        thread = threading.Thread(target=delete, daemon=True)
        thread.start()
        thread.join(END_SECONDS)
        if thread.is_alive() or failed:
            output.say(failed[0] if failed else message)
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _leaving_by_signals() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise SystemExit, once, so that what was started is ended first."""
    left = False

    def leave(number: int, _frame: FrameType | None) -> None:
        nonlocal left
        if not left:
            left = True
            raise SystemExit(128 + number)

    wanted = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is not signal.SIG_IGN]
    before = {number: signal.signal(number, leave) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
