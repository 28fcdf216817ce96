"""The address of the API server and our credentials, as a pod with a service account's token has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkgen import contract


class NoCluster(Exception):
    """The API server's address or our credentials are missing; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Access:
    """The API server's address, and the files with its certificate authority and our token.

    `ca_file` None: plain HTTP, in tests only, because the token is sent all the same.
    """

    host: str
    port: int
    token_file: Path
    ca_file: Path | None


def in_cluster(environment: Mapping[str, str], folder: Path = Path(contract.TOKEN_DIR)) -> Access:
    """The access of every pod with a service account's token. Raises NoCluster if a part of it is missing."""
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
    """A file that is read again if it has changed: the kubelet renews tokens and certificates."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._text = ""

    def text(self) -> tuple[str, bool]:
        """The file's text, and whether it has changed since the last call. Raises OSError if unreadable."""
        status = self._path.stat()
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp == self._stamp:
            return self._text, False
        text = self._path.read_text().strip()
        changed, self._text, self._stamp = text != self._text, text, stamp
        return text, changed
