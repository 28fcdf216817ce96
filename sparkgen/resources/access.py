"""What an application lets the janitor of its shuffle service do: look at its driver's pod."""

from __future__ import annotations

from sparkgen.model.application import Application
from sparkgen.objects import Object
from sparkgen.resources.objects import metadata_of

JANITOR_RULES: tuple[Object, ...] = ({"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},)
"""All that the janitor may do, in the namespaces of applications."""


def _named(application: Application) -> str | None:
    """The name of both objects; None where the application uses no service of its node."""
    shuffle = application.shuffle
    if shuffle is None or not shuffle.on_node or not application.account.rbac:
        return None
    return f"{application.name}-shuffle-janitor"


def janitor_role(application: Application) -> Object | None:
    """The right to see which drivers there are: shuffle data of the others is removed."""
    name = _named(application)
    if name is None:
        return None
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata_of(application, name),
        "rules": [dict(rule) for rule in JANITOR_RULES],
    }


def janitor_role_binding(application: Application) -> Object | None:
    """The right, given to the service's account, in whichever namespace that is."""
    name, shuffle = _named(application), application.shuffle
    if name is None or shuffle is None:
        return None
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata_of(application, name),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": shuffle.name, "namespace": shuffle.namespace}],
    }
