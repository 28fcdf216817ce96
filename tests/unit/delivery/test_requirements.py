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
