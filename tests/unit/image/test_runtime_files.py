"""The runtime as a ConfigMap: the same bytes everywhere, a name of their digest, a program that runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sparkgen import contract
from sparkgen.image import context, runtime_files
from sparkgen.image.runtime_files import RuntimeFiles
from sparkgen.local.errors import CannotRun
from sparkgen.local.progress import Progress
from sparkgen.local.view import Plain
from sparkgen.spark_versions import COMPILED

DOCKERFILE = Path(__file__).parents[3] / "images" / "runtime" / "Dockerfile"
VIEW = Plain(sys.stderr)


@pytest.fixture
def without_downloads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """A cache of its own, and nothing fetched or compiled: a library of one line, a jar of one word."""

    def libraries(folder: Path, work: Path, progress: Progress) -> None:
        for name in ("zlib_of.py", "another.py"):  # in an order that a folder need not keep
            (folder / "library").mkdir(parents=True, exist_ok=True)
            (folder / "library" / name).write_text("value = 1\n")
            os.utime(folder / "library" / name, (len(str(work)), 1))

    def jar(line: str, *_: object) -> Path:
        path = tmp_path / f"{line}.jar"
        path.write_text(line)
        return path

    monkeypatch.setattr(runtime_files, "SHIPPED", tmp_path / "not-shipped")  # as in a clone
    monkeypatch.setattr(context, "libraries", libraries)
    monkeypatch.setattr(context, "scheduler_jar", jar)
    return {"SPARKGEN_CACHE": str(tmp_path / "cache")}


def test_the_bytes_are_the_same_wherever_they_are_made(
    without_downloads: dict[str, str], tmp_path: Path
) -> None:
    """Neither times nor the order of a folder are in them."""
    one = runtime_files.runtime_files("2.13", without_downloads, VIEW)
    other = runtime_files.runtime_files("2.13", {"SPARKGEN_CACHE": str(tmp_path / "a-longer-name")}, VIEW)
    assert one == other
    path = tmp_path / "runtime.pyz"
    path.write_bytes(one.program)
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    assert {(entry.date_time, entry.external_attr, entry.create_system) for entry in entries} == {
        ((1980, 1, 1, 0, 0, 0), 0o644 << 16, 3)
    }


def test_the_program_has_the_commands_of_the_runtime_image(
    without_downloads: dict[str, str], tmp_path: Path
) -> None:
    """Python runs it as a container does, without the checkout on its path."""
    path = tmp_path / "runtime.pyz"
    path.write_bytes(runtime_files.runtime_files("2.12", without_downloads, VIEW).program)
    command = [sys.executable, "-I", str(path), "version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"(contract {contract.VERSION})" in done.stdout


def test_a_wheel_brings_the_files(
    without_downloads: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a checkout writes for a wheel is what the installed wheel reads, under the same name."""
    made = {line: runtime_files.runtime_files(line, without_downloads, VIEW) for line in COMPILED}
    runtime_files.write(tmp_path / "shipped", without_downloads, VIEW)
    monkeypatch.setattr(runtime_files, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(context, "scheduler_jar", None)
    for line, files in made.items():
        assert runtime_files.runtime_files(line, {}, VIEW) == files


def test_a_folder_of_another_machine(without_downloads: dict[str, str], tmp_path: Path) -> None:
    """A variable names it; a folder without the files is a mistake, which says what to do."""
    folder = tmp_path / "made"
    runtime_files.write(folder, without_downloads, VIEW)
    named = {runtime_files.FOLDER: str(folder)}
    made = runtime_files.runtime_files("2.13", without_downloads, VIEW)
    assert runtime_files.runtime_files("2.13", named, VIEW) == made
    (folder / "runtime.pyz").unlink()
    with pytest.raises(CannotRun, match="sparkgen runtime --output FOLDER, and set SPARKGEN_RUNTIME"):
        runtime_files.runtime_files("2.13", named, VIEW)


def test_no_file_is_written_through_a_link(without_downloads: dict[str, str], tmp_path: Path) -> None:
    """A stranger's checkout may have a link where the files go."""
    folder, precious = tmp_path / "made", tmp_path / "precious"
    folder.mkdir()
    precious.write_text("mine")
    (folder / "runtime.pyz").symlink_to(precious)
    runtime_files.write(folder, without_downloads, VIEW)
    assert precious.read_text() == "mine"
    assert not (folder / "runtime.pyz").is_symlink()


def test_a_machine_that_cannot_compile_it_learns_the_ways_out(
    without_downloads: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one in CI without Java: files of another machine, or an image."""

    def no_java(*_: object) -> Path:
        raise CannotRun("Spark needs Java 17 or 21, and there is none")

    monkeypatch.setattr(context, "scheduler_jar", no_java)
    with pytest.raises(CannotRun, match=r"and there is none\. To compile nothing here, set") as raised:
        runtime_files.runtime_files("2.13", without_downloads, VIEW)
    assert "set SPARKGEN_RUNTIME to a folder that sparkgen runtime --output FOLDER" in str(raised.value)
    assert "set runtimeImage in .sparkgen.yaml" in str(raised.value)


def test_the_name_has_the_line_and_the_digest_of_the_content() -> None:
    """Another byte in either file is another name; so is the same byte in the other file."""
    names = {
        RuntimeFiles(line, program, jar).name
        for line, program, jar in [
            ("2.12", b"a", b"b"),
            ("2.13", b"a", b"b"),
            ("2.12", b"ab", b""),
            ("2.12", b"", b"ab"),
        ]
    }
    assert len(names) == 4
    assert all(re.fullmatch(r"sparkgen-runtime-2\.1[23]-[0-9a-f]{32}", name) for name in names)


def test_no_application_owns_the_config_map() -> None:
    """It cannot change, and every controller keeps it for the drivers that use it."""
    item = RuntimeFiles("2.12", b"a", b"b").config_map("team")
    assert item["immutable"] is True
    assert item["binaryData"] == {"runtime.pyz": "YQ==", "scheduler.jar": "Yg=="}
    assert item["metadata"]["namespace"] == "team"
    assert contract.LABEL_APPLICATION not in item["metadata"]["labels"]
    assert item["metadata"]["labels"][contract.LABEL_MANAGED_BY] == "sparkgen"
    assert item["metadata"]["annotations"] == {
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
        "argocd.argoproj.io/sync-options": "Prune=false,Delete=false,ServerSideApply=true",
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
    }


def test_a_scala_line_without_a_jar(without_downloads: dict[str, str]) -> None:
    """It says what there is."""
    with pytest.raises(CannotRun, match=r"for Scala 2\.12 and 2\.13, not for 2\.11"):
        runtime_files.runtime_files("2.11", without_downloads, VIEW)


def test_python_is_the_base_of_the_runtime_image() -> None:
    """One image of Python, by digest, whatever brings the runtime."""
    (base,) = re.findall(r"^ARG BASE=(\S+)$", DOCKERFILE.read_text(), re.MULTILINE)
    assert base == contract.PYTHON_IMAGE
