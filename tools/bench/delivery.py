"""`make bench-delivery`: how long it takes from a changed script on a laptop until the driver runs it.

Four ways take turns, with one Spark, one image of it, and one script, of which one line changes before each:

- `sparkgen apply`, which pushes the script, with each of the two mounts;
- an image built on Spark's by buildah, pushed, and then `sparkgen apply`;
- `spark-submit` in cluster mode with `spark.kubernetes.file.upload.path`.

The program prints when it began, by the clock that all share. No way has an executor. The registry and the
folder of the upload path are on this machine, so that no network counts; bytes are what would cross one.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench import cluster as bench_cluster
from bench.folders import FOLDER
from bench.pages import Page, median
from bench.programs import ROLE, SPARKGEN, application
from cluster import images, network, ociimage, registry
from cluster.handle import Cluster
from cluster.plan import LAYOUT, NAME, NODES
from cluster.registry import Registry
from cluster.runtime_image import CONFIGURED
from common.cachedir import ToolError
from common.command import run as command_run
from common.command import wait_for

RESULTS = FOLDER / "delivery.md"
SECONDS = 180.0
NODE = NODES[0]
"""All drivers run here: the folder of the upload path is one of this node."""
FETCH, IMAGE_VOLUME = "sparkgen, mount: fetch", "sparkgen, mount: image"
BUILD, UPLOAD = "an image built and pushed", "spark-submit, upload path"
SCRIPT = "import time\nprint('began', time.time(), flush=True)\n# version {number}\n"


@dataclass(frozen=True, slots=True)
class Run:
    """One change: seconds until the program ran, and until the command that sent it was done; new bytes.

    `stored`: bytes that the registry, or the folder, has more of than before. `load`: the machine's load
    average of the minute before.
    """

    seconds: float
    sent: float
    stored: int
    load: float = 0.0


Round = Mapping[str, Run]


@dataclass
class Bench:
    """What all sides share; `number` counts the changes of the script."""

    cluster: Cluster
    home: Path
    version: str
    registry: Registry
    folder: Path
    buildah: Sequence[str]
    number: int = 0

    def changed(self) -> Path:
        """The script, with another line than before."""
        self.number += 1
        script = self.folder / "etl.py"
        script.write_text(SCRIPT.format(number=self.number))
        return script


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`."""
    options = bench_cluster.parser(__doc__, RESULTS, rounds=5).parse_args(arguments)
    return bench_cluster.measure(
        options,
        RESULTS,
        lambda cluster, home: measured(cluster, home, options.version, options.rounds),
        lambda found: page(found, options.version),
    )


def measured(cluster: Cluster, home: Path, version: str, rounds: int) -> Sequence[Round]:
    """Rounds with each side once; the order moves on by one. One round before them is not counted."""
    ways: dict[str, Callable[[Bench, str], float]] = {
        FETCH: partial(by_push, mount="fetch"),
        IMAGE_VOLUME: partial(by_push, mount="image"),
        BUILD: by_build,
        UPLOAD: by_upload,
    }
    with made(cluster, home, version) as bench:
        sides = {name: partial(measure, bench, way) for name, way in ways.items()}
        return bench_cluster.rounds(cluster, sides, rounds + 1, turning=True)[1:]


@contextmanager
def made(cluster: Cluster, home: Path, version: str) -> Iterator[Bench]:
    """A registry with Spark's image, and buildah's store with the same image: nobody waits for those."""
    folder = LAYOUT.node(NODE) / "srv" / "bench-delivery"
    folder.mkdir(parents=True)
    work = LAYOUT.root / "bench-buildah"
    (work / "docker").mkdir(parents=True)
    (work / "docker" / "config.json").write_text("{}")
    try:
        with (
            registry.running(LAYOUT.root / "bench-registry", plain=True) as it,
            images.private_buildah(work) as buildah,
        ):
            bench = Bench(cluster, home, version, it, folder, buildah)
            ociimage.make_layout(work / "base", images.spark(version))
            pulled = run(*buildah, "pull", "--quiet", "oci:base", cwd=work).split()[-1]
            run(*buildah, "tag", pulled, base(bench))
            push_image(bench, base(bench))
            yield bench
    finally:
        run("rm", "-rf", str(work), str(folder), str(LAYOUT.root / "bench-registry"))


def base(bench: Bench) -> str:
    """The name of Spark's image in the registry."""
    return f"{bench.registry.address}/bench/etl:base"


