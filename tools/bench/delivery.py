"""`make bench-delivery`: a changed script until it is in the registry and rendered, beside an image build.

Two ways take turns, on this machine alone: `sparkgen push` and `render`; and an image built by buildah on
Spark's, pushed, and `render`. Both have the same script. What comes then, a driver that starts, is not
measured.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cluster import images, ociimage
from common.cachedir import ToolError
from gotools import gotools
from sparkgen.spark_versions import NEWEST

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "delivery.md"
SPARKGEN = str(Path(sys.executable).with_name("sparkgen"))
PUSH, BUILD = "sparkgen push", "an image built and pushed"
VERSION = NEWEST.version
SCRIPT = "print('version {number}')\n"
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Run:
    """One change: seconds until the manifests are there, and what the registry has more of, in bytes."""

    seconds: float
    stored: int


Round = Mapping[str, Run]


@dataclass
class Bench:
    """A project, its registry, and buildah with Spark's image in its store; `number` counts the changes."""

    folder: Path
    address: str
    buildah: Sequence[str]
    number: int = 0

    @property
    def base(self) -> str:
        """Spark's image in the registry."""
        return f"{self.address}/bench/etl:base"

    def change(self) -> None:
        """Write the script with another line than before."""
        self.number += 1
        (self.folder / "etl.py").write_text(SCRIPT.format(number=self.number))


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="changes of the script (default 10)")
    parser.add_argument("--write", action="store_true", help=f"keep the page in {RESULTS.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    try:
        first, found = measured(options.rounds)
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    text = page(first, found)
    print(text)
    if options.write:
        RESULTS.write_text(text)
        kept = [{name: asdict(run) for name, run in one.items()} for one in (first, *found)]
        RESULTS.with_suffix(".json").write_text(json.dumps({"rounds": kept}, indent=1) + "\n")
    return 0


def measured(rounds: int) -> tuple[Round, list[Round]]:
    """The first delivery of all, and the rounds after it, in which the script alone has changed."""
    with tempfile.TemporaryDirectory() as folder, made(Path(folder)) as bench:
        found: list[Round] = []
        for number in range(rounds + 1):
            sides = {PUSH: by_push, BUILD: by_build}
            order = list(sides) if number % 2 else list(reversed(sides))
            runs = {name: one(bench, sides[name]) for name in order}
            found.append({name: runs[name] for name in sides})
        return found[0], found[1:]


@contextmanager
def made(folder: Path) -> Iterator[Bench]:
    """A registry that has Spark's image, and buildah's store with the same image: nobody waits for those."""
    work = folder / "work"
    (work / "docker").mkdir(parents=True)
    (work / "docker" / "config.json").write_text("{}")
    (folder / "project").mkdir()
    with registry(folder) as address, images.private_buildah(work) as buildah:
        bench = Bench(folder / "project", address, buildah)
        ociimage.make_layout(work / "base", images.spark(VERSION))
        pulled = run(bench, *buildah, "pull", "--quiet", "oci:base", cwd=work).split()[-1]
        run(bench, *buildah, "tag", pulled, bench.base)
        push_image(bench, bench.base)
        yield bench


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """CNCF distribution at a port of this machine: its address."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        address = f"{HOST}:{free.getsockname()[1]}"
    storage = {"filesystem": {"rootdirectory": str(folder / "data")}}
    config = folder / "config.yml"
    config.write_text(json.dumps({"version": 0.1, "storage": storage, "http": {"addr": address}}))
    environment = {"PATH": os.environ["PATH"], "OTEL_TRACES_EXPORTER": "none"}
    command = [str(gotools.ensure("registry")), "serve", str(config)]
    with (folder / "registry.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        listening(address)
        yield address
    finally:
        process.terminate()
        process.wait()


def listening(address: str) -> None:
    """Wait until somebody listens there; ToolError after 30 seconds."""
    host, _, port = address.partition(":")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise ToolError("the registry does not listen")


def run(bench: Bench, *command: str, cwd: Path | None = None) -> str:
    """What a command prints, without credentials for registries; ToolError when it fails."""
    environment = {**os.environ, "DOCKER_CONFIG": str(bench.folder.parent / "work" / "docker")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=environment)
    if done.returncode:
        raise ToolError(f"{' '.join(command)[:200]}: failed\n{done.stderr[-2000:]}")
    return done.stdout


def push_image(bench: Bench, name: str) -> None:
    """Push an image of buildah's store; what the registry has is not sent."""
    options = ("--quiet", "--disable-compression", "--tls-verify=false")
    run(bench, *bench.buildah, "push", *options, name, f"docker://{name}")


def one(bench: Bench, side: Callable[[Bench], None]) -> Run:
    """A changed script until its manifests are rendered."""
    bench.change()
    before, began = stored(bench), time.monotonic()
    side(bench)
    return Run(time.monotonic() - began, stored(bench) - before)


def stored(bench: Bench) -> int:
    """Bytes of all blobs in the registry."""
    return sum(path.stat().st_size for path in (bench.folder.parent / "data").rglob("data") if path.is_file())


def document(bench: Bench, file: str, **spec: object) -> Path:
    """The application in a file beside the script: each way has its own."""
    whole = {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": "etl"},
        "spec": {"type": "Python", "sparkVersion": VERSION, "executor": {"instances": 1}, **spec},
    }
    path = bench.folder / file
    path.write_text(json.dumps(whole))
    return path


def by_push(bench: Bench) -> None:
    """By `sparkgen push` and `render`."""
    path = document(
        bench,
        "app.yaml",
        image=bench.base,
        mainApplicationFile="./etl.py",
        delivery={"repository": f"{bench.address}/bench/code"},
    )
    run(bench, SPARKGEN, "push", str(path))
    render(bench, path)


def by_build(bench: Bench) -> None:
    """By buildah, with the script as one more layer, and `render`."""
    name = f"{bench.address}/bench/etl:{bench.number}"
    text = f"FROM {bench.base}\nCOPY etl.py /opt/app/etl.py\n"
    (bench.folder / "Dockerfile").write_text(text)
    options = ("--quiet", "--layers=false", "--pull-never", f"--tag={name}")
    run(bench, *bench.buildah, "build", *options, str(bench.folder))
    push_image(bench, name)
    path = document(
        bench,
        "image.yaml",
        image=name,
        mainApplicationFile="local:///opt/app/etl.py",
    )
    render(bench, path)


def render(bench: Bench, path: Path) -> None:
    """The manifests of a document, in a folder beside it."""
    run(bench, SPARKGEN, "render", "-q", str(path), "-o", str(path.with_suffix("")))


def page(first: Round, found: Sequence[Round]) -> str:
    """The page: ratios within each round, and the bytes."""
    ratios = [one[PUSH].seconds / one[BUILD].seconds for one in found]
    lines = [
        "# A changed script until it can be applied",
        "",
        f"Spark {VERSION}, {os.cpu_count()} cores, {datetime.now(UTC):%Y-%m-%d}, {len(found)} rounds.",
        "Written by `make bench-delivery`; the raw data is in [`delivery.json`](delivery.json).",
        "",
        f"The ratio of `{PUSH}` to {BUILD}, median of the rounds: **{statistics.median(ratios):.2f}** "
        f"({min(ratios):.2f} to {max(ratios):.2f}).",
        "",
        "| way | a changed script, s | bytes that the registry did not have | bytes of the first time |",
        "|---|---|---|---|",
    ]
    for name in (PUSH, BUILD):
        seconds = statistics.median(one[name].seconds for one in found)
        stored_ = statistics.median(one[name].stored for one in found)
        lines.append(f"| {name} | {seconds:.2f} | {stored_:,.0f} | {first[name].stored:,} |")
    return "\n".join([*lines, "", NOTES])


NOTES = """\
Compare ratios, never seconds.
A project is a script, of which one line changes.
The time ends when the registry has it and the manifests are rendered.
The driver's start, which follows, is not in it: it is a pod's start with any of the ways.

- The push is the slower way here.
  It starts Python twice, for `push` and for `render`; the other way starts buildah twice, and Python once.
  What it saves is not this time: no builder is needed on the laptop or in CI, and no copy of Spark's image.
- The image is built on Spark's, by buildah.
  Spark's image is in its store and in the registry, so that one more layer is all that is built and sent.
  A first build pulls Spark's image, which nobody waits for here.
- Registry and laptop are one machine.
  A network adds to both by the bytes.
- Spark's own upload (`spark.kubernetes.file.upload.path`) is not here.
  It is a part of `spark-submit`, and can't be timed without a cluster.
  It sends all files again with each submission, to a new folder, and removes none.
"""


if __name__ == "__main__":
    sys.exit(main())
