"""The allocator's backend on one machine: an executor is a process, and is shown as the pod it would be."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from sparkgen import contract
from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.pods.template import grace_of
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.backend import Notice, PodList, WatchEnded, WatchEvent
from sparkgen.runtime.kubernetes.answers import Answer

REMEMBERED = 1000
"""The most events from which a watch may continue; an older watch must list again, as with an API server."""
ADDRESS = "127.0.0.1"

Pod = dict[str, Any]
Clock = Callable[[], datetime]
"""Returns the time of day, with its zone."""


class Runs(Protocol):
    """A running executor: a Process, or a test's stand-in."""

    def wait(self) -> int:
        """Wait for its end. Returns its exit code, negative for a signal."""
        ...

    def terminate(self) -> None:
        """Ask it to end."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """The functions that the backend needs: `pod` makes an executor's pod, `start` its process.

    They raise ValueError and OSError if that fails.
    """

    pod: Callable[[Create], Mapping[str, Any]]
    start: Callable[[Mapping[str, Any], int], Runs]
    tell: Callable[[Notice], None]
    uid: Callable[[], str]
    clock: Clock


class Processes:
    """An ExecutorBackend of processes. It never changes a pod that it has shown, but makes a new one."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._changed = threading.Condition()
        self._pods: dict[str, Pod] = {}
        self._running: dict[str, Runs] = {}
        self._events: deque[WatchEvent] = deque(maxlen=REMEMBERED)
        self._version = 0
        self._closed = False

    # --- ExecutorBackend --------------------------------------------------------------------------

    def create(self, order: Create) -> ActionOutcome:
        """Start an executor's process."""
        try:
            pod = dict(self._tools.pod(order))
        except ValueError as error:
            return ActionOutcome(order, Answer.PERMANENT, Hindrance(Code.INVALID, str(error)))
        name = pod["metadata"]["name"]
        with self._changed:
            if self._closed:
                return ActionOutcome(order, Answer.REFUSED, Hindrance(Code.REFUSED, "sparkgen is stopping"))
            if name in self._pods:
                return self._exists_already(order, self._pods[name])
            pod["metadata"] = {
                **pod["metadata"],
                "uid": self._tools.uid(),
                "creationTimestamp": self._now(),
            }
            pod["status"] = {"phase": "Pending"}
            try:
                process = self._tools.start(pod, order.id)
            except OSError as error:
                text = f"cannot start executor {order.id}: {error}"
                return ActionOutcome(order, Answer.REFUSED, Hindrance(Code.FAILED_TO_START, text))
            self._running[name] = process
            self._show("ADDED", pod)
            self._show("MODIFIED", _with_status(pod, "Running", {"running": {"startedAt": self._now()}}))
        threading.Thread(target=self._follow, args=(name, process), name=name, daemon=True).start()
        return ActionOutcome(order, Answer.DONE)

    def delete(self, order: Delete) -> ActionOutcome:
        """End an executor's process: with SIGTERM and, after its grace, SIGKILL; or with SIGKILL at once."""
        with self._changed:
            pod = next((pod for pod in self._pods.values() if _id(pod) == str(order.id)), None)
            if pod is None or (order.uid and order.uid != pod["metadata"]["uid"]):
                return ActionOutcome(order, Answer.DONE)
            name = pod["metadata"]["name"]
            process = self._running.get(name)
            if "deletionTimestamp" not in pod["metadata"]:
                metadata = {**pod["metadata"], "deletionTimestamp": self._now()}
                pod = {**pod, "metadata": metadata}
                self._show("MODIFIED", pod)
            if process is None:
                self._remove(pod)
                return ActionOutcome(order, Answer.DONE)
        _stop(process, 0 if order.forced else grace_of(pod))
        return ActionOutcome(order, Answer.DONE)

    def list(self) -> PodList:
        """All existing executors."""
        with self._changed:
            return PodList(tuple(self._pods.values()), str(self._version))

    def watch(self, version: str) -> Iterator[WatchEvent]:
        """The changes after `version`, until `close`. Raises WatchEnded if they are no longer known."""
        seen = int(version)
        while True:
            with self._changed:
                while not self._closed and self._version <= seen:
                    self._changed.wait()
                if self._closed:
                    return
                if self._events and int(self._events[0].version) > seen + 1:
                    raise WatchEnded(Hindrance(Code.GONE, "the history of events is not kept"))
                new = [event for event in self._events if int(event.version) > seen]
            for event in new:
                yield event
                seen = int(event.version)

    def record_event(self, notice: Notice) -> bool:
        """Show the notice to the user."""
        self._tools.tell(notice)
        return True

    def close(self) -> None:
        """End all watches; no executor is created any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    # --- and for the end of a run -----------------------------------------------------------------

    def terminate(self) -> None:
        """Ask every executor to end, and start no other."""
        for process in self._last():
            process.terminate()

    def kill(self) -> None:
        """End every executor at once."""
        for process in self._last():
            process.kill()

    def _last(self) -> Iterable[Runs]:
        self.close()
        with self._changed:
            return tuple(self._running.values())

    def wait_until_empty(self, seconds: float) -> bool:
        """Wait until no process runs, at most `seconds`; returns whether none does."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, seconds)

    # --- inside -----------------------------------------------------------------------------------

    def _follow(self, name: str, process: Runs) -> None:
        code = process.wait()
        with self._changed:
            self._running.pop(name)
            pod = self._pods[name]
            began = pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
            state = {"terminated": terminated(code, began, self._now())}
            pod = _with_status(pod, "Failed" if code else "Succeeded", state)
            self._show("MODIFIED", pod)
            if "deletionTimestamp" in pod["metadata"]:
                self._remove(pod)

    def _exists_already(self, order: Create, pod: Pod) -> ActionOutcome:
        if "deletionTimestamp" in pod["metadata"]:
            ending = Hindrance(Code.ALREADY_EXISTS, f"executor {order.id} is still stopping")
            return ActionOutcome(order, Answer.REFUSED, ending)
        return ActionOutcome(order, Answer.DONE)

    def _show(self, kind: str, pod: Pod) -> None:
        """Publish a change. The caller holds the lock."""
        self._version += 1
        pod["metadata"] = {**pod["metadata"], "resourceVersion": str(self._version)}
        self._pods[pod["metadata"]["name"]] = pod
        self._events.append(WatchEvent(kind, pod, str(self._version)))
        self._changed.notify_all()

    def _remove(self, pod: Pod) -> None:
        self._show("DELETED", {**pod})
        del self._pods[pod["metadata"]["name"]]

    def _now(self) -> str:
        return self._tools.clock().astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def terminated(code: int, began: str, ended: str) -> dict[str, Any]:
    """The end of a container as a kubelet writes it: signal N becomes the exit code 128 + N."""
    state: dict[str, Any] = {"startedAt": began, "finishedAt": ended}
    if code < 0:
        return {**state, "exitCode": 128 - code, "signal": -code, "reason": "Error"}
    return {**state, "exitCode": code, "reason": "Error" if code else "Completed"}


def _stop(process: Runs, grace: float) -> None:
    if not grace:
        process.kill()
        return
    process.terminate()
    timer = threading.Timer(grace, process.kill)  # killing an ended process does nothing
    timer.daemon = True
    timer.start()


def _id(pod: Mapping[str, Any]) -> str:
    return str(pod["metadata"]["labels"][contract.LABEL_EXECUTOR_ID])


def _with_status(pod: Pod, phase: str, state: Mapping[str, Any]) -> Pod:
    container = {
        "name": contract.EXECUTOR_CONTAINER,
        "state": dict(state),
        "ready": "running" in state,
        "restartCount": 0,
    }
    return {**pod, "status": {"phase": phase, "podIP": ADDRESS, "containerStatuses": [container]}}
