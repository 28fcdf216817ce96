"""The values of options that commands which talk to a cluster share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen.cli.request import Request

if TYPE_CHECKING:
    from sparkgen.cluster import Place


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Which cluster and which namespace; "" for what the kubeconfig says."""

    namespace: str = ""
    context: str = ""
    kubeconfig: str = ""

    @property
    def place(self) -> Place:
        """The same, as the cluster's package takes it."""
        from sparkgen.cluster import Place  # noqa: PLC0415 - not for every command's help

        return Place(self.kubeconfig, self.context, self.namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOptions(ClusterOptions):
    """The options of `run` and `shell`, which start one program.

    `source`: a document, or for `run` the name of an application; `arguments`: what follows `--`; `name`: of
    one application among several in a document; `timeout`: such as `5m`, "" for no limit.
    """

    source: str
    arguments: tuple[str, ...]
    values: tuple[str, ...]
    sets: tuple[str, ...]
    set_strings: tuple[str, ...]
    name: str
    timeout: str
    quiet: bool

    @property
    def request(self) -> Request:
        """The document, with its overlays and values."""
        return Request(
            (self.source,),
            self.values,
            self.sets,
            self.set_strings,
            quiet=self.quiet,
            namespace=self.namespace,
        )
