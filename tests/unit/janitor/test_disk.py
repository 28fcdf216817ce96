"""The service's directories on a real file system."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sparkgen.janitor import disk
from sparkgen.janitor.disk import BadDirectory, Disk, open_database, prepare
from sparkgen.janitor.types import Owner

A, B = Owner("team", "uid-a"), Owner("team", "uid-b")


def fill(directory: Path, owner: Owner) -> Path:
    """An application's sub-directory with files in it."""
    folder = directory / owner.folder
    (folder / "blockmgr-1" / "0a").mkdir(parents=True)
    (folder / "blockmgr-1" / "0a" / "shuffle_0_0_0.data").write_bytes(bytes(1000))
    return folder


def test_whose_folders_there_are(tmp_path: Path) -> None:
    """In all directories together; what is nobody's is left out."""
    first, second = tmp_path / "1", tmp_path / "2"
    fill(first, A)
    fill(second, B)
    (first / "registeredExecutors.rdb").mkdir()
    assert Disk([first, second]).owners() == {A, B}


def test_removing(tmp_path: Path) -> None:
    """In every directory, and nothing else."""
    first, second = tmp_path / "1", tmp_path / "2"
    for directory in (first, second):
        fill(directory, A)
        fill(directory, B)
    Disk([first, second]).remove(A)
    assert sorted(path.name for path in tmp_path.glob("*/*")) == [B.folder, B.folder]


def test_an_interrupted_removal_is_finished(tmp_path: Path) -> None:
    """Its folder has another name by then: nobody takes it for an application's."""
    fill(tmp_path, A).rename(tmp_path / f".trash-{A.folder}")
    assert Disk([tmp_path]).owners() == frozenset()
    Disk([tmp_path]).empty()
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest goes all the same, and it is no application's any more."""
    fill(tmp_path, A)
    unlink = os.unlink

    def refuse(path: str, *, dir_fd: int | None = None) -> None:
        if str(path).endswith(".data"):
            raise PermissionError(13, "Permission denied", path)
        unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(PermissionError):
        Disk([tmp_path]).remove(A)
    assert Disk([tmp_path]).owners() == frozenset()


def test_removing_what_is_not_there_is_no_failure(tmp_path: Path) -> None:
    """Somebody else may have been faster."""
    Disk([tmp_path]).remove(A)


def test_what_is_held(tmp_path: Path) -> None:
    """An executor's lock is seen from another process, and ends with it."""
    lock = fill(tmp_path, A) / ".in-use"
    fill(tmp_path, B)
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert Disk([tmp_path]).held([A, B]) == {A}
    assert Disk([tmp_path]).held([A, B]) == frozenset()


def test_the_fullest_file_system_counts(tmp_path: Path) -> None:
    """Shares are between nothing and all."""
    assert 0.0 < Disk([tmp_path, Path("/dev/shm")]).used() < 1.0  # noqa: S108 - another file system
    assert Disk([tmp_path, Path("/dev/shm")]).used() >= Disk([tmp_path]).used()  # noqa: S108


def test_preparing(tmp_path: Path) -> None:
    """The mode that executors inherit; again is as good."""
    for number in ("1", "2"):
        prepare([tmp_path], number)
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o2770


def test_preparing_somebody_elses_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to do."""
    tmp_path.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(BadDirectory, match=r"belongs to user .* give it to user"):
        prepare([tmp_path], "1")


@pytest.mark.parametrize("name", disk.DATABASES)
def test_the_database_goes_when_it_speaks_of_nothing(tmp_path: Path, name: str) -> None:
    """Only before the service starts, and only when no application's files are there."""
    folder = fill(tmp_path, A)
    (tmp_path / name).mkdir()
    prepare([tmp_path], "1")
    assert (tmp_path / name).is_dir()
    Disk([tmp_path]).remove(A)
    assert not folder.exists()
    (said,) = [line for line in prepare([tmp_path], "2") if " goes: " in line]
    assert name in said
    Disk([tmp_path]).empty()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", disk.DATABASES)
def test_a_database_that_a_service_has_open(tmp_path: Path, name: str) -> None:
    """Its lock is another process's, of the kind that RocksDB and LevelDB take; it ends with that process."""
    first, second = tmp_path / "1", tmp_path / "2"
    first.mkdir()
    (second / name).mkdir(parents=True)
    lock = second / name / "LOCK"
    lock.touch()
    assert open_database([first, second]) is None
    program = (
        "import fcntl, sys; file = open(sys.argv[1], 'ab'); fcntl.lockf(file, fcntl.LOCK_EX); "
        "print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == "held\n"
        assert open_database([first, second]) == second / name
        service.communicate(timeout=30)
    assert open_database([first, second]) is None
