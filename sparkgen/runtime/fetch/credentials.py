"""The registry's credentials, as a Secret of the type kubernetes.io/dockerconfigjson has them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from sparkgen.jsonvalue import decode
from sparkgen.runtime.fetch.values import BadArtifact
from sparkgen.runtime.registry.credentials import Credentials, read_entry, scopes, server

LARGEST_CONFIG = 1 << 20


def credentials_for(config: str, host: str, repository: str) -> Credentials | None:
    """The credentials of a repository; None where the file has none for it.

    Of several entries the one with the longest path wins, as with the kubelet. BadArtifact for a text that
    is no such file; what is in it is never repeated.
    """
    try:
        found = decode(config)
        entries = found["auths"]
        if not isinstance(entries, Mapping):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise BadArtifact(
            "the Secret in delivery.pullSecret is not a docker configuration with `auths`",
            "create it with kubectl create secret docker-registry",
        ) from None
    keys = {server(str(key)): entry for key, entry in entries.items()}
    best = next((keys[scope] for scope in scopes(f"{host}/{repository}") if scope in keys), None)
    try:
        return None if best is None else read_entry(best)
    except (AttributeError, ValueError):
        raise BadArtifact(
            "the Secret in delivery.pullSecret has an invalid entry",
            "create it with kubectl create secret docker-registry",
        ) from None
