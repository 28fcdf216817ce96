"""The application that runs on this machine, from a document that is meant for a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparkgen import model
from sparkgen.errors import SparkgenError
from sparkgen.model.completion import COMPLETIONS

if TYPE_CHECKING:
    from sparkgen.model.application import Application


def application_of(value: Mapping[str, Any], arguments: tuple[str, ...] = ()) -> Application:
    """A valid document's application; `arguments`: instead of its own, if any.

    SparkgenError for what runs in a cluster only. Executors of one machine find each other's files without a
    shuffle service, and the directory for event logs is the cluster's.
    """
    if value["kind"] in model.SERVER_KINDS:
        raise SparkgenError(f"a {value['kind']} runs in a cluster only; name an application")
    if arguments and value["kind"] in COMPLETIONS:
        raise SparkgenError(f"a {value['kind']} takes no arguments: delete what stands after --")
    application = replace(model.build(_without_event_log(value)), shuffle=None)
    return replace(application, arguments=arguments) if arguments else application


def _without_event_log(value: Mapping[str, Any]) -> dict[str, Any]:
    """A document's value without the directory for event logs, which is the cluster's."""
    spec = {name: section for name, section in value["spec"].items() if name != "eventLog"}
    if "template" in spec:
        template = {name: section for name, section in spec["template"].items() if name != "eventLog"}
        spec["template"] = template
    return {**value, "spec": spec}
