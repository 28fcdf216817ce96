"""The program itself: usage, exit codes, and what a person sees when something unforeseen happens."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

import sparkgen
from docs.reference.commands import reference
from sparkgen import __main__, contract
from sparkgen.cli import plain_arguments, validate

from .conftest import DOCUMENT, Cli, child_environment

COMMANDS = ["init", "validate", "lint", "render", "explain", "schema", "rule", "version"]
GOLDEN = Path(__file__).parents[2] / "golden" / "cli"


def test_the_version(cli: Cli) -> None:
    """A command and an option say the same."""
    assert cli("version").out == cli("--version").out == f"sparkgen {sparkgen.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Usage: sparkgen"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["render"], "Missing argument 'PATH"),
        (["render", "app.yaml", "--frob"], "No such option"),
        (["validate", "app.yaml", "--format", "xml"], "xml"),
        (["render", "app.yaml", "-o"], "requires an argument"),
        (["init", "--type", "cobol"], "cobol"),
    ],
)
def test_wrong_usage_is_exit_code_2(cli: Cli, arguments: list[str], says: str) -> None:
    """The message is on standard error, and nothing is on standard output."""
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


@pytest.mark.parametrize(
    ("word", "instead"),
    [
        ("template", "sparkgen render"),
        ("check", "sparkgen validate"),
        ("help", "sparkgen --help"),
        ("app.yaml", "sparkgen validate app.yaml, or: sparkgen render app.yaml"),
    ],
)
def test_words_of_other_tools_are_answered(cli: Cli, word: str, instead: str) -> None:
    """A command that people know from elsewhere, and a file without a command, lead to what does it here."""
    result = cli(word)
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith(f"did you mean: {instead}\n")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_and_has_examples(cli: Cli, command: str) -> None:
    """Eighty columns, examples for every command, and no markup left over."""
    result = cli(*[word for word in (command, "--help") if word])
    assert (result.code, result.err) == (0, "")
    assert max(len(line) for line in result.out.splitlines()) <= 80
    assert "\b" not in result.out
    assert re.search(rf"^  +sparkgen {command or 'init'}", result.out, re.MULTILINE)


def test_every_example_in_the_help_is_understood(cli: Cli) -> None:
    """No example names an option that is not there."""
    for command in COMMANDS:
        lines = re.findall(
            r"^ +(?:.*\| )?sparkgen (.*)$", cli(command, "--help").out.partition("Examples:")[2], re.MULTILINE
        )
        assert lines
        for line in lines:
            words = re.split(r"  +#| [|>] ", line)[0].split()
            assert "No such option" not in cli(*words, stdin=DOCUMENT).err


def replaced(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let `validate` raise something."""

    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr(validate, "check", fail)


def test_an_internal_error_is_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 2, what to do, and no traceback; with SPARKGEN_DEBUG=1 there is one."""
    replaced(monkeypatch, ValueError("odd\nand more"))
    result = cli("validate", "app.yaml")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "sparkgen: internal error (ValueError: odd), probably not a mistake in your document. Please report "
        "it with the output of the same command under SPARKGEN_DEBUG=1\n"
    )
    monkeypatch.setenv("SPARKGEN_DEBUG", "1")
    assert "Traceback" in cli("validate", "app.yaml").err


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (RecursionError("maximum recursion depth exceeded"), 2, "internal error (RecursionError"),
        (MemoryError(), 2, "out of memory; render fewer documents at once"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(5, "Input/output error"), 2, "internal error (OSError: [Errno 5] Input/output error)"),
    ],
)
def test_the_unforeseen_has_an_exit_code(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, says: str
) -> None:
    """Whatever happens ends in a sentence."""
    replaced(monkeypatch, error)
    result = cli("validate", "app.yaml")
    assert result.code == code
    assert f"sparkgen: {says}" in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("odd")])
def test_errors_behind_typer_are_no_different(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Command lines that typer reads end in the same way."""
    replaced(monkeypatch, error)
    plain = cli("validate", "app.yaml")
    monkeypatch.setattr(plain_arguments, "parse", lambda arguments: None)
    assert cli("validate", "app.yaml") == plain


