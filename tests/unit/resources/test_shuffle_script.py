"""shuffle.sh: what executors start with where a shuffle service of their node serves their files."""

from __future__ import annotations

import fcntl
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sparkgen import contract
from sparkgen.live.tunnel import has
from sparkgen.runtime import exits

TEMPLATES = Path(__file__).parents[3] / "sparkgen" / "templates" / "run"
SCRIPT = TEMPLATES / contract.SHUFFLE_SCRIPT_FILE


def start(
    folder: Path, port: int, body: str, host: str = "127.0.0.1", seconds: str = "0"
) -> subprocess.Popen[str]:
    """Run the script beside an executor.sh that only does `body`. `host`: the node's address."""
    (folder / contract.SHUFFLE_SCRIPT_FILE).write_text(SCRIPT.read_text())
    (folder / contract.EXECUTOR_SCRIPT_FILE).write_text(body)
    (folder / "local").mkdir()
    environment = {
        "PATH": "/usr/bin:/bin",
        contract.ENV_EXECUTOR_HOST: host,
        contract.ENV_SHUFFLE_PORT: str(port),
        contract.ENV_LOCAL_DIRS: f"{folder}/local,/nowhere",
        "SPARKGEN_SHUFFLE_TIMEOUT_SECONDS": seconds,
    }
    command = ["bash", str(folder / contract.SHUFFLE_SCRIPT_FILE)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, text=True, **pipes)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
def test_without_a_service_the_node_cannot_be_used(tmp_path: Path, host: str, shown: str) -> None:
    """A code that means this alone, and where it was looked for. Outside a pod, it makes no file for that."""
    before = exits.TERMINATION_LOG.exists()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        done = start(tmp_path, port, "echo started", host)
        output, errors = done.communicate(timeout=30)
    assert (done.returncode, output) == (contract.NO_SHUFFLE_SERVICE, "")
    assert f"sparkgen: no shuffle service answers at {shown}:{port}" in errors
    assert exits.TERMINATION_LOG.exists() == before


def test_a_time_that_is_no_number_is_refused(tmp_path: Path) -> None:
    """Arithmetic would evaluate it, and run commands in it."""
    done = start(tmp_path, 1, "echo started", seconds=f"x[$(touch {tmp_path}/evaluated)]")
    output, errors = done.communicate(timeout=30)
    assert (done.returncode, output) == (1, "")
    assert errors == "sparkgen: SPARKGEN_SHUFFLE_TIMEOUT_SECONDS must be a number of seconds\n"
    assert not (tmp_path / "evaluated").exists()


@pytest.mark.parametrize(
    ("family", "host"),
    [
        (socket.AF_INET, "127.0.0.1"),
        pytest.param(
            socket.AF_INET6,
            "::1",
            marks=pytest.mark.skipif(not has("::1"), reason="this machine has no IPv6"),
        ),
    ],
)
def test_with_a_service_the_executor_starts(tmp_path: Path, family: int, host: str) -> None:
    """What it writes is for its group, and its directory is held until it has ended."""
    with socket.create_server((host, 0), family=family) as service:
        done = start(tmp_path, service.getsockname()[1], "umask; read -r _; exec true", host)
        assert done.stdout is not None
        assert done.stdout.readline() == "0007\n"
        with (tmp_path / "local" / ".in-use").open("rb") as file:
            with pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            done.communicate("go\n", timeout=30)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert done.returncode == 0


def test_the_hostname_is_in_the_executors_script_once() -> None:
    """What is replaced for such executors (contract.HOSTNAME_OPTION) is there, and nowhere else."""
    assert (TEMPLATES / contract.EXECUTOR_SCRIPT_FILE).read_text().count(contract.HOSTNAME_OPTION) == 1


def test_shellcheck_finds_nothing() -> None:
    """It runs in people's clusters."""
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run(
        [shellcheck, "--exclude=SC1091", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
