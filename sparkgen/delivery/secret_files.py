"""Finds files that contain a secret, by their name or by their text. Pure.

Everybody who may pull from the registry can read an artifact, and it stays there: a key in it has to be
replaced.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from sparkgen.semantics.well_known import WELL_KNOWN

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
    "*.keystore": "private keys",
    "*.tfstate": "the state of Terraform, with passwords",
    "*.tfstate.backup": "the state of Terraform, with passwords",
    ".databrickscfg": "Databricks credentials",
    ".s3cfg": "credentials for an object store",
    ".boto": "cloud credentials",
    ".my.cnf": "passwords of databases",
    ".mylogin.cnf": "passwords of databases",
    ".vault-token": "a token of Vault",
    ".terraformrc": "tokens of Terraform",
    "rclone.conf": "credentials for object stores",
}
_PLACES = {
    (".aws", "credentials"): "AWS credentials",
    (".kube", "config"): "credentials for a cluster",
    (".docker", "config.json"): "credentials for registries",
    ("gcloud", "application_default_credentials.json"): "Google Cloud credentials",
    ("gcloud", "credentials.db"): "Google Cloud credentials",
    ("gcloud", "access_tokens.db"): "Google Cloud credentials",
    (".azure", "accesstokens.json"): "Azure credentials",
    (".azure", "msal_token_cache.json"): "Azure credentials",
    (".azure", "service_principal_entries.json"): "Azure credentials",
    (".oci", "config"): "Oracle Cloud credentials",
    (".snowsql", "config"): "passwords of databases",
    (".terraform.d", "credentials.tfrc.json"): "tokens of Terraform",
    ("containers", "auth.json"): "credentials for registries",
    ("gh", "hosts.yml"): "a GitHub token",
    (".gem", "credentials"): "tokens of package registries",
    (".cargo", "credentials.toml"): "tokens of package registries",
}
"""The last two parts of a path -> what such a file contains."""
_ENV_SAMPLES = (".example", ".sample", ".template", ".dist")

_OF_FILES = (
    ((b"authorized_user",), rb"\"type\"\s{0,4}:\s{0,4}\"authorized_user\"", "Google Cloud credentials"),
    (
        (b"client-key-data",),
        rb"client-key-data\"?\s{0,4}:\s{0,4}\"?[A-Za-z0-9+/=]{40}",
        "credentials for a cluster",
    ),
    ((b"terraform_version",), rb"\"terraform_version\"\s{0,4}:", "the state of Terraform, with passwords"),
)
"""Texts of whole files, as the rows of WELL_KNOWN."""
_EVERYWHERE = tuple(
    (tuple(needle.encode() for needle in needles), pattern.encode(), what)
    for needles, pattern, what in WELL_KNOWN
)
_PATTERNS = tuple(
    (needles, re.compile(pattern), what) for needles, pattern, what in (*_EVERYWHERE, *_OF_FILES)
)
_KUBECONFIG = (b"clusters", b"contexts", b"users")
_KUBECONFIG_LOGIN = re.compile(rb"(?m)^\s{0,12}-?\s{0,4}\"?(?:token|password)\"?\s{0,4}:\s{0,4}\S")
OVERLAP = 256
"""Bytes of the chunk before that a scan must include: none of the texts that it looks for is longer."""


def by_name(path: str) -> str:
    """Returns what secret a file has, by its path (with `/`); "" if its name is that of no secret."""
    parts = path.lower().split("/")
    name = parts[-1]
    for pattern, what in _NAMES.items():
        if fnmatchcase(name, pattern):
            return what
    if name.startswith(".env.") and not name.endswith(_ENV_SAMPLES):
        return "environment variables with secrets"
    return _PLACES.get((parts[-2], name), "") if len(parts) > 1 else ""


def by_text(data: bytes) -> str:
    """Returns what secret a chunk of a file has; "" if none is found."""
    for needles, pattern, what in _PATTERNS:
        if (not needles or any(needle in data for needle in needles)) and pattern.search(data):
            return what
    if all(word in data for word in _KUBECONFIG) and _KUBECONFIG_LOGIN.search(data):
        return "credentials for a cluster"
    return ""
