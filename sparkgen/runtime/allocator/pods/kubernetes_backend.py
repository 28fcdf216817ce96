"""The ExecutorBackend for Kubernetes: executors are pods. Contains all requests to the API server.

Lists are read as of now (no `resourceVersion`), in pages: decisions conclude from them which executors do not
exist, and a cached list may be old. They are rare: one at the start, and one after each gap. A watch
continues where it was after its server ends it or its connection breaks, which leaves no gap.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sparkgen import contract
from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.observe.parse_pods import (
    GONE,
    event_of_line,
    is_owned,
    page_of,
    pod_in,
    uid_in,
)
from sparkgen.runtime.allocator.observe.trim_pod import owned_by
from sparkgen.runtime.allocator.observe.watch_retry import WatchRetry
from sparkgen.runtime.allocator.pods.driver_pod import DriverPod, driver_pod_of
from sparkgen.runtime.allocator.pods.events import event_of
from sparkgen.runtime.allocator.pods.template import TemplateError, executor_pod
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.backend import Notice, Pod, PodList, WatchEnded, WatchEvent
from sparkgen.runtime.kubernetes import answers
from sparkgen.runtime.kubernetes.answers import Answer, CallFailed, Reply, Verdict
from sparkgen.runtime.kubernetes.paging import pages
from sparkgen.runtime.kubernetes.transport import ApiCalls, LineSource

PAGES = (500, 50, 5, 1)
"""Pods in one page of a list: first as many as kubectl requests, then fewer if a page is too large to
read."""
MAX_PODS = 100_000
"""The most executors in a list: ten times as many as were ever measured. We did not create more than that."""
MAX_PAGES = 2 * MAX_PODS
"""The most requests for a list: pods that others created with our labels are in it, too, and are ignored."""
WATCH_SECONDS = (240, 360)
"""How long one watch lasts: about as long as servers choose, and different in each allocator."""
QUOTED = 12
"""Characters of a secret that are found in a message, also in one that is cut off."""
SILENCE = 100.0
"""Seconds without a line after which a watch is reopened; servers send a bookmark every minute."""


class KubernetesBackend:
    """An ExecutorBackend that uses an API server.

    `clock` is monotonic, `wall` the time of day in seconds since 1970, `random` returns numbers from 0 to 1.
    """

    def __init__(
        self,
        transport: ApiCalls,
        attempt: Attempt,
        template: Mapping[str, Any],
        *,
        clock: Callable[[], float],
        wall: Callable[[], float],
        random: Callable[[], float],
        silence: float = SILENCE,
    ) -> None:
        self._transport = transport
        self._attempt = attempt
        self._driver_url = attempt.driver_url
        self._template = template
        self._clock = clock
        self._wall = wall
        self._random = random
        self._silence = silence
        self._closed = threading.Event()
        self._streams: set[LineSource] = set()
        self._denied: dict[str, float] = {}
        self._pods = f"/api/v1/namespaces/{attempt.namespace}/pods"

    def set_application_id(self, application_id: str) -> None:
        """Set the driver's application id: executors created from now on belong to it."""
        self._attempt = replace(self._attempt, application_id=application_id)

    def set_driver_url(self, url: str) -> None:
        """Set the URL of the driver for executors created from now on, if the driver is not in this pod."""
        self._driver_url = url

    def create(self, order: Create) -> ActionOutcome:
        """Create an executor's pod. DONE as well if the pod already exists and is ours."""
        attempt, what = self._attempt, "create an executor"
        name = attempt.executor_name(order.id)
        try:
            pod = executor_pod(self._template, attempt, order, attempt.start_url(order.id), self._driver_url)
        except TemplateError as error:
            return ActionOutcome(order, Answer.PERMANENT, Hindrance(Code.INVALID, f"cannot {what}: {error}"))
        try:
            reply = self._transport.call("POST", self._pods, body=pod)
            if answers.exists_already(reply):
                return self._whose(order, name, what)
        except CallFailed as fault:
            return _outcome(order, answers.not_answered(fault, what))
        # Without the pod's name: many executors that are refused for one reason are then reported once.
        found = self._verdict(reply, what, "create")
        if (said := found.hindrance) is not None:
            said = replace(said, detail=said.detail.replace(name, attempt.any_executor))
        return _outcome(order, replace(found, hindrance=said), uid_in(reply))

    def delete(self, order: Delete) -> ActionOutcome:
        """Delete an executor's pod, and no other pod. DONE as well if it no longer exists."""
        what = f"delete executor {order.id}"
        try:
            uid = order.uid or self._uid_of(self._attempt.executor_name(order.id))
            if not uid:
                return ActionOutcome(order, Answer.DONE)
            options: dict[str, Any] = {
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "preconditions": {"uid": uid},
            }
            if order.forced:
                options["gracePeriodSeconds"] = 0
            path = f"{self._pods}/{self._attempt.executor_name(order.id)}"
            reply = self._transport.call("DELETE", path, body=options)
        except CallFailed as fault:
            return _outcome(order, answers.not_answered(fault, what))
        if reply.status == 404 or answers.is_other_object(reply):
            return ActionOutcome(order, Answer.DONE)
        return _outcome(order, self._verdict(reply, what, "delete"))

    def list(self) -> PodList:
        """All pods of this attempt, reduced, as of now. Raises WatchEnded if they cannot be listed."""
        what = "list executors"
        try:
            listing = self._list_in_pages(what)
        except CallFailed as fault:
            raise WatchEnded(answers.unanswered(fault, what)) from fault
        self._denied.pop(what, None)
        return listing

    def _list_in_pages(self, what: str) -> PodList:
        """The whole list. Raises CallFailed, WatchEnded."""
        pods: list[Pod] = []
        version = ""
        for reply in pages(self._get_pods, PAGES, MAX_PAGES, self._attempt.selector):
            if reply.status != 200:
                raise self._ended(reply, what)
            found = page_of(reply, self.is_executor)
            version = found.version
            pods += map(self._with_our_owner, found.pods)
            if len(pods) > MAX_PODS:
                raise CallFailed(f"the API server's list has more than {MAX_PODS} executors", sent=True)
        return PodList(tuple(pods), version)

    def _get_pods(self, query: Mapping[str, str]) -> Reply:
        return self._transport.call("GET", self._pods, query)

    def is_executor(self, pod: Pod) -> bool:
        """Whether a whole or reduced pod is an executor of ours: by its owner and its name alone."""
        if not owned_by(pod, self._attempt.pod_uid):
            return False
        return self._attempt.executor_id(pod["metadata"]["name"]) is not None

    def _with_our_owner(self, pod: Pod) -> Pod:
        """The part of an executor that a list keeps.

        Whoever may create pods may name our driver's pod as one of many owners: only that owner is kept.
        """
        owners = [{"uid": self._attempt.pod_uid}]
        return {**pod, "metadata": {**pod["metadata"], "ownerReferences": owners}}

    def watch(self, version: str) -> Iterator[WatchEvent]:
        """The changes after `version`, until the backend closes. Raises WatchEnded if there may be a gap."""
        watching = WatchRetry(version)
        while not self._closed.is_set():
            watching = watching.opening(self._clock())
            try:
                for event in self._watch_once(watching.version):
                    watching = watching.heard(event)
                    yield event
                watching = watching.ended(self._clock())
            except CallFailed as fault:
                reason = answers.unanswered(fault, "watch executors")
                watching = watching.broke(fault, self._clock(), reason)
            self._closed.wait(watching.pause(self._random()))

    def watch_query(self, version: str) -> dict[str, str]:
        """The query of a watch that continues from `version`."""
        shortest, longest = WATCH_SECONDS
        return {
            "watch": "1",
            "labelSelector": self._attempt.selector,
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(shortest + self._random() * (longest - shortest))),
        }

    def refused_watch(self, reply: Reply) -> CallFailed | WatchEnded:
        """The exception for a refused watch: WatchEnded for a version that is too old or a permanent refusal.

        Otherwise CallFailed, for a retry: an API server that has just started may refuse what it allows,
        because it has not read its roles yet.
        """
        said = self._verdict(reply, "watch executors", "watch executors")
        if reply.status != GONE and said.answer is not Answer.PERMANENT:
            return CallFailed(str(said.hindrance), sent=False, retry_after=said.retry_after)
        return self._ended(reply, "watch executors")

    def record_event(self, notice: Notice) -> bool:
        """Create an Event on the driver's pod, for `kubectl describe`. False if a retry may help."""
        path = f"/api/v1/namespaces/{self._attempt.namespace}/events"
        try:
            reply = self._transport.call("POST", path, body=event_of(self._attempt, notice, self._wall()))
        except CallFailed:
            return False
        said = self._verdict(reply, "write an Event", "create an Event")
        return said.answer in (Answer.DONE, Answer.PERMANENT)  # the log has the notice, too

    def create_secret(self, secret: str) -> Verdict:
        """Create the attempt's Secret with the RPC secret. DONE as well if it already exists.

        The Role lets nobody read Secrets, including this allocator, so the owner of an existing one cannot be
        checked. Therefore, only this pod's session knows the name before the Secret exists
        (session.name_of_secret).
        """
        attempt, what = self._attempt, "create the Secret of the RPC secret"
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": attempt.secret_name,
                "namespace": attempt.namespace,
                "labels": self._labels(),
                "ownerReferences": [attempt.owner],
            },
            "immutable": True,
            "stringData": {contract.SECRET_KEY: secret},
        }
        try:
            reply = self._transport.call("POST", f"/api/v1/namespaces/{attempt.namespace}/secrets", body=body)
        except CallFailed as fault:
            return answers.not_answered(fault, what)
        if answers.exists_already(reply):
            return Verdict(Answer.DONE)
        return _without_secret(self._verdict(reply, what, "create a Secret"), secret)

    def create_pod_group(self, gang: int) -> Verdict:
        """Create the PodGroup of this attempt's executors. DONE as well if it already exists.

        `gang`: how many pods the scheduler places together. The driver's pod owns the PodGroup, which is
        deleted with it. Tries each version until the cluster serves one: asking which ones it serves would be
        one more call.
        """
        attempt, what = self._attempt, "create the PodGroup of the executors"
        body = {
            "kind": "PodGroup",
            "metadata": {
                "name": attempt.pod_group,
                "namespace": attempt.namespace,
                "labels": self._labels(),
                "ownerReferences": [attempt.owner],
            },
            "spec": {"schedulingPolicy": {"gang": {"minCount": gang}}},
        }
        reply = Reply(404, {})
        for version in contract.POD_GROUP_VERSIONS:
            path = f"/apis/{version}/namespaces/{attempt.namespace}/podgroups"
            try:
                reply = self._transport.call("POST", path, body={"apiVersion": version, **body})
            except CallFailed as fault:
                return answers.not_answered(fault, what)
            if reply.status != 404:
                break
        if answers.exists_already(reply):
            return Verdict(Answer.DONE)
        return self._verdict(reply, what, "create a PodGroup")

    def driver_pod(self) -> DriverPod:
        """Read the state of the driver's pod. Never raises."""
        attempt = self._attempt
        try:
            reply = self._transport.call("GET", f"{self._pods}/{attempt.pod_name}")
            if reply.status == 404:
                return DriverPod.ENDS
            known = reply.status == 200
            return driver_pod_of(pod_in(reply), attempt.pod_uid) if known else DriverPod.UNKNOWN
        except CallFailed:
            return DriverPod.UNKNOWN

    def close(self) -> None:
        """End every watch now. Other calls end by their own time-outs."""
        self._closed.set()
        for stream in tuple(self._streams):
            stream.stop()
        self._transport.close()

    def _labels(self) -> dict[str, str]:
        return {
            contract.LABEL_MANAGED_BY: "sparkgen",
            contract.LABEL_APPLICATION: self._attempt.application,
            contract.LABEL_RUN: self._attempt.run,
            contract.LABEL_ATTEMPT: self._attempt.attempt,
        }

    def _watch_once(self, version: str) -> Iterator[WatchEvent]:
        with self._transport.stream(self._pods, self.watch_query(version), self._silence) as stream:
            if isinstance(stream, Reply):
                raise self.refused_watch(stream)
            self._streams.add(stream)
            try:
                if not self._closed.is_set():
                    yield from map(self._event, stream.lines())
            except CallFailed:
                if not self._closed.is_set():
                    raise
            finally:
                self._streams.discard(stream)

    def _event(self, line: bytes) -> WatchEvent:
        return event_of_line(line, self.is_executor)

    def _ended(self, reply: Reply, what: str) -> WatchEnded:
        if reply.status == GONE:
            return WatchEnded(Hindrance(Code.GONE, "the API server no longer has that resourceVersion"))
        said = self._verdict(reply, what, what)
        reason = said.hindrance or _no_refusal(what, reply)
        return WatchEnded(reason, said.retry_after or 0.0, permanent=said.answer is Answer.PERMANENT)

    def _verdict(self, reply: Reply, what: str, right: str) -> Verdict:
        """The verdict on a reply. A missing permission may be granted within EARLY seconds of a refusal."""
        if not answers.is_missing_right(reply):
            self._denied.pop(right, None)
            return answers.verdict(reply, what)
        now = self._clock()
        return answers.verdict(reply, what, early=now - self._denied.setdefault(right, now) < answers.EARLY)

    def _whose(self, order: Create, name: str, what: str) -> ActionOutcome:
        """The outcome of a creation if a pod with that name already exists."""
        reply = self._transport.call("GET", f"{self._pods}/{name}")
        if reply.status not in (200, 404):
            return _outcome(order, self._verdict(reply, what, "get"))
        if reply.status == 404:
            words = f"pod {name} already exists, and is being deleted"
        elif not self._is_ours(reply):
            words = (
                f"pod {name} already exists, and sparkgen did not create it: delete it, or find out who "
                "created it"
            )
        else:
            return ActionOutcome(order, Answer.DONE, uid=uid_in(reply))
        return ActionOutcome(order, Answer.REFUSED, Hindrance(Code.ALREADY_EXISTS, f"cannot {what}: {words}"))

    def _uid_of(self, name: str) -> str:
        """The UID of our pod with that name; "" if there is none. Raises CallFailed if that is unknown."""
        reply = self._transport.call("GET", f"{self._pods}/{name}")
        if reply.status == 404 or (reply.status == 200 and not self._is_ours(reply)):
            return ""
        if reply.status != 200:
            what = f"read pod {name}"
            said = self._verdict(reply, what, "get")
            text = str(said.hindrance or _no_refusal(what, reply))
            raise CallFailed(text, sent=False, retry_after=said.retry_after)
        return uid_in(reply)

    def _is_ours(self, reply: Reply) -> bool:
        """Whether our driver's pod owns the pod in a reply. Raises CallFailed if it has no pod."""
        return is_owned(reply, self._attempt.pod_uid)


def _outcome(action: Action, verdict: Verdict, uid: str = "") -> ActionOutcome:
    return ActionOutcome(action, verdict.answer, verdict.hindrance, verdict.retry_after, uid)


def _without_secret(verdict: Verdict, secret: str) -> Verdict:
    """The verdict without the server's words, if they repeat the secret: a webhook may quote what it denies.

    Logs, Events and /status show these words, and others may read them.
    """
    said = verdict.hindrance
    quoted = (secret[:QUOTED], base64.b64encode(secret.encode()).decode()[:QUOTED])
    if said is None or not any(text in said.detail for text in quoted):
        return verdict
    return replace(verdict, hindrance=replace(said, detail=""))


def _no_refusal(what: str, reply: Reply) -> Hindrance:
    """The hindrance for a successful answer without usable content."""
    return Hindrance(Code.INTERNAL_ERROR, f"cannot {what}: the API server answered {reply.status}")
