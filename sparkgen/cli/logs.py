"""`sparkgen logs`: prints the logs of a run's driver, allocator and executors."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sparkgen import contract
from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import APPLICATION, PLACE, RUN
from sparkgen.cli.request import ClusterOptions
from sparkgen.cluster import connect
from sparkgen.errors import SparkgenError
from sparkgen.grammar.duration import to_seconds
from sparkgen.grammar.error import GrammarError
from sparkgen.live import archived, sources
from sparkgen.live.allocatorlog import sentence
from sparkgen.live.find import choose, one, reread
from sparkgen.live.following import lines, one_by_one, together
from sparkgen.live.state import State, life_of
from sparkgen.phrases import some_of
from sparkgen.usecases.logs import WantedLog, source_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sparkgen.cluster import Cluster
    from sparkgen.live.archived import Archive, ArchivedLog
    from sparkgen.live.following import Read
    from sparkgen.live.sources import Source
    from sparkgen.live.values import Run

HELP = """Print the log of a run: of its driver, its allocator or its executors.

With -f, the command waits for a container that has not started, and prints its log until the container ends.
Ctrl-C stops only the command.

The log of an executor is deleted with its pod when the executor ends. The command then tells you how the
executor ended, and under which name to look for the log in your cluster's log collection. If the document has
`logging.archive`, --archived reads the log from there, with the rclone and the credentials of your machine.
There, --since prints whole files of driver and executors that were written to in this time.
"""
EXAMPLES = """\b
Examples:
  sparkgen logs pi                      # the driver of the latest run
  sparkgen logs pi -f --tail 20
  sparkgen logs pi --allocator          # why executors start and stop
  sparkgen logs pi --executor 3
  sparkgen logs pi --all -f             # all of them, each line with its container
  sparkgen logs nightly --run 29384640  # an earlier firing
  sparkgen logs stream --previous       # the driver before its last restart
  sparkgen logs pi --archived --executor 3 --grep ERROR  # when its pod is gone
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogsOptions(ClusterOptions):
    """The run and the container whose log to print.

    `tail`: the number of lines; None: all of them; `since`: a duration; `grep`: a part of lines; "" for all.
    """

    name: str
    run: str
    executor: str
    allocator: bool
    everything: bool
    follow: bool
    tail: int | None
    previous: bool
    archived: bool
    since: str
    grep: str


def logs(options: LogsOptions) -> None:
    """Print the log; with `follow`, also what is written later."""
    if [bool(options.executor), options.allocator, options.everything].count(True) > 1:
        raise SparkgenError("--executor, --allocator and --all cannot be combined; use only one")
    if options.previous and options.follow:
        raise SparkgenError("--previous cannot be combined with -f: the previous container has ended")
    since = _seconds(options.since)
    cluster = connect(options.place)
    chosen = choose(one(cluster, options.name), options.run)
    if options.archived:
        _print(_from_archive(chosen, options, since), None, options.grep)
        return

    def read(source: Source) -> Iterable[bytes]:
        return cluster.follow(
            source.pod,
            source.container,
            tail=options.tail,
            previous=options.previous,
            follow=options.follow,
            since=since,
        )

    if options.everything:
        every = _all(cluster, chosen, read, follow=options.follow)
        _print(every, f"[{contract.ALLOCATOR_CONTAINER}] ", options.grep)
        return
    wanted = WantedLog(options.executor, options.allocator)
    source = source_of(cluster, chosen, wanted, output.say, wait=options.follow)
    _print(lines(read(source)), "" if source.title == contract.ALLOCATOR_CONTAINER else None, options.grep)


COMMAND = command(
    LogsOptions,
    logs,
    APPLICATION,
    RUN,
    Option("executor", "--executor -e ID", "Print the log of this executor: its ID, or the name of its pod."),
    Option("allocator", "--allocator", "Print the log of the allocator."),
    Option("everything", "--all", "Print the logs of the driver, the allocator and all executors."),
    Option("follow", "--follow -f", "Follow the log until the container ends."),
    Option("tail", "--tail N", "Print only the last N lines of each log.", kind=int, least=0),
    Option("previous", "--previous", "Print the log of the container before its last restart."),
    Option("since", "--since DURATION", "Print only what was written in this time, such as 30m or 2h."),
    Option("grep", "--grep TEXT", "Print only lines that contain this text."),
    Option(
        "archived", "--archived", "Read from the log archive of the document, also when the pods are gone."
    ),
    *PLACE,
)


