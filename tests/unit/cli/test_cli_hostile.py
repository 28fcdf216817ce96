"""Documents, clusters, logs and command lines of an attacker: what a command shows of them stays text.

The law: whatever stands in a value, no byte of it moves a cursor, none makes a line of its own, and no line
is an order for a CI runner.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLine, text_line

from .conftest import DOCUMENT, Cli, Result, child_environment
from .kube import Kube
from .test_cli_diff import commit, git

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b1A\u202e\u2028\x7f"
FORGED = "no: it is the same one\n::error title=x::y\n##[add-mask]z\n  starts a new run: no\r\x1b[1A"
VALUE = f"{ESCAPES}{FORGED}"


def yaml_text(text: str) -> str:
    """A value in double quotes, all of it in escapes, as a document may hold it."""
    return json.dumps(text)


def hostile(cli: Cli) -> Cli:
    """app.yaml with such values where any text may stand."""
    Path("app.yaml").write_text(
        f"{DOCUMENT}  arguments: [{yaml_text(VALUE)}]\n"
        f"  sparkConf:\n    spark.app.name: {yaml_text(VALUE)}\n"
        f"  driver:\n    env:\n      - name: TEXT\n        value: {yaml_text(VALUE)}\n"
        f"    annotations:\n      {yaml_text('example.com/a')}: {yaml_text(VALUE)}\n"
    )
    return cli


def assert_harmless(shown: str, *, colours: bool = False) -> None:
    """The law, for one stream."""
    if colours:
        shown = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    odd = {char for char in shown if not char.isprintable()} - {"\n", "\t"}
    assert not odd
    orders = [line for line in shown.splitlines() if re.match(r"\s*::", line) or re.search(r"##\w*\[", line)]
    assert not orders


@pytest.fixture
def hostile_cli(cli: Cli) -> Cli:
    """The command line beside that document."""
    return hostile(cli)


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "app.yaml"),
        ("validate", "app.yaml", "--color", "always"),
        ("validate", "app.yaml", "--set-string", f"spec.type={VALUE}"),
        ("validate", "app.yaml", "--set-string", f"spec.{ESCAPES}=x"),
        ("lint", "app.yaml", "--show", "info"),
        ("lint", "app.yaml", "--rule", f"{VALUE}=off"),
        ("lint", "app.yaml", "--profile", VALUE),
        ("diff", "--rendered", "deploy", "app.yaml"),
        ("diff", "--rendered", "deploy", "app.yaml", "--color", "always"),
        ("diff", "--rendered", "deploy", "app.yaml", "-o", "markdown"),
        ("diff", "--rendered", VALUE, "app.yaml"),
        ("render", "app.yaml", "-o", "deploy", "--check"),
        ("render", "app.yaml", "-n", VALUE),
        ("render", f"{ESCAPES}\n::error::x.yaml"),
        ("render", "app.yaml", f"--{VALUE}"),
        ("render", "app.yaml", "--format", VALUE),
        ("explain", VALUE),
        ("rule", VALUE),
        ("init", "--name", VALUE),
        ("status", "--kubeconfig", VALUE),
        (VALUE,),
        (f"{VALUE}.yaml",),
    ],
    ids=lambda words: " ".join(words)[:40].encode("ascii", "backslashreplace").decode(),
)
def test_values_stay_values(cli: Cli, arguments: tuple[str, ...]) -> None:
    """In reports, diffs, notes, refusals and usage errors."""
    assert cli("render", "app.yaml", "-o", "deploy").code == 0
    hostile(cli)
    result = cli(*arguments)
    assert result.out + result.err
    for shown in (result.out, result.err):
        assert_harmless(shown, colours="always" in arguments)


def test_a_diff_s_words_are_ours(cli: Cli) -> None:
    """No value says whether a new run starts, and no key makes a row of its own."""
    assert cli("render", "app.yaml", "-o", "deploy").code == 0
    git("init", "--quiet")
    commit()
    hostile(cli)
    shown = cli("diff", "--from", "HEAD", "app.yaml").out
    assert [line for line in shown.splitlines() if "starts a new run:" in line and line[:3] == "  s"] == [
        next(line for line in shown.splitlines() if line.startswith("  starts a new run: yes"))
    ]
    words = shown.partition("\n\n")[0]
    assert len([line for line in words.splitlines() if line.startswith("    ")]) == words.count(
        "[new run]"
    ) + (len(re.findall(r"^    [-+~*=] ", words, re.MULTILINE)))


def test_machine_readable_forms_have_escapes(hostile_cli: Cli) -> None:
    """The values are whole, and their text is printable."""
    shown = hostile_cli("render", "app.yaml").out
    assert_no_controls(shown)
    job = next(item for item in yaml.safe_load_all(shown) if item["kind"] == "Job")
    [spark] = job["spec"]["template"]["spec"]["containers"][:1]
    assert VALUE in spark["args"]
    git("init", "--quiet")
    commit()
    for form in ("json", "sarif", "github"):
        assert_no_controls(hostile_cli("lint", "app.yaml", "--show", "info", "--format", form).out)
    Path("app.yaml").write_text(DOCUMENT)
    shown = hostile_cli("diff", "--from", "HEAD", "app.yaml", "-o", "json").out
    assert_no_controls(shown)
    json.loads(shown)


def assert_no_controls(shown: str) -> None:
    """Line feeds only, beside what is printable."""
    assert shown
    assert shown.replace("\n", "").isprintable()


def test_github_annotations_are_one_command_each(cli: Cli) -> None:
    """A value is in none of their names and begins none."""
    Path("app.yaml").write_text(DOCUMENT.replace("type: Python", f"type: {yaml_text(VALUE)}"))
    shown = cli("validate", "app.yaml", "--format", "github").out
    assert shown.splitlines()
    assert all(
        line.startswith(("::error file=app.yaml,", "::warning file=app.yaml,")) for line in shown.splitlines()
    )
    assert "%0A::error" not in shown
    assert_no_controls(shown)


def test_a_comment_calls_nobody_and_links_nowhere(cli: Cli) -> None:
    """Mentions, links, images, references, HTML and tables, in the Markdown of a diff."""
    tricks = "@octocat https://evil.example www.evil.example ![x](https://e.example/i.png) <img src=x> #1 | "
    tricks += "`b` &lt;"
    git("init", "--quiet")
    commit()
    name = "example.com/a"
    Path("app.yaml").write_text(
        f"{DOCUMENT}  sparkConf:\n    {yaml_text(f'spark.x{tricks}')}: {yaml_text(tricks)}\n"
        f"  driver:\n    annotations:\n      {name}: {yaml_text(tricks)}\n"
    )
    shown = cli("diff", "--from", "HEAD", "app.yaml", "-o", "markdown").out
    assert_harmless(shown)
    prose = re.sub(r"(?s)(`{3,})diff.*?\n\1", "", shown)
    prose = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", prose)
    for bare in ("@octocat", "https://", "www.evil", "![", "<img", " #1", "&lt;"):
        assert bare not in prose, bare


def test_an_imported_document_s_values(cli: Cli) -> None:
    """In the report, in its JSON, and in the comments of the document."""
    Path("spark.yaml").write_text(
        "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\n"
        f"metadata: {{name: pi, labels: {{a: {yaml_text(VALUE)}}}}}\n"
        "spec:\n  type: Python\n  mode: cluster\n  sparkVersion: '3.5.8'\n  image: x:1\n"
        f"  mainApplicationFile: local:///a.py\n  unknownField: {yaml_text(VALUE)}\n"
        f"  {yaml_text(f'odd{VALUE}')}: 1\n  restartPolicy: {{type: {yaml_text(VALUE)}}}\n"
    )
    for form in ("text", "full"):
        result = cli("import", "spark.yaml", "--report", form)
        assert_harmless(result.err)
        assert_no_controls(result.out)
    assert_no_controls(cli("import", "spark.yaml", "--report", "json").err)


# --- clusters and logs ------------------------------------------------------------------------------------


@pytest.fixture
def kube(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kube]:
    """An API server with a run of pi."""
    made = Kube()
    monkeypatch.setenv("KUBECONFIG", made.kubeconfig(tmp_path))
    assert cli("apply", "app.yaml", "-q").code == 0
    yield made
    made.shutdown()
    made.server_close()


def failed(kube: Kube) -> None:
    """Have the run fail, with hostile words of whoever runs it."""
    [name] = kube.named("Job")
    job: Any = kube.one("Job", name)
    condition = {"type": "Failed", "status": "True", "reason": VALUE, "message": VALUE}
    job["status"] = {"startTime": "2026-11-22T00:30:00Z", "conditions": [condition]}
    job["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": f"{VALUE}:x"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("status", "-o", "wide"),
        ("history", "pi"),
        ("wait", "pi"),
        ("kill", "pi", "--yes"),
        ("delete", "pi", "--yes"),
        ("logs", "pi"),
        ("apply", "app.yaml", "-n", "analytics"),
    ],
    ids=lambda words: words[0],
)
def test_what_a_cluster_says_stays_text(cli: Cli, kube: Kube, arguments: tuple[str, ...]) -> None:
    """Conditions and marks of other tools in tables, notes and refusals."""
    failed(kube)
    result = cli(*arguments)
    assert result.out + result.err
    for shown in (result.out, result.err):
        assert_harmless(shown)
    if arguments == ("status",):
        assert len(result.out.splitlines()) == 2


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_status_for_programs(cli: Cli, kube: Kube, form: str) -> None:
    """Whole values, in escapes."""
    failed(kube)
    shown = cli("status", "-o", form).out
    assert_no_controls(shown)
    assert yaml.safe_load(shown)["runs"][0]["application"] == "pi"


def test_a_refusal_of_the_server(cli: Cli, kube: Kube) -> None:
    """An admission webhook says what it likes: its further lines are moved to the right."""
    kube.refuse["PATCH", "/"] = (403, VALUE)
    result: Result = cli("apply", "app.yaml", "--skip-preflight")
    assert result.code == 2
    assert_harmless(result.err)
    assert all(line.startswith("  ") for line in result.err.splitlines()[1:])


def on_a_terminal(code: str) -> str:
    """What a terminal gets of a little program."""
    reader, writer = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=writer, stderr=writer, env=child_environment(TERM="xterm")
    )
    os.close(writer)
    shown = b""
    while True:
        try:
            piece = os.read(reader, 65536)
        except OSError:  # Linux: the other end is gone
            break
        if not piece:
            break
        shown += piece
    child.wait(timeout=20)
    os.close(reader)
    return shown.decode(errors="surrogateescape").replace("\r\n", "\n")


def test_logs_for_a_terminal_and_for_a_file() -> None:
    """To a person with their colours alone; to a file byte by byte, whatever they are."""
    line = b"\x1b[31mred\x1b[0m \x1b[2J\x1b]0;owned\x07 \x9b1A \xff\rforged\n"
    code = f"""
