"""The janitor as a process, and its environment."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from sparkgen.runtime.exits import Refused
from sparkgen.runtime.httpserver.listening import listen
from sparkgen.runtime.httpserver.values import HttpRequest, Work, text
from sparkgen.runtime.httpserver.values import HttpResponse as Answered
from sparkgen.runtime.janitor import prepare as program
from sparkgen.runtime.janitor import settings
from sparkgen.runtime.janitor.command import printable
from sparkgen.runtime.janitor.disk import Disk
from sparkgen.runtime.janitor.endpoints import handler
from sparkgen.runtime.janitor.prepare import wait_for_the_end
from sparkgen.runtime.janitor.rounds import Janitor, JanitorPorts
from sparkgen.runtime.janitor.values import Drivers, DriversAnswer, JanitorSettings
from sparkgen.schema import store

DIRECTORIES = "SPARKGEN_JANITOR_DIRECTORIES"


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it with this environment alone."""
    line = [sys.executable, "-m", "sparkgen.runtime", "janitor", *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_preparing_a_directory(tmp_path: Path) -> None:
    """It says what it did."""
    done = command("prepare", SPARKGEN_CONTRACT="1", **{DIRECTORIES: str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{tmp_path} has group {os.getegid()} and mode 2770" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        ([], {}, "have contract version (none)"),
        ([], {"SPARKGEN_CONTRACT": "1"}, f"{DIRECTORIES} must be absolute paths"),
        (["prepare"], {"SPARKGEN_CONTRACT": "1", DIRECTORIES: "/no/such"}, "cannot prepare"),
        ([], {"SPARKGEN_CONTRACT": "1", DIRECTORIES: "/var"}, "names no API server"),
    ],
)
def test_refusals(arguments: list[str], environment: dict[str, str], message: str) -> None:
    """One line, and exit code 1."""
    done = command(*arguments, **environment)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert message.replace("names no", "name no") in done.stderr


@pytest.mark.parametrize("ends_after", [3, None], ids=["ends", "stays"])
def test_a_service_that_has_not_ended(monkeypatch: pytest.MonkeyPatch, ends_after: int | None) -> None:
    """Its successor waits for it; one that stays is told, with its database, and the kubelet tries again."""
    looks, now = 0, 100.0

    def look(_folders: object) -> Path | None:
        nonlocal looks
        looks += 1
        return None if looks == ends_after else Path("/data/registeredExecutors.rdb")

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(program, "open_database", look)
    if ends_after:
        wait_for_the_end([], 45, lambda: now, sleep)
        assert looks == ends_after
        return
    with pytest.raises(Refused, match=r"registeredExecutors\.rdb is open: a shuffle service still uses"):
        wait_for_the_end([], 45, lambda: now, sleep)
    assert 145 <= now < 146


def test_called_wrongly() -> None:
    """2, and what there is."""
    done = command("clean")
    assert (done.returncode, done.stderr) == (2, "usage: sparkgen-runtime janitor [prepare]\n")


def test_what_the_environment_says() -> None:
    """Seconds, a percentage, true or false."""
    given = {
        "SPARKGEN_JANITOR_INTERVAL_SECONDS": "10",
        "SPARKGEN_JANITOR_GRACE_SECONDS": "20",
        "SPARKGEN_JANITOR_UNKNOWN_SECONDS": "0",
        "SPARKGEN_JANITOR_PRESSURE_PERCENT": "50",
        "SPARKGEN_JANITOR_DRY_RUN": "true",
    }
    assert settings.settings(given) == JanitorSettings(10, 20, 0, 0.5, dry_run=True)
    assert settings.settings({}) == JanitorSettings()
    assert settings.port({}) == 7338
    assert settings.directories({DIRECTORIES: "/a,/b"}) == (Path("/a"), Path("/b"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("INTERVAL_SECONDS", "0"),
        ("GRACE_SECONDS", "-1"),
        ("UNKNOWN_SECONDS", "soon"),
        ("PRESSURE_PERCENT", "101"),
        ("DRY_RUN", "yes"),
    ],
)
def test_values_that_are_none(name: str, value: str) -> None:
    """The variable is named, and what it may be."""
    with pytest.raises(Refused, match=f"SPARKGEN_JANITOR_{name} must be .*, not '{value}'"):
        settings.settings({f"SPARKGEN_JANITOR_{name}": value})


@pytest.mark.parametrize("bound", ["minimum", "maximum"])
def test_what_documents_may_say(bound: str) -> None:
    """Each number that the schema takes is one that the janitor takes."""
    fields = store.resolve("#/$defs/janitor")["properties"]
    for name, field in (
        ("INTERVAL_SECONDS", "intervalSeconds"),
        ("GRACE_SECONDS", "graceSeconds"),
        ("UNKNOWN_SECONDS", "withoutAccessSeconds"),
        ("PRESSURE_PERCENT", "pressurePercent"),
    ):
        settings.settings({f"SPARKGEN_JANITOR_{name}": str(fields[field][bound])})


@pytest.mark.parametrize("value", ["http", "-1", "65536", "9" * 5000, "٣"])
def test_what_is_no_port(value: str) -> None:
    """However long it is, and whatever else may be read as digits."""
    with pytest.raises(Refused, match=r"SPARKGEN_JANITOR_PORT must be a port, not '.*'"):
        settings.port({"SPARKGEN_JANITOR_PORT": value})


def test_what_it_answers(tmp_path: Path) -> None:
    """It is ready after the first round; status and metrics are there at any time."""
    ports = JanitorPorts(
        Disk([tmp_path]), lambda _: Drivers(DriversAnswer.WHOLE), lambda: 0.0, lambda _: None
    )
    janitor = Janitor(ports, JanitorSettings())
    server = listen("127.0.0.1", 0, handler(janitor, 1e12))

    def ask(path: str) -> int:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=10) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            return error.code

    assert [ask(path) for path in ("/readyz", "/healthz", "/status", "/metrics", "/")] == [
        503,
        200,
        200,
        200,
        404,
    ]
    janitor.round()
    assert ask("/readyz") == 200
    server.close()


def test_a_janitor_that_makes_no_round_is_not_well(tmp_path: Path) -> None:
    """Neither before its first one nor after it: the kubelet starts it again. A round makes it well."""
    now = 0.0
    ports = JanitorPorts(
        Disk([tmp_path]), lambda _: Drivers(DriversAnswer.WHOLE), lambda: now, lambda _: None
    )
    janitor = Janitor(ports, JanitorSettings())
    answer = handler(janitor, 300.0)

    def health() -> Answered | Work:
        return answer(HttpRequest("GET", "/healthz"))

    for _ in range(2):
        now += 299
        assert health() == text(200, "ok\n")
        now += 1
        assert health() == text(503, "no round for 300 s\n")
        janitor.round()
        assert health() == text(200, "ok\n")


def test_a_line_of_the_log_is_one_line() -> None:
    """Names of files are anybody's."""
    assert printable("a\x1b[2J\n\udcff ü") == "a\\x1b[2J\\n\\udcff ü"
