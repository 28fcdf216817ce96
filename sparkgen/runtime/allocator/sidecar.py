"""The allocator as the sidecar of a driver's pod, from reading its environment to deleting its executors.

In client mode it is the pod's only container, and the driver is elsewhere (docs/design/client-mode.md).
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sparkgen import contract
from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.addresses import url_host
from sparkgen.runtime.allocator.allocator import Allocator, ListenAddress, Parts
from sparkgen.runtime.allocator.decide import host_ports
from sparkgen.runtime.allocator.driver import reach, session
from sparkgen.runtime.allocator.driver.client_session import ClientEndpoint
from sparkgen.runtime.allocator.driver.driver_address import DriverAddress
from sparkgen.runtime.allocator.driver.expiry import why_expired
from sparkgen.runtime.allocator.driver.sessions import SessionMode
from sparkgen.runtime.allocator.driver.tuning import BadTuning, FixedSettings, TuningFile
from sparkgen.runtime.allocator.pods.driver_pod import DriverPod
from sparkgen.runtime.allocator.pods.template import TemplateError, gang_of, grace_of, pools_of, read_template
from sparkgen.runtime.allocator.report.log import Log
from sparkgen.runtime.allocator.report.log_files import LogFiles
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLevel
from sparkgen.runtime.allocator.session_parts import (
    Around,
    SessionEnvironment,
    session_environment,
    with_sessions,
)
from sparkgen.runtime.allocator.shutdown import ClockAndSleep, driver_answers, driver_runs_on
from sparkgen.runtime.allocator.values.attempt import Attempt, new_attempt
from sparkgen.runtime.allocator.values.backend import ExecutorBackend
from sparkgen.runtime.allocator.values.clock import ClockAndRandom
from sparkgen.runtime.allocator.values.target import DriverPhase
from sparkgen.runtime.contract_check import check_contract
from sparkgen.runtime.environment import port as port_in
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.jars import JARS

LOOPBACK = "127.0.0.1"
SWEEP_SECONDS = 20.0
"""The time for the sweep: the kubelet kills what has not ended after the pod's 30 s."""
TELL_SECONDS = 2.0
"""The time in which a driver reads that its session has ended: it requests the report all the time."""
WRITTEN_SECONDS = 0.3
"""The time for sending the answer."""
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
ENV_LOG_FORMAT = "SPARKGEN_LOG_FORMAT"
"""`json` for a log in JSON."""


@dataclass(frozen=True, slots=True)
class MountPaths:
    """Where the pod's volumes are mounted."""

    conf: Path = Path(contract.CONF_DIR)
    executor: Path = Path(contract.EXECUTOR_DIR)
    tuning: Path = Path(contract.TUNING_DIR)
    session: Path = Path(contract.SESSION_DIR)


@dataclass(frozen=True, slots=True)
class BackendInputs:
    """What an ExecutorBackend is made from. `secret`: the RPC secret; None without authentication."""

    attempt: Attempt
    template: Mapping[str, Any]
    secret: str | None
    clock_and_random: ClockAndRandom


@dataclass(frozen=True, slots=True)
class BackendParts:
    """An ExecutorBackend, and functions for each driver's id and address, and for the driver's own pod."""

    backend: ExecutorBackend
    set_application_id: Callable[[str], None]
    set_driver_url: Callable[[str], None]
    """Sets the URL of the driver for executors created from then on, if the driver is not in this pod."""
    driver_pod: Callable[[], DriverPod]
    """Reads the current state of the driver's pod."""


@dataclass(frozen=True, slots=True)
class SidecarOptions:
    """What differs between a cluster and a test: folders, ports, and the function that makes the backend."""

    backend: Callable[[BackendInputs], BackendParts]
    """Raises Refused if there is no backend."""
    folders: MountPaths = MountPaths()
    scheduler_port: int = contract.SCHEDULER_PORT
    public_port: int = contract.ALLOCATOR_PORT
    driver_port: int = contract.DRIVER_PORT
    why_unreachable: Callable[[DriverAddress, str], str] = reach.why_unreachable
    jars: Path = JARS


