"""Validate and render every example with the command line that users have, and run one on this machine.

    .venv/bin/python tools/demo.py [OUTPUT]      OUTPUT is build/demo when left out

An example is a folder examples/<name>/ with an app.yaml. Every other *.yaml beside it is an overlay,
rendered as a variant of its own: `render app.yaml -f prod.yaml`. A lock (*.lock.yaml) is read by itself.

Where there is no Java to run one with, that is said, and is no failure unless DEMO_MUST_RUN is set, as in CI.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cluster.runtime_image import CONFIGURED
from common import progress
from common.cachedir import ToolError, environment
from common.command import run, tells_errors
from sparkgen.document.sources import LOCK_SUFFIX
from sparkgen.local import java

ROOT = Path(__file__).resolve().parents[1]
DRIVERS = ("Job", "CronJob", "Deployment", "DaemonSet")
"""What a driver, or a shuffle service, can be in a rendered directory."""

OWN_DOCUMENT = "build/my-app.yaml"
SIMPLEST = "python-pi"
"""The example that the commands for a next look are about."""
RUN_HERE = ("run", "--local", "examples/local-demo/app.yaml", "--map", "/opt/waves=examples/local-demo")
MUST_RUN = "DEMO_MUST_RUN"
"""A variable: set, a machine that lacks Java fails the demo."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One thing to render: an example's document, and the overlay on it (None: as it stands)."""

    name: str
    document: Path
    overlay: Path | None = None

    @property
    def inputs(self) -> list[str]:
        """The arguments that name the input, relative to the checkout."""
        return [str(self.document), *(["-f", str(self.overlay)] if self.overlay else [])]

    @property
    def values(self) -> list[Path]:
        """The files that Helm needs, in order: the document, its lock if it has one, and the overlay."""
        lock = self.document.with_name(f"{self.document.stem}{LOCK_SUFFIX}")
        return [self.document, *([lock] if lock.exists() else []), *([self.overlay] if self.overlay else [])]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A variant and the directory made of it: its objects' kinds by file, and its driver's file."""

    variant: Variant
    directory: Path
    kinds: dict[Path, list[str]]

    @property
    def objects(self) -> int:
        """How many Kubernetes objects there are (a kustomization is none)."""
        return sum(len(kinds) for kinds in self.kinds.values())

    @property
    def driver(self) -> tuple[str, Path]:
        """What the driver is, and the file it is in."""
        for path, kinds in self.kinds.items():
            for kind in kinds:
                if kind in DRIVERS:
                    return kind, path
        raise ToolError(f"{self.directory} has no driver ({', '.join(DRIVERS)}): the render is incomplete")


def variants(examples: Path) -> list[Variant]:
    """Every example in the folder `examples` and every overlay, by name; ToolError when there is none."""
    found: list[Variant] = []
    for document in sorted(examples.glob("*/app.yaml")):
        name = document.parent.name
        found.append(Variant(name, document))
        beside = sorted(document.parent.glob("*.yaml"))
        overlays = (path for path in beside if path != document and not path.name.endswith(LOCK_SUFFIX))
        found.extend(Variant(f"{name}-{overlay.stem}", document, overlay) for overlay in overlays)
    if not found:
        raise ToolError(f"there is no example: {examples}/*/app.yaml.")
    return found


def read_rendered(variant: Variant, directory: Path) -> Rendered:
    """What was rendered. Only the first column counts: a ConfigMap may hold an object as text."""
    kinds = {
        path: kinds
        for path in sorted(directory.rglob("*.yaml"))
        if (kinds := re.findall(r"^kind: (\w+)$", path.read_text("utf-8"), re.MULTILINE)) != ["Kustomization"]
    }
    return Rendered(variant, directory, kinds)


def table(rendered: Sequence[Rendered]) -> list[str]:
    """One line per rendered variant: its name, its driver's kind, its objects, and where they are."""
    rows = [
        (each.variant.name, each.driver[0], f"{each.objects} objects", f"{each.directory}/")
        for each in rendered
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        f"  {name:<{widths[0]}}  {kind:<{widths[1]}}  {count:>{widths[2]}}  {where}"
        for name, kind, count, where in rows
    ]


