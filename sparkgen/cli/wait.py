"""`sparkgen wait`: prints the progress of a run, and returns its exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sparkgen import contract
from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import APPLICATION, PLACE, QUIET, RUN
from sparkgen.cli.request import WaitingOptions
from sparkgen.cluster import connect
from sparkgen.errors import SparkgenError
from sparkgen.grammar.duration import to_seconds
from sparkgen.grammar.error import GrammarError
from sparkgen.live.find import choose, one
from sparkgen.live.state import Life, State
from sparkgen.live.values import Run
from sparkgen.phrases import number_of
from sparkgen.usecases.wait import Ended, follow, lasting, why

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

HELP = """Wait for a run of an application to end: the latest run, or the run that --run names.

Exit codes: 0 if the run succeeded. If the run failed, the exit code of the driver's program, or 1 if the
program has none, for example because it was killed. 124 if the run has not ended within --timeout. 2 for
wrong usage, or if the cluster refuses a request. 130 after Ctrl-C.

Neither the timeout nor Ctrl-C stops the run.
"""
EXAMPLES = """\b
Examples:
  sparkgen wait pi -n analytics
  sparkgen wait pi --timeout 30m
  sparkgen wait pi --run pi-51bb888d
"""

TIMED_OUT = 124
"""The exit code of coreutils' `timeout`."""
DETACHED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions(WaitingOptions):
    """The application, and its run to wait for; "" for the latest one."""

    name: str
    run: str


def connect_and_wait(options: WaitOptions) -> int:
    """Wait as `wait` does, in the cluster of the options."""
    cluster = connect(options.place)
    return wait(cluster, options, options.name, options.run, cluster.namespace)


def wait(cluster: Cluster, options: WaitingOptions, name: str, chosen: str, namespace: str) -> int:
    """Wait until a run has ended. Returns its exit code, 124 after the timeout, or 130 after Ctrl-C.

    `name`: of its application; `chosen`: the run's name, "" for the latest one.
    """
    seconds = seconds_of(options.timeout)
    run = choose(one(cluster, name, namespace), chosen)
    if contract.is_session(run.workload) and not chosen:
        raise SparkgenError(
            f"{run.application} has sessions, but no run yet; apply the document first, or choose a "
            "session with --run"
        )
    here = options.here(namespace)
    again = f"sparkgen wait {run.application} --run {run.name}{here}"
    try:
        with output.live_line() as show:
            reporter = ProgressReporter(show, quiet=options.quiet, terminal=sys.stderr.isatty())
            ended = follow(cluster, run, seconds, reporter.tell, reporter.say)
    except KeyboardInterrupt:
        output.note(f"{run.name} is still running; to wait again: {again}")
        return DETACHED
    if ended is None:
        output.note(
            f"{run.name} has not ended after {options.timeout} and is still running; to wait again: {again}"
        )
        return TIMED_OUT
    if not options.quiet or ended.code:
        step = f"; next: sparkgen status {run.name}{here}" if ended.code else ""
        output.note(f"{ended.text}{step}")
    if ended.code:
        _tell_why(cluster, ended)
    return ended.code


def _tell_why(cluster: Cluster, ended: Ended) -> None:
    """Print the cause of a failure, as `status` does, and the lines of the driver's log that explain most."""
    reason, lines = why(cluster, ended, datetime.now(UTC))
    if reason is not None:
        output.note(f"  reason: {reason.text}")
    if lines:
        output.note("  the driver's log says:")
    for line in lines:
        output.note(f"    {line}")


def seconds_of(text: str) -> int | None:
    """Returns a timeout in seconds; None if there is none."""
    if not text:
        return None
    try:
        return max(to_seconds(text), 0)
    except GrammarError as error:
        raise SparkgenError(
            f"--timeout {text} {error}; write a number with s, m, h or d, for example 30m"
        ) from error


class ProgressReporter:
    """Prints the progress: one line that changes on a terminal, a line for each new state elsewhere."""

    def __init__(self, show: Callable[[str], None], *, quiet: bool, terminal: bool) -> None:
        self._show, self._quiet, self._terminal = show, quiet, terminal
        self._told = ""

    def tell(self, run: Run, life: Life) -> None:
        """Print the current state of a run."""
        running = sum((pod.get("status") or {}).get("phase") == "Running" for pod in run.executors)
        executors = number_of(running, "executor")
        words = life.state.value if life.state is not State.RUNNING else f"Running with {executors}"
        if self._terminal and life.since is not None:
            since = lasting((datetime.now(UTC) - life.since).total_seconds())
            self.say(f"{run.name}: {words} (for {since})", key=words)
        else:
            self.say(f"{run.name}: {words}", key=words if self._terminal else life.state.value)

    def say(self, text: str, key: str = "") -> None:
        """Print a line, unless its key is that of the last line."""
        if self._quiet:
            return
        if self._terminal:
            self._show(text)
        elif (key or text) != self._told:
            output.note(text)
        self._told = key or text


COMMAND = command(
    WaitOptions,
    connect_and_wait,
    APPLICATION,
    RUN,
    Option("timeout", "--timeout TIME", "Maximum time to wait, for example 30m. After this time, exit 124."),
    *PLACE,
    QUIET,
)
