"""Logs in with the program that a kubeconfig names under `exec`, as kubectl does.

EKS, GKE and AKS log in this way. The program gets the variable KUBERNETES_EXEC_INFO, and prints an
ExecCredential: a token, or a client certificate with its key, and possibly when these expire.
https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sparkgen.cluster.errors import ClusterError
from sparkgen.jsonvalue import decode

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_KIND = "ExecCredential"
_EXTENSION = "client.authentication.k8s.io/exec"
_MODES = ("Never", "IfAvailable", "Always")
_SECONDS = 120.0
_SECONDS_WITH_A_PERSON = 900.0
"""Seconds for which a device code of Azure is valid."""
_HINT = 400
TOKEN = re.compile(r"[\x21-\x7e]+")
"""The characters that a header may have after "Bearer "."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A program that logs in. `cluster`: the facts about the cluster that it gets; None if it gets none.

    `user`: the name of the user in the kubeconfig.
    """

    user: str
    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    api_version: str
    interactive: bool
    hint: str = ""
    cluster: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Credential:
    """The credential that a program printed; "" for missing parts. Certificate and key are PEM texts."""

    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    expires: datetime | None = None


def can_read(user: Mapping[str, Any]) -> bool:
    """Whether a user of a kubeconfig logs in only with a program, in a version of the API in VERSIONS."""
    entry = user.get("exec")
    return set(user) == {"exec"} and isinstance(entry, dict) and entry.get("apiVersion") in VERSIONS


def plugin(
    name: str,
    entry: Mapping[str, Any],
    cluster: Mapping[str, Any],
    folder: Path,
    environment: Mapping[str, str],
) -> Plugin:
    """Returns the program of the user `name`. Raises ClusterError for an entry that kubectl refuses, too."""
    command, arguments, more = entry.get("command"), entry.get("args") or (), entry.get("env") or ()
    if not isinstance(command, str) or not command:
        raise _wrong(name, "needs `command`, the program that logs in")
    if not isinstance(arguments, list | tuple) or not all(isinstance(one, str) for one in arguments):
        raise _wrong(name, "must have `args` that are a list of strings")
    if not isinstance(more, list | tuple) or not all(_is_variable(one) for one in more):
        raise _wrong(name, "must have `env` that is a list of names and values, which are strings")
    terminal = sys.stdin is not None and sys.stdin.isatty()
    return Plugin(
        user=name,
        command=str(folder / command) if "/" in command else command,
        arguments=tuple(arguments),
        environment={**environment, **{one["name"]: one["value"] for one in more}},
        api_version=str(entry["apiVersion"]),
        interactive=_interactive(name, command, entry, terminal=terminal),
        hint=" ".join(str(entry.get("installHint") or "").split())[:_HINT],
        cluster=_told(cluster, folder) if entry.get("provideClusterInfo") is True else None,
    )


def _is_variable(entry: Any) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in ("name", "value"))


def _interactive(name: str, command: str, entry: Mapping[str, Any], *, terminal: bool) -> bool:
    """Whether the program may ask the user. Only the older version of the API has a default."""
    mode = entry.get("interactiveMode") or ("IfAvailable" if entry["apiVersion"] == VERSIONS[1] else "")
    if mode not in _MODES:
        raise _wrong(name, f"needs `interactiveMode`: {', '.join(_MODES[:-1])} or {_MODES[-1]}")
    if mode == "Always" and not terminal:
        raise ClusterError(
            f"{command}, which logs the user {name} in, asks questions, and standard input is no terminal: "
            "run the command in a terminal, or log in with another method"
        )
    return terminal and mode != "Never"


def _told(cluster: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the facts about the cluster that a program gets; the certificate authority as data."""
    names = ("server", "certificate-authority-data")
    told = {name: cluster[name] for name in names if name in cluster}
    if "certificate-authority" in cluster:
        import base64  # noqa: PLC0415 - rare

        authority = (folder / cluster["certificate-authority"]).read_bytes()
        told["certificate-authority-data"] = base64.b64encode(authority).decode()
    for one in cluster.get("extensions") or ():
        if isinstance(one, dict) and one.get("name") == _EXTENSION:
            told["config"] = one.get("extension")
    return told


def log_in(plugin: Plugin) -> Credential:
    """Run the program; returns its credential. Raises ClusterError, with the next step, if it prints none."""
    from sparkgen.cluster.bounded_process import Failed, output_of  # noqa: PLC0415 - rare

    spec: dict[str, Any] = {"interactive": plugin.interactive}
    if plugin.cluster is not None:
        spec["cluster"] = plugin.cluster
    info = {"apiVersion": plugin.api_version, "kind": _KIND, "spec": spec}
    try:
        printed = output_of(
            [plugin.command, *plugin.arguments],
            {**plugin.environment, "KUBERNETES_EXEC_INFO": json.dumps(info)},
            seconds=_SECONDS_WITH_A_PERSON if plugin.interactive else _SECONDS,
            stdin=plugin.interactive,
        )
    except FileNotFoundError:
        step = plugin.hint or "install it, or correct `exec.command` of this user in the kubeconfig"
        raise _failed(plugin, f"there is no program {plugin.command}: {step}") from None
    except OSError as error:
        raise _failed(plugin, f"{plugin.command} does not start ({error.strerror or error})") from None
    except ValueError:
        raise _failed(plugin, "a null byte stands in its command, arguments or variables") from None
    except Failed as error:
        step = "log in again as your cloud describes, or choose another context with --context"
        raise _failed(plugin, f"{error}: {step}") from None
    try:
        return _credential(printed, plugin.api_version)
    except ValueError as error:
        what = str(error) if type(error) is ValueError else "it is not JSON"
        step = f"run it by hand to see what it prints, and update it: {os.path.basename(plugin.command)}"  # noqa: PTH119 - a name
        raise _failed(plugin, f"it did not print an {_KIND} ({what}): {step}") from None


def _credential(printed: bytes, api_version: str) -> Credential:
    """Returns the credential in a program's output. Raises ValueError, which never repeats the output."""
    value = decode(printed)
    if not isinstance(value, dict) or value.get("kind") != _KIND:
        raise ValueError("it is another kind of object")
    if value.get("apiVersion") != api_version:
        raise ValueError(f"it is not of {api_version}, for which the kubeconfig asks")
    status = value.get("status")
    status = status if isinstance(status, dict) else {}
    names = ("token", "clientCertificateData", "clientKeyData")
    token, certificate, key = (status.get(name) or "" for name in names)
    if not all(isinstance(one, str) for one in (token, certificate, key)):
        raise ValueError("token, certificate and key must be strings")
    if not token and not certificate and not key:
        raise ValueError("it has neither a token nor a client certificate")
    if bool(certificate) != bool(key):
        raise ValueError("it has a certificate or a key, and not both")
    if token and not TOKEN.fullmatch(token):
        raise ValueError("the token has characters that no header can carry")
    return Credential(token, certificate, key, _moment(status.get("expirationTimestamp")))


def _moment(text: Any) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise ValueError("expirationTimestamp is no time") from None
    if moment.tzinfo is None:
        raise ValueError("expirationTimestamp has no time zone")
    return moment


def _wrong(name: str, what: str) -> ClusterError:
    return ClusterError(f"cannot log in: `exec` of the user {name} in the kubeconfig {what}")


def _failed(plugin: Plugin, what: str) -> ClusterError:
    return ClusterError(f"cannot log in as the user {plugin.user} of the kubeconfig: {what}")
