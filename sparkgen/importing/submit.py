"""Reads spark-submit's command line, by the table of submit_options.py.

Source: org.apache.spark.launcher.SparkSubmitOptionParser. Options end at the first word that is no option:
the main file. All words after it are arguments of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sparkgen.contract import SPARK_DEFAULTS_FILE
from sparkgen.errors import Path, Position
from sparkgen.grammar.whole import whole
from sparkgen.importing.commands import Word
from sparkgen.importing.complete import spark_default_instances
from sparkgen.importing.draft import Draft, Property
from sparkgen.importing.entry import Entry, Outcome
from sparkgen.importing.pod_templates import add_templates
from sparkgen.importing.properties_files import Files, add_properties, keep_last
from sparkgen.importing.submit_options import (
    BY_NAME,
    CONF,
    INT,
    LIST,
    NO_APPLICATION,
    SHORT,
    VARIABLE,
    Option,
)

_ALL = ("$@", "$*", "${@}", "${*}")
"""The expansions of all arguments of a script."""
_OPTIONS = re.compile(r"opt|arg|conf|flag|param|extra", re.IGNORECASE)
"""Parts of a variable's name that say that it holds options, if nothing else says so."""
_DEFAULT = "was a variable of the environment, {}; its default in the script was taken"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PATTERN = "the shell may replace the pattern {} with names of files; it is copied unchanged"


def submits_nothing(words: Sequence[Word]) -> bool:
    """Whether a command line asks spark-submit for something other than running an application."""
    return not words or any(word.text in NO_APPLICATION for word in words)


@dataclass(slots=True)
class _Line:
    """A command line while it is read. `known`: variable -> the line of the script that sets it."""

    draft: Draft
    file: str
    known: Mapping[str, int]
    files: Files
    properties: tuple[Position, str] | None = None
    """The last `--properties-file`: its position, and the file."""

    def position(self, word: Word) -> Position:
        return Position(self.file, word.line, word.column)


def read(draft: Draft, words: Sequence[Word], file: str, known: Mapping[str, int], files: Files) -> None:
    """Add the words after `spark-submit` to a draft. `known`: variable -> the line that sets it.

    Raises `Beyond` if the files that the words name are too large to be copied to one more application.
    """
    line = _Line(draft, file, known, files)
    rest = list(reversed(words))
    last_option = next((index for index, word in enumerate(rest) if _is_option(word)), len(rest))
    main: Word | None = None
    while rest:
        word = rest.pop()
        if word.text.startswith("-") and len(word.text) > 1:
            _option(line, word, rest)
        elif _holds_options(word, before_option=last_option < len(rest)):
            _unreadable(line, word)
        else:
            main = word
            break
    if line.properties is not None:
        _read_properties(line, *line.properties)
    elif files.defaults is not None:
        add_properties(draft, files.defaults, SPARK_DEFAULTS_FILE, files.budget)
    keep_last(draft)
    add_templates(draft, files, file)
    if main is not None:
        _main(line, main)
    if rest:
        _arguments(line, list(reversed(rest)))


def _is_option(word: Word) -> bool:
    """Whether a word is an option of spark-submit."""
    name = word.text.partition("=")[0]
    return SHORT.get(name, name) in BY_NAME


def _holds_options(word: Word, *, before_option: bool) -> bool:
    """Whether a word before the main file is an expansion, unknown to import, that holds options.

    It holds options if it expands to all arguments or to a whole array, if a later word is an option of
    spark-submit, or if it is unquoted and its name says so. Otherwise, it is the main file.
    """
    if not word.variables or not word.text.startswith(("$", "`")):
        return False
    if word.text in _ALL or word.text.endswith(("[@]}", "[*]}")):
        return True
    return before_option or (word.bare and bool(_OPTIONS.search(word.text)))


def _tell_notes(draft: Draft) -> None:
    """Add to the entry of each value what only the shell knows about it; of a list, to its first entry."""
    notes: dict[tuple[Position, Path], dict[str, Entry]] = {}
    for note in draft.notes:
        notes.setdefault((note.position, note.source), {}).setdefault(note.reason, note)
    for index, entry in enumerate(draft.entries):
        own = notes.pop((entry.position, entry.source), {}) if entry.source and entry.target else {}
        first = next(iter(own.values()), None)
        if first is not None and first.reason not in entry.reason:
            reasons = [entry.reason] if entry.outcome is Outcome.CHANGED else []
            reason = "; ".join([*reasons, *own])
            draft.entries[index] = replace(entry, outcome=Outcome.CHANGED, reason=reason, step=first.step)
            draft.comments.setdefault(entry.target, []).append("; ".join(own))
    draft.notes.clear()


