"""Time zones as a Kubernetes CronJob reads them: "Europe/Berlin", "Etc/UTC".

Source: batch/validation validateTimeZone: a name of the IANA database, in its own upper and lower case, as
the API server's Go library finds it; "Local" is refused. The names are in timezone_names.py. The database of
the machine is not used, because a document must have the same problems everywhere. A name that the list
lacks may be newer than the list, so `check` does not always refuse a name that `is_known` does not know.
"""

from __future__ import annotations

import re
from functools import cache

from sparkgen.grammar.error import GrammarError

_SURE = 0.85
"""The similarity from which a different name can only be a mistake ("Kiev" and "Kyiv": 0.75)."""
_SHORTEST_PLACE = 4

ALLOWED = 'a name from the IANA time zone database, as in "Europe/Berlin" or "Etc/UTC"'


def check(text: str) -> None:
    """Raise GrammarError for a name that the API server certainly refuses.

    These are names with bad syntax, "Local", names with an unknown area or without one, and typing errors.
    """
    if not text:
        raise GrammarError("is empty")
    if text.lower() == "local":
        raise GrammarError(
            "means the time zone of the controller, and Kubernetes does not accept this name", "Etc/UTC"
        )
    for part in text.split("/"):
        if part in (".", "..") or part.startswith("-") or not re.fullmatch(r"[A-Za-z.\-_0-9+]{1,14}", part):
            raise GrammarError("is not the name of a time zone", suggest(text))
    if is_known(text):
        return
    area, slash, _ = text.partition("/")
    if not slash:
        raise GrammarError(
            "is not a name from the time zone database, which has names of places", suggest(text)
        )
    if not _has_area(area):
        reason = f'has the area "{area}", which is not in the time zone database'
        raise GrammarError(reason, suggest(text))
    near = suggest(text, _SURE)
    if near:
        raise GrammarError("is not a time zone that Kubernetes knows", near)


def is_known(text: str) -> bool:
    """Whether the name is in the release of the database that sparkgen contains."""
    return text in names()


def suggest(text: str, cutoff: float = 0.7) -> str:
    """The name that was probably meant, or "": equal in lower case, or one with an equal or similar place."""
    from sparkgen.textdiff import nearest  # noqa: PLC0415 - only to word a problem

    wanted = re.sub(r"\s+", "_", text.strip())[:60].lower()
    lower = {name.lower(): name for name in sorted(names())}
    if wanted in lower:
        return lower[wanted]
    area, _, place = wanted.rpartition("/")
    if len(place) < _SHORTEST_PLACE or not place.replace("_", "").isalpha():
        return ""  # abbreviations and offsets: a guess would be a different zone
    same = [name for name in lower if name.rpartition("/")[2] == place]
    if len(same) == 1:
        return lower[same[0]]
    beside = {name.rpartition("/")[2]: name for name in lower if area and name.rpartition("/")[0] == area}
    close = nearest(place, beside, cutoff=cutoff)
    return lower[beside[close]] if close else ""


@cache
def names() -> frozenset[str]:
    """All names in timezone_names.py."""
    from sparkgen.grammar.timezone_names import AREAS  # noqa: PLC0415 - most documents name no zone

    return frozenset(
        f"{area}/{name}" if area else name for area, text in AREAS.items() for name in text.split()
    )


def _has_area(area: str) -> bool:
    return any(name.startswith(f"{area}/") for name in names())
