"""An archive of logs, to which every pod of an application copies what its containers print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.grammar.duration import to_milliseconds
from sparkgen.grammar.memory import to_mib
from sparkgen.model.application import LogArchive

INTERVAL = "60s"
MAX_SIZE = "256m"
STORE = "archive"
"""The name that rclone has for the object store."""
SCHEME = "s3://"
FIELDS_OF_STORES = ("endpoint", "region", "secretName")
"""Fields that mean nothing if the archive is a claim."""


def seconds(text: str) -> int:
    """A duration in whole seconds; a number without a unit is in seconds."""
    return to_milliseconds(text, default_unit="s") // 1000


def log_archive(section: Mapping[str, Any] | None) -> LogArchive | None:
    """The archive that a valid document's section `logging` names; None if it names none."""
    given = (section or {}).get("archive")
    if given is None:
        return None
    age = given.get("maxAge")
    return LogArchive(
        root=contract.LOG_ARCHIVE_DIR
        if "claim" in given
        else f"{STORE}:{given['url'].removeprefix(SCHEME).rstrip('/')}",
        claim=given.get("claim"),
        endpoint=given.get("endpoint"),
        region=given.get("region"),
        secret_name=given.get("secretName"),
        image=given["image"],
        interval_seconds=seconds(given.get("interval", INTERVAL)),
        kib=to_mib(given.get("maxSize", MAX_SIZE)) * 1024,
        max_age_seconds=None if age is None else seconds(age),
        resources=given.get("resources") or {},
    )
