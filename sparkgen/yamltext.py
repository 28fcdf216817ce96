"""Plain values -> YAML text that every reader reads alike and a reviewer reads easily.

Block style with indented lists (what yamllint and prettier expect), the order of keys as given, text of
several lines as `|` blocks, no folding, no anchors. A string stays plain only if no reader could take it for
something else: YAML 1.1 (PyYAML, Ruby), YAML 1.2 and go-yaml v2 and v3 (kubectl, Helm, Argo CD, Flux) are all
asked.

Written here and not left to PyYAML: its C and its Python emitter differ (line folding, characters outside the
basic plane), neither knows go-yaml's words, and both are slower than this.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from sparkgen.unseen import FILLERS, FORMAT

# Words that some reader takes for a boolean or null, in any case: YAML 1.1's table and go-yaml's.
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"})

# Characters beyond ASCII that are written as escapes: line breaks of YAML 1.1, surrogates, blanks, and all
# else that a reviewer cannot see.
_HIDDEN = (
    f"\x80-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff\ufff0-\uffff{FORMAT}{FILLERS}"
)
# Joiners and selectors of variants change the shape of what is around them, as in emoji and in Persian. They
# are escapes only where they cannot: one after another, and beside ASCII.
_JOINERS, _SELECTORS = "\u200c\u200d", "\ufe00-\ufe0f"
_USELESS = (
    f"(?<![^\x00-\x7f{_JOINERS}])[{_JOINERS}]|[{_JOINERS}](?![^\x00-\x7f{_JOINERS}{_SELECTORS}])|"
    f"(?<![^\x00-\x7f{_JOINERS}{_SELECTORS}])[{_SELECTORS}]"
)

# One line that may stand plain in block context: starts with nothing that is an indicator and holds no
# control. With the next expression: no ": " or " #" inside, neither blank nor colon at its end.
_PLAIN = re.compile(
    r"(?![-?:,\[\]{}#&*!|>'\"%@` =<.])[^\x00-\x1f\x7f]+|"
    r"-{1,2}[A-Za-z][^\x00-\x1f\x7f]*|\.[A-Za-z_/][^\x00-\x1f\x7f]*"
)
_BREAKS_PLAIN = re.compile(r": | #|[: ]\Z|\A<<|\A\.(?:nan|inf)\Z", re.IGNORECASE)

# Anything a reader could take for a number or a time once underscores are gone (go-yaml and YAML 1.1 ignore
# them): digits with points, colons, commas and dashes in any mixture, exponents, other bases, infinities, ISO
# times.
_NUMBERLIKE = re.compile(
    r"[-+.:,0-9]+|[-+]?[0-9.,]+e[-+0-9]*|[-+]?0[xob][-+]?[0-9a-f]*|[-+]?\.?(?:inf|infinity|nan)|"
    r"[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2}[t ].*",
    re.IGNORECASE,
)

_BLOCK_LINES = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]+")
_TRAILING_BLANK = re.compile(r"[ \t](?:\n|\Z)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPED = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\0": "\\0",
    "\a": "\\a",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\v": "\\v",
    "\f": "\\f",
    "\r": "\\r",
    "\x1b": "\\e",
    "\x85": "\\N",
    "\xa0": "\\_",
    "\u2028": "\\L",
    "\u2029": "\\P",
}
# YAML allows 1024 characters before the colon of a key on one line.
_LONGEST_SIMPLE_KEY = 1000


def dump(value: Any) -> str:
    """The YAML text of a value made of dicts with string keys, lists, strings, numbers, booleans and None.

    The text ends with one newline. TypeError names a value of another type.
    """
    lines: list[str] = []
    _node(lines.append, value, "", -1)
    return "\n".join(lines) + "\n"


def scalar(value: Any) -> str:
    """A scalar as one line of YAML, quoted if it has to be."""
    if isinstance(value, str):
        return _string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    raise TypeError(f"cannot write a {type(value).__name__} as YAML")


Emit = Callable[[str], object]


def _node(emit: Emit, value: Any, lead: str, indent: int) -> None:
    """Write `value` after `lead` (such as ``  name:``, or "" for the document itself).

    `indent` is the column of the collection that holds the value, -1 for the document itself.
    """
    gap = " " if lead else ""
    if isinstance(value, str):
        emit(f"{lead}{gap}{_text(value, indent)}")
        return
    if not (isinstance(value, dict | list | tuple) and value):
        emit(f"{lead}{gap}{_empty_or_scalar(value)}")
        return
    if lead:
        emit(lead)
    margin = " " * (indent + 2) if lead else ""
    if isinstance(value, dict):
        _mapping(emit, value, margin, margin)
    else:
        _list(emit, value, margin, margin)


def _mapping(emit: Emit, value: dict[str, Any], margin: str, lead: str) -> None:
    """Write the entries below `margin`; the first stands behind `lead`, which differs in a list's item."""
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"cannot write a key of type {type(key).__name__} as YAML")
        name = _line(key)
        if len(name) > _LONGEST_SIMPLE_KEY:
            emit(f"{lead}? {name}")
            name, lead = "", margin
        if type(item) is str and "\n" not in item:  # most entries are
            emit(f"{lead}{name}: {_line(item)}")
        else:
            _node(emit, item, f"{lead}{name}:", len(margin))
        lead = margin


