"""The same connection for programs with an event loop: each method works in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from sparkgen.api.connection import Connection, Deleted, Listing, RunEnd, Tell, tell_nobody
from sparkgen.document import Document
from sparkgen.live.facts import Event
from sparkgen.live.rows import RunStatus
from sparkgen.usecases.apply import Applied
from sparkgen.usecases.run import StartedRun
from sparkgen.usecases.wait import Pause


class AsyncConnection:
    """A connection whose methods are those of `Connection`, with their errors, to be awaited.

    Each request has a time limit. If you cancel a method, the work that is under way ends by itself, in its
    thread; a wait has no thread between two looks.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def apply(self, documents: Sequence[Document], **options: bool) -> tuple[Applied, ...]:
        """Apply valid documents; the options are those of `Connection.apply`."""
        return await asyncio.to_thread(self._connection.apply, documents, **options)

    async def run(
        self, application: str, *, request_id: str, arguments: Sequence[str] | None = None
    ) -> StartedRun:
        """Start a run, or return the one that the same `request_id` has started."""
        return await asyncio.to_thread(
            self._connection.run, application, request_id=request_id, arguments=arguments
        )

    async def requested(self, application: str, request_id: str) -> RunStatus | None:
        """Returns the run that an ID has started; None if there is none."""
        return await asyncio.to_thread(self._connection.requested, application, request_id)

    async def wait(
        self,
        application: str,
        run: str = "",
        *,
        seconds: float | None = None,
        interval: float = 5.0,
        tell: Tell = tell_nobody,
    ) -> RunEnd:
        """Wait until a run has ended, looking at it every `interval` seconds, in two requests.

        TimeoutError after `seconds`. Many waits need no more threads than one.
        """
        waiting = await asyncio.to_thread(self._connection.waiting, application, run, seconds, tell)
        while isinstance(step := await asyncio.to_thread(waiting.look), Pause):
            await asyncio.sleep(min(step.seconds, interval) if step.job is not None else step.seconds)
        return await asyncio.to_thread(self._connection.end_of, waiting.run, step, seconds)

    async def status(
        self, *applications: str, namespaces: Sequence[str] = (), everywhere: bool = False
    ) -> Listing:
        """Returns the latest run of each application, and all runs that have not ended."""
        return await asyncio.to_thread(
            self._connection.status, *applications, namespaces=namespaces, everywhere=everywhere
        )

    async def history(self, *applications: str) -> Listing:
        """Returns all runs of the applications that are still in the cluster."""
        return await asyncio.to_thread(self._connection.history, *applications)

    async def logs(self, application: str, run: str = "", **options: Any) -> list[str]:
        """Returns the lines that a log has now; the options are those of `Connection.logs` but `follow`."""

        def read() -> list[str]:
            return list(self._connection.logs(application, run, **options, follow=False))

        return await asyncio.to_thread(read)

    async def events(self, application: str, run: str = "") -> tuple[Event, ...]:
        """Returns the Events about a run's Job and driver."""
        return await asyncio.to_thread(self._connection.events, application, run)

    async def kill(self, application: str, run: str = "") -> str | None:
        """Stop a run; returns its name, None if none is running."""
        return await asyncio.to_thread(self._connection.kill, application, run)

    async def delete(self, application: str) -> Deleted:
        """Delete the objects of an application, with its runs."""
        return await asyncio.to_thread(self._connection.delete, application)