def next_steps(command: str, rendered: Sequence[Rendered]) -> list[tuple[str, str]]:
    """(what it shows, a command to copy) for somebody who has just seen the table."""
    first = next((each for each in rendered if each.variant.name == SIMPLEST), rendered[0])
    steps = [
        ("show the document", f"cat {first.variant.document}"),
        (f"show the driver rendered from it, a {first.driver[0]}", f"cat {first.driver[1]}"),
        (
            "render it with one value changed",
            f"{command} render {first.variant.document} --set spec.executor.instances=8",
        ),
        (
            "check whether a directory is up to date",
            f"{command} render {first.variant.document} -o {first.directory} --check",
        ),
        ("explain a field", f"{command} explain spec.executor.memory"),
        ("create your own document to start from", f"{command} init {OWN_DOCUMENT}"),
    ]
    by_name = {each.variant.name: each for each in rendered}
    for each in rendered:
        if each.variant.overlay:
            base = by_name[each.variant.document.parent.name]
            steps.insert(3, ("show what an overlay changes", f"diff -ru {base.directory} {each.directory}"))
            break
    return steps


def render(command: Path, variant: Variant, output: Path) -> Rendered:
    """Validate and render one variant into `output`/<name>; ToolError with what sparkgen said if it fails.

    A configuration names a runtime image: to make a ConfigMap with the runtime, a clone needs Java.
    """
    directory = output / variant.name
    inputs = [str(Path(word).absolute()) if Path(word).exists() else word for word in variant.inputs]
    for arguments in (["validate", *inputs], ["render", *inputs, "-o", str(directory.absolute())]):
        run(str(command.absolute()), *arguments, cwd=CONFIGURED)
    return read_rendered(variant, directory)


def render_all(command: Path, wanted: Sequence[Variant], output: Path) -> list[Rendered]:
    """Render all variants, as many at a time as there are cores; in their order."""
    done: list[Rendered] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            for each in pool.map(lambda variant: render(command, variant, output), wanted):
                done.append(each)
                progress.count(len(done), len(wanted), "examples")
        except BaseException:
            pool.shutdown(cancel_futures=True)  # the first failure is told at once
            raise
    return done


def run_here(command: Path, variables: Mapping[str, str]) -> int:
    """Run an application on this machine, in view; its exit code, or 0 where there is no Java for it."""
    try:
        java.find(variables)
    except ToolError as error:
        print(
            f"\nCannot run an application on this machine: {error}.\nAfterwards, run: {command} "
            f"{' '.join(RUN_HERE)}"
        )
        return 1 if variables.get(MUST_RUN) else 0
    print(
        f"\nRunning one of them on this machine, as it would run in a cluster: {command} "
        f"{' '.join(RUN_HERE)}\n",
        flush=True,
    )
    before = signal.signal(signal.SIGINT, _left_to_the_run)
    try:
        return subprocess.run([str(command), *RUN_HERE], check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def _left_to_the_run(*_: object) -> None:
    """Do nothing: Ctrl-C reaches the run, too, which ends in order; waiting for it goes on."""


@tells_errors
def main(arguments: Sequence[str]) -> int:
    """Run the demo: 0 when every example is valid and rendered, and one has run, else 1."""
    os.chdir(ROOT)  # paths are shown relative to the checkout, as a user would type them there
    output = Path(arguments[0]) if arguments else Path("build/demo")
    command = Path(sys.executable).parent.relative_to(ROOT) / "sparkgen"
    rendered = render_all(command, variants(Path("examples")), output)
    print(f"{len(rendered)} examples are valid and rendered:")
    print("\n".join(table(rendered)))
    code = run_here(command, environment())
    print("\nWhat to look at next:")
    for what, line in next_steps(str(command), rendered):
        print(f"  {line}\n      # {what}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
