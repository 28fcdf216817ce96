"""Logins to Kerberos: what a section `kerberos` needs, and what would make Spark act as another user."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen import contract
from sparkgen.model import kerberos
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, Finding, about_key, rule
from sparkgen.semantics.wording import shortened

PROPERTIES = (kerberos.PRINCIPAL_PROPERTY, kerberos.KEYTAB_PROPERTY)
"""Properties with any of which Spark logs in by itself."""


@rule("SG317", ERROR)
def logins(facts: DocumentFacts) -> Iterator[Finding]:
    """A section with no login, with several, without the principal that it needs, or with an unused one."""
    section = facts.get(kerberos.SECTION)
    if section is None:
        return
    given = [field for field in kerberos.LOGINS if field in section]
    place = facts.path(kerberos.SECTION)
    if not given:
        allowed = "one of keytab, ticketCache, delegationToken"
        step = "name a Secret: `keytab: {name: ..., key: ...}`"
        yield about_key(place, "does not say how the driver logs in", step, allowed)
    for field in given[1:]:
        message = f"the driver already logs in with `{given[0]}`"
        yield about_key((*place, field), message, f"delete `{field}`, or `{given[0]}`")
    if not given:
        return
    has_principal = "principal" in section
    if given[0] == kerberos.TOKEN and has_principal:
        message = "has no effect: tokens contain their owner"
        yield about_key((*place, "principal"), message, "delete it, or log in with a keytab")
    if given[0] != kerberos.TOKEN and not has_principal:
        message = "a login needs a principal"
        yield about_key((*place, given[0]), message, "set `kerberos.principal`, such as alice@EXAMPLE.COM")


@rule("SG318", ERROR, chart="security: the application would silently act as another user")
def somebody_else(facts: DocumentFacts) -> Iterator[Finding]:
    """Settings with which the application would not act as the user that the document names.

    Sources: UserGroupInformation.createLoginUser; HadoopDelegationTokenManager.doLogin, which forgets the
    proxy user.
    """
    section = facts.get(kerberos.SECTION)
    user = facts.get(kerberos.PROXY_USER)
    if user is not None and section is not None and kerberos.KEYTAB not in section:
        yield Finding(
            facts.path(kerberos.PROXY_USER),
            "acting as another user requires a keytab",
            shortened(user),
            next_step="set the gateway's keytab in `kerberos.keytab`, or delete `proxyUser`",
        )
    yield from _own_logins(facts)
    if user is None:
        yield from _hidden_users(facts)


def _own_logins(facts: DocumentFacts) -> Iterator[Finding]:
    """Properties with which Spark logs in beside the section."""
    if facts.get(kerberos.SECTION) is None:
        return
    for name in (*PROPERTIES, kerberos.CREDENTIALS_PROPERTY):
        if name in facts.conf:
            yield Finding(
                facts.path("sparkConf", name),
                "Spark would log in with this as well, and might act as a user other than that of `kerberos`",
                shortened(facts.conf[name]),
                next_step="delete it: `kerberos` configures the login",
            )


def _hidden_users(facts: DocumentFacts) -> Iterator[Finding]:
    """A proxy user in a variable, beside a login of Spark's: Spark would act as the gateway itself."""
    if not any(name in facts.properties for name in PROPERTIES):
        return
    for path in facts.variables("driver", contract.ENV_HADOOP_PROXY_USER):
        yield Finding(
            path,
            "Spark logs in as the principal, and would silently act as the principal instead of this user",
            contract.ENV_HADOOP_PROXY_USER,
            next_step="delete it; set `proxyUser`, and the gateway's keytab in `kerberos.keytab`",
        )
