"""Versions: of Spark, of Scala, of the image that has them, and of the libraries that must fit them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkgen.errors import Path
from sparkgen.semantics.facts import ROLES, DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, rule
from sparkgen.semantics.software import (
    artifacts,
    images_of_another_version,
    moving_images,
    scala,
    version_of,
)
from sparkgen.semantics.wording import shortened
from sparkgen.spark_versions import NEWEST, OLDEST, OLDEST_COMPILED

_LOWEST = ".".join(map(str, OLDEST.line))
_ALLOWED = f"{_LOWEST} and later, {NEWEST.line[0]}.x"
_EITHER = f"Spark {_LOWEST} or {NEWEST.line[0]}"


def _is_supported(version: tuple[int, int]) -> bool:
    return version >= OLDEST_COMPILED and version[0] <= NEWEST.line[0]


@rule("SG136", ERROR)
def spark_version(facts: DocumentFacts) -> Iterator[Finding]:
    """A Spark version for which there is no scheduler jar."""
    text = facts.spec["sparkVersion"]
    version = version_of(text)
    if not _is_supported(version):
        yield Finding(
            facts.path("sparkVersion"),
            "sparkgen has no scheduler jar for this version of Spark",
            shortened(text),
            _ALLOWED,
            f"use an image with {_EITHER}, and set its version",
        )


@rule("SG178", WARNING)
def untested_spark(facts: DocumentFacts) -> Iterator[Finding]:
    """A Spark version for which there is a jar, but which no test uses."""
    text = facts.spec["sparkVersion"]
    version = version_of(text)
    if _is_supported(version) and version < OLDEST.line:
        yield Finding(
            facts.path("sparkVersion"),
            f"sparkgen is tested with Spark {_LOWEST} and later; older versions are untested",
            shortened(text),
            _ALLOWED,
            f"use an image with {_EITHER}, or test it yourself, and ignore this with a reason",
        )


@rule("SG137", WARNING)
def image_version(facts: DocumentFacts) -> Iterator[Finding]:
    """An image whose tag names another version of Spark than `sparkVersion`."""
    yield from images_of_another_version(facts.spec["sparkVersion"], _images(facts))


@rule("SG135", WARNING)
def moving_tag(facts: DocumentFacts) -> Iterator[Finding]:
    """An image that can change without a change in Git."""
    yield from moving_images(_images(facts))


def _images(facts: DocumentFacts) -> Iterator[tuple[Path, str]]:
    """Yields the images in which Spark runs, with their paths."""
    yield facts.path("image"), facts.spec["image"]
    for role in ROLES:
        image = facts.role(role).get("image")
        if image:
            yield facts.path(role, "image"), image


@rule("SG138", ERROR)
def scala_version(facts: DocumentFacts) -> Iterator[Finding]:
    """Spark 4 with Scala 2.12: it was never built."""
    if facts.get("scalaVersion") == "2.12" and version_of(facts.spec["sparkVersion"])[0] >= 4:
        yield Finding(
            facts.path("scalaVersion"),
            "Spark 4 is built for Scala 2.13 only",
            "2.12",
            "2.13",
            "delete it",
        )


@rule("SG139", WARNING)
def artifact_versions(facts: DocumentFacts) -> Iterator[Finding]:
    """Jars and packages for another Scala line, or for another version of Spark."""
    if not _is_supported(version_of(facts.spec["sparkVersion"])):
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
    if made_for and (int(made_for[1]), int(made_for[2])) != version_of(spark):
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


@rule("SG140", ERROR)
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
