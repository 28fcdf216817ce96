"""Secrets in plain text. Only warnings, because names can mislead. Their values are never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkgen.model.connect import CONNECT_KIND, TOKEN_PROPERTY
from sparkgen.semantics.facts import ROLES, DocumentFacts
from sparkgen.semantics.findings import WARNING, Finding, rule
from sparkgen.semantics.secret import has_secret, holds_secret, in_git, is_secret

_OPTION = re.compile(r"--?([A-Za-z][A-Za-z0-9._-]*)(?:=(.*))?", re.DOTALL)


@rule("SG117", WARNING)
def secrets_in_conf(facts: DocumentFacts) -> Iterator[Finding]:
    """Secrets in properties, Java options, files, arguments and URLs: they end in ConfigMaps and pods."""
    for section in ("sparkConf", "hadoopConf"):
        for name, text in (facts.get(section) or {}).items():
            if is_secret(name, text):
                yield in_git(facts.path(section, name), _conf_step(facts, name))
    for role in ROLES:
        options = facts.role(role).get("javaOptions") or ""
        if has_secret(options):
            step = "mount the secret as a file with `secrets`, and pass the file's path in the option"
            yield in_git(facts.path(role, "javaOptions"), step, "contain")
    yield from _files(facts)
    yield from _arguments(facts)
    yield from _locations(facts)


def _files(facts: DocumentFacts) -> Iterator[Finding]:
    """Secrets in the texts of files: by their names in Hadoop's XML or in properties, or by their form."""
    for name, text in facts.conf_texts():
        if holds_secret(text):
            step = "put the file into a Secret, and refer to it with `secretKeyRef: {name: ..., key: ...}`"
            yield in_git(facts.path("sparkConfFiles", name), step, "contain")


def _locations(facts: DocumentFacts) -> Iterator[Finding]:
    """URLs of files with a password or a signature in them."""
    places = [(facts.path("mainApplicationFile"), facts.get("mainApplicationFile"))]
    for field, texts in (facts.get("deps") or {}).items():
        places += [(facts.path("deps", field, index), text) for index, text in enumerate(texts)]
    for path, text in places:
        if text and has_secret(text):
            step = "remove it from the URL, and give the driver its own credentials"
            yield in_git(path, step, "contain")


def _conf_step(facts: DocumentFacts, name: str) -> str:
    if name == TOKEN_PROPERTY and facts.value["kind"] == CONNECT_KIND:
        return "delete it, put it into a Secret, and refer to that: `connect: {token: {name: ..., key: ...}}`"
    if "fs.s3a." in name or name.startswith("fs.s3"):
        return (
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in `env` of both roles, with "
            "`valueFrom.secretKeyRef`: s3a reads them"
        )
    return (
        "keep it in a Secret: set a variable with `valueFrom.secretKeyRef` in `env`, and write "
        '"${env:THE_VARIABLE}" here if the property is one of Spark\'s own'
    )


def _arguments(facts: DocumentFacts) -> Iterator[Finding]:
    arguments = facts.get("arguments") or []
    previous = ""
    for index, text in enumerate(arguments):
        option = _OPTION.fullmatch(text)
        name, value = (option[1], option[2] or "") if option else (previous, text)
        if has_secret(text) or is_secret(name, value):
            yield Finding(
                facts.path("arguments", index),
                "seems to be a secret in plain text, visible to everyone who can see the pod",
                next_step=(
                    "put it into a Secret, and read it in your code from an environment variable or a "
                    "mounted file"
                ),
            )
        previous = option[1] if option and option[2] is None else ""


@rule("SG118", WARNING)
def secrets_in_env(facts: DocumentFacts) -> Iterator[Finding]:
    """Secrets as the plain value of an environment variable."""
    for container in facts.containers:
        for path, item in container.items("env"):
            name, text = str(item.get("name", "")), item.get("value")
            if isinstance(text, str) and is_secret(name, text):
                yield Finding(
                    (*path, "value"),
                    f"`{name}` seems to be a secret in plain text, which would end up in Git and in "
                    "the pod's manifest",
                    next_step="replace `value` with `valueFrom: {secretKeyRef: {name: ..., key: ...}}`",
                )
