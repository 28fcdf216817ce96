"""The service's directories on a real file system."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sparkgen.runtime.janitor import disk
from sparkgen.runtime.janitor.disk import Disk
from sparkgen.runtime.janitor.prepare import DATABASES, BadDirectory, open_database, prepare
from sparkgen.runtime.janitor.removal import RemovalOutcome, Removed, open_directory
from sparkgen.runtime.janitor.values import Owner, Trash

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
    assert Disk([first, second]).look().owners == {A, B}


def remove(directories: list[Path], owner: Owner) -> list[Removed]:
    """Remove an application's files: what came of it in each directory."""
    made = Disk(directories)
    return [made.remove(trash, lambda: False) for trash in made.discard(owner).trash]


def test_removing(tmp_path: Path) -> None:
    """In every directory, and nothing else."""
    first, second = tmp_path / "1", tmp_path / "2"
    for directory in (first, second):
        fill(directory, A)
        fill(directory, B)
    assert remove([first, second], A) == [Removed(RemovalOutcome.GONE)] * 2
    assert sorted(path.name for path in tmp_path.glob("*/*")) == [B.folder, B.folder]


def test_an_interrupted_removal_is_finished(tmp_path: Path) -> None:
    """Its folder has another name by then: nobody takes it for an application's."""
    fill(tmp_path, A).rename(tmp_path / f".trash-{A.folder}")
    found = Disk([tmp_path]).look()
    assert found.owners == frozenset()
    (trash,) = found.trash
    assert Disk([tmp_path]).remove(trash, lambda: False) == Removed(RemovalOutcome.GONE)
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
    (tmp_path / A.folder / "other").touch()
    assert remove([tmp_path], A) == [Removed(RemovalOutcome.STUCK, "Permission denied", 1)]
    assert Disk([tmp_path]).look().owners == frozenset()
    assert not list(tmp_path.rglob("other"))


def test_a_service_whose_directory_is_a_link(tmp_path: Path) -> None:
    """Who names the directory is trusted; what is in it is not."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    lock = fill(tmp_path / "real", A) / ".in-use"
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert Disk([tmp_path / "link"]).is_held(A)
    assert remove([tmp_path / "link"], A) == [Removed(RemovalOutcome.GONE)]


def test_a_removal_has_its_time(tmp_path: Path) -> None:
    """What is left is gone on with, and nobody loses count."""
    folder = fill(tmp_path, A)
    for number in range(100):
        (folder / f"file{number}").touch()
    made, left = Disk([tmp_path]), iter([False] * 30)
    (trash,) = made.discard(A).trash
    assert made.remove(trash, lambda: next(left, True)) == Removed(RemovalOutcome.UNFINISHED)
    assert 60 < len(list((tmp_path / trash.name).iterdir())) < 80
    assert made.remove(trash, lambda: False) == Removed(RemovalOutcome.GONE)


def test_an_application_that_comes_back_while_its_removal_is_stuck(tmp_path: Path) -> None:
    """An executor was late: its folder has another name beside the first one's."""
    fill(tmp_path, A)
    made = Disk([tmp_path], lambda: "unguessed")
    first = made.discard(A)
    fill(tmp_path, A)
    second = made.discard(A)
    assert [one.trash[0].name for one in (first, second)] == [
        f".trash-{A.folder}",
        f".trash-{A.folder}-unguessed",
    ]


def test_a_directory_that_is_broken_is_no_reason_to_leave_the_others(tmp_path: Path) -> None:
    """One disk of a node; without any of them there is nothing to say."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    fill(good, A)
    made = Disk([bad, good])
    found = made.look()
    assert found.owners == {A}
    assert "No such file" in found.faults[0]
    assert 0 < made.used() < 1
    assert made.discard(A).trash == (Trash(str(good), f".trash-{A.folder}"),)
    for nothing in (Disk([bad]).look, Disk([bad]).used):
        with pytest.raises(FileNotFoundError):
            nothing()


def test_folders_that_somebody_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as are looked after: those that are known already first."""
    monkeypatch.setattr(disk, "MAX_FOLDERS", 3)
    known = {Owner("z", "1"), Owner("z", "2")}
    for owner in (*known, *(Owner("a", f"{number}") for number in range(50))):
        (tmp_path / owner.folder).mkdir()
    found = Disk([tmp_path]).look(known)
    assert known < found.owners
    assert len(found.owners) == 3
    assert found.crowded
    assert not Disk([tmp_path / "a_1"]).look().crowded


def test_another_file_system_is_not_entered(tmp_path: Path) -> None:
    """Whoever mounted it there wants to keep what is in it."""
    with pytest.raises(OSError, match="another file system is mounted there"):
        open_directory(str(tmp_path), device=-1)


def test_removing_what_is_not_there_is_no_failure(tmp_path: Path) -> None:
    """Somebody else may have been faster."""
    assert remove([tmp_path], A) == []
    assert Disk([tmp_path]).remove(Trash(str(tmp_path), "none"), lambda: False) == Removed(
        RemovalOutcome.GONE
    )


def test_what_is_held(tmp_path: Path) -> None:
    """An executor's lock is seen from another process, and ends with it."""
    lock = fill(tmp_path, A) / ".in-use"
    fill(tmp_path, B)
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert [Disk([tmp_path]).is_held(owner) for owner in (A, B)] == [True, False]
    assert not Disk([tmp_path]).is_held(A)


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


def test_preparing_changes_only_what_was_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link that leads elsewhere a moment later gives nobody another directory."""
    first, second, link = tmp_path / "1", tmp_path / "2", tmp_path / "link"
    for directory in (first, second):
        directory.mkdir(mode=0o700)
    link.symlink_to(first)
    group = os.getegid() + (os.geteuid() == 0)  # only root may give a directory to any group
    monkeypatch.setattr(os, "getegid", lambda: group)
    before, look = second.stat(), os.fstat

    def swapped(descriptor: int) -> os.stat_result:
        link.unlink()
        link.symlink_to(second)
        return look(descriptor)

    monkeypatch.setattr(os, "fstat", swapped)
    prepare([link], "1")
    assert (second.stat().st_mode, second.stat().st_gid) == (before.st_mode, before.st_gid)
    assert (stat.S_IMODE(first.stat().st_mode), first.stat().st_gid) == (0o2770, group)


@pytest.mark.parametrize("name", DATABASES)
def test_the_database_goes_when_it_speaks_of_nothing(tmp_path: Path, name: str) -> None:
    """Only before the service starts, and only when no application's files are there."""
    folder = fill(tmp_path, A)
    (tmp_path / name).mkdir()
    prepare([tmp_path], "1")
    assert (tmp_path / name).is_dir()
    remove([tmp_path], A)
    assert not folder.exists()
    (said,) = [line for line in prepare([tmp_path], "2") if line.startswith("removed ")]
    assert name in said
    (trash,) = Disk([tmp_path]).look().trash
    Disk([tmp_path]).remove(trash, lambda: False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", DATABASES)
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


def test_a_lock_of_a_database_that_is_none(tmp_path: Path) -> None:
    """Nobody waits for a named pipe, or follows a link."""
    database = tmp_path / DATABASES[0]
    database.mkdir()
    os.mkfifo(database / "LOCK")
    assert open_database([tmp_path]) is None
    (tmp_path / DATABASES[1]).symlink_to(database)
    assert open_database([tmp_path]) is None
