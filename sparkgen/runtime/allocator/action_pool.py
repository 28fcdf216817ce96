"""Carries out decisions on a few threads, so that the loop never waits for an answer."""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Protocol

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.decide.apply_outcomes import MAX_WINDOW
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome, Create
from sparkgen.runtime.allocator.values.backend import ExecutorBackend
from sparkgen.runtime.kubernetes.answers import Answer


class ActionRunner(Protocol):
    """Takes actions, and returns their outcomes; the simulator has one without threads."""

    def start(self, actions: Iterable[Action]) -> None:
        """Start these actions."""
        ...

    def outcomes(self) -> list[ActionOutcome]:
        """The outcomes since the last call, in the order in which the actions ended."""
        ...


class WaitableActionRunner(ActionRunner, Protocol):
    """An ActionRunner whose actions can be waited for."""

    def settle(self, seconds: float) -> None:
        """Wait until all started actions have ended, at most `seconds`."""
        ...


class ActionPool:
    """Acts on an ExecutorBackend, with a thread for each write in flight; calls `notify` at each outcome."""

    def __init__(
        self, backend: ExecutorBackend, notify: Callable[[], None], threads: int = MAX_WINDOW
    ) -> None:
        self._backend = backend
        self._notify = notify
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="write")
        self._ended: queue.SimpleQueue[ActionOutcome] = queue.SimpleQueue()
        self._open: set[Future[None]] = set()
        self.answers: Counter[tuple[str, str]] = Counter()
        """The number of answers of each kind: ("create" or "delete", the answer's name)."""

    def start(self, actions: Iterable[Action]) -> None:
        """Start these actions."""
        self._open = {future for future in self._open if not future.done()}
        self._open |= {self._pool.submit(self._carry_out, action) for action in actions}

    def outcomes(self) -> list[ActionOutcome]:
        """The outcomes since the last call, in the order in which the actions ended."""
        found: list[ActionOutcome] = []
        while True:
            try:
                outcome = self._ended.get_nowait()
            except queue.Empty:
                return found
            kind = "create" if isinstance(outcome.action, Create) else "delete"
            self.answers[kind, outcome.answer.value] += 1
            found.append(outcome)

    def finish(self, seconds: float) -> bool:
        """Cancel actions that wait for a thread, and wait for the rest; returns whether all have ended."""
        for future in self._open:
            future.cancel()
        return not wait(self._open, seconds).not_done

    def settle(self, seconds: float) -> None:
        """Wait until all started actions have ended, at most `seconds`."""
        wait(self._open, seconds)

    def close(self) -> None:
        """Accept no more actions."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _do(self, action: Action) -> ActionOutcome:
        if isinstance(action, Create):
            return self._backend.create(action)
        return self._backend.delete(action)

    def _carry_out(self, action: Action) -> None:
        try:
            outcome = self._do(action)
        except Exception as error:  # noqa: BLE001 - an internal error: the action is repeated later
            fault = Hindrance(Code.INTERNAL_ERROR, f"{type(error).__name__}: {error}")
            outcome = ActionOutcome(action, Answer.UNKNOWN, fault)
        self._ended.put(outcome)
        self._notify()
