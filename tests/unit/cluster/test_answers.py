"""The servers that only answer, asked without a cluster."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from cluster import answers
from common.ports import free_port

Ask = Callable[[str, str, object], tuple[int, dict[str, object]]]


@pytest.fixture(params=["webhooks", "registry"])
def ask(request: pytest.FixtureRequest) -> Iterator[Ask]:
    """A function that asks a server of this kind."""
    port = free_port()
    command = [sys.executable, answers.__file__, request.param, "127.0.0.1", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    def do(method: str, path: str, body: object = None) -> tuple[int, dict[str, object]]:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.request(method, path, json.dumps(body))
            answer = connection.getresponse()
            return answer.status, json.load(answer)

    yield do
    process.kill()
    process.wait()
    process.stdout.close()


REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "7"}}


@pytest.mark.parametrize("ask", ["webhooks"], indirect=True)
def test_a_webhook_denies_or_takes_its_time(ask: Ask) -> None:
    """The answer has the request's uid; a slow one comes after the time in its path."""
    status, denied = ask("POST", "/deny?timeout=10s", REVIEW)
    assert (status, denied["kind"]) == (200, "AdmissionReview")
    assert denied["response"] == {
        "uid": "7",
        "allowed": False,
        "status": {"code": 403, "message": answers.DENIAL},
    }
    began = time.monotonic()
    assert ask("POST", "/slow/0.3?timeout=10s", REVIEW)[1]["response"] == {"uid": "7", "allowed": True}
    assert time.monotonic() - began >= 0.3


@pytest.mark.parametrize("ask", ["registry"], indirect=True)
def test_the_registry_is_there_and_empty(ask: Ask) -> None:
    """It speaks the distribution API, and knows no manifest."""
    assert ask("GET", "/v2/", None) == (200, {})
    status, said = ask("GET", "/v2/spark/manifests/none", None)
    assert status == 404
    assert said["errors"] == [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]