def _list(emit: Emit, value: list[Any] | tuple[Any, ...], margin: str, lead: str) -> None:
    for item in value:
        if isinstance(item, dict) and item:
            _mapping(emit, item, f"{margin}  ", f"{lead}- ")
        elif isinstance(item, list | tuple) and item:
            _list(emit, item, f"{margin}  ", f"{lead}- ")
        else:
            _node(emit, item, f"{lead}-", len(margin))
        lead = margin


def _text(text: str, indent: int) -> str:
    return ("\n" in text and _block(text, indent)) or _line(text)


def _empty_or_scalar(value: Any) -> str:
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    return scalar(value)


def _string(text: str) -> str:
    """One line for any string.

    Plain, in single quotes when it is full of double ones, else in double quotes.
    """
    if _is_plain(text):
        return text
    if ('"' in text or "\\" in text) and "'" not in text and not (_CONTROL.search(text) or _hides(text)):
        return f"'{text}'"
    escaped = _ESCAPED.sub(_escape, text)
    return f'"{_hidden().sub(_escape, escaped) if _hides(text) else escaped}"'


# Names, images and labels come again in every object of an application, and in every application.
_line = lru_cache(maxsize=4096)(_string)


@cache
def _hidden() -> re.Pattern[str]:
    # Compiling this takes some milliseconds, and most documents are in ASCII.
    return re.compile(f"[{_HIDDEN}]|{_USELESS}")


def _hides(text: str) -> bool:
    return not text.isascii() and _hidden().search(text) is not None


def _is_plain(text: str) -> bool:
    if not _PLAIN.fullmatch(text) or _BREAKS_PLAIN.search(text) or _hides(text):
        return False
    return text.lower() not in _WORDS and not _NUMBERLIKE.fullmatch(text.replace("_", ""))


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _block(text: str, indent: int) -> str:
    """A `|` block whose content stands two columns right of `indent`, or "" where a block would be unsafe.

    A blank at the end of a line is unsafe: editors and commit hooks remove it without asking, and nobody sees
    it.
    """
    stripped = text.rstrip("\n")
    if not stripped or not _BLOCK_LINES.fullmatch(text) or _TRAILING_BLANK.search(text) or _hides(text):
        return ""
    margin = " " * (max(indent, 0) + 2)
    # A first line that starts with a blank hides the indentation: then the number of columns is written down.
    hint = "2" if stripped.lstrip("\n")[0] in " \t" else ""
    if hint and indent < 0:
        return ""  # readers disagree on what the number counts from where there is no collection around
    end = len(text) - len(stripped)
    chomp = ("-", "", "+")[min(end, 2)]
    lines = [f"{margin}{line}" if line else "" for line in stripped.split("\n")] + [""] * (end - 1)
    return "\n".join([f"|{hint}{chomp}", *lines])


def _float(value: float) -> str:
    """A number that all readers take for a float: YAML 1.1 wants a point before the exponent."""
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text
