"""Which lines of a requirements file an installer never gets."""

from __future__ import annotations

import pytest

from sparkgen.delivery.requirements import faults

HASH = "--hash=sha256:" + "0" * 64


@pytest.mark.parametrize(
    "line",
    [
        "--extra-index-url https://index.example/${TOKEN}/simple",
        "-i https://${USER}:${TOKEN}@index.example/simple",
        f"a @ https://files.example/${{TOKEN}}/a-1-py3-none-any.whl {HASH}",
        f"a==1 ; python_version > '${{TOKEN}}' {HASH}",
        "--trusted-host ${TOKEN}",
    ],
)
def test_no_variable_reaches_an_installer(line: str) -> None:
    """Pip and uv would put its value there, and send it to whom the author of the file names."""
    ((at, found, step),) = faults(f"b==2 {HASH}\n{line}\n")
    assert (at.number, found) == (
        2,
        "has a variable (${...}), whose value an installer would send to the address in this line",
    )
    assert "~/.netrc" in step


@pytest.mark.parametrize(
    "url",
    [
        "https://h/a.whl/evil-1.0.tar.gz",
        "https://h/evil-1.0.whl.zip",
        "https://h/evil-1-py3-none-any.whl?x=/evil-1.tar.gz",
        "https://h/evil-1-py3-none-any.whl#egg=evil&subdirectory=x",
        "https://h/?evil-1-py3-none-any.whl",
        "https://h/#/evil-1-py3-none-any.whl",
        "https://h?/evil-1-py3-none-any.whl",
        "https:///evil-1-py3-none-any.whl",
        "https://h.whl",
        "https://h/a.tar.gz;python_version>'/x-1-py3-none-any.whl",
        "git+https://h/evil-1-py3-none-any.whl",
        "http://h/evil-1-py3-none-any.whl",
        "file:///evil-1-py3-none-any.whl",
    ],
)
def test_only_a_url_whose_path_ends_with_a_wheel_reaches_an_installer(url: str) -> None:
    """An installer would build anything else, which runs code of the package on the machine that pushes."""
    ((_, found, _),) = faults(f"evil @ {url} {HASH}\n")
    assert found == "must be an https URL of a wheel with a hash"


@pytest.mark.parametrize(
    "line",
    [
        f"a @ https://h/a-1-py3-none-any.whl {HASH}",
        f"a @ https://h/a-1-py3-none-any.whl#sha256={'0' * 64}",
        f"torch @ https://h:8443/whl/cpu/torch-2.1.0%2Bcpu-cp310-cp310-linux_x86_64.whl {HASH}",
        f'a[b,c] @ https://u:p@h/w/a-1-py3-none-any.whl ; python_version < "3.11" {HASH}',
    ],
)
def test_a_wheel_with_a_hash_may_be_anywhere(line: str) -> None:
    """Names as `pip freeze` and `uv pip compile` write them."""
    assert [*faults(line)] == []


@pytest.mark.parametrize(
    "version", ["1/../../lib", "1/x.tar.gz", "..", "1\\\\x", "1:x", "1@x", "'1'", "1 2", "/x"]
)
def test_a_version_is_nothing_else(version: str) -> None:
    """Pip takes a word that is also a path for that path, and builds what it finds there."""
    assert [*faults(f"a=={version}\n")]


@pytest.mark.parametrize("version", ["1", "1.0.post1", "2!1.0rc1", "2.1.0+cu121", "1.0-1", "v1", "2024a"])
def test_versions_as_indexes_have_them(version: str) -> None:
    """PEP 440, and older ones."""
    assert [*faults(f"a=={version}\na==={version}\n")] == []
