"""What an executor can do to its own folder, and that nobody else's stays for it: with real users."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sparkgen.runtime.janitor.disk import Disk
from sparkgen.runtime.janitor.removal import RemovalOutcome, Removed
from sparkgen.runtime.janitor.rounds import Janitor, JanitorPorts
from sparkgen.runtime.janitor.values import Drivers, DriversAnswer, JanitorSettings, Owner
from tests.unit.runtime.janitor.users import JANITOR, OTHER, Node, as_root, prepared_node, run_as, running_as

pytestmark = as_root

A, B = Owner("team", "uid-a"), Owner("team", "uid-b")
NESTED = 3_000
"""Thrice what Python recurses; 100,000 have been tried by hand."""


@pytest.fixture
def node() -> Iterator[Node]:
    """A node with the folders of two applications; B's is an ordinary one."""
    with prepared_node() as made:
        made.make(A)
        ordinary = made.make(B)
        run_as(JANITOR, lambda: fill(ordinary))
        yield made


def fill(folder: Path) -> None:
    """What Spark writes."""
    (folder / "blockmgr-1" / "0a").mkdir(parents=True)
    (folder / "blockmgr-1" / "0a" / "shuffle_0_0_0.data").write_bytes(bytes(1000))


def remove(node: Node, owner: Owner, seconds: float = 60.0) -> Removed:
    """Remove an application's folder as the janitor's user, with hardly any descriptors."""

    def work() -> Removed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
        disk, deadline = Disk([node.directory]), time.monotonic() + seconds
        (trash,) = disk.discard(owner).trash
        return disk.remove(trash, lambda: time.monotonic() >= deadline)

    found: Removed = run_as(JANITOR, work)
    return found


def held(node: Node) -> set[Owner]:
    """Whose lock the janitor's user sees; within seconds, or the test fails."""
    found: set[Owner] = run_as(JANITOR, lambda: {o for o in (A, B) if Disk([node.directory]).is_held(o)}, 10)
    return found


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "link to a pipe", "link to a lock", "closed"])
def test_a_lock_that_is_none(node: Node, kind: str) -> None:
    """Nobody waits for it, and a link says nothing of another application's lock."""
    lock, aside = node.directory / A.folder / ".in-use", node.directory / A.folder / "aside"

    def make() -> None:
        match kind:
            case "pipe":
                os.mkfifo(lock)
            case "socket":
                socket.socket(socket.AF_UNIX).bind(str(lock))
            case "folder":
                lock.mkdir()
            case "link to a pipe":
                os.mkfifo(aside)
                lock.symlink_to(aside)
            case "link to a lock":
                lock.symlink_to(node.directory / B.folder / ".in-use")
            case "closed":
                lock.touch(0o000)

    run_as(JANITOR, make)
    with running_as(JANITOR, lambda: hold(node.directory / B.folder / ".in-use")):
        deadline = time.monotonic() + 10
        while held(node) != {B} and time.monotonic() < deadline:
            time.sleep(0.05)
        assert held(node) == {B}
    assert held(node) == set()
    assert remove(node, A).outcome is RemovalOutcome.GONE


def test_descriptors_of_the_tests_do_not_count(node: Node) -> None:
    """The limit of `remove` is the janitor's alone, whatever the process that plays it has open."""
    run_as(JANITOR, lambda: fill(node.directory / A.folder))
    taken = [os.dup(0) for _ in range(40)]
    try:
        assert remove(node, A).outcome is RemovalOutcome.GONE
    finally:
        for one in taken:
            os.close(one)


def hold(path: Path) -> None:
    """Hold a lock as shuffle.sh does."""
    import fcntl  # noqa: PLC0415 - in the child alone

    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        time.sleep(60)


def test_folders_in_folders(node: Node) -> None:
    """As deep as somebody likes, with files on the way: no recursion, and few descriptors."""
    folder = node.directory / A.folder

    def nest() -> None:
        os.chdir(folder)
        for number in range(NESTED):
            if number % 100 == 0:
                Path("file").write_text("data")
            Path("d").mkdir()
            os.chdir("d")

    run_as(JANITOR, nest)
    assert remove(node, A) == Removed(RemovalOutcome.GONE)
    assert node.left() == {B.folder}


def test_what_its_owner_has_closed(node: Node) -> None:
    """The janitor has the user of stock images: what one of these closes, the other opens."""
    folder = node.directory / A.folder

    def close() -> None:
        for mode in (0o000, 0o100, 0o400, 0o500, 0o3555):
            deep = folder / f"{mode:o}" / "a" / "b"
            deep.mkdir(parents=True)
            for part in (deep, deep.parent, deep.parent.parent):
                (part / "file").write_text("data")
                (part / "file").chmod(0)
                (part / "empty").mkdir(0)
            for part in (deep, deep.parent, deep.parent.parent):
                part.chmod(mode)

    run_as(JANITOR, close)
    assert remove(node, A) == Removed(RemovalOutcome.GONE)
    assert node.left() == {B.folder}


