"""Writing into a directory: whole files, ours only, never outside, and completed by the next run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.writers import leftovers, render_directory
from sparkgen.writers.manifest import header
from sparkgen.writers.render_directory import write
from sparkgen.writers.tree import STAGE, compare

HEAD = header("1.0.0", "0" * 64)


def text(body: str, version: str = "1.0.0") -> str:
    """A file as sparkgen writes it."""
    return header(version, "0" * 64) + body


def render(*names: str, body: str = "a: 1\n", version: str = "1.0.0") -> dict[str, str]:
    """The files of one application, kustomization included."""
    files = {name: text(body, version) for name in names}
    listing = "resources:\n" + "".join(f"  - {name}\n" for name in names)
    return {**files, "kustomization.yaml": text(listing, version)}


def several(**applications: dict[str, str]) -> dict[str, str]:
    """The files of several applications in folders."""
    files = {f"{name}/{path}": body for name, inner in applications.items() for path, body in inner.items()}
    top = "resources:\n" + "".join(f"  - {name}\n" for name in sorted(applications))
    return {**files, "kustomization.yaml": text(top)}


def snapshot(directory: Path) -> dict[str, str]:
    """Every file below a directory by relative path, hidden ones included, links as where they lead."""
    return {
        path.relative_to(directory).as_posix(): str(path.readlink())
        if path.is_symlink()
        else path.read_text()
        for path in sorted(directory.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An output directory with one earlier render."""
    write(tmp_path / "out", render("job.yaml", "role.yaml", "service-ui.yaml"))
    return tmp_path / "out"


NEW = render("job.yaml", "role.yaml", "config-map-conf.yaml", body="a: 2\n")


def test_a_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    """What is missing is created, and nothing else is left behind."""
    changes = write(tmp_path / "a" / "b", render("job.yaml"))
    assert snapshot(tmp_path) == {f"a/b/{path}": body for path, body in render("job.yaml").items()}
    assert set(changes.write) == {"job.yaml", "kustomization.yaml"}


def test_a_new_render_replaces_and_removes(out: Path) -> None:
    """Changed files are replaced, new ones added, those of the earlier render alone removed."""
    changes = write(out, NEW)
    assert snapshot(out) == NEW
    assert changes.stale == ("service-ui.yaml",)


def test_what_did_not_change_is_not_touched(out: Path) -> None:
    """Equal files keep their time stamp, whatever else changes."""
    os.utime(out / "role.yaml", (1, 1))
    write(out, {**render("job.yaml", "role.yaml", "service-ui.yaml"), "job.yaml": text("a: 3\n")})
    assert (out / "role.yaml").stat().st_mtime == 1
    assert "a: 3" in (out / "job.yaml").read_text()


def test_a_new_version_of_the_tool_changes_nothing(out: Path) -> None:
    """An upgrade alone makes no diff."""
    before = snapshot(out)
    assert not write(out, render("job.yaml", "role.yaml", "service-ui.yaml", version="2.0.0"))
    assert snapshot(out) == before


def test_files_of_others_are_kept(out: Path) -> None:
    """A README, an overlay, a listed file without our header: none of our business."""
    (out / "README.md").write_text("mine")
    (out / "extra.yaml").write_text(text("was ours, but is not listed"))
    listing = (out / "kustomization.yaml").read_text() + "  - patch.yaml\n"
    (out / "kustomization.yaml").write_text(listing)
    (out / "patch.yaml").write_text("mine")
    write(out, NEW)
    assert set(snapshot(out)) == {*NEW, "README.md", "extra.yaml", "patch.yaml"}


@pytest.mark.parametrize("name", ["job.yaml", "kustomization.yaml"])
def test_a_file_of_somebody_else_in_the_way_stops_the_write(out: Path, name: str) -> None:
    """A file without our header is never overwritten; the message says which one."""
    (out / name).write_text("mine: true\n")
    before = snapshot(out)
    with pytest.raises(
        SparkgenError, match=rf"files with the same names: .*{re.escape(name)}\. Move or delete"
    ):
        write(out, NEW)
    assert snapshot(out) == before


def test_an_empty_file_is_nobodys(out: Path) -> None:
    """A power cut or `touch` may leave one; there is nothing in it to lose."""
    (out / "config-map-conf.yaml").touch()
    (out / "job.yaml").write_text("")
    write(out, NEW)
    assert snapshot(out) == NEW


def test_modes_are_kept(out: Path) -> None:
    """A file that the group may write stays so."""
    (out / "job.yaml").chmod(0o664)
    write(out, NEW)
    assert (out / "job.yaml").stat().st_mode & 0o777 == 0o664


