"""The watcher's thread as events: the steps of the production watcher, each when it is due."""

from __future__ import annotations

from collections.abc import Callable

from simulator.network import Client, Fate, Network, WatchStream, time_out
from simulator.process import AllocatorProcess
from sparkgen.objects import Object
from sparkgen.runtime.allocator.observe.parse_pods import event_in
from sparkgen.runtime.allocator.observe.watch_retry import WatchRetry
from sparkgen.runtime.allocator.values.backend import PodList, WatchEnded
from sparkgen.runtime.kubernetes import answers
from sparkgen.runtime.kubernetes.answers import CallFailed, Reply


class WatchClient(Client):
    """Lists and watches for a process, in the order of `Watcher.run` and `KubernetesBackend.watch`."""

    def __init__(self, process: AllocatorProcess, network: Network) -> None:
        self._process = process
        self._network = network
        self._watching = WatchRetry("")
        self._stream: WatchStream | None = None

    def begin(self) -> None:
        """Request a list."""
        asked_at = self._process.watcher.begin()
        self._process.note("asks for all executors")
        fate = self._network.fate("LIST")
        self._network.event_queue.after(self._network.delay(), lambda: self._serve_list(asked_at, fate))

    def forget(self) -> None:
        """Close the stream, because the process has ended."""
        if self._stream is not None:
            self._stream.forget()

    def _serve_list(self, asked_at: float, fate: Fate) -> None:
        process, network = self._process, self._network
        if not process.alive:
            return
        process.line.fate = fate
        later = time_out(fate) or network.delay() + network.slowness("LIST")
        there = {pod["metadata"]["uid"] for pod in network.server.pods.values()}
        try:
            listing = process.world.list()
        except WatchEnded as end:
            gap = end
            process.later(later, lambda: self._ended(gap))
        else:
            process.later(later, lambda: self._listed(listing, asked_at, there))

    def _listed(self, listing: PodList, asked_at: float, there: set[str]) -> None:
        self._process.there_at_list = there
        self._process.lists += 1
        self._process.in_gap = False
        self._process.note(f"has a list of {len(listing.pods)} at version {listing.version}")
        self._process.has_seen(*listing.pods)
        self._process.watcher.on_list(listing, asked_at)
        self._watching = WatchRetry(self._process.watcher.view.version)
        self._open()

    def _open(self) -> None:
        self._watching = self._watching.opening(self._process.clock())
        query = self._process.kube.watch_query(self._watching.version)
        self._network.event_queue.after(self._network.delay(), lambda: self._serve_watch(query))

    def _serve_watch(self, query: dict[str, str]) -> None:
        if not self._process.alive:
            return
        try:
            found = self._network.open(query, self)
        except CallFailed as fault:
            gap = fault
            self._process.later(self._network.delay(), lambda: self._broke(gap))
        else:
            if isinstance(found, Reply):
                self._process.later(self._network.delay(), lambda: self._refused(found))
            else:
                self._stream = found

    def _refused(self, reply: Reply) -> None:
        said = self._process.kube.refused_watch(reply)
        if isinstance(said, CallFailed):
            self._broke(said)
        else:
            self._ended(said)

    # --- events of the stream (network.Client) -----------------------------------------------------------

    def line(self, document: Object) -> None:
        """Receive one object of the watch."""
        stream = self._stream
        self._process.now(lambda: self._line(document, stream))

    def _line(self, document: Object, stream: WatchStream | None) -> None:
        if stream is not self._stream:  # the line is from a connection that has ended meanwhile
            return
        try:
            event = event_in(document, self._process.kube.is_executor)
        except WatchEnded as end:
            self.forget()
            self._ended(end)
            return
        self._watching = self._watching.heard(event)
        if event.kind != "BOOKMARK":
            self._process.note(
                f"sees {event.kind} {event.pod['metadata']['name']} at version {event.version}"
            )
            self._process.has_seen(event.pod)
        self._process.watcher.on_event(event)

    def closed(self) -> None:
        """Open the watch again, because the server has ended it."""
        self._process.now(self._closed)

    def _closed(self) -> None:
        self._watching = self._watching.ended(self._process.clock())
        self._again(self._open)

    def broke(self, fault: CallFailed) -> None:
        """Open the watch or list again, because the connection broke."""
        self._process.now(lambda: self._broke(fault))

    def _broke(self, fault: CallFailed) -> None:
        reason = answers.unanswered(fault, "watch executors")
        try:
            self._watching = self._watching.broke(fault, self._process.clock(), reason)
        except WatchEnded as end:
            self._ended(end)
        else:
            self._again(self._open)

    def _again(self, what: Callable[[], None]) -> None:
        self._process.later(self._watching.pause(self._process.random.random()), what)

    def _ended(self, end: WatchEnded) -> None:
        self._stream = None
        self._process.in_gap = True
        self._process.later(self._process.watcher.on_end(end), self.begin)
