"""The init container: the right jar in its place, or a message that says why not."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from sparkgen.codes import Code, unmarked
from sparkgen.runtime.exits import Refused, exit_code
from sparkgen.runtime.install import install

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ENVIRONMENT = {"SPARKGEN_CONTRACT": "1", "SPARKGEN_SCALA_VERSION": "2.13"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An image with two jars, and a volume with a tuning.json."""
    (tmp_path / "lib").mkdir()
    for line in ("2.12", "2.13"):
        (tmp_path / f"sparkgen-scheduler_{line}.jar").write_text(f"jar of {line}")
    (tmp_path / "tuning.json").write_text('{"version": 1, "executors": {"instances": 1}}')
    return tmp_path


def installed(folder: Path, **changes: str) -> str:
    """What install says."""
    return install(
        {**ENVIRONMENT, **changes},
        NOW,
        jars=folder,
        tuning=folder / "tuning.json",
        target=folder / "lib" / "scheduler.jar",
    )


def test_the_jar_of_the_scala_line(folder: Path) -> None:
    """Readable for any user of the driver; again is no fault."""
    assert "Scala 2.12" in installed(folder, SPARKGEN_SCALA_VERSION="2.12")
    assert "Scala 2.13" in installed(folder)
    jar = folder / "lib" / "scheduler.jar"
    assert (jar.read_text(), jar.stat().st_mode & 0o777) == ("jar of 2.13", 0o644)


def test_a_run_that_has_expired(folder: Path) -> None:
    """A cluster that is rebuilt from Git does not run history again; at the moment itself it is over."""
    for moment, refused in (("2026-06-01T00:00:00Z", True), ("2026-06-01T00:00:01Z", False)):
        (folder / "tuning.json").write_text(f'{{"version": 1, "run": {{"expiresAt": "{moment}"}}}}')
        if refused:
            with pytest.raises(Refused, match=r"this run expired at 2026-06-01T00:00:00Z, .*") as caught:
                installed(folder)
            assert caught.value.code is Code.RUN_EXPIRED
            assert caught.value.next_step.startswith("change spec.run.expiresAt")
            assert not (folder / "lib" / "scheduler.jar").exists()
        else:
            installed(folder)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"SPARKGEN_CONTRACT": "2"}, "have contract version 2, but this runtime image has version 1"),
        ({"SPARKGEN_CONTRACT": ""}, r"version \(none\)"),
        ({"SPARKGEN_SCALA_VERSION": "2.11"}, "no scheduler jar for Scala 2.11, only for: 2.12, 2.13"),
    ],
)
def test_what_is_refused(folder: Path, changes: dict[str, str], expected: str) -> None:
    """The message names what is there and what was asked for."""
    with pytest.raises(Refused, match=expected):
        installed(folder, **changes)


def test_a_tuning_that_cannot_be_used(folder: Path) -> None:
    """Whether the run has expired cannot be known then."""
    (folder / "tuning.json").unlink()
    with pytest.raises(Refused, match=r"tuning.json is invalid: it cannot be read"):
        installed(folder)


def test_how_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the log in words, in the termination message with a code; a fault of ours has no traceback."""
    log = tmp_path / "log"
    assert exit_code(lambda: install({}, NOW), log) == 1
    assert not log.exists()  # where no kubelet has made one
    log.touch()
    capsys.readouterr()

    def refuse() -> int:
        raise Refused("no\nnever", "ask", Code.RUN_EXPIRED)

    def fail() -> int:
        raise KeyError("x")

    assert exit_code(lambda: 0, log) == 0
    assert exit_code(refuse, log) == 1
    assert log.read_text() == "[RunExpired] no never\nask\n"
    assert exit_code(fail, log) == 1
    assert unmarked(log.read_text())[0] == Code.INTERNAL_ERROR
    assert capsys.readouterr().err == (
        "error: no never\nask\nerror: internal error in sparkgen: KeyError: 'x'; please report it\n"
    )
