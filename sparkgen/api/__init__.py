"""sparkgen as a library: values in, values out. Nothing here prints, exits or writes a file.

Functions are about documents; a `Connection` is about what lives in a cluster.

    from sparkgen import api

    checked = api.validate(api.Inputs(("apps/pi.yaml",), values=("prod.yaml",)))
    if not checked.errors:
        print(api.text(api.render(checked.documents)))

    nightly = api.connect(namespace="analytics").run("nightly", request_id="2026-01-01")

The command line is made of the same functions. What is listed in `__all__` follows the versions of sparkgen;
what it is made of may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sparkgen.api.asynchronous import AsyncConnection
from sparkgen.api.connection import Connection, Deleted, Listing, RunEnd, connect
from sparkgen.api.errors import NotApplied, PreflightFailed
from sparkgen.cluster import ClusterError
from sparkgen.diff.compare import compare_all
from sparkgen.diff.values import Difference
from sparkgen.document import Document
from sparkgen.document.configuration import Configured, error_about, find, settings_of
from sparkgen.document.sources import read_stdin
from sparkgen.errors import Conflict, NotFound, Position, Problem, Severity, SparkgenError
from sparkgen.live.facts import Event, Executors
from sparkgen.live.reason import Reason
from sparkgen.live.rows import RunStatus
from sparkgen.live.state import Life, State
from sparkgen.preflight import Finding
from sparkgen.usecases import lint as usecase
from sparkgen.usecases.apply import Applied
from sparkgen.usecases.collisions import claims, shared_objects
from sparkgen.usecases.diff import side
from sparkgen.usecases.inputs import Inputs
from sparkgen.usecases.lint import Findings, LintOptions
from sparkgen.usecases.render import render as render_one
from sparkgen.usecases.run import StartedRun
from sparkgen.usecases.runtime import shared_by
from sparkgen.usecases.validate import Checked, agree, check
from sparkgen.writers.manifest import Bundle, Manifest
from sparkgen.writers.stream import stream

__all__ = [
    "Applied",
    "AsyncConnection",
    "Bundle",
    "Checked",
    "ClusterError",
    "Configured",
    "Conflict",
    "Connection",
    "Deleted",
    "Difference",
    "Document",
    "Event",
    "Executors",
    "Finding",
    "Findings",
    "Inputs",
    "Life",
    "LintOptions",
    "Listing",
    "Manifest",
    "NotApplied",
    "NotFound",
    "Position",
    "PreflightFailed",
    "Problem",
    "Reason",
    "RunEnd",
    "RunStatus",
    "Severity",
    "SparkgenError",
    "StartedRun",
    "State",
    "configured",
    "connect",
    "diff",
    "lint",
    "load",
    "render",
    "text",
    "validate",
]


def configured(folder: Path) -> Configured:
    """The settings of the repository's configuration for a folder, for `Inputs.configured`.

    Without them, those of the working directory apply. SparkgenError when the configuration is wrong.
    """
    file = find(folder.resolve())
    return settings_of("" if file is None else str(file))


def load(inputs: Inputs, stdin: Callable[[], bytes] = read_stdin) -> Checked:
    """The documents that are named, with their overlays, and what is wrong with each of them alone.

    Bad input raises nothing: it is among the problems. SparkgenError when the repository's configuration is
    wrong.
    """
    return check(inputs, stdin)


def validate(inputs: Inputs, namespace: str = "", stdin: Callable[[], bytes] = read_stdin) -> Checked:
    """What `sparkgen validate` finds: `load`, and objects that two documents would both render (SG019).

    `namespace` is for documents that name none; "" leaves the default. SparkgenError as for `load`.
    """
    checked = load(inputs, stdin)
    if checked.errors or len(checked.documents) < 2:
        return checked
    return Checked(checked.documents, (*checked.problems, *_collisions(checked.documents, namespace)))


def _collisions(documents: Sequence[Document], namespace: str) -> list[Problem]:
    return shared_objects(claims(documents, [render_one(one, namespace) for one in documents]))


def render(documents: Sequence[Document], namespace: str = "") -> tuple[Bundle, ...]:
    """The manifests of valid documents, in their order: each with its file's name, text and object.

    `namespace` is for documents that name none. SparkgenError when one names another.
    A document that `load` found errors in is not valid: what becomes of it is not defined.
    """
    agree(documents, namespace)
    return tuple(render_one(document, namespace) for document in documents)


def text(bundles: Sequence[Bundle]) -> str:
    """Manifests as one YAML stream, as `sparkgen render` prints it. SparkgenError for the same one twice."""
    return stream(bundles, shared_by(bundles))


def lint(
    inputs: Inputs, options: LintOptions | None = None, stdin: Callable[[], bytes] = read_stdin
) -> Findings:
    """What `sparkgen lint` finds; `options` of None leave all to the repository's configuration.

    SparkgenError for wrong options, and with all that is wrong in the configuration.
    """
    review = usecase.review_of(options or LintOptions())
    if isinstance(review, tuple):
        raise error_about(review)
    # One after the other: a program that calls this may have threads, and then it must not be forked.
    return usecase.lint(inputs, review, stdin, map)


def diff(old: Sequence[Document], new: Sequence[Document], namespace: str = "") -> Difference:
    """What would change between valid documents, for each application, and whether it runs again."""
    before, after = ([side(document, namespace) for document in some] for some in (old, new))
    applications, unchanged = compare_all(before, after)
    return Difference("old", "new", tuple(applications), unchanged)
