"""`.sparkgen.yaml` as every command reads it: where it is looked for, what it may say, what that means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sparkgen.document import load
from sparkgen.document.configuration import (
    FILE_NAME,
    Configured,
    find,
    lacks_runtime,
    lay_under,
    place_of_runtime,
    read,
)

IMAGE = "registry.example.com/sparkgen-runtime:1@sha256:" + "0" * 64
NOBODY = 65534


def configured(text: str) -> Configured:
    """What a configuration says."""
    found = read(text.encode(), FILE_NAME)
    assert isinstance(found, Configured), found
    return found


@pytest.mark.parametrize(
    "image",
    [
        IMAGE,
        "registry:5000/a/b:1",
        "localhost/x:1",
        "localhost:5000/x:1",
        "a.b/c_d/e--f.g:V1.2",
        "[::1]:5000/x:1",
        "runtime.sparkgen.invalid/sparkgen-runtime:1",
    ],
)
def test_names_with_a_registry(image: str) -> None:
    """As https://pkg.go.dev/github.com/distribution/reference has them."""
    node = configured(f"runtimeImage: '{image}'").runtime_image
    assert node is not None
    assert node.value == image


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("runtimeImage: sparkgen/runtime:1", "not an image name with a registry"),
        ("runtimeImage: registry.example.com/x", "neither a tag nor a digest"),
        ("runtimeImage: registry.example.com/X:1", "not an image name"),
        ("runtimeImage: registry.example.com/x:1@sha256:12", "not an image name"),
        ('runtimeImage: "registry.example.com/x:1\\n"', "not an image name"),
        ('runtimeImage: "registry.example.com/x:1\\e[2J"', "not an image name"),
        ("runtimeImage: registry.example.com.evil io/x:1", "not an image name"),
        ("runtimeImage: 1", "must be an image name"),
        ("runtimeImage: [a]", "must be an image name"),
        ("runtimeimage: a", "write `runtimeImage`"),
        ("pythonImage: python:3.13", "registry.example.com/python"),
        ("runtimeConfigMap: Not-A-Name", "sparkgen runtime --name"),
        ("runtimeConfigMap: 1", "sparkgen runtime --name"),
        ("runtimeConfigMap: one\nruntimeImage: a.b/c:1", "delete `runtimeConfigMap` or `runtimeImage`"),
        ("- a", "must be a mapping"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    """With SG200 and its place."""
    found = read(text.encode(), FILE_NAME)
    assert isinstance(found, tuple)
    assert all(problem.code == "SG200" for problem in found)
    assert any(says in f"{problem.message} {problem.next_step}" for problem in found)


@pytest.mark.parametrize("text", ["", "# nothing", "runtimeImage:", "lint: {nonsense: 1}"])
def test_what_says_nothing_of_images(text: str) -> None:
    """Nothing is no mistake, and lint's part is lint's to read."""
    assert configured(text).runtime_image is None


DOCUMENTS = {
    "SparkApplication": "spec: {}",
    "ScheduledSparkApplication": "spec: {template: {}}",
    "SparkShuffleService": "spec: {}",
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_it_is_laid_under_a_document_that_says_nothing(kind: str) -> None:
    """In its own place for each kind; the document that was read stays as it is."""
    text = f"apiVersion: sparkgen.dev/v1alpha1\nkind: {kind}\n{DOCUMENTS[kind]}\n"
    (document,) = load(("-",), stdin=text.encode).documents
    before = repr(document.value)
    laid = lay_under(document, configured(f"runtimeImage: {IMAGE}"))
    assert not lacks_runtime(laid)
    path = (*place_of_runtime(laid), "runtimeImage")
    value = laid.value
    for part in path:
        value = value[part]
    assert value == IMAGE
    assert str(laid.node.locate(path)) == f"{FILE_NAME}:1:15"
    assert repr(document.value) == before
    assert lay_under(document, Configured()) is document


@pytest.mark.parametrize(
    "text",
    [
        "kind: SparkApplication\nspec: {runtimeImage: a.b/c:1}",
        "kind: SparkHistoryServer\nspec: {}",
        "kind: SparkApplication\nspec: []",
        "kind: SparkApplication",
        "kind: ScheduledSparkApplication\nspec: {}",
        "kind: [a]\nspec: {}",
        "kind: {a: b}",
    ],
)
def test_documents_that_it_leaves_alone(text: str) -> None:
    """Those that name one, those that have none, and those that are too wrong to have one."""
    text = f"apiVersion: sparkgen.dev/v1alpha1\n{text}\n"
    (document,) = load(("-",), stdin=text.encode).documents
    assert lay_under(document, configured(f"runtimeImage: {IMAGE}")) is document


PYTHON = "registry.example.com/python:3.13-slim"


@pytest.mark.parametrize(
    ("spec", "text", "laid"),
    [
        ("{}", f"pythonImage: {PYTHON}", {"pythonImage": PYTHON}),
        ("{}", "runtimeConfigMap: one", {"runtimeConfigMap": "one"}),
        ("{runtimeConfigMap: two}", "runtimeConfigMap: one", {"runtimeConfigMap": "two"}),
        ("{runtimeConfigMap: two}", f"runtimeImage: {IMAGE}", {"runtimeConfigMap": "two"}),
        ("{runtimeImage: a.b/c:1}", f"pythonImage: {PYTHON}", {"runtimeImage": "a.b/c:1"}),
        ("{pythonImage: a.b/c:1}", f"pythonImage: {PYTHON}", {"pythonImage": "a.b/c:1"}),
    ],
)
def test_a_document_says_what_the_runtime_is_before_the_configuration(
    spec: str, text: str, laid: dict[str, str]
) -> None:
    """An image or a ConfigMap of the document excludes the other of the configuration."""
    document = f"apiVersion: sparkgen.dev/v1alpha1\nkind: SparkApplication\nspec: {spec}\n"
    (loaded,) = load(("-",), stdin=document.encode).documents
    assert lay_under(loaded, configured(text)).value["spec"] == laid


def test_it_is_found_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    """The nearest one counts, and none above `.git`."""
    below = tmp_path / "repository" / "apps"
    below.mkdir(parents=True)
    (tmp_path / FILE_NAME).touch()
    assert find(below) == tmp_path / FILE_NAME
    (tmp_path / "repository" / ".git").mkdir()
    assert find(below) is None
    (tmp_path / "repository" / FILE_NAME).touch()
    assert find(below) == tmp_path / "repository" / FILE_NAME


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_stranger_above_chooses_no_image(tmp_path: Path) -> None:
    """In /tmp anybody may write: what somebody else put there does not choose what runs with a credential."""
    mine = tmp_path / "shared" / "mine"
    mine.mkdir(parents=True)
    trap = tmp_path / "shared" / FILE_NAME
    trap.write_text("runtimeImage: evil.example.com/x:1\n")
    os.chown(trap, NOBODY, NOBODY)
    os.chown(mine, 1234, 1234)
    assert find(mine, user=1234) is None
    os.chown(mine, NOBODY, NOBODY)  # a checkout of theirs, looked at by root, as in a CI's container
    assert find(mine, user=0) == trap
    os.chown(trap, 1234, 1234)
    os.chown(mine, 0, 0)
    assert find(mine, user=1234) == trap


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_stranger_in_a_shared_folder_chooses_no_image(tmp_path: Path) -> None:
    """In the folder itself, if everybody may write there; nor by a link, whose target may be anybody's."""
    shared = tmp_path / "shared"
    shared.mkdir()
    trap = shared / FILE_NAME
    trap.touch()
    os.chown(trap, NOBODY, NOBODY)
    assert find(shared, user=1234) == trap
    shared.chmod(0o1777)
    assert find(shared, user=1234) is None
    trap.unlink()
    (tmp_path / "target").touch()
    trap.symlink_to(tmp_path / "target")
    assert find(shared, user=1234) == trap
    os.chown(trap, NOBODY, NOBODY, follow_symlinks=False)
    assert find(shared, user=1234) is None
    trap.unlink()
    trap.symlink_to(trap)  # as one to where this user may not look, it is there and cannot be read
    assert find(shared, user=1234) is None
