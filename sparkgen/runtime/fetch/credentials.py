"""The registry's credentials, as a Secret of the type kubernetes.io/dockerconfigjson has them. Pure."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen.runtime.fetch.values import BadArtifact

DOCKER_HUB = "docker.io"
DOCKER_HUB_HOSTS = {DOCKER_HUB, "index.docker.io", "registry-1.docker.io"}
LARGEST_CONFIG = 1 << 20


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a registry asks for. `refresh`: a token with which others are had, in place of the password."""

    user: str
    password: str
    refresh: str = ""

    def __repr__(self) -> str:
        """Without what is secret."""
        return "Credentials(...)"

    @property
    def basic(self) -> str:
        """The value of an `Authorization` header."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")


def credentials_for(config: str, host: str, repository: str) -> Credentials | None:
    """The credentials of a repository; None where the file has none for it.

    Of several entries the one with the longest path wins, as with the kubelet. BadArtifact for a text that
    is no such file; what is in it is never repeated.
    """
    try:
        found = json.loads(config)
        entries = found["auths"]
        if not isinstance(entries, Mapping):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadArtifact(
            "the Secret in delivery.pullSecret is not a docker configuration with `auths`",
            "create it with kubectl create secret docker-registry",
        ) from None
    best = max(
        (key for key in entries if _is_of(str(key), host, repository)),
        key=lambda key: len(_place(str(key))),
        default=None,
    )
    return None if best is None else _read(entries[best])


def _is_of(key: str, host: str, repository: str) -> bool:
    named, _, path = _place(key).partition("/")
    same = named == host or {named, host} <= DOCKER_HUB_HOSTS
    return same and (not path or path == repository or repository.startswith(f"{path}/"))


def _place(key: str) -> str:
    """Host and path of a key, which may be a URL: https://index.docker.io/v1/ is docker's own."""
    bare = key.removeprefix("https://").removeprefix("http://").rstrip("/")
    return bare.removesuffix("/v1").removesuffix("/v2")


def _read(entry: Any) -> Credentials:
    try:
        user, password = str(entry.get("username") or ""), str(entry.get("password") or "")
        if entry.get("auth"):
            text = base64.b64decode(str(entry["auth"]), validate=True).decode("utf-8")
            user, _, password = text.partition(":")
        return Credentials(user, password, str(entry.get("identitytoken") or ""))
    except (AttributeError, binascii.Error, UnicodeDecodeError, ValueError):
        raise BadArtifact(
            "the Secret in delivery.pullSecret has an invalid entry",
            "create it with kubectl create secret docker-registry",
        ) from None
