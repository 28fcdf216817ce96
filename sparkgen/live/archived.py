"""The archived logs of a run: what its workload says about the archive, read by this machine's rclone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sparkgen import contract
from sparkgen.cluster.bounded_process import Failed, TooMuch, output_of
from sparkgen.errors import SparkgenError
from sparkgen.live.values import Run, name_of
from sparkgen.objects import ObjectView

SECONDS = 60.0
"""How long a list of all files may take."""
MOST = 16 << 20
"""Bytes of a list of files: some 180,000 names."""
PIECE = 1 << 16
_SHOWN = 500
"""Bytes of what rclone says that are in a message."""

_STORE = re.compile(r"archive:[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9_.=-]+)+")
_FILE = re.compile(r"([a-z0-9][a-z0-9.-]*)/(spark|allocator)/([0-9TZ-]+\.log)")
"""A file of a run: its pod, whose log it is, and its name, which has its time."""
_EXECUTOR = re.compile(r".+-exec-([0-9]+)")
"""The name of an executor's pod. An application may be called `my-exec-job`."""
_TIME = re.compile(
    r'(?:\{.*"time": ?")?([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}(?:Z|[+-][0-9]{2}:[0-9]{2}))'
)
"""When a line of an allocator was written, in both of its forms."""
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
    """The files of one container, in the order of time. `title` says whose log it is."""

    pod: str
    title: str
    files: tuple[str, ...]

    @property
    def begun(self) -> str:
        """When the container started: the name of its first file, which sorts by time."""
        return self.files[0].rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Wish:
    """Whose logs a user wants: an executor's, by ID or pod; the allocator's; all; or else the driver's."""

    executor: str = ""
    allocator: bool = False
    everything: bool = False


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
    if not _STORE.fullmatch(folder) or ".." in folder.split("/"):
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


def reading(run: Run, options: str = "") -> str:
    """The command that reads the archived log of a run; "" if its document has no log archive."""
    named = "" if run.latest else f" --run {run.name}"
    return f"sparkgen logs {run.application}{named} --archived{options}" if is_archived(run) else ""


def archived_logs(
    archive: Archive, run: Run, wish: Wish, environment: Mapping[str, str], since: int | None
) -> list[ArchivedLog]:
    """The wanted logs of a run, those of drivers first. `since`: only files of the last so many seconds.

    All firings of a schedule have one folder. The name of a pod tells whose driver it is; an executor belongs
    to the driver that was the last to start before it. Raises SparkgenError if rclone is missing, or fails.
    """
    logs = [log for log in _listed(archive, _pattern(run, wish), environment, since) if _is_wanted(log, wish)]
    if not _is_firing(run):
        return logs
    starts: list[ArchivedLog] = []
    if wish.everything or wish.executor:
        starts = _listed(archive, f"/*/{contract.ALLOCATOR_CONTAINER}/*-000000.log", environment, None)
    return [log for log in logs if _is_of(run, log, starts)]


def titles(archive: Archive, environment: Mapping[str, str]) -> list[str]:
    """Whose logs there are in the folder of a run. Raises SparkgenError as `archived_logs` does."""
    pods = _lines(archive, environment, "--dirs-only")
    return list(dict.fromkeys(_title(pod.rstrip("/"), "spark") for pod in pods))


def recent(log: ArchivedLog, lines: Iterable[str], after: datetime) -> Iterator[str]:
    """Yields the lines that were written after a moment, as far as they tell: those of an allocator."""
    for line in lines:
        moment = _time(line) if log.title == contract.ALLOCATOR_CONTAINER else None
        if moment is None or moment >= after:
            yield line


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


def chosen(logs: Sequence[ArchivedLog], wish: Wish) -> list[ArchivedLog]:
    """Of the wanted logs, the newest one; or all, if a user wants all."""
    return list(logs) if wish.everything else list(logs)[-1:]


def _pattern(run: Run, wish: Wish) -> str:
    """Which files rclone is asked for; user code may have written very many others. "" for all."""
    if wish.everything:
        return ""
    if wish.executor:
        if not re.fullmatch(r"[a-z0-9.-]+", wish.executor):
            raise SparkgenError(f"`{wish.executor}` is no executor: write its ID, or the name of its pod")
        pod = wish.executor if _EXECUTOR.fullmatch(wish.executor) else f"*-exec-{wish.executor}"
        return f"/{pod}/spark/*.log"
    # A Job's pod has five characters behind the Job's name, a Deployment's those of its ReplicaSet as well.
    pod = f"{run.name}-?????" if run.kind == "Job" else f"{name_of(run.workload)}-*-?????"
    return f"/{pod}/{contract.ALLOCATOR_CONTAINER if wish.allocator else 'spark'}/*.log"


def _is_wanted(log: ArchivedLog, wish: Wish) -> bool:
    if wish.everything:
        return True
    if wish.executor:
        named = _EXECUTOR.fullmatch(wish.executor)
        return log.title == f"executor {named[1] if named else wish.executor}"
    return log.title == (contract.ALLOCATOR_CONTAINER if wish.allocator else "driver")


def _is_firing(run: Run) -> bool:
    """Whether other runs have the same folder: all firings of a CronJob."""
    return run.kind == "Job" and run.name != run.label


def _is_of(run: Run, log: ArchivedLog, starts: Sequence[ArchivedLog]) -> bool:
    """Whether a log is one of a firing. `starts`: those of all allocators."""
    pod = log.pod
    if _EXECUTOR.fullmatch(pod):
        earlier = [start for start in starts if start.begun <= log.begun]
        if not earlier:
            return not starts  # as with Spark's own backend, which has no allocator
        pod = max(earlier, key=lambda start: start.begun).pod
    return re.fullmatch(f"{re.escape(run.name)}-[a-z0-9]{{5}}", pod) is not None


def _time(line: str) -> datetime | None:
    found = _TIME.match(line)
    try:
        return datetime.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _listed(
    archive: Archive, pattern: str, environment: Mapping[str, str], since: int | None
) -> list[ArchivedLog]:
    age = () if since is None else ("--max-age", f"{since}s")
    only = ("--include", pattern) if pattern else ()
    return _logs(_lines(archive, environment, "--recursive", "--files-only", *age, *only))


def _lines(archive: Archive, environment: Mapping[str, str], *options: str) -> list[str]:
    command = [_rclone(environment), "lsf", "--config", "", *options, archive.folder]
    try:
        said = output_of(
            command,
            {**archive.variables, **environment},
            seconds=SECONDS,
            stdin=False,
            shown=False,  # it repeats what the store says
            most=MOST,
        )
    except TooMuch as error:
        raise SparkgenError(
            f"{archive.folder} has too many files ({error}): name one executor, or add --since 2h"
        ) from None
    except (Failed, OSError) as error:
        raise SparkgenError(f"cannot list {archive.folder}: {error}") from None
    return said.decode(errors="replace").splitlines()


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
    return sorted(logs, key=lambda log: (log.title.startswith("executor "), log.begun))


def _title(pod: str, whose: str) -> str:
    if whose != "spark":
        return whose
    named = _EXECUTOR.fullmatch(pod)
    return f"executor {named[1]}" if named else "driver"


def _rclone(environment: Mapping[str, str]) -> str:
    found = shutil.which("rclone", path=environment.get("PATH", os.defpath))
    if found is None:
        raise SparkgenError("rclone reads the archive, but it is not on your PATH: install rclone")
    return found
