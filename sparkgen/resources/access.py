"""What an application lets the janitor of its shuffle service do: look at its driver's pod."""

from __future__ import annotations

from sparkgen.model.application import Application
from sparkgen.objects import Object
from sparkgen.resources.objects import granted, metadata_of

JANITOR_RULES: tuple[Object, ...] = ({"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},)
"""All that the janitor may do, in the namespaces of applications."""


def janitor_rights(application: Application) -> tuple[Object, ...]:
    """The right to see which drivers there are, as shuffle data of the others is removed.

    The service's account has it, in whichever namespace that is.
    """
    shuffle = application.shuffle
    if shuffle is None or not shuffle.on_node or not application.account.rbac:
        return ()
    metadata = metadata_of(application, f"{application.name}-shuffle-janitor")
    return granted(metadata, JANITOR_RULES, shuffle.name, shuffle.namespace)
