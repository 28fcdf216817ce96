"""What a registry asks for in WWW-Authenticate."""

from __future__ import annotations

import pytest

from sparkgen.runtime.registry.challenge import LONGEST, Challenge, challenge


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Basic realm=x", Challenge("basic")),
        ('basic realm="a, b"', Challenge("basic")),
        ('Bearer realm="https://x/t",service="s",scope="a:b:c"', Challenge("bearer", "https://x/t", "s")),
        ('Basic realm="x", Bearer realm="https://x/t" , service=s', Challenge("bearer", "https://x/t", "s")),
        ('BEARER Realm="https://x/t"', Challenge("bearer", "https://x/t")),
        ("Negotiate, Basic realm=x", Challenge("basic")),
        ("Negotiate", None),
        ("", None),
        ("  ", None),
        ('realm="https://x"', None),
        ("Bearer " + "a" * LONGEST + ' realm="https://x/t"', None),
    ],
)
def test_challenges(header: str, expected: Challenge | None) -> None:
    """Several of them in one header, in any case; a token rather than a password."""
    assert challenge(header) == expected
