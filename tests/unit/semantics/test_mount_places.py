"""Mount paths are compared as the kubelet and the container runtime read them."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.semantics.mounts import is_below, mounted_at


@pytest.mark.parametrize(
    "place",
    [
        "/opt/sparkgen",
        "/opt/sparkgen/",
        "/opt//sparkgen/lib",
        "//opt/sparkgen/lib",
        "/opt/./sparkgen/lib",
        "/opt/x/../sparkgen/lib",
        "/../opt/sparkgen",
        "opt/sparkgen/lib",
        "./opt/sparkgen",
        "/tmp/../../opt/sparkgen/session",  # noqa: S108 - a path in a pod
    ],
)
def test_a_place_of_sparkgen_in_any_spelling(place: str) -> None:
    """All of these are below /opt/sparkgen for who mounts them."""
    assert is_below(place, "/opt/sparkgen")


@pytest.mark.parametrize(
    "place", ["/opt/sparkgen2", "/opt", "/", "/opt/sparkgen/..", "/opt/sparkgen/../x", "/x/opt/sparkgen"]
)
def test_a_place_elsewhere(place: str) -> None:
    """A name that begins alike is another, and `..` may lead out again."""
    assert not is_below(place, "/opt/sparkgen")


@given(st.lists(st.sampled_from(["a", "b", ".", "..", ""]), max_size=8).map("/".join))
def test_a_cleaned_place_is_absolute_and_stays_as_it_is(place: str) -> None:
    """Cleaning twice is cleaning once, and the root is the highest place there is."""
    clean = mounted_at(place)
    assert clean == mounted_at(clean)
    assert clean.startswith("/")
    assert posixpath.normpath(clean) == clean
    assert is_below(place, "/")
