"""A document whose local files are used where they are: for a run on this machine. Pure, except for paths."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkgen.delivery.look import PARENT
from sparkgen.delivery.values import Looked
from sparkgen.document.locks import spec_path
from sparkgen.model.delivery import CODE, DELIVERED_LISTS, MAIN_FILE_FIELD, REQUIREMENTS_FIELD, is_local
from sparkgen.semantics.local_entries import spec_of

_ONLY_FOR_PODS = ("artifacts", "delivery")
_ONLY_FOR_PACKAGES = (REQUIREMENTS_FIELD, "pythonVersion", "pythonPlatform")


@dataclass(frozen=True, slots=True)
class InPlace:
    """`value`: the document with absolute paths; `python_path`: folders for PYTHONPATH, in order."""

    value: dict[str, Any]
    python_path: tuple[str, ...]


def in_place(value: Mapping[str, Any], looked: Looked, folder: Path) -> InPlace:
    """Returns a document in `folder` with the absolute paths of its local files in place of its entries.

    It has no artifacts and no packages: the caller puts the packages on the PYTHONPATH.
    """
    paths = {(one.name, entry): found for one in looked.contents for entry, found in one.entries.items()}
    spec = {key: section for key, section in spec_of(value).items() if key not in _ONLY_FOR_PODS}
    python_path: list[str] = []
    if is_local(main := spec.get(MAIN_FILE_FIELD)):
        spec[MAIN_FILE_FIELD] = here(folder, paths[CODE, str(main)][0])
    if "deps" in spec:
        deps = {key: section for key, section in spec["deps"].items() if key not in _ONLY_FOR_PACKAGES}
        for field, (artifact, _) in DELIVERED_LISTS.items():
            if field not in deps:
                continue
            items: list[str] = []
            for entry in deps[field]:
                if not is_local(entry):
                    items.append(entry)
                    continue
                _, mark, name = entry.partition("#")
                for path in paths[artifact, entry]:
                    if path.endswith("/"):
                        python_path.append(here(folder, path))
                    else:
                        items.append(f"{here(folder, path)}{mark}{name}")
            deps[field] = items
        spec["deps"] = deps
    inside = {**value["spec"], "template": spec} if spec_path(value)[1:] else spec
    return InPlace({**value, "spec": inside}, tuple(python_path))


def here(folder: Path, inside: str) -> str:
    """Returns the path on this machine of a path inside an artifact."""
    parts = [".." if part == PARENT else part for part in inside.rstrip("/").split("/")]
    return os.path.normpath(Path(folder.absolute(), *parts))
