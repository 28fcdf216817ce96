"""Rules about Kerberos logins: who could read them, and when they expire."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.lint.findings import ERROR, PRODUCTION, WARNING, Finding, rule, unset
from sparkgen.lint.subject import Subject
from sparkgen.model import kerberos
from sparkgen.semantics.facts import DocumentFacts

SENT = ("spark.files", "spark.archives", "spark.jars", "spark.submit.pyFiles")
"""Properties whose files the driver serves to its executors."""


@rule("SG276", ERROR, PRODUCTION)
def clear_tokens(subject: Subject) -> Iterator[Finding]:
    """Delegation tokens that are sent to every executor unencrypted."""
    facts = subject.facts
    logs_in = facts.get(kerberos.SECTION) is not None or kerberos.PRINCIPAL_PROPERTY in facts.properties
    if logs_in and not subject.is_encrypted:
        yield unset(
            subject.property_path(kerberos.ENCRYPTION),
            "the driver sends tokens to executors unencrypted: anyone on the network can read and use them",
            f'set `{kerberos.ENCRYPTION}: "true"` in `sparkConf`, as `kerberos` does by default',
        )


@rule("SG277", WARNING, PRODUCTION)
def ending_tokens(subject: Subject) -> Iterator[Finding]:
    """Logins that may expire while the application runs, because it does not renew them."""
    facts = subject.facts
    section = facts.get(kerberos.SECTION) or {}
    said = {
        kerberos.TOKEN: "nothing renews these tokens: the application fails when they expire",
        kerberos.TICKET_CACHE: "these tickets expire if nothing updates the Secret",
    }
    for field, message in said.items():
        if field in section:
            step = "use `keytab` if the application may run longer than a ticket or a token is valid"
            yield unset(facts.path(kerberos.SECTION, field), message, step)
    if kerberos.acts_for(facts.spec):
        yield unset(
            facts.path(kerberos.PROXY_USER),
            "tokens of a proxy user are not renewed: the application fails when they expire",
            "give the user a keytab if the application may run longer than a token is valid",
        )


@rule("SG278", ERROR, PRODUCTION)
def spread_keytab(subject: Subject) -> Iterator[Finding]:
    """The Secret of the driver's login in other containers, or as a file that is sent to executors."""
    facts = subject.facts
    found = kerberos.kerberos(facts.spec)
    if found is None or found.login is None:
        return
    yield from _sent(facts)
    yield from _mounted(facts, found.login.secret)
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


def _sent(facts: DocumentFacts) -> Iterator[Finding]:
    """Files of the login that Spark would send to each executor."""
    texts = [item for field in ("files", "archives", "jars", "pyFiles") for item in facts.dependencies(field)]
    texts += [(facts.path("sparkConf", name), facts.conf[name]) for name in SENT if name in facts.conf]
    for path, text in texts:
        if any(_is_of_login(name.strip()) for name in text.split(",")):
            message = "sends the credentials of `kerberos` to every executor, where user code can read them"
            yield Finding(path, message, next_step="delete it: executors use tokens")


def _is_of_login(text: str) -> bool:
    """Whether a path, or a pattern of paths, matches files that `kerberos` mounts."""
    path = re.sub(r"^(?:file|local):(?://[^/]*)?", "", text).partition("#")[0]
    parts = posixpath.normpath(path).strip("/").split("/")
    place = contract.KERBEROS_DIR.strip("/").split("/")
    return len(parts) >= len(place) and all(map(fnmatch.fnmatchcase, place, parts))


def _mounted(facts: DocumentFacts, secret: str) -> Iterator[Finding]:
    """Mounts of volumes that contain the login's Secret."""
    for container in facts.containers:
        theirs = {
            volume.get("name")
            for _, volume in facts.named_volumes(container.role)
            if secret in _secrets(volume)
        }
        for path, mount in container.items("volumeMounts"):
            if mount.get("name") in theirs:
                yield _spread((*path, "name"), container.role)


def _secrets(volume: Mapping[str, Any]) -> set[Any]:
    sources = (volume.get("projected") or {}).get("sources") or ()
    projected = {(source.get("secret") or {}).get("name") for source in sources}
    return {(volume.get("secret") or {}).get("secretName"), *projected}


def _key(item: Mapping[str, Any]) -> Any:
    return ((item.get("valueFrom") or {}).get("secretKeyRef") or {}).get("name")


def _spread(path: tuple[str | int, ...], role: str) -> Finding:
    message = (
        f"gives the {role} the credentials of `kerberos`, where user code and child processes can read them"
    )
    return Finding(path, message, next_step="delete it: `kerberos` mounts it in the driver only")


@rule("SG279", WARNING, PRODUCTION)
def login_by_hand(subject: Subject) -> Iterator[Finding]:
    """A keytab property, with which only Spark's token manager logs in, and no other part of the driver."""
    facts = subject.facts
    if kerberos.KEYTAB_PROPERTY in facts.conf and facts.get(kerberos.SECTION) is None:
        yield unset(
            facts.path("sparkConf", kerberos.KEYTAB_PROPERTY),
            "only Spark logs in with this: reading the main file from HDFS fails, and so does writing with "
            "Hadoop's output formats",
            "set `kerberos` with `principal` and `keytab` instead",
        )
