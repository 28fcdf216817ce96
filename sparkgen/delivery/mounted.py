"""The files of an artifact as the ConfigMap that a pod mounts, for a document without a registry.

A text file is a key of `data`, so that a reviewer can read it; any other file is a key of `binaryData`. Keys
allow few characters, so the volume's `items` give each file the path that it has in a pushed artifact.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sparkgen import contract
from sparkgen.delivery.limits import bytes_text
from sparkgen.delivery.pack import content
from sparkgen.delivery.tar import EXECUTABLE_MODE
from sparkgen.delivery.values import Contents, LocalFile, Wrong
from sparkgen.model.delivery import REQUIREMENTS_FIELD
from sparkgen.semantics.local_entries import Entry

MAX_BYTES = 900 << 10
"""Bytes of all files of one artifact: Kubernetes allows 1 MiB for the values of a ConfigMap."""
MAX_FILES = 250
"""Files of one artifact: the volume in each pod lists them all."""
LONGEST_KEY = 200
"""Characters of a key, before a number that makes it unique; Kubernetes allows 253."""

RESERVED = frozenset(
    {
        contract.SPARK_DEFAULTS_FILE,
        contract.LOG4J2_FILE,
        contract.METRICS_FILE,
        contract.EXECUTOR_SCRIPT_FILE,
        contract.SHUFFLE_SCRIPT_FILE,
        contract.NOTEBOOK_SCRIPT_FILE,
        contract.LOGGED_SCRIPT_FILE,
        contract.LOG_ARCHIVE_SCRIPT_FILE,
        contract.EXECUTOR_TEMPLATE_FILE,
        contract.TUNING_FILE,
        contract.HADOOP_FILE,
    }
)
"""Keys of a run's other ConfigMaps, by which sparkgen finds their contents: no file of a document has one."""

_NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9._-]")
_BINARY = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that make a file binary: a reviewer cannot see them, and YAML readers may change them."""

_WAYS_OUT = (
    "add `delivery.repository: REGISTRY/NAME`, and run `sparkgen push`; or put the files into the image, and "
    "name them with `local://` and their absolute paths"
)
"""The next step for files that no ConfigMap can hold."""


def keys(paths: Sequence[str]) -> list[str]:
    """Returns a different key for each of these paths, in their order: paths with `_` for odd characters."""
    used = set(RESERVED)
    found = []
    for path in paths:
        base = _NOT_IN_KEYS.sub("_", path)[-LONGEST_KEY:].lstrip(".") or "_"
        key, number = base, 1
        while key in used:
            number += 1
            key = f"{base}.{number}"
        used.add(key)
        found.append(key)
    return found


def contents(files: Sequence[LocalFile]) -> dict[str, Any]:
    """Returns `items`, `data` and `binaryData` for these files. Reads them; SparkgenError if one changes."""
    items: list[dict[str, Any]] = []
    texts: dict[str, str] = {}
    others: dict[str, str] = {}
    for file, key in zip(files, keys([file.inside for file in files]), strict=True):
        mode = {"mode": EXECUTABLE_MODE} if file.executable else {}
        items.append({"key": key, "path": file.inside, **mode})
        data = content(file)
        text = _text(data)
        if text is None:
            others[key] = base64.b64encode(data).decode()
        else:
            texts[key] = text
    parts: Mapping[str, Any] = {"items": items, "data": texts, "binaryData": others}
    return {name: part for name, part in parts.items() if part}


def _text(data: bytes) -> str | None:
    """Returns the text of a file; None if it is binary."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if _BINARY.search(text) else text


def unfit(found: Sequence[Contents], entries: Sequence[Entry]) -> Iterator[Wrong]:
    """Yields why artifacts cannot be ConfigMaps, each as a problem of its first entry."""
    for one in found:
        first = next(entry for entry in entries if entry.artifact == one.name)
        if one.requirements is not None:
            wanted = next(entry for entry in entries if entry.field == REQUIREMENTS_FIELD)
            yield Wrong(wanted, "needs a registry: no ConfigMap has room for packages", _WAYS_OUT, "SG309")
        elif reason := _reason(one):
            yield Wrong(first, reason, _WAYS_OUT, "SG309")


def _reason(one: Contents) -> str:
    """Returns why the files of an artifact do not fit; "" if they do."""
    size = sum(file.size for file in one.files)
    if size > MAX_BYTES:
        largest = max(one.files, key=lambda file: file.size)
        return (
            f"the files of the artifact {one.name} have {bytes_text(size)}, more than the "
            f"{bytes_text(MAX_BYTES)} that fit into a ConfigMap; the largest is {largest.inside} with "
            f"{bytes_text(largest.size)}"
        )
    if len(one.files) > MAX_FILES:
        return f"the artifact {one.name} has {len(one.files)} files, more than the {MAX_FILES} of a ConfigMap"
    odd = next((file.inside for file in one.files if file.inside.startswith("..")), "")
    return f"{odd} begins with .., which no ConfigMap can mount" if odd else ""
