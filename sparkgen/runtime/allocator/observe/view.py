"""The view of this attempt's executors: a value made from lists and watch events.

Events that are late, repeated or out of order do no harm. No resourceVersion is compared for that, because
they are opaque. Instead, a pod is identified by its UID, and a deleted UID never comes back. For one UID,
phases only go forward, a deletion is never taken back, and the first cause of its end stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from sparkgen import contract
from sparkgen.runtime.allocator.observe.causes import departure_of, loss_of, waiting_of
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.backend import Pod, PodList, WatchEnded, WatchEvent
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP, PersistentMap
from sparkgen.runtime.allocator.values.observed import (
    ListFailure,
    Loss,
    ObservedExecutor,
    PodPhase,
    Snapshot,
    Waiting,
)

MAX_VANISHED = 1000
"""How many gone executors are remembered with their causes, for a driver that asks late."""

ORDER: Mapping[PodPhase, int] = {
    PodPhase.PENDING: 0,
    PodPhase.UNKNOWN: 1,
    PodPhase.RUNNING: 1,
    PodPhase.SUCCEEDED: 2,
    PodPhase.FAILED: 2,
}
"""The order of phases. Unknown is obsolete; it was for pods that had run (PodPhase)."""
ENDED = ORDER[PodPhase.FAILED]


@dataclass(frozen=True, slots=True)
class TrackedPod:
    """The last state of one executor. `departure`: its loss if its pod no longer exists."""

    observed: ObservedExecutor
    departure: Loss


@dataclass(frozen=True, slots=True)
class PodView:
    """All that is seen of an attempt's executors. `version`: where a watch continues."""

    attempt: Attempt
    complete: bool = False
    pods: PersistentMap[TrackedPod] = field(default_factory=lambda: PersistentMap(EMPTY_MAP))
    vanished: Mapping[int, ObservedExecutor] = EMPTY_MAP
    """Gone executors, the latest last. Also used to recognize the UIDs of deleted pods."""
    listed_at: float | None = None
    version: str = ""
    list_failure: ListFailure = field(default_factory=ListFailure)

    def with_list(self, listing: PodList, asked_at: float, now: float) -> PodView:
        """Returns the view after a whole list, whose request was sent at `asked_at`.

        Executors that were known and are not in the list have been deleted meanwhile.
        """
        pods: dict[int, TrackedPod] = {}
        for pod in listing.pods:
            id_ = self._id_of(pod)
            if id_ is not None:
                pods[id_] = _tracked(id_, pod, self.pods.get(id_), now)
        missed = [
            known
            for id_, known in self.pods.whole().items()
            if id_ not in pods or pods[id_].observed.uid != known.observed.uid
        ]
        there = {tracked.observed.uid for tracked in pods.values()}
        vanished = {id_: seen for id_, seen in self.vanished.items() if seen.uid not in there}
        return replace(
            self,
            complete=True,
            pods=PersistentMap(pods),
            vanished=_with_vanished(vanished, missed),
            listed_at=asked_at,
            version=listing.version,
            list_failure=ListFailure(),
        )

    def with_event(self, event: WatchEvent, now: float) -> PodView:
        """Returns the view after one event of a watch."""
        view = replace(self, version=event.version or self.version)
        if event.kind == "BOOKMARK":
            return view
        id_ = self._id_of(event.pod)
        if id_ is None or self._is_gone(id_, event.pod):
            return view
        known = self.pods.get(id_)
        if event.kind == "DELETED":
            return view._without(id_, event.pod, known, now)
        tracked = _tracked(id_, event.pod, known, now)
        if known is not None and known.observed.uid != tracked.observed.uid:  # another pod with that name
            view = replace(view, vanished=_with_vanished(view.vanished, [known]))
        return replace(view, pods=self.pods.having(id_, tracked))

    def with_gap(self) -> PodView:
        """Returns the view after a gap: its executors stay, but it does not prove that others are gone."""
        return replace(self, complete=False)

    def with_list_failure(self, end: WatchEnded) -> PodView:
        """Returns the view after a failed list, with the reason and without being complete."""
        permanent = self.list_failure.permanent + 1 if end.permanent else 0
        return replace(self.with_gap(), list_failure=ListFailure(end.reason, permanent))

    def snapshot(self, started: frozenset[int] = frozenset()) -> Snapshot:
        """The view as a snapshot, for a decision. `started`: executors that got permission to start."""
        executors = {id_: tracked.observed for id_, tracked in self.pods.whole().items()}
        vanished = {id_: seen for id_, seen in self.vanished.items() if id_ not in executors}
        return Snapshot(self.complete, executors, self.listed_at, vanished, started, self.list_failure)

    def _id_of(self, pod: Pod) -> int | None:
        """The id of a pod's executor; None if it does not belong to this attempt, whatever its labels are."""
        owners = pod["metadata"].get("ownerReferences") or ()
        if not any(owner.get("uid") == self.attempt.pod_uid for owner in owners):
            return None
        return self.attempt.executor_id(pod["metadata"]["name"])

    def _is_gone(self, id_: int, pod: Pod) -> bool:
        """Whether this pod (by UID) is known to be deleted, so that the event is a late one."""
        gone = self.vanished.get(id_)
        return gone is not None and gone.uid == pod["metadata"]["uid"]

    def _without(self, id_: int, pod: Pod, known: TrackedPod | None, now: float) -> PodView:
        if known is not None and known.observed.uid != pod["metadata"]["uid"]:
            return self  # the event is about an earlier pod with that name
        last = _tracked(id_, pod, known, now)
        return replace(self, pods=self.pods.without(id_), vanished=_with_vanished(self.vanished, [last]))


