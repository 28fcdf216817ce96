"""The folders of one local run: some are deleted with it, the logs stay for a while."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkgen import contract
from sparkgen.local.cache import cache_root
from sparkgen.local.errors import CannotRun

KEPT_LOGS = 20
"""How many runs' logs are kept in the cache."""


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of a run's files, which only the user can read: `work` contains the RPC secret."""

    work: Path
    logs: Path

    @property
    def conf(self) -> Path:
        """The content of the run's `-conf` ConfigMap."""
        return self.work / "conf"

    @property
    def hadoop(self) -> Path:
        """The content of the run's `-hadoop` ConfigMap."""
        return self.work / "hadoop"

    @property
    def session(self) -> Path:
        """The allocator's session volume."""
        return self.work / "session"

    @property
    def tuning(self) -> Path:
        """The tuning file."""
        return self.work / contract.TUNING_FILE

    @property
    def driver_log(self) -> Path:
        """The driver's standard error: Spark's log."""
        return self.logs / "driver.log"

    @property
    def allocator_log(self) -> Path:
        """The allocator's log, as `kubectl logs -c allocator` shows it in a cluster."""
        return self.logs / "allocator.log"

    def executor_log(self, id_: int) -> Path:
        """The output of an executor."""
        return self.logs / f"executor-{id_}.log"

    def scratch(self, name: str) -> Path:
        """Make a scratch folder."""
        folder = self.work / "scratch" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def make(application_id: str, environment: Mapping[str, str]) -> Folders:
    """Make new folders for a run. Raises CannotRun if they cannot be created."""
    logs = cache_root(environment) / "logs"
    try:
        logs.mkdir(parents=True, exist_ok=True)
        _prune(logs)
        folders = Folders(Path(tempfile.mkdtemp(prefix="sparkgen-")), logs / application_id)
        folders.logs.mkdir(mode=0o700)
        for folder in (folders.conf, folders.hadoop, folders.session):
            folder.mkdir()
    except OSError as error:
        raise CannotRun(
            f"cannot create the folders of a run: {error}; free some space, or set SPARKGEN_CACHE and TMPDIR"
        ) from None
    return folders


def write(folders: Folders, run_files: Mapping[str, Mapping[str, str]], tuning: Mapping[str, str]) -> None:
    """Write the files of the run's ConfigMaps, by suffix and name, and of the tuning ConfigMap."""
    for suffix, folder in (("conf", folders.conf), ("hadoop", folders.hadoop)):
        for name, text in run_files.get(suffix, {}).items():
            (folder / name).write_text(text, encoding="utf-8")
    folders.tuning.write_text(tuning[contract.TUNING_FILE], encoding="utf-8")


def _prune(logs: Path) -> None:
    earlier = sorted(
        (path for path in logs.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime
    )
    for old in earlier[: max(0, len(earlier) - KEPT_LOGS + 1)]:
        shutil.rmtree(old, ignore_errors=True)
