"""Which application an object in the cluster belongs to, and which objects an apply may not touch.

Server-side apply merges with an existing object, whoever created it: without this check, a Role of another
application would silently change its owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.cluster.annotations import controller_of
from sparkgen.errors import Severity
from sparkgen.model import HISTORY_KIND, SERVICE_KIND, STAGING_KIND
from sparkgen.phrases import some_of
from sparkgen.preflight.values import Finding, Key, Live, Unknown, Wanted

_SERVERS = {
    SERVICE_KIND: ("shuffle service", contract.SHUFFLE_CONTAINER, contract.LABEL_SHUFFLE_SERVICE),
    HISTORY_KIND: ("history server", contract.HISTORY_SERVER_CONTAINER, contract.LABEL_HISTORY_SERVER),
    STAGING_KIND: ("staging server", contract.STAGING_SERVER, contract.LABEL_STAGING_SERVER),
}
"""Kind of a server's document -> the server in words, its component, and the label that has its name."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Owner:
    """The owner of an object. `name`: in words, "" if unknown; `by_sparkgen`: its labels name the owner."""

    name: str
    by_sparkgen: bool


def owner_of(item: Mapping[str, Any]) -> str:
    """Returns the owner that an object's labels name, as `application pi`; "" without labels of sparkgen.

    The labels are in the rendered objects, so sparkgen, kubectl, Helm, Argo CD and Flux all set them. A
    server's component comes first, so that no label of a document makes its objects an application's.
    """
    labels = item["metadata"].get("labels") or {}
    if found := _server(labels):
        words, label = found
        return f"{words} {labels[label]}"
    name = labels.get(contract.LABEL_APPLICATION)
    return f"application {name}" if name else ""


def server_words(labels: Mapping[str, Any]) -> str:
    """The words for the server whose objects have these labels; "server" if it is of no known kind."""
    found = _server(labels)
    return found[0] if found else "server"


def _server(labels: Mapping[str, Any]) -> tuple[str, str] | None:
    """The words for the server with these labels, and the label that has its name; None if it is none."""
    for words, component, label in _SERVERS.values():
        if labels.get(contract.LABEL_COMPONENT) == component and labels.get(label):
            return words, label
    return None


def own_name(wanted: Wanted) -> str:
    """What `owner_of` returns for the objects that are to be applied."""
    words = _SERVERS.get(wanted.document["kind"], ("application",))[0]
    return f"{words} {wanted.name}"


def ownership(wanted: Wanted, live: Live, *, take: bool = False) -> list[Finding]:
    """Finds existing objects of other owners. `take`: objects without an owner do not count."""
    others: dict[_Owner, list[Key]] = {}
    unknown: list[Key] = []
    for key, item in live.items():
        if isinstance(item, Unknown):
            unknown.append(key)
        elif item is not None and (owner := owner_of(item)) != own_name(wanted) and not (take and not owner):
            whose = _Owner(owner or controller_of(item), by_sparkgen=bool(owner))
            others.setdefault(whose, []).append(key)
    found = [_refused(owner, keys, wanted) for owner, keys in others.items()]
    if unknown:
        found.append(
            Finding("ownership", Severity.INFO, f"who owns {_listed(unknown)}, which you may not read")
        )
    return found


def _refused(owner: _Owner, keys: list[Key], wanted: Wanted) -> Finding:
    several = len(keys) > 1
    subject = f"{_listed(keys)} {'exist' if several else 'exists'} already"
    if owner.by_sparkgen:
        message = f"{subject} and {'belong' if several else 'belongs'} to the {owner.name}"
        step = f"choose a name other than {wanted.name}, or another namespace"
        if all(kind == "ServiceAccount" for kind, _ in keys):
            step = "to use this account, set `serviceAccount.create: false`; or name another account"
        return Finding("ownership", Severity.ERROR, message, step)
    it = "them" if several else "it"
    who = f"{owner.name} created {it}, not sparkgen" if owner.name else f"sparkgen did not create {it}"
    step = (
        f"to keep {it} unchanged, choose another name, or set `serviceAccount.create: false` to use an "
        f"existing account; to let this document manage {it} from now on, apply with --take-ownership"
    )
    return Finding("ownership", Severity.ERROR, f"{subject}, and {who}", step)


def _listed(keys: list[Key]) -> str:
    return some_of([" ".join(key) for key in keys], _SHOWN)