def test_what_another_user_has_closed(node: Node) -> None:
    """It stays, and is told; all the rest goes, and it goes, too, once it is open."""
    folder = node.directory / A.folder

    def close() -> None:
        fill(folder)
        (folder / "closed").mkdir()
        (folder / "closed" / "file").write_text("data")
        (folder / "closed").chmod(0)

    run_as(OTHER, close)
    assert remove(node, A) == Removed(RemovalOutcome.STUCK, "Permission denied", 1)
    assert node.left() == {B.folder, f".trash-{A.folder}"}
    trash = node.directory / f".trash-{A.folder}"
    assert [path.name for path in trash.iterdir()] == ["closed"]
    (trash / "closed").chmod(0o770)
    (found,) = run_as(JANITOR, lambda: Disk([node.directory]).look().trash)
    again = run_as(JANITOR, lambda: Disk([node.directory]).remove(found, lambda: False))
    assert again == Removed(RemovalOutcome.GONE)
    assert node.left() == {B.folder}


def test_links_are_not_followed(node: Node) -> None:
    """Neither to another application's files, nor to any of the node's."""
    folder, other = node.directory / A.folder, node.directory / B.folder

    def link() -> None:
        (folder / "files").symlink_to(other / "blockmgr-1")
        (folder / "above").symlink_to("../..")
        (folder / "self").symlink_to("self")
        (folder / "in" / "in").mkdir(parents=True)
        (folder / "in" / "in" / "files").symlink_to(other)
        os.mkfifo(folder / "in" / "pipe")
        socket.socket(socket.AF_UNIX).bind(str(folder / "in" / "socket"))

    run_as(JANITOR, link)
    assert remove(node, A) == Removed(RemovalOutcome.GONE)
    assert (other / "blockmgr-1" / "0a" / "shuffle_0_0_0.data").stat().st_size == 1000


def test_names_that_are_no_text(node: Node) -> None:
    """And one with a line's end, and one that is as long as names may be."""
    folder = os.fsencode(node.directory / A.folder)

    def make() -> None:
        for name in (b"\xff\xfe", b"a\nb", b"\x1b[2J", b"x" * 255):
            Path(os.fsdecode(folder + b"/" + name + b"/" + name)).mkdir(parents=True)

    run_as(JANITOR, make)
    assert remove(node, A) == Removed(RemovalOutcome.GONE)


def test_folders_that_are_renamed_meanwhile(node: Node) -> None:
    """User code that still runs puts folders elsewhere, and links in their place: nothing else is touched."""
    folder = node.directory / A.folder
    target = node.directory / B.folder / "blockmgr-1"

    def make() -> None:
        for number in range(300):
            fill(folder / f"{number}")

    def shuffle(at: int) -> None:
        for number in range(300):
            with suppress(OSError):
                os.rename(f"{number}/blockmgr-1", f"moved{number}", src_dir_fd=at, dst_dir_fd=at)
                os.symlink(target, f"{number}/blockmgr-1", dir_fd=at)
            with suppress(OSError):
                os.rename(f"moved{number}", f"{(number + 7) % 300}/deeper", src_dir_fd=at, dst_dir_fd=at)

    run_as(JANITOR, make)
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with running_as(JANITOR, lambda: shuffle(at)):
        remove(node, A, seconds=3)
    os.close(at)
    rest = run_as(
        JANITOR,
        lambda: [
            Disk([node.directory]).remove(trash, lambda: False)
            for trash in Disk([node.directory]).look().trash
        ],
    )
    assert {removed.outcome for removed in rest} <= {RemovalOutcome.GONE}
    assert node.left() == {B.folder}
    assert (target / "0a" / "shuffle_0_0_0.data").stat().st_size == 1000


@pytest.mark.parametrize("user", [JANITOR, OTHER])
def test_all_of_a_node_goes_in_spite_of_one(node: Node, user: int) -> None:
    """Whole rounds: a tenant who closes, nests, pipes and goes on writing; what others have goes in time."""
    folder = node.directory / A.folder
    others = [Owner("team", f"uid-{number}") for number in range(20)]
    made = [node.make(owner) for owner in others]
    run_as(user, lambda: [fill(one) for one in made])

    def attack() -> None:
        os.mkfifo(folder / ".in-use")
        (folder / "closed").mkdir()
        (folder / "closed" / "file").write_text("data")
        (folder / "closed").chmod(0)

    def write(at: int) -> None:
        for number in range(1000):
            os.close(os.open(f"file{number}", os.O_CREAT | os.O_WRONLY, dir_fd=at))

    def clean() -> tuple[set[str], str]:
        said: list[str] = []
        calls = JanitorPorts(
            Disk([node.directory]), lambda _: Drivers(DriversAnswer.WHOLE), time.monotonic, said.append
        )
        janitor = Janitor(calls, JanitorSettings(interval=1.0, grace=0.0))
        deadline = time.monotonic() + 20
        while len(node.left()) > 1 and time.monotonic() < deadline:
            janitor.round()
        return node.left(), "\n".join(said)

    run_as(user, attack)
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with running_as(user, lambda: write(at)):
        left, said = run_as(JANITOR, clean)
    os.close(at)
    assert left <= {f".trash-{A.folder}"}
    assert all(f"removed {owner.folder}: " in said for owner in (B, *others))


def test_a_process_that_holds_a_lease(node: Node) -> None:
    """Whoever opens its file would wait for 45 s; it is taken for what it is: somebody lives there."""
    import fcntl  # noqa: PLC0415 - here alone

    lock = node.directory / A.folder / ".in-use"

    def lease() -> None:
        file = os.open(lock, os.O_RDWR | os.O_CREAT)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        time.sleep(60)

    with running_as(JANITOR, lease):
        deadline = time.monotonic() + 10
        while not lock.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        began = time.monotonic()
        found = held(node)
        assert time.monotonic() - began < 5
    if not found:
        pytest.skip("this file system has no leases")
    assert found == {A}
