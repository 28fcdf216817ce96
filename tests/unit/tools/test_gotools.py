"""The pinned Go tools: what names an entry of the cache, and what a build is asked to do."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from common.cachedir import ToolError
from gotools import gotools
from gotools.golang import Go
from gotools.gotools import TOOLS, Module, Tool, entry, find_tool, flags, read_module

TOOL = Tool(name="tool", module="example.org/tool", below="cmd", variables=("main.v={version}",))
MODULE = Module(
    Path("tools/go/tool"),
    "module x\n\ngo 1.26.0\n\ntool example.org/tool/cmd\n\nrequire example.org/tool v1.2.3 // indirect\n",
    "example.org/tool v1.2.3 h1:abc=\n",
)
GO = Go("1.26.8")
WRITE_OUTPUT = 'while [ "$1" != -o ]; do shift; done; mkdir -p "${2%/*}"; echo built > "$2"'
"""Shell text: write the file that `go build ... -o FILE ...` asks for."""


def test_an_entry_is_named_by_version_and_key() -> None:
    """The folder's name starts with the version that go.mod requires, and is the same every time."""
    assert entry(TOOL, MODULE, GO).startswith("v1.2.3-")
    assert entry(TOOL, MODULE, GO) == entry(TOOL, MODULE, Go("1.26.8", Path("/elsewhere/go")))


@pytest.mark.parametrize(
    ("tool", "module", "go"),
    [
        (TOOL, replace(MODULE, text=MODULE.text + "// one more byte\n"), GO),
        (TOOL, replace(MODULE, sums=MODULE.sums.replace("abc", "abd")), GO),
        (replace(TOOL, variables=()), MODULE, GO),
        (replace(TOOL, below="other"), MODULE, GO),
        (TOOL, MODULE, Go("1.26.9")),
    ],
    ids=["go.mod", "go.sum", "flags", "package", "go version"],
)
def test_every_input_of_a_build_is_in_the_key(tool: Tool, module: Module, go: Go) -> None:
    """Whatever changes what is built gives another entry of the cache."""
    assert entry(tool, module, go) != entry(TOOL, MODULE, GO)


def test_the_flags_make_a_repeatable_small_build() -> None:
    """No paths, no changes to go.mod, no debug information, and the version linked in."""
    expected = ("-trimpath", "-mod=readonly", "-buildvcs=false", "-ldflags", "-s -w -X main.v=v1.2.3")
    assert flags(TOOL, MODULE) == expected


def test_tags_are_what_a_build_is_asked_for() -> None:
    """Between the other flags; a tool without any is built as it was, and found in the cache."""
    tagged = replace(TOOL, tags=("small", "fast"))
    assert flags(tagged, MODULE)[3:5] == ("-tags", "small,fast")
    assert entry(tagged, MODULE, GO) != entry(TOOL, MODULE, GO)


def test_helm_3_takes_its_kubernetes_version_from_its_client_go() -> None:
    """Helm 3 would otherwise take every cluster for Kubernetes 1.20, and refuse charts for newer ones."""
    tool = find_tool("helm3")
    module = read_module(tool)
    minor = module.version_of("k8s.io/client-go").split(".")[1]
    assert int(minor) > 30
    assert f"chartutil.k8sVersionMinor={minor} " in flags(tool, module)[-1]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_has_its_pins(tool: Tool) -> None:
    """Each tool's go.mod names it as a tool, requires a release of it, and go.sum holds that release."""
    module = read_module(tool)
    version = module.version_of(tool.module)
    assert f"tool {tool.package}\n" in module.text
    assert f"{tool.module} {version} h1:" in module.sums
    assert "-0." not in version, "a pin is a release, not a commit"


def test_a_pin_that_is_missing_is_told() -> None:
    """A module that go.mod does not require is named, with the command that adds it."""
    with pytest.raises(ToolError, match=r"requires no example\.org/other: run `go get -tool"):
        MODULE.version_of("example.org/other")


def test_an_unknown_tool_is_told_with_those_that_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """The command line ends with 1 and lists the names; nothing is on standard output."""
    assert gotools.main(["build", "helmm"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert "no tool 'helmm'; there are: helm, helm3, kubeconform, " in output.err


def test_only_what_the_tests_need_is_built_unasked() -> None:
    """`build` alone builds the tested tools, `build all` every one, `build NAME` that one."""
    assert gotools._names([]) == ["helm", "helm3", "kubeconform"]
    assert gotools._names(["all"]) == [tool.name for tool in TOOLS]
    assert gotools._names(["helm3"]) == ["helm3"]


def _pretend_go(folder: Path, body: str) -> dict[str, str]:
    """The environment with a `go` that is a shell script, and an own cache."""
    folder.mkdir()
    command = folder / "go"
    command.write_text(f'#!/bin/sh\nif [ "$1" = env ]; then echo go1.99.0; exit; fi\n{body}\n')
    command.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "SPARKGEN_CACHE": str(folder.parent / "cache")}


def test_a_tool_is_built_once_where_it_is_looked_for(tmp_path: Path) -> None:
    """Go is called in the tool's module with its package; the second time nothing is built."""
    log = tmp_path / "log"
    body = f'echo "$PWD $*" >> {log}; {WRITE_OUTPUT}'
    settings = _pretend_go(tmp_path / "bin", body)
    assert gotools.built("kubeconform", settings) is None
    path = gotools.ensure("kubeconform", settings)
    assert gotools.ensure("kubeconform", settings) == gotools.built("kubeconform", settings) == path
    assert path.read_text() == "built\n"
    assert path.parts[-6:-3] == ("cache", "tools", "kubeconform")
    assert path.parts[-2:] == ("bin", "kubeconform")
    assert path.parts[-3].startswith("v0.7.0-")
    (line,) = log.read_text().splitlines()
    assert line.startswith(f"{gotools.MODULES / 'kubeconform'} build -trimpath -mod=readonly")
    assert line.endswith(" github.com/yannh/kubeconform/cmd/kubeconform")


def test_a_failed_build_leaves_nothing_and_says_why(tmp_path: Path) -> None:
    """Go's words reach the user through `explain`; the cache holds no entry, so that the next run builds."""
    body = f"{WRITE_OUTPUT}; echo 'dial tcp: no such host' >&2; exit 1"
    settings = _pretend_go(tmp_path / "bin", body)
    with pytest.raises(ToolError, match=r"cannot build kubeconform v0\.7\.0: the Go module proxy"):
        gotools.ensure("kubeconform", settings)
    assert [path.name for path in (tmp_path / "cache/tools/kubeconform").iterdir()] == [".lock"]


def test_the_built_helm_knows_its_version(helm: Path) -> None:
    """`helm version` says the pinned version, as a release's binary does, not the development one."""
    done = subprocess.run([helm, "version", "--short"], capture_output=True, text=True, check=True)
    assert done.stdout.split("+")[0].strip() == read_module(find_tool("helm")).version_of("helm.sh/helm/v4")
