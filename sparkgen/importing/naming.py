"""Names of applications: what other tools allow, as sparkgen's documents allow it."""

from __future__ import annotations

import re

from sparkgen.names import MAX_APPLICATION_NAME

FALLBACK = "my-app"


def application_name(text: str) -> str:
    """The nearest name that a document may have; the same text if it may."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if slug and not slug[0].isalpha():
        slug = f"app-{slug}"
    return slug[:MAX_APPLICATION_NAME].rstrip("-") or FALLBACK
