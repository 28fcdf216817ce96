"""SG222: an image comes from an allowed registry, or it only looks like it."""

from __future__ import annotations

import pytest

from sparkgen.lint.rules_images import comes_from

DIGEST = "@sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("image", "allowed"),
    [
        ("registry.example.com/spark:1", "registry.example.com"),
        ("registry.example.com/spark:1", "registry.example.com/"),
        ("Registry.Example.com/spark:1", "registry.example.com"),
        ("registry.example.com:5000/a/spark", "registry.example.com:5000"),
        ("registry.example.com/team/spark:1", "registry.example.com/team"),
        (f"registry.example.com/team/spark{DIGEST}", "registry.example.com/team/spark"),
        ("registry.example.com/team/spark:1", "registry.example.com/team/spark"),
        ("apache/spark:3.5.8", "docker.io/apache"),
        ("apache/spark:3.5.8", "apache"),
        ("busybox", "docker.io/library"),
        ("localhost/spark", "localhost"),
    ],
)
def test_an_image_of_an_allowed_registry(image: str, allowed: str) -> None:
    """A registry, or a part of one, by whole components; Docker Hub's short names are completed."""
    assert comes_from(image, allowed)


@pytest.mark.parametrize(
    ("image", "allowed"),
    [
        ("registry.example.com.evil.io/spark:1", "registry.example.com"),
        ("registry.example.com.evil.io/spark:1", "registry.example.com/"),
        ("registry.example.community/spark:1", "registry.example.com"),
        ("registry.example.com:5000/spark:1", "registry.example.com"),
        ("registry.example.com/team-b/spark:1", "registry.example.com/team"),
        ("registry.example.com/teams/spark:1", "registry.example.com/team"),
        ("evil.io/registry.example.com/spark:1", "registry.example.com"),
        ("registry.example.com/spark:1", "docker.io"),
        ("spark:1", "registry.example.com"),
        ("docker.io.evil.io/apache/spark", "docker.io"),
        ("apache-evil/spark", "apache"),
    ],
)
def test_an_image_that_only_looks_like_it(image: str, allowed: str) -> None:
    """What merely begins with the same letters is somebody else's."""
    assert not comes_from(image, allowed)
