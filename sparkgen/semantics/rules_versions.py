"""Versions: of Spark, of Scala, of the image that has them, and of the libraries that must fit them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sparkgen.errors import Path
from sparkgen.grammar.whole import MOST_DIGITS
from sparkgen.semantics.facts import ROLES, DocumentFacts
from sparkgen.semantics.findings import Finding
from sparkgen.semantics.wording import shortened
from sparkgen.spark_versions import NEWEST, OLDEST, OLDEST_COMPILED, scala_line

_SPARK_IMAGES = ("spark", "spark-py", "spark-r", "pyspark")
"""Names of repositories whose tags are versions of Spark."""


_LOWEST = ".".join(map(str, OLDEST.line))
_ALLOWED = f"{_LOWEST} and later, {NEWEST.line[0]}.x"
_EITHER = f"Spark {_LOWEST} or {NEWEST.line[0]}"


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    # A document may have more digits than any version: the first ones make a larger number.
    return int(major[:MOST_DIGITS]), int(re.match(r"[0-9]+", minor)[0][:MOST_DIGITS])  # type: ignore[index]


def _is_supported(version: tuple[int, int]) -> bool:
    return version >= OLDEST_COMPILED and version[0] <= NEWEST.line[0]


def spark_version(facts: DocumentFacts) -> Iterator[Finding]:
    """A Spark version for which there is no scheduler jar."""
    text = facts.spec["sparkVersion"]
    version = _version(text)
    if not _is_supported(version):
        yield Finding(
            facts.path("sparkVersion"),
            "sparkgen has no scheduler jar for this version of Spark",
            shortened(text),
            _ALLOWED,
            f"use an image with {_EITHER}, and set its version",
        )


def untested_spark(facts: DocumentFacts) -> Iterator[Finding]:
    """A Spark version for which there is a jar, but which no test uses."""
    text = facts.spec["sparkVersion"]
    version = _version(text)
    if _is_supported(version) and version < OLDEST.line:
        yield Finding(
            facts.path("sparkVersion"),
            f"sparkgen is tested with Spark {_LOWEST} and later; older versions are untested",
            shortened(text),
            _ALLOWED,
            f"use an image with {_EITHER}, or test it yourself, and ignore this with a reason",
        )


def image_version(facts: DocumentFacts) -> Iterator[Finding]:
    """An image whose tag names another version of Spark than `sparkVersion`."""
    yield from images_of_another_version(facts.spec["sparkVersion"], _images(facts))


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


def is_stock(image: str) -> bool:
    """Whether an image has the name of one of Spark's own images, or of a copy of them."""
    return _without_digest(image).rpartition("/")[2].partition(":")[0] in _SPARK_IMAGES


def is_latest(image: str) -> bool:
    """Whether Kubernetes pulls an image always, if nothing else is set (SetDefaults_Container)."""
    return "@" not in image and image.rpartition("/")[2].partition(":")[2] in ("", "latest")


def moving_tag(facts: DocumentFacts) -> Iterator[Finding]:
    """An image that can change without a change in Git."""
    yield from moving_images(_images(facts))


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


def _images(facts: DocumentFacts) -> Iterator[tuple[Path, str]]:
    """Yields the images in which Spark runs, with their paths."""
    yield facts.path("image"), facts.spec["image"]
    for role in ROLES:
        image = facts.role(role).get("image")
        if image:
            yield facts.path(role, "image"), image


def _without_digest(image: str) -> str:
    return image.partition("@")[0]


def scala_version(facts: DocumentFacts) -> Iterator[Finding]:
    """Spark 4 with Scala 2.12: it was never built."""
    if facts.get("scalaVersion") == "2.12" and _version(facts.spec["sparkVersion"])[0] >= 4:
        yield Finding(
            facts.path("scalaVersion"),
            "Spark 4 is built for Scala 2.13 only",
            "2.12",
            "2.13",
            "delete it",
        )


