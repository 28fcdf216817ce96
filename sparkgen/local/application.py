"""The application for this machine, from a document for a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparkgen import model
from sparkgen.errors import SparkgenError
from sparkgen.model.completion import COMPLETIONS
from sparkgen.runtime.allocator.driver.session import AUTHENTICATE

if TYPE_CHECKING:
    from sparkgen.model.application import Application


OF_THE_CLUSTER = ("eventLog", "hadoopConfigMap", "kerberos")
"""Sections that only have a meaning in a cluster: event logs, Hadoop's own files, and the driver's login."""


def application_of(value: Mapping[str, Any], arguments: tuple[str, ...] = ()) -> Application:
    """A valid document's application; `arguments` replace its own, if there are any.

    Raises SparkgenError for kinds that run only in a cluster. Executors on one machine find each other's
    files without a shuffle service, and the directory for event logs is in the cluster.
    """
    if value["kind"] in model.SERVER_KINDS:
        raise SparkgenError(f"a {value['kind']} runs only in a cluster; name an application")
    if arguments and value["kind"] in COMPLETIONS:
        raise SparkgenError(f"a {value['kind']} takes no arguments: delete what follows --")
    application = replace(model.build(_without_sections(value)), shuffle=None, allocator="sparkgen")
    # Every user of this machine reaches the driver's port, so executors authenticate in any case.
    properties = {name: text for name, text in application.properties.items() if name != AUTHENTICATE}
    application = replace(application, properties=properties)
    return replace(application, arguments=arguments) if arguments else application


def _without_sections(value: Mapping[str, Any]) -> dict[str, Any]:
    """A document's value without the sections that only have a meaning in a cluster."""
    spec = _without(value["spec"])
    if "template" in spec:
        spec["template"] = _without(spec["template"])
    return {**value, "spec": spec}


def _without(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: section for name, section in spec.items() if name not in OF_THE_CLUSTER}
