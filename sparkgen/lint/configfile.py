"""The text of `.sparkgen.yaml` -> a `Config`, or all its mistakes with their positions (SG200)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sparkgen.document.configuration import top_level
from sparkgen.document.node import Node
from sparkgen.document.parse import parse
from sparkgen.errors import Path, Position, Problem, Severity
from sparkgen.grammar import GrammarError
from sparkgen.grammar.memory import to_mib
from sparkgen.lint.config import OFF, Config, Override
from sparkgen.lint.registry import PROFILES, RULES, validity_warnings
from sparkgen.lint.rules_gitops import CONTROLLERS
from sparkgen.lint.settings import Settings

SEVERITIES = {severity.value: severity for severity in reversed(Severity)}
NEVER = "never"
MANY = 20
"""The most choices that a message lists."""


class _Reader:
    """Collects mistakes while it reads, and leaves out wrong values."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def complain(self, position: Position, path: Path, message: str, step: str, found: str = "") -> None:
        """Record a mistake."""
        problem = Problem("SG200", Severity.ERROR, position, path, message, found=found, next_step=step)
        self.problems.append(problem)

    def wrong_type(self, node: Node, path: Path, wanted: str, example: str) -> None:
        """Record that a value has the wrong type."""
        self.complain(node.position, path, f"must be {wanted}", f"for example: {example}", node.text)

    def fields(self, node: Node, path: Path, known: Iterable[str]) -> Mapping[str, Node]:
        """The known fields of a mapping; others are recorded as mistakes."""
        names = list(known)
        if not node.is_mapping:
            if node.value is not None:
                self.wrong_type(node, path, "a mapping", f"{names[0]}: ...")
            return {}
        for name in node.entries:
            if name not in names:
                message = f"`{name}` is not a field here"
                self.complain(node.keys[name], (*path, name), message, _near(name, names), name)
        return {
            name: child for name, child in node.entries.items() if name in names and child.value is not None
        }

    def texts(self, node: Node, path: Path, allowed: Iterable[str] = ()) -> tuple[str, ...]:
        """The strings of a list, or a single string, of those allowed."""
        choices = list(allowed)
        found = []
        for index, item in enumerate(node.items if node.is_list else [node]):
            if not isinstance(item.value, str):
                self.wrong_type(item, path, "a string", choices[0] if choices else "text")
            elif choices and item.value not in choices:
                step = _near(item.value, choices)
                self.complain(
                    item.position, (*path, index), f"`{item.value}` is not an allowed value", step, item.value
                )
            else:
                found.append(item.value)
        return tuple(found)

    def number(self, node: Node, path: Path) -> int | None:
        """A whole number from 0, or None if the value is no such number."""
        if isinstance(node.value, int) and not isinstance(node.value, bool) and node.value >= 0:
            return node.value
        self.wrong_type(node, path, "a whole number", "100")
        return None

    def memory(self, node: Node, path: Path) -> int | None:
        """The MiB of a size as Spark writes it, or None if it is invalid."""
        try:
            return to_mib(node.value) if isinstance(node.value, str) else self.number(node, path)
        except GrammarError as error:
            self.complain(node.position, path, str(error.reason), "for example: 512g", node.text)
            return None

    def rules(self, node: Node, path: Path) -> dict[str, Severity | None]:
        """Code -> severity, or None for a rule that is off."""
        found: dict[str, Severity | None] = {}
        for code in self.fields(node, path, configurable()):
            item = node.entries[code]
            # YAML 1.1 reads an unquoted `off` as false.
            if item.value is False or item.value == OFF:
                found[code] = None
            elif item.value in SEVERITIES:
                found[code] = SEVERITIES[item.value]
            else:
                step = f"write one of {OFF}, {', '.join(SEVERITIES)}"
                self.complain(item.position, (*path, code), "is not a severity", step, item.text)
        return found


