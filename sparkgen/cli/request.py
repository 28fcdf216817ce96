"""The options that commands share: on documents, and on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen.usecases.inputs import Inputs

if TYPE_CHECKING:
    from sparkgen.cluster import Place


@dataclass(frozen=True, slots=True)
class Request(Inputs):
    """The documents and the options of a command, under the names of its parameters.

    `form`: a format of problems; `colour`: auto, always or never. For `validate`: `strict`. For `render`:
    `namespace` of documents without one; `directory` to write into, or to compare with if `only_check`;
    `recursive`: the only source is a directory with all documents of a repository. An option that was not
    given is "".
    """

    form: str = "text"
    colour: str = "auto"
    quiet: bool = False
    strict: bool = False
    namespace: str = ""
    directory: str = ""
    only_check: bool = False
    recursive: bool = False


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Which cluster and which namespace; "" for what the kubeconfig says."""

    namespace: str = ""
    context: str = ""
    kubeconfig: str = ""

    @property
    def place(self) -> Place:
        """The same, as the cluster's package takes it."""
        from sparkgen.cluster import Place  # noqa: PLC0415 - `render` has no cluster

        return Place(self.kubeconfig, self.context, self.namespace)

    def here(self, namespace: str) -> str:
        """Returns the options of another command for the same place, with a blank in front."""
        import shlex  # noqa: PLC0415 - `render` has no cluster

        given = {"-n": namespace, "--context": self.context, "--kubeconfig": self.kubeconfig}
        return "".join(f" {name} {shlex.quote(text)}" for name, text in given.items() if text)


@dataclass(frozen=True, kw_only=True)
class WaitingOptions(ClusterOptions):
    """The options of commands that may wait for a run. `timeout`: such as `30m`, "" for no limit."""

    timeout: str
    quiet: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EndOptions(ClusterOptions):
    """The options that `kill` and `delete` share. `output`: a form of objects; `yes`: do not ask."""

    output: str
    yes: bool
    quiet: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOptions(WaitingOptions):
    """The options of `run` and `shell`, which start one program.

    `source`: a document, or for `run` the name of an application; `arguments`: what follows `--`; `name`: of
    one application among several in a document.
    """

    source: str
    arguments: tuple[str, ...]
    values: tuple[str, ...]
    sets: tuple[str, ...]
    set_strings: tuple[str, ...]
    name: str

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


def command_line(request: Request) -> str:
    """Returns the command that writes what a check compared."""
    import shlex  # noqa: PLC0415 - only for a directory that is out of date

    recursive = ["-R"] if request.recursive else []
    own = {"-n": request.namespace, "--target": request.target, "-o": request.directory}
    options = [word for flag, value in own.items() if value for word in (flag, value)]
    words = [*recursive, *request.sources, *request.options, *options]
    return shlex.join(["sparkgen", "render", *words])
