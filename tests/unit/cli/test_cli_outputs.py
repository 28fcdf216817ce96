"""Where commands write: not through links, and not over what was rendered from somewhere else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sparkgen.writers.root import MARKER

from .conftest import DOCUMENT, Cli
from .test_cli_repository import directories, document, put


@pytest.fixture
def teams(cli: Cli) -> Cli:
    """Two teams with directories of their own."""
    put("team-a/environments/prod.yaml", "metadata: {namespace: a}\n")
    put("team-a/report/app.yaml", document("report"))
    put("team-b/environments/prod.yaml", "metadata: {namespace: b}\n")
    put("team-b/load/app.yaml", document("load"))
    return cli


def tree(folder: str) -> dict[str, bytes]:
    """Every file."""
    return {path.as_posix(): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_another_root_deletes_nothing(teams: Cli) -> None:
    """It is refused before anything is written, with what to do; so is its check."""
    assert teams("render", "-R", "team-a", "-o", "deploy").code == 0
    before = tree("deploy")
    for more in ([], ["--check"]):
        result = teams("render", "-R", "team-b", "-o", "deploy", *more)
        assert (result.code, result.out) == (2, "")
        assert "sparkgen: deploy contains manifests of team-a, which this command would remove" in result.err
        assert (
            f"choose another --output-dir for team-b, or, if team-b replaces that directory, delete "
            f"deploy/{MARKER}" in (result.err.replace("\n", " "))
        )
    assert tree("deploy") == before
    assert teams("render", "-R", "team-b/", "-o", "deploy-b").code == 0


def test_a_part_of_the_root_is_another_root(teams: Cli) -> None:
    """`-R apps/one` after `-R apps` would remove all the others."""
    put("apps/one/app.yaml", document("one"))
    put("apps/two/app.yaml", document("two"))
    teams("render", "-R", "apps", "-o", "deploy")
    assert teams("render", "-R", "apps/one", "-o", "deploy").code == 2
    assert directories("deploy") == ["one", "two"]


def test_the_same_root_by_another_name(teams: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absolute, with dots, through a link, from another folder, in a clone elsewhere: it is the same one."""
    assert teams("render", "-R", "team-a", "-o", "deploy").code == 0
    Path("linked").symlink_to("team-a")
    for root, out in (
        (str(tmp_path / "team-a"), "deploy"),
        ("./team-b/../team-a/", str(tmp_path / "deploy")),
        ("linked", "deploy/"),
    ):
        result = teams("render", "-R", root, "-o", out)
        assert (result.code, "1 up to date, 0 written" in result.err) == (0, True), result.err
    monkeypatch.chdir("team-a")
    assert teams("render", "-R", ".", "-o", "../deploy").code == 0
    monkeypatch.chdir(tmp_path)
    shutil.copytree("team-a", "clone/team-a")
    shutil.copytree("deploy", "clone/deploy")
    monkeypatch.chdir("clone")
    assert teams("render", "-R", "team-a", "-o", "deploy", "--check").code == 0


def test_a_root_that_took_another_one_s_place(teams: Cli) -> None:
    """Deleting the mark says so, as long as anything of it is there; then what is of no document goes."""
    teams("render", "-R", "team-a", "-o", "deploy")
    Path("team-a").rename("reports")
    assert teams("render", "-R", "reports", "-o", "deploy").code == 2
    Path("deploy", MARKER).unlink()
    result = teams("render", "-R", "reports", "-o", "deploy")
    assert (result.code, "1 up to date" in result.err) == (0, True)
    assert '"../reports"' in Path("deploy", MARKER).read_text()


