"""Texts that are secrets by their form: tokens with a well-known beginning, and keys.

One table for the values of documents, and for files that are pushed (sparkgen.delivery.secret_files).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_BEFORE = r"(?<![A-Za-z0-9_-])"
_OF = "a token of "
WELL_KNOWN = (
    (
        ("PRIVATE KEY",),
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----",
        "the header of a private key",
    ),
    (("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "a private key of age"),
    (
        (),
        r"(?i)aws_secret_access_key[\"']?\s{0,4}[=:]\s{0,4}[\"']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
        "an AWS secret key",
    ),
    (
        ("AKIA", "ASIA"),
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA)(?![A-Z0-9]{9}EXAMPLE)[A-Z2-7]{16}(?![A-Za-z0-9])",
        "an AWS access key",
    ),
    (("AccountKey=",), r"AccountKey=[A-Za-z0-9+/]{86}==", "the key of an Azure storage account"),
    (("8Q~",), r"(?<![A-Za-z0-9])[A-Za-z0-9]{3}8Q~[A-Za-z0-9_~.-]{34}", "an Azure client secret"),
    (("AIza",), _BEFORE + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", "a Google API key"),
    (("GOCSPX-",), _BEFORE + r"GOCSPX-[A-Za-z0-9_-]{28}", "a Google client secret"),
    (("gh",), _BEFORE + r"gh[pousr]_[A-Za-z0-9]{36}", f"{_OF}GitHub"),
    (("github_pat_",), _BEFORE + r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", f"{_OF}GitHub"),
    (("gl",), _BEFORE + r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20}", f"{_OF}GitLab"),
    (("xox", "xapp-"), _BEFORE + r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{20}", f"{_OF}Slack"),
    (("npm_",), _BEFORE + r"npm_[A-Za-z0-9]{36}", f"{_OF}npm"),
    (("pypi-",), _BEFORE + r"pypi-Ag[A-Za-z0-9_-]{50}", f"{_OF}PyPI"),
    (("hf_",), _BEFORE + r"hf_[A-Za-z]{34}(?![A-Za-z0-9_])", f"{_OF}Hugging Face"),
    (("dop_v1_", "doo_v1_"), _BEFORE + r"do[op]_v1_[a-f0-9]{64}", f"{_OF}DigitalOcean"),
    (("dapi",), _BEFORE + r"dapi[a-f0-9]{32}(?![A-Za-z0-9])", f"{_OF}Databricks"),
    (("hvs.",), _BEFORE + r"hvs\.[A-Za-z0-9_-]{24}", f"{_OF}Vault"),
    (
        ("sk-",),
        _BEFORE + r"sk-(?=[a-z0-9_-]{0,40}[A-Z])(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{32}",
        "a key of a language model's API",
    ),
    (("k_live_",), _BEFORE + r"[sr]k_live_[A-Za-z0-9]{24}", "a key of Stripe"),
)
"""Texts of which one is present wherever the expression matches; the expression; and what it matches."""


@cache
def _patterns() -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    # The expressions match all that follows, so that no rest of a longer token stays in a message.
    return tuple((needles, re.compile(f"{pattern}[A-Za-z0-9_-]*+")) for needles, pattern, _ in WELL_KNOWN)


def _possible(text: str) -> Iterator[re.Pattern[str]]:
    """Yields the expressions that can match in a text."""
    for needles, pattern in _patterns():
        if not needles or any(needle in text for needle in needles):
            yield pattern


def has_token(text: str) -> bool:
    """Whether a text contains one of these tokens or keys."""
    return any(pattern.search(text) for pattern in _possible(text))


def without_tokens(text: str) -> str:
    """Returns a text with three stars for each of these tokens and keys."""
    for pattern in _possible(text):
        text = pattern.sub("***", text)
    return text
