"""Credentials for a registry, as docker, podman, helm and oras find them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sparkgen.delivery.registry.errors import RegistryError
from sparkgen.jsonvalue import decode
from sparkgen.runtime.registry.credentials import DOCKER_HUB_HOSTS, Credentials, read_entry, scopes, server

_NO_USER = "<token>"
"""The user name with which a helper gives an identity token."""
_HELPER_SECONDS = 60


Helper = Callable[[str, str], Mapping[str, Any] | None]
"""Asks the program docker-credential-NAME for a server."""


def files(environment: Mapping[str, str]) -> list[Path]:
    """Where credentials may be, the ones that are named before the usual ones."""
    home = Path(environment.get("HOME") or "~").expanduser()
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    helm = Path(environment.get("HELM_CONFIG_HOME") or config / "helm")
    named = (
        environment.get("REGISTRY_AUTH_FILE"),
        environment.get("HELM_REGISTRY_CONFIG"),
        f"{environment['DOCKER_CONFIG']}/config.json" if environment.get("DOCKER_CONFIG") else None,
    )
    runtime = environment.get("XDG_RUNTIME_DIR")
    usual = (
        home / ".docker/config.json",
        *([Path(runtime, "containers/auth.json")] if runtime else []),
        config / "containers/auth.json",
        helm / "registry/config.json",
    )
    found = [*(Path(name).expanduser() for name in named if name), *usual]
    return list(dict.fromkeys(found))


def find(repository: str, environment: Mapping[str, str], helper: Helper | None = None) -> Credentials | None:
    """The first credentials for a repository; None where nobody has any. RegistryError for a broken file."""
    for file in files(environment):
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise RegistryError(f"cannot read the credentials in {file}: {error}") from None
        try:
            config = decode(text)
        except ValueError:
            raise RegistryError(f"{file} is not valid JSON: fix it, or log in again") from None
        if isinstance(config, dict) and (found := _in(config, repository, file, helper or ask)):
            return found
    return None


def _in(config: Mapping[str, Any], repository: str, file: Path, helper: Helper) -> Credentials | None:
    host = repository.partition("/")[0]
    auths = _mapping(config, "auths")
    helpers = {server(name): (name, program) for name, program in _mapping(config, "credHelpers").items()}
    if host in helpers:
        name, program = helpers[host]
        return _helped(str(program), [name, *_names(host)], file, helper)
    if program := config.get("credsStore"):
        logged_in = [name for name in auths if server(name) == host]
        if found := _helped(str(program), [*logged_in, *_names(host)], file, helper):
            return found
    keys = {server(name): entry for name, entry in auths.items() if isinstance(entry, dict)}
    for name in scopes(repository):
        if name in keys and (found := _plain(keys[name], file)):
            return found
    return None


def _mapping(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def _names(host: str) -> list[str]:
    """What helpers have a registry under."""
    return ["https://index.docker.io/v1/"] if host in DOCKER_HUB_HOSTS else [host, f"https://{host}"]


def _plain(entry: Mapping[str, Any], file: Path) -> Credentials | None:
    try:
        found = read_entry(entry)
    except ValueError as error:
        raise RegistryError(f"{file} has {error}: log in again") from None
    return found and replace(found, where=str(file))


def _helped(program: str, names: list[str], file: Path, helper: Helper) -> Credentials | None:
    for name in dict.fromkeys(names):
        answer = helper(program, name)
        if answer and answer.get("Secret"):
            user, secret = str(answer.get("Username") or ""), str(answer["Secret"])
            where = f"docker-credential-{program} ({file})"
            if user == _NO_USER:
                return Credentials(identity_token=secret, where=where)
            return Credentials(user, secret, where=where)
    return None


def ask(program: str, server: str) -> Mapping[str, Any] | None:
    """What a credential helper says; None where it knows nothing. RegistryError where it cannot be asked."""
    name = f"docker-credential-{program}"
    try:
        done = subprocess.run(
            [name, "get"], input=server.encode(), capture_output=True, timeout=_HELPER_SECONDS, check=False
        )
    except OSError as error:
        raise RegistryError(f"cannot start {name}, which has the credentials: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise RegistryError(f"{name} does not answer within {_HELPER_SECONDS} seconds") from None
    if done.returncode:
        return None  # "credentials not found in native keychain"; its output is not for us to show
    try:
        answer = decode(done.stdout)
    except ValueError:
        raise RegistryError(f"{name} returned something other than JSON") from None
    return answer if isinstance(answer, dict) else None
