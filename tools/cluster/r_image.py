"""The image for main files in R (images/spark-with-r): Debian's R on the Spark images of these tests."""

from __future__ import annotations

from pathlib import Path

from cluster import images, ociimage
from cluster.ociimage import Image
from common import progress
from common.cachedir import key

RECIPE = Path(__file__).resolve().parents[2] / "images" / "spark-with-r"
REPOSITORY = "docker.io/sparkgen/spark-with-r"
"""The repository of the images of Spark with R; the tag is Spark's version."""


def spark_with_r(version: str) -> Image:
    """The image of a Spark version with R, built if necessary."""
    below = images.spark(version)

    def make(folder: Path) -> Image:
        progress.say(f"building the image of Spark {version} with R (once; a minute)")
        return images.build(RECIPE, below, folder, "--build-arg=BASE=base")

    recipe = (RECIPE / "Dockerfile").read_bytes()
    return images.kept("r", f"{version}-{key(recipe, ociimage.digest(below))}", make, below)
