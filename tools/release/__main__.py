"""`make release`: everything that a release consists of, in one folder; nothing is pushed anywhere.

The wheel and the source archive, the wheel of the operator for Airflow, the chart as a package, the runtime
image as an OCI archive, a bill of materials (CycloneDX) for the wheel and one for the image, the provenance
of all, and their checksums.
The version is that of sparkgen, which the chart must share; times are the commit's: a second run gives the
same wheel.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import yaml

from cluster import ociimage, runtime_image
from common import progress
from common.cachedir import ToolError, environment
from common.command import run, tells_errors
from gotools import gotools
from release import archives, bills, contents, names, provenance
from release.provenance import Build
from spark import scheduler
from sparkgen import __version__, contract
from sparkgen.image import runtime_files
from sparkgen.spark_versions import COMPILED

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "spark-app"
AIRFLOW = ROOT / "integrations" / "airflow"
BUILD = (sys.executable, "-I", "-m", "build", "--no-isolation")
SUMS = "SHA256SUMS"
PROVENANCE = "provenance.json"


@tells_errors
def main(arguments: list[str] | None = None) -> int:
    """Make the folder; 1 with a reason when that cannot be done."""
    parser = argparse.ArgumentParser(
        prog="release", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="output folder; an earlier release in it is replaced")
    parser.add_argument(
        "--image", type=Path, help="runtime image to include, as `sparkgen image build --output` wrote it"
    )
    parser.add_argument("--dirty", action="store_true", help="release even if there are uncommitted changes")
    options = parser.parse_args(arguments)
    agree(ROOT, dirty=options.dirty)
    options.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder.parent) as work:
        made = Path(work) / "release"
        made.mkdir()
        build(made, options.image)
        shutil.rmtree(options.folder, ignore_errors=True)
        made.rename(options.folder)
    print((options.folder / SUMS).read_text(encoding="utf-8"), end="")
    progress.say(f"the release {__version__} is in {options.folder}; nothing was pushed")
    return 0


def agree(root: Path, *, dirty: bool) -> None:
    """ToolError when versions differ, or what would be released is in no commit."""
    chart = yaml.safe_load((root / "charts" / "spark-app" / "Chart.yaml").read_text(encoding="utf-8"))
    for field in ("version", "appVersion"):
        if str(chart[field]) != __version__:
            raise ToolError(
                f"Chart.yaml has {field} {chart[field]}, sparkgen is {__version__}: make them equal"
            )
    changes = _git(root, "status", "--porcelain")
    if changes and not dirty:
        raise ToolError(
            f"there are uncommitted changes; commit them, or add --dirty to release them:\n{changes}"
        )


def _git(root: Path, *arguments: str) -> str:
    return run("git", "-C", str(root), *arguments).rstrip()


def _build_wheel(folder: Path) -> None:
    """Build the wheel, with the runtime for ConfigMaps, and the source archive.

    The runtime is made from the sources, whatever folder with one the environment names.
    """
    with tempfile.TemporaryDirectory() as runtime:
        for line in COMPILED:
            scheduler.ensure(line)  # with the tools' own Java
        without = {name: value for name, value in environment().items() if name != runtime_files.FOLDER}
        runtime_files.write(Path(runtime), without, progress.Steps())
        _run(*BUILD, "--outdir", str(folder), str(ROOT), **{runtime_files.FOLDER: runtime})


def build(folder: Path, image: Path | None = None) -> None:
    """Write every part into an empty folder. Without an `image`, one is built on Debian."""
    progress.say("building the wheel and the source archive ...")
    _build_wheel(folder)
    (wheel,) = folder.glob("*.whl")
    _run(*BUILD, "--wheel", "--outdir", str(folder), str(AIRFLOW))
    progress.say("packing the chart ...")
    _run(str(gotools.ensure("helm")), "package", str(CHART), "--destination", str(folder))
    archive = _image(folder, image)
    _write_bills(folder, wheel, archive, bills.archived_status(archive))
    commit = _git(ROOT, "rev-parse", "HEAD")
    made = Build(__version__, commit, dirty=bool(_git(ROOT, "status", "--porcelain")))
    digest = archives.image_digest(archive)
    told = provenance.statement(names.read(), made, checksums(folder), digest, os.environ)
    (folder / PROVENANCE).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    (folder / SUMS).write_text(sums(folder), encoding="utf-8")


def _write_bills(folder: Path, wheel: Path, archive: Path, status: str) -> None:
    # The wheel contains the runtime, too, as files of a ConfigMap.
    runtime = [*bills.python_components(runtime_image.requirements()), *bills.jar_components()]
    libraries = bills.python_components(bills.resolved(wheel))
    bills.write(folder / f"{wheel.stem}.cdx.json", "sparkgen", [*libraries, *runtime], committed())
    parts = [*bills.debian_components(status), *runtime]
    path = folder / f"{archive.name.removesuffix('.oci.tar')}.cdx.json"
    bills.write(path, "sparkgen-runtime", parts, committed())


def _image(folder: Path, given: Path | None) -> Path:
    """The checked image for all architectures: a copy of the given one, or one on Debian as it is today."""
    archive = folder / f"sparkgen-runtime-{__version__}.oci.tar"
    if given:
        shutil.copyfile(given, archive)
    else:
        made = [runtime_image.runtime(architecture) for architecture in contents.MACHINES]
        progress.say("writing the image ...")
        with archive.open("wb") as output:
            ociimage.write(output, {contract.RUNTIME_IMAGE: made})
    progress.say(contents.check(archive))
    return archive


@cache
def committed() -> int:
    """When what is released was committed, in seconds since 1970."""
    return int(_git(ROOT, "log", "-1", "--format=%ct"))


def _run(*command: str, **variables: str) -> None:
    # SPARKGEN_SOURCE_URL: where the links of the README lead on a Python index (hatch_build.py).
    home = names.read()
    source = {} if home.missing() else {"SPARKGEN_SOURCE_URL": home.repository}
    run(*command, environment={**os.environ, **variables, "SOURCE_DATE_EPOCH": str(committed()), **source})


def checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file, by its name."""
    found = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def sums(folder: Path) -> str:
    """A line for each file, as `sha256sum --check` reads it."""
    return "".join(f"{sha}  {name}\n" for name, sha in checksums(folder).items())


if __name__ == "__main__":
    sys.exit(main())
