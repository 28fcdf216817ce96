"""What a plain (unquoted) YAML scalar means: the rules of kubectl and Helm, not PyYAML's.

Both read YAML with sigs.k8s.io/yaml: go-yaml v2 (`resolve.go`) types the scalar, Go's JSON encoder writes
it, and a JSON decoder reads it again. So `0777` is 511, `08` is 8, `1e3` is the integer 1000, `1:30` and
dates are strings, and `.inf` is refused because JSON cannot represent it. Helm's results were measured:
tests/unit/document/data/helm_scalars.jsonl.
"""

from __future__ import annotations

import math
import re
import struct

Scalar = None | bool | int | float | str

_WORDS: dict[str, Scalar] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS.update(dict.fromkeys(("true", "True", "TRUE"), True))
_WORDS.update(dict.fromkeys(("false", "False", "FALSE"), False))
_WORDS.update(dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan))
_WORDS.update({sign + word: math.inf for word in (".inf", ".Inf", ".INF") for sign in ("", "+")})
_WORDS.update(dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf))
_TRUE_WORDS = ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON")
_FALSE_WORDS = ("n", "N", "no", "No", "NO", "off", "Off", "OFF")
_WORDS.update(dict.fromkeys(_TRUE_WORDS, True))
_WORDS.update(dict.fromkeys(_FALSE_WORDS, False))

BOOLEAN_WORDS = frozenset(_TRUE_WORDS + _FALSE_WORDS)
"""YAML 1.1's booleans: kubectl and Helm read them as booleans, every YAML 1.2 reader as strings."""

_FIRST = frozenset("+-0123456789.~yYnNtTfFoO")
"""Every scalar that is not a string, and not empty, starts with one of these."""

_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_BINARY = re.compile(r"0b([+-]?[01]+)")
_DIGITS = re.compile(r"([+-]?)0*+([0-9]{1,309})")
"""An integer that a 64-bit float can be near to, with any number of leading zeros."""
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DOT_FLOAT = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")

_INT64_MIN, _INT64_END, _UINT64_END = -(2**63), 2**63, 2**64
_EXACT = 2**53  # a 64-bit float represents every integer up to here
_JSON_EXPONENT = 1e21  # Go's encoder writes smaller numbers without an exponent: they are read as integers
_FLOAT32_END = 2.0**128 * (1 - 2.0**-25)  # larger ones are infinite with 32 bits
_FLOAT32_DIGITS = 9
_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -4, 6  # Go writes other numbers with an exponent
_LONGEST_DECIMAL = 20  # digits of 2**64; longer ones need no conversion (and Python refuses very long ones)


def resolve(text: str) -> Scalar:
    """The value of an unquoted scalar without a tag.

    Infinities, NaN and numbers that Helm would round are returned unchanged: see `unreadable`.
    """
    if text and text[0] not in _FIRST:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] == ".":
        return _float(text.replace("_", ""), text) if _DOT_FLOAT.fullmatch(text) else text
    if text[0] in "+-0123456789":
        return _number(text)
    return text


def _number(text: str) -> int | float | str:
    plain = text.replace("_", "")
    integer = _integer(plain)
    if integer is not None:
        return integer
    if _FLOAT.fullmatch(plain):
        return _float(plain, text)
    binary = _BINARY.fullmatch(plain)
    if binary and _INT64_MIN <= int(binary[1], 2) < _UINT64_END:
        return int(binary[1], 2)
    return text


def _integer(plain: str) -> int | None:
    """The result of Go's ParseInt(plain, 0, 64), or else of ParseUint; None if neither accepts it."""
    found = _INTEGER.fullmatch(plain)
    if found is None:
        return None
    sign, *spellings = found.groups()
    digits, base = next((text, base) for text, base in zip(spellings, (16, 2, 8, 10), strict=True) if text)
    if base == 10 and len(digits) > _LONGEST_DECIMAL:
        return None
    value = -int(digits, base) if sign == "-" else int(digits, base)
    return value if _INT64_MIN <= value < (_INT64_END if sign else _UINT64_END) else None


def _float(plain: str, text: str) -> int | float | str:
    """The decimal number as read back from JSON: an integer if whole; `text` if too large for 64 bits."""
    value = float(plain)
    return text if math.isinf(value) else as_json_number(value)


