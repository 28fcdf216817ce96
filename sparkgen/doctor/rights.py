"""The permissions that commands need in a namespace, as docs/commands.md lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sparkgen.preflight.rights import Right
from sparkgen.resources.object_layers import RBAC


def _rights(verbs: str, resources: str, group: str = "", part: str = "") -> tuple[Right, ...]:
    return tuple(
        Right(verb, resource, group, part) for resource in resources.split() for verb in verbs.split()
    )


COMMANDS: Mapping[str, tuple[Right, ...]] = {
    "apply": (
        *_rights("get create patch", "serviceaccounts configmaps services"),
        *_rights("get create patch", "roles rolebindings", RBAC),
        *_rights("get create patch", "jobs", "batch"),
        *_rights("get create patch", "networkpolicies", "networking.k8s.io"),
        *_rights("get list watch create delete", "pods"),
        *_rights("create", "secrets events"),
    ),
    "run": (*_rights("list", "jobs cronjobs", "batch"), *_rights("get create", "configmaps")),
    "status": (*_rights("list", "pods events"), *_rights("list", "jobs", "batch")),
    "logs": _rights("get", "pods", part="log"),
    "ui": _rights("get create", "pods", part="portforward"),
    "kill": _rights("patch", "jobs", "batch"),
    "delete": (
        *_rights("list delete", "serviceaccounts configmaps services"),
        *_rights("list delete", "roles rolebindings", RBAC),
        *_rights("list delete", "jobs", "batch"),
    ),
}
"""Command -> what it needs for a document that runs once."""

EVERY = tuple(dict.fromkeys(right for rights in COMMANDS.values() for right in rights))


def lacking(missing: Iterable[Right]) -> dict[str, list[Right]]:
    """Returns the commands that do not work, each with the permissions that it lacks."""
    lost = frozenset(missing)
    needed = {name: [right for right in rights if right in lost] for name, rights in COMMANDS.items()}
    return {name: rights for name, rights in needed.items() if rights}


def listed(rights: Iterable[Right]) -> str:
    """Returns permissions as text, by resource: `create, patch roles.rbac.authorization.k8s.io`."""
    verbs: dict[str, list[str]] = {}
    for right in rights:
        verbs.setdefault(right.object, []).append(right.verb)
    return "; ".join(f"{', '.join(names)} {resource}" for resource, names in verbs.items())