def test_from_one_application_to_several_and_back(out: Path) -> None:
    """Files and folders of the other layout are removed; a folder with foreign files stays."""
    both = several(a=render("job.yaml"), b=render("job.yaml", "role.yaml"))
    write(out, both)
    assert snapshot(out) == both
    (out / "b" / "notes.txt").write_text("mine")
    write(out, several(b=render("job.yaml"), c=render("job.yaml")))
    assert set(snapshot(out)) == {*several(b=render("job.yaml"), c=render("job.yaml")), "b/notes.txt"}
    assert not (out / "a").exists()
    write(out, render("job.yaml"))
    assert set(snapshot(out)) == {"job.yaml", "kustomization.yaml", "b/notes.txt"}


def test_a_link_in_the_directory_is_not_followed(out: Path, tmp_path: Path) -> None:
    """Neither a linked file nor a linked folder is written through."""
    outside = tmp_path / "outside"
    write(outside, render("job.yaml"))
    before = snapshot(outside)
    (out / "job.yaml").unlink()
    (out / "job.yaml").symlink_to(outside / "job.yaml")
    with pytest.raises(SparkgenError, match="files with the same names"):
        write(out, NEW)
    (out / "a").symlink_to(outside)
    with pytest.raises(SparkgenError, match=r"out/a\."):
        write(out, several(a=render("role.yaml"), b=render("job.yaml")))
    assert snapshot(outside) == before


def test_a_listing_cannot_name_files_outside(out: Path, tmp_path: Path) -> None:
    """A kustomization with our header that lists `..` or a linked folder removes nothing there."""
    outside = tmp_path / "outside"
    write(outside, render("job.yaml"))
    before = snapshot(outside)
    (out / "linked").symlink_to(outside)
    lines = "resources:\n  - ../outside\n  - ../outside/job.yaml\n  - linked\n  - job.yaml\n  - ..\n"
    (out / "kustomization.yaml").write_text(text(lines))
    write(out, render("role.yaml"))
    assert snapshot(outside) == before
    assert not (out / "job.yaml").exists()


def test_the_directory_itself_may_be_a_link(tmp_path: Path, out: Path) -> None:
    """Whoever names a link means where it leads."""
    (tmp_path / "link").symlink_to(out)
    write(tmp_path / "link", NEW)
    assert snapshot(out) == NEW


def test_a_file_in_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    """The message says what stands there and what to do."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SparkgenError, match="file is not a directory; choose another --output-dir"):
        write(tmp_path / "file", NEW)
    with pytest.raises(SparkgenError, match="is not a directory"):
        write(tmp_path / "file" / "below", NEW)


def failing_rename(at: int, error: BaseException) -> Callable[[Path, Path], None]:
    """A rename that works until the given call (from 0)."""
    calls = iter(range(at))

    def rename(source: Path, target: Path) -> None:
        if next(calls, None) is None:
            raise error
        os.replace(source, target)  # noqa: PTH105  (what the writer itself calls)

    return rename


def test_the_first_rename_fails(out: Path) -> None:
    """Then nothing was changed, and the message says so; folders that were made for it are gone."""
    before = snapshot(out)
    broken = failing_rename(0, OSError(28, "No space left on device"))
    with pytest.raises(SparkgenError, match="No space left on device; nothing in it was changed"):
        write(out, several(a=render("job.yaml"), b=render("job.yaml")), rename=broken)
    assert snapshot(out) == before
    assert not (out / "a").exists()


LATER = [
    render("job.yaml", "role.yaml", "config-map-conf.yaml", body="a: 2\n"),
    render("job.yaml"),
    several(a=render("job.yaml"), b=render("job.yaml", "role.yaml")),
]


@pytest.mark.parametrize("at", range(1, 6))
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("before", [render("job.yaml", "role.yaml", "service-ui.yaml"), LATER[2]])
def test_a_write_that_broke_off_is_completed_by_the_next_one(
    tmp_path: Path, before: dict[str, str], later: dict[str, str], at: int
) -> None:
    """Law: wherever it broke off, each file is the old one or the new one, and the next run leaves no other.

    Also where that one renders something else.
    """
    out = tmp_path / "out"
    write(out, before)
    added = {f"c/{path}": body for path, body in render("role.yaml", body="a: 4\n").items()}
    new = {**added, **render("job.yaml", "tuning.yaml", body="a: 3\n")}
    new["kustomization.yaml"] += "  - c\n"
    try:
        write(out, new, rename=failing_rename(at, OSError(5, "Input/output error")))
    except SparkgenError as error:
        assert "only some of its files are up to date. To complete it, fix the cause" in str(error)  # noqa: PT017
        mixed = {path: body for path, body in snapshot(out).items() if not path.startswith(STAGE)}
        assert all(body in (before.get(path), new.get(path)) for path, body in mixed.items())
    write(out, later)
    assert snapshot(out) == later


def test_a_directory_made_for_nothing_is_removed(tmp_path: Path) -> None:
    """A first render that fails leaves no trace."""
    with pytest.raises(SparkgenError):
        write(tmp_path / "a" / "b", NEW, rename=failing_rename(0, OSError(5, "Input/output error")))
    assert list(tmp_path.iterdir()) == []


def child(directory: Path, body: str) -> subprocess.Popen[str]:
    """A Python process that writes NEW into the directory, with `body` run before."""
    program = f"""
