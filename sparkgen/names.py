"""Names of objects and the identity of a run.

Requirements (the first three are Kubernetes' own):
1. A Job's pods get the label `job-name`, so a Job's name has at most 63 characters, a CronJob's at most
   52 (eleven for the Job's suffix), and a label's value at most 63.
2. Names are DNS-1123 labels; Services additionally start with a letter (RFC 1035).
3. A pod made by a Job is `<job>-<5>`; a Job made by a CronJob is `<cronjob>-<minutes since 1970>`.
4. A run is `<application>-<hash>`; its application id is `<run>-<attempt>` and is a label's value.

The longest of them is the application id: 63 - 1 - 8 (hash) - 1 - 5 (attempt) leaves 48; three are kept back.
A session is a run whose name says so; a long application's name is cut in it, and its label has all of it.
"""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring
from typing import Any

from sparkgen import contract

MAX_LABEL = 63
"""Characters of a DNS-1123 label, and of a label's value."""
MAX_APPLICATION_NAME = 45
HISTORY_SUFFIX = f"-{contract.HISTORY}"
"""End of the name of the account and the Role that remove ended runs."""
RESERVED_SUFFIXES = (HISTORY_SUFFIX, "-shuffle-janitor", "-staging-gc", "-uninstall")
"""Ends of the names of the Roles that an application, or its release in Helm, has besides its own: no other
one is called so."""
DEFAULT_ACCOUNT = "default"
"""The account that Kubernetes creates in each namespace, for pods that name no account."""
RUN_HASH_LENGTH = 8
SESSION_ID_LENGTH = 5
RUN_PLACEHOLDER = "0" * RUN_HASH_LENGTH
"""Stands where the hash will be, while the hash is computed."""


def canonical_json(value: Any) -> str:
    """The one text of a JSON value: sorted keys, no blanks, byte for byte what Helm's `toRawJson` writes.

    So the chart hashes the same text. `ValueError` for what JSON cannot say (an infinity, a key that is
    no text). docs/design/helm-parity.md.
    """
    if isinstance(value, dict):
        members = [f"{json_string(key)}:{canonical_json(value[key])}" for key in sorted(value)]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    return json_scalar(value)


def json_scalar(value: Any) -> str:
    """A JSON text, number, boolean or null, as Go's `encoding/json` writes it."""
    if isinstance(value, str):
        return json_string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value)


def json_string(text: str) -> str:
    """A text in quotes. Go escapes U+2028 and U+2029 too; everything else is as Python writes it."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not a string")
    quoted = encode_basestring(text)  # json.dumps(text, ensure_ascii=False), at an eighth of the time
    return quoted.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def number_text(value: float) -> str:
    """A number as Go's JSON encoder writes it: 1.0 is `1`, and the exponent starts at 1e21 and below 1e-6.

    Exact for an integer of any size. Helm keeps every number as a float, so the two agree only where a
    float has room; documents with other numbers are refused when they are read (document/scalars.py).
    """
    text = repr(value).removesuffix(".0")
    if not text[-1].isdigit():
        raise ValueError(f"{text} cannot be written as a JSON number")
    if "e" not in text:
        return text
    if 1e-6 <= abs(value) < 1e21:
        from decimal import Decimal  # noqa: PLC0415 - hardly ever needed, and slow to import

        return format(Decimal(text), "f")
    return text.replace("e-0", "e-")


def digest(value: Any, length: int = 64) -> str:
    """The first `length` hexadecimal characters of the SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:length]


def run_name(application: str, run_hash: str) -> str:
    """The name of a run and of the objects that belong to it alone."""
    return f"{application}-{run_hash}"


def session_name(application: str, id_: str) -> str:
    """The name of a session in client mode, as long as that of a run at most.

    `id_`: SESSION_ID_LENGTH hexadecimal characters.
    """
    end = f"-{contract.SESSION}-{id_}"
    return application[: MAX_APPLICATION_NAME + 1 + RUN_HASH_LENGTH - len(end)].rstrip("-") + end


def volume_name(source: str, kind: str) -> str:
    """The volume's name (a DNS-1123 label) for a Secret or ConfigMap; `kind` is `secret` or `config`.

    The prefix keeps it apart from the document's volumes. Names of objects may be long and have dots; what
    is lost by shortening them stands in a digest, so that two objects never share a volume.
    """
    name = f"{contract.VOLUME_PREFIX}{kind}-{source}"
    if "." not in source and len(name) <= MAX_LABEL:
        return name
    return f"{name.replace('.', '-')[:54]}-{digest(source, 8)}"
