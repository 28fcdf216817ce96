"""The application that the doctor runs in a namespace: started, looked at, and removed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.codes import Code
from sparkgen.diff.live import KINDS, listed
from sparkgen.doctor import probe, steps
from sparkgen.doctor.gather import NamespaceFacts
from sparkgen.doctor.steps import LATE_BINDING, Seen
from sparkgen.doctor.values import Row, Verdict
from sparkgen.errors import SparkgenError
from sparkgen.live.explain import explain
from sparkgen.live.facts import gather
from sparkgen.live.find import choose, one
from sparkgen.live.state import State, life_of
from sparkgen.live.values import Run, container, containers, label_of, name_of, running, status_of, waiting
from sparkgen.objects import Object
from sparkgen.phrases import number_of
from sparkgen.usecases.ending import end_in_time
from sparkgen.usecases.requested_run import owner

if TYPE_CHECKING:
    from sparkgen.preflight import Wanted

END_SECONDS = 25.0
"""Seconds for the removal."""
LOOK_SECONDS = 1.0
LOOKS_PER_BEAT = 5
LOOKS_PER_DEATH = 60
"""After so many looks, a minute at least, a doctor whose beat has not changed counts as killed."""
_GIVES_UP = frozenset({Code.IMAGE_PULL_BACK_OFF, Code.INVALID_IMAGE_NAME, Code.ERR_IMAGE_NEVER_PULL})
_PASSING = (None, 429, 500, 502, 503, 504)
"""HTTP statuses that pass by themselves; None: no answer."""


@dataclass
class Trial:
    """The application that the doctor runs: started, looked at, and removed.

    `results`: those that its own log does not have; `done`: the executors that were deleted for a step.
    `bind_late`: whether the RoleBinding is still to be created, when the allocator says what it lacks.
    """

    facts: NamespaceFacts
    bind_late: bool = False
    results: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    before: Mapping[str, str] = field(default_factory=dict)
    looks: int = 0
    job: Object = field(default_factory=dict)
    run: Run | None = None

    @property
    def wanted(self) -> Wanted:
        """The application as it is rendered."""
        return self.facts.wanted

    def start(self) -> Seen:
        """Create the Job, all that it owns, and resume it."""
        cluster = self.facts.cluster
        job = next(item for item in self.wanted.objects if item["kind"] == "Job")
        self.job = dict(job)
        try:
            self.job = cluster.create(probe.marked(job))
            jobs = self._doctors()
            self.before = probe.beats(jobs)
            for other in probe.abandoned(jobs, self.job, {}):
                cluster.delete(other)
            for item in self.wanted.objects:
                if item["kind"] != "Job" and not (self.bind_late and item["kind"] == "RoleBinding"):
                    cluster.create(probe.owned(item, owner(self.job)))
            cluster.patch(self.job, {"spec": {"suspend": False}})
        except ClusterError as error:
            return Seen(ended=str(error))
        return Seen()

    def look(self, seen: Seen) -> Seen:
        """Returns what is seen of the application now. Does what its program asks for."""
        cluster = self.facts.cluster
        self.looks += 1
        try:
            if self.looks % LOOKS_PER_BEAT == 0:
                cluster.patch(self.job, probe.beat(self.looks // LOOKS_PER_BEAT))
            self.run = run = choose(one(cluster, self.wanted.name, self.wanted.namespace))
            self._bind(run)
            log = self._log(run)
            for step, line in steps.deletions(log).items():
                self._kill(run, step, line)
            results = {**self._images(run), **steps.results(log), **self.results}
            self._meet_a_stranger(run, results)
            return self._judged(run, Seen({**results, **self.results}, seen.ended))
        except ClusterError as error:
            ended = "" if error.status in _PASSING else str(error)
            return replace(seen, ended=seen.ended or ended, reason=str(error))
        except SparkgenError as error:  # somebody has deleted it
            return replace(seen, ended=str(error))

    def over(self, seen: Seen, why: str) -> Seen:
        """Returns what was seen until the time was over."""
        if seen.ended:
            return seen
        return replace(seen, ended=why, reason=seen.reason or self._reason())

    def remove(self, pause: Callable[[float], None]) -> Row:
        """Delete everything. Returns the row that says whether anything is left. `pause`: sleeps."""
        name = self.job["metadata"]["name"]
        try:
            removed = end_in_time(END_SECONDS, lambda: self._remove(pause))
        except SparkgenError as error:
            return Row(
                "cleanup",
                Verdict.WARNS,
                f"the Job {name} may be left: {error}",
                "it ends and goes by itself within 6 minutes, with all that belongs to it; the next doctor "
                "removes it sooner",
            )
        earlier = f"; {number_of(removed, 'Job')} of a doctor that was killed removed" if removed else ""
        return Row("cleanup", Verdict.WORKS, f"nothing of {self.wanted.name} is left{earlier}")

    def _remove(self, pause: Callable[[float], None]) -> int:
        self._end_pods()
        self.facts.cluster.delete(self.job)
        removed = 0
        if self.looks >= LOOKS_PER_DEATH:
            gone = probe.abandoned(self._doctors(), self.job, self.before)
            removed = len([self.facts.cluster.delete(job) for job in gone])
        while self._is_there():
            pause(LOOK_SECONDS)
        return removed

    def _end_pods(self) -> None:
        """End the pods now: nothing of theirs is worth a grace period.

        Before the Job goes: a node does not shorten the grace period with which it has begun to end a pod.
        """
        with contextlib.suppress(ClusterError):  # Kubernetes does it, more slowly
            for pod in self.facts.cluster.list("v1", "Pod", self.wanted.namespace, self._selector):
                self.facts.cluster.delete(pod, grace=1)

    def _is_there(self) -> bool:
        return bool(listed(self.facts.cluster, [*KINDS, ("v1", "Pod")], self._selector)[0])

    @property
    def _selector(self) -> str:
        return f"{contract.LABEL_NAME}={self.wanted.name}"

    def _doctors(self) -> list[Object]:
        return self.facts.cluster.list("batch/v1", "Job", self.wanted.namespace, probe.SELECTOR)

    def _log(self, run: Run) -> str:
        status = container(run.driver) if run.driver is not None else {}
        if run.driver is None or not {"running", "terminated"} & (status.get("state") or {}).keys():
            return ""
        return self.facts.cluster.log(
            name_of(run.driver), contract.DRIVER_CONTAINER, run.namespace, tail=2000
        )

    def _images(self, run: Run) -> dict[str, Mapping[str, Any]]:
        """The result about images: the driver's container runs, or the kubelet has given up."""
        if run.driver is None:
            return {}
        state = container(run.driver).get("state") or {}
        started = (state.get("running") or state.get("terminated") or {}).get("startedAt")
        if started:
            born = datetime.fromisoformat(run.driver["metadata"]["creationTimestamp"])
            took = (datetime.fromisoformat(started) - born).total_seconds()
            return {"images": {"ok": True, "found": f"a driver pod starts in {took:.0f} s, with its images"}}
        if any(waiting(one).get("reason") in _GIVES_UP for one in containers(run.driver)):
            return {"images": {"ok": False, "found": "an image cannot be pulled"}}
        return {}

    def _judged(self, run: Run, seen: Seen) -> Seen:
        """Returns what was seen, with the reason if something does not work, and the end if it has ended."""
        state = life_of(run).state
        if state in (State.SUCCEEDED, State.FAILED):
            seen = replace(seen, ended=f"the application has ended ({state.value})")
        wrong = any(result.get("ok") is False for result in seen.results.values())
        return replace(seen, reason=self._reason()) if seen.ended or wrong else seen

    def _reason(self) -> str:
        if self.run is None:
            return ""
        try:
            reason = explain(gather(self.facts.cluster, self.run), datetime.now(UTC))
        except ClusterError as error:
            return str(error)
        return reason.cause if reason else ""

    def _bind(self, run: Run) -> None:
        """Create the RoleBinding once the allocator's log says that it lacks permissions."""
        if not self.bind_late or Code.FORBIDDEN not in gather(self.facts.cluster, run).allocator_log:
            return
        binding = next(item for item in self.wanted.objects if item["kind"] == "RoleBinding")
        self.facts.cluster.create(probe.owned(binding, owner(self.job)))
        self.bind_late = False
        found = "the allocator said which permission it lacks, and waited for the RoleBinding"
        self.results[LATE_BINDING.name] = {"ok": True, "found": found}

    def _kill(self, run: Run, step: str, line: Mapping[str, Any]) -> None:
        """Delete the pod of the executor that the program names, once for each step."""
        if step in self.done:
            return
        self.done.add(step)
        chosen = [
            pod for pod in run.executors if label_of(pod, contract.LABEL_EXECUTOR_ID) == str(line["delete"])
        ]
        try:
            for pod in chosen:
                self.facts.cluster.delete(pod, grace=line.get("grace"))
        except ClusterError as error:
            self.results[step] = {"ok": None, "found": str(error)}

    def _meet_a_stranger(self, run: Run, results: Mapping[str, Mapping[str, Any]]) -> None:
        """Start a pod that connects to the driver once executors have; read what it found while that runs."""
        if "executors" not in results or "network-policy" in self.results or run.driver is None:
            return
        if not running(container(run.driver)):
            return
        cluster, address = self.facts.cluster, str(status_of(run.driver).get("podIP") or "")
        item = probe.stranger(self.job, address, owner(self.job))
        name = name_of(item)
        try:
            if "stranger" not in self.done:
                self.done.add("stranger")
                cluster.create(item)  # a pod of this name that is there already is somebody else's
                return
            pod = cluster.get("v1", "Pod", name, run.namespace)
            if pod is not None and status_of(pod).get("phase") in ("Succeeded", "Failed"):
                log = cluster.log(name, "stranger", run.namespace)
                unread = {"ok": None, "found": "the pod that tries to connect has failed"}
                self.results["network-policy"] = steps.policy_result(log) or unread
        except ClusterError as error:
            self.results["network-policy"] = {"ok": None, "found": str(error)}
