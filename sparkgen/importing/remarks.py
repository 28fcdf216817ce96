"""Turns remarks of the YAML parser and of `validate` about copied values into findings.

The parser reads some values otherwise than they are written, as kubectl does. `validate` warns about secrets
and about placeholders that nothing replaces. Import reports both at once, so that the user need not wait for
the next command.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sparkgen.document import Node
from sparkgen.errors import Path, Problem
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import FINDINGS, Entry, Outcome
from sparkgen.importing.provenance import entry_of, is_there, source_of, value_at

_DUPLICATE, _BOOLEAN_WORD, _PLACEHOLDER = "SG003", "SG008", "SG142"
_TEMPLATE = "{{"
TOLD = frozenset({"SG117", "SG118", "SG142", "SG156"})
"""Warnings of `validate` that import reports at once: secrets, placeholders, files that nothing reads."""
_NOT_EXPANDED = "a template, copied unchanged: nothing expands it"
RENDER_FIRST = (
    "render the template first, for example with `helm template`, and import the result; "
    "if you mean the braces, quote them"
)


@dataclass(frozen=True, slots=True)
class Remarks:
    """The parser's remarks about a document. `below`: the path of the text that contains it, if any."""

    root: Node
    below: Path = ()
    problems: Sequence[Problem] = ()

    def of(self, draft: Draft) -> list[Problem]:
        """Returns the remarks about a draft's part of the document."""
        return [item for item in self.problems if item.path[: len(draft.below)] == draft.below]

    def is_lost(self, item: Problem) -> bool:
        """Whether the value of a remark is not in the document that was read."""
        return item.code == _DUPLICATE or self.root.find(item.path[len(self.below) :]) is None


def tell_lost(draft: Draft, remarks: Remarks) -> None:
    """Report values that were not read: the first of two equal keys, a key that no parser reads."""
    lost = {entry.source for entry in draft.entries if entry.outcome is Outcome.LOST}
    for item in remarks.of(draft):
        known = lost if item.code != _DUPLICATE else lost - {item.path}  # that entry is about the last one
        if not remarks.is_lost(item) or item.code == _BOOLEAN_WORD:
            continue
        if not any(path in known for path in _prefixes(item.path)):
            lost.add(item.path)
            last = "; the last one is used, as by kubectl" if item.code == _DUPLICATE else ""
            reason = f"{item.message}{last}"
            draft.entries.append(Entry(Outcome.LOST, item.path, item.position, (), reason, item.next_step))


def tell_changed(draft: Draft, remarks: Remarks) -> None:
    """Report values that were read otherwise than they are written, if they are in the draft."""
    targets = {source.path: place for place, source in draft.copied.items()}
    entries = {entry.source: entry for entry in draft.entries if entry.source}
    for item in remarks.of(draft):
        entry = next((entries[path] for path in _prefixes(item.path) if path in entries), None)
        if remarks.is_lost(item) or entry is None or not entry.target:
            continue
        copied = next((path for path in _prefixes(item.path) if path in targets), None)
        place = entry.target if copied is None else (*targets[copied], *item.path[len(copied) :])
        place = place if is_there(draft.value, place) else entry.target
        if item.found == _TEMPLATE:
            remark = replace(item, message=_NOT_EXPANDED, next_step=RENDER_FIRST)
        elif item.code != _BOOLEAN_WORD:
            remark = item
        elif value_at(draft.value, place) == item.found:
            text = f"kubectl reads `{item.found}` as a boolean; here, it is the string"
            step = f'check that the string is meant, and quote it: "{item.found}"'
            remark = replace(item, message=text, next_step=step)
        else:
            continue
        finding = Entry(Outcome.CHANGED, item.path, item.position, place)
        entries[item.path] = _tell(draft, entry, remark, finding)


def _prefixes(path: Path) -> list[Path]:
    return [path[:length] for length in range(len(path), 0, -1)]


def tell_warnings(draft: Draft, problems: Iterable[Problem]) -> None:
    """Report the warnings of `validate` that are in TOLD."""
    for item in problems:
        if item.code in TOLD:
            entry = entry_of(draft, item.path)
            source, position = source_of(draft, item.path, entry)
            if item.code == _PLACEHOLDER and entry and entry.source == source and entry.outcome in FINDINGS:
                continue  # reported already, in the words of the input
            _tell(draft, entry, item, Entry(Outcome.CHANGED, source, position, item.path))


def _tell(draft: Draft, covering: Entry | None, item: Problem, entry: Entry) -> Entry:
    """Add a finding, and return it. If its value has an entry already, the finding replaces the entry."""
    reason = item.message
    if covering is not None and covering.source == entry.source and covering in draft.entries:
        draft.entries.remove(covering)
        if covering.outcome in FINDINGS:
            reason = f"{covering.reason}; {reason}"
    finding = replace(entry, reason=reason, step=item.next_step)
    draft.entries.append(finding)
    draft.comments.setdefault(entry.target, []).append(item.message)
    return finding
