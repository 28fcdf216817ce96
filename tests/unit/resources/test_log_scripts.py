"""The scripts that keep and archive logs, run as pods run them, with another folder and a small rclone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sparkgen import contract
from sparkgen.resources.text import static_text

NAME = "20260101T000000Z-00000{}.log"
RCLONE = """#!/bin/sh
# `rclone move|copy --files-from LIST SOURCE TARGET`, as the script calls it. It follows links.
[ -z "${AWAY:-}" ] || exit 1
verb=$1 list=$3 source=$4 target=$5
case $verb in delete | rmdirs) echo "$1 $2 $3 $4" >>"$SPARKGEN_LOG_ARCHIVE/calls"; exit ;; esac
while read -r file; do
  mkdir -p "$target/${file%/*}" && cp "$source/$file" "$target/$file" || exit 1
  [ "$verb" = copy ] || rm -f "$source/$file"
done <"$list"
"""


RACER = """#!/bin/sh
# A program of the archiving container. Just before it runs, user code makes links of all files in its folder.
for file in {folder}/*.log; do [ ! -f "$file" ] || ln -sf {secret} "$file"; done
exec {program} "$@"
"""


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """The folder of a pod's logs, with that of its Spark container."""
    (tmp_path / "logs" / "spark").mkdir(parents=True)
    return tmp_path / "logs"


def script(name: str, folder: Path, *others: tuple[str, str]) -> Path:
    """A script of the run, for another folder than that of pods, and changed as the test needs it."""
    text = static_text(name)
    for old, new in ((contract.LOGS_DIR, str(folder)), *others):
        assert old in text
        text = text.replace(old, new)
    path = folder.parent / name
    path.write_text(text)
    return path


def logged(logs: Path, *command: str, size: int = 4 << 20) -> subprocess.CompletedProcess[bytes]:
    """A command whose output is kept, run to its end."""
    sized = ("bytes=4194304", f"bytes={size}")
    path = script(contract.LOGGED_SCRIPT_FILE, logs / "spark", sized)
    return subprocess.run(["bash", str(path), *command], capture_output=True, check=False)


def kept(folder: Path) -> bytes:
    """All that is in the files of a folder, in the order of their names."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))


def test_all_lines_are_printed_and_kept(logs: Path) -> None:
    """Of both streams, up to the last one, with the command's own exit code."""
    done = logged(logs, "bash", "-c", "echo out; echo err >&2; echo last; exit 52")
    assert done.returncode == 52
    assert done.stdout == kept(logs / "spark") == b"out\nerr\nlast\n"
    assert not list((logs / "spark").glob(".pipes*"))


def test_a_flood_is_kept_in_files_of_one_size(logs: Path) -> None:
    """So that a file that is complete is copied once."""
    done = logged(logs, "bash", "-c", "head -c 3000000 /dev/zero | tr '\\0' x", size=1_000_000)
    sizes = [path.stat().st_size for path in sorted((logs / "spark").glob("*.log"))]
    assert sizes == [1_000_000] * 3
    assert len(done.stdout) == 3_000_000


def test_the_command_gets_the_signal_and_keeps_its_last_words(logs: Path) -> None:
    """As a pod that is deleted sends it to process 1."""
    path = script(contract.LOGGED_SCRIPT_FILE, logs / "spark")
    body = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen(["bash", str(path), "bash", "-c", body], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == b"bye\n"
    assert process.returncode == 7
    assert kept(logs / "spark") == b"ready\nbye\n"


def test_without_a_folder_the_command_runs_as_it_is(logs: Path) -> None:
    """Nothing about logs keeps an application from running."""
    path = script(contract.LOGGED_SCRIPT_FILE, logs / "gone")
    done = subprocess.run(
        ["bash", str(path), "sh", "-c", "echo works; exit 3"], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, b"works\n")
    assert b"is not archived" in done.stderr


def archiving(logs: Path, tmp_path: Path, **env: str) -> subprocess.Popen[bytes]:
    """The container that archives logs, as it starts."""
    programs = tmp_path / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "rclone").write_text(RCLONE)
    (programs / "rclone").chmod(0o755)
    variables = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        contract.ENV_LOG_ARCHIVE: str(tmp_path / "archive"),
        contract.ENV_RUN: "run",
        contract.ENV_POD_NAME: "pod",
        contract.ENV_LOG_ARCHIVE_SECONDS: "5",
        contract.ENV_LOG_ARCHIVE_KIB: "1024",
        **env,
    }
    path = script(contract.LOG_ARCHIVE_SCRIPT_FILE, logs, ("sleep 5", "sleep 0.2"))
    return subprocess.Popen(["sh", str(path)], env=variables, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> bytes:
    """What the container has said, once the kubelet has ended it."""
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 0
    return said


def wait(condition: Callable[[], bool]) -> None:
    """Wait for something that the script does."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_complete_files_are_moved_and_the_last_one_is_copied_at_the_end(logs: Path, tmp_path: Path) -> None:
    """What was written after the last interval is there, too."""
    for number, text in enumerate((b"first\n", b"second\n")):
        (logs / "spark" / NAME.format(number)).write_bytes(text)
    archive = tmp_path / "archive" / "run" / "pod" / "spark"
    process = archiving(logs, tmp_path)
    wait(lambda: kept(archive) == b"first\nsecond\n")
    assert [path.name for path in (logs / "spark").glob("*.log")] == [NAME.format(1)]
    with (logs / "spark" / NAME.format(1)).open("ab") as file:
        file.write(b"last words\n")
    ended(process)
    assert kept(archive) == b"first\nsecond\nlast words\n"


def test_what_waits_is_bounded_and_the_archive_says_what_is_missing(logs: Path, tmp_path: Path) -> None:
    """If the archive cannot be reached, the oldest lines go; the container goes on."""
    for number in range(4):
        (logs / "spark" / NAME.format(number)).write_bytes(b"x" * 600_000)
    process = archiving(logs, tmp_path, AWAY="yes")
    wait(lambda: (logs / "dropped.txt").exists())
    said = ended(process)
    left = sorted(path.name for path in logs.rglob("*.log"))
    assert left[-1] == NAME.format(3)
    assert NAME.format(0) not in left
    assert f"spark/{NAME.format(0)} was deleted before it could be archived".encode() in said
    assert NAME.format(0) in (logs / "dropped.txt").read_text()


def test_the_oldest_files_of_all_containers_go_first(logs: Path, tmp_path: Path) -> None:
    """Whatever the names of their folders are."""
    old, new = "20260101T000000Z-00000{}.log", "20260102T000000Z-00000{}.log"
    (logs / "allocator").mkdir()
    for folder, name in (("allocator", new), ("spark", old)):
        for number in range(2):
            (logs / folder / name.format(number)).write_bytes(b"x" * 300_000)
    process = archiving(logs, tmp_path, AWAY="yes")
    wait(lambda: (logs / "dropped.txt").exists())
    ended(process)
    (line,) = (logs / "dropped.txt").read_text().splitlines()
    assert line == f"spark/{old.format(0)} was deleted before it could be archived"


def test_what_user_code_puts_there_is_left_alone(logs: Path, tmp_path: Path) -> None:
    """Links, and names that would be something else in a list of files."""
    secret = tmp_path / "secret.log"
    secret.write_text("a secret of the archiving container")
    (logs / "spark" / NAME.format(0)).symlink_to(secret)
    (logs / "spark" / "20260101T000000Z-1\n..log").write_text("x")
    (logs / "spark" / "20260101T000000Z-1 x.log").write_text("x")
    (logs / "linked").symlink_to(tmp_path)
    (logs / "spark" / NAME.format(1)).write_text("mine\n")
    process = archiving(logs, tmp_path)
    wait(lambda: any((tmp_path / "archive").rglob(NAME.format(1))))
    ended(process)
    found = [path for path in (tmp_path / "archive").rglob("*") if path.is_file()]
    assert [path.read_text() for path in found] == ["mine\n"]


@pytest.mark.parametrize("program", ["rclone", "ln"])
def test_user_code_cannot_swap_a_file_once_it_is_checked(program: str, logs: Path, tmp_path: Path) -> None:
    """A link to the credentials, put there at the worst moment, brings them nowhere."""
    secret = tmp_path / "credentials"
    secret.write_text("a secret of the archiving container")
    for number in range(3):
        (logs / "spark" / NAME.format(number)).write_text(f"line {number}\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "racers").mkdir()
    real = programs / "rclone" if program == "rclone" else shutil.which(program)
    racer = programs / "racers" / program
    racer.write_text(
        RACER.format(folder=logs / "spark", secret=secret, program=real).replace("ln -sf", "/bin/ln -sf")
    )
    racer.chmod(0o755)
    process = archiving(logs, tmp_path, PATH=f"{racer.parent}:{programs}:{os.environ['PATH']}")
    wait(lambda: all(path.is_symlink() for path in (logs / "spark").glob("*.log")))
    ended(process)
    found = [path.read_text() for path in (tmp_path / "archive").rglob("*") if path.is_file()]
    assert not [text for text in found if "secret" in text]
    if program == "rclone":
        assert {"line 0\n", "line 1\n"} <= {*found}


def test_what_was_taken_is_archived_after_a_restart(logs: Path, tmp_path: Path) -> None:
    """The container that archives is killed while its archive cannot be reached."""
    for number in range(3):
        (logs / "spark" / NAME.format(number)).write_text(f"line {number}\n")
    process = archiving(logs, tmp_path, AWAY="yes")
    wait(lambda: len(list((logs / "spark").glob("*.log"))) == 1)
    process.kill()
    process.communicate(timeout=30)
    archive = tmp_path / "archive" / "run" / "pod" / "spark"
    process = archiving(logs, tmp_path)
    wait(lambda: kept(archive) == b"line 0\nline 1\nline 2\n")
    ended(process)


def test_the_group_may_write_the_files(logs: Path) -> None:
    """Linux lets the archiving container link a file of another user only then (fs.protected_hardlinks)."""
    logged(logs, "bash", "-c", "echo line")
    (file,) = (logs / "spark").glob("*.log")
    assert file.stat().st_mode & 0o777 == 0o664


def test_what_is_old_is_deleted_once_something_is_there(logs: Path, tmp_path: Path) -> None:
    """Of all runs, and the folders that are empty then; once for each start of a driver."""
    process = archiving(logs, tmp_path, **{contract.ENV_LOG_MAX_AGE: "86400s"})
    (logs / "spark" / NAME.format(0)).write_text("a line\n")
    calls = tmp_path / "archive" / "calls"
    wait(lambda: calls.exists() and calls.read_text().count("\n") == 2)
    (logs / "spark" / NAME.format(1)).write_text("a line\n")
    ended(process)
    assert calls.read_text().splitlines() == [
        f"delete --min-age 86400s {tmp_path / 'archive'}",
        f"rmdirs --leave-root {tmp_path / 'archive'} --config",
    ]
