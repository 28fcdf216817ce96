"""Where the API server is, and who we are to it: what a pod with a service account's token has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkgen import contract


class NoCluster(Exception):
    """Nothing says where the API server is, or who we are to it; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where the API server is, and the files that hold its certificate authority and our token.

    `ca_file` None: plain HTTP, as `kubectl proxy` speaks it.
    """

    host: str
    port: int
    token_file: Path
    ca_file: Path | None


def in_cluster(environment: Mapping[str, str], folder: Path = Path(contract.TOKEN_DIR)) -> Access:
    """The access that every pod with a service account's token has; NoCluster when something is missing."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT", "443")
    if not host or not port.isdigit():
        raise NoCluster(
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no API server: run this in a pod"
        )
    access = Access(host, int(port), folder / "token", folder / "ca.crt")
    for file in (folder / "token", folder / "ca.crt"):
        if not file.is_file():
            raise NoCluster(f"there is no {file}: mount the service account's token there, as rendered")
    return access


class ReloadedFile:
    """A file that is read again when it has changed: the kubelet writes tokens and certificates again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._text = ""

    def text(self) -> tuple[str, bool]:
        """Its text, and whether that is another one than the last time. OSError when it cannot be read."""
        status = self._path.stat()
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp == self._stamp:
            return self._text, False
        text = self._path.read_text().strip()
        changed, self._text, self._stamp = text != self._text, text, stamp
        return text, changed
