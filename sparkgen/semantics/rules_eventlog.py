"""The event log: a directory that Spark can write to, and that outlives the driver."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.errors import Path
from sparkgen.model import HISTORY_KIND
from sparkgen.model.eventlog import local_path, log_claim
from sparkgen.semantics.facts import Container, DocumentFacts, ServerFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule, server_rule
from sparkgen.semantics.mounts import is_below, mounted_at, places
from sparkgen.semantics.wording import shortened

FIELD = "eventLog"
ENABLED, DIRECTORY = "spark.eventLog.enabled", "spark.eventLog.dir"
EXAMPLE = "dir: file:///mnt/event-logs"
PLAIN = re.compile(r"(/[A-Za-z0-9._-]+)+")
"""Paths that mean the same in a URL and in a mount: nothing in them is escaped."""
NEEDED = (contract.ROOT, "/opt/spark/bin", "/opt/spark/jars", "/tmp")  # noqa: S108 - a path in the pod
"""Directories of the pod that a mount must not hide."""


@rule("SG174", ERROR)
def directories(facts: DocumentFacts) -> Iterator[Finding]:
    """A directory and a claim of an application that do not fit together, and two mounts at one place."""
    section = facts.get(FIELD)
    if section is None:
        return
    yield from _place(facts.path(FIELD), section)
    claim = log_claim(section)
    for container in _spark_containers(facts) if claim is not None else ():
        for path, place, what in places(container):
            if claim is not None and mounted_at(place) == claim.path:
                yield Finding(
                    path,
                    "the claim of `eventLog` is mounted at the same path",
                    shortened(place),
                    next_step=f"mount {what} somewhere else, or delete `eventLog.claim`",
                )


def _spark_containers(facts: DocumentFacts) -> Iterator[Container]:
    for container in facts.containers:
        if container.role == "driver" and container.kind == "spark":
            yield container


@server_rule("SG174", ERROR, kinds=(HISTORY_KIND,))
def history_directories(facts: ServerFacts) -> Iterator[Finding]:
    """A server's directory and claim that do not fit. Source: FsHistoryProvider.startPolling."""
    section = facts.spec[FIELD]
    path = facts.path(FIELD)
    if local_path(section["dir"]) is not None and "claim" not in section:
        yield Finding(
            (*path, "dir"),
            "is a directory in the server's own pod, where no application writes",
            shortened(section["dir"]),
            next_step="add `claim:` and the applications' claim, which is mounted there",
        )
    else:
        yield from _place(path, section)


def _place(path: Path, section: Mapping[str, Any]) -> Iterator[Finding]:
    """Where the directory, its claim and the pod do not fit. Source: EventLogFileWriter, which needs one."""
    directory = section["dir"]
    shown = shortened(directory)
    place = local_path(directory)
    if directory.startswith("file:") and place is None:
        message = "is not an absolute path, which a directory in the pod needs"
        yield Finding((*path, "dir"), message, shown, next_step=f"write it as in `{EXAMPLE}`")
    elif "claim" not in section:
        return
    elif place is None:
        yield Finding(
            (*path, "claim"),
            "nothing is written to it: `dir` is not a directory in the pod",
            section["claim"],
            next_step=f"write `{EXAMPLE}`, where the claim is then mounted, or delete `claim`",
        )
    elif not PLAIN.fullmatch(place) or {".", ".."} & set(place.split("/")):
        message = "is not a path where a claim can be mounted"
        allowed = "a path of letters, digits, '.', '_' and '-'"
        yield Finding((*path, "dir"), message, shown, allowed, f"write it as in `{EXAMPLE}`")
    elif any(_hides(place, own) for own in NEEDED):
        message = "the claim would hide files of Spark, sparkgen or the JVM"
        yield Finding((*path, "dir"), message, shown, next_step=f"choose a separate path, as in `{EXAMPLE}`")


def _hides(place: str, own: str) -> bool:
    """Whether a mount at a place hides a directory, or lies in sparkgen's own."""
    return f"{own}/".startswith(f"{place}/") or place.startswith(f"{contract.ROOT}/")


@rule("SG175", WARNING)
def lost(facts: DocumentFacts) -> Iterator[Finding]:
    """A log in the driver's pod, deleted with the pod. Source: EventLoggingListener.DEFAULT_LOG_DIR."""
    if not facts.is_true(ENABLED):
        return
    directory = facts.properties.get(DIRECTORY)
    if directory is None:
        yield about_key(
            facts.place(ENABLED),
            "without a directory, the log goes to /tmp/spark-events, which the driver's pod does not have",
            "add `eventLog:` with `dir:`, instead of this property",
        )
        return
    place = directory if directory.startswith("/") else local_path(directory)
    if place is None or log_claim(facts.get(FIELD)) is not None:
        return
    mounted = [at for container in _spark_containers(facts) for _, at, _ in places(container)]
    if not any(is_below(place, at) for at in mounted):
        yield Finding(
            facts.place(DIRECTORY),
            "is in the driver's pod, and is lost with it",
            shortened(directory),
            next_step="name a claim in `eventLog.claim`, or a directory of an object store",
        )
