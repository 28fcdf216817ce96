"""What runs: the main file, its class, the versions of Spark and Scala, the files and libraries it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkgen.errors import Path
from sparkgen.semantics.facts import ROLES, Facts
from sparkgen.semantics.findings import Finding, about_key
from sparkgen.semantics.wording import shortened

INTERNAL = "spark-internal"
"""SparkLauncher.NO_RESOURCE: no main file, the class is on the class path."""

_SPARK_IMAGES = ("spark", "spark-py", "spark-r", "pyspark")
"""Names of repositories whose tags are versions of Spark."""

_SUFFIXES = {"Python": (".py",), "R": (".R", ".r"), "Java": (".jar",), "Scala": (".jar",)}


def _main(facts: Facts) -> str:
    return str(facts.get("mainApplicationFile") or INTERNAL)


def _language(file: str) -> str | None:
    """What spark-submit takes a main file for (SparkSubmit.isPython, isR); None without a telling name."""
    if file.endswith(".py"):
        return "Python"
    if file.endswith((".R", ".r")):
        return "R"
    return "Java or Scala" if file.endswith(".jar") else None


def _is_jvm(facts: Facts) -> bool:
    """Whether spark-submit will look for a main class."""
    return _language(_main(facts)) not in ("Python", "R")


def type_against_file(facts: Facts) -> Iterator[Finding]:
    """A main file of another language than `type` says: spark-submit goes by the file's name."""
    language, kind = _language(_main(facts)), facts.spec["type"]
    if language is None or kind in language:
        return
    overhead = "0.4" if kind in ("Python", "R") else "0.1"
    yield Finding(
        facts.path("mainApplicationFile"),
        f"Spark runs it as {language}, but `type` is {kind}, and memory is set aside for that ({overhead})",
        shortened(_main(facts)),
        f"a {_SUFFIXES[kind][0]} file",
        f"set `type` to {language}, or name the right file",
    )


def main_class_missing(facts: Facts) -> Iterator[Finding]:
    """A class that spark-submit cannot find out.

    It reads the jar's manifest through Hadoop's file systems, and none of them is called `local`
    (SparkSubmit.prepareSubmitEnvironment).
    """
    file = _main(facts)
    if facts.get("mainClass") or not _is_jvm(facts):
        return
    script = facts.spec["type"] in ("Python", "R") and _language(file) is None  # SG134
    if not script and (file.startswith("local:") or file == INTERNAL):
        yield Finding(
            facts.path("mainApplicationFile"),
            "`mainClass` is missing, and spark-submit cannot look for it in this file",
            shortened(file),
            "",
            "add `mainClass`, the class with the `main` method, with its package",
        )


def main_class_in_manifest(facts: Facts) -> Iterator[Finding]:
    """A class that only the jar's manifest can name."""
    file = _main(facts)
    readable = _language(file) == "Java or Scala" and not file.startswith("local:")
    if readable and not facts.get("mainClass"):
        yield Finding(
            facts.path("mainApplicationFile"),
            "without `mainClass` the driver fails unless the jar's manifest has a Main-Class",
            shortened(file),
            "",
            "add `mainClass`, the class with the `main` method, with its package",
        )


def main_class_unused(facts: Facts) -> Iterator[Finding]:
    """A class beside a Python or R file: spark-submit puts its own runner in its place."""
    name = facts.get("mainClass")
    if name and not _is_jvm(facts):
        yield about_key(
            facts.path("mainClass"), f"means nothing beside a {_language(_main(facts))} file", "delete it"
        )


def main_file(facts: Facts) -> Iterator[Finding]:
    """A main file that spark-submit takes for a jar although `type` is Python or R."""
    file, kind = _main(facts), facts.spec["type"]
    if kind not in ("Python", "R") or _language(file) is not None or facts.get("mainClass"):
        return
    yield Finding(
        facts.path("mainApplicationFile"),
        f"spark-submit takes it for a jar, because its name does not end in {_SUFFIXES[kind][0]}",
        shortened(file),
        f"a name that ends in {_SUFFIXES[kind][0]}",
        "name the script itself; further modules go to `deps.pyFiles`"
        if kind == "Python"
        else "name the script itself",
    )


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(re.match(r"[0-9]+", minor)[0])  # type: ignore[index]


def _is_supported(version: tuple[int, int]) -> bool:
    return version >= (3, 4) and version[0] <= 4