def finish(draft: Draft) -> None:
    """Add what spark-submit does by default, and what only the shell knows."""
    _tell_notes(draft)
    spark_default_instances(draft)
    name = next((item for item in draft.entries if item.source == ("--name",)), None)
    if name is not None and not draft.choices.name:
        draft.put(("metadata", "name"), draft.names.make(str(draft.get("metadata", "name"))))
    elif draft.get("metadata", "name") is None and not draft.choices.name:
        said = draft.get("spec", "sparkConf", "spark.app.name")
        text = str(said or draft.get("spec", "mainClass") or draft.get("spec", "mainApplicationFile") or "")
        last = re.sub(r"\.(py|jar|R|r)$", "", text.rstrip("/").rpartition("/")[2]).rpartition(".")[2]
        if text:
            draft.add(
                Outcome.ADDED,
                ("metadata", "name"),
                draft.names.make(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", last)),
                "named after the main class or file, as by spark-submit",
            )


def _option(line: _Line, word: Word, rest: list[Word]) -> None:
    name, equals, text = word.text.partition("=")
    option = BY_NAME.get(SHORT.get(name, name))
    if option is None:
        line.draft.tell(
            Outcome.LOST,
            (name,),
            line.position(word),
            (),
            "spark-submit has no such option",
            "if it is an option of the program, write it after the main file",
        )
        return
    if option.flag:
        _take(line, option, word, "")
        return
    if equals:
        _take(line, option, word, text)
    elif rest:
        value = rest.pop()
        _take(line, option, value, value.text)
    else:
        reason, step = "the option has no value", "add one"
        line.draft.tell(Outcome.LOST, (option.name,), line.position(word), (), reason, step)


def _take(line: _Line, option: Option, word: Word, text: str) -> None:
    """Process an option as its row of the table says."""
    draft, position = line.draft, line.position(word)
    source: Path = (option.name,)
    name = option.target
    if option.kind == CONF and not name:
        name, _, text = text.partition("=")
        source = (option.name, name)
    if not option.needless and option.kind != "master":
        _tell_variables(line, word, source)
    if option.kind == CONF:
        draft.properties.append(Property(name.strip(), text, source, position))
    elif option.kind in _SPECIAL:
        _SPECIAL[option.kind](line, option, position, text)
    elif option.needless:
        draft.tell(Outcome.NEEDLESS, source, position, (), option.reason)
    elif not option.target:
        draft.tell(Outcome.LOST, source, position, (), option.reason, option.step)
    else:
        target = tuple(option.target.split("."))
        value: object = text
        if option.kind == LIST:
            value = [_place_of(line, source, position, item) for item in _items(text)]
        elif option.kind == INT and (number := whole(text)) is not None:
            value = number
        draft.put(target, value)
        draft.tell(Outcome.CARRIED, source, position, target)


def _items(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _master(line: _Line, option: Option, position: Position, text: str) -> None:
    if text.startswith("k8s://") or "$" in text:
        line.draft.tell(Outcome.NEEDLESS, (option.name,), position, (), option.reason)
        return
    manager = text.partition("[")[0].partition(":")[0]
    line.draft.tell(
        Outcome.CHANGED,
        (option.name,),
        position,
        ("spec", "executor"),
        f"was submitted to {manager}: sizes and file paths may not fit Kubernetes",
        "check memory, cores and file paths",
    )
    line.draft.put(("spec", "executor"), {})


def _mode(line: _Line, option: Option, position: Position, text: str) -> None:
    if text == "cluster":
        line.draft.tell(Outcome.NEEDLESS, (option.name,), position, (), option.reason)
        return
    line.draft.tell(
        Outcome.LOST,
        (option.name,),
        position,
        (),
        "the driver runs in a pod, not on the submitting machine",
        "check whether the program reads or writes files on that machine",
    )


def _name(line: _Line, option: Option, position: Position, text: str) -> None:
    draft = line.draft
    if not draft.choices.name:
        draft.put(("metadata", "name"), text)
    draft.properties.append(Property("spark.app.name", text, (option.name,), position))


def _properties_file(line: _Line, option: Option, position: Position, text: str) -> None:
    if line.properties is not None:
        reason = "a later --properties-file takes precedence, as for spark-submit"
        line.draft.tell(Outcome.NEEDLESS, (option.name,), line.properties[0], (), reason)
    line.properties = position, text


def _read_properties(line: _Line, position: Position, path: str) -> None:
    """Add the properties of the file that `--properties-file` names."""
    option = BY_NAME["--properties-file"]
    file = line.files.find(path, line.file)
    if file is None:
        line.draft.tell(Outcome.LOST, (option.name,), position, (), option.reason, option.step)
        return
    add_properties(line.draft, file, option.name, line.files.budget)
    line.draft.tell(Outcome.NEEDLESS, (option.name,), position, (), "import has read the file")


_SPECIAL = {"master": _master, "mode": _mode, "name": _name, "properties": _properties_file}


def _main(line: _Line, word: Word) -> None:
    source, position = ("main file",), line.position(word)
    _tell_variables(line, word, source)
    text = _place_of(line, source, position, word.text)
    line.draft.put(("spec", "mainApplicationFile"), text)
    line.draft.tell(Outcome.CARRIED, source, position, ("spec", "mainApplicationFile"))


def _place_of(line: _Line, source: Path, position: Position, text: str) -> str:
    """Returns a file as the driver's pod finds it; without a scheme, it was on the submitting machine."""
    field = BY_NAME[str(source[0])].target if str(source[0]) in BY_NAME else "spec.mainApplicationFile"
    if field in _COORDINATES or text == "spark-internal" or text.startswith("$"):
        return text
    if _SCHEME.match(text) and not text.startswith("file:"):
        return text
    path = re.sub(r"^file:/*(?=/)|^\./", "", text)
    if not path.startswith("/"):
        line.draft.tell(
            Outcome.CHANGED,
            source,
            position,
            tuple(field.split(".")),
            f"was {text} on the submitting machine; now a file beside the document",
            "put the document beside it, set a registry in delivery.repository, and run: sparkgen push",
        )
        return path if path.startswith("../") else f"./{path}"
    image_path = f"local://{path}"
    line.draft.tell(
        Outcome.CHANGED,
        source,
        position,
        tuple(field.split(".")),
        f"was {text} on the submitting machine; now a file in the image",
        "copy it to this path in the image, or copy it to an object store and use its URL",
    )
    return image_path


_COORDINATES = frozenset({"spec.deps.packages", "spec.deps.excludePackages", "spec.deps.repositories"})


def _arguments(line: _Line, words: Sequence[Word]) -> None:
    target = ("spec", "arguments")
    known = [word for word in words if word.text not in _ALL]
    if known:
        line.draft.put(target, [word.text for word in known])
    place = 0
    for index, word in enumerate(words):
        source = (f"argument {index + 1}",)
        if word.text in _ALL:
            reason = "these are the arguments of the script, which only its caller knows"
            step = "add them to `arguments`"
            line.draft.tell(Outcome.LOST, source, line.position(word), (), reason, step)
            continue
        line.draft.tell(Outcome.CARRIED, source, line.position(word), (*target, place))
        _tell_variables(line, word, source)
        place += 1


def _tell_variables(line: _Line, word: Word, source: Path) -> None:
    for name in word.defaults:
        step = f"check the value: with another {name}, the script ran with another one"
        place = line.position(word)
        reason = _DEFAULT.format(f"${name}")
        line.draft.notes.append(Entry(Outcome.CHANGED, source, place, (), reason, step))
    for name, known in _variables(line, word):
        step = (
            f"replace it by its value; line {known} of the script sets it"
            if known
            else "replace it by its value, or set the field per environment with an overlay (`-f`) or `--set`"
        )
        pattern = not name.startswith(("$", "`"))
        if pattern:
            step = "write the names of the files"
        reason = (_PATTERN if pattern else VARIABLE).format(name)
        line.draft.notes.append(Entry(Outcome.CHANGED, source, line.position(word), (), reason, step))


def _variables(line: _Line, word: Word) -> Iterator[tuple[str, int | None]]:
    for written in dict.fromkeys(word.variables):
        name = re.match(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?$", written)
        yield written, line.known.get(name[1]) if name else None


def _unreadable(line: _Line, word: Word) -> None:
    """Report a variable among the options: it may stand for many words."""
    known = next((known for _, known in _variables(line, word) if known), None)
    step = "replace it with the options, and import again"
    line.draft.tell(
        Outcome.LOST,
        (f"options in {word.text}",),
        line.position(word),
        (),
        f"options behind {word.text} were not read: only the shell knows them",
        f"{step}; line {known} of the script sets it" if known else step,
    )
