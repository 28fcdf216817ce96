"""The page of each rule: Markdown, one file per code, read only when it is needed."""

from __future__ import annotations

from importlib.resources import files

from sparkgen.errors import SparkgenError


def page(code: str) -> str:
    """Returns a rule's page: what it finds, why, a wrong and a right example, how to ignore it."""
    entry = files("sparkgen").joinpath("semantics", "pages", f"{code}.md")
    if not (code.isalnum() and entry.is_file()):
        raise SparkgenError(f"there is no rule {code}: `sparkgen rule` lists all of them")
    return entry.read_text(encoding="utf-8")
