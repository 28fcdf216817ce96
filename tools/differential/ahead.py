"""Runs that begin before their tests ask for them, two at a time: while one waits, the other works."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")

WORKERS = 2


class Ahead(Generic[Key, Result]):
    """The runs of keys. `run` gets a key, and a number that no other run has."""

    def __init__(self, run: Callable[[Key, int], Result], keys: Iterable[Key]) -> None:
        self._run = run
        self._numbers = itertools.count(1)
        self._pool = ThreadPoolExecutor(WORKERS)
        self._begun: dict[Key, Future[Result]] = {
            key: self._pool.submit(run, key, next(self._numbers)) for key in keys
        }

    def result(self, key: Key) -> Result:
        """What the run of a key came to; whoever asks again gets another run, at once."""
        begun = self._begun.pop(key, None)
        return self._run(key, next(self._numbers)) if begun is None else begun.result()

    def close(self) -> None:
        """Begin no more runs, and wait for those that go on."""
        self._pool.shutdown(cancel_futures=True)
