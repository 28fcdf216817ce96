"""The options of a command, however its command line was read."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.usecases.inputs import Inputs

FORMS = ("text", "concise", "json", "github", "sarif")
TARGETS = ("kubectl", "argocd", "flux")
COLOURS = ("auto", "always", "never")
OBJECT_FORMS = ("text", "name", "json", "yaml")


@dataclass(frozen=True, slots=True)
class Request(Inputs):
    """The documents and the options of a command, under the names of its parameters.

    `form`: one of FORMS; `colour`: one of COLOURS. For `validate`: `strict`. For `render`: `namespace` of
    documents without one; `directory` to write into, or to compare with if `only_check`; `recursive`: the
    only source is a directory with all documents of a repository. An option that was not given is "".
    """

    form: str = "text"
    colour: str = "auto"
    quiet: bool = False
    strict: bool = False
    namespace: str = ""
    directory: str = ""
    only_check: bool = False
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class Apply:
    """The options of `apply` besides the documents, under the names of its parameters.

    `timeout`: such as `30m`; `force`: take over fields of other owners; `take`: take over objects without an
    owner; `form`: one of OBJECT_FORMS; `push`: push local files that have changed, trusting `ca_file`.
    """

    kubeconfig: str = ""
    context: str = ""
    dry_run: bool = False
    wait: bool = False
    timeout: str = ""
    skip_preflight: bool = False
    force: bool = False
    take: bool = False
    form: str = "text"
    push: bool = True
    ca_file: str = ""


def command_line(request: Request) -> str:
    """Returns the command that writes what a check compared."""
    import shlex  # noqa: PLC0415 - only for a directory that is out of date

    pairs = [
        *(("-f", value) for value in request.values),
        *(("--set", value) for value in request.sets),
        *(("--set-string", value) for value in request.set_strings),
        *([("-n", request.namespace)] if request.namespace else []),
        *([("--target", request.target)] if request.target else []),
        *([("--lock", request.lock)] if request.lock else []),
        ("-o", request.directory),
    ]
    options = [word for pair in pairs for word in pair]
    recursive = ["-R"] if request.recursive else []
    return shlex.join(["sparkgen", "render", *recursive, *request.sources, *options])
