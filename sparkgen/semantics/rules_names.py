"""Names with which two owners would share one object."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.names import RESERVED_SUFFIXES
from sparkgen.semantics.facts import Facts, ServerFacts
from sparkgen.semantics.findings import Finding
from sparkgen.semantics.wording import shortened

DEFAULT_ACCOUNT = "default"
"""The account that Kubernetes makes in each namespace, for pods that name none."""


def shared_names(facts: Facts) -> Iterator[Finding]:
    """An application whose objects would be another's, or whose account would be the namespace's own."""
    name, section = facts.name, facts.get("serviceAccount") or {}
    existing = facts.get("driver", "serviceAccount")
    yield from _reserved_suffix(name)
    if section.get("name") == DEFAULT_ACCOUNT and section.get("create", existing is None):
        yield _rendered_default(facts.path("serviceAccount", "name"))
    elif name == DEFAULT_ACCOUNT and not section.get("name") and existing is None:
        yield _default()


def shared_server_names(facts: ServerFacts) -> Iterator[Finding]:
    """A shuffle service or a history server whose account would be the namespace's own.

    They have no Role that another one could replace: `spark-history` is a good name for a history server.
    """
    name, section = facts.value["metadata"]["name"], facts.spec.get("serviceAccount") or {}
    if section.get("name") == DEFAULT_ACCOUNT and section.get("create", True):
        yield _rendered_default(facts.path("serviceAccount", "name"))
    elif name == DEFAULT_ACCOUNT and not section.get("name"):
        yield _default()


def _reserved_suffix(name: str) -> Iterator[Finding]:
    for suffix in RESERVED_SUFFIXES:
        if name.endswith(suffix):
            yield Finding(
                ("metadata", "name"),
                f"ends with `{suffix}`, like the Role that sparkgen renders for an application "
                f"`{shortened(name.removesuffix(suffix))}`: one would replace the other",
                shortened(name),
                "",
                f"choose a name that does not end with `{suffix}`",
            )


def _default() -> Finding:
    return Finding(
        ("metadata", "name"),
        "would give its rights to the account `default`, which every pod uses that names none",
        DEFAULT_ACCOUNT,
        "",
        "choose another name, or name an account in `serviceAccount.name`",
    )


def _rendered_default(path: tuple[str | int, ...]) -> Finding:
    return Finding(
        path,
        "is the account that each namespace has already, and rendering it would take it over",
        DEFAULT_ACCOUNT,
        "",
        "name another account, or add `create: false`",
    )
