"""`sparkgen validate`: every problem at once, in the form that the reader needs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from .conftest import DOCUMENT, Cli

WARNED = DOCUMENT + "  timeToLiveSeconds: 600\n"


def test_valid_documents_are_counted(cli: Cli) -> None:
    """On standard output, unless --quiet."""
    result = cli("validate", "app.yaml")
    assert (result.code, result.out, result.err) == (0, "1 document valid\n", "")
    Path("b.yaml").write_text(DOCUMENT.replace("name: pi", "name: b"))
    assert cli("validate", ".").out == "2 documents valid\n"
    assert cli("validate", ".", "--quiet").out == ""


def test_all_problems_with_their_lines(cli: Cli, broken: str) -> None:
    """Problems of form in the order of the text, on standard output, and exit 1."""
    result = cli("validate", "-", stdin=broken)
    assert (result.code, result.err) == (1, "")
    assert result.out.startswith("<stdin>:6:9: error[SG013] spec.type: ")
    assert "\n  6 |   type: python\n    |         ^^^^^^\n" in result.out
    assert "\n<stdin>:11:5: error[SG010] spec.executor.instanzes: " in result.out
    assert result.out.endswith("\n2 errors in 1 file\n")


def test_warnings_are_findings_only_when_strict(cli: Cli) -> None:
    """--strict is for CI that wants no warnings; --quiet hides what does not count."""
    result = cli("validate", "-", stdin=WARNED)
    assert result.code == 0
    assert ": warning[SG1" in result.out
    assert result.out.endswith("1 warning in 1 file\n1 document valid\n")
    assert cli("validate", "-", "--quiet", stdin=WARNED).out == ""
    strict = cli("validate", "-", "--strict", "--quiet", stdin=WARNED)
    assert strict.code == 1
    assert ": warning[SG1" in strict.out


def test_an_ignored_warning_is_not_shown(cli: Cli) -> None:
    """A comment with a reason at the end of the line."""
    code = cli("validate", "-", "--format", "json", stdin=WARNED)
    [problem] = json.loads(code.out)
    reasoned = WARNED.rstrip() + f" # sparkgen: ignore {problem['code']} -- cleaned up by hand\n"
    assert cli("validate", "-", "--strict", stdin=reasoned).out == "1 document valid\n"


def test_an_ignore_that_is_of_no_use_is_a_warning(cli: Cli) -> None:
    """It would hide the next warning."""
    text = DOCUMENT.replace("type: Python", "type: Python # sparkgen: ignore SG117 -- no secret here")
    assert "warning[SG018]" in cli("validate", "-", stdin=text).out


def test_a_problem_in_an_overlay_is_shown_once(cli: Cli) -> None:
    """However many documents it is laid on."""
    Path("b.yaml").write_text(DOCUMENT.replace("name: pi", "name: b"))
    Path("over").mkdir()
    Path("over/prod.yaml").write_text("spec:\n  executor:\n    memroy: 4g\n")
    result = cli("validate", "app.yaml", "b.yaml", "-f", "over/prod.yaml")
    assert result.out.count("over/prod.yaml:3:5: error[SG010]") == 1
    assert "  3 |     memroy: 4g\n" in result.out


def test_a_wrong_set_has_a_place(cli: Cli) -> None:
    """The position is the option's, and there is no line to show."""
    result = cli("validate", "app.yaml", "--set", "spec.executor.cores=0")
    assert result.code == 1
    assert result.out.startswith("--set:1:")
    assert " | " not in result.out


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_machines_get_a_report_even_if_there_is_nothing(cli: Cli, form: str, broken: str) -> None:
    """A script reads JSON in any case, and no other line is among it."""
    json.loads(cli("validate", "app.yaml", "--format", form).out)
    result = cli("validate", "-", "--format", form, stdin=broken)
    assert result.code == 1
    json.loads(result.out)


def test_sarif_carries_the_pages_of_its_rules(cli: Cli, broken: str) -> None:
    """Code scanning shows the same help as `sparkgen rule`."""
    log = json.loads(cli("validate", "-", "--format", "sarif", stdin=broken).out)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["SG010", "SG013"]
    assert rules[0]["help"]["markdown"] == cli("rule", "SG010").out


