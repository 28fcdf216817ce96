"""Converts the path of a keytab, as Spark has it, to a key of a Secret, as `kerberos` has it."""

from __future__ import annotations

import shlex
from typing import Any

from sparkgen.importing.draft import Draft, Property
from sparkgen.importing.entry import Outcome

TARGET = ("spec", "kerberos", "keytab")
STEP = "create the Secret: kubectl create secret generic {name} {file}"


def keytab(draft: Draft, item: Property) -> None:
    """Name the Secret that the driver mounts at the keytab's folder; else one that the user must create."""
    path = item.text.strip().removeprefix("local://").removeprefix("file://")
    folder, _, key = path.rpartition("/")
    mounted = _mounted(draft, folder)
    if mounted is not None:
        draft.put(TARGET, {"name": mounted["name"], "key": key})
        reason = "the driver mounts the Secret itself: you can delete it from `driver.secrets`"
        draft.tell(Outcome.CHANGED, item.source, item.position, TARGET, reason)
        return
    name = f"{draft.get('metadata', 'name') or 'spark'}-keytab"
    draft.put(TARGET, {"name": name, "key": key})
    draft.tell(
        Outcome.CHANGED,
        item.source,
        item.position,
        TARGET,
        f"was {path} on the submitting machine or in the image; now it is a key of a Secret",
        STEP.format(name=shlex.quote(name), file=shlex.quote(f"--from-file={key}={path}")),
    )


def _mounted(draft: Draft, folder: str) -> dict[str, Any] | None:
    """Returns the item of `driver.secrets` that is mounted at a folder; None if there is none."""
    secrets = draft.get("spec", "driver", "secrets")
    for one in secrets if isinstance(secrets, list) else ():
        if isinstance(one, dict) and "name" in one and str(one.get("path", "")).rstrip("/") == folder:
            return one
    return None
