"""The delivery of local files: files that pods would not get, and settings that nothing reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sparkgen.model.delivery import DEPENDENCIES
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.local_entries import Entry, local_entries
from sparkgen.semantics.wording import listed, shortened

_OF_FETCH = ("caConfigMap", "cacheVolume")
"""Settings that only `fetch` reads."""

OTHER_ENTRIES = "was pushed for different entries of the document"
"""What is wrong with an artifact that lacks an entry of the document."""

_PUSH = (
    "run `sparkgen push`, and pass the lock file that it writes to Helm with another -f: -f app.yaml -f "
    "app.lock.yaml"
)


def never_pushed(artifact: str) -> str:
    """Returns the message for a document that has local files but not the artifact that they belong to."""
    what = "jars, archives and packages" if artifact == DEPENDENCIES else "files"
    return f"the artifact `{artifact}` was not pushed: no pod would get the {what} beside the document"


@rule("SG306", ERROR, chart="a nightly run: each driver would fail because its program is missing")
def not_pushed(facts: DocumentFacts) -> Iterator[Finding]:
    """Local files whose artifact the document does not have: one finding for each artifact."""
    known = {artifact["name"] for artifact in facts.spec.get("artifacts") or ()}
    for name, entry in _first(local_entries(facts.spec, facts.root)):
        if name not in known:
            yield Finding(entry.path, never_pushed(name), shortened(entry.text), next_step=_PUSH)


@rule("SG307", ERROR, chart="a nightly run: each driver would fail because a file is missing")
def pushed_otherwise(facts: DocumentFacts) -> Iterator[Finding]:
    """Local files that their artifact does not have: one finding for each artifact."""
    known = {artifact["name"]: artifact["files"] for artifact in facts.spec.get("artifacts") or ()}
    lacking = (
        entry
        for entry in local_entries(facts.spec, facts.root)
        if entry.artifact in known and entry.text not in known[entry.artifact]
    )
    for name, entry in _first(lacking):
        message = f"the artifact `{name}` {OTHER_ENTRIES}"
        yield Finding(entry.path, message, shortened(entry.text), next_step=_PUSH)


def _first(entries: Iterable[Entry]) -> list[tuple[str, Entry]]:
    """Returns the first entry of each artifact, sorted by the artifact's name."""
    first: dict[str, Entry] = {}
    for entry in entries:
        first.setdefault(entry.artifact, entry)
    return sorted(first.items())


@rule("SG310", ERROR)
def cache_without_volume(facts: DocumentFacts) -> Iterator[Finding]:
    """A cache in a volume that the document does not have: the API server refuses the pods."""
    name = facts.get("delivery", "cacheVolume")
    known = sorted(str(volume.get("name")) for volume in facts.spec.get("volumes") or ())
    if name is not None and name not in known:
        yield Finding(
            facts.path("delivery", "cacheVolume"),
            "the document has no volume with this name",
            shortened(str(name)),
            listed(known, "or") if 0 < len(known) <= 5 else "",
            f"define the volume in `{'.'.join(map(str, facts.path('volumes')))}`, or fix the name",
        )


@rule("SG189", WARNING)
def settings_without_fetch(facts: DocumentFacts) -> Iterator[Finding]:
    """Settings of `fetch` where the kubelet pulls: it has its own certificates, and its own cache."""
    if facts.get("delivery", "mount") != "image":
        return
    for name in _OF_FETCH:
        if facts.get("delivery", name) is not None:
            yield about_key(
                facts.path("delivery", name),
                "has no effect with `mount: image`: the kubelet pulls the artifacts, with the settings of "
                "its node",
                "delete it, or use `mount: fetch`",
            )