def spark_version(facts: Facts) -> Iterator[Finding]:
    """A Spark for which there is no scheduler jar."""
    text = facts.spec["sparkVersion"]
    version = _version(text)
    if not _is_supported(version):
        yield Finding(
            facts.path("sparkVersion"),
            "sparkgen has no scheduler jar for this version of Spark",
            shortened(text),
            "3.4 and later, 4.x",
            "use an image with Spark 3.5 or 4, and write its version",
        )


def image_version(facts: Facts) -> Iterator[Finding]:
    """An image whose tag names another version of Spark than `sparkVersion`."""
    version = facts.spec["sparkVersion"]
    for path, image in _images(facts):
        repository, _, tag = _without_digest(image).rpartition(":")
        named = re.match(r"(?:v|spark-)?([2-5])\.([0-9])(?:\.([0-9]+))?(?![0-9.])", tag)
        if not named or not (repository.rpartition("/")[2] in _SPARK_IMAGES or tag.startswith("spark-")):
            continue  # the tag of someone's own image is that image's version
        wanted = re.findall(r"[0-9]+", version)
        if any(part is not None and part != own for part, own in zip(named.groups(), wanted, strict=False)):
            in_image = ".".join(part for part in named.groups() if part is not None)
            yield Finding(
                path,
                f"its tag says Spark {in_image}, but `sparkVersion` is {version}",
                shortened(image),
                "",
                f'write `sparkVersion: "{in_image}"`, or name the image of {version}',
            )


def moving_tag(facts: Facts) -> Iterator[Finding]:
    """An image that can change without a change in Git."""
    for path, image in _images(facts):
        if "@" in image:
            continue
        tag = image.rpartition("/")[2].partition(":")[2]
        if tag in ("", "latest"):
            yield Finding(
                path,
                "its content can change without a change in Git, and a new content starts no new run",
                shortened(image),
                "a tag with a version, or a digest",
                "name a version, as in `:3.5.8`, or a digest, as in `@sha256:...`",
            )


def _images(facts: Facts) -> Iterator[tuple[Path, str]]:
    """The images in which Spark runs."""
    yield facts.path("image"), facts.spec["image"]
    for role in ROLES:
        image = facts.role(role).get("image")
        if image:
            yield facts.path(role, "image"), image


def _without_digest(image: str) -> str:
    return image.partition("@")[0]


def scala_version(facts: Facts) -> Iterator[Finding]:
    """Spark 4 with Scala 2.12: it was never built."""
    if facts.get("scalaVersion") == "2.12" and _version(facts.spec["sparkVersion"])[0] >= 4:
        yield Finding(
            facts.path("scalaVersion"),
            "Spark 4 is built for Scala 2.13 only",
            "2.12",
            "2.13",
            "delete it",
        )


def _scala(facts: Facts) -> str:
    """The Scala line (model.default_scala_version); Spark 4 has one only."""
    if _version(facts.spec["sparkVersion"])[0] >= 4:
        return "2.13"
    return str(facts.get("scalaVersion") or "2.12")


def artifact_versions(facts: Facts) -> Iterator[Finding]:
    """Jars and packages for another Scala line, or for another version of Spark."""
    if not _is_supported(_version(facts.spec["sparkVersion"])):
        return
    for path, text in _artifacts(facts):
        for name in text.split(","):
            yield from _artifact(facts, path, name.strip())


def _artifact(facts: Facts, path: Path, name: str) -> Iterator[Finding]:
    scala, spark = _scala(facts), facts.spec["sparkVersion"]
    line = re.search(r"_(2\.1[0-9])(?![0-9])", name)
    module = re.search(r"^org\.apache\.spark:spark-[a-z0-9-]+_2\.1[0-9]:([0-9]+)\.([0-9]+)", name)
    named = re.search(r"(?:spark-runtime-|hudi-spark)([0-9])\.([0-9]+)(?:-bundle)?_2\.1", name)
    made_for = module or named
    if made_for and (int(made_for[1]), int(made_for[2])) != _version(spark):
        yield Finding(
            path,
            f"is made for Spark {made_for[1]}.{made_for[2]}, and `sparkVersion` is {spark}",
            shortened(name),
            "",
            f"use version {spark}" if module else "use the artifact for this version of Spark",
        )
    elif line and line[1] != scala:
        fixed = name.replace(f"_{line[1]}", f"_{scala}")
        yield Finding(
            path,
            f"is built for Scala {line[1]}, and Spark {spark} runs here on Scala {scala}",
            shortened(name),
            f"_{scala}",
            f"use {shortened(fixed)}"
            + (", or set `scalaVersion` if the image differs" if spark.startswith("3.") else ""),
        )


