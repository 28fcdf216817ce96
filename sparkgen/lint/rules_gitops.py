"""What goes wrong with batch jobs when Argo CD or Flux syncs them (docs/design/run-identity.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sparkgen.lint.findings import Finding, Put
from sparkgen.lint.subject import Subject
from sparkgen.lint.view import View

SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
SYNC_WAVE = "argocd.argoproj.io/sync-wave"
FLUX_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
FLUX_FORCE = "kustomize.toolkit.fluxcd.io/force"
HOOKS = ("argocd.argoproj.io/hook", "helm.sh/hook")
CONTROLLERS = ("argocd", "flux")

_MOVING = re.compile(r"(-SNAPSHOT|^LATEST|^RELEASE|^latest\.\w+|\+|[\[(].*[\])])$")
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://")
_VERSIONED = re.compile(r"\d+[._]\d+|[0-9a-f]{7,}")


def prune(subject: Subject) -> Iterator[Finding]:
    """Objects of a run that a controller removes with the next one, under a driver that still runs."""
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
        "the run before is pruned by the next one, and its driver is killed if it still runs",
        str(target or ""),
        next_step=f"set {wanted} in `metadata`, or render with `--target`",
        on_key=True,
        fix=(Put(("metadata", "target"), asked[0]),) if known else (),
    )


def _options(annotations: Mapping[str, str]) -> set[str]:
    """Argo CD's sync options on an object."""
    return {option.strip() for option in annotations.get(SYNC_OPTIONS, "").split(",")}


def rerun_at_sync(subject: Subject) -> Iterator[Finding]:
    """Annotations with which a sync runs the job again, though nothing changed."""
    path = ("metadata", "annotations")
    for key in HOOKS:
        if key in subject.annotations:
            message = (
                "makes all objects a hook, which is created again at every sync: the job runs again each time"
            )
            yield Finding((*path, key), message, next_step="delete it", on_key=True)
    replaced = {"Force=true", "Replace=true"} & _options(subject.annotations)
    if replaced:
        yield Finding(
            (*path, SYNC_OPTIONS),
            "replaces the driver's Job at a sync, which runs it again",
            subject.annotations[SYNC_OPTIONS],
            next_step=f"take {' and '.join(sorted(replaced))} out: each run has a Job of its own name",
        )
    if subject.annotations.get(FLUX_FORCE, "").lower() == "enabled":
        message = "lets Flux delete and make again what it cannot change, a running driver too"
        yield Finding((*path, FLUX_FORCE), message, "enabled", next_step="delete it", on_key=True)


def early_wave(subject: Subject) -> Iterator[Finding]:
    """A Job in an early wave: Argo CD waits for its end before it goes on."""
    wave = subject.annotations.get(SYNC_WAVE, "0")
    if subject.ends and not subject.facts.scheduled and wave.startswith("-"):
        yield Finding(
            ("metadata", "annotations", SYNC_WAVE),
            "later waves wait until the job has ended, and a failed job stops them",
            wave,
            "a wave behind all that must not wait",
            "use a late wave, or leave it out",
        )


def namespace(subject: View) -> Iterator[Finding]:
    """A document that does not say where it belongs."""
    if not subject.has(("metadata", "namespace")):
        yield Finding(
            ("metadata", "namespace"),
            "no namespace is named: where it goes depends on who applies it",
            next_step="name one: `namespace: ...`",
            on_key=True,
        )


def expiry(subject: Subject) -> Iterator[Finding]:
    """A one-off run without an end of its life: a cluster that is rebuilt from Git runs it again."""
    run = subject.application.run
    if subject.ends and not subject.facts.scheduled and run.expires_at is None:
        yield Finding(
            subject.facts.path("run", "expiresAt"),
            "a cluster that is rebuilt from Git runs this again, however old it is",
            next_step="set `run.expiresAt` to the moment after which a start would be wrong",
            on_key=True,
        )


def moving_dependency(subject: Subject) -> Iterator[Finding]:
    """Libraries whose version is decided when the application starts."""
    for path, text in subject.facts.dependencies("packages"):
        version = text.split(":")[2] if text.count(":") >= 2 else ""
        if _MOVING.search(version):
            yield Finding(
                path,
                "another library can come with the next start, without a commit",
                text,
                "group:artifact:version",
                "write the one version that was tested",
            )


def moving_code(subject: Subject) -> Iterator[Finding]:
    """Code outside of the image under a name that says no version: it changes without a commit."""
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
                "what is behind this name can change without a commit, and then no new run starts",
                text,
                next_step="put a version or a commit into the path, or the file into the image",
            )


def moving_conf_file(subject: Subject) -> Iterator[Finding]:
    """A file of a ConfigMap whose name says no version: its content is in no hash."""
    for key in subject.application.conf_files.keys:
        if key.kind == "configMap" and not any(char.isdigit() for char in key.name):
            yield Finding(
                subject.facts.path("sparkConfFiles", key.file, "configMapKeyRef", "name"),
                "what is in this ConfigMap can change without a commit, and then no new run starts",
                key.name,
                next_step="put a version into its name, and give a changed file a new one",
            )
