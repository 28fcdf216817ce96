"""Which entry of a docker configuration is meant for a repository."""

from __future__ import annotations

import base64
import json

import pytest

from sparkgen.runtime.fetch.credentials import credentials_for
from sparkgen.runtime.fetch.values import BadArtifact


def chosen(host: str, repository: str, *keys: str) -> str | None:
    """The user of the entry that is taken; each entry's user is its key."""
    auths = {key: {"username": key, "password": "p"} for key in keys}
    found = credentials_for(json.dumps({"auths": auths}), host, repository)
    return found and found.user


@pytest.mark.parametrize(
    ("host", "repository", "keys", "expected"),
    [
        ("r.example.com", "a/b", ["r.example.com"], "r.example.com"),
        ("r.example.com", "a/b", ["https://r.example.com/v1/"], "https://r.example.com/v1/"),
        ("r.example.com", "a/b", ["r.example.com", "r.example.com/a"], "r.example.com/a"),
        ("r.example.com", "a/b", ["r.example.com/a/bc", "r.example.com/c"], None),
        ("r.example.com:5000", "a", ["r.example.com"], None),
        ("r.example.com", "a", ["r.example.com.evil.example"], None),
        ("docker.io", "a/b", ["https://index.docker.io/v1/"], "https://index.docker.io/v1/"),
    ],
)
def test_the_longest_path_wins(host: str, repository: str, keys: list[str], expected: str | None) -> None:
    """As with the kubelet."""
    assert chosen(host, repository, *keys) == expected


def test_the_joined_form() -> None:
    """`auth` is what docker login writes; a password may have colons."""
    auth = base64.b64encode(b"ada:a:b").decode()
    found = credentials_for(json.dumps({"auths": {"x": {"auth": auth}}}), "x", "y")
    assert found is not None
    assert (found.user, found.password) == ("ada", "a:b")
    assert "a:b" not in repr(found)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"auths": []}', '{"auths": {"x": 1}}', '{"auths": {"x": {"auth": "s3cret%"}}}']
)
def test_what_is_no_configuration(text: str) -> None:
    """The text itself is never repeated."""
    with pytest.raises(BadArtifact) as caught:
        credentials_for(text, "x", "y")
    assert "s3cret" not in str(caught.value)
