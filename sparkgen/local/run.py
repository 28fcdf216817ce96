"""A local run from its plan to its end: allocator, driver, executors, and what the user sees."""

from __future__ import annotations

import secrets
import shutil
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE
from types import FrameType
from typing import Any

from sparkgen import contract
from sparkgen.codes import Hindrance
from sparkgen.local import connect, launch, ports, tasks
from sparkgen.local.allocator import allocator, begin, pod
from sparkgen.local.errors import CannotRun
from sparkgen.local.output import Output
from sparkgen.local.plan import Plan
from sparkgen.local.processes import Process, Reaper
from sparkgen.local.status import status
from sparkgen.local.view import View
from sparkgen.local.world import Processes, Tools
from sparkgen.phrases import number_of
from sparkgen.runtime.allocator.allocator import Allocator
from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.session import PROPERTIES_FILE
from sparkgen.runtime.allocator.values.observed import ExecutorState

POLL_SECONDS = 0.2
STOP_SECONDS = 15.0
"""How long a driver may take to end after it is asked to."""
EXECUTORS_SECONDS = 5.0
"""How long executors may take to end after their driver; they exit by themselves when it is gone."""
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Requests:
    """The signals that have arrived, in order."""

    signals: list[int] = field(default_factory=list)

    def take(self, number: int, _: FrameType | None) -> None:
        """Record a signal."""
        self.signals.append(number)