from sparkgen.cli import logs
from sparkgen.cli.output import log
for line in logs.lines(iter([{line!r}])):
    log(line)
"""
    shown = on_a_terminal(code)
    assert shown.startswith("\x1b[31mred\x1b[0m \\x1b[2J\\x1b]0;owned\\x07 ")
    assert "\\rforged" in shown
    assert_harmless(shown, colours=True)
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert piped.stdout == line


def test_a_person_reads_the_allocator_s_sentences_and_a_program_its_facts() -> None:
    """On a terminal its lines end before their facts; a driver's lines, and what is piped, are whole."""
    line = text_line("2026-11-22T01:10:00Z", LogLine(LogEvent.TARGET, "1 wanted", facts={"wanted": {"0": 1}}))
    lines = [f"[allocator] {line}\n", f"[driver] {line}\n"]
    code = f"from sparkgen.cli import logs\nlogs._print({lines!r}, '[allocator] ')\n"
    sentence = "[allocator] 2026-11-22T01:10:00Z info    1 wanted\n"
    assert on_a_terminal(code) == sentence + lines[1]
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert piped.stdout == "".join(lines)
    wanted = code.replace("'[allocator] ')", "'[allocator] ', '[driver]')")
    assert on_a_terminal(wanted) == lines[1]