def push_image(bench: Bench, name: str) -> None:
    """Push an image of buildah's store; what the registry has is not sent."""
    options = ("--quiet", "--disable-compression", "--tls-verify=false")
    run(*network.enter(NAME), *bench.buildah, "push", *options, name, f"docker://{name}")


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a command without credentials for registries."""
    docker = {**os.environ, "DOCKER_CONFIG": str(LAYOUT.root / "bench-buildah" / "docker")}
    return command_run(*command, cwd=cwd, environment=docker)


def measure(bench: Bench, way: Callable[[Bench, str], float], namespace: str) -> Run:
    """A changed script until it runs."""
    before, load = stored(bench), os.getloadavg()[0]
    bench.changed()
    began = time.time()
    sent = way(bench, namespace) - began
    return Run(program_began(bench.cluster, namespace) - began, sent, stored(bench) - before, load)


def stored(bench: Bench) -> int:
    """Bytes of all blobs in the registry, and of what was uploaded to the folder."""
    blobs = (bench.registry.folder / "data/docker/registry/v2/blobs").rglob("data")
    uploaded = bench.folder.glob("spark-upload-*/*")
    return sum(path.stat().st_size for path in (*blobs, *uploaded))


def document(bench: Bench, namespace: str, file: str = "app.yaml", **spec: Any) -> Path:
    """The application's document, beside the script. One without local files has its own: no lock is its."""
    role = {**ROLE, "nodeSelector": {"kubernetes.io/hostname": NODE.name}}
    sizes: dict[str, Any] = {"driver": role, "executor": {**role, "instances": 1}}
    path = bench.folder / file
    path.write_text(json.dumps(application(namespace, bench.version, name="etl", **{**sizes, **spec})))
    return path


def apply(bench: Bench, path: Path) -> float:
    """`sparkgen apply`, which pushes what has changed; when it was done."""
    known = ("--kubeconfig", str(bench.cluster.kubeconfig))
    run(*network.enter(NAME), SPARKGEN, "apply", str(path.absolute()), *known, cwd=CONFIGURED)
    return time.time()


def by_push(bench: Bench, namespace: str, mount: str) -> float:
    """By one command, which pushes and applies."""
    repository = f"{bench.registry.address}/bench/code"
    delivery = {"repository": repository, "insecure": True, "mount": mount}
    return apply(bench, document(bench, namespace, mainApplicationFile="./etl.py", delivery=delivery))


def by_build(bench: Bench, namespace: str) -> float:
    """By buildah on the stored image, with the script as its last layer."""
    name = f"{bench.registry.address}/bench/etl:{bench.number}"
    context = bench.folder / "context"
    context.mkdir(exist_ok=True)
    (context / "etl.py").write_bytes((bench.folder / "etl.py").read_bytes())
    (context / "Dockerfile").write_text(f"FROM {base(bench)}\nCOPY etl.py /opt/app/etl.py\n")
    run(*bench.buildah, "build", "--quiet", "--layers=false", "--pull-never", f"--tag={name}", str(context))
    push_image(bench, name)
    program = "local:///opt/app/etl.py"
    return apply(bench, document(bench, namespace, "image.yaml", image=name, mainApplicationFile=program))


def by_upload(bench: Bench, namespace: str) -> float:
    """By spark-submit, to a folder that the driver's pod has under the same path."""
    volume = "spark.kubernetes.driver.volumes.hostPath.upload"
    settings = {
        "spark.kubernetes.file.upload.path": f"file://{bench.folder}",
        f"{volume}.mount.path": str(bench.folder),
        f"{volume}.options.path": f"/srv/{bench.folder.name}",
        "spark.kubernetes.node.selector.kubernetes.io/hostname": NODE.name,
        "spark.executor.instances": "1",
    }
    program = (f"file://{bench.folder}/etl.py",)
    bench_cluster.submit_native(bench.cluster, namespace, bench.home, bench.version, settings, program)
    return time.time()


def program_began(cluster: Cluster, namespace: str) -> float:
    """When the program says that it began; ToolError when it has not within SECONDS."""

    def ended() -> bool:
        pods = cluster.objects("pods", namespace, "spark-role=driver")
        return any(pod["status"].get("phase") in ("Succeeded", "Failed") for pod in pods)

    if not wait_for(ended, SECONDS, pause=0.5):
        raise ToolError(f"no driver pod has ended:\n{cluster.kubectl('get', 'pods', '-n', namespace)}")
    said = bench_cluster.driver_log(cluster, namespace)
    began = [line.split()[1] for line in said.splitlines() if line.startswith("began ")]
    if not began:
        raise ToolError(f"the program did not start:\n{said[-2000:]}")
    return float(began[0])


def page(found: Sequence[Round], version: str) -> str:
    """The page: ratios first, and the bytes."""
    page = Page(RESULTS.name)
    page.setting(f"Spark {version}, the test cluster of this repository")
    page.say("The numbers are of ", f"{len(found)} rounds.")
    page.rows(_row(found, name) for name in found[0])
    loads = [run.load for one in found for run in one.values()]
    page.say("The load average before a change was ", f"{min(loads):.1f} to {max(loads):.1f}.")
    return page.text()


def _row(found: Sequence[Round], name: str) -> tuple[str, ...]:
    ratios = [one[name].seconds / one[BUILD].seconds for one in found]
    runs = [one[name] for one in found]
    seconds = (median(run.sent for run in runs), median(run.seconds for run in runs))
    stored = f"{statistics.median(run.stored for run in runs):,.0f}"
    return name, median(ratios, 2), f"{min(ratios):.2f} to {max(ratios):.2f}", *seconds, stored
