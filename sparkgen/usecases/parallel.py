"""Do the same for many documents, with all processors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from sparkgen.errors import SparkgenError

if TYPE_CHECKING:
    from concurrent.futures import Executor

# Below this, starting processes costs more than they save.
FEW = 32
_PART = 16
_MOST_WORKERS = 8

Progress = Callable[[int], None]
"""Is told how many items are done so far, each time that some more are; not of work that is soon done."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_work: tuple[Callable[[Any], Any], Sequence[Any]] = (repr, ())
"""In a worker: what to do, and all items of the call. They came with the fork: nothing was copied."""


def each(
    function: Callable[[_Item], _Result], items: Sequence[_Item], progress: Progress | None = None
) -> Iterator[_Result]:
    """What `function`, which changes nothing, makes of every item, in order."""
    workers = min(_processors(), _MOST_WORKERS, len(items) // _PART)
    if len(items) <= FEW or workers < 2 or sys.platform != "linux":
        return map(function, items)
    return _in_parallel(function, items, progress, workers)


def _processors() -> int:
    """How many processors this process may use.

    A container or `taskset` may leave it fewer than there are.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_parallel(
    function: Callable[[_Item], _Result], items: Sequence[_Item], progress: Progress | None, workers: int
) -> Iterator[_Result]:
    # 20 ms that few documents do not pay.
    import multiprocessing  # noqa: PLC0415
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    function(items[0])  # once here: imports and compiled templates come with the fork, too
    starts = range(0, len(items), _PART)
    # Forking is safe: this process has no threads that could hold a lock.
    fork = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, fork, initializer=_begin_worker, initargs=(function, items))
    done = 0
    with _ended(pool):
        try:
            for part in pool.map(_do_part, starts):
                done += len(part)
                if progress is not None:
                    progress(done)
                yield from part
        except BrokenProcessPool as error:
            raise SparkgenError(
                "a worker process was killed, perhaps because memory ran out; render fewer documents at once"
            ) from error


@contextmanager
def _ended(pool: Executor) -> Iterator[None]:
    """Whatever happens, the workers end, and after a failure they begin nothing new."""
    try:
        yield
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker(function: Callable[[Any], Any], items: Sequence[Any]) -> None:
    """Keep the work at hand. Ctrl-C is the parent's: it ends the workers."""
    import signal  # noqa: PLC0415 - in the parent already

    global _work  # noqa: PLW0603 - a worker's only state, set once
    _work = (function, items)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _do_part(start: int) -> list[Any]:
    """What becomes of some of the items."""
    function, items = _work
    return [function(item) for item in items[start : start + _PART]]
