"""The registry of this pod, at loopback: it deletes manifests, and has the claim's lock while it answers."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable

from sparkgen import contract
from sparkgen.runtime.exits import Refused

WAIT_SECONDS = 330.0
"""Longer than gc.sh waits for the lock."""
PAUSE_SECONDS = 1.0
ANSWER_SECONDS = 30.0

Connect = Callable[[], http.client.HTTPConnection]


def local() -> http.client.HTTPConnection:
    """A connection to it."""
    return http.client.HTTPConnection("127.0.0.1", contract.REGISTRY_PORT, timeout=ANSWER_SECONDS)


class Registry:
    """What this pod asks its registry."""

    def __init__(self, connect: Connect = local) -> None:
        self._connect = connect

    def wait(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Wait until it answers: from then on nobody pushes. Refused when that takes too long."""
        until = clock() + WAIT_SECONDS
        while True:
            try:
                if self._ask("GET", "/v2/") == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass
            if clock() > until:
                raise Refused(
                    "cannot lock the claim: the push side still holds the lock. Check the log of the "
                    "container registry, and whether the claim's file system supports locks across nodes"
                )
            sleep(PAUSE_SECONDS)

    def delete(self, repository: str, digest: str) -> None:
        """Delete a manifest; one that is gone is gone. Refused when the registry will not."""
        path = f"/v2/{repository}/manifests/{digest}"
        try:
            status = self._ask("DELETE", path)
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"DELETE {path}: the registry in this pod does not answer ({error})") from None
        if status not in (202, 404):
            raise Refused(f"DELETE {path}: the registry in this pod answers {status}")

    def _ask(self, method: str, path: str) -> int:
        connection = self._connect()
        try:
            connection.request(method, path)
            response = connection.getresponse()
            response.read()
            return response.status
        finally:
            connection.close()