def read_config(data: bytes, file: str) -> Config | tuple[Problem, ...]:
    """The configuration in a file's bytes, or its problems."""
    parsed = parse(data, file)
    problems = [*parsed.problems, *(problem for part in parsed.documents for problem in part.problems)]
    problems = [problem for problem in problems if problem.severity is Severity.ERROR]
    if problems:
        return tuple(problems)
    reader = _Reader()
    config = Config()
    for part in parsed.documents:
        if part.root is not None:
            reader.problems += top_level(part.root)
            lint = part.root.entries.get("lint")
            config = _lint(reader, lint, ("lint",)) if lint is not None and lint.value is not None else config
    return tuple(reader.problems) or config


def _lint(reader: _Reader, node: Node, path: Path) -> Config:
    fields = reader.fields(node, path, ("profiles", "failOn", "show", "rules", "settings", "overrides"))
    given: dict[str, Any] = {}
    if "profiles" in fields:
        given["profiles"] = reader.texts(fields["profiles"], (*path, "profiles"), PROFILES)
    if "failOn" in fields:
        (word, *_) = reader.texts(fields["failOn"], (*path, "failOn"), (*SEVERITIES, NEVER)) or ("warning",)
        given["fail_on"] = SEVERITIES.get(word)
    if "show" in fields:
        (word, *_) = reader.texts(fields["show"], (*path, "show"), SEVERITIES) or ("warning",)
        given["show"] = SEVERITIES[word]
    if "rules" in fields:
        given["rules"] = reader.rules(fields["rules"], (*path, "rules"))
    if "settings" in fields:
        given["settings"] = _settings(reader, fields["settings"], (*path, "settings"))
    if "overrides" in fields:
        given["overrides"] = _overrides(reader, fields["overrides"], (*path, "overrides"))
    return Config(**given)


def _settings(reader: _Reader, node: Node, path: Path) -> Settings:
    readers: Mapping[str, tuple[str, Callable[..., Any]]] = {
        "controllers": ("controllers", lambda node, path: reader.texts(node, path, CONTROLLERS)),
        "registries": ("registries", reader.texts),
        "requiredLabels": ("required_labels", reader.texts),
        "maxExecutors": ("max_executors", reader.number),
        "maxCores": ("max_cores", reader.number),
        "maxMemory": ("max_memory", reader.memory),
        "fixedExecutors": ("fixed_executors", reader.number),
        "minExecutors": ("min_executors", reader.number),
        "memoryPerCore": ("memory_per_core", reader.memory),
        "driverCores": ("driver_cores", reader.number),
        "driverMemory": ("driver_memory", reader.memory),
    }
    found = {}
    for name, child in reader.fields(node, path, readers).items():
        field, read_value = readers[name]
        value = read_value(child, (*path, name))
        if value is not None:
            found[field] = value
    return Settings(**found)


def _overrides(reader: _Reader, node: Node, path: Path) -> tuple[Override, ...]:
    if not node.is_list:
        reader.wrong_type(node, path, "a list", '- files: ["dev/*"]')
        return ()
    found = []
    for index, item in enumerate(node.items):
        place = (*path, index)
        fields = reader.fields(item, place, ("files", "profiles", "rules"))
        files = reader.texts(fields["files"], (*place, "files")) if "files" in fields else ()
        if not files:
            reader.complain(item.position, place, "lists no files", 'add: files: ["dev/*"]')
        profiles = None
        if "profiles" in fields:
            profiles = reader.texts(fields["profiles"], (*place, "profiles"), PROFILES)
        rules = reader.rules(fields["rules"], (*place, "rules")) if "rules" in fields else {}
        found.append(Override(files, profiles, rules))
    return tuple(found)


def configurable() -> list[str]:
    """The codes whose severity a policy may set: lint rules, and warnings of `validate`, but no errors."""
    return sorted((*validity_warnings(), *(rule.code for rule in RULES)))


def _near(word: str, choices: list[str]) -> str:
    if word.upper().startswith("SG") or len(choices) > MANY:
        return (
            "use the code of a warning (`sparkgen rule` lists them): the severity of errors cannot be changed"
        )
    near = difflib.get_close_matches(word, choices, n=1)
    if near:
        return f"write `{near[0]}`"
    return f"write one of {', '.join(choices)}"
