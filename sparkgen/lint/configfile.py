"""The text of `.sparkgen.yaml` -> a `Config`, or all its mistakes with their positions (SG200)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from sparkgen.document.configuration import mistake, sections
from sparkgen.document.ignores import ENDED
from sparkgen.document.node import Node
from sparkgen.document.text import shortened
from sparkgen.errors import Path, Position, Problem, Severity
from sparkgen.grammar import GrammarError
from sparkgen.grammar.memory import to_mib
from sparkgen.lint.config import OFF, Config, Override
from sparkgen.lint.registry import PROFILES, RULES, validity_warnings
from sparkgen.lint.settings import CONTROLLERS, Settings
from sparkgen.textdiff import nearest

SEVERITIES = {severity.value: severity for severity in reversed(Severity)}
NEVER = "never"
_LISTS: Mapping[str, tuple[str, ...]] = {"controllers": CONTROLLERS, "registries": (), "required_labels": ()}
"""The settings that are lists, with the values that each allows; () allows any."""
MANY = 20
"""The most choices that a message lists."""


class _Reader:
    """Collects mistakes while it reads, and leaves out wrong values."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems

    def complain(self, position: Position, path: Path, message: str, step: str, found: str = "") -> None:
        """Record a mistake."""
        self.problems.append(mistake(position, path, message, step, found))

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
                message = f"`{shortened(name)}` is not a field here"
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
                message, step = (
                    f"`{shortened(item.value)}` is not an allowed value",
                    _near(item.value, choices),
                )
                self.complain(item.position, (*path, index), message, step, item.value)
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
        for written in self.fields(node, path, configurable()):
            item, code = node.entries[written], ENDED.get(written, written)
            # YAML 1.1 reads an unquoted `off` as false.
            if item.value is False or item.value == OFF:
                found[code] = None
            elif isinstance(item.value, str) and item.value in SEVERITIES:
                found[code] = SEVERITIES[item.value]
            else:
                step = f"write one of {OFF}, {', '.join(SEVERITIES)}"
                self.complain(item.position, (*path, written), "is not a severity", step, item.text)
        return found


def read_config(data: bytes, file: str) -> Config | tuple[Problem, ...]:
    """The configuration in a file's bytes, or its problems."""
    parts, problems = sections(data, file)
    reader = _Reader(problems)
    config = Config()
    for part in parts:
        lint = part.get("lint")
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
    names = {_written(field.name): field.name for field in fields(Settings)}
    found: dict[str, Any] = {}
    for written, child in reader.fields(node, path, names).items():
        name, place = names[written], (*path, written)
        if name in _LISTS:
            found[name] = reader.texts(child, place, _LISTS[name])
            continue
        value = reader.memory(child, place) if "memory" in name else reader.number(child, place)
        if value is not None:
            found[name] = value
    return Settings(**found)


def _written(name: str) -> str:
    """The name of a setting as a configuration has it: `maxExecutors` for `max_executors`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


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
    """The codes whose severity a policy may set: lint rules, and warnings of `validate`, but no errors.

    With the codes whose place they took.
    """
    current = {*validity_warnings(), *(rule.code for rule in RULES)}
    return sorted({*current, *(ended for ended, code in ENDED.items() if code in current)})


def _near(word: str, choices: list[str]) -> str:
    if word.upper().startswith("SG") or len(choices) > MANY:
        return (
            "use the code of a warning (`sparkgen rule` lists them): the severity of errors cannot be changed"
        )
    near = nearest(word, choices)
    if near:
        return f"write `{near}`"
    return f"write one of {', '.join(choices)}"
