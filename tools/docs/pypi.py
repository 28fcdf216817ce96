"""The README as the long description of the package: PyPI has neither the pictures nor the pages beside it.

Imported by `hatch_build.py` while the package is built, so it needs the standard library only.
"""

from __future__ import annotations

import re

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n?", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)")


def long_description(readme: str, source: str = "", tag: str = "") -> str:
    """The README with links to `source`, the address of the repository, at a tag.

    Without an address, links become their text. Pictures are left out: PyPI shows only those of other sites.
    """
    text = _PICTURE.sub("", readme)
    if not source:
        return _LINK.sub(r"\1", text)
    return _LINK.sub(lambda link: f"[{link[1]}]({source}/blob/{tag}/{link[2]})", text)
