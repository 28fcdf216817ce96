"""Kubernetes as an ExecutorBackend: pods are executors. All that the allocator asks of an API server is here.

Lists are read as of now (no `resourceVersion`), in pages: a decision concludes from them what is not there,
and a cached list may be old. They are rare: one at the start, and one after a gap. A watch goes on by itself
after its server ends it, and after a connection that broke, from where it was: that leaves no gap.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sparkgen import contract
from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.observe.parse_pods import GONE, event_of_line, page_of, pod_in, uid_in
from sparkgen.runtime.allocator.observe.trim_pod import owned_by
from sparkgen.runtime.allocator.observe.watch_retry import WatchRetry
from sparkgen.runtime.allocator.pods.driver_pod import DriverPod, driver_pod_of
from sparkgen.runtime.allocator.pods.events import event_of
from sparkgen.runtime.allocator.pods.template import TemplateError, executor_pod
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.backend import Notice, Pod, PodList, WatchEnded, WatchEvent
from sparkgen.runtime.kubernetes import answers
from sparkgen.runtime.kubernetes.answers import Answer, AnswerTooLarge, CallFailed, Reply, Verdict
from sparkgen.runtime.kubernetes.transport import ApiCalls, LineSource

PAGES = (500, 50, 5, 1)
"""Pods in one answer to a list: as kubectl asks for; fewer where such a page is too large to be read."""
MAX_PODS = 100_000
"""Executors that a list may have: ten times as many as were ever measured. More are none that we created."""
MAX_PAGES = 2 * MAX_PODS
"""Answers that a list may have: pods of others have our labels, too, and are passed over."""
WATCH_SECONDS = (240, 360)
"""How long one watch lasts: about the servers' own choice, and never the same for all allocators."""
SILENCE = 100.0
"""Seconds without a line after which a watch is opened again; servers send a bookmark every minute."""