def _seconds(text: str) -> int | None:
    """Returns the whole seconds of a duration; None for an empty text. SparkgenError for any other text."""
    try:
        return max(1, to_seconds(text)) if text else None
    except GrammarError as error:
        raise SparkgenError(f"--since {text}: {error}") from None


def _from_archive(run: Run, options: LogsOptions, since: int | None) -> Iterable[str]:
    """Returns the lines of the archived logs that the options name. SparkgenError if there are none."""
    if options.follow or options.previous or options.tail is not None:
        raise SparkgenError("--archived cannot be combined with -f, --previous or --tail")
    archive = archived.archive_of(run)
    if archive is None:
        raise SparkgenError(
            f"the logs of {run.name} are not archived: set `logging.archive` for the next run"
        )
    wish = archived.Wish(options.executor, options.allocator, options.everything)
    known = archived.archived_logs(archive, run, wish, os.environ, since)
    if not known:
        titles = archived.titles(archive, os.environ)
        there = f"it has those of: {some_of(titles, sources.SHOWN)}" if titles else "it has none yet"
        of_time = "" if since is None else " of this time"
        raise SparkgenError(f"{archive.folder} has no such log{of_time}: {there}")
    found = archived.chosen(known, wish)
    _say_what_is_printed(known, found, wish, since)
    return _archived_lines(archive, found, wish, since)


def _say_what_is_printed(
    known: Sequence[ArchivedLog], found: Sequence[ArchivedLog], wish: archived.Wish, since: int | None
) -> None:
    """Say which of several pods it is, and that `--since` chooses files."""
    others = [log.pod for log in known if log not in found]
    if wish.executor and others:
        named = some_of(others, sources.SHOWN)
        output.say(f"this is the log of {found[0].pod}, the newest; others with this ID: {named}")
    if since is not None and any(log.title != contract.ALLOCATOR_CONTAINER for log in found):
        output.say(
            "with --archived, --since chooses files that were written to in this time, and prints them whole"
        )


def _archived_lines(
    archive: Archive, found: Sequence[ArchivedLog], wish: archived.Wish, since: int | None
) -> Iterator[str]:
    after = (
        datetime.min.replace(tzinfo=UTC) if since is None else datetime.now(UTC) - timedelta(seconds=since)
    )
    count = Counter(log.title for log in found)
    for log in found:
        mark = log.title if count[log.title] == 1 else f"{log.title}, {log.pod}"
        for line in archived.recent(log, lines(archived.content(archive, log, os.environ)), after):
            yield f"[{mark}] {line}" if wish.everything else line


def _print(lines: Iterable[str], allocator: str | None, grep: str = "") -> None:
    """Print lines as they come, all or those with a text.

    `allocator`: the start of the allocator's lines; None if there are none.

    On a terminal, only the sentences of the allocator's lines are printed: the facts after them are for
    programs.
    """
    for line in lines:
        if grep not in line:
            continue
        is_allocators = allocator is not None and line.startswith(allocator)
        output.log(line, sentence if is_allocators else None)


def _all(cluster: Cluster, run: Run, read: Read, *, follow: bool) -> Iterable[str]:
    if not follow:
        sources = _there(run)
        if not sources:
            source_of(cluster, run, WantedLog(), output.say)  # raises an error that says why there is none
        return one_by_one(sources, read)

    def look() -> tuple[Sequence[Source], bool]:
        seen = reread(cluster, run)
        life = life_of(seen)
        return _there(seen), life.over or life.state in (State.ENDING, State.DELETING)

    return together(look, read)


def _there(run: Run) -> list[Source]:
    """Returns all logs that exist now."""
    own = dict.fromkeys((sources.driver_source(run), sources.allocator_source(run)))
    return [*(source for source in own if source is not None), *sources.executor_sources(run)]
