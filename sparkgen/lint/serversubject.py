"""A valid document of a server and its rendered pods, as policy rules need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract, model, resources
from sparkgen.errors import Path
from sparkgen.lint.settings import Settings
from sparkgen.lint.view import Container, Pod, View
from sparkgen.model.runtime import image_field
from sparkgen.model.server import Server

_ROOT: Path = ("spec",)
_RUNTIME = (contract.PREPARE_CONTAINER, contract.JANITOR_CONTAINER)
_ROLES = {
    contract.HISTORY_SERVER_CONTAINER: "history server",
    contract.SHUFFLE_CONTAINER: "shuffle service",
    contract.STAGING_SERVER: "staging server",
}
_WORKLOADS = ("Deployment", "DaemonSet")


@dataclass(frozen=True, slots=True)
class ServerSubject(View):
    """A frozen view of a document that describes a history server, a shuffle service or a staging server."""

    PAGES = "the history server"

    server: Server

    @classmethod
    def of(cls, value: Mapping[str, Any], settings: Settings) -> ServerSubject:
        """The view of a valid document's value."""
        server = model.describe(value)
        assert isinstance(server, Server)  # noqa: S101 - the registry calls this only for servers
        specs = [item["spec"] for item in resources.render(server) if item["kind"] in _WORKLOADS]
        pods = tuple(_pod(server, spec["template"]) for spec in specs)
        return cls(value, _ROOT, pods, settings, server)

    @property
    def role(self) -> str:
        """The sort of server, in words."""
        return self.pods[0].role


def _pod(server: Server, template: Mapping[str, Any]) -> Pod:
    role = _ROLES[server.COMPONENT]
    found = [
        _container(server, container)
        for field in ("initContainers", "containers")
        for container in template["spec"].get(field) or ()
    ]
    return Pod(role, template, tuple(found), ((*_ROOT, "podSecurityContext"),), ((*_ROOT, "annotations"),))


def _container(server: Server, spec: Mapping[str, Any]) -> Container:
    role = _ROLES[server.COMPONENT]
    name = spec["name"]
    if name in _RUNTIME:
        return Container(role, "runtime", name, spec, ((*_ROOT, image_field(server.spec)),))
    return Container(role, "spark", name, spec, (_ROOT,))
