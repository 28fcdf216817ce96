"""The same for several things at once, in threads: they wait for a server, not for a processor.

Not a ThreadPoolExecutor: the interpreter waits at its end for the threads of one, and Ctrl-C would take as
long as a server that does not answer.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Once(Generic[_Item, _Result]):
    """Calls a function once for each item, and keeps its result or its error for all who ask.

    Several threads may ask at the same time.
    """

    def __init__(self, function: Callable[[_Item], _Result]) -> None:
        self._function = function
        self._guard = threading.Lock()
        self._results: dict[_Item, Future[_Result]] = {}

    def __call__(self, item: _Item) -> _Result:
        """Returns the result for an item, or raises its error."""
        with self._guard:
            first = item not in self._results
            future = self._results.setdefault(item, Future())
        if first:
            try:
                future.set_result(self._function(item))
            except BaseException as error:  # noqa: BLE001 - it comes up where the result is asked for
                future.set_exception(error)
        return future.result()


def start(
    function: Callable[[_Item], _Result], items: Sequence[_Item], workers: int, stop: threading.Event
) -> list[Future[_Result]]:
    """What `function` will make of each item, or raise.

    Items are begun in their order, and so many at most are worked on at the same time. What nobody had begun
    when `stop` was set is cancelled.
    """
    futures: list[Future[_Result]] = [Future() for _ in items]
    waiting: queue.SimpleQueue[tuple[_Item, Future[_Result]]] = queue.SimpleQueue()
    for pair in zip(items, futures, strict=True):
        waiting.put(pair)

    def work() -> None:
        while True:
            try:
                item, future = waiting.get_nowait()
            except queue.Empty:
                return
            if stop.is_set():
                future.cancel()
                future.set_running_or_notify_cancel()
                continue
            try:
                future.set_result(function(item))
            except BaseException as error:  # noqa: BLE001 - it comes up where the result is asked for
                future.set_exception(error)

    for _ in range(min(workers, len(futures))):
        threading.Thread(target=work, daemon=True).start()
    return futures


def results(function: Callable[[_Item], _Result], items: Sequence[_Item], workers: int) -> list[_Result]:
    """What `function` makes of each item, in order. Raises what the first one raises, and Ctrl-C, at once."""
    stop = threading.Event()
    try:
        return [future.result() for future in start(function, items, workers, stop)]
    finally:
        stop.set()


def within(seconds: float, function: Callable[[], _Result]) -> _Result:
    """What `function` returns. Raises TimeoutError after so many seconds; its thread works on, unheard."""
    [future] = start(lambda _: function(), [None], 1, threading.Event())
    return future.result(max(seconds, 0))
