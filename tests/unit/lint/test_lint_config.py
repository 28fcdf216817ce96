"""`.sparkgen.yaml`: what it says, and every mistake in it with its place."""

from __future__ import annotations

import pytest

from sparkgen.document.configuration import error_about
from sparkgen.errors import Severity
from sparkgen.lint import PROFILES, Config, Policy, levels
from sparkgen.lint.configfile import read_config

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

WHOLE = """\
lint:
  profiles: [gitops, cost]
  failOn: error
  show: info
  rules:
    SG261: off
    SG201: error
    SG135: "off"
  settings:
    controllers: [flux]
    registries: registry.example.com/
    requiredLabels: [team]
    maxExecutors: 100
    maxMemory: 512g
  overrides:
    - files: ["dev/*", "*.dev.yaml"]
      profiles: [cost]
      rules: {SG262: error}
"""


def config(text: str) -> Config:
    """What a configuration says."""
    found = read_config(text.encode(), ".sparkgen.yaml")
    assert isinstance(found, Config), found
    return found


def test_a_whole_configuration() -> None:
    """Every field, with `off` as YAML 1.1 reads it and in quotes."""
    found = config(WHOLE)
    assert found.profiles == ("gitops", "cost")
    assert (found.fail_on, found.show) == (ERROR, INFO)
    assert found.rules == {"SG261": None, "SG201": ERROR, "SG135": None}
    assert found.settings.controllers == ("flux",)
    assert found.settings.registries == ("registry.example.com/",)
    assert found.settings.required_labels == ("team",)
    assert (found.settings.max_executors, found.settings.max_memory) == (100, 512 * 1024)


def test_rules_weigh_what_the_configuration_says() -> None:
    """Profiles choose, rules override them, and what is off is not looked for."""
    found = config(WHOLE).levels("prod/app.yaml")
    assert found["SG201"] is ERROR
    assert found["SG262"] is INFO
    assert not {"SG135", "SG261", "SG234"} & set(found)


@pytest.mark.parametrize("file", ["dev/app.yaml", "dev/a/b.yaml", "x/app.dev.yaml"])
def test_an_override_holds_for_its_files_alone(file: str) -> None:
    """Its profiles replace those of all, its rules come last; `*` stands for slashes too."""
    found = config(WHOLE).levels(file)
    assert found["SG262"] is ERROR
    assert found["SG201"] is ERROR  # rules name it, whatever the profiles are
    assert "SG204" not in found


def test_the_command_line_overrules_the_file() -> None:
    """`--profile` and `--rule` hold for every file."""
    policy = Policy(config(WHOLE), ("production",), {"SG234": None})
    found = policy.levels("dev/app.yaml")
    assert "SG220" in found
    assert not {"SG234", "SG203"} & set(found)


def test_a_profile_raises_warnings_of_validity() -> None:
    """A finished run that deletes itself is wrong under GitOps, and a warning elsewhere."""
    assert levels(["cost"])["SG188"] is WARNING
    assert levels(["gitops"])["SG188"] is ERROR
    assert set(levels(PROFILES)) > set(levels(["gitops"]))


@pytest.mark.parametrize("text", ["", "# nothing\n", "lint:\n", "lint: {}\n", "lint:\n  rules:\n"])
def test_what_says_nothing_is_the_default(text: str) -> None:
    """An empty configuration is one."""
    assert config(text) == Config()


@pytest.mark.parametrize(
    ("text", "line", "column", "says", "step"),
    [
        ("lnt: {}\n", 1, 1, "`lnt` is not a field here", "write `lint`"),
        ("- a\n", 1, 1, "must be a mapping", "lint: ..."),
        ("lint:\n  profile: [gitops]\n", 2, 3, "`profile` is not a field here", "write `profiles`"),
        ("lint:\n  profiles: [gitop]\n", 2, 14, "`gitop` is not an allowed value", "write `gitops`"),
        ("lint:\n  failOn: maybe\n", 2, 11, "`maybe` is not an allowed value", "info, warning, error, never"),
        ("lint:\n  rules: {SG999: off}\n", 2, 11, "`SG999` is not a field here", "sparkgen rule"),
        ("lint:\n  rules: {SG104: off}\n", 2, 11, "`SG104` is not a field here", ""),
        ("lint:\n  rules: {SG201: [error]}\n", 2, 18, "is not a severity", "off, info, warning, error"),
        ("lint:\n  rules: {SG201: {a: b}}\n", 2, 18, "is not a severity", "off, info, warning, error"),
        ("lint:\n  rules: {SG201: loud}\n", 2, 18, "is not a severity", "off, info, warning, error"),
        ("lint:\n  settings: {maxCores: many}\n", 2, 24, "must be a whole number", "100"),
        ("lint:\n  settings: {maxMemory: 5Gi}\n", 2, 25, "Gi", "512g"),
        (
            "lint:\n  settings: {controllers: [argo]}\n",
            2,
            28,
            "`argo` is not an allowed value",
            "write `argocd`",
        ),
        ("lint:\n  overrides:\n    - rules: {SG201: off}\n", 3, 7, "lists no files", "files"),
        ("lint:\n  overrides: {}\n", 2, 14, "must be a list", "files"),
        ("lint:\n  profiles: [3]\n", 2, 14, "must be a string", "gitops"),
    ],
)
def test_a_mistake_has_its_place(text: str, line: int, column: int, says: str, step: str) -> None:
    """SG200, where it stands, with what to write."""
    found = read_config(text.encode(), ".sparkgen.yaml")
    assert isinstance(found, tuple)
    (problem,) = found
    assert (problem.code, problem.severity) == ("SG200", ERROR)
    assert (problem.position.line, problem.position.column) == (line, column)
    assert says in problem.message
    assert step in problem.next_step


def test_text_that_is_no_yaml_is_said_with_its_place() -> None:
    """The reader of documents says it."""
    found = read_config(b"lint: [\n", ".sparkgen.yaml")
    assert isinstance(found, tuple)
    assert {problem.code for problem in found} == {"SG002"}


def test_every_mistake_is_said_at_once() -> None:
    """Nobody fixes a file line by line."""
    found = read_config(b"lint:\n  a: 1\n  failOn: 3\n  rules: {SG201: 7}\n", ".sparkgen.yaml")
    assert isinstance(found, tuple)
    assert len(found) == 3


def test_aliases_of_a_long_value_do_not_fill_the_messages() -> None:
    """Each place has a message, and each message only the beginning of the value."""
    places = ", ".join(["*a"] * 300)
    text = f"lint:\n  profiles: [&a {'x' * 10_000}, {places}]\n  {'y' * 1_000}: 1\n  failOn: *a\n"
    found = read_config(text.encode(), ".sparkgen.yaml")
    assert isinstance(found, tuple)
    assert len(found) == 303
    assert len(str(error_about(found))) < 300_000
    assert max(len(problem.message) + len(problem.found) for problem in found) < 200
