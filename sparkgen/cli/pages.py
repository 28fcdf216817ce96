"""Reads the rules' pages from the package: sparkgen/semantics/pages/SG104.md, sparkgen/lint/pages."""

from __future__ import annotations

from importlib.resources import files

from sparkgen.reports import Rule


def rules() -> dict[str, Rule]:
    """Returns every rule by code, in the order of codes. A page's first line is `# CODE: title`."""
    folders = [files("sparkgen").joinpath(part, "pages") for part in ("semantics", "lint")]
    by_code = {}
    for entry in sorted((e for folder in folders for e in folder.iterdir()), key=lambda entry: entry.name):
        code, _, kind = entry.name.partition(".")
        if kind == "md":
            page = entry.read_text(encoding="utf-8")
            title = page.partition("\n")[0].removeprefix("#").strip().removeprefix(code).lstrip(": ")
            by_code[code] = Rule(code, title, page)
    return by_code
