"""What `wait` does: follow a run to its end, and take its exit code. Knows no command line.

A watch tells of the Job's end at once; in between, a look at the pods every few seconds is for the person.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sparkgen import contract
from sparkgen.cli import output
from sparkgen.cluster import ClusterError, Place
from sparkgen.cluster.marks import KILLED
from sparkgen.errors import SparkgenError
from sparkgen.grammar.duration import to_seconds
from sparkgen.grammar.error import GrammarError
from sparkgen.live.find import choose, one
from sparkgen.live.state import Life, State, life_of
from sparkgen.live.values import Run, annotation_of, conditions, label_of, newest_first, owner_of, uid_of
from sparkgen.usecases import object_names

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

TIMED_OUT = 124
"""The exit code of `timeout` of coreutils."""
DETACHED = 130
LOOK_SECONDS = 10.0
"""Between two looks at the pods. The Job's end is seen at once."""
MOST_SECONDS_BETWEEN_TRIES = 30.0
_PASSING = (429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Wish:
    """What to wait for. `run`: "" for the latest one; `timeout`: as in `30m`, "" for as long as it takes."""

    name: str
    run: str = ""
    timeout: str = ""
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """What a wait came to: the exit code, and what to say."""

    code: int
    text: str


def wait(cluster: Cluster, wish: Wish, place: Place, namespace: str) -> int:
    """Wait until the run has ended: 0, its exit code, 124 after the timeout, 130 after Ctrl-C."""
    seconds = _seconds(wish.timeout)
    run = choose(one(cluster, wish.name, namespace), wish.run)
    if run.kind == "Deployment":
        raise SparkgenError(f"{run.application} runs for ever (a Deployment): there is no end to wait for")
    here = object_names.options(place, namespace)
    again = f"sparkgen wait {run.application} --run {run.name}{here}"
    teller = Teller(quiet=wish.quiet, terminal=sys.stderr.isatty())
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        ended = _follow(cluster, run, teller, deadline)
    except KeyboardInterrupt:
        teller.close()
        output.note(f"{run.name} goes on; to wait again: {again}")
        return DETACHED
    teller.close()
    if ended is None:
        output.note(f"{run.name} has not ended after {wish.timeout}, and goes on; to wait again: {again}")
        return TIMED_OUT
    if not wish.quiet or ended.code:
        step = f"; next: sparkgen status {run.name}{here}" if ended.code else ""
        output.note(f"{ended.text}{step}")
    return ended.code


def _seconds(text: str) -> int | None:
    """A timeout in seconds; None for none."""
    if not text:
        return None
    try:
        return max(to_seconds(text), 0)
    except GrammarError as error:
        raise SparkgenError(
            f"--timeout {text} {error}: write a number with s, m, h or d, as in 30m"
        ) from error


def _follow(cluster: Cluster, run: Run, teller: Teller, deadline: float | None) -> Ended | None:
    """Look, tell and watch until the run has ended (then how), or time is up (None)."""
    pause = 1.0
    while True:
        left = LOOK_SECONDS if deadline is None else min(deadline - time.monotonic(), LOOK_SECONDS)
        try:
            found = _look(cluster, run)
            if found is None:
                return Ended(1, f"{run.name} was deleted before it ended")
            run, life = found, life_of(found)
            if life.over:
                return ending(run, life)
            if left <= 0:
                return None
            teller.tell(run, life)
            _until_it_changes(cluster, run.workload, left)
            pause = 1.0
        except ClusterError as error:
            if error.status is not None and error.status not in _PASSING:
                raise
            if left <= 0:
                return None
            teller.say(f"{error}; trying again")
            time.sleep(min(pause, max(left, 0.1)))
            pause = min(pause * 2, MOST_SECONDS_BETWEEN_TRIES)


def _look(cluster: Cluster, run: Run) -> Run | None:
    """The run as it is now; None when its Job is gone, or is another one of the same name."""
    job = cluster.get("batch/v1", "Job", run.name, run.namespace)
    if job is None or uid_of(job) != uid_of(run.workload):
        return None
    pods = cluster.list("v1", "Pod", run.namespace, f"{contract.LABEL_RUN}={run.label}")
    drivers = newest_first([pod for pod in pods if owner_of(pod) == uid_of(job)])
    own = {uid_of(pod) for pod in drivers}
    executors = [
        pod for pod in pods if owner_of(pod) in own and label_of(pod, contract.LABEL_ROLE) == "executor"
    ]
    return replace(run, workload=job, drivers=tuple(drivers), executors=tuple(executors))


def _until_it_changes(cluster: Cluster, job: Mapping[str, Any], seconds: float) -> None:
    """Return when the Job changes, or the time is over; without the right to watch, after the time."""
    started = time.monotonic()
    try:
        for _ in cluster.watch(job, seconds):
            return
    except ClusterError as error:
        if error.status != 403:
            raise
    # A watch that ends at once, as behind some proxies, is no reason to ask again at once.
    if time.monotonic() - started < 1:
        time.sleep(min(seconds, 5.0))


def ending(run: Run, life: Life) -> Ended:
    """How a run has ended. A failure without an exit code of its own is 1."""
    took = _took(life)
    if life.state is State.SUCCEEDED:
        return Ended(0, f"{run.name} succeeded{took}")
    if annotation_of(run.workload, KILLED):
        return Ended(life.exit_code or 1, f"{run.name} was killed{took}")
    if life.exit_code:
        return Ended(life.exit_code, f"{run.name} failed{took}: the driver's exit code is {life.exit_code}")
    failed = conditions(run.workload).get("Failed", {})
    why = str(failed.get("message") or failed.get("reason") or "no reason is given").rstrip(".")
    return Ended(1, f"{run.name} failed{took}: {why}")


def _took(life: Life) -> str:
    if life.started is None or life.ended is None:
        return ""
    return f" after {lasting((life.ended - life.started).total_seconds())}"


def lasting(seconds: float) -> str:
    """A time for people: 42s, 3m12s, 2h05m."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


class Teller:
    """Tells how it goes: one line that changes on a terminal, a line for each new state elsewhere."""

    def __init__(self, *, quiet: bool, terminal: bool) -> None:
        self._quiet, self._terminal = quiet, terminal
        self._told = ""
        self._open = False

    def tell(self, run: Run, life: Life) -> None:
        """How a run fares now."""
        running = sum((pod.get("status") or {}).get("phase") == "Running" for pod in run.executors)
        words = life.state.value if life.state is not State.RUNNING else f"Running, {running} executors run"
        if self._terminal and life.since is not None:
            since = lasting((datetime.now(UTC) - life.since).total_seconds())
            self.say(f"{run.name}: {words} (for {since})", key=words)
        else:
            self.say(f"{run.name}: {words}", key=words if self._terminal else life.state.value)

    def say(self, text: str, key: str = "") -> None:
        """Print a line, unless the same was said last."""
        if self._quiet:
            return
        if self._terminal:
            output.redraw(text)
            self._open = True
        elif (key or text) != self._told:
            output.note(text)
        self._told = key or text

    def close(self) -> None:
        """End the line that changes."""
        if self._open:
            output.redraw()
            self._open = False
