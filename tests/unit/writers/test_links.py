"""No link in an output directory leads a file elsewhere, whenever it is put there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from sparkgen.chart import export, package
from sparkgen.cli import image
from sparkgen.errors import SparkgenError
from sparkgen.usecases import runtime
from sparkgen.writers import atomic, leftovers, own_files
from sparkgen.writers.new_files import write_new
from sparkgen.writers.open_folders import held
from sparkgen.writers.render_directory import write
from sparkgen.writers.repository import refuse_way_out
from tests.fake_runtime import SMALL, VARIABLE

from .test_render_directory import render, several, snapshot

FILES = render("job.yaml", "role.yaml")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder of somebody else, with a render in it."""
    write(tmp_path / "elsewhere", render("job.yaml", "old.yaml", body="theirs: 1\n"))
    return tmp_path / "elsewhere"


def swap(folder: Path, target: Path) -> None:
    """Put a link in the place of a folder, as a neighbour with rights in the folder above can."""
    folder.rename(folder.with_name(f"{folder.name}.aside"))
    folder.symlink_to(target)


@pytest.mark.parametrize("below", ["prod", "prod/pi"])
def test_no_link_on_the_way(tmp_path: Path, elsewhere: Path, below: str) -> None:
    """A folder of the output that is a link out of it is refused, by its name."""
    before = snapshot(elsewhere)
    link = tmp_path / "out" / below
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    with pytest.raises(
        SparkgenError, match=f"out/{below} is a symbolic link, which sparkgen does not follow"
    ):
        write(tmp_path / "out", FILES, below="prod/pi")
    assert snapshot(elsewhere) == before
    assert link.is_symlink()


def test_the_output_directory_itself_may_be_a_link(tmp_path: Path, elsewhere: Path) -> None:
    """It is the caller's own word."""
    (tmp_path / "out").symlink_to(elsewhere)
    write(tmp_path / "out", FILES, below="prod/pi")
    assert snapshot(elsewhere / "prod" / "pi") == FILES


def test_a_file_on_the_way(tmp_path: Path) -> None:
    """It is no directory."""
    (tmp_path / "prod").write_text("mine")
    with pytest.raises(SparkgenError, match="prod is not a directory"):
        write(tmp_path, FILES, below="prod/pi")


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_folder_swapped_while_it_is_written(tmp_path: Path, elsewhere: Path, at: int) -> None:
    """Between the look and any of the renames: what is held is written to, and not what stands there now."""
    before = snapshot(elsewhere)
    calls = 0

    def rename(source: Path, target: Path) -> None:
        nonlocal calls
        if calls == at:
            swap(tmp_path / "out" / "prod", elsewhere)
        calls += 1
        source.replace(target)

    (tmp_path / "out").mkdir()
    write(tmp_path / "out", FILES, below="prod/pi", rename=rename)
    assert calls == 3
    assert snapshot(elsewhere) == before
    assert snapshot(tmp_path / "out" / "prod.aside" / "pi") == FILES


@pytest.mark.parametrize("at", [0, 1, 2])
def test_an_application_s_folder_swapped_while_it_is_written(
    tmp_path: Path, elsewhere: Path, at: int
) -> None:
    """One of several in one directory: the write is refused, and nothing went elsewhere."""
    before = snapshot(elsewhere)
    out = tmp_path / "out"
    write(out, several(one=FILES, two=FILES))
    calls = 0

    def rename(source: Path, target: Path) -> None:
        nonlocal calls
        if calls == at:
            swap(out / "two", elsewhere)
        calls += 1
        source.replace(target)

    new = {**render("job.yaml", "role.yaml", body="a: 2\n")}
    with pytest.raises(SparkgenError, match="two is a symbolic link, which sparkgen does not follow"):
        write(out, several(one=new, two=new), rename=rename)
    assert snapshot(elsewhere) == before
    (out / "two").unlink()
    (out / "two.aside").rename(out / "two")
    write(out, several(one=new, two=new))
    assert snapshot(out) == several(one=new, two=new)


