"""Names of objects and the identity of a run.

Requirements (the first three are Kubernetes' own):
1. A Job's pods get the label `job-name`, so a Job's name has at most 63 characters, a CronJob's at most
   52 (eleven for the Job's suffix), and a label's value at most 63.
2. Names are DNS-1123 labels; Services additionally start with a letter (RFC 1035).
3. A pod made by a Job is `<job>-<5>`; a Job made by a CronJob is `<cronjob>-<minutes since 1970>`.
4. A run is `<application>-<hash>`; its application id is `<run>-<attempt>` and is a label's value.

The longest of them is the application id: 63 - 1 - 8 (hash) - 1 - 5 (attempt) leaves 48; three are kept back.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

MAX_APPLICATION_NAME = 45
RUN_HASH_LENGTH = 8
ATTEMPT_LENGTH = 5
RUN_PLACEHOLDER = "0" * RUN_HASH_LENGTH
"""Stands where the hash will be, while the hash is computed."""


def canonical_json(value: Any) -> str:
    """The one text of a JSON value: sorted keys, no blanks, and the escapes that Go's encoder writes.

    Go's `encoding/json` (Helm's `toRawJson`) escapes U+2028 and U+2029 and writes a whole float
    without its fraction; Python's does neither. Both sort keys by code point.
    """
    text = json.dumps(_plain_numbers(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def digest(value: Any, length: int = 64) -> str:
    """The first `length` hexadecimal characters of the SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:length]


def run_name(application: str, run_hash: str) -> str:
    """The name of a run and of the objects that belong to it alone."""
    return f"{application}-{run_hash}"


def volume_name(source: str, suffix: str) -> str:
    """A volume's name (a DNS-1123 label) for a Secret or ConfigMap, whose names may be long and have dots."""
    return f"{source.replace('.', '-')[: 62 - len(suffix)]}-{suffix}"
