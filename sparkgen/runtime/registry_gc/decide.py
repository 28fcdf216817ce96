"""Which manifests go. Pure: from what is kept and who names it, to what is removed, each with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sparkgen.runtime.registry_gc.values import Manifest, Named, Settings

FOREIGN = "its repository belongs to none of the namespaces in spec.garbageCollection"
NAMED = "an object uses it"
RECENT = "it was pushed recently"
BELONGS = "a manifest that is kept includes it"

Parts = Callable[[Manifest], Iterable[str]]
"""The digests that a manifest lists; asked once for each manifest that is kept."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What goes; how many stay, by reason; and why nothing may go at all, else ""."""

    removed: tuple[Manifest, ...]
    kept: dict[str, int]
    refusal: str = ""


def decide(
    manifests: Iterable[Manifest], parts: Parts, named: Named, settings: Settings, now: float
) -> Decision:
    """Keep what is named, recent, or belongs to either; nothing goes when anything is unknown."""
    found = sorted(manifests)
    if named.unread:
        told = "; ".join(f"{name}: {why}" for name, why in sorted(named.unread.items()))
        why = "an object in a namespace that could not be read may use any artifact"
        return Decision((), {}, f"nothing is removed, because {why} ({told})")
    reasons = {one: why for one in found if (why := _reason(one, named, settings, now))}
    _with_relatives(found, parts, reasons)
    kept: dict[str, int] = {}
    for why in reasons.values():
        kept[why] = kept.get(why, 0) + 1
    return Decision(tuple(one for one in found if one not in reasons), kept)


def _reason(one: Manifest, named: Named, settings: Settings, now: float) -> str:
    if one.namespace not in settings.namespaces or "/" not in one.repository:
        return FOREIGN
    if one.digest in named.digests:
        return NAMED
    # A clock that was set back makes a file of the future: that is recent, too.
    return RECENT if now - one.pushed < settings.grace else ""


def _with_relatives(found: list[Manifest], parts: Parts, reasons: dict[Manifest, str]) -> None:
    """Add what a kept one lists, and what is about a kept one: each is looked at once, as pushes wait."""
    known = {(one.repository, one.digest): one for one in found}
    about: dict[tuple[str, str], list[Manifest]] = {}
    for one in found:
        for subject in one.subjects:
            about.setdefault((one.repository, subject), []).append(one)
    left = list(reasons)
    while left:
        kept = left.pop()
        listed = [known.get((kept.repository, part)) for part in parts(kept)]
        for one in (*listed, *about.get((kept.repository, kept.digest), ())):
            if one is not None and one not in reasons:
                reasons[one] = BELONGS
                left.append(one)
