"""The Kerberos login of a document (`spec.kerberos`), and its settings for Spark and Hadoop.

Only the driver logs in. Variables are for Hadoop's UserGroupInformation: they decide who the driver is, even
while spark-submit fetches the main file. Properties are for Spark's token manager, which renews tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.properties import HADOOP

SECTION = "kerberos"
PROXY_USER = "proxyUser"
KEYTAB = "keytab"
TICKET_CACHE = "ticketCache"
TOKEN = "delegationToken"  # noqa: S105 - a field

LOGINS: Mapping[str, tuple[str, str]] = {
    KEYTAB: (contract.ENV_KRB5_KEYTAB, "keytab"),
    TICKET_CACHE: (contract.ENV_KRB5_CACHE, "ticket-cache"),
    TOKEN: (contract.ENV_HADOOP_TOKENS, "tokens"),
}
"""Field with the key of a Secret -> the variable with the file's path, and the file's name in the driver."""

AUTHENTICATION = "hadoop.security.authentication"
RENEWER = "yarn.resourcemanager.principal"
"""The property with the renewer of tokens. Without it, Hadoop's output formats fail (TokenCache); native
Spark sets it, too (SparkSubmit.setRMPrincipal)."""
ANY_RENEWER = "spark"
"""The renewer for tokens that somebody else fetched: the user is unknown, but the property must be set."""

PRINCIPAL_PROPERTY = "spark.kerberos.principal"
KEYTAB_PROPERTY = "spark.kerberos.keytab"
CREDENTIALS_PROPERTY = "spark.kerberos.renewal.credentials"
ENCRYPTION = "spark.network.crypto.enabled"

DEFAULTS: Mapping[str, str] = {
    # The driver sends tokens to every executor.
    ENCRYPTION: "true",
    f"{HADOOP}{AUTHENTICATION}": "kerberos",
}
"""Properties of applications with a login, unless the document says otherwise."""


@dataclass(frozen=True, slots=True)
class Login:
    """The driver's login: the `key` of a `secret`, mounted as `file`, and its variables."""

    secret: str
    key: str
    file: str
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Kerberos:
    """A document's login, and the ConfigMap with krb5.conf for both roles (None: the image's file).

    `acts_for`: the login belongs to a gateway, and Hadoop itself acts as the proxy user.
    """

    login: Login | None
    krb5_config_map: str | None
    acts_for: bool


def kerberos(spec: Mapping[str, Any]) -> Kerberos | None:
    """The login of an application's spec; None if it has no section for it."""
    section = spec.get(SECTION)
    if section is None:
        return None
    return Kerberos(_login(spec, section), section.get("krb5ConfigMap"), acts_for(spec))


def _login(spec: Mapping[str, Any], section: Mapping[str, Any]) -> Login | None:
    field = login_field(section)
    if field is None:
        return None
    variable, file = LOGINS[field]
    variables = {variable: f"{contract.KERBEROS_DIR}/{file}"}
    if field != TOKEN and "principal" in section:
        variables[contract.ENV_KRB5_PRINCIPAL] = section["principal"]
    if field == KEYTAB and spec.get(PROXY_USER):
        variables[contract.ENV_HADOOP_PROXY_USER] = spec[PROXY_USER]
    return Login(section[field]["name"], section[field]["key"], file, dict(sorted(variables.items())))


def login_field(section: Mapping[str, Any]) -> str | None:
    """The field with the driver's login; a valid document has one."""
    return next((field for field in LOGINS if field in section), None)


def acts_for(spec: Mapping[str, Any]) -> bool:
    """Whether the driver logs in with a gateway's keytab, and acts as another user."""
    return KEYTAB in (spec.get(SECTION) or {}) and bool(spec.get(PROXY_USER))


def default_properties(spec: Mapping[str, Any]) -> dict[str, str]:
    """Properties that a login implies, unless the document says otherwise."""
    section = spec.get(SECTION)
    if section is None:
        return {}
    return {**DEFAULTS, f"{HADOOP}{RENEWER}": _renewer(spec, section)}


def login_properties(spec: Mapping[str, Any]) -> dict[str, str]:
    """Properties with which Spark renews tokens, whatever the document says.

    Empty for a proxy user: with them, Spark would log in again, and silently act as the gateway.
    """
    section = spec.get(SECTION) or {}
    field = login_field(section)
    if field == KEYTAB and not spec.get(PROXY_USER):
        file = f"{contract.KERBEROS_DIR}/{LOGINS[KEYTAB][1]}"
        return {PRINCIPAL_PROPERTY: section.get("principal", ""), KEYTAB_PROPERTY: file}
    return {CREDENTIALS_PROPERTY: "ccache"} if field == TICKET_CACHE else {}


def hadoop_properties(spec: Mapping[str, Any]) -> Mapping[str, str]:
    """The properties in the rendered core-site.xml: `hadoopConf`, unless a ConfigMap replaces the file.

    Hadoop reads the file before Spark's own properties, so the file must say that there is a login.
    """
    given: Mapping[str, str] = spec.get("hadoopConf") or {}
    if spec.get("hadoopConfigMap") or not given:
        return {}
    return {AUTHENTICATION: "kerberos", **given} if SECTION in spec else given


def _renewer(spec: Mapping[str, Any], section: Mapping[str, Any]) -> str:
    """The short name of the driver's user."""
    if acts_for(spec):
        return str(spec[PROXY_USER])
    return re.split("[/@]", section.get("principal", ""))[0] or ANY_RENEWER
