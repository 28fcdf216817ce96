"""Which names and values look like secrets. No message may contain such a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain, pairwise, zip_longest

from sparkgen.errors import Path
from sparkgen.semantics.findings import Finding
from sparkgen.semantics.well_known import has_token, without_tokens
from sparkgen.semantics.wording import shortened

LONGEST_VALUE = 4096
"""The number of characters of a value that are compared with the patterns of values that are no secrets."""
LONGEST_NAME = 512
"""The number of characters at the end of a name that are split into words."""

_QUALIFIERS = frozenset(
    (
        *("prod", "production", "dev", "test", "stage", "staging", "old", "new", "value", "text", "plain"),
        *("default", "base64", "b", "v", "override"),
    )
)
"""Words at the end of a name that tell secrets apart, and do not describe the value; they are dropped."""
_PLACES = (
    *("file", "files", "path", "paths", "dir", "location", "url", "urls", "uri", "endpoint", "arn", "store"),
    *("host", "hosts", "port", "servers", "string", "source", "keytab", "prefix", "suffix", "header"),
)
_WAYS = (
    *("provider", "providers", "type", "types", "class", "classes", "impl", "plugin", "mechanism", "method"),
    *("algorithm", "kind", "mode", "policy", "strategy", "version", "format", "signature", "regex"),
    *("enabled", "enable", "disabled", "scope", "scopes", "audience", "issuer"),
)
_PEOPLE = ("name", "names", "user", "username", "principal", "role", "service", "renewer")
_AMOUNTS = (
    *(
        "interval",
        "timeout",
        "ttl",
        "period",
        "count",
        "limit",
        "size",
        "length",
        "wait",
        "ratio",
        "max",
        "min",
    ),
    *("lifetime", "expiry", "expiration", "exp", "duration", "seconds", "ms", "retries", "attempts"),
)
_ABOUT = frozenset((*_PLACES, *_WAYS, *_PEOPLE, *_AMOUNTS))
"""Words that make a name no secret, at its end or after a secret's word: not `credentials-provider`."""
_KINDS_OF_KEYS = frozenset(
    (
        *("access", "secret", "account", "api", "private", "shared", "signing", "encryption", "master"),
        *("storage", "subscription", "license", "app"),
    )
)
"""Words that make `key` after them a secret; `key` alone is none."""
_ENUMERATED = frozenset(("credential", "credentials", "auth", "authorization"))
_ENUMERATIONS = frozenset(
    (
        *("basic", "simple", "kerberos", "ccache", "keytab", "digest", "plain", "oauth", "oauth2", "ldap"),
        *("bearer", "custom", "anonymous", "sasl", "iam", "aad", "user_info"),
    )
)
"""Values of the names in `_ENUMERATED` that choose a way to log in, and so are no secrets."""


@cache
def _word() -> re.Pattern[str]:
    """Matches a word of a name: of camelCase, or between dots, dashes and underscores."""
    return re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@cache
def _secret_word() -> re.Pattern[str]:
    """Matches words that mean a secret anywhere, also with letters before them: PGPASSWORD, sfpassword."""
    return re.compile(
        r"[a-z]*(?:passwords?|passwd|passphrase|secret|token)|credentials?|secret(?:access)?key"
        r"|(?:access|account|api|private|shared|master|signing)key"
    )


@cache
def _last_words() -> re.Pattern[str]:
    """Matches words that mean a secret only at the end of a name: `redis-auth`, but not `auth-type`."""
    return re.compile(
        r"(?:^| )(?:(?:db|user|my|key|store)?pass|pwd|auth|authorization|sas|auth params|user info"
        r"|kerberos ticket)$"
    )


@cache
def _azure_host() -> re.Pattern[str]:
    """Matches the host of an account at the end of Azure's properties."""
    return re.compile(r"\.[\w-]+\.(?:dfs|blob|file|queue|table)\.[\w.-]+$")


@cache
def _secret_value() -> re.Pattern[str]:
    """Matches secrets whatever their name: cloud keys, tokens, private keys, passwords in URLs."""
    return re.compile(
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
        r"|\b(?:ghp|gho|ghs|github_pat|glpat|xox[abp])[_-][A-Za-z0-9_-]{16,}"  # of any length
        r"|(?:\b(?<!-)eyJ[A-Za-z0-9_-]{10,}+|\beyJ[A-Za-z0-9_-]{10,400}+)\.eyJ[A-Za-z0-9_-]{10,}"
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
        r"|://[^\s/:@${]*:[^\s/:@${]{3,}@"
        r"|jdbc:oracle:[a-z]+:[^\s/:@${]+/[^\s/:@${]{3,}@"
        r"|(?:password|passwd|pwd|secret|[?&](?:sig|token|access_token|api_?key))=(?![${<])[^\s;&]{3,}"
        r"|(?:Account|SharedAccess)Key=(?![${<])[A-Za-z0-9+/=]{16,}",
        re.IGNORECASE,
    )


