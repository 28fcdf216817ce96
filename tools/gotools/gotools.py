"""Go tools, pinned, built from their modules into the cache.

    .venv/bin/python tools/gotools/gotools.py build       build what `make test` needs
    .venv/bin/python tools/gotools/gotools.py build all   build every tool

A tool's module is tools/go/<folder>/go.mod: its pin and the pins of all it is made of, held by
go.sum. To change a version: `go get -tool PACKAGE@VERSION && go mod tidy` in that folder. The result is
`<cache>/tools/<name>/<version>-<key>/bin/<name>`, where the key is of go.mod, go.sum, the flags and
the Go version: a change of any of them builds again, and never in the place of the old one.

SPARKGEN_KUBERNETES=1.34.9 asks for another Kubernetes than the pinned one: see kubernetes_module.py.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import progress
from common.cachedir import ToolError, cache_root, environment, key, publish
from common.command import tells_errors
from gotools import golang, kubernetes_module
from gotools.golang import Go

MODULES = Path(__file__).resolve().parents[1] / "go"


@dataclass(frozen=True, slots=True)
class Tool:
    """One command built from Go source.

    `variables` are Go variables set while linking ("package.name={version}"); `below` is the folder of its
    package in the module, cmd/<name> when None; `folder` is its module below tools/go, its name when empty;
    `tested` tells whether `make test` needs it; `tags` are Go's build tags.
    """

    name: str
    module: str
    variables: tuple[str, ...] = ()
    below: str | None = None
    folder: str = ""
    tested: bool = False
    tags: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        """What `go build` builds."""
        below = f"cmd/{self.name}" if self.below is None else self.below
        return f"{self.module}/{below}".rstrip("/")


def _kubernetes(command: str) -> Tool:
    """A command of Kubernetes; all are built from one module, and say its version as a release does."""
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return Tool(
        name=command,
        module="k8s.io/kubernetes",
        variables=tuple(f"{package}.gitVersion={{version}}" for package in packages),
        folder="kubernetes",
    )


def _containerd(command: str) -> Tool:
    """A command of containerd, without the snapshotters that no test needs."""
    return Tool(
        name=command,
        module="github.com/containerd/containerd/v2",
        variables=("github.com/containerd/containerd/v2/version.Version={version}",),
        folder="containerd",
        tags=("no_btrfs", "no_zfs", "no_devmapper"),
    )


TOOLS = (
    Tool(
        name="helm",
        module="helm.sh/helm/v4",
        variables=("helm.sh/helm/v4/internal/version.version={version}",),
        tested=True,
    ),
    Tool(
        name="helm3",
        module="helm.sh/helm/v3",
        below="cmd/helm",
        variables=(
            "helm.sh/helm/v3/internal/version.version={version}",
            # The Kubernetes it takes for granted without a cluster (1.20 otherwise): that of its client-go.
            "helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
            "helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor={client_go_minor}",
            "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1",
            "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor={client_go_minor}",
        ),
        tested=True,
    ),
    Tool(
        name="kubeconform",
        module="github.com/yannh/kubeconform",
        variables=("main.version={version}",),
        tested=True,
    ),
    # What tests/unit/monitoring checks alerts with where it is built. Its service discovery is left out: that
    # is half of what there is to compile.
    Tool(
        "promtool",
        "github.com/prometheus/prometheus",
        ("github.com/prometheus/common/version.Version={version}",),
        tags=("remove_all_sd",),
    ),
    # The test cluster (tools/cluster), the slowest first.
    _kubernetes("kube-apiserver"),
    _kubernetes("kubelet"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kube-proxy"),
    _kubernetes("kubectl"),
    *(_containerd(name) for name in ("containerd", "containerd-shim-runc-v2", "ctr")),
    Tool("etcd", "go.etcd.io/etcd/server/v3", below=""),
    Tool("coredns", "github.com/coredns/coredns", below=""),
    Tool(  # the registry of tests of code delivery, and what a SparkStagingServer runs
        "registry",
        "github.com/distribution/distribution/v3",
        ("github.com/distribution/distribution/v3/version.version={version}",),
        folder="distribution",
    ),
    Tool(  # what verifies a release's signatures, as users do
        "cosign",
        "github.com/sigstore/cosign/v3",
        ("sigs.k8s.io/release-utils/version.gitVersion={version}",),
    ),
    Tool(  # the log archive's program, and the object store of its tests (`rclone serve s3`)
        "rclone",
        "github.com/rclone/rclone",
        ("github.com/rclone/rclone/fs.Version={version}",),
        below="",
    ),
    Tool(
        "kwok",
        "sigs.k8s.io/kwok",
        ("sigs.k8s.io/kwok/pkg/consts.Version={version}",),
    ),
    Tool(
        "kustomize",
        "sigs.k8s.io/kustomize/kustomize/v5",
        ("sigs.k8s.io/kustomize/api/provenance.version={version}",),
        below="",
    ),
    Tool(  # `make bench-cluster` and `make e2e-full` alone: what submissions and imports are held beside
        "spark-operator",
        "github.com/kubeflow/spark-operator/v2",
        below="cmd/operator",
    ),
    # One binary for every part of Argo CD: its name, or ARGOCD_BINARY_NAME, says which (cluster/argocd.py).
    Tool(
        "argocd",
        "github.com/argoproj/argo-cd/v3",
        ("github.com/argoproj/argo-cd/v3/common.version={version}",),
        below="cmd",
    ),
)


@dataclass(frozen=True, slots=True)
class Module:
    """The pins of a tool: `text` of go.mod, `sums` (go.sum), and the folder both are in."""

    folder: Path
    text: str
    sums: str

    def version_of(self, module: str) -> str:
        """The version ("v4.2.4") that go.mod requires of `module`; ToolError when it names none."""
        found = re.search(rf"^(?:require)?\s*{re.escape(module)} (v\S+)", self.text, re.MULTILINE)
        if found is None:
            raise ToolError(
                f"{self.folder / 'go.mod'} requires no {module}: run `go get -tool {module}@VERSION` there."
            )
        return found[1]

    @property
    def go(self) -> str:
        """The oldest Go that can build it: the `go` line."""
        found = re.search(r"^go (\S+)", self.text, re.MULTILINE)
        return found[1] if found else "1.0"


def find_tool(name: str) -> Tool:
    """The tool called `name`; ToolError with the names there are when there is none."""
    for tool in TOOLS:
        if tool.name == name:
            return tool
    raise ToolError(f"there is no tool {name!r}; there are: {', '.join(tool.name for tool in TOOLS)}, all.")


def read_module(tool: Tool, modules: Path = MODULES) -> Module:
    """The pins of `tool`."""
    return _read(modules / (tool.folder or tool.name))


def _read(folder: Path) -> Module:
    return Module(folder, (folder / "go.mod").read_text("utf-8"), (folder / "go.sum").read_text("utf-8"))


def chosen_module(tool: Tool, settings: Mapping[str, str]) -> Module:
    """The module that `tool` is built from: the pinned one, but for a Kubernetes that `settings` ask for."""
    pinned = read_module(tool)
    if tool.module != kubernetes_module.PATH:
        return pinned
    version = kubernetes_module.wanted(settings)
    if version in (None, pinned.version_of(tool.module)):
        return pinned
    packages = sorted(other.package for other in TOOLS if other.module == tool.module)
    go = golang.choose(pinned.go, golang.on_path(settings))
    return _read(kubernetes_module.ensure(str(version), packages, settings, go))


def flags(tool: Tool, module: Module) -> tuple[str, ...]:
    """The arguments of `go build` that decide what comes out."""
    minor = module.version_of("k8s.io/client-go").split(".")[1] if "k8s.io/client-go " in module.text else ""
    values = {"version": module.version_of(tool.module), "client_go_minor": minor}
    linked = [f"-X {variable.format_map(values)}" for variable in tool.variables]
    tags = ("-tags", ",".join(tool.tags)) if tool.tags else ()
    linking = ("-ldflags", " ".join(["-s", "-w", *linked]))
    return ("-trimpath", "-mod=readonly", "-buildvcs=false", *tags, *linking)


def entry(tool: Tool, module: Module, go: Go) -> str:
    """The name of the tool's folder in the cache: `<version>-<key>`."""
    parts = (
        module.text,
        module.sums,
        tool.package,
        *flags(tool, module),
        go.version,
        sysconfig.get_platform(),
    )
    return f"{module.version_of(tool.module)}-{key(*parts)}"


