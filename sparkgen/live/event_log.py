"""Downloads the event log of a run from a history server of its namespace.

It uses a forwarded port, as `sparkgen ui` does: this needs no Ingress, and no NetworkPolicy blocks it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from sparkgen import contract
from sparkgen.cluster import Cluster
from sparkgen.errors import SparkgenError
from sparkgen.jsonvalue import decode
from sparkgen.live.forwarded_http import Request, Unanswered, answer_of
from sparkgen.live.values import Run, leaving, name_of, status_of
from sparkgen.objects import ObjectView

SECONDS = 60.0
"""Seconds that a server may take to send data: it packs a log when the log is requested."""
API = "/api/v1/applications"
LONGEST_LIST = 64 << 20
"""The most bytes of a server's list of applications that are read: it has about 400 for each."""
_ID = re.compile(r"[a-z0-9.-]+")
"""The id of an application that sparkgen started: `<run>-<attempt>`."""


@dataclass(frozen=True, slots=True)
class _Server:
    """A history server's pod."""

    cluster: Cluster
    pod: str
    namespace: str

    def get(self, path: str) -> Iterator[bytes]:
        """Yields the answer to a request, in pieces. SparkgenError if there is none, or it is not 200."""
        forwarded = self.cluster.forward(self.pod, contract.HISTORY_PORT, self.namespace)
        request = Request("GET", path, SECONDS)
        try:
            with answer_of(forwarded, contract.HISTORY_PORT, request) as answer:
                if answer.status != HTTPStatus.OK:
                    raise SparkgenError(f"the history server {self.pod} answers {path} with {answer.status}")
                yield from answer.pieces(patient=True)
        except Unanswered as error:
            raise SparkgenError(f"the history server {self.pod} does not answer: {error}") from error


def fetch(cluster: Cluster, run: Run, write: Callable[[Iterable[bytes]], None]) -> str:
    """Pass a run's log, a zip archive, to `write`; returns the application's id. SparkgenError without a log.

    `write` gets the pieces of the archive.
    """
    selector = contract.LABEL_HISTORY_SERVER
    pods = [pod for pod in cluster.list("v1", "Pod", run.namespace, selector) if not leaving(pod)]
    servers = [_Server(cluster, name_of(pod), run.namespace) for pod in pods if _ready(pod)]
    if pods and not servers:
        raise SparkgenError(f"the history server {name_of(pods[0])} is not ready yet; try again in a minute")
    if not servers:
        raise SparkgenError(
            f"no history server runs in {run.namespace}: copy the log from where spec.eventLog.dir says"
        )
    for server in servers:
        if id_ := _application(server, run):
            write(server.get(f"{API}/{id_}/logs"))
            return id_
    raise SparkgenError(
        f"the history server has no log of {run.name}: it reads new ones every 10 seconds, and only a run "
        "with spec.eventLog writes one"
    )


def _ready(pod: ObjectView) -> bool:
    conditions = status_of(pod).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def _application(server: _Server, run: Run) -> str:
    """Returns the id of the run's newest application, `<run>-<attempt>`; "" if the server has none."""
    answer = bytearray()
    for piece in server.get(API):
        answer += piece
        if len(answer) > LONGEST_LIST:
            raise SparkgenError(
                f"the history server {server.pod} lists more than {LONGEST_LIST >> 20} MiB of applications; "
                "turn on its cleaner, or copy the log from where spec.eventLog.dir says"
            )
    try:
        known: list[dict[str, Any]] = decode(bytes(answer))
        ids = [str(entry["id"]) for entry in known]
    except (ValueError, TypeError, KeyError) as error:
        raise SparkgenError(f"the history server {server.pod} does not answer {API} with a list") from error
    return next((id_ for id_ in ids if id_.startswith(f"{run.name}-") and _ID.fullmatch(id_)), "")
