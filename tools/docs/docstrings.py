"""Which names in backticks in the docstrings of the project exist: what is renamed is easily left there.

A name with a point, an underscore or capitals within, a call and a path of a file are looked up where code
has them: in its own module, then in the project, then in what is installed. Other words are prose.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("sparkgen/", "tools/")
OF_NAMES = ("schemas/", "sparkgen/properties/", "sparkgen/templates/", "charts/spark-app/templates/")
"""Folders whose files are full of names: of fields, of properties, and of values in templates."""
DOCUMENT = ("metadata", "spec", "status")
"""The first names of a field's path."""
ELSEWHERE = {
    "ExecutorExitCode": "Spark",
    "SparkExitCode": "Spark",
    "withPrepended": "Spark",
    "ForbiddenMessage": "Kubernetes",
    "MarkPodsNotReady": "Kubernetes",
    "patchMergeKey": "Kubernetes",
    "resolve.go": "go-yaml",
    "spark.ssl.enabled": "Spark",
    "unknownExitReason": "containerd",
}
"""Names of other projects' code, which nothing here uses."""
_IN_TICKS = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_NAME = r"[A-Za-z_]\w*"
_CALL = re.compile(rf"({_NAME}(?:\.{_NAME})*)\([^()]*\)")
_DOTTED = re.compile(rf"{_NAME}(?:\.{_NAME})+")
_JOINED = re.compile(r"\w*_\w*|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*")
_FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.(?:py|scala|java|json|md|tsv|j2)")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a docstring, and where it is written."""

    path: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: `{self.name}` does not exist"


@dataclass(slots=True)
class Names:
    """What exists: identifiers by module, members by class or module, words of other text, and files."""

    of_module: dict[str, set[str]] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    bases: dict[str, set[str]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    def add_module(self, module: Module) -> None:
        """Take up what a module defines, uses and writes in texts that are no docstrings."""
        own = self.of_module[module.path] = {name for node in module.nodes for name in _identifiers(node)}
        prose = {id(text) for text in module.docstrings()}
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                self.words.update(words(node.value))
            if isinstance(node, ast.ClassDef):
                members = self.members.setdefault(node.name, set())
                members.update(name for part in ast.walk(node) for name in _identifiers(part))
                bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases} - {node.name}
                self.bases.setdefault(node.name, set()).update(bases)
        self.members.setdefault(module.name, set()).update(own)

    def has(self, name: str, path: str) -> bool:
        """Whether a name in a docstring of a module exists."""
        if call := _CALL.fullmatch(name):
            name = call[1]
        own = self.of_module[path]
        if name in own or name in self.words or name in ELSEWHERE:
            return True
        if _FILE.fullmatch(name):
            return any(f"/{one}".endswith(f"/{name}") for one in self.files)
        if "." in name:
            parts = name.split(".")
            return own.issuperset(parts) or self._has_chain(parts)
        if name.startswith("_"):
            return False
        return name in self.members or any(name in other for other in self.of_module.values())

    def _has_chain(self, parts: list[str]) -> bool:
        """Whether the last part is a member of the one before, or the whole a field of a document."""
        if parts[0] in DOCUMENT:
            return self.fields.issuperset(parts)
        if "/".join(parts) + ".py" in self.files or "/".join(parts) + "/__init__.py" in self.files:
            return True
        owner, member = parts[-2:]
        return member in self._members_of(owner) if owner in self.members else _installed(parts)

    def _members_of(self, owner: str) -> set[str]:
        found = set(self.members.get(owner, ()))
        return found.union(*map(self._members_of, self.bases.get(owner, ())))


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the project, read once."""

    path: str
    nodes: tuple[ast.AST, ...]

    @property
    def name(self) -> str:
        """How other modules call it."""
        path = Path(self.path)
        return path.parent.name if path.stem == "__init__" else path.stem

    def docstrings(self) -> Iterator[ast.Constant]:
        """The texts that stand alone: of modules, classes and functions, and below constants and fields."""
        for node in self.nodes:
            value = node.value if isinstance(node, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value

    def mentions(self) -> Iterator[Mention]:
        """The names of code in the docstrings."""
        for text in self.docstrings():
            said = str(text.value)
            for found in _IN_TICKS.finditer(said):
                if any(form.fullmatch(found[2]) for form in (_CALL, _DOTTED, _JOINED, _FILE)):
                    line = text.lineno + said.count("\n", 0, found.start())
                    yield Mention(self.path, line, found[2])


def words(text: str) -> Iterator[str]:
    """The words of a text that may be names, alone and joined by points."""
    for found in re.finditer(r"[\w.]+", text):
        yield found[0].strip(".")
        yield from found[0].split(".")


def _identifiers(node: ast.AST) -> Iterator[str]:
    """What a node of code names: mypy knows that it exists."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Name():
            yield node.id
        case ast.Attribute():
            yield node.attr
        case ast.arg() | ast.keyword():
            yield node.arg or ""
        case ast.alias():
            yield from (node.name.rpartition(".")[2], node.asname or "")


def _installed(parts: Sequence[str]) -> bool:
    """Whether a built-in or a module that can be imported has these names, one within the other."""
    first, *rest = parts
    found: object = getattr(builtins, first, None)
    if found is None:
        try:
            found = importlib.import_module(first)
        except ImportError:
            return False
    for part in rest:
        found = getattr(found, part, None)
    return found is not None


def listed(root: Path = ROOT) -> list[str]:
    """The files of the repository."""
    command = ["git", "ls-files", "-z"]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")[
        :-1
    ]


def unknown(sources: Mapping[str, str], other: Mapping[str, str]) -> list[Mention]:
    """What the docstrings of `sources` name although neither they nor `other` have it: texts by path."""
    modules = [Module(path, tuple(ast.walk(ast.parse(text)))) for path, text in sources.items()]
    names = Names(files={*sources, *other})
    for module in modules:
        names.add_module(module)
    for path, text in other.items():
        (names.fields if path.endswith(".json") else names.words).update(words(text))
    names.words |= names.fields
    found = (mention for module in modules for mention in module.mentions())
    return [mention for mention in found if not names.has(mention.name, mention.path)]


def sources(root: Path = ROOT) -> tuple[dict[str, str], dict[str, str]]:
    """The modules of the project, and its other files: with their text if the words of it are names."""
    python, other = {}, {}
    for path in listed(root):
        if path.endswith(".py") and path.startswith(SOURCES):
            python[path] = (root / path).read_text(encoding="utf-8")
        else:
            read = path.startswith(OF_NAMES) or path.endswith((".scala", ".java"))
            other[path] = (root / path).read_text(encoding="utf-8") if read else ""
    return python, other
