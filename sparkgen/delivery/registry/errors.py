"""What goes wrong between this machine and a registry, in words. No address with its query, and no header."""

from __future__ import annotations

import re
import ssl
from typing import Literal

from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    SSLError,
)

from sparkgen.errors import SparkgenError
from sparkgen.jsonvalue import decode

PLAIN_TO_TLS = re.compile(
    r"WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|HTTP_REQUEST|wrong version number|record layer"
)
"""What OpenSSL says of a server that speaks plain HTTP."""
_LONGEST = 200


Unreached = Literal["", "no host", "untrusted", "plain HTTP", "nothing listens"]
"""Why no answer came, where the next step depends on it; "" for all else."""


class RegistryError(SparkgenError):
    """A registry that does not do what it was asked for. `status`: of its answer, None without one."""

    def __init__(self, message: str, status: int | None = None, unreached: Unreached = "") -> None:
        super().__init__(message)
        self.status = status
        self.unreached = unreached


def not_reached(host: str, error: HTTPError | OSError) -> RegistryError:
    """No answer came."""
    cause = _cause(error)
    if isinstance(cause, NameResolutionError):
        return RegistryError(
            f"there is no host {host.partition(':')[0]}: check the repository, and your network",
            unreached="no host",
        )
    if isinstance(cause, ssl.SSLCertVerificationError):
        step = "pass the certificates of its authority with --ca-file FILE"
        text = f"the certificate of {host} is not trusted: {cause.verify_message}; {step}"
        return RegistryError(text, unreached="untrusted")
    if isinstance(cause, ssl.SSLError | SSLError):
        if PLAIN_TO_TLS.search(str(cause)):
            return RegistryError(
                f"{host} does not speak TLS; to use plain HTTP, set `delivery.insecure: true`",
                unreached="plain HTTP",
            )
        return RegistryError(f"TLS with {host} failed: {_short(str(cause))}")
    if isinstance(cause, NewConnectionError | ConnectionRefusedError):  # the former is a ConnectTimeoutError
        text = f"nothing listens at {host}: check the address and its port"
        return RegistryError(text, unreached="nothing listens")
    if isinstance(cause, ConnectTimeoutError | TimeoutError):
        return RegistryError(f"{host} does not answer: check the address, a proxy, and a firewall")
    return RegistryError(f"the connection to {host} broke: {_short(str(cause))}")


def _cause(error: BaseException) -> BaseException:
    """The innermost reason that says something."""
    reason = getattr(error, "reason", None)
    if isinstance(error, NameResolutionError):
        return error
    if isinstance(reason, BaseException):
        return _cause(reason)
    if isinstance(error, SSLError | NewConnectionError):
        inner = (
            error.args[-1] if error.args and isinstance(error.args[-1], BaseException) else error.__cause__
        )
        return inner if isinstance(inner, ssl.SSLError | ConnectionRefusedError) else error
    return error


def refused(host: str, doing: str, status: int, body: bytes) -> RegistryError:
    """An answer that is a refusal. `doing` completes "cannot ..."."""
    said = message(body)
    shown = f" ({said})" if said else ""
    if status == 507 or re.search(
        r"no space left|quota|disk.{0,20}full|insufficient storage", said, re.IGNORECASE
    ):
        step = "free space in the registry, or have its quota raised; what is already uploaded stays"
        return RegistryError(f"cannot {doing}: {host} has no space left{shown}: {step}", status)
    reasons = {
        403: "these credentials cannot push there: ask for permission, or log in as someone else",
        404: "the repository does not exist: create it first in registries such as ECR and Harbor",
        405: "it accepts no uploads: it is read-only, or a mirror",
        413: "it, or a proxy in front of it, accepts no uploads of this size",
        429: "it limits the rate of requests: push again later",
    }
    if status in reasons:
        return RegistryError(f"cannot {doing}: {host} answers {status}{shown}: {reasons[status]}", status)
    if status >= 500:
        step = "what is already uploaded stays; push again later, or check the registry's log"
        return RegistryError(f"cannot {doing}: {host} answers {status}{shown}: {step}", status)
    return RegistryError(f"cannot {doing}: {host} answers {status}{shown}", status)


def message(body: bytes) -> str:
    """What the errors of an answer say, on one line and shortened; "" for what is no such answer."""
    try:
        errors = decode(body).get("errors")
        texts = [f"{one.get('message') or one.get('code')}" for one in errors]
        details = [str(one["detail"]) for one in errors if isinstance(one.get("detail"), str)]
    except (ValueError, AttributeError, TypeError):
        return ""
    return _short("; ".join([*texts, *details]))


def _short(text: str) -> str:
    line = re.sub(r"://[^/\s]+@", "://", " ".join(text.split()))  # a proxy's password
    line = re.sub(r"\?[^\s)'\"]+", "", line)  # queries of uploads hold a state that is as good as a key
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