def test_a_file_swapped_for_a_link_is_replaced_and_not_followed(tmp_path: Path, elsewhere: Path) -> None:
    """A rename puts the new file where the link stands."""
    before = snapshot(elsewhere)
    out = tmp_path / "out"
    write(out, FILES)

    def rename(source: Path, target: Path) -> None:
        (out / target.name).unlink(missing_ok=True)
        (out / target.name).symlink_to(elsewhere / "job.yaml")
        source.replace(target)

    new = render("job.yaml", "role.yaml", body="a: 2\n")
    write(out, new, rename=rename)
    assert snapshot(out) == new
    assert snapshot(elsewhere) == before


def test_leftovers_are_not_looked_for_behind_links(tmp_path: Path, elsewhere: Path) -> None:
    """A link beside the applications is nobody's leftover; a folder that becomes one is not emptied."""
    before = snapshot(elsewhere)
    out = tmp_path / "out"
    write(out, FILES, below="prod/pi")
    (out / "linked").symlink_to(elsewhere)
    assert leftovers.find(out, ()) == ("prod/pi",)
    swap(out / "prod", elsewhere.parent)
    (tmp_path / "pi").symlink_to(elsewhere)
    with pytest.raises(SparkgenError, match="prod is a symbolic link"):
        leftovers.remove(out, "prod/pi")
    assert snapshot(elsewhere) == before


def test_what_is_held_stays(tmp_path: Path) -> None:
    """A folder that is moved is followed; where one is missing it is made, if that is asked for."""
    with held(tmp_path, "a/b", make=True) as at:
        (tmp_path / "a").rename(tmp_path / "c")
        (at / "x").write_text("x")
    assert (tmp_path / "c" / "b" / "x").read_text() == "x"
    with pytest.raises(FileNotFoundError), held(tmp_path, "none"):
        pass


def handles() -> int:
    """How many files this process has open; 0 where that is not to be seen."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_handles_are_closed(tmp_path: Path) -> None:
    """However it ends."""
    (tmp_path / "link").symlink_to(tmp_path)
    before = handles()
    for below in ("a/b/c", "link/x", "a/none/x"):
        try:
            with held(tmp_path, below, make=below.startswith("a/b")):
                pass
        except (SparkgenError, OSError):
            pass
    assert handles() == before


# --- new files --------------------------------------------------------------------------------------------


def test_new_files_are_written_all_or_none(tmp_path: Path) -> None:
    """One that is there stops all; with force it is replaced, and keeps its mode."""
    (tmp_path / "b.yaml").write_text("mine")
    (tmp_path / "b.yaml").chmod(0o640)
    with pytest.raises(SparkgenError, match=r"b\.yaml exists already"):
        write_new(tmp_path, {"a.yaml": "1", "b.yaml": "2"}, force=False)
    assert snapshot(tmp_path) == {"b.yaml": "mine"}
    write_new(tmp_path, {"a.yaml": "1", "b.yaml": "2"}, force=True)
    assert snapshot(tmp_path) == {"a.yaml": "1", "b.yaml": "2"}
    assert (tmp_path / "b.yaml").stat().st_mode & 0o777 == 0o640


def dangling(path: Path, outside: Path) -> None:
    """A link to a file that is not there yet."""
    path.symlink_to(outside / "new.yaml")


def existing(path: Path, outside: Path) -> None:
    """A link to a file."""
    (outside / "theirs").write_text("theirs")
    path.symlink_to(outside / "theirs")


def folder(path: Path, outside: Path) -> None:
    """A link to a folder."""
    path.symlink_to(outside)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("make", [dangling, existing, folder])
def test_a_link_in_the_place_of_a_new_file(
    tmp_path: Path, make: Callable[[Path, Path], None], force: bool
) -> None:
    """It is refused, forced or not."""
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    make(out / "pi.yaml", outside)
    before = snapshot(outside)
    with pytest.raises(SparkgenError, match=r"pi\.yaml is a symbolic link, which sparkgen does not follow"):
        write_new(out, {"a.yaml": "1", "pi.yaml": "2"}, force=force)
    assert snapshot(outside) == before
    assert not (out / "a.yaml").exists()


def test_the_chart_follows_no_link(tmp_path: Path) -> None:
    """Neither its folder nor its package."""
    outside = tmp_path / "outside"
    outside.mkdir()
    target = tmp_path / "chart"
    export(target)
    (target / "values.yaml").unlink(missing_ok=True)
    (target / "values.yaml").symlink_to(outside / "values.yaml")
    with pytest.raises(SparkgenError, match="is a symbolic link, which sparkgen does not follow"):
        export(target)
    path = package(tmp_path / "dist")
    data = path.read_bytes()
    path.unlink()
    path.symlink_to(outside / "package")
    assert package(tmp_path / "dist").read_bytes() == data
    assert not path.is_symlink()
    assert snapshot(outside) == {}


def test_a_folder_of_the_chart_that_a_neighbour_swaps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a file, or as soon as its folder was looked at: nothing is written behind the link."""
    outside, target = tmp_path / "outside", tmp_path / "chart"
    outside.mkdir()

    def swapped(folder: Path, files: dict[str, Iterable[bytes]]) -> None:
        if "application.yaml" in files:
            swap(target / "templates", outside)
        atomic.replace(folder, files)

    monkeypatch.setattr("sparkgen.chart.copying.replace", swapped)
    with pytest.raises(SparkgenError, match="templates is a symbolic link, which sparkgen does not follow"):
        export(target)
    assert snapshot(outside) == {}


