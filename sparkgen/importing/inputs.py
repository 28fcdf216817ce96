"""Reads applications to import from YAML, shell scripts, directories of both, and standard input.

All inputs are read before an application is converted, so a new name never equals one that an input has.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path as FilePath

from sparkgen.contract import SPARK_DEFAULTS_FILE
from sparkgen.document import Node
from sparkgen.document.parse import Parsed, parse
from sparkgen.document.problems import TEMPLATE_STEP
from sparkgen.document.sources import STDIN, STDIN_NAME, Found, Reader, read_file, shown_name
from sparkgen.document.text import decode
from sparkgen.errors import Path, Position, Problem, Severity
from sparkgen.importing import embedded
from sparkgen.importing.convert import Context, Given, submit_document
from sparkgen.importing.draft import Choices
from sparkgen.importing.emr import DRIVER
from sparkgen.importing.formats import format_of, group_and_kind
from sparkgen.importing.gathered import Gathered
from sparkgen.importing.imported import Imported, LeftAlone, Result
from sparkgen.importing.naming import Names
from sparkgen.importing.properties import has_spark_properties, properties_file
from sparkgen.importing.properties_files import Files
from sparkgen.importing.remarks import RENDER_FIRST, Remarks
from sparkgen.importing.repair import Examine
from sparkgen.importing.script import Script, is_submit, read_script, words_of
from sparkgen.importing.shell import Unclosed
from sparkgen.importing.submit import submits_nothing
from sparkgen.repository import is_hidden, repository_root, way_out

YAML, SHELL = (".yaml", ".yml", ".json"), (".sh", ".bash")
COMMAND_LINE = "command line"
HasFile = Callable[[FilePath, FilePath, bytes], bool]
"""A function that says whether the repository at a root (resolved) has a file (resolved) with these bytes."""


def import_all(
    sources: Sequence[str],
    choices: Choices,
    examine: Examine,
    stdin: Callable[[], bytes],
    has_file: HasFile = lambda _root, _file, _data: False,
) -> Result:
    """Import all applications in files, directories (with their subdirectories), or "-".

    If the first source is spark-submit, all sources are the words of its command line. Never raises for bad
    input. `has_file`: which files of a Git repository a script may name.
    """
    gathered = Gathered(Context(choices, examine, Names(), Files(_reader(has_file))))
    if sources and is_submit(sources[0]):
        words = words_of(sources)
        _commands(Script((words,), ((),), (), {}), COMMAND_LINE, gathered)
        return _result(gathered)
    reader = Reader(stdin)
    names = [*_files(sources)]
    for name in names:
        if name != STDIN and is_properties(name):
            _properties(name, has_file, gathered)
    for name in names:
        if name != STDIN and is_properties(name):
            continue
        data = reader.read(name)
        if isinstance(data, Problem):
            gathered.problems.append(data)
        else:
            _file(name, data, gathered)
    return _result(gathered)


def _result(gathered: Gathered) -> Result:
    gathered.add_requests()
    results = [work() for work in gathered.work]
    imported = tuple(item for item in results if isinstance(item, Imported))
    gathered.left_alone += [item for item in results if isinstance(item, LeftAlone)]
    gathered.left_alone += _unused_files(gathered, any(item.kind == "spark-submit" for item in imported))
    return Result(imported, tuple(gathered.left_alone), tuple(gathered.problems))


def _files(sources: Sequence[str]) -> Iterator[str]:
    """Yields the input files, each once. A directory stands for the files in it and below it, by name."""
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
            known = name.endswith((*YAML, *SHELL)) or is_properties(name)
            if known and not name.startswith("."):
                yield Found(FilePath(folder, name).as_posix())


def is_properties(name: str) -> bool:
    """Whether a file is a file of properties, by its name."""
    return name.endswith((".properties", ".conf"))


def _reader(has_file: HasFile) -> Callable[[str, str], str | None]:
    """Returns a function that returns the text of a file that a script names.

    It returns None if import may not or cannot read the file. It reads each file once, whatever its names.
    """

    @functools.cache
    def text_of(file: str, root: FilePath | None) -> str | None:
        data = read_file(file, "yes")
        if isinstance(data, Problem) or (root is not None and not _has(has_file, root, file, data)):
            return None
        text = decode(data, file)
        return None if isinstance(text, Problem) else text

    @functools.cache
    def read(name: str, script: str) -> str | None:
        root = _project(name, script) if script != COMMAND_LINE else None
        try:
            if (root is None and script != COMMAND_LINE) or way_out(name, needs_git=True):
                return None
            return text_of(os.path.realpath(name), root)
        except (OSError, ValueError):  # no valid path
            return None

    return read


def _has(has_file: HasFile, root: FilePath, name: str, data: bytes) -> bool:
    """Whether Git has a file of the project at `root`, or the project is not in Git."""
    return not (root / ".git").exists() or has_file(root, FilePath(os.path.realpath(name)), data)


def _project(name: str, script: str) -> FilePath | None:
    """Returns the root of the project with a file and the script that names it, with links resolved, or None.

    Somebody else may have written the script, and the document would contain the text of the file. So the
    file must not be hidden, and must be in the script's repository, and Git must have it. Without a
    repository, it must be below the script's folder, or below the working directory if the script is there
    too.
    """
    try:
        file, here = (FilePath(os.path.realpath(path)) for path in (name, os.curdir))
        beside = here if script == STDIN_NAME else FilePath(os.path.realpath(script)).parent
        root = repository_root(beside)
        if not (root / ".git").exists() and beside.is_relative_to(here):
            root = here
        inside = file.relative_to(root)
        return root if file.is_file() and not is_hidden(inside.as_posix()) else None
    except (OSError, ValueError):  # a link to itself, no valid path, or outside of the project
        return None


def _properties(name: str, has_file: HasFile, gathered: Gathered) -> None:
    """Read a file of properties among the inputs.

    Commands that name no other file use spark-defaults.conf: one that was found in a directory only if Git
    has it, because others of its files may be somebody else's.
    """
    data = read_file(name)
    root = repository_root(FilePath(os.path.realpath(name)).parent)
    if isinstance(name, Found) and isinstance(data, bytes) and not _has(has_file, root, name, data):
        where = Position(shown_name(name), 1, 1)
        step = "add it to Git, or name it on the command line before the directory"
        left = LeftAlone("file of properties", "", where, "Git does not have it", step, finding=True)
        gathered.left_alone.append(left)
        return
    text = data if isinstance(data, Problem) else decode(data, shown_name(name))
    if isinstance(text, Problem):
        gathered.problems.append(text)
    elif has_spark_properties(text):
        gathered.properties.append(name)
        files = gathered.context.files
        if FilePath(name).name == SPARK_DEFAULTS_FILE and files.defaults is None:
            files.defaults = properties_file(shown_name(name), text)
    elif not isinstance(name, Found):
        where = Position(shown_name(name), 1, 1)
        gathered.left_alone.append(LeftAlone("file", "", where, "it sets no property of Spark", finding=True))


def _unused_files(gathered: Gathered, submitted: bool) -> Iterator[LeftAlone]:
    """Yields the files of properties that no command has read."""
    files = gathered.context.files
    for name in gathered.properties:
        is_default = files.defaults is not None and files.defaults.name == shown_name(name)
        if os.path.normpath(name) in files.used or (is_default and submitted):
            continue
        reason = "it sets properties of Spark, and names no application"
        step = f"import it with a script: as {SPARK_DEFAULTS_FILE}, or named by --properties-file"
        where = Position(shown_name(name), 1, 1)
        yield LeftAlone("file of properties", "", where, reason, step, finding=True)


def _file(name: str, data: bytes, gathered: Gathered) -> None:
    shown = shown_name(name)
    text = decode(data, shown)
    if isinstance(text, Problem):
        gathered.problems.append(text)
        return
    if _is_script(name, text):
        _script(text, shown, gathered)
        return
    known = gathered.size + len(gathered.problems)
    _documents(parse(data, shown, as_kubectl=True), text.split("\n"), (), gathered)
    if gathered.size + len(gathered.problems) == known:
        gathered.left_alone.append(
            LeftAlone(
                "", "", Position(shown, 1, 1), "it contains no document", finding=not isinstance(name, Found)
            )
        )


def _documents(parsed: Parsed, lines: Sequence[str], below: Path, gathered: Gathered) -> None:
    """Add the applications in a text of a file with these lines.

    `below`: the path of the text, if it is in another document.
    """
    problems = [*parsed.problems, *(item for document in parsed.documents for item in document.problems)]
    gathered.problems += [_rendered_first(item) for item in problems if _is_fatal(item)]
    for document in parsed.documents:
        if document.root is None or any(_is_fatal(item) for item in document.problems):
            continue
        remarks = (*document.remarks, *document.problems)
        placed = [replace(item, path=(*below, *item.path)) for item in remarks]
        _document(document.root, below, Remarks(document.root, below, placed), lines, gathered)


def _is_fatal(problem: Problem) -> bool:
    """Whether a problem prevents an import; a number that no parser keeps (SG002) becomes a string."""
    return problem.severity is Severity.ERROR and not (problem.code == "SG002" and problem.path)


def _rendered_first(problem: Problem) -> Problem:
    return replace(problem, next_step=RENDER_FIRST) if problem.next_step == TEMPLATE_STEP else problem


def _is_script(name: str, text: str) -> bool:
    """Whether a text is a shell script: by its name, its first line, or the command in it."""
    if name.endswith(SHELL) or text.startswith("#!"):
        return True
    if name.endswith(YAML) or "apiVersion" in text:
        return False
    return any(is_submit(word.strip("\"'")) for word in text.split())


def _document(root: Node, path: Path, remarks: Remarks, lines: Sequence[str], gathered: Gathered) -> None:
    """Add one YAML document, or one item of a List, at `path`."""
    _, kind = group_and_kind(root)
    if kind.endswith("List") and root.find(("items",)) is not None:
        for index, item in enumerate(root.entries["items"].items):
            _document(item, (*path, "items", index), remarks, lines, gathered)
        return
    if root.find((DRIVER,)) is not None and root.find(("apiVersion",)) is None:
        gathered.requests.append(root)
        return
    row = format_of(root)
    if row.convert is not None:
        convert, given = row.convert, Given(root, path, remarks, gathered.context)
        _reserve(root, gathered.context.names)
        gathered.work.append(functools.partial(convert, given))
        return
    known = gathered.size + len(gathered.problems)
    manifests = [] if remarks.below else [*embedded.texts_in(root, path)]
    for manifest in manifests:
        parsed = embedded.read(manifest.node, lines, root.position.file)
        _documents(parsed, lines, manifest.path, gathered)
    if gathered.size + len(gathered.problems) > known:
        reason = "only the applications in it were imported; it starts them itself, and sparkgen does not"
        step = "let it apply the manifests that `sparkgen render` writes"
        left = LeftAlone(kind, _name(root), root.position, reason, step, finding=True)
    else:
        left = LeftAlone(
            kind or "document", _name(root), root.position, row.reason, row.step, finding=row.finding
        )
    gathered.left_alone.append(left)


def _name(root: Node) -> str:
    name = root.find(("metadata", "name"))
    return name.text if name is not None else ""


def _reserve(root: Node, names: Names) -> None:
    name, namespace = root.find(("metadata", "name")), root.find(("metadata", "namespace"))
    if name is not None:
        names.reserve([(namespace.text if namespace is not None else "", name.text, name.position)])


def _script(text: str, file: str, gathered: Gathered) -> None:
    try:
        script = read_script(text)
    except Unclosed as error:
        position = Position(file, error.line, error.column)
        message = f"cannot read the script: {error} that opens here is never closed"
        gathered.problems.append(
            Problem("SG002", Severity.ERROR, position, (), message, next_step="close it")
        )
        return
    lines = text.split("\n")
    for body in script.manifests:
        _documents(embedded.read_at(body.text, body.line, file), lines, (), gathered)
    if not any((script.submits, script.manifests, script.unread, script.beyond, script.jobs)):
        reason = "it contains no spark-submit"
        gathered.left_alone.append(LeftAlone("script", "", Position(file, 1, 1), reason, finding=True))
        return
    for words in script.jobs:
        gathered.add_command(words, file)
    _commands(script, file, gathered)


def _commands(script: Script, file: str, gathered: Gathered) -> None:
    for words, before in zip(script.submits, script.before, strict=True):
        if submits_nothing(words[1:]):
            position = Position(file, words[0].line, words[0].column)
            reason = "it does not run an application"
            gathered.left_alone.append(LeftAlone("spark-submit", "", position, reason, finding=True))
            continue
        gathered.work.append(
            functools.partial(submit_document, words, before, script, file, gathered.context)
        )
    unread = dict.fromkeys(script.unread, "it calls spark-submit in a text that import does not follow")
    unread |= dict.fromkeys(script.beyond, "import does not follow so many commands of one script")
    for word, reason in unread.items():
        where = Position(file, word.line, word.column)
        step = "write the spark-submit command into a script of its own, and import that"
        gathered.left_alone.append(LeftAlone("command", word.text, where, reason, step, finding=True))
    for word in script.others:
        where = Position(file, word.line, word.column)
        name, equals, _ = word.text.partition("=")
        if equals:
            reason = "a variable of the script; each use by spark-submit has its own finding"
            gathered.left_alone.append(LeftAlone("variable", name, where, reason))
        else:
            reason = "not part of spark-submit; run it elsewhere, or in an init container"
            gathered.left_alone.append(LeftAlone("command", name, where, reason, finding=True))
