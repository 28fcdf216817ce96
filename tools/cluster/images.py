"""Container images for tests, built into the cache: a Debian base by mmdebstrap, Spark on it by buildah.

An image is kept as its own layer beside the base's, and named by a key of all its inputs, except for the
versions of Debian packages: these are those of Debian's stable release on the day the base was built.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cluster import ociimage
from cluster.ociimage import Image, Layer
from common import progress
from common.cachedir import ToolError, cache_root, environment, key, publish
from gotools import gotools
from spark import spark_home
from sparkgen.local.progress import tail
from sparkgen.spark_versions import NEWEST, OLDEST

RECIPE = Path(__file__).resolve().parents[2] / "images" / "spark"
SUITE = "bookworm"
PACKAGES = (
    *("openjdk-17-jre-headless", "procps", "python3", "tini"),
    *("gosu", "krb5-user", "libnss-wrapper", "net-tools", "wget"),  # the stock image has these as well
)
LEFT_OUT = ("doc", "locale")
"""Folders of /usr/share that no test needs. (Without man, Java's package cannot be installed.)"""

REGISTRY = "docker.io/library/registry:3.1.2"
"""The default image of a SparkStagingServer; see `registry`."""
REPOSITORY = "docker.io/apache/spark"
TESTED_VERSIONS = (environment().get("SPARKGEN_SPARK") or OLDEST.version, NEWEST.version)
"""The Spark versions of end-to-end tests: the last of the 3.x line, or the one in SPARKGEN_SPARK, and the
newest version."""

TIMESTAMP = 1704067200
"""The time of every file of a Spark image: the start of 2024. (zip files have no times before 1980.)"""

CONTAINERS = Path("/var/lib/containers")
"""The folder in which buildah, run as root, records what it copied; no option changes it."""


def spark_version(tag: str) -> str:
    """The Spark version in an image's tag ("3.5.8-java17-python3"). Raises ToolError if there is none."""
    found = re.match(r"\d+\.\d+\.\d+(?![\w.])", tag)
    if found is None:
        raise ToolError(f"the tag {tag!r} does not start with a Spark version, like 3.5.8 or 3.5.8-scala.")
    return found[0]


def spark_images(tags: Iterable[str]) -> dict[str, Image]:
    """The Spark images of these tags by their full names, built if necessary."""
    return {f"{REPOSITORY}:{tag}": spark(spark_version(tag)) for tag in tags}


def busybox(name: str = "busybox") -> Image:
    """The small image that every cluster has. Raises ToolError if the machine has no such busybox."""
    found = shutil.which(name, path="/bin:/usr/bin")
    if found is None:
        raise ToolError("there is no busybox on this machine; install it: make cluster-requirements")
    own = ociimage.layer(ociimage.busybox(Path(found)))
    return Image(
        ociimage.machine_architecture(), {"Cmd": ["sleep", "infinity"], "Env": ["PATH=/bin"]}, (own,)
    )


def registry(below: Image) -> Image:
    """The image of CNCF distribution: like upstream's, it has the program and a shell, and no own user."""
    program = ociimage.tar({"usr/local/bin/registry": gotools.ensure("registry").read_bytes()})
    return ociimage.on_top(
        below,
        ociimage.layer(program),
        Entrypoint=["registry"],
        Cmd=["serve", "/etc/distribution/config.yml"],
        Env=["PATH=/usr/local/bin:/usr/bin:/bin", "OTEL_TRACES_EXPORTER=none"],
    )


def base() -> Image:
    """The base of every Spark image, built if necessary."""
    return debian(PACKAGES)


def debian(packages: Sequence[str]) -> Image:
    """Debian with these packages and their dependencies, built if necessary."""
    options = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in LEFT_OUT]

    def make(folder: Path) -> Image:
        _step(
            f"making an image of Debian {SUITE} with {packages[0]} (once; a minute)",
            *("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages)}", *options),
            *(SUITE, str(folder / "layer.tar")),
        )
        return Image(ociimage.machine_architecture(), {}, (ociimage.layer(folder / "layer.tar"),))

    return kept("base", f"{SUITE}-{key(SUITE, *packages, *options)}", make)


def kept(kind: str, name: str, make: Callable[[Path], Image], below: Image | None = None) -> Image:
    """The image of this name in the cache; if it is missing, `make` builds it in a folder.

    `make` writes the layer on top of `below` to the folder's layer.tar.
    """
    target = cache_root(environment()) / "images" / kind / name
    return _stored(publish(target, lambda folder: _store(folder, make(folder)), _waiting), below)


