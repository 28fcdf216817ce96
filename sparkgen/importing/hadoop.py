"""Moves Hadoop properties if the application sets a folder of Hadoop's configuration itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sparkgen import contract
from sparkgen.importing.draft import Draft, Source
from sparkgen.importing.entry import Outcome
from sparkgen.properties import HADOOP

_TARGET = ("spec", "hadoopConf")
_REASON = "a document has either HADOOP_CONF_DIR or `hadoopConf`; Spark reads these properties as well"


def beside_own_folder(draft: Draft) -> None:
    """Move `hadoopConf` to properties `spark.hadoop.*` if a role sets HADOOP_CONF_DIR."""
    section = draft.get(*_TARGET)
    if not isinstance(section, dict) or draft.get("spec", "hadoopConfigMap") or not _names_folder(draft):
        return
    place = draft.place(_TARGET)
    whole = draft.copied.pop(place, None)
    for key, value in section.items():
        target = ("spec", "sparkConf", f"{HADOOP}{key}")
        draft.put(target, value)
        node = whole.node.entries.get(key) if whole else None
        if whole and node:
            draft.copied[draft.place(target)] = Source((*whole.path, key), node)
    del draft.get("spec")["hadoopConf"]
    new = draft.place(("spec", "sparkConf"))
    draft.entries[:] = [
        replace(entry, outcome=Outcome.REWRITTEN, target=new, reason=_REASON)
        if entry.target[: len(place)] == place
        else entry
        for entry in draft.entries
    ]
    draft.comment(("spec", "sparkConf"), _REASON)


def _names_folder(draft: Draft) -> bool:
    return any(
        isinstance(item, dict) and item.get("name") == contract.ENV_HADOOP_CONF_DIR
        for role in ("driver", "executor")
        for item in (*_items(draft.get("spec", role, "env")), *_of_template(draft, role))
    )


def _of_template(draft: Draft, role: str) -> list[Any]:
    containers = _items(draft.get("spec", role, "template", "spec", "containers"))
    named = [item for item in containers if isinstance(item, dict)]
    return [variable for container in named for variable in _items(container.get("env"))]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
