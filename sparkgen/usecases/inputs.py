"""Which documents are meant, and what is laid on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkgen.document.configuration import Configured


@dataclass(frozen=True, slots=True)
class Inputs:
    """Documents as a person names them.

    `sources`: files, directories, or "-" for standard input; `values`: files of overlays; `sets`,
    `set_strings`: single values, as `PATH=VALUE`; `target`: kubectl, argocd or flux, which overrules the
    documents, or "". `configured`: what the repository's configuration says about documents; None: it is
    looked for in the working directory.
    """

    sources: tuple[str, ...]
    values: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    set_strings: tuple[str, ...] = ()
    target: str = ""
    configured: Configured | None = None
