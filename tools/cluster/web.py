"""A web server for a folder, which pods of the cluster can reach."""

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
    """Serve a folder during the block. Yields the server's URL."""
    server = [sys.executable, "-m", "http.server", "--bind", CONTROL_ADDRESS, "--directory", str(folder)]
    with subprocess.Popen(
        [*network.enter(NAME), *server, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield f"http://{CONTROL_HOST}:{port}"
        finally:
            process.kill()