def _with_vanished(
    vanished: Mapping[int, ObservedExecutor], gone: Iterable[TrackedPod]
) -> Mapping[int, ObservedExecutor]:
    """The vanished executors with `gone` added, each with the loss from its last state."""
    result = dict(vanished)
    for tracked in gone:
        result.pop(tracked.observed.id, None)
        result[tracked.observed.id] = replace(
            tracked.observed, loss=tracked.observed.loss or tracked.departure
        )
    return dict(islice(result.items(), max(0, len(result) - MAX_VANISHED), None))


def _tracked(id_: int, pod: Pod, known: TrackedPod | None, now: float) -> TrackedPod:
    """The current state of a pod, combined with what is known of the same pod."""
    metadata, spec = pod["metadata"], pod["spec"]
    before = known.observed if known is not None and known.observed.uid == metadata["uid"] else None
    phase, since = _phase(pod, before, now)
    waiting = _waiting(pod, before) if phase is PodPhase.PENDING else None
    if before is not None and before.queued and not (waiting and waiting.queued):
        since = now
    observed = ObservedExecutor(
        id=id_,
        profile=_profile(metadata.get("labels") or {}),
        name=metadata["name"],
        uid=metadata["uid"],
        phase=phase,
        since=since,
        node=spec.get("nodeName") or (before.node if before else ""),
        node_address=(pod.get("status") or {}).get("hostIP") or (before.node_address if before else ""),
        deleting=bool(metadata.get("deletionTimestamp")) or (before is not None and before.deleting),
        waiting=waiting,
        loss=(before.loss if before else None) or loss_of(pod),
        port=_port(pod),
        gang=bool(spec.get("schedulingGroup")),
        added_memory=_added_memory(metadata.get("annotations") or {}),
        pool=(metadata.get("labels") or {}).get(contract.LABEL_POOL, ""),
        found_ended=before.found_ended if before else ORDER[phase] == ENDED,
    )
    departure = departure_of(pod)
    if known is not None and before is not None and _late(pod, before):
        departure = known.departure
    return TrackedPod(observed, departure)


def _phase(pod: Pod, before: ObservedExecutor | None, now: float) -> tuple[PodPhase, float]:
    """The pod's phase, and when it was first seen in it."""
    phase = _phase_of(pod)
    if before is None:
        return phase, now
    if phase is before.phase or _late(pod, before):
        return before.phase, before.since
    return phase, now


def _late(pod: Pod, before: ObservedExecutor) -> bool:
    """Whether this is an older state of the pod than the known one."""
    return ORDER[_phase_of(pod)] < ORDER[before.phase]


def _phase_of(pod: Pod) -> PodPhase:
    try:
        return PodPhase((pod.get("status") or {}).get("phase") or "Pending")
    except ValueError:  # a phase of a later Kubernetes
        return PodPhase.UNKNOWN


def _waiting(pod: Pod, before: ObservedExecutor | None) -> Waiting | None:
    """Why the pod waits. Keeps the reason of a failed pull, which Kubernetes before 1.32 drops in pauses."""
    waiting = waiting_of(pod)
    earlier = before.waiting if before else None
    if waiting is None or earlier is None or waiting.reason != "ImagePullBackOff":
        return waiting
    tells_less = len(waiting.message) < len(earlier.message)
    if tells_less and earlier.reason in ("ErrImagePull", "ImagePullBackOff"):
        return replace(earlier, reason=waiting.reason)
    return waiting


def _port(pod: Pod) -> int | None:
    """The host port of the executor's block manager; None if it has none."""
    containers = (c for c in pod["spec"].get("containers") or () if c["name"] == contract.EXECUTOR_CONTAINER)
    ports = (port for container in containers for port in container.get("ports") or ())
    named = (port for port in ports if port.get("name") == contract.BLOCK_MANAGER_PORT_NAME)
    return next((port["hostPort"] for port in named if port.get("hostPort")), None)


def _profile(labels: Mapping[str, str]) -> int:
    return _whole(labels.get(contract.LABEL_PROFILE_ID, ""))


def _added_memory(annotations: Mapping[str, str]) -> int:
    """MiB of memory in addition to that of its profile."""
    text, unit = annotations.get(contract.ANNOTATION_ADDED_MEMORY, ""), "Mi"
    return _whole(text.removesuffix(unit)) if text.endswith(unit) else 0


def _whole(text: str) -> int:
    """A whole number that others may have written; 0 for any other text."""
    return int(text) if re.fullmatch(r"[0-9]{1,10}", text) else 0
