"""The image for notebooks (images/spark-notebook), on the Spark images of these tests, which have no pip."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from cluster import images, ociimage
from cluster.ociimage import Image
from common import progress
from common.cachedir import key
from common.command import run

RECIPE = Path(__file__).resolve().parents[2] / "images" / "spark-notebook"
REPOSITORY = "docker.io/sparkgen/spark-notebook"
"""The repository of the images of Spark with JupyterLab; the tag is Spark's version."""
PYTHON = (3, 11)
"""The version of Python in Debian's stable release, the base of these images."""


def spark_notebook(version: str) -> Image:
    """The image of a Spark version with JupyterLab, built if necessary."""
    below = images.spark(version)
    parts = [part for path in sorted(RECIPE.iterdir()) for part in (path.name, path.read_bytes())]

    def make(folder: Path) -> Image:
        context = folder / "context"
        shutil.copytree(RECIPE, context)
        progress.say(f"building the image of Spark {version} with JupyterLab (once; two minutes)")
        pip = _download(context)
        # The wheels are in the context, so the build needs no registry.
        call = f"env PIP_BREAK_SYSTEM_PACKAGES=1 PIP_NO_INDEX=1 PIP_FIND_LINKS=/tmp/notebook python3 {pip}"
        made = images.build(context, below, folder, "--build-arg=BASE=base", f"--build-arg=PIP={call}")
        shutil.rmtree(context)
        return made

    return images.kept("notebook", f"{version}-{key(*parts, ociimage.digest(below))}", make, below)


def _download(context: Path) -> str:
    """Download the recipe's wheels to the context. Returns the path of pip's own wheel in the build."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", "--python-version", ".".join(map(str, PYTHON))]
    command += ["--dest", str(context), "-r", str(context / "requirements.txt"), "pip"]
    run(*command, failed="cannot get the wheels for notebooks")
    (pip,) = context.glob("pip-*.whl")
    return f"/tmp/notebook/{pip.name}/pip"  # noqa: S108 - in the build
