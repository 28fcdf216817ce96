"""The software that a document names: versions of Spark and Scala, images, jars and packages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sparkgen.errors import Path
from sparkgen.grammar.whole import MOST_DIGITS
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import Finding
from sparkgen.semantics.wording import shortened
from sparkgen.spark_versions import scala_line

_SPARK_IMAGES = ("spark", "spark-py", "spark-r", "pyspark")
"""Names of repositories whose tags are versions of Spark."""


def version_of(text: str) -> tuple[int, int]:
    """Returns major and minor version of Spark."""
    major, minor = text.split(".")[:2]
    # A document may have more digits than any version: the first ones make a larger number.
    return int(major[:MOST_DIGITS]), int(re.match(r"[0-9]+", minor)[0][:MOST_DIGITS])  # type: ignore[index]


def scala(facts: DocumentFacts) -> str:
    """Returns the Scala version; Spark 4 has only one."""
    version = facts.spec["sparkVersion"]
    chosen = None if version_of(version)[0] >= 4 else facts.get("scalaVersion")
    return str(chosen or scala_line(version))


def artifacts(facts: DocumentFacts) -> Iterator[tuple[Path, str]]:
    """The jars and packages that a document names, each text with its path; a text may list several."""
    if facts.get("mainApplicationFile"):
        yield facts.path("mainApplicationFile"), facts.get("mainApplicationFile")
    for field in ("jars", "packages"):
        yield from facts.dependencies(field)
    for name in ("spark.jars", "spark.jars.packages"):
        if name in facts.conf:
            yield facts.path("sparkConf", name), facts.conf[name]


def is_stock(image: str) -> bool:
    """Whether an image has the name of one of Spark's own images, or of a copy of them."""
    return _without_digest(image).rpartition("/")[2].partition(":")[0] in _SPARK_IMAGES


def is_latest(image: str) -> bool:
    """Whether Kubernetes pulls an image always, if nothing else is set (SetDefaults_Container)."""
    return "@" not in image and image.rpartition("/")[2].partition(":")[2] in ("", "latest")


def _without_digest(image: str) -> str:
    return image.partition("@")[0]


def images_of_another_version(version: str, images: Iterable[tuple[Path, str]]) -> Iterator[Finding]:
    """The images whose tag names another version of Spark."""
    for path, image in images:
        tag = _without_digest(image).rpartition(":")[2]
        named = re.match(r"(?:v|spark-)?([2-5])\.([0-9])(?:\.([0-9]+))?(?![0-9.])", tag)
        if not named or not (is_stock(image) or tag.startswith("spark-")):
            continue  # the tag of someone's own image is that image's version
        wanted = re.findall(r"[0-9]+", version)
        if any(part is not None and part != own for part, own in zip(named.groups(), wanted, strict=False)):
            in_image = ".".join(part for part in named.groups() if part is not None)
            yield Finding(
                path,
                f"its tag says Spark {in_image}, but `sparkVersion` is {version}",
                shortened(image),
                next_step=f'write `sparkVersion: "{in_image}"`, or use the image of {version}',
            )


def moving_images(images: Iterable[tuple[Path, str]]) -> Iterator[Finding]:
    """The images that can change without a change in Git."""
    for path, image in images:
        if is_latest(image):
            yield Finding(
                path,
                "its content can change without a change in Git, and new content starts no new run",
                shortened(image),
                "a tag with a version, or a digest",
                "use a version, as in `:3.5.8`, or a digest, as in `@sha256:...`",
            )


def registry(image: str) -> str:
    """The registry at the start of an image's name; "" if it has none (distribution/reference)."""
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else ""


def with_registry(image: str) -> str:
    """An image's name with its registry, as a node completes it (distribution/reference: Docker Hub's)."""
    if registry(image):
        return image
    return f"docker.io/{image if '/' in image else f'library/{image}'}"