class KubernetesBackend:
    """The ExecutorBackend on an API server.

    `clock` is monotonic, `wall` the time of day in seconds since 1970, `random` gives numbers from 0 to 1.
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
        """A driver runs under this application id: executors that are created from now on are its own."""
        self._attempt = replace(self._attempt, application_id=application_id)

    def set_driver_url(self, url: str) -> None:
        """Where executors that are created from now on reach their driver, when that is not in this pod."""
        self._driver_url = url

    def create(self, order: Create) -> ActionOutcome:
        """Create an executor's pod. One that is there already, and is ours, is as good."""
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
        # Without the number: many executors that are refused for one reason are told of once.
        found = self._verdict(reply, what, "create")
        if (said := found.hindrance) is not None:
            said = replace(said, detail=said.detail.replace(name, attempt.any_executor))
        return _outcome(order, replace(found, hindrance=said), uid_in(reply))

    def delete(self, order: Delete) -> ActionOutcome:
        """Delete an executor's pod, and no other: one that is not there any more is as good."""
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
        """All pods of this attempt, reduced, as of now. WatchEnded when that cannot be told."""
        what = "list executors"
        try:
            listing = self._list_in_pages(what)
        except CallFailed as fault:
            raise WatchEnded(answers.unanswered(fault, what)) from fault
        self._denied.pop(what, None)
        return listing

    def _list_in_pages(self, what: str) -> PodList:
        """The whole list; in smaller pages from where one was too large. Fault when there is none."""
        query = {"labelSelector": self._attempt.selector}
        pods: list[Pod] = []
        sizes = iter(PAGES)
        size = next(sizes)
        for _ in range(MAX_PAGES):
            try:
                reply = self._transport.call("GET", self._pods, {**query, "limit": str(size)})
            except AnswerTooLarge:
                size = next(sizes, 0)
                if not size:
                    raise
                continue
            if reply.status != 200:
                raise self._ended(reply, what)
            found = page_of(reply)
            pods += filter(None, map(self._executor_in, found.pods))
            if not found.more:
                return PodList(tuple(pods), found.version)
            if found.more == query.get("continue") or len(pods) > MAX_PODS:
                break
            query["continue"] = found.more
        raise CallFailed("the API server's list does not end", sent=True)

    def _executor_in(self, pod: Pod) -> Pod | None:
        """A pod as far as a list keeps it; None for one that is no executor of ours.

        Whoever may create pods may also name our driver's pod as one of many owners: only that one is kept.
        """
        attempt, metadata = self._attempt, pod["metadata"]
        if not owned_by(pod, attempt.pod_uid) or attempt.executor_id(metadata["name"]) is None:
            return None
        return {**pod, "metadata": {**metadata, "ownerReferences": [{"uid": attempt.pod_uid}]}}

    def watch(self, version: str) -> Iterator[WatchEvent]:
        """What happens from `version` on. Ends when this is closed; WatchEnded when there may be a gap."""
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
        """What a watch that goes on from `version` is asked for with."""
        shortest, longest = WATCH_SECONDS
        return {
            "watch": "1",
            "labelSelector": self._attempt.selector,
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(shortest + self._random() * (longest - shortest))),
        }

    def refused_watch(self, reply: Reply) -> CallFailed | WatchEnded:
        """What follows from a refusal: to ask again, unless the version is too old or no is meant for good.

        An API server that has just started may refuse what it allows: it has not read its roles yet.
        """
        said = self._verdict(reply, "watch executors", "watch executors")
        if reply.status != GONE and said.answer is not Answer.PERMANENT:
            return CallFailed(str(said.hindrance), sent=False, retry_after=said.retry_after)
        return self._ended(reply, "watch executors")

    def record_event(self, notice: Notice) -> bool:
        """Write an Event on the driver's pod: `kubectl describe` shows it. False: another try may help."""
        path = f"/api/v1/namespaces/{self._attempt.namespace}/events"
        try:
            reply = self._transport.call("POST", path, body=event_of(self._attempt, notice, self._wall()))
        except CallFailed:
            return False
        said = self._verdict(reply, "write an Event", "create an Event")
        return said.answer in (Answer.DONE, Answer.PERMANENT)  # the log has it, too

    def create_secret(self, secret: str) -> Verdict:
        """Create the attempt's Secret with the RPC secret; DONE as well when it is there already.

        The Role lets nobody read Secrets, this allocator included, so its owner cannot be compared: its name
        is one that only this pod's session knows before it is there (session.name_of_secret).
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
        return self._verdict(reply, what, "create a Secret")

    def create_pod_group(self, gang: int) -> Verdict:
        """Create the PodGroup of this attempt's executors; DONE as well when it is there already.

        `gang`: how many pods its scheduler places together. It goes with the driver's pod, its owner.
        Each version is tried until the cluster serves one: to ask what it serves would be a call more.
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
        """What the driver's own pod says of itself; raises nothing."""
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
        event = event_of_line(line)
        if event.kind == "BOOKMARK" or owned_by(event.pod, self._attempt.pod_uid):
            return event
        return WatchEvent(
            "BOOKMARK", {}, event.version
        )  # another's pod with our labels: how far the watch is

    def _ended(self, reply: Reply, what: str) -> WatchEnded:
        if reply.status == GONE:
            return WatchEnded(Hindrance(Code.GONE, "the API server no longer has that resourceVersion"))
        said = self._verdict(reply, what, what)
        reason = said.hindrance or _no_refusal(what, reply)
        return WatchEnded(reason, said.retry_after or 0.0, permanent=said.answer is Answer.PERMANENT)

    def _verdict(self, reply: Reply, what: str, right: str) -> Verdict:
        """What a reply means; a right that is missing may come within a minute of its first refusal."""
        if not answers.is_missing_right(reply):
            self._denied.pop(right, None)
            return answers.verdict(reply, what)
        now = self._clock()
        return answers.verdict(reply, what, early=now - self._denied.setdefault(right, now) < answers.EARLY)

    def _whose(self, order: Create, name: str, what: str) -> ActionOutcome:
        """What it means that a pod of that name is there already."""
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
        """The UID of our pod of that name; "" when there is none. Fault when nobody can say."""
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
        """Whether our driver's pod owns the pod in a reply. Fault when it holds none."""
        return owned_by(pod_in(reply), self._attempt.pod_uid)


def _outcome(action: Action, verdict: Verdict, uid: str = "") -> ActionOutcome:
    return ActionOutcome(action, verdict.answer, verdict.hindrance, verdict.retry_after, uid)


def _no_refusal(what: str, reply: Reply) -> Hindrance:
    """An answer of success that holds nothing of use."""
    return Hindrance(Code.INTERNAL_ERROR, f"cannot {what}: the API server answered {reply.status}")