import os, resource, signal, sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_render_directory import NEW
from sparkgen.errors import SparkgenError
from sparkgen.writers import render_directory as module
out = Path({str(directory)!r})
rename = os.replace
{textwrap.dedent(body)}
try:
    module.write(out, NEW, rename=rename)
except SparkgenError as error:
    sys.exit(str(error))
"""
    return subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


STOP_WHILE_STAGING = """
def slow(paths):
    print("now", flush=True)
    for _ in range(300): time.sleep(0.1)
module.settle = slow
"""
"""In short naps: Python looks at a signal that comes just before a sleep only when the sleep is over."""
STOP_WHILE_COMMITTING = """
count = 0
def rename(source, target):
    global count
    os.replace(source, target)
    count += 1
    if count == 2:
        print("now", flush=True)
        for _ in range({tenths}): time.sleep(0.1)
"""


def stopped(process: subprocess.Popen[str], number: int) -> int:
    """Wait until the child says where it is, send it a signal, and return its exit code."""
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    process.send_signal(number)
    process.communicate(timeout=20)
    return process.returncode


def test_killed_while_staging(out: Path) -> None:
    """Old files untouched; the next run removes what was left and does its work."""
    before = snapshot(out)
    assert stopped(child(out, STOP_WHILE_STAGING), signal.SIGKILL) == -signal.SIGKILL
    left = snapshot(out)
    assert {path: body for path, body in left.items() if not path.startswith(STAGE)} == before
    write(out, NEW)
    assert snapshot(out) == NEW


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_staging(out: Path, number: int) -> None:
    """Ctrl-C, or the end of a CI job, before the commit leaves exactly what was there."""
    before = snapshot(out)
    assert stopped(child(out, STOP_WHILE_STAGING), number) != 0
    assert snapshot(out) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_commit_waits(out: Path, number: int) -> None:
    """The commit ends, then the signal does what it does."""
    assert stopped(child(out, STOP_WHILE_COMMITTING.format(tenths=5)), number) != 0
    assert snapshot(out) == NEW


def test_killed_during_the_commit(out: Path) -> None:
    """The next run completes what it broke off, and removes what was staged."""
    stopped(child(out, STOP_WHILE_COMMITTING.format(tenths=300)), signal.SIGKILL)
    assert "a: 2" in (out / "job.yaml").read_text()
    write(out, NEW)
    assert snapshot(out) == NEW


def test_killed_when_all_was_done(out: Path) -> None:
    """What was staged goes with the next run, though that one has nothing to write."""
    write(out, NEW)
    (out / STAGE).mkdir()
    (out / STAGE / "files").write_text("job.yaml")
    assert not write(out, NEW)
    assert snapshot(out) == NEW


def test_killed_during_the_commit_and_then_another_render(out: Path) -> None:
    """A file that the killed run had added, and no later one has, does not stay forever."""
    stopped(child(out, STOP_WHILE_COMMITTING.format(tenths=300)), signal.SIGKILL)
    write(out, render("job.yaml"))
    assert snapshot(out) == render("job.yaml")


def test_a_stage_that_is_a_link_is_not_followed(out: Path, tmp_path: Path) -> None:
    """One that came with somebody's repository leads nothing elsewhere."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "mine").write_text("mine")
    (tmp_path / "outside" / "files").write_text("extra.yaml")
    (out / "extra.yaml").write_text(text("was ours, but is not listed"))
    (out / STAGE).symlink_to(tmp_path / "outside")
    write(out, NEW)
    assert set(snapshot(out)) == {*NEW, "extra.yaml"}
    assert set(snapshot(tmp_path / "outside")) == {"mine", "files"}


def test_a_list_of_a_stage_leads_nowhere_else(out: Path, tmp_path: Path) -> None:
    """A list that came with a repository removes nothing outside, and nothing without our header."""
    outside = tmp_path / "outside"
    write(outside, render("job.yaml"))
    before = snapshot(outside)
    (out / "linked").symlink_to(outside)
    (out / "README.md").write_text("mine")
    (out / STAGE).mkdir()
    names = ("../outside/job.yaml", str(outside / "job.yaml"), "linked/job.yaml", "README.md", "..", "", "\0")
    (out / STAGE / "files").write_text("\n".join(names))
    write(out, NEW)
    assert snapshot(outside) == before
    assert set(snapshot(out)) == {*NEW, "README.md", "linked"}