def test_outputs_from_before_there_were_marks(teams: Cli) -> None:
    """They are up to date as they are, and get a mark with the next render; another root deletes nothing."""
    teams("render", "-R", "team-a", "-o", "deploy")
    Path("deploy", MARKER).unlink()
    assert teams("render", "-R", "team-a", "-o", "deploy", "--check").code == 0
    before = tree("deploy")
    result = teams("render", "-R", "team-b", "-o", "deploy")
    assert (result.code, "none of team-b" in result.err) == (2, True)
    assert tree("deploy") == before
    assert teams("render", "-R", "team-a", "-o", "deploy").code == 0
    assert Path("deploy", MARKER).is_file()


@pytest.mark.parametrize("content", ["", "x", "1\n", '"/etc"\n', "\0" * 100, "# a\n[]\n"])
def test_a_mark_that_says_nothing(teams: Cli, content: str) -> None:
    """It is another root's, or nobody's: nothing is removed."""
    teams("render", "-R", "team-a", "-o", "deploy")
    Path("deploy", MARKER).write_text(content)
    before = tree("deploy")
    assert teams("render", "-R", "team-a", "-o", "deploy").code == 2
    assert tree("deploy") == before


def test_a_mark_that_is_a_link(teams: Cli, tmp_path: Path) -> None:
    """It is not read, and not written through."""
    teams("render", "-R", "team-a", "-o", "deploy")
    Path("deploy", MARKER).unlink()
    Path("deploy", MARKER).symlink_to(tmp_path / "outside")
    assert teams("render", "-R", "team-a", "-o", "deploy").code == 2
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("place", ["prod", "prod/report"])
@pytest.mark.parametrize("more", [[], ["--check"]])
def test_a_repository_s_render_follows_no_link(
    teams: Cli, tmp_path: Path, place: str, more: list[str]
) -> None:
    """Neither to write nor to compare: what stands elsewhere is not even shown."""
    assert teams("render", "-R", "team-a", "-o", str(tmp_path / "elsewhere")).code == 0
    Path(tmp_path, "elsewhere", "prod", "report", "job.yaml").write_text(
        "# Generated by sparkgen 1; do not edit\n"
    )
    before = tree("elsewhere")
    Path("deploy", place).parent.mkdir(parents=True)
    Path("deploy", place).symlink_to(tmp_path / "elsewhere" / place)
    result = teams("render", "-R", "team-a", "-o", "deploy", *more)
    assert (result.code, result.out) == (2, "")
    assert f"deploy/{place} is a symbolic link, which sparkgen does not follow" in result.err
    assert tree("elsewhere") == before


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_import_follows_no_link(cli: Cli, tmp_path: Path, force: list[str]) -> None:
    """To a file that is there, or to one that would be made."""
    Path("pi.sh").write_text("#!/bin/sh\nspark-submit --name pi --class A local:///a.jar\n")
    Path("apps").mkdir()
    for there in (True, False):
        outside = tmp_path / f"outside-{there}"
        if there:
            outside.write_text("theirs")
        Path("apps/pi.yaml").unlink(missing_ok=True)
        Path("apps/pi.yaml").symlink_to(outside)
        result = cli("import", "pi.sh", "-o", "apps", *force)
        assert (
            result.code,
            "apps/pi.yaml is a symbolic link, which sparkgen does not follow" in result.err,
        ) == (2, True)
        assert outside.exists() is there
        assert not there or outside.read_text() == "theirs"


def test_an_import_writes_and_overwrites(cli: Cli) -> None:
    """What is there stays, but with --force."""
    Path("pi.sh").write_text("#!/bin/sh\nspark-submit --name pi --class A local:///a.jar\n")
    Path("apps").mkdir()
    Path("apps/pi.yaml").write_text(DOCUMENT)
    assert "apps/pi.yaml exists already" in cli("import", "pi.sh", "-o", "apps").err
    assert Path("apps/pi.yaml").read_text() == DOCUMENT
    cli("import", "pi.sh", "-o", "apps", "--force")
    assert "mainClass: A" in Path("apps/pi.yaml").read_text()
    assert [path.name for path in Path("apps").iterdir()] == ["pi.yaml"]