@contextmanager
def signals_taken() -> Iterator[Requests]:
    """Catch signals that would end this process, so that it ends in order; then restore the handlers."""
    requests = Requests()
    wanted = [number for number in ENDING_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # nohup
    before = {number: signal.signal(number, requests.take) for number in wanted}
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(plan: Plan, view: View, *, on_terminal: bool) -> int:
    """Run the plan. Returns the driver's exit code; 128 + N if signal N ended the driver or this run.

    A Connect server runs until a signal arrives: 0 if it then ends as asked.
    Raises CannotRun if the run cannot begin.
    """
    with signals_taken() as requests:
        reaper = Reaper()
        reaper.holds(plan.folders.work)
        try:
            with ports.kept_from_others(plan.ports.connect):
                return Run(plan, view, reaper, requests).go(on_terminal=on_terminal)
        finally:
            reaper.close()
            shutil.rmtree(plan.folders.work, ignore_errors=True)


class Run:
    """One local run: its driver, its executors and their allocator."""

    def __init__(self, plan: Plan, view: View, reaper: Reaper, requests: Requests) -> None:
        self._plan = plan
        self._view = view
        self._reaper = reaper
        self._requests = requests
        self._begun = begin(plan, lambda: secrets.token_hex(32))
        self._output = Output(view.output)
        self._most = 0
        self._failure: Hindrance | None = None
        self._world = Processes(
            Tools(
                pod=lambda order: pod(plan, self._begun, order),
                start=self._start_executor,
                tell=lambda notice: view.say(str(notice.hindrance)),
                uid=lambda: str(uuid.uuid4()),
                clock=_now,
            )
        )

    def go(self, *, on_terminal: bool) -> int:
        """Run to the end. Returns the exit code."""
        plan, view = self._plan, self._view
        began = time.monotonic()
        ended = threading.Event()
        with plan.folders.allocator_log.open("w", encoding="utf-8") as log:
            works = allocator(plan, self._begun, self._world, log, _now, self._show)
            view.begin(f"{plan.application.name} · Spark {plan.application.spark_version} · {plan.ui}")
            try:
                _listen(works)
                start = plan.driver(plan.folders.session / PROPERTIES_FILE)
                driver = self._start_driver(start)
                if plan.serves:
                    _thread(self._tell_when_it_answers, start.environment, ended)
                if on_terminal:
                    _thread(
                        tasks.follow, plan.ports.ui, self._begun.attempt.application_id, view.tasks, ended
                    )
                code = self._supervise(driver, works)
            finally:
                ended.set()
                works.stop(leave=True)
                self._end_executors()
                works.close()
                view.end()
        self._summarise(code, time.monotonic() - began, works.died_of)
        return code

    def _start_driver(self, start: launch.Start) -> Process:
        with self._plan.folders.driver_log.open("wb") as log:
            try:
                return Process(
                    start.command, start.environment, Path.cwd(), self._reaper, stdout=PIPE, stderr=log
                )
            except OSError as error:
                raise CannotRun(f"the driver cannot be started: {error}") from None

    def _start_executor(self, made: Mapping[str, Any], id_: int) -> Process:
        plan, secret = self._plan, self._begun.session.secret
        known = {(plan.attempt.secret_name, contract.SECRET_KEY): secret} if secret else {}
        start = launch.executor(made, plan.setting, known)
        folder = plan.folders.scratch(f"work-{id_}")
        with plan.folders.executor_log(id_).open("wb") as log:
            return Process(start.command, start.environment, folder, self._reaper, stdout=log, stderr=log)

    def _supervise(self, driver: Process, works: Allocator) -> int:
        """Wait for the driver, and end it if asked to. Returns its exit code, as a shell has it."""
        codes: list[int] = []
        reader = _thread(self._output.follow, driver.stdout)
        waiter = _thread(lambda: codes.append(driver.wait()))
        asked_at: float | None = None
        killed = False
        while waiter.is_alive():
            waiter.join(POLL_SECONDS)
            if works.died_of is not None:
                killed = True
                driver.kill()
            if not self._requests.signals:
                continue
            if asked_at is None:
                asked_at = time.monotonic()
                self._view.say("stopping the driver (press Ctrl-C again to kill everything)")
                driver.terminate()
            elif len(self._requests.signals) > 1 or time.monotonic() - asked_at > STOP_SECONDS:
                killed = True
                driver.kill()
                self._world.kill()
        reader.join(POLL_SECONDS)
        if self._plan.serves and asked_at is not None and not killed:
            return 0  # nothing else ends a server
        if self._requests.signals:
            return 128 + self._requests.signals[0]
        return codes[0] if codes[0] >= 0 else 128 - codes[0]

    def _end_executors(self) -> None:
        """Ask all executors to end, and kill those that do not; most end by themselves after their driver."""
        self._world.terminate()
        deadline = time.monotonic() + EXECUTORS_SECONDS
        while not self._world.wait_until_empty(POLL_SECONDS):
            if len(self._requests.signals) > 1 or time.monotonic() > deadline:
                self._world.kill()
                self._world.wait_until_empty(EXECUTORS_SECONDS)
                return

    def _tell_when_it_answers(self, driver: Mapping[str, str], ended: threading.Event) -> None:
        plan = self._plan
        if connect.wait(plan.answers, ended):
            for line in plan.told(driver):
                self._view.say(line)

    def _show(self, now: Round) -> None:
        shown = status(now.decision, executor_states.wanted(now.target, now.settings))
        self._most = max(self._most, shown.counts.get(ExecutorState.REGISTERED, 0))
        self._failure = now.decision.failure
        self._view.show(shown)

    def _summarise(self, code: int, seconds: float, died_of: BaseException | None) -> None:
        view, folders = self._view, self._plan.folders
        if died_of is not None:
            view.say(f"the allocator failed ({type(died_of).__name__}: {died_of}), and the driver was killed")
        if self._requests.signals:
            view.say(f"stopped after {seconds:.0f} s; logs: {folders.logs}")
            return
        if code:
            view.say(f"the driver failed with exit code {code}; its last lines:")
            for line in self._output.explanation(folders.driver_log):
                view.say(f"  {line}")
            if self._failure:
                view.say(f"the allocator gave up: {self._failure}")
        executors = number_of(self._most, "executor")
        result = "failed" if code else "done"
        view.say(f"{result} after {seconds:.0f} s with at most {executors} at a time; logs: {folders.logs}")


def _listen(works: Allocator) -> None:
    try:
        works.start()
    except OSError as error:
        raise CannotRun(f"cannot listen on 127.0.0.1: {error}; try again") from None


def _thread(work: Callable[..., Any], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _now() -> datetime:
    return datetime.now(UTC)
