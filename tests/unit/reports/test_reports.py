"""Reports: the same problems for people, scripts, pull requests and code scanning."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.errors import Position, Problem, Severity, path_text
from sparkgen.reports import FORMATS, Context, Rule, report
from sparkgen.reports import text as text_report
from sparkgen.reports.text import summary

SOURCE = {
    "app.yaml": [
        "apiVersion: sparkgen.dev/v1alpha1",
        "spec:",
        "  executor:",
        "    cores: two  # many",
        '    memory: "4 gigs"',
        "    配置: [値, x]",
        "\tcores: 1",
        "    password: hunter2",
        "    long: " + "a" * 150 + " HERE " + "b" * 150,
        "    odd: \x1b[31mred",
    ]
}


def lines(file: str, line: int) -> str:
    """The source above, as the command line would read it."""
    found = SOURCE.get(file, [])
    return found[line - 1] if 0 < line <= len(found) else ""


CONTEXT = Context(lines=lines, masked=frozenset({"SG117"}), version="1.0.0")

CORES = Problem(
    "SG012",
    Severity.ERROR,
    Position("app.yaml", 4, 12),
    ("spec", "executor", "cores"),
    "expected a whole number",
    found="two",
    allowed="a whole number, 1 or more",
    next_step="write the number without quotes",
)
MEMORY = Problem(
    "SG101",
    Severity.WARNING,
    Position("app.yaml", 5, 13),
    ("spec", "executor", "memory"),
    "not a size",
    found="4 gigs",
)
DOCUMENT = Problem("SG002", Severity.ERROR, Position("other.yaml", 1, 1), (), "this is not YAML")


def at(line: int, column: int, found: str = "two", message: str = "wrong") -> Problem:
    """The first problem at another place of the source."""
    return dataclasses.replace(
        CORES, position=Position("app.yaml", line, column), found=found, message=message
    )


def test_text_shows_the_place_the_line_and_what_to_do() -> None:
    """Problems in the order of the source, each with its excerpt, and a count at the end."""
    assert (
        report([DOCUMENT, MEMORY, CORES], "text", CONTEXT)
        == """\
app.yaml:4:12: error[SG012] spec.executor.cores: expected a whole number
  4 |     cores: two  # many
    |            ^^^
  found:   two
  allowed: a whole number, 1 or more
  next:    write the number without quotes

app.yaml:5:13: warning[SG101] spec.executor.memory: not a size
  5 |     memory: "4 gigs"
    |             ^^^^^^^^
  found:   4 gigs

other.yaml:1:1: error[SG002] this is not YAML

