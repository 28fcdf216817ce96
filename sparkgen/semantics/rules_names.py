"""Names with which two owners would share one object."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.errors import Path
from sparkgen.model import HISTORY_KIND, SERVER_KINDS, STAGING_KIND
from sparkgen.names import DEFAULT_ACCOUNT, HISTORY_SUFFIX, RESERVED_SUFFIXES
from sparkgen.semantics.facts import DocumentFacts, ServerFacts
from sparkgen.semantics.findings import ERROR, Finding, rule, server_rule
from sparkgen.semantics.wording import shortened

API_SERVICE = "kubernetes"
"""The Service of the API server, in the namespace `default`."""


_CHART = (
    "names and security: one object would replace another; or, with an account named `default`, every pod "
    "without its own account would get permissions"
)


@rule("SG196", ERROR, chart=_CHART)
def shared_names(facts: DocumentFacts) -> Iterator[Finding]:
    """An application that would replace another application's objects, or the namespace's own account."""
    name, section = facts.name, facts.get("serviceAccount") or {}
    existing = facts.get("driver", "serviceAccount")
    yield from _reserved_suffix(name)
    rendered = section.get("create", existing is None)
    for path, account in (
        (facts.path("serviceAccount", "name"), section.get("name")),
        (facts.path("driver", "serviceAccount"), existing),
    ):
        if rendered and account:
            yield from _rendered_account(path, account)
    if name == DEFAULT_ACCOUNT and not section.get("name") and existing is None:
        yield _default()


@server_rule("SG196", ERROR, kinds=SERVER_KINDS, chart=_CHART)
def shared_server_names(facts: ServerFacts) -> Iterator[Finding]:
    """A server that would take over an account of the namespace or of an application, or Kubernetes' Service.

    Servers have no Role that another could replace: `spark-history` is a good name for a history server.
    """
    name, section = facts.value["metadata"]["name"], facts.spec.get("serviceAccount") or {}
    account = section.get("name")
    if account and section.get("create", True):
        yield from _rendered_account(facts.path("serviceAccount", "name"), account)
    elif name == DEFAULT_ACCOUNT and not account:
        yield _default()
    good = {HISTORY_KIND: "spark-history", STAGING_KIND: "spark-staging"}.get(facts.value["kind"])
    if name == API_SERVICE and good:
        yield Finding(
            ("metadata", "name"),
            "is the name of Kubernetes' own Service in the namespace `default`: the server's Service "
            "would take it over",
            API_SERVICE,
            next_step=f"choose another name, such as `{good}`",
        )


def _reserved_suffix(name: str) -> Iterator[Finding]:
    for suffix in RESERVED_SUFFIXES:
        if name.endswith(suffix):
            yield Finding(
                ("metadata", "name"),
                f"ends with `{suffix}`, like the Role that sparkgen renders for an application "
                f"`{shortened(name.removesuffix(suffix))}`: one would replace the other",
                shortened(name),
                next_step=f"choose a name that does not end with `{suffix}`",
            )


def _default() -> Finding:
    return Finding(
        ("metadata", "name"),
        "would give its permissions to the account `default`, which every pod without its own account uses",
        DEFAULT_ACCOUNT,
        next_step="choose another name, or set an account in `serviceAccount.name`",
    )


def _rendered_account(path: Path, account: str) -> Iterator[Finding]:
    """A rendered account that belongs to the namespace, or to another application."""
    whose, step = "", "choose another account, or add `create: false` to `serviceAccount`"
    if account == DEFAULT_ACCOUNT:  # with `create: false`, the Role would be bound to it all the same
        whose, step = "every namespace already has", "choose another account"
    if account.endswith(HISTORY_SUFFIX):
        whose = f"sparkgen renders for an application `{shortened(account.removesuffix(HISTORY_SUFFIX))}`"
    if whose:
        yield Finding(
            path,
            f"is the account that {whose}: rendering it would take over the existing account",
            shortened(account),
            next_step=step,
        )
