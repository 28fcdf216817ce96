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
from sparkgen.image.pins import machine_architecture
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
RCLONE = "docker.io/rclone/rclone:1.76.0"
"""The image that archives logs; see `rclone`."""
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
    return Image(machine_architecture(), {"Cmd": ["sleep", "infinity"], "Env": ["PATH=/bin"]}, (own,))


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


def rclone() -> Image:
    """The image of rclone: like upstream's, it has the program, a small shell, and no own user."""
    return ociimage.on_top(
        busybox(),
        ociimage.layer(ociimage.tar({"usr/local/bin/rclone": gotools.ensure("rclone").read_bytes()})),
        Entrypoint=["rclone"],
        Env=["PATH=/usr/local/bin:/bin"],
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
        return Image(machine_architecture(), {}, (ociimage.layer(folder / "layer.tar"),))

    return kept("base", f"{SUITE}-{key(SUITE, *packages, *options)}", make)


LISTED = """
for deb in "$1"/var/cache/apt/archives/*.deb; do
  { dpkg-deb --field "$deb" | sed "1a Status: install ok installed"; echo; } >>"$1/var/lib/dpkg/status"
  list="$1/var/lib/dpkg/info/$(dpkg-deb --field "$deb" Package).list"
  dpkg-deb --fsys-tarfile "$deb" | tar --list | sed "s|^\\.||; s|/$||" >"$list"
done
"""
"""Lists unpacked packages and their files as dpkg lists those that it installs."""


def unpacked(packages: Sequence[str], architecture: str) -> Image:
    """Only these packages of Debian and their dependencies, of any architecture; built if necessary.

    They are unpacked and not installed, because installing runs their programs.
    """
    options = ("--variant=extract", f"--architectures={architecture}", f"--extract-hook={LISTED}")

    def make(folder: Path) -> Image:
        _step(
            f"unpacking {packages[0]} of Debian {SUITE} for {architecture} (once; half a minute)",
            *("mmdebstrap", "--quiet", f"--include={','.join(packages)}", *options),
            *(SUITE, str(folder / "layer.tar")),
        )
        return Image(architecture, {}, (ociimage.layer(folder / "layer.tar"),))

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
    built = _built(context, [below], folder, *options)
    *lower, own = built.layers
    if [part.digest for part in lower] != [part.digest for part in below.layers]:
        raise ToolError(
            f"buildah changed the layers of the base image of {context}: this is a bug in {__name__}"
        )
    return ociimage.on_top(below, _moved(own, folder), **built.config)


def build_alone(context: Path, bases: Sequence[Image], folder: Path, architecture: str) -> Image:
    """The image for an architecture that the Dockerfile of `context` builds `FROM scratch`, as one layer.

    In the Dockerfile, `base` is that of `bases` for the architecture of the stage; the rest is as in `build`.
    """
    own = f"--build-arg=BUILDPLATFORM=linux/{machine_architecture()}"
    built = _built(context, bases, folder, own, f"--platform=linux/{architecture}", "--build-arg=BASE=base")
    (layer,) = built.layers
    return Image(built.architecture, built.config, (_moved(layer, folder),))


def _moved(own: Layer, folder: Path) -> Layer:
    """A layer of `_built` in the folder's layer.tar; everything else that was built is removed."""
    target = folder / "layer.tar"
    Path(str(own.content)).rename(target)
    shutil.rmtree(folder / "buildah")
    return Layer(own.digest, own.size, target)


def _built(context: Path, bases: Sequence[Image], folder: Path, *options: str) -> Image:
    """The image that the Dockerfile of `context` builds, with its layers below the folder `buildah`."""
    work = folder / "buildah"
    work.mkdir()
    with private_buildah(work) as buildah:
        pulled = []
        for base in bases:
            ociimage.make_layout(work / base.architecture, base)
            # In the folder itself: some versions use the path as a name, and not every path is a valid name.
            pull = ("pull", "--quiet", f"--arch={base.architecture}", f"oci:{base.architecture}")
            pulled.append(_step("reading the base image", *buildah, *pull, cwd=work).split()[-1])
        name = ("tag", *pulled, "localhost/base")
        if len(pulled) > 1:
            name = ("manifest", "create", "localhost/base", *pulled)
        _step("naming the base image", *buildah, *name)
        _step(
            "building on the base image",
            *(*buildah, "build", "--isolation=chroot", "--layers=false", "--pull-never", "--network=host"),
            *(f"--timestamp={TIMESTAMP}", *options, "--tag=localhost/built", str(context)),
        )
        target = ("--quiet", "--disable-compression", "localhost/built", f"dir:{work / 'built'}")
        _step("writing the image", *buildah, "push", *target)
    return ociimage.read_dir(work / "built")  # to `dir:`, nothing is compressed


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
