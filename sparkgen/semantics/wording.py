"""The phrases that findings share. Messages start in lower case: a report puts the path first."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator

from sparkgen.errors import Path
from sparkgen.grammar import GrammarError
from sparkgen.semantics.findings import Finding

_LONGEST = 100


def shortened(text: str) -> str:
    """Returns a text from a document, cut to at most 100 characters for a message."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def scalar(text: str) -> str:
    """Returns a text as a YAML scalar: in quotes unless it is clearly a word, a path, a size or a name."""
    plain = re.fullmatch(r"[A-Za-z_/][A-Za-z0-9_/@.+-]*(:[A-Za-z0-9_/@.+-]+)*|[0-9]+[A-Za-z]+", text)
    return text if plain and text.lower() not in _WORDS else json.dumps(text, ensure_ascii=False)


_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def line(path: Path, text: str) -> str:
    """Returns the line of a document that sets the last part of a path to a text: `memory: 4g`."""
    return f"- {scalar(text)}" if isinstance(path[-1], int) else f"{path[-1]}: {scalar(text)}"


def listed(names: Iterable[str], last: str = "and") -> str:
    """Returns names as part of a sentence: `a`, `a and b`, `a, b and c`."""
    *most, end = names
    return f"{', '.join(most)} {last} {end}" if most else end


def refusals(
    texts: Iterable[tuple[Path, str]], parse: Callable[[str], object], allowed: str, example: str
) -> Iterator[Finding]:
    """Yields a finding for each text that a grammar refuses."""
    for path, text in texts:
        try:
            parse(text)
        except GrammarError as error:
            yield refused(path, text, error, allowed, example)


def refused(path: Path, text: str, error: GrammarError, allowed: str, example: str) -> Finding:
    """Returns the finding for a text that its grammar refuses."""
    shown = json.dumps(shortened(text), ensure_ascii=False)
    verb = "write" if error.suggestion else "for example"
    step = f"{verb} `{line(path, error.suggestion or example)}`"
    return Finding(path, f"{shown} {error.reason}", shortened(text), allowed, step)