def test_a_driver_s_output_on_a_terminal() -> None:
    """`run --local`, whose driver's output is the command's."""
    line = b"\x1b[31mred\x1b[0m \x1b[2J\x9b1A\rforged\n"
    shown = on_a_terminal(f"from sparkgen.local.view import write_output\nwrite_output({line!r})")
    assert shown.startswith("\x1b[31mred\x1b[0m \\x1b[2J")
    assert_harmless(shown, colours=True)


def test_data_on_a_terminal(tmp_path: Path) -> None:
    """Manifests that somebody else's hand has put escapes into, in a diff on a screen."""
    (tmp_path / "app.yaml").write_text(DOCUMENT)
    command = f"import os; os.chdir({str(tmp_path)!r})\nfrom sparkgen.__main__ import run\n"
    on_a_terminal(f"{command}run(['render', 'app.yaml', '-o', 'deploy'])")
    for file in (tmp_path / "deploy").iterdir():
        file.write_text(f"{file.read_text()}# \x1b[2J\x1b]0;owned\x07 \x9b1A\n ::error::x\n")
    shown = on_a_terminal(f"{command}run(['render', 'app.yaml', '-o', 'deploy', '--check'])")
    assert "# \\x1b[2J" in shown
    assert_harmless(shown, colours=True)


def test_a_line_that_changes_on_a_terminal() -> None:
    """Progress is one line, whatever is named in it."""
    shown = on_a_terminal(f"from sparkgen.cli.output import _redraw\n_redraw({VALUE!r})")
    assert shown.count("\n") == 0
    assert_harmless(shown.replace("\r\x1b[K", ""))
