"""The options that commands on documents share, however the command line was read."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.usecases.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Request(Inputs):
    """The documents and the options of a command, under the names of its parameters.

    `form`: a value of Format; `colour`: of Colour. For `validate`: `strict`. For `render`: `namespace` of
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
