"""Maven packages for tests, with all that they need: a folder that a web server makes a repository of.

Spark's own Ivy resolves them, once, from where it looks by itself.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from common import progress
from common.cachedir import cache_root, environment, key, publish
from common.command import run
from spark import spark_home

HARMLESS_MAIN_CLASS = "org.apache.hadoop.util.VersionInfo"


def ensure(version: str, package: str, excluded: Sequence[str] = ()) -> Path:
    """The repository of a package (`group:name:version`) of a Spark version; ToolError when there is none.

    `excluded`: what it needs and is not fetched (`group:name`).
    """
    target = cache_root(environment()) / "maven" / key(version, package, *excluded)
    return publish(target, lambda folder: _resolve(version, package, excluded, folder))


def _resolve(version: str, package: str, excluded: Sequence[str], target: Path) -> None:
    progress.say(f"resolving {package} (once)")
    ivy, home = target / "ivy", spark_home.ensure(version)
    command = [str(home / "bin" / "spark-submit"), "--packages", package, "--conf", f"spark.jars.ivy={ivy}"]
    if excluded:
        command += ["--exclude-packages", ",".join(excluded)]
    run(
        *(*command, "--class", HARMLESS_MAIN_CLASS, "spark-internal"),
        failed=f"{package} cannot be resolved",
        environment={**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    for pom in (ivy / "cache").glob("*/*/ivy-*.xml.original"):
        _lay_out(target, pom)
    shutil.rmtree(ivy)


def _lay_out(target: Path, pom: Path) -> None:
    """A module of Ivy's cache, as a Maven repository has it."""
    group, name = pom.parts[-3:-1]
    version = pom.name.removeprefix("ivy-").removesuffix(".xml.original")
    folder = target / group.replace(".", "/") / name / version
    folder.mkdir(parents=True)
    shutil.copyfile(pom, folder / f"{name}-{version}.pom")
    jar = f"{name}-{version}.jar"
    if (pom.parent / "jars" / jar).exists():
        shutil.copyfile(pom.parent / "jars" / jar, folder / jar)
