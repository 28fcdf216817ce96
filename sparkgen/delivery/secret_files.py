"""Files that hold a secret by their name or by their text. Pure.

An artifact is read by everybody who may pull from the registry, and stays there: a key in it is a key that
has to be replaced.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

_NAMES = {
    "id_rsa": "an SSH private key",
    "id_dsa": "an SSH private key",
    "id_ecdsa": "an SSH private key",
    "id_ed25519": "an SSH private key",
    ".env": "environment variables with secrets",
    "*.keytab": "a Kerberos keytab",
    "kubeconfig": "credentials for a cluster",
    "*.kubeconfig": "credentials for a cluster",
    ".netrc": "passwords of servers",
    "_netrc": "passwords of servers",
    ".pgpass": "passwords of databases",
    ".pypirc": "passwords of package indexes",
    ".npmrc": "tokens of package registries",
    ".git-credentials": "passwords of Git servers",
    ".dockercfg": "credentials for registries",
    ".dockerconfigjson": "credentials for registries",
    ".htpasswd": "hashes of passwords",
    "*.p12": "a private key with its certificate",
    "*.pfx": "a private key with its certificate",
    "*.kdbx": "a database of passwords",
    "*.ppk": "a PuTTY private key",
}
_PLACES = {
    (".aws", "credentials"): "AWS credentials",
    (".kube", "config"): "credentials for a cluster",
    (".docker", "config.json"): "credentials for registries",
    ("gcloud", "application_default_credentials.json"): "Google Cloud credentials",
}
"""The last two parts of a path."""
_ENV_SAMPLES = (".example", ".sample", ".template", ".dist")

_TEXTS = (
    (
        re.compile(rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
        "the header of a private key",
    ),
    (
        re.compile(
            rb"(?i)aws_secret_access_key[\"']?\s{0,4}[=:]\s{0,4}[\"']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])"
        ),
        "an AWS secret key",
    ),
)
OVERLAP = 128
"""Bytes of the chunk before that a scan has to see, too: no text that is looked for is longer."""


def by_name(path: str) -> str:
    """What a file holds, by its path (with `/`); "" for all that may be delivered."""
    parts = path.lower().split("/")
    name = parts[-1]
    for pattern, what in _NAMES.items():
        if fnmatchcase(name, pattern):
            return what
    if name.startswith(".env.") and not name.endswith(_ENV_SAMPLES):
        return "environment variables with secrets"
    return _PLACES.get((parts[-2], name), "") if len(parts) > 1 else ""


def by_text(data: bytes) -> str:
    """What a chunk of a file holds; "" for nothing of the kind."""
    return next((what for pattern, what in _TEXTS if pattern.search(data)), "")