def spark(version: str) -> Image:
    """The image of a Spark version, built if necessary."""
    below = base()
    recipe = {path.name: path.read_bytes() for path in RECIPE.iterdir()}
    name = f"{version}-{spark_key(recipe, below)}"
    return kept("spark", name, lambda folder: _make_spark(version, below, folder), below)


def spark_key(recipe: Mapping[str, bytes], below: Image) -> str:
    """The key of a Spark image: `recipe` has the files of its folder, `below` is its base image."""
    files = [part for name, data in sorted(recipe.items()) for part in (name, data)]
    return key(*files, str(spark_home.LAYOUT), str(TIMESTAMP), ociimage.digest(below))


def build(context: Path, below: Image, folder: Path, *options: str) -> Image:
    """The image that the Dockerfile of `context` builds on `below`, with one more layer, kept in `folder`.

    The Dockerfile begins with `FROM base`, or with an argument for it. No file outside `folder` remains.
    Raises ToolError if the build fails.
    """
    work = folder / "buildah"
    ociimage.make_layout(work / "base", below)
    with private_buildah(work) as buildah:
        # In the folder itself: some versions use the path as a name, and not every path is a valid name.
        pulled = _step("reading the base image", *buildah, "pull", "--quiet", "oci:base", cwd=work)
        _step("naming the base image", *buildah, "tag", pulled.split()[-1], "localhost/base")
        _step(
            "building on the base image",
            *(*buildah, "build", "--isolation=chroot", "--layers=false", "--pull-never", "--network=host"),
            *(f"--timestamp={TIMESTAMP}", *options, "--tag=localhost/built", str(context)),
        )
        _step(
            "writing the image",
            *(
                *buildah,
                "push",
                "--quiet",
                "--disable-compression",
                "localhost/built",
                f"dir:{work / 'built'}",
            ),
        )
    built = ociimage.read_dir(work / "built")  # to `dir:`, nothing is compressed
    *lower, own = built.layers
    if [part.digest for part in lower] != [part.digest for part in below.layers]:
        raise ToolError(
            f"buildah changed the layers of the base image of {context}: this is a bug in {__name__}"
        )
    target = folder / "layer.tar"
    Path(str(own.content)).rename(target)
    shutil.rmtree(work)
    return ociimage.on_top(below, Layer(own.digest, own.size, target), **built.config)


@contextlib.contextmanager
def private_buildah(work: Path) -> Iterator[tuple[str, ...]]:
    """The start of a buildah command that keeps all its files and mounts in the folder `work`."""
    for name in ("containers", "tmp"):
        (work / name).mkdir()
    made = not CONTAINERS.exists()
    CONTAINERS.mkdir(exist_ok=True)
    script = f'mount --bind "$0" {CONTAINERS} && TMPDIR="$1" && export TMPDIR && shift && exec "$@"'
    buildah = (
        *("unshare", "--mount", "--propagation=private", "sh", "-c", script),
        *(str(work / "containers"), str(work / "tmp"), "buildah"),
        *(f"--root={work / 'root'}", f"--runroot={work / 'run'}", "--storage-driver=overlay"),
    )
    try:
        yield buildah
    finally:
        if made:
            with contextlib.suppress(OSError):  # another program uses it by now
                CONTAINERS.rmdir()


def _make_spark(version: str, below: Image, folder: Path) -> Image:
    context = folder / "context"
    context.mkdir()
    # Hard links: the cache has one copy of a release, and nothing writes to it.
    shutil.copytree(spark_home.ensure(version), context / "spark", copy_function=os.link)
    for path in RECIPE.iterdir():
        shutil.copy(path, context / path.name)
    progress.say(f"building the image of Spark {version} (once; a minute)")
    made = build(context, below, folder, f"--build-arg=VERSION={version}")
    shutil.rmtree(context)
    return made


def _store(folder: Path, image: Image) -> None:
    own = image.layers[-1]
    kept = {"architecture": image.architecture, "config": image.config}
    (folder / "image.json").write_text(json.dumps({**kept, "digest": own.digest, "size": own.size}))


def _stored(folder: Path, below: Image | None = None) -> Image:
    found = json.loads((folder / "image.json").read_text())
    own = Layer(found["digest"], found["size"], folder / "layer.tar")
    return Image(found["architecture"], found["config"], (*(below.layers if below else ()), own))


def _waiting() -> None:
    progress.say("waiting for an image that another process is building")


def _step(title: str, *command: str, cwd: Path | None = None) -> str:
    code, output = progress.run(title, command, cwd=cwd)
    if code:
        full = "no space left" in output.lower()
        advice = "Free some space, or set SPARKGEN_CACHE to a folder on another disk." if full else ""
        raise ToolError(f"{title}: failed.\n{tail(output)}\n{advice}".rstrip())
    return output
