"""Which names and values look like secrets. Such a value never stands in a message."""

from __future__ import annotations

import re
from functools import cache

from sparkgen.semantics.wording import shortened

LONGEST_VALUE = 4096
"""So many characters of a value are compared with what no secret looks like: with class names in a row that
takes the square of their length."""


@cache
def _secret_name() -> re.Pattern[str]:
    return re.compile(
        r"passw(?:or)?d|passphrase|secret|token|credential|(?:access|api|account|private|shared|signing)[._-]?key",
        re.IGNORECASE,
    )


@cache
def _harmless_end() -> re.Pattern[str]:
    """What such names end in when their value only says where or how: a file, a provider, a switch."""
    return re.compile(
        r"(?:file|path|dir|location|provider|providers|type|class|classes|impl|enabled|disabled|name|names|regex"
        r"|mechanism|interval|timeout|ttl|period|count|limit|size|length|url|uri|endpoint|arn|role|version|format"
        r"|signature|service|wait|ratio|principal|keytab|policy|mode|store|scope|scopes|audience|issuer|max|min)$",
        re.IGNORECASE,
    )


@cache
def _secret_value() -> re.Pattern[str]:
    """Values that are secrets whatever their name: cloud keys, tokens, private keys, passwords in URLs."""
    return re.compile(
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
        r"|\b(?:ghp|gho|ghs|github_pat|glpat|xox[abp])[_-][A-Za-z0-9_-]{16,}"
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
        r"|://[^\s/:@${]+:[^\s/:@${]{3,}@"
        r"|(?:password|passwd|pwd|secret|[?&]sig)=(?![${<])[^\s;&]{3,}"
        r"|AccountKey=(?![${<])[A-Za-z0-9+/=]{16,}",
        re.IGNORECASE,
    )


@cache
def _reference() -> re.Pattern[str]:
    """Values that are no secret: references, files, class names, switches, numbers, durations."""
    return re.compile(
        r"\s*|.*(?:\$\{|\$\(|\{\{).*|<.*>"
        r"|(?:/|\./|file:|local:|jceks:|localjceks:|hdfs:|s3a?:|gs:|abfss?:|vault:|arn:|projects/).*"
        r"|(?:[a-z_][a-z0-9_]*\.){2,}[A-Za-z_][A-Za-z0-9_.$,]*"
        r"|true|false|none|null|default|[0-9]{1,5}|[0-9]+(?:us|ms|s|m|min|h|d|k|kb|mb|g|gb)",
        re.IGNORECASE | re.DOTALL,
    )


def is_secret(name: str, text: str) -> bool:
    """Whether a property or variable of this name and value holds a secret in plain text."""
    if has_secret(text):
        return True
    if name.startswith("spark.kubernetes.") and "ecret" in name:
        return False  # names a Secret: secretKeyRef, secrets, pullSecrets
    if not _secret_name().search(name) or _harmless_end().search(name):
        return False
    return not _reference().fullmatch(text[:LONGEST_VALUE])


def has_secret(text: str) -> bool:
    """Whether a text holds a secret whatever it is called."""
    return bool(_secret_value().search(text))


def redacted(text: str) -> str:
    """A text for a message, with three stars for every secret in it."""
    return _secret_value().sub("***", text)


def safe(name: str, text: str) -> str:
    """A value for a message: cut to size, or "" where it may be a secret."""
    return "" if is_secret(name, text) else shortened(text)