def process(*arguments: str, **options: object) -> subprocess.Popen[bytes]:
    """A real process."""
    command = [sys.executable, "-m", "sparkgen", *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, env=child_environment(), **pipes)  # type: ignore[call-overload, no-any-return]


def test_the_installed_command(tmp_path: Path) -> None:
    """The script that pip makes renders a document from a pipe."""
    (tmp_path / ".sparkgen.yaml").write_text(f"runtimeImage: {contract.RUNTIME_IMAGE}\n")
    script = Path(sys.executable).with_name("sparkgen")
    result = subprocess.run(
        [script, "render", "-"], input=DOCUMENT.encode(), capture_output=True, cwd=tmp_path, check=True
    )
    assert result.stdout.startswith(b"---\n# Generated by sparkgen")
    assert result.stderr == b""


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """`sparkgen render | head -1` ends quietly with the code of a closed pipe."""
    (tmp_path / "app.yaml").write_text(DOCUMENT)
    (tmp_path / ".sparkgen.yaml").write_text(f"runtimeImage: {contract.RUNTIME_IMAGE}\n")
    child = process("render", "app.yaml", cwd=tmp_path)
    assert child.stdout is not None
    child.stdout.close()
    assert child.wait(timeout=20) == 141
    assert child.stderr is not None
    assert child.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("arguments", [["render"], ["validate", "--format=json"]], ids=str)
def test_output_that_does_not_fit(tmp_path: Path, arguments: list[str]) -> None:
    """A full disk behind standard output is a message of one line, and no internal error."""
    document = tmp_path / "app.yaml"
    document.write_text(DOCUMENT)
    (tmp_path / ".sparkgen.yaml").write_text(f"runtimeImage: {contract.RUNTIME_IMAGE}\n")
    with Path("/dev/full").open("wb") as full:
        child = process(*arguments, str(document), stdout=full, cwd=tmp_path)
        _, said = child.communicate(timeout=20)
    assert child.returncode == 2
    assert said.startswith(b"sparkgen: cannot write to standard output: ")
    assert said.count(b"\n") == 1


EVERY_WAY_OUT = [
    ["--help"],
    ["render", "--help"],
    ["chart", "--help"],
    ["--version"],
    ["version"],
    ["--show-completion", "bash"],
    ["validate", "app.yaml"],
    ["lint", "app.yaml"],
    ["render", "app.yaml"],
    ["render", "app.yaml", "-o", "deploy", "--check"],
    ["import", "--", "spark-submit", "--name", "pi", "local:///pi.py"],
    ["init", "-"],
    ["explain"],
    ["schema"],
    ["rule"],
]


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """A function: have standard output (or error) go to a full disk, a file that is open for reading, ..."""
    opened: list[io.TextIOWrapper] = []

    def go(where: str, name: str = "stdout") -> None:
        if where == "full":
            descriptor = os.open("/dev/full", os.O_WRONLY)
        elif where == "read-only":
            descriptor = os.open(os.devnull, os.O_RDONLY)
        else:
            reader, descriptor = os.pipe()
            os.close(reader)
        stream = os.fdopen(descriptor, "w", encoding="utf-8")
        opened.append(stream)
        monkeypatch.setattr(sys, name, stream)

    yield go
    for stream in opened:
        stream.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("where", ["full", "read-only", "gone"])
