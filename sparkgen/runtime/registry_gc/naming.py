"""Which digests the objects of namespaces name: whole lists, or the namespace counts as unread."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sparkgen.runtime.kubernetes.answers import CallFailed
from sparkgen.runtime.kubernetes.paging import pages
from sparkgen.runtime.kubernetes.transport import ApiCalls
from sparkgen.runtime.kubernetes.untrusted import is_whole
from sparkgen.runtime.registry_gc.values import DIGEST, Named

KINDS = (
    ("/api/v1", "pods", "PodList"),
    ("/apis/apps/v1", "deployments", "DeploymentList"),
    ("/apis/batch/v1", "cronjobs", "CronJobList"),
    ("/apis/batch/v1", "jobs", "JobList"),
)
"""Where runs are, rendered or made: group, resource, and what a list of it says that it is.
The driver's template names whatever its executors need."""
PAGES = (200, 20, 1)
"""Objects in one page: fewer, where a page is too large to be read."""
MAX_PAGES = 10_000


class Unread(Exception):
    """A namespace's objects could not be listed, and why."""


def named(calls: ApiCalls, namespaces: Iterable[str]) -> Named:
    """All digests that objects of the namespaces name, wherever in them."""
    digests: set[str] = set()
    unread: dict[str, str] = {}
    for namespace in namespaces:
        try:
            for group, resource, kind in KINDS:
                for text in _texts(calls, f"{group}/namespaces/{namespace}/{resource}", kind):
                    digests.update(DIGEST.findall(text))
        except Unread as error:
            unread[namespace] = str(error)
    return Named(frozenset(digests), unread)


def trim_decoded(value: dict[str, Any]) -> dict[str, Any]:
    """Reduces an object to the digests that it names, while JSON is decoded (jsonvalue.decode_object).

    So a page of large objects takes no more memory than the largest of them: whoever may create pods in one
    namespace must not end the collection for all. A pod's template in an object is reduced before the object.
    """
    if not is_whole(value):
        return value
    return {"digests": sorted({*DIGEST.findall(json.dumps(value))})}


def _texts(calls: ApiCalls, path: str, kind: str) -> Iterator[str]:
    """The texts of a list's pages. Unread when one is missing: a part of a list is worth nothing."""
    try:
        for reply in pages(lambda query: calls.call("GET", path, query), PAGES, MAX_PAGES):
            if reply.status != 200:
                raise Unread(f"GET {path}: {reply.status} {reply.message}"[:300])
            if reply.body.get("kind") != kind:
                raise Unread(f"GET {path}: the answer is not a {kind}")
            yield json.dumps(reply.body)
    except CallFailed as fault:
        raise Unread(f"GET {path}: {fault}") from None
