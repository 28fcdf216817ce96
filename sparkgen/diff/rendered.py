"""Reads the applications in a directory that `sparkgen render -o` wrote, in any layout."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkgen import contract
from sparkgen.diff.values import OWNERS, Side, owner_label
from sparkgen.document.text import decode
from sparkgen.errors import Problem, SparkgenError
from sparkgen.objects import ObjectView
from sparkgen.writers.manifest import KUSTOMIZATION, Bundle, is_generated, without_header
from sparkgen.writers.tree import text_of

_SUFFIXES = (".yaml", ".yml")
_MOST_LINES = 60
"""The most lines of a runtime; sparkgen writes about 20."""
_UNLIKE = re.compile(r"<<|[yYnN]")
"""Words without quotes that YAML 1.1 and 1.2 read differently, and the key of a merge."""
_NUMBER = re.compile(
    r"[-+]?(0[oObBxX][0-9A-Fa-f_]+|(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?"
    r"|[0-9][0-9_]*(:[0-9]+)+(\.[0-9_]*)?)"
)
"""What is a number in YAML 1.1, in YAML 1.2, or for some program."""
_PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
"""What is the same number for all of them."""
_NOT_IN_RUNTIME = re.compile(r"[\[\]{}&*?|>!%@`]|^[ ]*-", re.MULTILINE)
"""Lists, aliases, tags and other YAML that no runtime has, and that can take minutes to read."""


@dataclass(frozen=True, slots=True)
class RenderedFiles:
    """What is below a directory. `manifests`: path -> text; `runtimes`: the files with a shared runtime."""

    manifests: dict[str, str]
    runtimes: list[Path]


def read(directory: Path) -> RenderedFiles:
    """Every manifest of sparkgen below a directory. Raises SparkgenError.

    Links, and files that are too large for a manifest, are not read: sparkgen writes none.
    """
    if not directory.is_dir():
        raise SparkgenError(f"{directory} is not a directory; give one that sparkgen render -o wrote")
    found = RenderedFiles({}, [])
    for path in sorted(manifest_files(directory)):
        text = text_of(path)
        if path.name == KUSTOMIZATION or not is_generated(text):
            continue
        if _is_runtime(path, text):
            found.runtimes.append(path)
        else:
            found.manifests[path.as_posix()] = text
    return found


def manifest_files(directory: Path) -> Iterator[Path]:
    """The YAML files below a directory, without hidden folders."""
    return files_below(directory, _SUFFIXES, lambda name: name.startswith("."))


def files_below(
    directory: Path, suffixes: tuple[str, ...], is_left_out: Callable[[str], bool]
) -> Iterator[Path]:
    """The files below a directory that have a suffix. `is_left_out`: says it of a folder's name.

    A name that leads nowhere counts, and fails when it is read; a pipe does not, because it may not end.
    """
    for folder, names, files in os.walk(directory):
        names[:] = [name for name in names if not is_left_out(name)]
        paths = (Path(folder, name) for name in files if name.endswith(suffixes))
        yield from (path for path in paths if path.is_file() or not path.exists())


def runtime_in(text: str) -> Any:
    """The object in a text that may be a rendered runtime; None for any other text, which is not parsed.

    Whoever wrote the text may have made it slow to parse.
    """
    from sparkgen.yamlvalue import value_of  # noqa: PLC0415 - few directories have such a file

    if not is_generated(text) or "\nbinaryData:" not in text or text.count("\n") > _MOST_LINES:
        return None
    body = without_header(text)
    try:
        return None if _NOT_IN_RUNTIME.search(body) else value_of(body)
    except ValueError:
        return None


def _is_runtime(path: Path, text: str) -> bool:
    """Whether a file is the runtime, by its content: anybody can give a file its name.

    As text, too: of a key that is there twice, another program may read the other one.
    """
    if not is_named(path.name):
        return False
    from sparkgen.image.runtime_files import is_shared  # noqa: PLC0415 - few directories have such a file
    from sparkgen.yamltext import dump  # noqa: PLC0415

    item = runtime_in(text)
    return is_shared(item) and dump(item) == without_header(text)


def is_named(path: str) -> bool:
    """Whether the file with a path has the name of one with the runtime."""
    return f"{contract.RUNTIME_NAME}-" in path.rpartition("/")[2]


def split(files: dict[str, str], bundles: Sequence[Bundle]) -> tuple[list[int], list[Side]]:
    """The indexes of the bundles that differ from the files, and the applications in files that differ.

    Headers do not count. Compares texts, so that files that are up to date are never parsed.
    """
    known = {without_header(text): path for path, text in files.items()}
    same: dict[int, set[str]] = {}
    for index, bundle in enumerate(bundles):
        bodies = [without_header(manifest.text) for manifest in bundle.manifests]
        if all(body in known for body in bodies):
            same[index] = {known[body] for body in bodies}
    left = _without(files, same)
    keys = {side.key for side in sides(left)}
    named = {key[:3] for key in keys}
    # An application that has all its files, and another one, is not up to date.
    for index in [*same]:
        one = bundles[index]
        if ("", one.namespace, one.name) in named and keys & {
            side.key for side in sides({path: files[path] for path in same[index]})
        }:
            del same[index]
    return [index for index in range(len(bundles)) if index not in same], sides(_without(files, same))


def _without(files: dict[str, str], same: dict[int, set[str]]) -> dict[str, str]:
    known = {path for paths in same.values() for path in paths}
    return {path: text for path, text in files.items() if path not in known}


def sides(files: dict[str, str]) -> list[Side]:
    """The applications in files. Raises SparkgenError for a file that is not a valid manifest of sparkgen."""
    from sparkgen.yamlvalue import value_of  # noqa: PLC0415 - only for files that differ

    found: dict[tuple[str, str, str], list[ObjectView]] = {}
    for path, text in files.items():
        try:
            item: Any = None
            if any(label in text for label in OWNERS):
                _refuse_unlike(text)
                item = value_of(text)
                _refuse_other_shapes(item)
            found.setdefault(_application(item), []).append(item)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            step = f"; to see why, run: sparkgen verify {shlex.quote(path)}" if is_named(path) else ""
            raise SparkgenError(
                f"{path} has sparkgen's header, but is not a valid manifest; render it again{step}"
            ) from error
    return [Side(name, namespace, tuple(items)) for (namespace, _, name), items in found.items()]


def _refuse_unlike(text: str) -> None:
    """Raises ValueError for valid YAML that programs read differently; no rendering writes any.

    Of several merges (`<<`), kubectl takes another one than kustomize or PyYAML; YAML 1.1 and 1.2 differ
    about some words and numbers; and libyaml skips a byte order mark, which is text for kubectl.
    """
    if isinstance(problem := decode(text.encode(errors="surrogatepass"), ""), Problem):
        raise ValueError(f"line {problem.position.line}: {problem.message}")
    import yaml  # noqa: PLC0415 - only for files that differ

    for token in yaml.scan(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        odd = isinstance(token, yaml.AliasToken | yaml.AnchorToken | yaml.TagToken)
        if odd or (isinstance(token, yaml.ScalarToken) and token.plain and _is_unlike(token.value)):
            line = token.start_mark.line + 1
            raise ValueError(f"line {line} has YAML that programs read differently")


def _refuse_other_shapes(item: Any) -> None:
    """Raises ValueError, TypeError or KeyError for an object that is not of the shape of all objects."""
    texts = [item["apiVersion"], item["kind"], item["metadata"]["name"]]
    for part in (item["metadata"].get("labels"), item["metadata"].get("annotations"), item.get("data")):
        texts += (part or {}).values()
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a name, a label, an annotation or a file is no text")
    from sparkgen.yamltext import dump  # noqa: PLC0415 - only for files that differ

    dump(item)  # which knows neither dates nor what is nested without end


def _is_unlike(plain: str) -> bool:
    return bool(_UNLIKE.fullmatch(plain) or (_NUMBER.fullmatch(plain) and not _PLAIN_NUMBER.fullmatch(plain)))


def _application(item: Any) -> tuple[str, str, str]:
    """Namespace, label and name of what an object belongs to. KeyError if nothing of sparkgen has it."""
    label, name = owner_label(item)
    if not label:
        raise KeyError(contract.LABEL_APPLICATION)
    return str(item["metadata"].get("namespace") or ""), label, name
