"""Where sparkgen's containers get their program from: an image, or a ConfigMap and an image of Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract


@dataclass(frozen=True, slots=True)
class Runtime:
    """`image`: of sparkgen's containers; `config_map`: the one with the program, "" if the image has it."""

    image: str
    config_map: str = ""


def image_field(spec: Mapping[str, Any]) -> str:
    """The field of a document that sets the image of sparkgen's containers."""
    return "pythonImage" if spec.get("runtimeConfigMap") and not spec.get("runtimeImage") else "runtimeImage"


def runtime(spec: Mapping[str, Any]) -> Runtime:
    """The runtime that a document names, or else the image that no registry has.

    A document names an image or a ConfigMap (SG324).
    """
    if image_field(spec) == "runtimeImage":
        return Runtime(spec.get("runtimeImage") or contract.RUNTIME_IMAGE)
    return Runtime(spec.get("pythonImage") or contract.PYTHON_IMAGE, spec["runtimeConfigMap"])
