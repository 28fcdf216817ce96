"""Checks a file of Python requirements: whether it will always name the same packages. Pure.

Its format: https://pip.pypa.io/en/stable/reference/requirements-file-format/. An installer never gets the
file itself, but the lines that were checked here (`checked_text`): sparkgen and an installer may disagree
where a line ends, and with an option that sparkgen overlooks the installer could run code of a package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PLATFORMS = ("x86_64", "aarch64")
LOCK_STEP = "create a file with exact versions: uv pip compile requirements.in -o requirements.txt"

_NAME = r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?P<extras> ?\[(?:[A-Za-z0-9._,-]| (?!-))*+\])?"
_MARKER = r"(?:;(?:(?! -)[^\n])*+)?"
"""A condition. It has no word that begins with a hyphen: pip would read that as an option."""
_HASHES = r"(?P<hashes>(?: --hash[= ][A-Za-z0-9]+:[0-9A-Fa-f]++)*+)"
_PINNED = re.compile(rf"{_NAME} ?===? ?(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_-]*+) ?{_MARKER}{_HASHES}")
"""A version has no slash: pip takes a word that is also a path for that path, and builds what is there."""
_URL = re.compile(
    rf"{_NAME} ?@ ?https://[^\s/?#;'\"<>]++/(?:[^\s/?#;'\"<>]*+/)*+(?P<wheel>[A-Za-z0-9._!+%-]++(?<=\.whl))"
    rf"(?P<fragment>#sha256=[0-9a-f]{{64}})? ?{_MARKER}{_HASHES}"
)
"""A wheel: its path ends with its name, and neither a query nor another fragment makes it something else.

An installer would build anything else, which runs code of the package: `--only-binary` is not for URLs.
"""
_OPTIONS = (
    "-i", "--index-url", "--extra-index-url", "--no-index", "--trusted-host", "--prefer-binary",
    "--only-binary", "--require-hashes", "--pre",
)  # fmt: skip
_OPTION = re.compile(
    r"(?:-i|--index-url|--extra-index-url|--trusted-host)(?:\s+|=)[^\s-]\S*"
    r"|--only-binary(?:\s+|=)(?::all:|[A-Za-z0-9][A-Za-z0-9._-]*)(?:,(?::all:|[A-Za-z0-9][A-Za-z0-9._-]*))*"
    r"|--no-index|--prefer-binary|--require-hashes|--pre"
)
"""Matches a line of one option with its value, and nothing more."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """Packages, and the Python and processor that they are for.

    `text`: of the file; `python`: as in "3.10"; `platform`: one of PLATFORMS, or "" for this machine's.
    """

    text: str
    python: str
    platform: str


@dataclass(frozen=True, slots=True)
class Line:
    """A logical line: `number` of its first one, and `text` without comments, with single spaces."""

    number: int
    text: str


def lines(text: str) -> Iterator[Line]:
    """Yields the lines that are not empty; lines that end with a backslash are joined, as pip joins them."""
    whole, first = "", 0
    for number, raw in enumerate([*text.splitlines(), ""], start=1):
        first = first or number
        if raw.endswith("\\") and not raw.lstrip().startswith("#"):
            whole += f"{raw[:-1]} "
            continue
        whole = " ".join(re.sub(r"(^|\s)#.*$", "", whole + raw).split())
        if whole:
            yield Line(first, whole)
        whole, first = "", 0


def checked_text(text: str) -> str:
    """Returns a file without faults as an installer gets it: the logical lines that were checked."""
    return "".join(f"{line.text}\n" for line in lines(text))


def downloaded_text(text: str, wheels: Mapping[Path, str]) -> str:
    """Returns a file without faults as one of downloaded wheels, each with its hash, and without an index.

    `wheels`: each file, with its SHA-256 in hex. A line whose wheel is not among them has no hash.
    """
    by_name = {normalised(wheel.name.partition("-")[0]): (wheel, digest) for wheel, digest in wheels.items()}
    made = []
    for line in lines(text):
        if found := _PINNED.fullmatch(line.text) or _URL.fullmatch(line.text):
            name = f"{found['name']}{found['extras'] or ''}"
            wheel, digest = by_name.get(normalised(found["name"]), (Path(), ""))
            made.append(f"{name} @ {wheel.as_uri()} --hash=sha256:{digest}" if digest else name)
    return "".join(f"{line}\n" for line in made)


def names(text: str) -> frozenset[str]:
    """Returns the normalised names of the packages in a file without faults."""
    found = (_PINNED.fullmatch(line.text) or _URL.fullmatch(line.text) for line in lines(text))
    return frozenset(normalised(match["name"]) for match in found if match)


def normalised(name: str) -> str:
    """Returns a package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def faults(text: str) -> Iterator[tuple[Line, str, str]]:
    """Yields the lines that may not always name the same package, with what is wrong and what to do."""
    for line in lines(text):
        said = _fault(line.text)
        if said is not None:
            yield line, *said


def _fault(text: str) -> tuple[str, str] | None:
    if "\\" in text:
        return "has a backslash that is not at the end of a line", "delete it"
    if "${" in text:  # pip and uv would put its value there, and whoever has the URL gets it
        return (
            "has a variable (${...}), whose value an installer would send to the address in this line",
            "delete it; keep the login of an index in ~/.netrc, or its whole URL in UV_INDEX_URL",
        )
    word = re.split(r"[\s=]", text, maxsplit=1)[0]
    if word.startswith("-"):
        return _option(word) if word not in _OPTIONS else _value_of_option(text, word)
    if _PINNED.fullmatch(text):
        return None
    found = _URL.fullmatch(text)
    if found and (found["fragment"] or found["hashes"].strip()):
        return None
    if re.search(r"\s--?[A-Za-z]", re.sub(_HASHES, "", text)):
        return "has an option after its package, which sparkgen does not support", "delete the option"
    if "@" in text or "://" in text:
        return (
            "must be an https URL of a wheel with a hash",
            "add --hash=sha256:..., or name a version: name==1.2.3",
        )
    if text.startswith((".", "/", "~")) or re.fullmatch(r"\S+\.(?:whl|zip|tar\.gz)", text):
        return "is a local file", "add its folder to `deps.pyFiles`, or publish it to an index"
    return "has no exact version", LOCK_STEP


def _option(word: str) -> tuple[str, str]:
    if word in ("-r", "--requirement", "-c", "--constraint"):
        return "includes another file", f"write all packages into one file: {LOCK_STEP.partition(': ')[2]}"
    if word in ("-e", "--editable"):
        return "installs a local folder", "add the folder to `deps.pyFiles`"
    return "is an option that sparkgen does not support", f"delete it; allowed are {', '.join(_OPTIONS)}"


def _value_of_option(text: str, word: str) -> tuple[str, str] | None:
    """Returns what is wrong with a line of an allowed option, and what to do; None if nothing is."""
    if _OPTION.fullmatch(text):
        return None
    if word == "--only-binary":
        return "allows packages that run code during installation", "delete it: only wheels are installed"
    return f"has more than the option {word} on its line", "write each option on its own line"