@cache
def _reference() -> re.Pattern[str]:
    """Matches values that are no secrets: references, files, class names, switches, numbers, durations."""
    return re.compile(
        r"\s*|.*(?:\$\{|\$\(|\{\{).*|<.*>"
        r"|(?:/|\./|file:|local:|jceks:|localjceks:|hdfs:|s3a?:|gs:|abfss?:|vault:|arn:|projects/).*"
        r"|(?:[a-z_][a-z0-9_]*+\.){2}[A-Za-z_][A-Za-z0-9_.$,]*+"
        r"|true|false|none|null|default|[0-9]{1,5}|[0-9]+(?:us|ms|s|m|min|h|d|k|kb|mb|g|gb)",
        re.IGNORECASE | re.DOTALL,
    )


def is_secret(name: str, text: str) -> bool:
    """Whether a property or variable of this name and value holds a secret in plain text."""
    if has_secret(text):
        return True
    if name.startswith("spark.kubernetes.") and "ecret" in name:
        return False  # names a Secret: secretKeyRef, secrets, pullSecrets
    words = _words(name)
    if not _names_a_secret(name, words) or (words[-1] in _ENUMERATED and text.lower() in _ENUMERATIONS):
        return False
    return not _reference().fullmatch(text[:LONGEST_VALUE])


def _words(name: str) -> list[str]:
    """Returns the words of a name in lower case, without `_QUALIFIERS` and numbers at the end."""
    words = _word().findall(_azure_host().sub("", name[-LONGEST_NAME:]))
    words = [word.lower() for word in words]
    while words and (words[-1] in _QUALIFIERS or words[-1].isdigit()):
        words.pop()
    return words


def _names_a_secret(name: str, words: list[str]) -> bool:
    """Whether a name is that of a secret, and not of a secret's place or use."""
    if not words or words[-1] in _ABOUT:
        return False
    return (
        any(
            _secret_word().fullmatch(word) and following not in _ABOUT
            for word, following in zip_longest(words, words[1:])
        )
        or any(first in _KINDS_OF_KEYS and second == "key" for first, second in pairwise(words))
        or _last_words().search(" ".join(words[-2:])) is not None
        or ".azure.sas." in name
    )


def has_secret(text: str) -> bool:
    """Whether a text holds a secret whatever it is called."""
    return bool(_secret_value().search(text)) or has_token(text)


def redacted(text: str) -> str:
    """Returns a text for a message, with three stars for each secret in it."""
    return without_tokens(_secret_value().sub("***", text))


def safe(name: str, text: str) -> str:
    """Returns a value for a message: cut to at most 100 characters, or "" if it may be a secret."""
    return "" if is_secret(name, text) else shortened(text)


def in_git(path: Path, next_step: str, is_one: str = "be") -> Finding:
    """Returns the finding about a secret that would end in a ConfigMap; `is_one`: "contain" for a text."""
    message = f"seems to {is_one} a secret in plain text, which would end up in Git and in a ConfigMap"
    return Finding(path, message, next_step=next_step)


_NAME = re.compile(r"[A-Za-z0-9._-]+")


_SEPARATOR = re.compile(r"[=:]|\s+[=:]?\s*")


def holds_secret(text: str) -> bool:
    """Whether a file's text has a secret in it, by the secret's form or by its name there."""
    if has_secret(text):
        return True
    pairs = chain(_elements(text), _lines(text))
    return any(is_secret(name, value) for name, value in pairs)


def _elements(text: str) -> Iterator[tuple[str, str]]:
    """Yields names and values of Hadoop's XML. Each part is searched once, because a text may be hostile."""
    for part in text.split("<name>")[1:]:
        name, _, rest = part.partition("</name>")
        value, end, _ = rest.partition("<value>")[2].partition("</value>")
        if end:
            yield name.strip(), value.strip()


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yields names and values of Java's properties, and of a shell's variables."""
    for line in text.splitlines():
        name, _, value = _SEPARATOR.sub("=", line.strip().removeprefix("export "), count=1).partition("=")
        if value and _NAME.fullmatch(name):
            yield name, value.strip()
