"""The values that say where sparkgen's containers get their program from: image, command and volume."""

from __future__ import annotations

from typing import Any

from sparkgen import contract
from sparkgen.model.runtime import Runtime


def runtime_values(runtime: Runtime) -> dict[str, Any]:
    """The values for RUNTIME, RUNTIME_MOUNT and RUNTIME_VOLUME (layers.py)."""
    return {
        "runtimeImage": runtime.image,
        "runtimeConfigMap": runtime.config_map or None,
        "runtimeCommand": list(contract.RUNTIME_COMMAND) if runtime.config_map else None,
    }
