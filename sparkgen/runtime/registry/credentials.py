"""Credentials for a registry, and where the files of docker, podman, helm and oras have them. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

DOCKER_HUB = "docker.io"
DOCKER_HUB_HOSTS = (DOCKER_HUB, "index.docker.io", "registry-1.docker.io")


@dataclass(frozen=True, slots=True)
class Credentials:
    """Of a user, or an identity token; neither is ever shown. `where`: the file that had them, for people."""

    user: str = ""
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)
    where: str = ""

    @property
    def basic(self) -> str:
        """The value of an Authorization header."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


def api_host(host: str) -> str:
    """The host that speaks for a registry: Docker Hub's has another name than its images."""
    return "registry-1.docker.io" if host in DOCKER_HUB_HOSTS else host


def server(name: str) -> str:
    """A key of a file as the name of a registry, or of a repository in it."""
    plain = name.removeprefix("https://").removeprefix("http://")
    for end in ("/v1/", "/v2/", "/v1", "/v2", "/"):
        plain = plain.removesuffix(end)
    host, slash, rest = plain.partition("/")
    return f"{DOCKER_HUB if host in DOCKER_HUB_HOSTS else host}{slash}{rest}"


def scopes(repository: str) -> Iterator[str]:
    """The repository with its host, and what is above it, up to its registry.

    podman and the kubelet have credentials for each, and take the longest.
    """
    name = server(repository)
    while name:
        yield name
        name = name.rpartition("/")[0]


def read_entry(entry: Mapping[str, Any]) -> Credentials | None:
    """The credentials of an entry of `auths`; None for one without. ValueError for an `auth` that is none."""
    user, password = str(entry.get("username") or ""), str(entry.get("password") or "")
    if entry.get("auth"):
        try:
            text = base64.b64decode(str(entry["auth"]), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise ValueError("an `auth` that is not base64") from None
        user, _, password = text.partition(":")
    token = str(entry.get("identitytoken") or "")
    return Credentials(user, password.rstrip("\0"), token) if user or token else None
