"""Rules about batch jobs that Argo CD or Flux syncs (docs/design/run-identity.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sparkgen.lint.findings import (
    GITOPS,
    INFO,
    PRODUCTION,
    WARNING,
    Finding,
    Put,
    rule,
    shared_rule,
    unset,
)
from sparkgen.lint.settings import CONTROLLERS
from sparkgen.lint.subject import Subject
from sparkgen.lint.view import View
from sparkgen.model import SERVER_KINDS
from sparkgen.resources.gitops import SYNC_OPTIONS

SYNC_WAVE = "argocd.argoproj.io/sync-wave"
FLUX_PRUNE = "kustomize.toolkit.fluxcd.io/prune"

_MOVING = re.compile(r"(-SNAPSHOT|^LATEST|^RELEASE|^latest\.\w+|\+|^[^\[(]*+[\[(].*[\])])$")
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://")
_VERSIONED = re.compile(r"\d+[._]\d+|[0-9a-f]{7,}")


@rule("SG201", WARNING, GITOPS)
def prune(subject: Subject) -> Iterator[Finding]:
    """Objects of a run that a controller prunes at the next run, even if the driver still runs."""
    target = subject.at(("metadata", "target"))
    asked = subject.settings.controllers
    if subject.facts.scheduled or not subject.ends or (target == "kubectl" and not asked):
        return
    guards = {
        "argocd": "Prune=false" in _options(subject.job_annotations),
        "flux": subject.job_annotations.get(FLUX_PRUNE) == "disabled",
    }
    guarded = [guards[controller] for controller in asked or CONTROLLERS]
    if all(guarded) if asked else any(guarded):
        return
    wanted = " or ".join(f"`target: {controller}`" for controller in asked or CONTROLLERS)
    known = len(asked) == 1 and target is None
    yield Finding(
        ("metadata", "target"),
        "syncing the next run prunes this one, and kills its driver if it still runs",
        str(target or ""),
        next_step=f"set {wanted} in `metadata`, or render with `--target`",
        on_key=True,
        fix=(Put(("metadata", "target"), asked[0]),) if known else (),
    )


def _options(annotations: Mapping[str, str]) -> set[str]:
    """Argo CD's sync options on an object."""
    return {option.strip() for option in annotations.get(SYNC_OPTIONS, "").split(",")}


@rule("SG203", WARNING, GITOPS)
def early_wave(subject: Subject) -> Iterator[Finding]:
    """A Job in an early wave: Argo CD waits for its end before it continues."""
    wave = subject.annotations.get(SYNC_WAVE, "0")
    if subject.ends and not subject.facts.scheduled and wave.startswith("-"):
        yield Finding(
            ("metadata", "annotations", SYNC_WAVE),
            "later waves wait until the job has finished, and a failed job stops them",
            wave,
            "a wave after everything that must not wait",
            "use a late wave, or delete it",
        )


@shared_rule("SG204", WARNING, GITOPS, PRODUCTION, servers=SERVER_KINDS)
def namespace(subject: View) -> Iterator[Finding]:
    """A document without a namespace."""
    if not subject.has(("metadata", "namespace")):
        yield unset(
            ("metadata", "namespace"),
            "no namespace is set: whoever applies the document decides where it runs",
            "set one: `namespace: ...`",
        )


@rule("SG205", INFO, GITOPS)
def expiry(subject: Subject) -> Iterator[Finding]:
    """A one-off run without an expiry time: a cluster that is rebuilt from Git runs it again."""
    run = subject.application.run
    if subject.ends and not subject.facts.scheduled and run.get("expiresAt") is None:
        yield unset(
            subject.facts.path("run", "expiresAt"),
            "a cluster that is rebuilt from Git starts this run again, no matter how old the run is",
            "set `run.expiresAt` to the time after which it must not start any more",
        )


@rule("SG206", WARNING, GITOPS, PRODUCTION)
def moving_dependency(subject: Subject) -> Iterator[Finding]:
    """Libraries whose version is decided when the application starts."""
    for path, text in subject.facts.dependencies("packages"):
        version = text.split(":")[2] if text.count(":") >= 2 else ""
        if _MOVING.search(version):
            yield Finding(
                path,
                "the next start can use another version of the library, without a commit",
                text,
                "group:artifact:version",
                "write the exact version that you tested",
            )


@rule("SG207", INFO, GITOPS)
def moving_code(subject: Subject) -> Iterator[Finding]:
    """Code outside the image with a name without a version: it can change without a commit."""
    fields = ("jars", "pyFiles", "files", "archives")
    named = [found for field in fields for found in subject.facts.dependencies(field)]
    main = subject.application.main_file
    if main is not None:
        named.insert(0, (subject.facts.path("mainApplicationFile"), main))
    for path, text in named:
        remote = _REMOTE.match(text) and not text.startswith(("local://", "file://"))
        if remote and not _VERSIONED.search(text.partition("://")[2]):
            yield Finding(
                path,
                "the content of this file can change without a commit, and the change starts no new run",
                text,
                next_step="put a version or a commit into the path, or build the file into the image",
            )


@rule("SG207", INFO, GITOPS)
def moving_conf_file(subject: Subject) -> Iterator[Finding]:
    """A file of a ConfigMap whose name has no version: its content is not part of the run's hash."""
    for key in subject.application.conf_files.keys:
        if key.kind == "configMap" and not any(char.isdigit() for char in key.name):
            yield Finding(
                subject.facts.path("sparkConfFiles", key.file, "configMapKeyRef", "name"),
                "the content of this ConfigMap can change without a commit, and the change starts no new run",
                key.name,
                next_step="put a version into its name, and change it with each change of the file",
            )
