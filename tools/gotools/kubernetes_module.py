"""The Go module of a Kubernetes version other than the pinned one: SPARKGEN_KUBERNETES=1.34.9.

The repository pins one version, with the sums of all it is made of (tools/go/kubernetes). For another
one, go.mod is derived from Kubernetes' own and completed by `go mod tidy`, in the cache. Nothing in the
repository holds its go.sum: what is downloaded is checked by Go's checksum database alone (GOSUMDB).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from common import progress
from common.cachedir import ToolError, cache_root, key, publish
from gotools import golang
from gotools.golang import Go
from sparkgen.local.progress import tail

SETTING = "SPARKGEN_KUBERNETES"
OLDEST = (1, 30)
"""The oldest that sparkgen is for: docs/compatibility.md."""

PATH = "k8s.io/kubernetes"
_VERSION = re.compile(r"v?(1\.(\d+)\.\d+)")
_STAGED = re.compile(r"^\s*(?:replace )?(\S+) => \./staging/src/\S+$", re.MULTILINE)
_GO_LINE = re.compile(r"^go (\S+)$", re.MULTILINE)


def wanted(settings: Mapping[str, str]) -> str | None:
    """The version that the environment asks for ("v1.34.9"), or None; ToolError when it is not one."""
    text = settings.get(SETTING, "")
    if not text:
        return None
    found = _VERSION.fullmatch(text)
    if found is None:
        raise ToolError(f"{SETTING}={text!r} is no version of Kubernetes. Write one like 1.34.9.")
    if int(found[2]) < OLDEST[1]:
        oldest = ".".join(map(str, OLDEST))
        raise ToolError(f"{SETTING}={text!r} is too old: the test cluster needs {oldest} or newer.")
    return f"v{found[1]}"


def go_line(upstream: str) -> str:
    """The oldest Go that builds it, from Kubernetes' own go.mod."""
    found = _GO_LINE.search(upstream)
    return found[1] if found else "1.24.0"


def go_mod(version: str, upstream: str, packages: Sequence[str]) -> str:
    """A go.mod that builds `packages` of Kubernetes `version`; `upstream` is the text of its own go.mod.

    Kubernetes' own names its parts by folders (`=> ./staging/src/...`), which only its checkout has.
    Published, the parts of v1.X.Y are modules of the version v0.X.Y.
    """
    part = f"v0{version.removeprefix('v1')}"
    staged = _STAGED.findall(upstream)
    if not staged:
        raise ToolError(f"{PATH} {version} names no parts in its go.mod: its modules cannot be derived.")
    lines = [
        *("module sparkgen.dev/tools/kubernetes", f"go {go_line(upstream)}"),
        *(f"tool {package}" for package in packages),
        f"require {PATH} {version}",
        *(f"replace {name} => {name} {part}" for name in staged),
    ]
    return "\n".join(lines) + "\n"


def ensure(version: str, packages: Sequence[str], settings: Mapping[str, str], go: Go) -> Path:
    """The folder with go.mod and go.sum for `version`, made if need be; `go` fetches what it needs."""
    root = cache_root(settings)
    target = root / "modules" / "kubernetes" / f"{version}-{key(*packages)}"

    def make(folder: Path) -> None:
        progress.say(
            f"Kubernetes {version} is not pinned here: its sources are checked by Go's checksum database only"
        )
        upstream = _upstream(version, folder, settings, go, root)
        chosen = golang.choose(go_line(upstream), golang.on_path(settings))
        (folder / "go.mod").write_text(go_mod(version, upstream, packages), encoding="utf-8")
        code, said = progress.run(
            f"deriving the modules of Kubernetes {version} (once)",
            [str(golang.command_of(chosen, root)), "mod", "tidy"],
            cwd=folder,
            environment=golang.build_environment(chosen, root, settings),
        )
        if code:
            raise ToolError(golang.explain(f"Kubernetes {version}", str(target), said, root))

    return publish(target, make)


def _upstream(version: str, folder: Path, settings: Mapping[str, str], go: Go, root: Path) -> str:
    """The text of Kubernetes' own go.mod."""
    done = golang.asked(go, root, settings, folder, "list", "-m", "-json", f"{PATH}@{version}")
    if done.returncode and re.search(r"@v/\S+: 40[34]|410|unknown revision|not available", done.stderr):
        raise ToolError(
            f"the Go module proxy has no Kubernetes {version}. Set {SETTING} to another one; "
            f"`go list -m -versions {PATH}` names those that it knows.\n{tail(done.stderr, 3)}"
        )
    if done.returncode:
        raise ToolError(golang.explain(f"Kubernetes {version}", str(folder), done.stderr, root))
    return Path(json.loads(done.stdout)["GoMod"]).read_text(encoding="utf-8")