def _plan(tool: Tool, settings: Mapping[str, str]) -> tuple[Module, Go, Path]:
    """What a tool is built from and with, and the folder that it is built into."""
    module = chosen_module(tool, settings)
    go = golang.choose(module.go, golang.on_path(settings))
    return module, go, cache_root(settings) / "tools" / tool.name / entry(tool, module, go)


def built(name: str, settings: Mapping[str, str] | None = None) -> Path | None:
    """The path of the command `name` where it is built already; None where it is not."""
    tool = find_tool(name)
    command = _plan(tool, environment() if settings is None else settings)[2] / "bin" / tool.name
    return command if command.is_file() else None


def ensure(name: str, settings: Mapping[str, str] | None = None) -> Path:
    """The path of the command `name`, built if need be. `settings` is the environment."""
    settings = environment() if settings is None else settings
    tool = find_tool(name)
    module, go, target = _plan(tool, settings)
    root = cache_root(settings)

    def make(folder: Path) -> None:
        _build(tool, module, go, root, settings, folder / "bin" / tool.name)

    def waiting() -> None:
        progress.say(f"waiting for {tool.name}, which another process is building")

    return publish(target, make, waiting) / "bin" / tool.name


def source(name: str, settings: Mapping[str, str] | None = None) -> Path:
    """The folder of the module that the command `name` is built from, downloaded if need be."""
    settings = environment() if settings is None else settings
    tool = find_tool(name)
    module = chosen_module(tool, settings)
    go, root = golang.choose(module.go, golang.on_path(settings)), cache_root(settings)
    done = golang.asked(go, root, settings, module.folder, "mod", "download", "-json", tool.module)
    if done.returncode:
        said = done.stdout + done.stderr
        raise ToolError(golang.explain(f"with the module of {name}", _shown(module.folder), said, root))
    return Path(json.loads(done.stdout)["Dir"])


def _build(tool: Tool, module: Module, go: Go, root: Path, settings: Mapping[str, str], output: Path) -> None:
    command = golang.command_of(go, root)
    what = f"{tool.name} {module.version_of(tool.module)}"
    code, said = progress.run(
        f"building {what} with Go {go.version} (once; minutes on a slow machine)",
        [str(command), "build", *flags(tool, module), "-o", str(output), tool.package],
        cwd=module.folder,
        environment=golang.build_environment(go, root, settings),
    )
    if code or not output.is_file():
        raise ToolError(golang.explain(what, _shown(module.folder), said, root))


def _shown(folder: Path) -> str:
    return f"tools/go/{folder.name}" if folder.parent == MODULES else str(folder)


def _names(asked: Sequence[str]) -> list[str]:
    if "all" in asked:
        return [tool.name for tool in TOOLS]
    return list(asked) or [tool.name for tool in TOOLS if tool.tested]


@tells_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: 0 ok, 1 a tool could not be built."""
    parser = argparse.ArgumentParser(prog="gotools.py", description="Pinned Go tools, built into the cache.")
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser(
        "build", help="build tools: those that `make test` needs, those named, or all"
    )
    build.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    for name in _names(options.names):
        progress.say(f"{name}: {ensure(name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
