"""Answers at the janitor's port: probes, `/status` and `/metrics`."""

from __future__ import annotations

import time

from sparkgen import contract
from sparkgen.runtime.httpserver.values import (
    METRICS,
    Handler,
    HttpRequest,
    HttpResponse,
    Work,
    json_response,
    text,
)
from sparkgen.runtime.httpserver.workers import Workers
from sparkgen.runtime.janitor.rounds import Janitor
from sparkgen.runtime.janitor.status import metrics_text, status_body

HUNG = 10
"""After this many intervals without a finished round, also at the start, the process is unhealthy."""
HUNG_SECONDS = 300.0
"""The least time for that: a round may take two minutes if the API server is slow and there is much to
remove."""
PAGES_WAITING = 64
"""The most requests for /status and /metrics that wait for the one thread that answers them."""


def patience(interval: float) -> float:
    """The seconds without a round after which the process is unhealthy. `interval` of rounds in seconds."""
    return max(HUNG * interval, HUNG_SECONDS)


def handler(janitor: Janitor, patience: float) -> Handler:
    """Answers probes, people and Prometheus; unhealthy if no round was finished for `patience` seconds."""
    pages = Workers("page", 1, waiting=PAGES_WAITING)

    def answer(request: HttpRequest) -> HttpResponse | Work:
        if request.method != "GET":
            return text(405, "only GET is allowed here\n")
        match request.path:
            case contract.READY_PATH:
                return text(200, "ok\n") if janitor.last else text(503, "no round yet\n")
            case contract.HEALTH_PATH:
                silence = janitor.silence
                well = silence < patience
                return text(200, "ok\n") if well else text(503, f"no round for {silence:.0f} s\n")
            case contract.METRICS_PATH:
                return Work(pages, lambda _: text(200, metrics_text(janitor), METRICS))
            case contract.STATUS_PATH:
                return Work(
                    pages, lambda _: json_response(200, status_body(janitor, time.monotonic()), indent=2)
                )
        return text(404, "try /status or /metrics\n")

    return answer
