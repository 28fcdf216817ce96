"""The documents of a call, and their overlays and values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sparkgen.delivery.work import Work

if TYPE_CHECKING:
    from sparkgen.document.configuration import Configured


LocalFiles = Literal["pushed", "pushable", "present", "unread"]
"""What must be true of a document's local files: the artifacts match them (pushed), they can be pushed
(pushable), or they exist (present). `unread`: they are not read, as with those of another revision."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Documents as a user names them.

    `sources`: files, directories, or "-" for standard input; `values`: files of overlays; `sets`,
    `set_strings`: single values, as `PATH=VALUE`; `target`: kubectl, argocd or flux, which overrides the
    documents, or "". `configured`: the settings of the repository's configuration; None: search for it from
    the working directory. `lock`: the lock of all documents, instead of the one beside each. `local_files`:
    what must be true of them. `work`: the rest of the command's limits for finding local files.
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

    @property
    def settings(self) -> Configured:
        """The settings of `configured`, or else those of the configuration for the working directory."""
        from sparkgen.document import configuration  # noqa: PLC0415 - few commands read documents

        found = self.configured
        return configuration.settings_of(configuration.found()) if found is None else found

    @property
    def options(self) -> list[str]:
        """The options of a command line that give the same overlays, values and lock."""
        pairs = [
            *(("-f", value) for value in self.values),
            *(("--set", value) for value in self.sets),
            *(("--set-string", value) for value in self.set_strings),
            *([("--lock", self.lock)] if self.lock else []),
        ]
        return [word for pair in pairs for word in pair]
