"""Archives that are refused, with nothing outside of their folder and nothing left in it."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparkgen.runtime.fetch import archive
from sparkgen.runtime.fetch.archive import unpack
from sparkgen.runtime.fetch.values import BadArtifact
from tests.unit.runtime.fetch.fake_registry import tar_of

Change = Callable[[tarfile.TarInfo], None]


def tar(*members: tuple[str, bytes | None, Change | None], format_: int = tarfile.USTAR_FORMAT) -> bytes:
    """An archive as Python's tarfile writes it. A member: name, content (None: a folder), what is changed."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format_) as made:
        for name, data, change in members:
            info = tarfile.TarInfo(name)
            info.type, info.size = (tarfile.DIRTYPE, 0) if data is None else (tarfile.REGTYPE, len(data))
            info.mode = 0o755 if data is None else 0o644
            if change is not None:
                change(info)
            made.addfile(info, io.BytesIO(data or b"") if info.size else None)
    return out.getvalue()


def a(kind: bytes, target: str = "", **fields: object) -> Change:
    """An entry of another kind, without content."""

    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname, info.size = kind, target, 0
        for name, value in fields.items():
            setattr(info, name, value)

    return change


def with_mode(mode: int) -> Change:
    """An entry with another mode."""
    return lambda info: setattr(info, "mode", mode)


def with_records(**records: str) -> Change:
    """An entry with records of pax."""
    return lambda info: info.pax_headers.update(
        {key.replace("_", "."): text for key, text in records.items()}
    )


def header(text: bytes) -> bytes:
    """A whole archive in which one byte of the first header is another one."""
    good = bytearray(tar_of({"a": b"1"}))
    good[0:1] = text
    return bytes(good)


