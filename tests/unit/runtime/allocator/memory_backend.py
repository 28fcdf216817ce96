"""An ExecutorBackend in memory: pods that run at once, and end when they are told to. For tests alone."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

from sparkgen import contract
from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.backend import Notice, PodList, WatchEvent
from sparkgen.runtime.kubernetes.answers import Answer


class MemoryBackend:
    """Pods as values. `refuse`: what creations are answered with instead, as long as it is not empty."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.application_id = attempt.application_id
        self.notices: list[Notice] = []
        self.calls: list[str] = []
        self.refuse = ""
        self.sticky = False
        """Deletions have no effect beyond the mark that they set."""
        self.held = False
        """Pods stay pending."""
        self._changed = threading.Condition()
        self._pods: dict[int, dict[str, Any]] = {}
        self._events: deque[WatchEvent] = deque()
        self._version = 0
        self._closed = False

    @property
    def pods(self) -> dict[int, dict[str, Any]]:
        """The pods by executor id."""
        with self._changed:
            return dict(self._pods)

    def set_application_id(self, application_id: str) -> None:
        """Take the application id of what is created from now on."""
        self.application_id = application_id

    def create(self, order: Create) -> ActionOutcome:
        """Have a pod that runs."""
        with self._changed:
            self.calls.append(f"create {order.id}")
            if self.refuse:
                return ActionOutcome(order, Answer.REFUSED, Hindrance(Code.DENIED, self.refuse))
            if order.id not in self._pods:
                self._show("ADDED", order.id, self._pod(order))
                if not self.held:
                    pod = {**self._pods[order.id], "status": {"phase": "Running"}}
                    self._show("MODIFIED", order.id, pod)
            return ActionOutcome(order, Answer.DONE)

    def delete(self, order: Delete) -> ActionOutcome:
        """Let a pod end."""
        with self._changed:
            self.calls.append(f"delete {order.id}")
            if order.id in self._pods:
                pod = self._pods[order.id]
                marked = {**pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
                self._show("MODIFIED", order.id, {**pod, "metadata": marked})
                if not self.sticky:
                    self.remove(order.id)
            return ActionOutcome(order, Answer.DONE)

    def remove(self, id_: int) -> None:
        """Let a pod be gone, as if somebody had deleted it by force."""
        with self._changed:
            self._show("DELETED", id_, self._pods[id_])
            del self._pods[id_]

    def end(self, id_: int, exit_code: int) -> None:
        """Let the Spark container of a pod end with this code."""
        with self._changed:
            ended = {"exitCode": exit_code, "reason": "Error" if exit_code else "Completed"}
            container = {"name": contract.EXECUTOR_CONTAINER, "state": {"terminated": ended}}
            status = {"phase": "Failed" if exit_code else "Succeeded", "containerStatuses": [container]}
            self._show("MODIFIED", id_, {**self._pods[id_], "status": status})

    def list(self) -> PodList:
        """All pods."""
        with self._changed:
            self.calls.append("list")
            return PodList(tuple(self._pods.values()), str(self._version))

    def watch(self, version: str) -> Iterator[WatchEvent]:
        """What happens from `version` on."""
        seen = int(version)
        while True:
            with self._changed:
                while not self._closed and self._version <= seen:
                    self._changed.wait()
                if self._closed:
                    return
                new = [event for event in self._events if int(event.version) > seen]
            for event in new:
                yield event
                seen = int(event.version)

    def record_event(self, notice: Notice) -> bool:
        """Keep a notice."""
        self.notices.append(notice)
        return True

    def close(self) -> None:
        """End watches."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _pod(self, order: Create) -> dict[str, Any]:
        labels = {
            contract.LABEL_EXECUTOR_ID: str(order.id),
            contract.LABEL_PROFILE_ID: str(order.profile),
            contract.LABEL_APP_ID: self.application_id,
        }
        metadata = {
            "name": self.attempt.executor_name(order.id),
            "uid": f"uid-{order.id}",
            "labels": labels,
            "ownerReferences": [self.attempt.owner],
        }
        spec = {"containers": [{"name": contract.EXECUTOR_CONTAINER}]}
        return {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}

    def _show(self, kind: str, id_: int, pod: dict[str, Any]) -> None:
        self._version += 1
        pod["metadata"] = {**pod["metadata"], "resourceVersion": str(self._version)}
        self._pods[id_] = pod
        self._events.append(WatchEvent(kind, pod, str(self._version)))
        self._changed.notify_all()
