"""Lists the drivers of a namespace from the API server, in pages. An incomplete list counts as unknown."""

from __future__ import annotations

from typing import Any

from sparkgen import contract
from sparkgen.runtime.janitor.values import Drivers, DriversAnswer
from sparkgen.runtime.kubernetes.answers import CallFailed, Reply
from sparkgen.runtime.kubernetes.paging import pages
from sparkgen.runtime.kubernetes.transport import ApiCalls
from sparkgen.runtime.kubernetes.untrusted import is_whole

PAGES = (500, 100, 20, 5, 1)
"""Drivers in one page: fewer, where a page is too large to be read. A driver's pod may have 30 KiB."""
MAX_PAGES = 200
"""A limit, so that a list without end does not hold up the round."""
SELECTOR = f"{contract.LABEL_ROLE}=driver"
ENDED = frozenset({"Succeeded", "Failed"})
"""Phases that a pod never leaves (PodPhase)."""


def trim_decoded(value: dict[str, Any]) -> dict[str, Any]:
    """Reduces a pod to what is read of it, while JSON is decoded (jsonvalue.decode_object).

    So a page of large pods takes no more memory than the largest of them: whoever may create pods in one
    namespace must not stop the janitor, which works for others, too.
    """
    if not is_whole(value):
        return value
    metadata, status = value["metadata"], value.get("status")
    kept = {key: metadata[key] for key in ("uid",) if key in metadata}
    return {
        "metadata": kept,
        "status": {"phase": status.get("phase")} if isinstance(status, dict) else status,
    }


def drivers(calls: ApiCalls, namespace: str) -> Drivers:
    """The drivers of a namespace, as of now: without `resourceVersion`, so that no cache answers."""
    running: set[str] = set()
    path = f"/api/v1/namespaces/{namespace}/pods"
    try:
        for reply in pages(lambda query: calls.call("GET", path, query), PAGES, MAX_PAGES, SELECTOR):
            if reply.status != 200:
                return _refused(reply)
            running |= {pod["metadata"]["uid"] for pod in _pods(reply) if not _has_ended(pod)}
    except CallFailed as fault:
        return Drivers(DriversAnswer.UNKNOWN, why=str(fault))
    except (KeyError, TypeError, AttributeError) as error:
        return Drivers(DriversAnswer.UNKNOWN, why=f"cannot read the API server's list ({error})")
    return Drivers(DriversAnswer.WHOLE, frozenset(running))


def _pods(reply: Reply) -> list[dict[str, Any]]:
    if reply.body.get("kind") != "PodList":
        raise TypeError(f"it is a {reply.body.get('kind')}")
    return list(reply.body["items"] or ())


def _has_ended(pod: dict[str, Any]) -> bool:
    return (pod.get("status") or {}).get("phase") in ENDED


def _refused(reply: Reply) -> Drivers:
    why = f"{reply.status}: {reply.message}"[:500]
    return Drivers(DriversAnswer.DENIED if reply.status == 403 else DriversAnswer.UNKNOWN, why=why)
