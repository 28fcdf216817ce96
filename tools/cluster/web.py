"""A web server that pods of the cluster reach: it serves a folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster import network
from cluster.plan import CONTROL_ADDRESS, CONTROL_HOST, NAME


@contextmanager
def serving(folder: Path, port: int) -> Iterator[str]:
    """Serve a folder, for as long as the block takes: the server's address."""
    server = [sys.executable, "-m", "http.server", "--bind", CONTROL_ADDRESS, "--directory", str(folder)]
    with subprocess.Popen(
        [*network.enter(NAME), *server, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield f"http://{CONTROL_HOST}:{port}"
        finally:
            process.kill()
