"""The files of properties that a spark-submit command reads, and which of several values takes precedence."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sparkgen.errors import Position
from sparkgen.importing.budget import Budget
from sparkgen.importing.draft import Draft, Property
from sparkgen.importing.entry import Outcome
from sparkgen.importing.properties import PropertiesFile, properties_file

_LATER = "another value of this property takes precedence, as for spark-submit"


@dataclass(slots=True)
class Files:
    """The files that a call may read. `read`: returns the text of a file that a script names, or None.

    `defaults`: the spark-defaults.conf among the inputs, for commands that name no other file. `used`: the
    names of the files that were read. `budget`: what may still be copied of them. `parsed`: text -> the file
    with this text, under one of its names.
    """

    read: Callable[[str, str], str | None]
    defaults: PropertiesFile | None = None
    used: set[str] = field(default_factory=set)
    budget: Budget = field(default_factory=Budget)
    parsed: dict[str, PropertiesFile] = field(default_factory=dict)

    def find(self, path: str, script: str) -> PropertiesFile | None:
        """Returns a file that a script names, relative to the script's folder or the working directory."""
        contents = self.text(path, script)
        if contents is None:
            return None
        name, text = contents
        if text not in self.parsed:
            self.parsed[text] = properties_file(name, text)
        return replace(self.parsed[text], name=name)

    def text(self, path: str, script: str) -> tuple[str, str] | None:
        """Returns the name and the text of a file that a script names; None if import cannot read it."""
        if posixpath.isabs(path) or "$" in path:
            return None  # a file of the submitting machine
        for name in dict.fromkeys((posixpath.join(posixpath.dirname(script), path), path)):
            text = self.read(name, script)
            if text is not None:
                self.used.add(posixpath.normpath(name))
                return name, text
        return None


def add_properties(draft: Draft, file: PropertiesFile, option: str, budget: Budget) -> None:
    """Add the properties of a file before those of the command line, which take precedence.

    Raises `Beyond`.
    """
    if file.size:
        budget.take(file.size, len(file.properties))
    draft.properties[:0] = [
        Property(item.name, item.text, (option, item.name), Position(file.name, item.line, 1))
        for item in file.properties
    ]


def keep_last(draft: Draft) -> None:
    """Drop all but the last value of each property; `--name` takes precedence over the property."""
    last = {item.name: item for item in sorted(draft.properties, key=lambda item: item.source[0] == "--name")}
    for item in draft.properties:
        if last[item.name] is not item:
            draft.tell(Outcome.NEEDLESS, item.source, item.position, (), _LATER)
    draft.properties[:] = [item for item in draft.properties if last[item.name] is item]
