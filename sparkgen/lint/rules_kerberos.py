"""Logins to Kerberos: who could take them, and when they end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.lint.findings import Finding
from sparkgen.lint.subject import Subject
from sparkgen.model import kerberos

_ENCRYPTIONS = (kerberos.ENCRYPTION, "spark.ssl.rpc.enabled", "spark.ssl.enabled")


def clear_tokens(subject: Subject) -> Iterator[Finding]:
    """Delegation tokens that go to every executor, and anybody on the way can read."""
    facts = subject.facts
    logs_in = facts.get(kerberos.SECTION) is not None or kerberos.PRINCIPAL_PROPERTY in facts.properties
    if logs_in and not any(facts.is_true(name) for name in _ENCRYPTIONS):
        yield Finding(
            subject.property_path(kerberos.ENCRYPTION),
            "the driver sends tokens to executors unencrypted: anyone on the network can read and use them",
            next_step=f'set `{kerberos.ENCRYPTION}: "true"` in `sparkConf`, as `kerberos` does by default',
            on_key=True,
        )


def ending_tokens(subject: Subject) -> Iterator[Finding]:
    """Logins that end while the application runs, as nothing of it renews them."""
    facts = subject.facts
    section = facts.get(kerberos.SECTION) or {}
    said = {
        kerberos.TOKEN: "nothing renews these tokens: the application fails when they expire",
        kerberos.TICKET_CACHE: "nothing renews these tickets unless something keeps the Secret up to date",
    }
    for field, message in said.items():
        if field in section:
            step = "use `keytab` if the application may run longer than a ticket or a token is valid"
            yield Finding(facts.path(kerberos.SECTION, field), message, next_step=step, on_key=True)
    if kerberos.acts_for(facts.spec):
        yield Finding(
            facts.path(kerberos.PROXY_USER),
            "tokens of a proxy user are not renewed: the application fails when they expire",
            next_step="give the user a keytab if the application may run longer than a token is valid",
            on_key=True,
        )


def spread_keytab(subject: Subject) -> Iterator[Finding]:
    """The Secret that the driver logs in with, in other containers, too."""
    facts = subject.facts
    found = kerberos.kerberos(facts.spec)
    if found is None or found.login is None:
        return
    for container in facts.containers:
        if container.typed and container.kind == "spark":
            for path, secret in container.items("secrets"):
                if secret.get("name") == found.login.secret:
                    yield _spread((*path, "name"), container.role)
        for path, item in container.items("env"):
            if _key(item) == found.login.secret:
                yield _spread((*path, "valueFrom", "secretKeyRef", "name"), container.role)
        for path, item in container.items("envFrom"):
            if (item.get("secretRef") or {}).get("name") == found.login.secret:
                yield _spread((*path, "secretRef", "name"), container.role)


def _key(item: Mapping[str, Any]) -> Any:
    return ((item.get("valueFrom") or {}).get("secretKeyRef") or {}).get("name")


def _spread(path: tuple[str | int, ...], role: str) -> Finding:
    message = (
        f"gives the {role} the credentials of `kerberos`, where user code and child processes can read them"
    )
    return Finding(path, message, next_step="delete it: `kerberos` mounts it in the driver only")


def login_by_hand(subject: Subject) -> Iterator[Finding]:
    """Properties with which Spark's token manager logs in, and nothing else of the driver."""
    facts = subject.facts
    if kerberos.KEYTAB_PROPERTY in facts.conf and facts.get(kerberos.SECTION) is None:
        yield Finding(
            facts.path("sparkConf", kerberos.KEYTAB_PROPERTY),
            "only Spark logs in with this: a main file in HDFS, and Hadoop's output formats, fail",
            next_step="set `kerberos` with `principal` and `keytab` instead",
            on_key=True,
        )
