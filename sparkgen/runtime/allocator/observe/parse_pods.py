"""Reads lists, watch events and pods from the API server's answers as values. Pure.

Whoever replaces the API server may send anything: an answer that is not as expected is a CallFailed with a
reason in words, and the call is repeated later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sparkgen.codes import Code, Hindrance
from sparkgen.jsonvalue import decode_object
from sparkgen.runtime.allocator.observe.trim_pod import owned_by, trim_decoded, trim_pod
from sparkgen.runtime.allocator.values.backend import Pod, WatchEnded, WatchEvent
from sparkgen.runtime.kubernetes.answers import CallFailed, Reply
from sparkgen.runtime.kubernetes.untrusted import Malformed, mapping, name_in, objects

EVENTS = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})
Ours = Callable[[Pod], bool]
"""Whether a whole or reduced pod is an executor of ours. It is asked before anything else is read."""
GONE = 410
"""The HTTP status for a version that is too old to continue from."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list."""

    pods: tuple[Pod, ...]
    version: str


def page_of(reply: Reply, ours: Ours) -> Page:
    """The page in a reply, with our pods only. Raises CallFailed if it has none.

    One unreadable pod of ours makes the whole page unreadable: an executor must not be taken for gone.
    """
    try:
        body = mapping(reply.body, "the answer")
        metadata = mapping(body.get("metadata"), "metadata")
        pods = tuple(_pod(entry) for entry in objects(body["items"], "items") if ours(_named(entry)))
        found = Page(pods, name_in(metadata, "resourceVersion"))
    except KeyError:
        raise CallFailed("the API server's answer is not a list (it has no items)", sent=True) from None
    except Malformed as error:
        raise CallFailed(f"the API server's answer is not a list of pods ({error})", sent=True) from error
    if not found.version:
        raise CallFailed("the API server's list has no resourceVersion", sent=True)
    return found


def event_of_line(line: bytes, ours: Ours) -> WatchEvent:
    """One line of a watch; of a pod of others, only the version.

    Raises WatchEnded if it reports a gap, and CallFailed if it is unreadable.
    """
    try:
        return event_in(decode_object(line, trim_decoded), ours)
    except ValueError as error:
        raise CallFailed(f"cannot read a line of the watch ({error})", sent=True) from error


def event_in(document: object, ours: Ours) -> WatchEvent:
    """One object of a watch as an event. Raises the errors of `event_of_line`, and Malformed."""
    event = mapping(document, "the line")
    kind = name_in(event, "type")
    if event.get("object") is None:
        raise Malformed("it has no object")
    found = mapping(event["object"], "object")
    if kind == "ERROR":
        reply = Reply(0, found)
        if found.get("code") == GONE:
            raise WatchEnded(Hindrance(Code.GONE, "the API server no longer has that resourceVersion"))
        raise CallFailed(
            f"the API server ended the watch: {reply.message or 'it gives no reason'}", sent=True
        )
    if kind not in EVENTS:
        raise Malformed(f"{kind[:40]!r} is not a type of watch event")
    version = name_in(mapping(found.get("metadata"), "metadata"), "resourceVersion")
    if not version:
        raise Malformed("it has no resourceVersion")
    if kind == "BOOKMARK" or not ours(_named(found)):
        return WatchEvent("BOOKMARK", {}, version)
    return WatchEvent(kind, _pod(found), version)


def pod_in(reply: Reply) -> Pod:
    """The pod in a reply, reduced. Raises CallFailed if it has none."""
    try:
        return _pod(_named(mapping(reply.body, "the answer")))
    except Malformed as error:
        raise CallFailed(f"the API server's answer is not a pod ({error})", sent=True) from error


def is_owned(reply: Reply, uid: str) -> bool:
    """Whether the object with this UID owns the pod in a reply. Raises CallFailed if it has no pod."""
    try:
        return owned_by(_named(mapping(reply.body, "the answer")), uid)
    except Malformed as error:
        raise CallFailed(f"the API server's answer is not a pod ({error})", sent=True) from error


def uid_in(reply: Reply) -> str:
    """The UID of the object in a reply; "" if it has none."""
    try:
        return name_in(mapping(mapping(reply.body, "the answer").get("metadata"), "metadata"), "uid")
    except Malformed:
        return ""


def _named(value: Pod) -> Pod:
    """The value if it is a pod: the API server gives each one a name and a UID, whatever else is in it."""
    metadata = mapping(value.get("metadata"), "metadata")
    for key in ("name", "uid"):
        if not name_in(metadata, key):
            raise Malformed(f"a pod has no {key}")
    return value


def _pod(value: Pod) -> Pod:
    """The pod, reduced. Malformed names it."""
    try:
        return trim_pod(value)
    except Malformed as error:
        raise Malformed(f"pod {name_in(value['metadata'], 'name')}: {error}") from error
