"""The allocator's log in files: complete lines in files of one size, and no harm where none can be kept."""

from __future__ import annotations

import errno
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sparkgen.runtime.allocator.report import log_files
from sparkgen.runtime.allocator.report.log import Log
from sparkgen.runtime.allocator.report.log_files import LogFiles
from sparkgen.runtime.allocator.report.log_form import LogEvent

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def kept(folder: Path) -> str:
    """What is in the files, in the order of their names."""
    return "".join(path.read_text("utf-8") for path in sorted(folder.glob("*.log")))


def test_lines_are_printed_and_kept(tmp_path: Path) -> None:
    """Each is in the file as soon as it is printed: the container may be killed."""
    printed = io.StringIO()
    log = Log(LogFiles(printed, tmp_path, lambda: NOW), lambda: NOW)
    log.say(LogEvent.START, "one")
    assert kept(tmp_path) == printed.getvalue()
    log.say(LogEvent.START, "zwei: äöü")
    assert kept(tmp_path) == printed.getvalue()
    assert [path.name for path in tmp_path.iterdir()] == ["20260101T000000Z-000000.log"]


def test_a_file_that_is_full_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one has the next number, as the files of other containers."""
    monkeypatch.setattr(log_files, "LARGEST", 10)
    files = LogFiles(io.StringIO(), tmp_path, lambda: NOW)
    for number in range(4):
        files.write(f"line {number}\n")
        files.flush()
    assert sorted(path.read_text() for path in tmp_path.iterdir()) == ["line 0\nline 1\n", "line 2\nline 3\n"]
    assert kept(tmp_path) == "".join(f"line {number}\n" for number in range(4))


def test_no_file_of_somebody_else_is_written_to(tmp_path: Path) -> None:
    """A name that is taken, also by a link, is left alone; the line is printed all the same."""
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / "20260101T000000Z-000000.log").symlink_to(other)
    printed = io.StringIO()
    files = LogFiles(printed, tmp_path, lambda: NOW)
    files.write("a line\n")
    files.flush()
    assert other.read_text() == "mine"
    assert printed.getvalue() == "a line\n"


def test_a_disk_that_is_full_when_a_file_ends_ends_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then closing fails, too: all lines are printed, and later ones are kept in another file."""

    class Full(io.StringIO):
        def close(self) -> None:
            super().close()
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(log_files, "LARGEST", 10)
    printed = io.StringIO()
    files = LogFiles(printed, tmp_path, lambda: NOW, Full(), log_files.LARGEST)
    for number in range(2):
        files.write(f"line {number}\n")
        files.flush()
    assert printed.getvalue() == "line 0\nline 1\n"
    assert kept(tmp_path) == "line 1\n"


def test_without_a_folder_the_log_is_only_printed(tmp_path: Path) -> None:
    """A full disk is the same."""
    printed = io.StringIO()
    files = LogFiles(printed, tmp_path / "gone", lambda: NOW)
    files.write("a line\n")
    files.flush()
    assert printed.getvalue() == "a line\n"
