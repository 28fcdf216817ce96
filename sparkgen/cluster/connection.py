"""A connection to one cluster. Objects are plain dicts; errors are ClusterErrors with a readable message."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sparkgen.cluster.channel import TIMEOUT, Call, Channel, Forwarded
from sparkgen.cluster.errors import ClusterError, Unreadable, in_words, not_installed
from sparkgen.cluster.place import Chosen, Place, choose
from sparkgen.cluster.reading import PIECE, TooLarge, decoded, events, in_mib, whole_of
from sparkgen.cluster.routes import ALL_NAMESPACES, root, route
from sparkgen.cluster.shapes import Room, data_keys, received
from sparkgen.objects import Object, ObjectView

if TYPE_CHECKING:
    from sparkgen.cluster.official_client import Official

FIELD_MANAGER = "sparkgen"
"""The field manager of server-side applies, unless the caller passes another one."""
PAGES = (500, 50, 5, 1)
"""Objects in one answer to a list: fewer, where an answer is too large to be read."""
MAX_PAGES = 10_000
MOST_MAPS_OF_PAGE = 500_000
"""The most maps and lists of such an answer, unless it has one object: 500 pods have 100,000."""
MOST_OF_LIST = 256 << 20
"""The most bytes of all answers to a list."""
MOST_ROOM_OF_LIST = 16 << 20
"""The most room of a list in memory, in units of 64 bytes: 1 GiB, or some 25,000 pods."""
MOST_SENT_OF_LOG = 256 << 20
"""The most bytes of a log that are read to find its end."""
MOST_OF_LOG = 8 << 20
"""The most bytes of a log that are kept as a whole: 300 lines of a container have at most 5 MiB."""
METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Requests an object without its content: the values of a Secret do not leave the API server."""

_CREATED = 201


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """The result of a server-side apply: the object as the server has or would have it; whether it is new."""

    item: Object
    created: bool


