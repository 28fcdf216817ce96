"""What goes into the runtime image, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster import runtime_image
from sparkgen import contract


def test_its_name_is_the_contracts() -> None:
    """What applications name by default is what the tests load."""
    assert runtime_image.NAME == contract.RUNTIME_IMAGE


def test_the_generator_is_not_in_it() -> None:
    """Only what runs in a cluster: the contract, and the programs of `sparkgen.runtime`."""
    names = [name for name, _ in runtime_image._package()]
    assert {"sparkgen/__init__.py", "sparkgen/contract.py", "sparkgen/runtime/__main__.py"} <= set(names)
    folders = {name.split("/")[1] for name in names if name.count("/") > 1}
    assert folders == {"runtime"}


def test_its_libraries_are_pinned() -> None:
    """An image does not change by itself."""
    assert runtime_image.requirements()
    assert all("==" in entry for entry in runtime_image.requirements())


def test_its_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipe, package and jars; a later recipe's files take the place of an earlier one's."""
    jar = tmp_path / "sparkgen-scheduler_2.13.jar"
    jar.write_text("jar")
    monkeypatch.setattr(runtime_image, "_jars", lambda: [jar])
    monkeypatch.setattr(runtime_image.context_of_image, "libraries", lambda *_: None)
    recipes = [runtime_image.RECIPE, runtime_image.RECIPE_WITH_SPARK]
    runtime_image.context(tmp_path / "context", recipes)
    assert "entrypoint.sh" in (tmp_path / "context" / "Dockerfile").read_text()
    assert (tmp_path / "context" / "sparkgen-runtime").stat().st_mode & 0o111
    assert (tmp_path / "context" / "jars" / jar.name).read_text() == "jar"
    assert (tmp_path / "context" / "python" / "sparkgen" / "contract.py").is_file()