def _artifacts(facts: Facts) -> Iterator[tuple[Path, str]]:
    if facts.get("mainApplicationFile"):
        yield facts.path("mainApplicationFile"), _main(facts)
    for field in ("jars", "packages"):
        yield from _dependencies(facts, field)
    for name in ("spark.jars", "spark.jars.packages"):
        if name in facts.conf:
            yield facts.path("sparkConf", name), facts.conf[name]


def _dependencies(facts: Facts, field: str) -> Iterator[tuple[Path, str]]:
    for index, text in enumerate(facts.get("deps", field) or ()):
        yield facts.path("deps", field, index), text


def coordinates(facts: Facts) -> Iterator[Finding]:
    """Packages that are no Maven coordinates: spark-submit stops (MavenUtils.extractMavenCoordinates)."""
    texts = list(_dependencies(facts, "packages"))
    if "spark.jars.packages" in facts.conf:
        texts.append((facts.path("sparkConf", "spark.jars.packages"), facts.conf["spark.jars.packages"]))
    for path, text in texts:
        for name in text.split(","):
            parts = [part.strip() for part in name.replace("/", ":").split(":")]
            if name.strip() and (len(parts) != 3 or not all(parts)):
                yield _no_coordinates(path, name.strip(), parts)
    for path, text in _dependencies(facts, "excludePackages"):
        if len(text.split(":")) != 2 or not all(text.split(":")):
            yield Finding(
                path,
                "is no `group:artifact`, and spark-submit stops at it",
                shortened(text),
                "group:artifact",
                "write group and artifact with one colon between them, without a version",
            )


def _no_coordinates(path: Path, name: str, parts: list[str]) -> Finding:
    step = "write group, artifact and version with colons between them"
    if name.endswith(".jar"):
        step = "move it to `deps.jars`"
    elif len(parts) == 4:
        step = "leave the fourth part out, or name the jar in `deps.jars`: spark-submit knows no classifiers"
    elif len(parts) == 2:
        step = "add the version"
    return Finding(
        path,
        "is no `group:artifact:version`, and spark-submit stops at it",
        shortened(name),
        "group:artifact:version",
        step,
    )


def file_locations(facts: Facts) -> Iterator[Finding]:
    """Files without a scheme, and files of someone's laptop: both are looked for inside the image."""
    files = [(facts.path("mainApplicationFile"), _main(facts))]
    for field in ("jars", "files", "pyFiles", "archives"):
        files += _dependencies(facts, field)
    for path, text in files:
        if text == INTERNAL:
            continue
        if re.match(
            r"[A-Za-z]:[\\/]|file:/+(?:[A-Za-z]:|home/|Users/)|/home/|/Users/|~|local:/+(?:home|Users)/", text
        ):
            yield Finding(
                path,
                "looks like a file on someone's computer, and is looked for inside the image",
                shortened(text),
                "local:///..., or a URL that the driver can fetch",
                "copy it into the image, or to an object store, and name that place",
            )
        elif not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text):
            fixed = text if text.startswith("/") else f"/{text.removeprefix('./')}"
            yield Finding(
                path,
                "has no scheme, so that the driver looks for it in its image and copies it to the executors",
                shortened(text),
                "local://, or a URL that the driver can fetch",
                f"write `local://{shortened(fixed)}` if the image has it",
            )


def unexpanded(facts: Facts) -> Iterator[Finding]:
    """Templates that nobody fills in: sparkgen, Helm values and Kubernetes leave them as they are."""
    texts = [
        (facts.path("arguments", index), text) for index, text in enumerate(facts.get("arguments") or ())
    ]
    texts.append((facts.path("mainApplicationFile"), _main(facts)))
    for path, text in texts:
        braces = re.search(r"\{\{.*?\}\}", text)
        variable = re.search(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}|(?<![$\w])\$[A-Z][A-Z0-9_]+\b", text)
        if braces:
            step = (
                "write the value; differing values of several environments go to an overlay (`-f`) or `--set`"
            )
            yield Finding(
                path, "is passed on as it stands: nothing fills it in", shortened(braces[0]), "", step
            )
        elif variable:
            name = variable[0].strip("${}")
            step = f"write `$({name})` for a variable of the container, or the value itself"
            message = "is passed on as it stands: no shell fills it in"
            yield Finding(path, message, shortened(variable[0]), "", step)