def scala(facts: DocumentFacts) -> str:
    """Returns the Scala version; Spark 4 has only one."""
    version = facts.spec["sparkVersion"]
    chosen = None if _version(version)[0] >= 4 else facts.get("scalaVersion")
    return str(chosen or scala_line(version))


def artifact_versions(facts: DocumentFacts) -> Iterator[Finding]:
    """Jars and packages for another Scala line, or for another version of Spark."""
    if not _is_supported(_version(facts.spec["sparkVersion"])):
        return
    for path, text in artifacts(facts):
        for name in text.split(","):
            yield from _artifact(facts, path, name.strip())


def _artifact(facts: DocumentFacts, path: Path, name: str) -> Iterator[Finding]:
    wanted, spark = scala(facts), facts.spec["sparkVersion"]
    line = re.search(r"_(2\.1[0-9])(?![0-9])", name)
    module = re.search(r"^org\.apache\.spark:spark-[a-z0-9-]+_2\.1[0-9]:([0-9]{1,9})\.([0-9]{1,9})", name)
    named = re.search(r"(?:spark-runtime-|hudi-spark)([0-9])\.([0-9]{1,9})(?:-bundle)?_2\.1", name)
    made_for = module or named
    if made_for and (int(made_for[1]), int(made_for[2])) != _version(spark):
        yield Finding(
            path,
            f"is made for Spark {made_for[1]}.{made_for[2]}, but `sparkVersion` is {spark}",
            shortened(name),
            next_step=f"use version {spark}" if module else "use the artifact for this version of Spark",
        )
    elif line and line[1] != wanted:
        fixed = name.replace(f"_{line[1]}", f"_{wanted}")
        yield Finding(
            path,
            f"is built for Scala {line[1]}, but Spark {spark} runs here on Scala {wanted}",
            shortened(name),
            f"_{wanted}",
            f"use {shortened(fixed)}"
            + (", or set `scalaVersion` if the image differs" if spark.startswith("3.") else ""),
        )


def artifacts(facts: DocumentFacts) -> Iterator[tuple[Path, str]]:
    """The jars and packages that a document names, each text with its path; a text may list several."""
    if facts.get("mainApplicationFile"):
        yield facts.path("mainApplicationFile"), facts.get("mainApplicationFile")
    for field in ("jars", "packages"):
        yield from facts.dependencies(field)
    for name in ("spark.jars", "spark.jars.packages"):
        if name in facts.conf:
            yield facts.path("sparkConf", name), facts.conf[name]


def coordinates(facts: DocumentFacts) -> Iterator[Finding]:
    """Packages that are no Maven coordinates: spark-submit stops (MavenUtils.extractMavenCoordinates)."""
    texts = list(facts.dependencies("packages"))
    if "spark.jars.packages" in facts.conf:
        texts.append((facts.path("sparkConf", "spark.jars.packages"), facts.conf["spark.jars.packages"]))
    for path, text in texts:
        for name in text.split(","):
            parts = [part.strip() for part in name.replace("/", ":").split(":")]
            if name.strip() and (len(parts) != 3 or not all(parts)):
                yield _no_coordinates(path, name.strip(), parts)
    for path, text in facts.dependencies("excludePackages"):
        if len(text.split(":")) != 2 or not all(text.split(":")):
            yield Finding(
                path,
                "is not `group:artifact`, so spark-submit fails",
                shortened(text),
                "group:artifact",
                "write group and artifact, separated by a colon, without a version",
            )


def _no_coordinates(path: Path, name: str, parts: list[str]) -> Finding:
    step = "write group, artifact and version, separated by colons"
    if name.endswith(".jar"):
        step = "move it to `deps.jars`"
    elif len(parts) == 4:
        step = (
            "remove the fourth part, or put the jar into `deps.jars`: spark-submit does not support "
            "classifiers"
        )
    elif len(parts) == 2:
        step = "add the version"
    return Finding(
        path,
        "is not `group:artifact:version`, so spark-submit fails",
        shortened(name),
        "group:artifact:version",
        step,
    )
