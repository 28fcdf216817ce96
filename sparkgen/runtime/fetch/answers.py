"""What a registry's answers mean: numbers in their headers, and refusals in words. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sparkgen.runtime.fetch.values import Artifact, BadArtifact, Passing
from sparkgen.runtime.registry.headers import asked_pause, is_number

if TYPE_CHECKING:
    import urllib3

    from sparkgen.runtime.registry.login import NoLogin

LONGEST_ASKED_PAUSE = 120.0
"""Seconds for which a registry may ask to be left alone (Retry-After)."""
_RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)")
_PASSING_STATUS = frozenset({408, 425, 429})


def begins_at(answer: urllib3.BaseHTTPResponse, start: int) -> int | None:
    """The byte at which an answer begins; None for another part than was asked for."""
    if answer.status == 200:
        return 0
    found = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    return start if found and int(found[1]) == start else None


def too_short(answer: urllib3.BaseHTTPResponse, artifact: Artifact, start: int) -> Exception:
    """A refusal of the bytes from `start` on: where the registry has another layer than the lock says."""
    has = answer.headers.get("Content-Range", "").removeprefix("bytes */")
    if is_number(has) and int(has) != artifact.size:
        return BadArtifact(
            f"the layer of {artifact.name} has {has} bytes in the registry, but {artifact.size} in the lock",
            "push again: sparkgen push FILE",
        )
    return Passing(f"{artifact.host} cannot resume the download at byte {start}")


def refused(answer: urllib3.BaseHTTPResponse, artifact: Artifact, what: str) -> Exception:
    """An answer that is none of those hoped for, in words."""
    pause = asked_pause(answer.headers.get("Retry-After", ""), LONGEST_ASKED_PAUSE)
    return _refusal(answer.status, artifact, what, pause)


def _refusal(status: int, artifact: Artifact, what: str, pause: float = 0.0) -> Exception:
    if status in _PASSING_STATUS or status >= 500:
        return Passing(f"{artifact.host} answers {status} for {what}", pause)
    if status in (401, 403):
        return BadArtifact(
            f"{artifact.host} does not allow pulling {artifact.repository} ({status})",
            "give the account in delivery.pullSecret permission to pull from this repository",
        )
    if status == 404:
        return BadArtifact(
            f"{artifact.reference} is not in the registry: {what} is missing",
            "push it again: sparkgen push FILE",
        )
    return BadArtifact(
        f"{artifact.host} answers {status} for {what} of {artifact.repository}",
        "ask the registry's administrator",
    )


def no_login(error: NoLogin, artifact: Artifact) -> Exception:
    """Why there is no login, in words."""
    host = artifact.host
    if error.kind == "refused":
        return _refusal(error.status, artifact, "a token")
    text, step = {
        "unknown": (
            f"{host} requires a login of an unknown kind",
            "use a registry with basic or token authentication",
        ),
        "no credentials": (
            f"{host} requires credentials, and there are none for {artifact.repository}",
            "set delivery.pullSecret to a Secret that has them",
        ),
        "rejected": (
            f"{host} rejects the credentials in delivery.pullSecret",
            "update the Secret: its token may have expired",
        ),
        "invalid server": (
            f"{host} names a token server with an invalid address",
            "ask the registry's administrator",
        ),
        "unsafe server": (
            f"{host} names an unsafe token server: {error.server}",
            "configure the registry with an https token server; with delivery.insecure, it must be at the "
            "registry's own address",
        ),
        "no token": (
            f"the token server of {host} sends no token",
            "ask the registry's administrator",
        ),
    }[error.kind]
    return BadArtifact(text, step)