def test_two_runs_at_once(out: Path) -> None:
    """The second one is told to wait; the first one ends well."""
    process = child(out, STOP_WHILE_COMMITTING.format(tenths=10))
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    with pytest.raises(SparkgenError, match="another sparkgen is writing to"):
        write(out, render("job.yaml"))
    process.communicate(timeout=20)
    assert snapshot(out) == NEW


def test_a_full_disk(out: Path) -> None:
    """A file system that takes no more (here: a limit on file size) leaves the old content and says so."""
    before = snapshot(out)
    process = child(
        out,
        """
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))
        NEW["role.yaml"] += "# " + "x" * 200
        """,
    )
    message = process.communicate(timeout=20)[1]
    assert process.returncode == 1
    assert "File too large; nothing in it was changed. To continue, free some space" in message
    assert snapshot(out) == before


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, where root may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tiny", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_really_full_disk(tiny_disk: Path) -> None:
    """No space left on device: the old render is whole, nothing is left over, and the next one works."""
    write(tiny_disk, render("job.yaml"))
    before = snapshot(tiny_disk)
    with pytest.raises(SparkgenError, match="No space left on device; nothing in it was changed"):
        write(tiny_disk, render(*[f"f{n}.yaml" for n in range(20)]))
    assert snapshot(tiny_disk) == before
    write(tiny_disk, NEW)
    assert snapshot(tiny_disk) == NEW


def test_a_directory_one_may_not_write(out: Path) -> None:
    """Without the right to write nothing happens, and the message says so.

    An up-to-date directory is fine.
    """
    before = snapshot(out)
    out.chmod(0o555)
    # By its handle and not by its path: the folders above belong to the user who runs the tests.
    drop = "os.setegid(65534); os.seteuid(65534)" if os.geteuid() == 0 else ""
    process = child(out, f"os.chdir(out); out = Path('.'); {drop}")
    message = process.communicate(timeout=20)[1]
    out.chmod(0o755)
    assert process.returncode == 1
    assert (
        "Permission denied; nothing in it was changed. To continue, make it writable, or choose another"
        in message
    )
    assert snapshot(out) == before


def test_hundreds_of_applications_are_written_in_seconds(tmp_path: Path) -> None:
    """Making files safe on disk does not make a large render slow."""
    files = several(**{f"app-{n}": render(*[f"f{m}.yaml" for m in range(10)]) for n in range(100)})
    start = time.perf_counter()
    write(tmp_path / "out", files)
    assert time.perf_counter() - start < 20


def broken_off(directory: Path, files: dict[str, str]) -> None:
    """Leave what a killed run leaves that had moved one file into place."""
    name = next(iter(files))
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(files[name])
    (directory / STAGE).mkdir()
    (directory / STAGE / "files").write_text("\n".join(files))
    (directory / STAGE / "1").write_text("staged")


EARLIER = render("job.yaml", "role.yaml", "service-ui.yaml")


def test_a_comparison_sees_what_a_killed_run_had_added(out: Path) -> None:
    """A check, and a whole repository's render, do not call the directory up to date then."""
    broken_off(out, render("added.yaml"))
    assert compare(out, EARLIER).stale == ("added.yaml",)


def test_a_full_disk_does_not_forget_what_a_killed_run_had_added(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run in between changes nothing, also not what the one after it has to know."""
    broken_off(out, render("added.yaml"))
    with monkeypatch.context() as patch:
        patch.setattr(render_directory, "settle", refuse)
        with pytest.raises(SparkgenError, match="nothing in it was changed"):
            write(out, NEW)
    write(out, EARLIER)
    assert snapshot(out) == EARLIER


def test_a_refused_rename_does_not_forget_it_either(out: Path) -> None:
    """The same, where the first rename fails."""
    broken_off(out, render("added.yaml"))
    with pytest.raises(SparkgenError, match="nothing in it was changed"):
        write(out, NEW, rename=refuse)
    write(out, EARLIER)
    assert snapshot(out) == EARLIER


@pytest.mark.parametrize("before", [{}, EARLIER])
def test_what_a_killed_run_had_added_goes_with_its_document(tmp_path: Path, before: dict[str, str]) -> None:
    """In a whole repository's output, a folder of no document goes, also one that was never whole."""
    if before:
        write(tmp_path / "app", before)
    broken_off(tmp_path / "app", render("added.yaml"))
    (tmp_path / "app" / "README").write_text("mine")
    assert leftovers.find(tmp_path, ()) == ("app",)
    leftovers.remove(tmp_path, "app")
    assert snapshot(tmp_path) == {"app/README": "mine"}


def refuse(*_: object) -> None:
    """A file system that refuses."""
    raise OSError(28, "No space left on device")
