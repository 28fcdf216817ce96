"""Tries a namespace: first what can be read, then an application that is removed again in any case."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.codes import Code
from sparkgen.diff.live import KINDS, listed
from sparkgen.doctor import probe, steps
from sparkgen.doctor.checks import CHECKS, Check, row_of
from sparkgen.doctor.gather import NamespaceFacts
from sparkgen.doctor.steps import STEPS, Seen
from sparkgen.doctor.values import Row, Verdict, skipped
from sparkgen.errors import SparkgenError
from sparkgen.live.explain import explain
from sparkgen.live.facts import gather
from sparkgen.live.find import choose, one
from sparkgen.live.state import State, life_of
from sparkgen.live.values import Run, container, containers, label_of, name_of, running, status_of, waiting
from sparkgen.objects import Object, ObjectView
from sparkgen.phrases import number_of
from sparkgen.thread_map import within
from sparkgen.usecases.ending import end_in_time
from sparkgen.usecases.requested_run import owner
from sparkgen.usecases.wait import TimeLimit

if TYPE_CHECKING:
    from sparkgen.preflight import Wanted

CHECK_SECONDS = 30.0
"""Seconds for one check that reads."""
END_SECONDS = 25.0
"""Seconds of the whole time that are kept for the removal."""
LOOK_SECONDS = 1.0
LOOKS_PER_BEAT = 5
_BEFORE_THE_PROBE = (
    "kubernetes",
    "rights",
    "namespace",
    "pod-security",
    "admission",
    "quota",
    "runtime-image",
)
"""The checks without which no application would start."""
_GIVES_UP = frozenset({Code.IMAGE_PULL_BACK_OFF, Code.INVALID_IMAGE_NAME, Code.ERR_IMAGE_NEVER_PULL})
_PASSING = (None, 429, 500, 502, 503, 504)
"""HTTP statuses that pass by themselves; None: no answer."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, in seconds."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


def examine(facts: NamespaceFacts, limit: TimeLimit, tell: Callable[[Row], None], clock: Clock) -> None:
    """Try everything; `tell` gets each row as soon as it is known. What was started is removed in any case.

    Raises ClusterError if the cluster does not answer the first request, or does not accept the login.
    """
    rows: dict[str, Row] = {}

    def add(row: Row) -> None:
        rows[row.check] = row
        tell(row)

    deadline = limit.deadline - END_SECONDS
    for check in CHECKS:
        add(skipped(check.name, check.needs, rows) or _in_time(check, facts, deadline - clock.now()))
    lacks = skipped("images", _BEFORE_THE_PROBE, rows)
    if lacks is not None:
        for step in STEPS:
            add(replace(lacks, check=step.name))
        return
    application = Trial(facts)
    try:
        seen = application.start()
        for step in STEPS:
            row = skipped(step.name, step.needs, rows)
            while row is None and (row := steps.row_of(step, seen)) is None:
                clock.pause(LOOK_SECONDS)
                seen = application.look(seen)
                if clock.now() >= deadline:
                    seen = application.over(seen, f"not known within {limit.text}")
            add(row)
    finally:
        add(application.remove(clock))


def _in_time(check: Check, facts: NamespaceFacts, left: float) -> Row:
    seconds = min(CHECK_SECONDS, left)
    try:
        return within(seconds, lambda: row_of(check, facts))
    except TimeoutError:
        return Row(check.name, Verdict.UNKNOWN, f"the API server did not answer within {seconds:.0f} s")


@dataclass
class Trial:
    """The application that the doctor runs: started, looked at, and removed.

    `results`: those that its own log does not have; `done`: the executors that were deleted for a step.
    """

    facts: NamespaceFacts
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
                self._delete(other)
            for item in self.wanted.objects:
                if item["kind"] != "Job":
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

    def remove(self, clock: Clock) -> Row:
        """Delete everything. Returns the row that says whether anything is left."""
        name = self.job["metadata"]["name"]
        try:
            removed = end_in_time(END_SECONDS, lambda: self._remove(clock))
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

    def _remove(self, clock: Clock) -> int:
        self._end_pods()
        self._delete(self.job)
        removed = 0
        if self.looks >= 2 * LOOKS_PER_BEAT:
            gone = probe.abandoned(self._doctors(), self.job, self.before)
            removed = len([self._delete(job) for job in gone])
        while self._is_there():
            clock.pause(LOOK_SECONDS)
        return removed

    def _end_pods(self) -> None:
        """End the pods now: nothing of theirs is worth a grace period.

        Before the Job goes: a node does not shorten the grace period with which it has begun to end a pod.
        """
        with contextlib.suppress(ClusterError):  # Kubernetes does it, more slowly
            for pod in self.facts.cluster.list("v1", "Pod", self.wanted.namespace, self._selector):
                self.facts.cluster.delete("v1", "Pod", name_of(pod), self.wanted.namespace, grace=1)

    def _is_there(self) -> bool:
        return bool(listed(self.facts.cluster, [*KINDS, ("v1", "Pod")], self._selector)[0])

    @property
    def _selector(self) -> str:
        return f"{contract.LABEL_NAME}={self.wanted.name}"

    def _doctors(self) -> list[Object]:
        return self.facts.cluster.list("batch/v1", "Job", self.wanted.namespace, probe.SELECTOR)

    def _delete(self, job: ObjectView) -> bool:
        return self.facts.cluster.delete("batch/v1", "Job", name_of(job), self.wanted.namespace)

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
                self.facts.cluster.delete("v1", "Pod", name_of(pod), run.namespace, grace=line.get("grace"))
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
            pod = cluster.get("v1", "Pod", name, run.namespace)
            if pod is None and "stranger" not in self.done:
                self.done.add("stranger")
                cluster.create(item)
            elif pod is not None and status_of(pod).get("phase") in ("Succeeded", "Failed"):
                log = cluster.log(name, "stranger", run.namespace)
                unread = {"ok": None, "found": "the pod that tries to connect has failed"}
                self.results["network-policy"] = steps.policy_result(log) or unread
        except ClusterError as error:
            self.results["network-policy"] = {"ok": None, "found": str(error)}
