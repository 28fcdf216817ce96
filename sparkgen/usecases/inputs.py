"""Which documents are meant, and what is laid on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sparkgen.delivery.work import Work

if TYPE_CHECKING:
    from sparkgen.document.configuration import Configured


LocalFiles = Literal["pushed", "pushable", "present", "unread"]
"""What has to be true of a document's local files: that the artifacts are made of them as they are now, that
they can be pushed, or that they are there. Or they are not looked at, as those of another revision."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Documents as a person names them.

    `sources`: files, directories, or "-" for standard input; `values`: files of overlays; `sets`,
    `set_strings`: single values, as `PATH=VALUE`; `target`: kubectl, argocd or flux, which overrides the
    documents, or "". `configured`: what the repository's configuration says about documents; None: it is
    looked for in the working directory. `lock`: the lock of all documents, instead of the one beside each.
    `work`: what the command may still do to find local files.
    """

    sources: tuple[str, ...]
    values: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    set_strings: tuple[str, ...] = ()
    target: str = ""
    configured: Configured | None = None
    lock: str = ""
    local_files: LocalFiles = "pushed"
    work: Work = field(default_factory=Work, compare=False, repr=False)
