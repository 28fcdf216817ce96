"""The archived logs of a run: what its workload says about the archive, read by this machine's rclone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sparkgen import contract
from sparkgen.cluster.bounded_process import Failed, output_of
from sparkgen.errors import SparkgenError
from sparkgen.live.values import Run
from sparkgen.objects import ObjectView

SECONDS = 60.0
"""How long a list of all files may take."""
PIECE = 1 << 16
_SHOWN = 500
"""Bytes of what rclone says that are in a message."""

_STORE = re.compile(r"archive:[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9_.=-]+)+")
_FILE = re.compile(r"([a-z0-9][a-z0-9.-]*)/(spark|allocator)/([0-9TZ-]+\.log)")
"""A file of a run: its pod, whose log it is, and its name, which has its time."""
_ALLOWED: Mapping[str, re.Pattern[str]] = {
    "TYPE": re.compile("s3"),
    "PROVIDER": re.compile("AWS|Other"),
    "ENV_AUTH": re.compile("true"),
    "NO_CHECK_BUCKET": re.compile("true"),
    "ENDPOINT": re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._/-]*)?"),
    "REGION": re.compile(r"[A-Za-z0-9-]+"),
}
"""What a workload may say to this machine's rclone. A cluster's text is not trusted with more."""
_PREFIX = "RCLONE_CONFIG_ARCHIVE_"


@dataclass(frozen=True, slots=True)
class Archive:
    """Where rclone finds the logs of a run. `variables` describe the store; the caller's come first."""

    folder: str
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ArchivedLog:
    """The files of one container, in the order of time. `title` marks its lines."""

    pod: str
    title: str
    files: tuple[str, ...]


def archive_of(run: Run) -> Archive | None:
    """The bucket with a run's logs; None if its document names none. SparkgenError if it is a claim."""
    variables = _variables(run.workload)
    if variables is None:
        return None
    place = variables.get(contract.ENV_LOG_ARCHIVE, "").replace(
        f"$({contract.ENV_POD_NAMESPACE})", run.namespace
    )
    folder = f"{place}/{variables.get(contract.ENV_RUN, '')}"
    if folder.startswith(f"{contract.LOG_ARCHIVE_DIR}/"):
        inside = folder.removeprefix(f"{contract.LOG_ARCHIVE_DIR}/")
        raise SparkgenError(
            f"the logs of {run.name} are in a claim, in the folder {inside}: mount the claim of "
            "`logging.archive` in a pod to read them"
        )
    if not _STORE.fullmatch(folder) or ".." in folder:
        raise SparkgenError(f"{run.name} does not say in which bucket its logs are")
    told = {
        f"{_PREFIX}{name}": text
        for name, allowed in _ALLOWED.items()
        if allowed.fullmatch(text := variables.get(f"{_PREFIX}{name}", ""))
    }
    return Archive(folder, told)


def is_archived(run: Run) -> bool:
    """Whether the document of a run has a log archive."""
    return _variables(run.workload) is not None


def archived_logs(archive: Archive, environment: Mapping[str, str], since: int | None) -> list[ArchivedLog]:
    """The logs in the archive, those of drivers first. `since`: only files of the last so many seconds.

    Raises SparkgenError if rclone is missing, or cannot list them.
    """
    age = () if since is None else ("--max-age", f"{since}s")
    command = [_rclone(environment), "lsf", "--recursive", "--files-only", "--config", "", *age]
    try:
        said = output_of(
            [*command, archive.folder],
            {**archive.variables, **environment},
            seconds=SECONDS,
            stdin=False,
            shown=False,  # it repeats what the store says
        )
    except (Failed, OSError) as error:
        raise SparkgenError(f"cannot list {archive.folder}: {error}") from None
    return _logs(said.decode(errors="replace").splitlines())


def content(archive: Archive, log: ArchivedLog, environment: Mapping[str, str]) -> Iterator[bytes]:
    """Yields a log in pieces. Raises SparkgenError if rclone cannot read it."""
    for file in log.files:
        command = [_rclone(environment), "cat", "--config", "", f"{archive.folder}/{file}"]
        with (
            tempfile.TemporaryFile() as said,
            subprocess.Popen(
                command,
                env={**archive.variables, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
            ) as process,
        ):
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            try:
                while piece := os.read(process.stdout.fileno(), PIECE):
                    yield piece
            except BaseException:  # a reader that stops: do not wait for the rest
                process.kill()
                raise
            if process.wait():
                said.seek(0)
                raise SparkgenError(
                    f"rclone cannot read {file}: {said.read(_SHOWN).decode(errors='replace').strip()}"
                )


def chosen(
    logs: Sequence[ArchivedLog], executor: str, *, allocator: bool, everything: bool
) -> list[ArchivedLog]:
    """The logs that a user names; without a name, those of the newest driver."""
    if everything:
        return list(logs)
    if executor:
        id_ = executor.rpartition("-exec-")[2]
        return [log for log in logs if log.title == f"executor {id_}" and executor in (id_, log.pod)]
    title = contract.ALLOCATOR_CONTAINER if allocator else "driver"
    return [log for log in logs if log.title == title][-1:]


def _variables(workload: ObjectView) -> dict[str, str] | None:
    """The variables of the container that archives logs; None without one."""
    spec = workload["spec"].get("template", {}).get("spec", {})
    for container in spec.get("initContainers") or ():
        if container.get("name") == contract.LOG_ARCHIVE_CONTAINER:
            return {str(one.get("name")): str(one.get("value", "")) for one in container.get("env") or ()}
    return None


def _logs(files: Sequence[str]) -> list[ArchivedLog]:
    found: dict[tuple[str, str], list[str]] = {}
    for file in sorted(files):
        if match := _FILE.fullmatch(file):
            found.setdefault((match[1], match[2]), []).append(file)
    logs = [ArchivedLog(pod, _title(pod, whose), tuple(own)) for (pod, whose), own in found.items()]
    # Names of pods do not tell which driver was first: the time in the name of its first file does.
    return sorted(logs, key=lambda log: ("executor" in log.title, log.files[0].rpartition("/")[2]))


def _title(pod: str, whose: str) -> str:
    if whose != "spark":
        return whose
    _, mark, number = pod.rpartition("-exec-")
    return f"executor {number}" if mark else "driver"


def _rclone(environment: Mapping[str, str]) -> str:
    found = shutil.which("rclone", path=environment.get("PATH", os.defpath))
    if found is None:
        raise SparkgenError("rclone reads the archive, but it is not on your PATH: install rclone")
    return found