def run(
    environment: Mapping[str, str],
    options: SidecarOptions,
    clock_and_random: ClockAndRandom,
    new_text: Callable[[], str],
) -> int:
    """Run the sidecar until a signal ends it. Returns the exit code. Raises Refused if it cannot start.

    `new_text` returns a new random text at each call, fit for a secret.
    """
    # Before any thread starts: threads inherit the mask, so that signals stay pending for `_until_over`.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    check_contract(environment)
    now, folder = partial(datetime.now, UTC), environment.get(contract.ENV_LOG_FOLDER)
    printed = sys.stdout if folder is None else LogFiles(sys.stdout, Path(folder), now)
    log = Log(printed, now, environment.get(ENV_LOG_FORMAT) == "json")
    attempt, sessions = _attempt(environment), session_environment(environment)
    service_secret = environment.get(contract.ENV_SERVICE_SECRET)
    connect_port = port_in(environment, contract.ENV_CONNECT_PORT)
    expired = _expired(environment, options.folders, datetime.now(UTC))
    parts, driver_pod = _parts(attempt, sessions, options, clock_and_random, log, new_text, service_secret)
    if connect_port is not None:
        parts = replace(parts, why_not_serving=_connect_server(attempt.pod_ip, connect_port))
    if expired is not None:
        _keep_from_starting(expired, options.folders, log)
    allocator = Allocator(parts)
    try:
        allocator.start()
    except OSError as error:
        raise Refused(
            f"cannot listen on {LOOPBACK}:{options.scheduler_port} and {url_host(attempt.pod_ip)}:"
            f"{options.public_port}: {error}; check whether another container of the pod uses the port"
        ) from None
    log.say(LogEvent.START, f"allocator of {attempt.run}, attempt {attempt.attempt}: the driver may start")
    return _until_over(allocator, parts.client, attempt, options, driver_pod, log)


def _expired(environment: Mapping[str, str], folders: MountPaths, now: datetime) -> Refused | None:
    """Why this run may not start, unless `install` or an earlier allocator of this pod has checked that."""
    if environment.get(contract.ENV_CHECK_EXPIRY) != "true":
        return None
    begun = Path(folders.session, Path(contract.SESSION_PROPERTIES).name).exists()
    return None if begun else why_expired(folders.tuning / contract.TUNING_FILE, now)


def _keep_from_starting(expired: Refused, folders: MountPaths, log: Log) -> None:
    """Make the driver's container end before any code of the user runs, by removing its properties.

    The kubelet would restart a sidecar that ends by itself forever; only the end of the driver ends the pod.
    """
    for file in (contract.SESSION_LAUNCH_PROPERTIES, contract.SESSION_PROPERTIES):
        Path(folders.session, Path(file).name).unlink(missing_ok=True)
    why = Hindrance(expired.code, f"{expired}; {expired.next_step}")
    log.say(LogEvent.FAILURE, why.message, LogLevel.ERROR, hindrance=why.facts)


def _attempt(environment: Mapping[str, str]) -> Attempt:
    names = (
        contract.ENV_APPLICATION,
        contract.ENV_RUN,
        contract.ENV_POD_NAMESPACE,
        contract.ENV_POD_NAME,
        contract.ENV_POD_UID,
        contract.ENV_POD_IP,
    )
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise Refused(
            f"missing environment variables: {', '.join(missing)}; run this program only in a driver pod, "
            "as rendered"
        )
    return new_attempt(*(environment[name] for name in names))


def _parts(
    attempt: Attempt,
    sessions: SessionEnvironment,
    options: SidecarOptions,
    clock_and_random: ClockAndRandom,
    log: Log,
    new_text: Callable[[], str],
    service_secret: str | None,
) -> tuple[Parts, Callable[[], DriverPod]]:
    folders = options.folders
    try:
        template = read_template((folders.executor / contract.EXECUTOR_TEMPLATE_FILE).read_text("utf-8"))
        defaults = (folders.conf / contract.SPARK_DEFAULTS_FILE).read_text("utf-8")
        kept = folders.session / contract.TUNING_FILE
        ports = host_ports.of_template(template, attempt.executor_name_prefix)
        fixed = FixedSettings(grace_of(template), ports, gang_of(template), pools_of(template))
        tuning = TuningFile(folders.tuning / contract.TUNING_FILE, fixed, kept)
        place = session.DriverLocation(
            folders.session, attempt.application_id, attempt.pod_ip, sessions.mode, sessions.token_hash
        )
        if sessions.mode is SessionMode.NOTEBOOK:
            session.copy_conf(folders.conf, folders.session)
        begun = session.begin(place, defaults, tuning.settings, new_text, service_secret)
    except BadTuning as error:
        raise Refused(f"{contract.TUNING_FILE} is invalid: {error}") from None
    except (OSError, UnicodeDecodeError, TemplateError, host_ports.BadPorts, session.BadSession) as error:
        raise Refused(str(error)) from None
    made = options.backend(backend_inputs(attempt, template, begun, clock_and_random))
    made.set_application_id(begun.application_id)
    parts = Parts(
        backend=made.backend,
        attempt=attempt,
        session=begun,
        settings_source=tuning,
        log=log,
        clock_and_random=clock_and_random,
        tag=new_text()[:8],
        scheduler=ListenAddress(LOOPBACK, options.scheduler_port),
        public=ListenAddress(wildcard(attempt.pod_ip), options.public_port),
        set_application_id=made.set_application_id,
    )
    around = Around(options.public_port, options.driver_port, options.why_unreachable, options.jars)
    return with_sessions(parts, around, log, made.set_driver_url), made.driver_pod


