"""A history server as values: Spark's own, which shows the event logs of applications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.model.application import LogClaim
from sparkgen.model.eventlog import log_claim
from sparkgen.model.properties import property_text
from sparkgen.model.server import Server, server_fields
from sparkgen.properties import HADOOP

HISTORY_KIND = "SparkHistoryServer"
"""The kind of documents that describe a history server."""

HISTORY_HEAP = "1g"
CLEANER_PROPERTIES: Mapping[str, str] = {
    "maxAge": "spark.history.fs.cleaner.maxAge",
    "maxNum": "spark.history.fs.cleaner.maxNum",
    "interval": "spark.history.fs.cleaner.interval",
}
"""Field of `cleaner` -> the Spark property for it. Spark's defaults apply to fields that are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryServer(Server):
    """A document of the kind SparkHistoryServer, ready to render."""

    COMPONENT = contract.HISTORY_SERVER_CONTAINER
    LABEL = contract.LABEL_HISTORY_SERVER

    directory: str
    claim: LogClaim | None
    cleans: bool
    ui: Mapping[str, Any]


def build_history_server(value: Mapping[str, Any], namespace: str | None = None) -> HistoryServer:
    """The server that a document describes; `build` does the same for applications."""
    spec = value["spec"]
    fields = server_fields(value, namespace, HISTORY_HEAP)
    cleaner = spec.get("cleaner")
    cleans = cleaner is not None and bool(cleaner.get("enabled", True))
    properties = {
        **fields["properties"],
        **{f"{HADOOP}{name}": text for name, text in (spec.get("hadoopConf") or {}).items()},
        **(_cleaner(cleaner) if cleaner is not None else {}),
    }
    return HistoryServer(
        **{**fields, "properties": properties},
        directory=spec["eventLog"]["dir"],
        claim=log_claim(spec["eventLog"]),
        cleans=cleans,
        ui=spec.get("sparkUIOptions") or {},
    )


def _cleaner(section: Mapping[str, Any]) -> dict[str, str]:
    given = {
        name: property_text(section[field]) for field, name in CLEANER_PROPERTIES.items() if field in section
    }
    return {**given, "spark.history.fs.cleaner.enabled": property_text(section.get("enabled", True))}