class Cluster:
    """One cluster and the chosen namespace; several threads may send requests at the same time.

    `context`: its name in the kubeconfig; `namespace`: of objects whose document names none; `server`: the
    address of the API server.
    """

    def __init__(self, channel: Channel, chosen: Chosen) -> None:
        self.context = chosen.context
        self.namespace = chosen.namespace
        self.server = channel.server
        self._channel = channel
        self._chosen = chosen
        self._official: Official | None = None
        self._swapped = threading.Lock()

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Object | None:
        """Returns an object; None if it does not exist."""
        return self._read("read", api_version, kind, name, namespace)

    def has(self, api_version: str, kind: str, name: str, namespace: str = "") -> bool:
        """Whether an object exists; its content is not read."""
        return self._metadata(api_version, kind, name, namespace) is not None

    def data_keys(self, kind: str, name: str, namespace: str = "") -> frozenset[str] | None:
        """Returns the keys of an object such as a Secret; none if it does not list them. No value is read.

        None if it does not exist.
        """
        found = self._metadata("v1", kind, name, namespace)
        return None if found is None else data_keys(found)

    def _metadata(self, api_version: str, kind: str, name: str, namespace: str) -> Object | None:
        """Returns an object's metadata; None if it does not exist."""
        return self._read("look for", api_version, kind, name, namespace, {"Accept": METADATA_ONLY})

    def _read(
        self,
        verb: str,
        api_version: str,
        kind: str,
        name: str,
        namespace: str,
        headers: Mapping[str, str] | None = None,
    ) -> Object | None:
        where = namespace or self.namespace
        try:
            path = route(api_version, kind, where, name)
            call = Call("GET", path, headers=headers or {})
            of = {"apiVersion": api_version, "kind": kind}
            return self._ask(f"{verb} {kind} {name} in {where}", call, of).item
        except ClusterError as error:
            if error.status == 404:
                return None
            raise

    def knows(self, api_version: str, kind: str) -> bool:
        """Whether the cluster has a kind; True if the user may not read it, as `system:discovery` permits."""
        try:
            found = self._ask(f"ask for the kinds of {api_version}", Call("GET", root(api_version))).item
        except ClusterError as error:
            if error.status in (403, 404):
                return error.status == 403
            raise
        named = _listed(found.get("resources"))
        return any(isinstance(item, dict) and item.get("kind") == kind for item in named)

    def version(self) -> str:
        """The version of Kubernetes, as in `v1.34.1`."""
        return str(self._ask("ask for the version", Call("GET", "/version")).item.get("gitVersion", ""))

    def list(
        self,
        api_version: str,
        kind: str,
        namespace: str = "",
        selector: str = "",
        fields: str = "",
        *,
        brief: bool = False,
    ) -> list[Object]:
        """Returns the objects of a kind that label and field selectors match, each with apiVersion and kind.

        `namespace`: a name, "" for the chosen namespace, or ALL_NAMESPACES. `brief`: objects that only are
        shown: a very large one is not whole (shapes.shortened).
        """
        where = namespace or self.namespace
        path = route(api_version, kind, where)
        doing = f"list {kind}s in {'all namespaces' if where == ALL_NAMESPACES else where}"
        items: list[Object] = []
        room = Room(MOST_ROOM_OF_LIST)
        for page in self._pages(doing, path, {"labelSelector": selector, "fieldSelector": fields}):
            found = _listed(page.get("items"))
            kept = (received(item, api_version, kind, room, brief=brief) for item in found)
            items += [item for item in kept if item is not None]
            if room.left <= 0:
                raise Unreadable(f"cannot {doing}: the list takes more than {MOST_ROOM_OF_LIST >> 24} GiB")
        return items

    def _pages(self, doing: str, path: str, query: Mapping[str, str]) -> Iterator[Object]:
        """Yields the answers to a list, as they were sent."""
        size, left, more = 0, MOST_OF_LIST, ""
        for _ in range(MAX_PAGES):
            call = Call("GET", path, _query({**query, "limit": str(PAGES[size]), "continue": more}))
            last = size == len(PAGES) - 1
            with in_words(doing, self.server):
                try:
                    data = whole_of(self._channel.send(call))
                    if not last and data.count(b"{") + data.count(b"[") > MOST_MAPS_OF_PAGE:
                        raise TooLarge
                    page = decoded(data, managed=False)
                except TooLarge:
                    if last:
                        raise
                    size += 1
                    continue
                size = max(size - 1, 0)  # one large object must not make all pages small
                left -= len(data)
                if left < 0:
                    raise TooLarge(in_mib(MOST_OF_LIST))
            yield page
            metadata = page.get("metadata")
            token = metadata.get("continue") if isinstance(metadata, dict) else ""
            if not token:
                return
            more = str(token)
        raise Unreadable(f"cannot {doing}: {self.server} sends a list that does not end")

    def apply(
        self,
        item: Mapping[str, Any],
        *,
        dry_run: bool = False,
        force: bool = False,
        manager: str = FIELD_MANAGER,
    ) -> ApplyResult:
        """Apply an object (server-side apply); returns it as the server has it, or would have it (`dry_run`).

        The server refuses unknown fields. `force` takes over fields of other managers: no conflict (409).
        """
        name = str(item["metadata"]["name"])
        namespace = str(item["metadata"].get("namespace") or self.namespace)
        query = {"fieldValidation": "Strict", "fieldManager": manager, "force": str(force).lower()}
        call = Call(
            "PATCH",
            route(str(item["apiVersion"]), str(item["kind"]), namespace, name),
            _query({**query, "dryRun": "All" if dry_run else ""}),
            {"Content-Type": "application/apply-patch+yaml"},
            item,
        )
        doing = f"{'compare' if dry_run else 'apply'} {item['kind']} {name} in {namespace}"
        return self._ask(doing, call, item)

    def create(self, item: Mapping[str, Any], *, dry_run: bool = False) -> Object:
        """Create an object; returns it as the server has or would have it. ClusterError (409): it exists."""
        metadata = item["metadata"]
        namespace = str(metadata.get("namespace") or self.namespace)
        name = metadata.get("name") or metadata.get("generateName", "")
        call = Call(
            "POST",
            route(str(item["apiVersion"]), str(item["kind"]), namespace),
            _query({"fieldManager": FIELD_MANAGER, "dryRun": "All" if dry_run else ""}),
            {"Content-Type": "application/json"},
            item,
        )
        # A review, the only kind without a name, is answered and not stored.
        return self._ask(f"create {item['kind']} {name} in {namespace}", call, item if name else None).item

    def patch(
        self, item: Mapping[str, Any], change: Mapping[str, Any], *, manager: str = FIELD_MANAGER
    ) -> Object:
        """Change some fields of an existing object (JSON merge patch); returns the object."""
        metadata = item["metadata"]
        namespace = str(metadata.get("namespace") or self.namespace)
        path = route(str(item["apiVersion"]), str(item["kind"]), namespace, str(metadata["name"]))
        headers = {"Content-Type": "application/merge-patch+json"}
        call = Call("PATCH", path, _query({"fieldManager": manager}), headers, change)
        return self._ask(f"change {item['kind']} {metadata['name']} in {namespace}", call, item).item

    def watch(self, item: Mapping[str, Any], seconds: float) -> Iterator[Object]:
        """Yields the changes of an object after the state in `item`, for at most `seconds`.

        Each change is an event: `type` (ADDED, MODIFIED, DELETED, ERROR), `object`. The watch may end early
        at any time: then read the object, and watch again.
        """
        metadata = item["metadata"]
        api_version, kind = str(item["apiVersion"]), str(item["kind"])
        path = route(api_version, kind, str(metadata.get("namespace") or self.namespace))
        query = {
            "fieldSelector": f"metadata.name={metadata['name']}",
            "resourceVersion": metadata.get("resourceVersion", ""),
            "timeoutSeconds": str(max(int(seconds), 1)),
            "watch": "true",
        }
        call = Call("GET", path, _query(query), timeout=(TIMEOUT[0], seconds + TIMEOUT[0]))
        with in_words(f"watch {kind} {metadata['name']}", self.server):
            answer = self._channel.send(call)
            try:
                for event in events(answer.stream(PIECE, decode_content=True)):
                    if changed := received(event.get("object"), api_version, kind):
                        yield {"type": str(event.get("type")), "object": changed}
            finally:
                answer.close()

    def delete(self, item: Mapping[str, Any], *, after_owned: bool = False, grace: int | None = None) -> bool:
        """Delete an object, and in the background the objects that it owns; False if it did not exist.

        `after_owned`: the object exists, and is being deleted, until those that it owns are gone. `grace`:
        seconds that a pod gets to stop, None for its own. ClusterError (409): another object has its name by
        now, known by the UID; that one stays.
        """
        kind, metadata = item["kind"], item["metadata"]
        name, namespace = metadata["name"], metadata.get("namespace") or self.namespace
        path = route(item["apiVersion"], kind, namespace, name)
        options: Object = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Foreground" if after_owned else "Background",
        }
        if uid := metadata.get("uid"):
            options["preconditions"] = {"uid": uid}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        headers = {"Content-Type": "application/json"}
        try:
            self._ask(f"delete {kind} {name} in {namespace}", Call("DELETE", path, (), headers, options))
        except ClusterError as error:
            if error.status == 404:
                return False
            raise
        return True

    def log(
        self, pod: str, container: str, namespace: str = "", *, most: int = MOST_OF_LOG, **options: Any
    ) -> str:
        """Returns the last whole lines of a container's log that have at most `most` bytes.

        The other options are those of `follow`. Raises Unreadable if far more are sent.
        """
        kept, sent = bytearray(), 0
        for piece in self.follow(pod, container, namespace, **options):
            kept += piece
            sent += len(piece)
            if sent > MOST_SENT_OF_LOG:
                raise Unreadable(f"cannot read the log of {container} in pod {pod}: it has no end")
            if len(kept) > 2 * most:
                del kept[:-most]
        if sent > most:
            del kept[:-most]
            del kept[: kept.find(b"\n", 0, -1) + 1]
        return kept.decode(errors="replace")

    def follow(
        self,
        pod: str,
        container: str,
        namespace: str = "",
        *,
        tail: int | None = None,
        previous: bool = False,
        follow: bool = False,
        since: int | None = None,
    ) -> Iterator[bytes]:
        """Yields a container's log as it arrives, in pieces; with `follow` until the container ends.

        `tail`: only its last lines, so many; `since`: only those of the last so many seconds; `previous`: the
        log before the container's last restart.
        https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
        """
        where = namespace or self.namespace
        query = {
            "container": container,
            "tailLines": "" if tail is None else str(tail),
            "previous": "true" if previous else "",
            "follow": "true" if follow else "",
            "sinceSeconds": "" if since is None else str(since),
        }
        call = Call(
            "GET",
            f"{route('v1', 'Pod', where, pod)}/log",
            _query(query),
            {"Accept": "text/plain, application/json, */*"},
            timeout=(TIMEOUT[0], None) if follow else TIMEOUT,
        )
        with in_words(f"read the log of {container} in pod {pod} in {where}", self.server):
            answer = self._channel.send(call)
            try:
                yield from answer.stream(PIECE, decode_content=True)
            finally:
                answer.close()

    def forward(self, pod: str, port: int, namespace: str = "") -> Forwarded:
        """Opens a connection to a port of a pod, through the API server.

        https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.34/#portforward-pod-v1-core
        """
        from sparkgen.cluster import official_client  # noqa: PLC0415 - see the package

        where = namespace or self.namespace
        # The client replaces its transport during this call. After a timeout, it does not restore it.
        with self._swapped, in_words(f"forward port {port} of pod {pod} in {where}", self.server):
            made, self._official = self._official or official_client.channel(self._chosen), None
            opened = made.forward(pod, port, where)
            self._official = made
            return opened

    def _ask(self, doing: str, call: Call, of: ObjectView | None = None) -> ApplyResult:
        """Returns the answer to a request, and whether it has a new object.

        `of`: an object of the apiVersion and kind that the answer has; None for other answers.
        """
        with in_words(doing, self.server):
            answer = self._channel.send(call)
            value = decoded(whole_of(answer))
            item = value if of is None else received(value, str(of["apiVersion"]), str(of["kind"]))
            if item is None:
                raise ValueError("the answer is not an object of the cluster")
            return ApplyResult(item, answer.status == _CREATED)


def _listed(value: Any) -> list[Any]:
    """Returns a value that is a list; an empty one for any other."""
    return value if isinstance(value, list) else []


def _query(said: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Returns names and values, without empty values."""
    return tuple((name, text) for name, text in said.items() if text)


def connect(place: Place, environment: Mapping[str, str] = os.environ) -> Cluster:
    """Returns a connection to the chosen cluster; nothing is sent before the first request.

    Raises ClusterError if there is no such cluster, or the official client is not installed.
    """
    if find_spec("kubernetes") is None:
        raise not_installed()
    from sparkgen.cluster import urllib3_client  # noqa: PLC0415 - see the package

    chosen = choose(place, environment)
    channel: Channel | None = urllib3_client.channel(chosen, environment)
    if channel is None:
        from sparkgen.cluster import official_client  # noqa: PLC0415 - see the package

        channel = official_client.channel(chosen)
    return Cluster(channel, chosen)