def as_json_number(value: float) -> int | float:
    """The float after Go's JSON encoder wrote it and a JSON decoder read it: 1.0 is 1, 1e20 is an integer."""
    if abs(value) >= _JSON_EXPONENT or not value.is_integer():
        return value
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        return int(value)
    whole, _, fraction = mantissa.partition(".")
    zeros = int(exponent) - len(fraction)
    return int(whole + fraction + "0" * zeros)


def unreadable(value: Scalar, text: str) -> str:
    """Why kubectl or Helm would not read the number `text` as it is written; "" if they do."""
    if isinstance(value, float) and not math.isfinite(value):
        return "JSON, which Kubernetes uses, has no such number"
    exact = _written_integer(value, text)
    if exact is None or abs(exact) <= _EXACT:
        return ""
    rounded = as_json_number(float(exact))
    return "" if rounded == exact else f"Helm keeps only 53 bits of a number, and would read {rounded}"


def _written_integer(value: Scalar, text: str) -> int | None:
    """The integer as written, even if it was too large to be read as an integer; None for other values."""
    if isinstance(value, int) and _is_integer(text):
        return value
    found = None if isinstance(value, str) else _DIGITS.fullmatch(text.replace("_", ""))
    return int(found[1] + found[2]) if found else None


def key_text(value: Scalar | list[object] | dict[str, object], text: str) -> str | None:
    """The string to which kubectl and Helm convert a key that is no string; None if they refuse the document.

    Source: sigs.k8s.io/yaml, convertToJSONableObject, which writes a float with 32 bits. Measured with
    kubectl 1.36.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        return None
    if isinstance(value, int) and _is_integer(text):
        return str(value) if value < _INT64_END else None
    # a float of go-yaml may be an integer here: -0.0, 1e3
    return _as_go_writes(float(text.replace("_", "")) if isinstance(value, int) else value)


def _as_go_writes(value: float) -> str:
    """The shortest text for the same 32-bit number: Go's FormatFloat(value, 'g', -1, 32)."""
    if math.isnan(value):
        return ".nan"
    if abs(value) >= _FLOAT32_END:
        return ".inf" if value > 0 else "-.inf"
    wanted = struct.pack("f", value)
    written = next(
        found
        for digits in range(_FLOAT32_DIGITS)
        if struct.pack("f", float(found := f"{value:.{digits}e}")) == wanted
    )
    mantissa, _, exponent = written.partition("e")
    if _SMALLEST_EXPONENT <= int(exponent) < _LARGEST_EXPONENT:
        fraction = len(mantissa.partition(".")[2]) - int(exponent)
        return f"{float(written):.{max(fraction, 0)}f}"
    return f"{mantissa}e{exponent}"


_TAGS = {f"tag:yaml.org,2002:{name}": name for name in ("str", "int", "float", "bool", "null")}
TAG_NAMES = tuple(f"!!{name}" for name in _TAGS.values())
"""The tags that a scalar may have."""


class TagError(ValueError):
    """A tag is unknown, or does not match its scalar; the text of the error is the message's reason."""


def resolve_tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit tag such as `!!int`, whether the scalar is quoted or not.

    Raises TagError. `!!binary` and `!!timestamp` are refused: JSON has neither.
    """
    name = _TAGS.get(tag)
    if name is None:
        raise TagError(f"Kubernetes does not support the tag {short_tag(tag)[:60]}")
    if name == "str":
        return text
    value = resolve(text)
    if not _fits(name, value, text):
        raise TagError(f"the value does not match its tag {short_tag(tag)}")
    return as_json_number(float(value)) if name == "float" and isinstance(value, int) else value


def _fits(name: str, value: Scalar, text: str) -> bool:
    if name == "bool" or isinstance(value, bool):
        return name == "bool" and isinstance(value, bool)
    if not isinstance(value, int | float):
        return name == "null" and value is None
    if name == "int":
        return _is_integer(text)
    return name == "float" and (not _is_integer(text) or _INT64_MIN <= value < _INT64_END)


def _is_integer(text: str) -> bool:
    """Whether go-yaml reads a number as an integer (it reads `1.0` as a float, which becomes 1 in JSON)."""
    plain = text.replace("_", "")
    return _integer(plain) is not None or _BINARY.fullmatch(plain) is not None


def short_tag(tag: str) -> str:
    """The short form of a tag: `!!int` for `tag:yaml.org,2002:int`."""
    return tag.replace("tag:yaml.org,2002:", "!!", 1)