@pytest.mark.parametrize("arguments", EVERY_WAY_OUT, ids=" ".join)
def test_a_standard_output_that_takes_nothing(
    cli: Cli,
    out: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    where: str,
) -> None:
    """One line and exit code 2, whichever library prints; a reader that is gone hears nothing."""
    # For which shell a completion is shown is that of the processes above: the one that runs the tests.
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    out(where)
    result = cli(*arguments)
    if where == "gone":
        assert (result.code, "sparkgen:" in result.err) == (141, False)
    else:
        assert result.code == 2
        said = [line for line in result.err.splitlines() if line.startswith("sparkgen:")]
        assert [line[: line.index(":", 10)] for line in said] == ["sparkgen: cannot write to standard output"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("where", ["full", "read-only", "gone"])
@pytest.mark.parametrize(
    "arguments", [[], ["render"], ["render", "none.yaml"], ["explain", "nothing"]], ids=str
)
def test_a_standard_error_that_takes_nothing(
    cli: Cli, out: Callable[..., None], arguments: list[str], where: str
) -> None:
    """The exit code is all that is left to say."""
    out(where, "stderr")
    result = cli(*arguments)
    assert result.out == ""
    assert result.code in (1, 2, 141)


@pytest.mark.parametrize(("closed", "code", "says"), [(1, 2, b"cannot write to"), (2, 0, b""), (0, 0, b"")])
def test_streams_that_were_closed(tmp_path: Path, closed: int, code: int, says: bytes) -> None:
    """`sparkgen ... >&-`: no internal error, and no file of ours becomes standard output."""
    (tmp_path / "app.yaml").write_text(DOCUMENT)
    command = f"{shlex.quote(sys.executable)} -m sparkgen validate app.yaml {closed}>&-"
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=child_environment(), capture_output=True, check=False
    )
    assert done.returncode == code
    assert says in done.stderr
    assert done.stderr.count(b"\n") == (1 if says else 0)


def test_help_for_a_reader_that_goes_away(tmp_path: Path) -> None:
    """`sparkgen --help | true` ends as quietly."""
    child = process("--help", cwd=tmp_path)
    assert child.stdout is not None
    child.stdout.close()
    assert child.wait(timeout=20) == 141
    assert child.stderr is not None
    assert child.stderr.read() == b""


def opened(pipe: Path, reader: subprocess.Popen[bytes]) -> BinaryIO:
    """The pipe for writing, as soon as the reader waits at its other end; one that has ended is a failure."""
    while True:
        with contextlib.suppress(OSError):  # nobody has it open
            return os.fdopen(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "wb")
        assert reader.poll() is None, reader.communicate()
        time.sleep(0.01)


def interrupt(child: subprocess.Popen[bytes]) -> bytes:
    """Press Ctrl-C until it ends; what it says. One that comes just before a read is not heard in it."""
    for _ in range(40):
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.communicate(timeout=1)[1]
    raise AssertionError(f"{child.args} does not end")


def test_ctrl_c(tmp_path: Path) -> None:
    """An interrupted run says so and exits 130."""
    os.mkfifo(tmp_path / "app.yaml")
    child = process("render", "app.yaml", cwd=tmp_path)
    with opened(tmp_path / "app.yaml", child):
        message = interrupt(child)
    assert child.returncode == 130
    assert message.strip() == b"sparkgen: interrupted"


def on_a_terminal(directory: Path, *arguments: str) -> tuple[bytes, str]:
    """Standard output, and what a terminal gets on standard error."""
    terminal, end = pty.openpty()
    environment = child_environment(TERM="xterm")
    command = [sys.executable, "-m", "sparkgen", *arguments]
    child = subprocess.Popen(command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=end)
    os.close(end)
    out = child.communicate(timeout=60)[0]
    shown = b""
    with contextlib.suppress(OSError):  # Linux reports the other end's close so
        while data := os.read(terminal, 4096):
            shown += data
    os.close(terminal)
    return out, shown.decode()


def test_long_work_shows_progress_on_a_terminal(tmp_path: Path) -> None:
    """A line that counts and is gone at the end; nothing of it in the data."""
    for number in range(80):
        (tmp_path / f"{number}.yaml").write_text(DOCUMENT.replace("name: pi", f"name: app-{number}"))
    out, shown = on_a_terminal(tmp_path, "render", ".")
    if len(os.sched_getaffinity(0)) > 1:
        assert "rendered 80 of 80 documents" in shown
        assert shown.endswith("\r\x1b[K")
    assert out.count(b"\nkind: Job\n") == 80
    assert b"rendered" not in out


def test_problems_are_coloured_on_a_terminal(tmp_path: Path, broken: str) -> None:
    """Without an option, because somebody looks."""
    (tmp_path / "app.yaml").write_text(broken)
    assert "\x1b[1;31merror[SG013]" in on_a_terminal(tmp_path, "render", "app.yaml")[1]


