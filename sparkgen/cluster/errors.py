"""Errors of requests to a cluster, with readable messages: what happened, and what to do about it."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.cluster.channel import Refused, gets_credentials
from sparkgen.cluster.reading import TooLarge
from sparkgen.errors import SparkgenError
from sparkgen.jsonvalue import decode

_HANDSHAKE = re.compile(r"Handshake status ([0-9]{1,3}) (.*?) -\+-\+- .*? -\+-\+- (.*)", re.DOTALL)
"""The official client's message about a refused websocket: status, reason, headers, body."""
_NOBODY = "system:anonymous"
"""The user of requests without credentials, in messages of Kubernetes."""
INSTALL = "pip install 'sparkgen[cluster]'"
_CODES: Mapping[int | None, str] = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    429: "TooManyRequests",
}
"""HTTP status -> `code` of the error (StatusReason in apimachinery's meta/v1); no answer is "Unavailable"."""


class ClusterError(SparkgenError):
    """A request failed.

    `status`: the HTTP status, None if there was no answer; `said`: the server's message, without the
    request, "" if there was no answer.
    """

    def __init__(self, message: str, status: int | None = None, said: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.said = said
        self.code = _CODES.get(status, "Unavailable" if status is None or status >= 500 else "Invalid")


class Unreadable(ClusterError):
    """There was an answer, but no list or object could be read from it."""


def not_installed() -> ClusterError:
    """Returns the error that the official client is not installed."""
    return ClusterError(f"this command needs a library to talk to a cluster: {INSTALL}")


@contextlib.contextmanager
def in_words(doing: str, server: str) -> Iterator[None]:
    """Turn an error of a channel inside the block into a ClusterError.

    `doing` completes "cannot ...", as in "read jobs/pi in namespace analytics"; `server`: the address.
    """
    from urllib3.exceptions import HTTPError  # noqa: PLC0415 - see the package

    try:
        yield
    except Refused as error:
        raise refused(doing, server, error) from error
    except (HTTPError, OSError) as error:
        raise ClusterError(f"cannot {doing}: {_silence(server, error)}") from error
    except TooLarge as error:
        raise Unreadable(f"cannot {doing}: the answer of {server} has more than {error}") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable(
            f"cannot {doing}: {server} sends something other than Kubernetes does; check the address in the "
            "kubeconfig, and the proxies in front of the server"
        ) from error


def refused(doing: str, server: str, error: Refused) -> ClusterError:
    """Returns the error for a refused request, with the server's own message if it has one."""
    status, body, reason = error.status, error.body, error.reason
    if handshake := _HANDSHAKE.fullmatch(reason):
        status, body, reason = int(handshake[1]), _unwrapped(handshake[3]), handshake[2]
    said = _message(body) or reason or f"HTTP {status}"
    answer = f"{said}{_next_step(status, said, server)}"
    return ClusterError(f"cannot {doing}: {answer}", status, answer)


def _unwrapped(text: str) -> str:
    """Returns the text in a printed bytes literal, `b'...'`; any other text as it is."""
    if not text.startswith(("b'", 'b"')):
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value.decode(errors="replace") if isinstance(value, bytes) else text


def _message(body: Any) -> str:
    """Returns the message of a Status object; "" for any other body."""
    try:
        status = decode(body or "")
    except (TypeError, ValueError):
        return ""
    return str(status.get("message") or "") if isinstance(status, dict) else ""


def _next_step(status: int, said: str, server: str) -> str:
    if not gets_credentials(server) and (status == 401 or _NOBODY in said):
        return (
            f". Credentials are sent only over https: correct the address {server} in the kubeconfig, or "
            "choose another context with --context"
        )
    if status == 401:
        return (
            f". Log in to {server} again, or choose another context with --context (kubectl config "
            "get-contexts lists them)"
        )
    if status == 403 and "is forbidden: User" in said:
        return ". Ask for this permission, or choose another --context or --namespace"
    if status == 409 and "UID in the precondition" in said:
        return ". Another object has this name now: run the command again to look at it"
    if status == 404 and said.startswith("namespaces "):
        return ". Create it, or choose another one with --namespace"
    return ""


def _silence(server: str, error: Exception) -> str:
    """Returns why there was no answer, from the innermost cause: the errors around it repeat the address."""
    cause: BaseException = error
    while (inner := getattr(cause, "reason", None) or cause.__cause__) and isinstance(inner, BaseException):
        cause = inner
    text = str(cause).rpartition(": ")[2] if "Errno" in str(cause) else str(cause)
    if "certificate" in str(cause).lower():
        return (
            f"the certificate of {server} is not trusted ({text}): check that it is the right cluster, and "
            "that its certificate-authority in the kubeconfig is current"
        )
    if "SSL" in type(cause).__name__:
        return f"{server} does not speak TLS ({text}): check the address in the kubeconfig"
    return (
        f"{server} does not answer ({text}): check that the cluster runs and that this machine can reach it, "
        "or choose another one with --context"
    )
