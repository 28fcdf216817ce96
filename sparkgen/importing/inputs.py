"""Where applications to import come from: YAML, shell scripts, directories of both, and standard input."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from sparkgen.document import Node
from sparkgen.document.parse import parse
from sparkgen.document.sources import STDIN, Found, Reader, shown_name
from sparkgen.document.text import decode
from sparkgen.errors import Path, Position, Problem, Severity
from sparkgen.importing import apache, kubeflow
from sparkgen.importing.convert import (
    apache_document,
    connect_document,
    kubeflow_document,
    submit_document,
)
from sparkgen.importing.draft import Choices
from sparkgen.importing.imported import Imported, LeftAlone, Result
from sparkgen.importing.repair import Examine
from sparkgen.importing.script import Script, is_submit, read_script, words_of
from sparkgen.importing.shell import Unclosed
from sparkgen.importing.submit import submits_nothing

YAML, SHELL = (".yaml", ".yml", ".json"), (".sh", ".bash")
COMMAND_LINE = "command line"
_APPLICATIONS = ("SparkApplication", "ScheduledSparkApplication")
_OTHER_KINDS = {
    "SparkCluster": "sparkgen has no standalone clusters: each application has its own executors",
}


@dataclass(slots=True)
class Gathered:
    """What was found so far."""

    imported: list[Imported]
    left_alone: list[LeftAlone]
    problems: list[Problem]


def import_all(
    sources: Sequence[str], choices: Choices, examine: Examine, stdin: Callable[[], bytes]
) -> Result:
    """Import all applications in files, directories (with those in them), or "-".

    When the first source is spark-submit, all of them are the words of its command line. Never raises for
    bad input.
    """
    gathered = Gathered([], [], [])
    if sources and is_submit(sources[0]):
        words = words_of(sources)
        _commands(Script((words,), ((),), (), {}), COMMAND_LINE, choices, examine, gathered)
        return _result(gathered)
    reader = Reader(stdin)
    for name in _files(sources):
        data = reader.read(name)
        if isinstance(data, Problem):
            gathered.problems.append(data)
        else:
            _file(name, data, choices, examine, gathered)
    return _result(gathered)


def _result(gathered: Gathered) -> Result:
    return Result(tuple(gathered.imported), tuple(gathered.left_alone), tuple(gathered.problems))


def _files(sources: Sequence[str]) -> Iterator[str]:
    """The files that are meant: those of a directory and of all below it, by name."""
    seen: set[str] = set()
    for source in sources:
        names: list[str] = [source]
        if source != STDIN and FilePath(source).is_dir():
            names = [*_inside(source)] or names
        for name in names:
            key = name if name == STDIN else os.path.realpath(name)
            if key not in seen or name == STDIN:
                yield name
            seen.add(key)


def _inside(directory: str) -> Iterator[Found]:
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith((*YAML, *SHELL)) and not name.startswith("."):
                yield Found(FilePath(folder, name).as_posix())


def _file(name: str, data: bytes, choices: Choices, examine: Examine, gathered: Gathered) -> None:
    shown = shown_name(name)
    text = decode(data, shown)
    if isinstance(text, Problem):
        gathered.problems.append(text)
        return
    if _is_script(name, text):
        _script(text, shown, choices, examine, gathered)
        return
    parsed = parse(data, shown, last_wins=True)
    before = len(gathered.imported) + len(gathered.left_alone)
    unreadable = [
        problem
        for problem in (*parsed.problems, *(p for found in parsed.documents for p in found.problems))
        if _is_fatal(problem)
    ]
    gathered.problems += unreadable
    for found in parsed.documents:
        if found.root is not None and not any(_is_fatal(problem) for problem in found.problems):
            _document(found.root, (), found.doubles, choices, examine, gathered)
    if len(gathered.imported) + len(gathered.left_alone) == before and not unreadable:
        gathered.left_alone.append(
            LeftAlone("", "", Position(shown, 1, 1), "it contains no document", not isinstance(name, Found))
        )


def _is_fatal(problem: Problem) -> bool:
    """Whether a document cannot be imported: a number that no reader keeps whole becomes a text."""
    return problem.severity is Severity.ERROR and not (problem.code == "SG002" and problem.path)


def _is_script(name: str, text: str) -> bool:
    """Whether a text is a shell script: by its name, its first line, or the command in it."""
    if name.endswith(SHELL) or text.startswith("#!"):
        return True
    if name.endswith(YAML) or "apiVersion" in text:
        return False
    return any(is_submit(word.strip("\"'")) for word in text.split())


def _document(
    root: Node,
    path: Path,
    doubles: Sequence[Problem],
    choices: Choices,
    examine: Examine,
    gathered: Gathered,
) -> None:
    """One YAML document, or one item of a List, at `path`. `doubles`: its keys that stand twice."""
    value = root.value if root.is_mapping else {}
    kind, version = str(value.get("kind") or ""), str(value.get("apiVersion") or "")
    group = version.partition("/")[0]
    if kind.endswith("List") and root.find(("items",)) is not None:
        for index, item in enumerate(root.entries["items"].items):
            _document(item, (*path, "items", index), doubles, choices, examine, gathered)
    elif group == kubeflow.GROUP and kind in _APPLICATIONS:
        gathered.imported.append(kubeflow_document(root, path, choices, examine, doubles))
    elif group == kubeflow.GROUP and kind == "SparkConnect":
        gathered.imported.append(connect_document(root, path, choices, examine, doubles))
    elif group == apache.GROUP and kind == "SparkApplication":
        gathered.imported.append(apache_document(root, path, choices, examine, doubles))
    else:
        gathered.left_alone.append(_left_alone(root, kind, group))


def _left_alone(root: Node, kind: str, group: str) -> LeftAlone:
    metadata = root.value.get("metadata") if root.is_mapping else None
    name = str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
    if group == "sparkgen.dev":
        return LeftAlone(kind, name, root.position, "it is already a sparkgen document")
    if group in (kubeflow.GROUP, apache.GROUP):
        reason = _OTHER_KINDS.get(kind, "it is not an application")
        return LeftAlone(kind or "document", name, root.position, reason, True)
    return LeftAlone(
        kind or "document", name, root.position, "it is not a Spark application; use it unchanged"
    )


def _script(text: str, file: str, choices: Choices, examine: Examine, gathered: Gathered) -> None:
    try:
        script = read_script(text)
    except Unclosed as error:
        position = Position(file, error.line, error.column)
        message = f"cannot read the script: {error} that opens here is never closed"
        gathered.problems.append(
            Problem("SG002", Severity.ERROR, position, (), message, next_step="close it")
        )
        return
    if not script.submits:
        where = Position(file, 1, 1)
        gathered.left_alone.append(LeftAlone("script", "", where, "it contains no spark-submit", True))
        return
    _commands(script, file, choices, examine, gathered)


def _commands(script: Script, file: str, choices: Choices, examine: Examine, gathered: Gathered) -> None:
    for words, before in zip(script.submits, script.before, strict=True):
        if submits_nothing(words[1:]):
            position = Position(file, words[0].line, words[0].column)
            reason = "it does not run an application"
            gathered.left_alone.append(LeftAlone("spark-submit", "", position, reason, True))
            continue
        gathered.imported.append(submit_document(words, before, script, file, choices, examine))
    for word in script.others:
        where = Position(file, word.line, word.column)
        name, equals, _ = word.text.partition("=")
        if equals:
            reason = "a variable of the script; each use by spark-submit has its own finding"
            gathered.left_alone.append(LeftAlone("variable", name, where, reason))
        else:
            reason = "not part of spark-submit; run it elsewhere, or in an init container"
            gathered.left_alone.append(LeftAlone("command", name, where, reason, True))