def test_no_locale_is_needed(tmp_path: Path) -> None:
    """Text is UTF-8 on standard output whatever the locale says."""
    text = DOCUMENT.replace("executor:", "arguments: [ä, 日本]\n  executor:")
    environment = child_environment(
        LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii"
    )
    command = [sys.executable, "-m", "sparkgen", "render", "-"]
    result = subprocess.run(
        command, input=text.encode(), capture_output=True, env=environment, cwd=tmp_path, check=True
    )
    assert "- 日本\n" in result.stdout.decode()


def test_completion_is_typers(tmp_path: Path) -> None:
    """The shell gets words for commands, and paths of fields."""

    def complete(line: str) -> str:
        environment = child_environment(
            _SPARKGEN_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(line.split()) - 1)
        )
        command = [sys.executable, "-m", "sparkgen"]
        return subprocess.run(
            command, env=environment, capture_output=True, cwd=tmp_path, check=False
        ).stdout.decode()

    assert complete("sparkgen re").split() == ["render"]
    assert "spec.executor.memory" in complete("sparkgen explain spec.executor.mem").split()
    assert "SG104" in complete("sparkgen rule SG10").split()


def test_completion_does_no_work(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the shell asks for words, no document is rendered, however plain the command line is."""
    monkeypatch.setenv("_SPARKGEN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "sparkgen render app.yaml")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert "kind: Job" not in cli("render", "app.yaml").out


def test_starting_imports_nothing_heavy() -> None:
    """A plain render needs neither typer, rich, jsonschema nor the cluster's client."""
    program = (
        "import sys; from sparkgen.__main__ import run; code = run(sys.argv[1:]); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr); sys.exit(code)"
    )

    def modules(*arguments: str) -> set[str]:
        command = [sys.executable, "-c", program, *arguments]
        result = subprocess.run(
            command, input=DOCUMENT.encode(), capture_output=True, env=child_environment(), check=True
        )
        return set(result.stderr.decode().split("\n")[-2].split())

    heavy = {
        "typer",
        "click",
        "rich",
        "pydantic",
        "jsonschema",
        "kubernetes",
        "multiprocessing",
        "difflib",
        "asyncio",
    }
    assert not modules("render", "-") & heavy
    assert not modules("validate", "-") & (heavy | {"jinja2"})
    assert not modules("explain", "spec") & {"rich", "jsonschema", "jinja2"}


def test_the_entry_point_leaves_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """`main` is what the installed script calls."""
    monkeypatch.setattr(sys, "argv", ["sparkgen", "frobnicate"])
    monkeypatch.setattr("gc.disable", lambda: None)
    with pytest.raises(SystemExit) as leaving:
        __main__.main()
    assert leaving.value.code == 2


def test_the_reference_is_up_to_date(golden: Callable[[Path, str], None]) -> None:
    """docs/reference/cli.md says what the commands say."""
    golden(Path(__file__).parents[3] / "docs" / "reference" / "cli.md", reference())


@pytest.mark.parametrize("name", ["full", "github"])
def test_reports_look_as_they_did(cli: Cli, golden: Callable[[Path, str], None], name: str) -> None:
    """Goldens of what a person sees for a document with several mistakes."""
    Path("app.yaml").write_text((GOLDEN / "mistakes.yaml").read_text())
    form = {"full": "text"}.get(name, name)
    golden(GOLDEN / f"mistakes.{name}.txt", cli("validate", "app.yaml", "--format", form).out)
    assert os.environ.get("SPARKGEN_DEBUG") is None


def test_the_programs_help_imports_no_command() -> None:
    """A command's module, with all that its work needs, is imported when the command is called."""
    program = (
        "import sys; from sparkgen.__main__ import run; run(['--help']); "
        "from sparkgen.cli.app import COMMANDS; "
        "sys.exit(str([name for name in COMMANDS if f'sparkgen.cli.{name}' in sys.modules]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=child_environment(), check=False
    )
    assert result.stderr.decode().strip() == "['version']"
