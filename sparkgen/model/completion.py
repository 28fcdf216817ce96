"""Completes documents of kinds that have a program of their own to documents of applications.

So a Connect server or a notebook has the same driver, allocator and executors as every application, and
whoever knows applications knows these, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkgen.model import connect, notebook
from sparkgen.properties.older import under_new_names


@dataclass(frozen=True, slots=True)
class Completion:
    """The parts of an application that documents of a kind do not have."""

    section: str
    """The section of the spec that says how people or clients reach the program."""
    application_fields: Mapping[str, Any]
    """Fields of an application's spec that documents of the kind do not have."""
    default_properties: Mapping[str, str]
    """Properties that apply unless the document says otherwise."""
    section_properties: Mapping[str, str] = field(default_factory=dict)
    """Field of the section -> the Spark property for it."""
    contract_properties: Mapping[str, str] = field(default_factory=dict)
    """Properties that apply whatever the document says."""


COMPLETIONS: Mapping[str, Completion] = {
    connect.CONNECT_KIND: Completion(
        section="connect",
        application_fields=connect.APPLICATION_FIELDS,
        default_properties=connect.DEFAULT_PROPERTIES,
        section_properties={"idleTimeout": connect.IDLE_PROPERTY},
        contract_properties=connect.CONTRACT_PROPERTIES,
    ),
    notebook.NOTEBOOK_KIND: Completion(
        section="notebook",
        application_fields=notebook.APPLICATION_FIELDS,
        default_properties=notebook.DEFAULT_PROPERTIES,
    ),
}
"""Kind -> how its documents are completed."""

DYNAMIC_ALLOCATION: Mapping[str, Any] = {"enabled": True, "minExecutors": 0}
"""The section `dynamicAllocation` of all these kinds, unless the document says otherwise."""


def as_application(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The value of a document, with the spec of an application.

    Returns the value of an application, or of a server, unchanged. Fields of the document keep their places.
    """
    completion = COMPLETIONS.get(value["kind"])
    if completion is None:
        return value
    spec = value["spec"]
    section = spec.get(completion.section) or {}
    properties = {**completion.default_properties, **under_new_names(spec.get("sparkConf") or {})}
    properties |= {
        name: section[given] for given, name in completion.section_properties.items() if given in section
    }
    return {
        **value,
        "spec": {
            **spec,
            **completion.application_fields,
            "dynamicAllocation": {**DYNAMIC_ALLOCATION, **(spec.get("dynamicAllocation") or {})},
            "sparkConf": properties,
        },
    }


def section_of(value: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """The section that says how a document of this kind is reached; None for other kinds."""
    return value["spec"].get(COMPLETIONS[kind].section) or {} if value["kind"] == kind else None