2 errors and 1 warning in 2 files
"""
    )


@pytest.mark.parametrize("form", ["text", "github"])
def test_no_problems_no_text(form: str) -> None:
    """Nothing to say, nothing said."""
    assert report([], form, CONTEXT) == ""


def test_one_is_not_many() -> None:
    """The count is in good English."""
    assert summary([CORES]) == "1 error in 1 file"
    assert summary([MEMORY, MEMORY]) == "2 warnings in 1 file"


def test_colour_changes_no_character() -> None:
    """With the colours taken out the text is the same."""
    plain = report([CORES, MEMORY], "text", CONTEXT)
    coloured = report([CORES, MEMORY], "text", dataclasses.replace(CONTEXT, colour=True))
    assert "\x1b[1;31merror[SG012]\x1b[0m" in coloured
    assert "\x1b[1;33mwarning[SG101]\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def excerpt(problem: Problem) -> tuple[str, str]:
    """The text above the mark to the end of the line, and the mark; for lines without wide characters."""
    shown, marks = report([problem], "text", CONTEXT).split("\n")[1:3]
    return shown[marks.index("^") :], marks[marks.index("^") :]


def test_wide_characters_and_tabs_do_not_move_the_mark() -> None:
    """A wide character takes two columns; a tab is shown as it is written."""
    shown, marks = report([at(6, 10, found="値")], "text", CONTEXT).split("\n")[1:3]
    assert shown == "  6 |     配置: [値, x]"
    assert marks == "    |            ^^"
    assert excerpt(at(7, 2, found="")) == ("cores: 1", "^")
    assert "\\tcores: 1" in report([at(7, 2)], "text", CONTEXT)


def test_a_long_line_is_shown_around_the_place() -> None:
    """The window holds the place, and says where it was cut."""
    shown, marks = excerpt(at(9, 162, found="HERE"))
    assert shown.startswith("HERE bbb")
    assert marks == "^^^^"
    first = report([at(9, 162)], "text", CONTEXT).split("\n")[1]
    assert first.startswith("  9 | ... aaa")
    assert first.endswith("b ...")
    assert len(first) < 120


@pytest.mark.parametrize("letter", ["a", "値", "\x1b"])
def test_of_a_long_line_only_a_part_is_measured(letter: str) -> None:
    """A document may be one line of a megabyte with thousands of problems."""
    measured: list[int] = []
    real = text_report._columns

    def columns(text: str) -> int:
        measured.append(len(text))
        return real(text)

    line = letter * 5_000 + " HERE " + letter * 5_000
    problem = dataclasses.replace(CORES, position=Position("app.yaml", 1, 5_002), found="HERE")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_report, "_columns", columns)
        shown = report([problem], "text", Context(lines=lambda *_: line, version="1.0.0"))
    assert " ... " in shown
    assert "HERE" in shown.splitlines()[1]
    assert shown.splitlines()[2].count("^") == 4
    assert sum(measured) < 20_000


def test_a_place_without_source_has_no_excerpt() -> None:
    """Options, lines beyond the end and blank lines are only named."""
    for position in (Position("--set", 1, 6), Position("app.yaml", 99, 1), Position("gone.yaml", 1, 1)):
        text = report([dataclasses.replace(CORES, position=position)], "text", CONTEXT)
        assert "|" not in text
        assert text.startswith(f"{position}: error[SG012] ")


def test_lines_with_secrets_are_never_shown() -> None:
    """Neither for the rule about secrets nor for another problem on the same line."""
    secret = at(8, 15, found="***", message="a secret in plain text")
    secret = dataclasses.replace(secret, code="SG117")
    text = report([secret, at(8, 5, found="")], "text", CONTEXT)
    assert "hunter2" not in text
    assert "app.yaml:8:15: error[SG117]" in text


def test_a_terminal_obeys_no_document() -> None:
    """Escape sequences and line breaks from an input are shown, not sent."""
    problem = at(10, 10, found="\x1b[31mred\nnext", message="odd\x07")
    text = report([dataclasses.replace(problem, path=("a\x1b", 0))], "text", CONTEXT)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\\x1b[31mred\\nnext" in text


def test_json_has_stable_fields() -> None:
    """What a script may rely on; an empty array without problems."""
    assert json.loads(report([CORES], "json", CONTEXT)) == [
        {
            "code": "SG012",
            "severity": "error",
            "file": "app.yaml",
            "line": 4,
            "column": 12,
            "path": "spec.executor.cores",
            "message": "expected a whole number",
            "found": "two",
            "allowed": "a whole number, 1 or more",
            "nextStep": "write the number without quotes",
        }
    ]
    assert report([], "json", CONTEXT) == "[]\n"


def test_github_commands_are_escaped() -> None:
    """Commas and colons in properties, percent signs everywhere; a value makes no line of its own."""
    odd = dataclasses.replace(
        CORES,
        position=Position("a,b:c.yaml", 4, 12),
        message="100% wrong\nreally",
        path=("spec", "a:b"),
        allowed="",
    )
    assert report([odd, MEMORY], "github", CONTEXT).split("\n") == [
        '::error file=a%2Cb%3Ac.yaml,line=4,col=12,title=SG012 spec["a%3Ab"]'
        "::100%25 wrong\\nreally%0Afound: two%0Anext: write the number without quotes",
        "::warning file=app.yaml,line=5,col=13,title=SG101 spec.executor.memory::not a size%0Afound: 4 gigs",
        "",
    ]


def test_github_names_no_file_where_there_is_none() -> None:
    """Standard input and options are no files of a repository."""
    stdin = dataclasses.replace(MEMORY, position=Position("<stdin>", 5, 13), path=())
    assert report([stdin], "github", CONTEXT) == "::warning title=SG101::not a size%0Afound: 4 gigs\n"


def test_sarif_is_a_log_of_version_2_1_0() -> None:
    """The shape that the SARIF schema requires.

    Tool, rules with help, results that point to rules and regions.
    """
    rules = {"SG012": Rule("SG012", "A value of the wrong type", "# SG012\n\nLong text.\n")}
    log = json.loads(report([CORES, MEMORY], "sarif", dataclasses.replace(CONTEXT, rules=rules)))
    assert (log["version"], set(log)) == ("2.1.0", {"$schema", "version", "runs"})
    [run] = log["runs"]
    assert set(run) == {"tool", "columnKind", "results"}
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("sparkgen", "1.0.0")
    assert driver["rules"] == [
        {
            "id": "SG012",
            "shortDescription": {"text": "A value of the wrong type"},
            "defaultConfiguration": {"level": "error"},
            "help": {"text": "# SG012\n\nLong text.\n", "markdown": "# SG012\n\nLong text.\n"},
        },
        {
            "id": "SG101",
            "shortDescription": {"text": "SG101"},
            "defaultConfiguration": {"level": "warning"},
        },
    ]
    assert run["results"][0] == {
        "ruleId": "SG012",
        "ruleIndex": 0,
        "level": "error",
        "message": {
            "text": "spec.executor.cores: expected a whole number\nFound: two\n"
            "Allowed: a whole number, 1 or more\nNext: write the number without quotes"
        },
        "locations": [
            {
                "logicalLocations": [{"fullyQualifiedName": "spec.executor.cores", "kind": "member"}],
                "physicalLocation": {
                    "artifactLocation": {"uri": "app.yaml", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 4, "startColumn": 12},
                },
            }
        ],
    }
    assert [result["ruleIndex"] for result in run["results"]] == [0, 1]


@pytest.mark.parametrize(
    ("file", "artifact"),
    [
        ("./my apps/é.yaml", {"uri": "my%20apps/%C3%A9.yaml", "uriBaseId": "%SRCROOT%"}),
        ("/data/a.yaml", {"uri": "file:///data/a.yaml"}),
        ("a:b#c.yaml", {"uri": "a%3Ab%23c.yaml", "uriBaseId": "%SRCROOT%"}),
        ("<stdin>", None),
        ("--set", None),
    ],
)
def test_sarif_names_files_as_uris(file: str, artifact: dict[str, str] | None) -> None:
    """Relative to the source root, percent-encoded; nothing for what is no file."""
    problem = dataclasses.replace(CORES, position=Position(file, 1, 1))
    [location] = json.loads(report([problem], "sarif", CONTEXT))["runs"][0]["results"][0]["locations"]
    physical = location.get("physicalLocation")
    assert (physical and physical["artifactLocation"]) == artifact


problems = st.builds(
    Problem,
    st.sampled_from(["SG002", "SG012", "SG117"]),
    st.sampled_from(Severity),
    st.builds(
        Position,
        st.sampled_from(["app.yaml", "<stdin>", "--set", "a\udcffb"]),
        st.integers(1, 12),
        st.integers(1, 200),
    ),
    st.tuples() | st.tuples(st.text(max_size=3), st.integers(0, 3)),
    st.text(max_size=20),
    st.text(max_size=20),
    st.text(max_size=20),
    st.text(max_size=20),
)


@given(st.lists(problems, max_size=5), st.sampled_from(FORMATS), st.randoms())
def test_every_format_takes_every_problem(found: list[Problem], form: str, random: object) -> None:
    """Law.

    No problem breaks a report, its order does not depend on the input's, and it is text that can be written.
    """
    text = report(found, form, CONTEXT)
    assert report(sorted(found, key=lambda _: random.random()), form, CONTEXT) == text  # type: ignore[attr-defined]
    assert text == "" or text.endswith("\n")
    if form == "text":
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    if form in ("json", "sarif"):
        json.loads(text)


def test_a_long_key_is_not_in_each_report_of_a_problem() -> None:
    """One key of 100,000 characters in 1,500 problems would be 150 MB."""
    long = ("a" * 100_000, "b" * 317, 3, *("c" * 300 for _ in range(50)), "last")
    text = path_text(long)
    assert len(text) < 1_010
    assert text.endswith(".last")
    assert text.startswith('["aaa')
    assert path_text(("spec", "b" * 317)) == f"spec.{'b' * 317}"


@pytest.mark.parametrize("form", FORMATS)
def test_a_long_value_does_not_fill_a_report(form: str) -> None:
    """A document's aliases may repeat it in thousands of places."""
    long = "x" * 100_000
    problem = dataclasses.replace(CORES, found=long, message=long, allowed=long, next_step=long)
    said = report([problem], form, CONTEXT)
    assert "xxx..." in said
    assert len(said) < 6_000