def test_a_file_in_place_of_a_link_has_not_the_mode_of_the_link(tmp_path: Path) -> None:
    """A link says that everybody may write; the file behind it has said something else."""
    (tmp_path / "theirs").write_text("theirs: 1\n")
    (tmp_path / "app.lock.yaml").symlink_to("theirs")
    atomic.replace(tmp_path, {"app.lock.yaml": "ours: 1\n"})
    assert not (tmp_path / "app.lock.yaml").is_symlink()
    assert not (tmp_path / "app.lock.yaml").stat().st_mode & 0o022
    assert (tmp_path / "theirs").read_text() == "theirs: 1\n"


def test_a_link_of_the_repository_leads_no_output_out_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came with somebody's commit. One within the repository is followed, and one beside it."""
    home, repository = tmp_path / "home", tmp_path / "repository"
    home.mkdir()
    (repository / ".git").mkdir(parents=True)
    (repository / "real").mkdir()
    (repository / "deploy").symlink_to(home)
    (repository / "inner").symlink_to("real")
    (tmp_path / "beside").symlink_to(home)
    monkeypatch.chdir(repository)
    monkeypatch.setenv(VARIABLE, str(SMALL))
    monkeypatch.setattr(image.making, "write", lambda folder, *_: folder.mkdir())
    for name in ("deploy", "deploy/below", str(repository / "deploy")):
        with pytest.raises(SparkgenError, match="a symbolic link out of the repository"):
            refuse_way_out(Path(name))
    for name in ("inner", "new", "../beside", str(tmp_path / "beside"), "."):
        refuse_way_out(Path(name))
    for put in (
        lambda: write(Path("deploy"), {"job.yaml": "x"}),
        lambda: write_new(Path("deploy"), {"job.yaml": "x"}, force=True),
        lambda: export(Path("deploy")),
        lambda: export(Path("deploy/chart")),
        lambda: package(Path("deploy")),
        lambda: own_files.write(Path("deploy/page.html"), "x"),
        lambda: runtime.write(Path("deploy")),
        lambda: image.context(Path("deploy/context")),
    ):
        with pytest.raises(SparkgenError, match="a symbolic link out of the repository"):
            put()
    assert not list(home.iterdir())
