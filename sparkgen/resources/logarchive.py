"""Additions to an application's pods if what they print is archived: values for the layer (layers.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application, LogArchive, Role
from sparkgen.resources.merge import merge
from sparkgen.resources.text import static_text

RESOURCES: Mapping[str, Any] = {
    "requests": {"cpu": "10m", "memory": "64Mi"},
    "limits": {"cpu": "1", "memory": "128Mi"},
}
SCRIPTS = (contract.LOGGED_SCRIPT_FILE, contract.LOG_ARCHIVE_SCRIPT_FILE)


def log_archive_values(application: Application, role: Role) -> dict[str, Any]:
    """The values for the container that archives logs, and for the containers whose logs it archives."""
    archive = application.log_archive
    return {
        "logged": list(contract.LOGGED_ARGUMENTS) if archive is not None else [],
        "archive": None if archive is None else _values(archive, role),
    }


def log_scripts(application: Application) -> dict[str, str]:
    """The scripts for the run's configuration."""
    return {} if application.log_archive is None else {name: static_text(name) for name in SCRIPTS}


def _values(archive: LogArchive, role: Role) -> dict[str, Any]:
    age = archive.max_age_seconds
    return {
        "root": archive.root,
        "image": archive.image,
        "claim": archive.claim,
        "store": archive.claim is None,
        "provider": "Other" if archive.endpoint else "AWS",
        "endpoint": archive.endpoint,
        "region": archive.region,
        "secret": archive.secret_name,
        "seconds": str(archive.interval_seconds),
        "kib": str(archive.kib),
        # One pod of a run is enough to delete what is old.
        "maxAge": None if age is None or role.name != "driver" else f"{age}s",
        "resources": merge(RESOURCES, archive.resources),
    }
