"""What a Spark image is made from, and when it is made again."""

from __future__ import annotations

import re

import pytest

from cluster import images, ociimage
from cluster.ociimage import Image
from common.cachedir import ToolError

BASE = Image("amd64", {}, (ociimage.layer(b"base"),))


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("3.5.8", "3.5.8"),
        ("4.3.0-java17-python3", "4.3.0"),
        ("3.5.8-scala2.12-java17-ubuntu", "3.5.8"),
        ("3.10.12-scala", "3.10.12"),
    ],
)
def test_the_version_is_what_the_tag_begins_with(tag: str, version: str) -> None:
    """The tags of the stock images, plain and with a flavour."""
    assert images.spark_version(tag) == version


@pytest.mark.parametrize("tag", ["", "latest", "4.3", "python3", "v3.5.8", "3.5.8rc1", "3.5.8.1", "../3.5.8"])
def test_a_tag_without_a_version_is_told(tag: str) -> None:
    """The version is what PyPI is asked for, and a folder's name: nothing else may come through."""
    with pytest.raises(ToolError, match=re.escape(f"the tag {tag!r} does not start with a Spark version")):
        images.spark_version(tag)


def test_an_image_is_made_again_when_its_recipe_or_its_base_changes() -> None:
    """A file's text, a file's name, a file more, another base: each is another key. The order is not."""
    recipe = {"Dockerfile": b"FROM base", "entrypoint.sh": b"exec"}
    key = images.spark_key(recipe, BASE)
    assert images.spark_key(dict(reversed(recipe.items())), BASE) == key
    others = [
        images.spark_key({**recipe, "Dockerfile": b"FROM  base"}, BASE),
        images.spark_key({"Dockerfile": b"FROM base", "entry.sh": b"exec"}, BASE),
        images.spark_key({**recipe, "more": b""}, BASE),
        images.spark_key(recipe, ociimage.on_top(BASE, ociimage.layer(b"more"))),
        images.spark_key(recipe, Image("arm64", {}, BASE.layers)),
    ]
    assert len({key, *others}) == len(others) + 1


def test_the_dockerfile_copies_only_what_is_in_the_recipe() -> None:
    """A file that is copied and missing would fail a build of minutes at its end."""
    text = (images.RECIPE / "Dockerfile").read_text()
    copied = {
        name
        for line in re.findall(r"^COPY (.*)$", text, re.MULTILINE)
        for name in line.split()[:-1]
        if not name.startswith("--")
    }
    assert copied - {"spark/"} <= {path.name for path in images.RECIPE.iterdir()}
    assert text.count("\nFROM base\n") == 1


def test_a_machine_without_busybox_is_told_what_to_do() -> None:
    """The message names the command that installs it."""
    with pytest.raises(ToolError, match="make cluster-requirements"):
        images.busybox("no-such-busybox")