def test_github_annotations(cli: Cli, broken: str) -> None:
    """One command per problem and nothing else."""
    Path("bad.yaml").write_text(broken)
    result = cli("validate", "bad.yaml", "--format", "github")
    assert [line[:39] for line in result.out.splitlines()] == [
        "::error file=bad.yaml,line=6,col=9,titl",
        "::error file=bad.yaml,line=11,col=5,tit",
    ]


def test_colour_is_a_choice(cli: Cli, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never in a pipe by itself; --color beats the environment, NO_COLOR beats FORCE_COLOR."""
    escape = "\x1b["
    assert escape not in cli("validate", "-", stdin=broken).out
    assert escape in cli("validate", "-", "--color", "always", stdin=broken).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert escape in cli("validate", "-", stdin=broken).out
    assert escape not in cli("validate", "-", "--color=never", stdin=broken).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert escape not in cli("validate", "-", stdin=broken).out


SECRET = DOCUMENT + '  sparkConf:\n    spark.example.password: "hunter2"\n'


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_no_report_shows_a_secret(cli: Cli, form: str) -> None:
    """Reports end in logs that many may read."""
    result = cli("validate", "-", "--format", form, stdin=SECRET)
    assert "SG117" in result.out
    assert "hunter2" not in result.out + result.err


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "SG006"),
        (b"\x00\x01\xff", "SG002"),
        (b"- a\n- b\n", "SG006"),
        (b"a: [", "SG002"),
        (b"[" * 20_000, "SG005"),
        (
            b"a: &a [x, x]\nb: &b [*a, *a]\n"
            + b"".join(b"%c: &%c [*%c, *%c]\n" % (c, c, c - 1, c - 1) for c in range(99, 123)),
            "SG005",
        ),
        (b"x" * 50_000_000, "SG005"),
    ],
    ids=["empty", "binary", "list", "open", "nested", "aliases", "large"],
)
def test_no_input_ends_in_a_traceback(cli: Cli, data: bytes, code: str) -> None:
    """Each is a problem with a code and a place, and exit 1; of a render nothing comes out."""
    result = cli("validate", "-", stdin=data)
    assert result.code == 1
    assert result.out.startswith("<stdin>:")
    assert f"error[{code}]" in result.out
    rendered = cli("render", "-", "-o", "out", stdin=data)
    assert (rendered.code, rendered.out) == (1, "")
    assert not Path("out").exists()


def test_a_missing_file(cli: Cli) -> None:
    """Exit 1 with the nearest name."""
    result = cli("validate", "app.yml")
    assert result.code == 1
    assert "app.yml:1:1: error[SG001] " in result.out
    assert "app.yaml" in result.out


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("metadata.labels.release=7", "metadata.labels.release=7"),
        ("spec.arguments[0]=7", "'spec.arguments[0]=7'"),
        (r"spec.sparkConf.spark\.sql\.x=true", r"'spec.sparkConf.spark\.sql\.x=true'"),
        ("spec.sparkConf.spark.sql.x=7", r"'spec.sparkConf.spark\.sql\.x=7'"),
        (r"spec.sparkConf.spark.x=a\,b\\", r"'spec.sparkConf.spark\.x=a\,b\\'"),
    ],
)
def test_what_to_write_for_a_wrong_set_is_an_option_that_works(cli: Cli, wrong: str, right: str) -> None:
    """Where quotes of YAML would not help, the next step is the option as a shell reads it."""
    said = cli("validate", "app.yaml", "--set", wrong).out
    step = re.search(r"`--set-string (.*)`$", said, re.MULTILINE)
    assert step is not None
    assert step[1] == right
    assert cli("validate", "app.yaml", "--set-string", *shlex.split(step[1])).code == 0


@pytest.mark.parametrize("name", ["{{ .Values.name }}", '"{{ .Values.name }}"', "my-{{ name }}", "${NAME}"])
def test_a_template_is_one_problem(cli: Cli, name: str) -> None:
    """Whatever it stands for, no name is made up of it."""
    said = cli("validate", "-", stdin=DOCUMENT.replace("name: pi", f"name: {name}")).out
    assert "1 error in 1 file" in said
    assert "does not expand templates" in said


def test_documents_without_a_line_between_them(cli: Cli) -> None:
    """Two documents that were put behind each other want `---`."""
    said = cli("validate", "-", stdin=DOCUMENT + DOCUMENT).out
    assert "put `---` above line 12 if another document starts there" in said
