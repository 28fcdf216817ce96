"""Who a command acts as: the login of a kubeconfig's user, and whom it impersonates, for both clients.

A field that this module does not know is an error: a client that leaves one out may act as somebody else.
https://github.com/kubernetes/client-go/blob/master/tools/clientcmd/client_config.go
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sparkgen.cluster.channel import gets_credentials, with_scheme
from sparkgen.cluster.errors import ClusterError
from sparkgen.cluster.exec_login import TOKEN
from sparkgen.jsonvalue import decode
from sparkgen.textdiff import nearest

Headers = tuple[tuple[str, str], ...]
"""Names and values; a name may be there several times."""
_SWITCHES = ("insecure-skip-tls-verify", "disable-compression")
_CLUSTER = (
    *("server", "tls-server-name", "certificate-authority", "certificate-authority-data", "proxy-url"),
    *("extensions", *_SWITCHES),
)
_IMPERSONATION = ("as", "as-uid", "as-groups", "as-user-extra")
_FILES = ("client-certificate", "client-key")
_USER = (
    *(*_FILES, "client-certificate-data", "client-key-data", "token", "tokenFile", "username", "password"),
    *("auth-provider", "exec", "extensions", *_IMPERSONATION),
)
_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_LEGAL = "!#$&'*+-.^_`|~"
"""The characters, beside letters and digits, that stay as they are in the name of a header."""
_MOST_OF_TOKEN = 64 * 1024
_SECONDS_LEFT = 10
"""The seconds for which a token must be valid, as with kubectl."""


def acting(
    cluster: Mapping[str, Any], name: str, user: Mapping[str, Any], folder: Path, now: datetime
) -> tuple[dict[str, Any], Headers]:
    """Returns the login, and the headers that impersonate; both of the user `name` of a kubeconfig.

    The login has fields of a user whose names both clients read in the same way; it is empty for a server
    that gets no credentials. `folder`: of the kubeconfig. Raises ClusterError.
    """
    _check("cluster", cluster, _CLUSTER)
    for switch in _SWITCHES:
        if not isinstance(cluster.get(switch), bool | None):
            raise ClusterError(f"{switch} of the cluster in the kubeconfig must be true or false")
    if not gets_credentials(with_scheme(str(cluster.get("server") or ""))):
        return {}, tuple(_impersonation(name, user))
    _check(f"user {name}", user, _USER)
    login = {key: value for key, value in user.items() if key not in ("extensions", *_IMPERSONATION)}
    login |= {key: str(folder / str(login[key])) for key in _FILES if login.get(key)}
    file = login.pop("tokenFile", None)
    if file:
        login["token"] = _token(folder / str(file), str(login.get("token") or ""))
    if login.get("username"):
        login.setdefault("password", "")
        if login.get("token"):
            raise _wrong(name, "it has a token and a username: remove one of them")
    provider = login.pop("auth-provider", None)
    if provider and not (login.get("token") or login.get("username")):
        login["token"] = _id_token(name, provider, now)
    if login.get("token") and not TOKEN.fullmatch(str(login["token"])):
        raise ClusterError("the token in the kubeconfig has a space, a line break or another odd character")
    return login, tuple(_impersonation(name, user))


def _check(what: str, entry: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Raises ClusterError for a field that is not known."""
    for field in map(str, entry):
        if field not in known:
            near = nearest(field, known)
            step = f"did you mean {near}?" if near else "remove it, or choose another context with --context"
            raise ClusterError(f"the {what} in the kubeconfig has the unknown field {field}: {step}")


def _impersonation(name: str, user: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the headers with which the user acts as another one, as kubectl sends them."""
    said = {field: user[field] for field in _IMPERSONATION if user.get(field)}
    if said and "as" not in said:
        raise _wrong(name, f"it has {', '.join(said)}: add `as`, the user to act as, or remove them")
    for field, header in (("as", "Impersonate-User"), ("as-uid", "Impersonate-Uid")):
        if field in said:
            yield header, _value(name, field, said[field])
    for group in _several(name, "as-groups", said.get("as-groups", [])):
        yield "Impersonate-Group", group
    extra = said.get("as-user-extra", {})
    if not isinstance(extra, dict):
        raise _wrong(name, "as-user-extra must be a mapping of lists of strings")
    for key, values in extra.items():
        for value in _several(name, "as-user-extra", values):
            yield f"Impersonate-Extra-{quote(str(key), safe=_LEGAL)}", value


def _several(name: str, field: str, values: Any) -> list[str]:
    if not isinstance(values, list):
        raise _wrong(name, f"{field} must have a list of strings")
    return [_value(name, field, value) for value in values]


def _value(name: str, field: str, value: Any) -> str:
    """Returns a text that a header can carry."""
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        raise _wrong(name, f"{field} must be printable ASCII text, in quotation marks if it is a number")
    return value


def _token(file: Path, otherwise: str) -> str:
    """Returns the token in a file; the other one if there is one and the file has none."""
    reason = "it is empty"
    try:
        with file.open("rb") as opened:
            otherwise = opened.read(_MOST_OF_TOKEN).decode(errors="replace").strip() or otherwise
    except OSError as error:
        reason = str(error.strerror)
    if not otherwise:
        raise ClusterError(f"cannot read the tokenFile {file} of the kubeconfig: {reason}")
    return otherwise


def _id_token(name: str, provider: Any, now: datetime) -> str:
    """Returns the token of an OIDC login while it is valid. Raises ClusterError if kubectl must renew it.

    To renew a token, a client sends secrets to an address that the issuer names: sparkgen does not.
    """
    kind = provider.get("name") if isinstance(provider, dict) else None
    if kind != "oidc":
        raise _wrong(
            name, f"the auth-provider {kind} no longer exists: log in with `exec`, as your cloud describes"
        )
    config = provider.get("config")
    token = config.get("id-token") if isinstance(config, dict) else None
    if not isinstance(token, str) or not _expires(token) > now.timestamp() + _SECONDS_LEFT:
        raise _wrong(
            name,
            "its OIDC token has expired: run `kubectl get namespaces` with the same context, which renews "
            "it, or log in with `exec` and kubelogin",
        )
    return token


def _expires(token: str) -> float:
    """Returns when a JSON Web Token expires, in seconds since 1970; 0 if it does not say so."""
    try:
        _, payload, _ = token.split(".")
        claims = decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return float(claims["exp"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return 0.0


def _wrong(name: str, what: str) -> ClusterError:
    return ClusterError(f"cannot log in as the user {name} of the kubeconfig: {what}")