def _connect_server(pod_ip: str, port: int) -> Callable[[], str]:
    """Returns a check of the driver's Connect server at the address where clients reach it."""
    from sparkgen.runtime.allocator.driver import connect_server  # noqa: PLC0415 - h2 is for those alone

    return partial(connect_server.why_not_serving, pod_ip, port)


def wildcard(address: str) -> str:
    """The address for listening on all addresses of the pod: `kubectl port-forward` uses loopback."""
    return "::" if ":" in address else "0.0.0.0"  # noqa: S104 - this listener reveals no secret


def backend_inputs(
    attempt: Attempt, template: Mapping[str, Any], begun: session.Session, clock_and_random: ClockAndRandom
) -> BackendInputs:
    """The inputs of the backend; its attempt names a Secret only if there is an RPC secret."""
    name = begun.name_of_secret(attempt.secret_name) if begun.secret else ""
    return BackendInputs(replace(attempt, secret_name=name), template, begun.secret, clock_and_random)


def _until_over(
    allocator: Allocator,
    client: ClientEndpoint | None,
    attempt: Attempt,
    options: SidecarOptions,
    driver_pod: Callable[[], DriverPod],
    log: Log,
) -> int:
    """Wait for a stop signal, or until nobody needs the allocator; then end. Returns the exit code."""
    over = ""
    while not over and signal.sigtimedwait(STOP_SIGNALS, 1.0) is None:
        error = allocator.died_of
        if error is not None:
            text = f"the allocator restarts after an internal error: {type(error).__name__}: {error}"
            fault = Hindrance(Code.INTERNAL_ERROR, text)
            log.say(LogEvent.FAULT, text, LogLevel.ERROR, hindrance=fault.facts)
            return 1
        over = "" if client is None else client.session.why_over(allocator.mailbox.heard_at)
    if client is not None:
        _end_session(allocator, over or "its pod was asked to stop", log)
        return _sweep(allocator, log)
    stopped = allocator.mailbox.target().phase is DriverPhase.STOPPED
    answers = partial(driver_answers, attempt.pod_ip, options.driver_port)
    if not stopped and driver_runs_on(answers, driver_pod, ClockAndSleep(time.monotonic, time.sleep)):
        # A sidecar is asked to stop only after the driver has ended: so the kubelet only restarts this
        # container.
        allocator.stop(leave=False)
        log.say(
            LogEvent.END,
            "asked to stop while the driver is running: its executors stay for the next allocator",
        )
        return 0
    return _sweep(allocator, log)


def _end_session(allocator: Allocator, why: str, log: Log) -> None:
    """Tell the driver that its session is over, and why."""
    ended = Hindrance(Code.SESSION_ENDED, f"the session is over: {why}")
    log.say(LogEvent.END, str(ended), hindrance=ended.facts)
    allocator.mailbox.fail(ended)
    if allocator.mailbox.wait_told(TELL_SECONDS):
        time.sleep(WRITTEN_SECONDS)


def _sweep(allocator: Allocator, log: Log) -> int:
    """Delete the remaining executors, and log the result. Returns the exit code."""
    began = time.monotonic()
    allocator.stop(leave=True)
    swept = allocator.sweep(SWEEP_SECONDS)
    allocator.close()
    seconds = time.monotonic() - began
    if swept.left:
        ids = ", ".join(map(str, sorted(swept.left)))
        text = (
            f"could not delete executors {ids} within {seconds:.0f} s: they are deleted with the driver's pod"
        )
        log.say(LogEvent.END, text, LogLevel.WARNING)
    elif swept.left is None:
        text = (
            "the API server did not answer: executors exit by themselves, and are deleted with the driver's "
            "pod"
        )
        log.say(LogEvent.END, text, LogLevel.WARNING)
    else:
        text = f"ended: {len(swept.asked)} executors deleted, none left ({seconds:.1f} s)"
        log.say(LogEvent.END, text)
    return 0