PAX = tarfile.PAX_FORMAT
GOOD = tar_of({"a": b"1", "b/c": b"2"})
BAD: dict[str, tuple[bytes, str]] = {
    "path above": (tar(("../evil", b"x", None)), "not allowed"),
    "path above inside": (tar(("a/../../evil", b"x", None)), "not allowed"),
    "absolute path": (tar(("/etc/sparkgen-evil", b"x", None)), "not allowed"),
    "dot": (tar(("./a", b"x", None)), "not allowed"),
    "empty part": (tar(("a//b", b"x", None)), "not allowed"),
    "backslash": (tar(("..\\evil", b"x", None)), "not allowed"),
    "line feed": (tar(("a\nb", b"x", None)), "not allowed"),
    "no UTF-8": (tar(("\udcff", b"x", None)), "not UTF-8"),
    "symbolic link": (tar(("a", b"", a(tarfile.SYMTYPE, "/etc/passwd"))), "a symbolic link"),
    "folder by a link": (
        tar(("a", b"", a(tarfile.SYMTYPE, "/etc")), ("a/evil", b"x", None)),
        "a symbolic link",
    ),
    "hard link": (tar(("a", b"1", None), ("b", b"", a(tarfile.LNKTYPE, "/etc/passwd"))), "a hard link"),
    "character device": (tar(("a", b"", a(tarfile.CHRTYPE, devmajor=1, devminor=3))), "a device"),
    "block device": (tar(("a", b"", a(tarfile.BLKTYPE, devmajor=8))), "a device"),
    "pipe": (tar(("a", b"", a(tarfile.FIFOTYPE))), "a named pipe"),
    "file with a link's name": (tar(("a", b"", a(tarfile.REGTYPE, "/etc/passwd"))), "is a link"),
    "set user": (tar(("a", b"x", with_mode(0o4755))), "setuid, setgid or sticky"),
    "set group": (tar(("a", b"x", with_mode(0o2755))), "setuid, setgid or sticky"),
    "sticky": (tar(("a", None, with_mode(0o1777))), "setuid, setgid or sticky"),
    "file twice": (tar(("a", b"1", None), ("a", b"2", None)), "twice"),
    "file and folder": (tar(("a", b"1", None), ("a/b", b"2", None)), "twice"),
    "folder and file": (tar(("a/b", b"1", None), ("a", b"2", None)), "twice"),
    "path above by pax": (tar(("a", b"x", with_records(path="../evil")), format_=PAX), "not allowed"),
    "absolute by pax": (
        tar(("a", b"x", with_records(path="/etc/sparkgen-evil")), format_=PAX),
        "not allowed",
    ),
    "sparse by pax": (
        tar(("a", b"x", with_records(GNU_sparse_name="../evil")), format_=PAX),
        "more than a path",
    ),
    "size by pax": (tar(("a", b"x", with_records(size="99")), format_=PAX), "more than a path"),
    "link by pax": (tar(("a", b"x", with_records(linkpath="/etc")), format_=PAX), "more than a path"),
    "huge header": (tar(("a", b"x", with_records(path="b" * 20_000)), format_=PAX), "a header of"),
    "long name of GNU": (tar(("a" * 200, b"x", None), format_=tarfile.GNU_FORMAT), "ustar"),
    "name too long": (tar(("a" * 300, b"x", None), format_=PAX), "too long"),
    "too deep": (tar(("/".join("a" * 101), b"x", None), format_=PAX), "too deep"),
    "ends in a file": (GOOD[:600], "is truncated"),
    "ends in a header": (GOOD[:100], "is truncated"),
    "no end": (GOOD[: -2 * 512], "is truncated"),
    "half an end": (GOOD[:-512], "is truncated"),
    "something after its end": (GOOD + b"evil", "after its end"),
    "nothing": (b"", "is truncated"),
    "a text": (b"not an archive" * 100, "ustar"),
    "compressed": (b"\x1f\x8b\x08" + bytes(600), "ustar"),
    "wrong checksum": (header(b"b"), "ustar"),
    "more bytes than the lock says": (tar_of({"a": bytes(101)}), "unpackedSize"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_archive_is_refused(name: str, tmp_path: Path) -> None:
    """The reason is said, and nothing is anywhere else."""
    data, reason = BAD[name]
    folder = tmp_path / "in"
    folder.mkdir()
    with pytest.raises(BadArtifact) as caught:
        unpack(io.BytesIO(data), folder, 100)
    assert reason in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert not Path("/etc/sparkgen-evil").exists()


def test_a_global_header_is_refused(tmp_path: Path) -> None:
    """It would say something of every entry."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=PAX, pax_headers={"path": "../evil"}) as made:
        made.addfile(tarfile.TarInfo("a"))
    with pytest.raises(BadArtifact, match="a global header"):
        unpack(io.BytesIO(out.getvalue()), tmp_path, 100)


def test_a_hundred_thousand_entries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before they fill the node's file system; folders that are only named count, too."""
    assert archive.MOST_ENTRIES == 100_000
    monkeypatch.setattr(archive, "MOST_ENTRIES", 100)
    for number, names in enumerate(([f"{n}" for n in range(100)], [f"{n}/{n}/f" for n in range(40)])):
        (tmp_path / str(number)).mkdir()
        with pytest.raises(BadArtifact, match="100 or more files and folders"):
            unpack(io.BytesIO(tar_of(dict.fromkeys(names, b""))), tmp_path / str(number), 100)
        assert sum(len(f) + len(d) for _, d, f in os.walk(tmp_path / str(number))) < 100


def test_a_file_that_says_terabytes_is_refused_at_once(tmp_path: Path) -> None:
    """The header alone decides."""
    info = tarfile.TarInfo("a")
    info.size = 0o77777777777
    data = info.tobuf(tarfile.USTAR_FORMAT)
    with pytest.raises(BadArtifact, match="unpackedSize"):
        unpack(io.BytesIO(data), tmp_path, 1 << 30)


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_changed_archive_writes_nothing_outside(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever bytes are others: unpacked, or refused, and all in the folder."""
    changed = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(GOOD) - 1))] = data.draw(st.integers(0, 255))
    around = tmp_path_factory.mktemp("around")
    (around / "in").mkdir()
    with contextlib.suppress(BadArtifact):
        unpack(io.BytesIO(bytes(changed)), around / "in", 100)
    assert [path.name for path in around.iterdir()] == ["in"]
    assert all(not path.is_symlink() for path in (around / "in").rglob("*"))


def test_what_push_writes_is_unpacked(tmp_path: Path) -> None:
    """Long names and names beyond ASCII, too; modes do not depend on the umask."""
    files = {"a.py": b"1", "bin/run.sh": b"#!", "d" * 120 + "/x": b"2", "ä/ö": b"3", "e/f/g": b""}
    before = os.umask(0o077)
    try:
        assert unpack(io.BytesIO(tar_of(files)), tmp_path, 100) == 5
    finally:
        os.umask(before)
    found = {str(path.relative_to(tmp_path)): path for path in tmp_path.rglob("*") if path.is_file()}
    assert {name: path.read_bytes() for name, path in found.items()} == files
    assert stat.S_IMODE(found["bin/run.sh"].stat().st_mode) == 0o755
    assert stat.S_IMODE(found["a.py"].stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "e" / "f").stat().st_mode) == 0o755
