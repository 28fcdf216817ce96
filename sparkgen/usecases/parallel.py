"""Calls a function for many documents, on several processors."""

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
"""Called with the number of items that are done, after each part; not called for a few items."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_work: tuple[Callable[[Any], Any], Sequence[Any]] = (repr, ())
"""In a worker: the function, and all items of the call. The fork shares them, without pickling."""


def each(
    function: Callable[[_Item], _Result], items: Sequence[_Item], progress: Progress | None = None
) -> Iterator[_Result]:
    """Yields the result of `function` for every item, in order. The function must not change anything."""
    workers = min(_processors(), _MOST_WORKERS, len(items) // _PART)
    if len(items) <= FEW or workers < 2 or sys.platform != "linux":
        return map(function, items)
    return _in_parallel(function, items, progress, workers)


def _processors() -> int:
    """Returns how many processors this process may use.

    A container or `taskset` may give it fewer than the machine has.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_parallel(
    function: Callable[[_Item], _Result], items: Sequence[_Item], progress: Progress | None, workers: int
) -> Iterator[_Result]:
    # These imports take 20 ms, which a call with few documents does not need.
    import multiprocessing  # noqa: PLC0415
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    function(items[0])  # once here: so the workers inherit imports and compiled templates
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
    """Shut the workers down in any case; after a failure they start nothing new."""
    try:
        yield
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker(function: Callable[[Any], Any], items: Sequence[Any]) -> None:
    """Store the work in the worker, and ignore Ctrl-C there: the parent ends the workers."""
    import signal  # noqa: PLC0415 - in the parent already

    global _work  # noqa: PLW0603 - a worker's only state, set once
    _work = (function, items)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _do_part(start: int) -> list[Any]:
    """Returns the function's results for one part of the items."""
    function, items = _work
    return [function(item) for item in items[start : start + _PART]]
