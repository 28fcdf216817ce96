"""The folder that the runtime image is made of."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sparkgen.image import context, pins
from sparkgen.local.errors import CannotRun
from tests.unit.test_imports import graph, modules

ROOT = Path(__file__).resolve().parents[3]


class Quiet:
    """A Progress that tells nobody."""

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Begin and end."""
        yield lambda _: None

    def say(self, text: str) -> None:
        """Say nothing."""


def test_what_is_pinned_is_the_same_everywhere() -> None:
    """In the project's file and in the image."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    named = project["project"]["optional-dependencies"]["runtime"]
    assert named == [f"{pin.name}=={pin.version}" for pin in pins.LIBRARIES]


def test_the_image_has_what_its_programs_import() -> None:
    """A part that is missing would be found when the first pod starts."""
    imports = graph(modules(ROOT / "sparkgen", ROOT))
    names = {f"sparkgen.{part.removesuffix('.py')}" for part in context.PARTS}
    runs = {name for name in imports if name.startswith("sparkgen.runtime.")}
    needed = set().union(*(imports[name] for name in {*runs, *names} & set(imports)))
    assert {".".join(name.split(".")[:2]) for name in needed - {"sparkgen"}} <= names


def _wheel(folder: Path, version: str = pins.LIBRARIES[0].version) -> Path:
    folder.mkdir()
    with zipfile.ZipFile(folder / f"urllib3-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("urllib3/__init__.py", "import evil")
        wheel.writestr(
            f"urllib3-{version}.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: urllib3\nVersion: {version}\n",
        )
        wheel.writestr(f"urllib3-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    return folder


def test_another_wheel_of_the_same_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash decides, not the index; nothing of it is unpacked."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(_wheel(tmp_path / "index")))
    with pytest.raises(CannotRun, match=r"(?i)do not match the hashes"):
        context.libraries(tmp_path / "python", tmp_path / "work", Quiet())
    assert not (tmp_path / "python").exists()


def test_its_files_have_the_same_times_and_modes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the mask and the day: the same package makes the same image."""
    jar = tmp_path / "sparkgen-scheduler_2.13.jar"
    jar.write_bytes(b"jar")
    monkeypatch.setattr(context, "libraries", lambda *_: None)
    monkeypatch.setattr(context, "scheduler_jars", lambda *_: [jar])
    recipe = tmp_path / "recipe"
    shutil.copytree(context._recipe(), recipe, ignore=lambda *_: ["__pycache__"])
    (recipe / "__pycache__").mkdir()  # as pip leaves it
    monkeypatch.setattr(context, "RECIPE", (recipe,))
    before = os.umask(0o077)
    try:
        context.write(tmp_path / "context", {}, Quiet())
    finally:
        os.umask(before)
    paths = list((tmp_path / "context").rglob("*"))
    assert {path.stat().st_mtime for path in paths} == {context.TIMESTAMP}
    programs = {path.name for path in paths if path.is_file() and path.stat().st_mode & 0o111}
    assert programs == {"sparkgen-runtime"}
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in paths)
    names = {path.relative_to(tmp_path / "context").as_posix() for path in paths}
    assert {"Dockerfile", f"jars/{jar.name}", "python/sparkgen/runtime/__main__.py"} <= names
    assert not any("/cli/" in name or "__pycache__" in name for name in names)


def test_its_dockerfile_runs_nothing_of_another_architecture() -> None:
    """The last stage has no RUN, the stage that has one is the builder's own; the base has a digest."""
    text = (ROOT / "images" / "runtime" / "Dockerfile").read_text()
    assert re.search(r"^ARG BASE=\S+@sha256:[0-9a-f]{64}$", text, re.MULTILINE)
    *first, last = re.split(r"^(?=FROM )", text, flags=re.MULTILINE)
    assert "\nRUN " not in last
    assert all(part.startswith("FROM --platform=$BUILDPLATFORM ") for part in first if "\nRUN " in part)
