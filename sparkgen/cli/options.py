"""Arguments and options that several commands share: one name, one meaning, one help text."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Annotated

import typer

from sparkgen.cli.request import Request


class Format(str, enum.Enum):
    """The formats of problems: sparkgen.cli.request.FORMS."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


class Colour(str, enum.Enum):
    """When text has colours: sparkgen.cli.request.COLOURS."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Target(str, enum.Enum):
    """The tools that apply the manifests: sparkgen.cli.request.TARGETS."""

    KUBECTL = "kubectl"
    ARGOCD = "argocd"
    FLUX = "flux"


class ObjectForm(str, enum.Enum):
    """Output format of objects."""

    TEXT = "text"
    NAME = "name"
    JSON = "json"
    YAML = "yaml"


class Listing(str, enum.Enum):
    """The formats of objects in a cluster, with kubectl's names."""

    TEXT = "text"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="Documents: files, directories (their .yaml and .yml files), or - for standard input.",
        show_default=False,
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--values",
        "-f",
        metavar="FILE",
        help="Overlay to merge into every document, as Helm merges values. Later overlays win. Repeatable.",
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a field, for example spec.executor.instances=4. Overrides overlays. Repeatable.",
        show_default=False,
    ),
]
SetString = Annotated[
    list[str] | None,
    typer.Option(
        "--set-string",
        metavar="KEY=VALUE",
        help="Set a field to a string, even if it looks like a number. Repeatable.",
        show_default=False,
    ),
]
Lock = Annotated[
    str,
    typer.Option(
        "--lock",
        metavar="FILE",
        help="Lock file of pushed local files. Default: FILE.lock.yaml beside a document FILE.yaml.",
        show_default=False,
    ),
]
CaFile = Annotated[
    str,
    typer.Option(
        "--ca-file",
        metavar="FILE",
        help="CA certificates for the registry, as PEM. Default: the certificates of the system.",
        show_default=False,
    ),
]
ProblemFormat = Annotated[
    Format,
    typer.Option("--format", help="Format of problems; github and sarif are for CI.", case_sensitive=False),
]
ColourChoice = Annotated[
    Colour,
    typer.Option(
        "--color", help="Use colours. auto: on a terminal, unless NO_COLOR is set.", case_sensitive=False
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors, no warnings or notes.")]
Context = Annotated[
    str,
    typer.Option(
        "--context",
        metavar="NAME",
        help="Context of the kubeconfig. Default: the current context.",
        show_default=False,
    ),
]
Kubeconfig = Annotated[
    str,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Kubeconfig file. Default: KUBECONFIG or ~/.kube/config.",
        show_default=False,
    ),
]
Namespace = Annotated[
    str,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        help="Namespace in the cluster. Default: the namespace of the context.",
        show_default=False,
    ),
]
ListingForm = Annotated[
    Listing,
    typer.Option(
        "--output", "-o", help="Output format; name prints names for kubectl.", case_sensitive=False
    ),
]
ObjectsForm = Annotated[
    ObjectForm, typer.Option("--output", "-o", help="Output format of objects.", case_sensitive=False)
]
ApplicationName = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Application, or one of its runs.", show_default=False),
]
ApplicationNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Applications or runs. Default: all.", show_default=False),
]
RunName = Annotated[
    str,
    typer.Option(
        "--run",
        metavar="RUN",
        help="Run, by its name or its hash. Default: the latest run.",
        show_default=False,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def requested(
    sources: Sequence[str],
    values: Sequence[str] | None,
    sets: Sequence[str] | None,
    set_strings: Sequence[str] | None,
    *,
    form: Format = Format.TEXT,
    colour: Colour = Colour.AUTO,
    target: Target | None = None,
    lock: str = "",
) -> Request:
    """Returns what typer read as a Request: missing lists are empty, choices are their texts.

    A command adds its other options with `dataclasses.replace`.
    """
    return Request(
        tuple(sources),
        tuple(values or ()),
        tuple(sets or ()),
        tuple(set_strings or ()),
        form=form.value,
        colour=colour.value,
        target=target.value if target else "",
        lock=lock,
    )
