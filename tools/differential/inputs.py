"""What the commands of the cases name: files of a web server, and of an image that has the probe."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from cluster import images, ociimage
from cluster.ociimage import Image
from common.command import run
from spark import spark_home
from sparkgen.local.scala import write_jar

FOLDER = "opt/probe"
"""Where the image has the files of the web server, too."""
JAR = "opt/spark/jars/sparkgen-probe.jar"
CONFIGURATION = {"spark-defaults.conf": "spark.probe.image image\n", "probe.txt": "the image's folder"}
_POM = (
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    "<groupId>org.example</groupId><artifactId>{name}</artifactId><version>1.0</version>{more}</project>"
)
_NEEDS = (
    "<dependencies><dependency><groupId>org.example</groupId><artifactId>needed</artifactId>"
    "<version>1.0</version></dependency></dependencies>"
)
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of each JVM of a case: it lives for seconds only."""
PYTHON = '#!/bin/sh\nPROBE_PYTHON="$(dirname "$0")" exec /usr/bin/python3 "$@"\n'
"""An environment's interpreter: it says by a variable that it was the one."""


def served(sources: Path, folder: Path, versions: Sequence[str]) -> dict[str, bytes]:
    """The files that commands name, by name; the jars are made in `folder`."""
    jars = {name: _jar(folder / f"{name}.jar", name) for name in ("greeter", "other", "package", "needed")}
    maven = {f"maven/{path}": data for path, data in _maven(jars).items()}
    return {
        "probe.py": (sources / "probe.py").read_bytes(),
        "numbers.csv": b"1,2,3\n",
        "words.txt": b"words\n",
        "with space.txt": b"a space\n",
        "probe-log.properties": b"rootLogger.level = error\n",
        "helper.py": b"VALUE = 'a file'\n",
        "zipped.zip": _zip({"zipped.py": "VALUE = 'a zip'\n", "packed/inner.py": "VALUE = 'a package'\n"}),
        "egged.egg": _zip({"egged.py": "VALUE = 'an egg'\n"}),
        "listed.zip": _zip({"listed.py": "VALUE = 'a list'\n"}),
        "data.zip": _zip({"inner.txt": "inner\n", "deep/below.txt": "below\n"}),
        "data.tar.gz": _tar({"inner.txt": b"inner\n", "deep/below.txt": b"below\n"}),
        "environment.tar.gz": _tar({"bin/python": PYTHON.encode()}),
        "python": PYTHON.encode(),
        "greeter.jar": jars["greeter"],
        "other.jar": jars["other"],
        **maven,
        **{program(version): probe_jar(version, sources, folder) for version in versions},
    }


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def image(version: str, files: Mapping[str, bytes]) -> Image:
    """The stock image of a Spark version with the files in /opt/probe, and the probe among Spark's jars.

    In Spark's folder for configuration it has files that Spark would read.
    """
    own = {f"{FOLDER}/{name}": data for name, data in files.items()}
    own[JAR] = files[program(version)]
    own |= {f"opt/spark/conf/{name}": text.encode() for name, text in CONFIGURATION.items()}
    stock = images.spark(version)
    variables = [*stock.config["Env"], f"JAVA_TOOL_OPTIONS={QUICK}"]
    return ociimage.on_top(stock, ociimage.layer(ociimage.tar(own)), Env=variables)


def program(version: str) -> str:
    """The name of the jar with the probe for a Spark version."""
    return f"probe-{version}.jar"


def probe_jar(version: str, sources: Path, folder: Path) -> bytes:
    """The probe for the JVM, compiled against a Spark version; ToolError when it does not compile."""
    classes, jar = folder / f"classes-{version}", folder / program(version)
    of_spark = f"{spark_home.ensure(version) / 'jars'}/*"
    command = ["javac", "-proc:none", "--release", "17", "-cp", of_spark, "-d", str(classes)]
    run(*command, *sorted(map(str, sources.glob("*.java"))), failed="the probe cannot be compiled")
    write_jar(jar, {str(path.relative_to(classes)): path.read_bytes() for path in classes.rglob("*.class")})
    return jar.read_bytes()


def _jar(path: Path, text: str) -> bytes:
    write_jar(path, {"probe.txt": text.encode()})
    return path.read_bytes()


def _maven(jars: Mapping[str, bytes]) -> dict[str, bytes]:
    """A repository with org.example:package:1.0, which needs org.example:needed:1.0."""
    found = {}
    for name, more in (("package", _NEEDS), ("needed", "")):
        below = f"org/example/{name}/1.0/{name}-1.0"
        found[f"{below}.jar"] = jars[name]
        found[f"{below}.pom"] = _POM.format(name=name, more=more).encode()
    return found


def _zip(files: Mapping[str, str]) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return output.getvalue()


def _tar(files: Mapping[str, bytes]) -> bytes:
    return gzip.compress(ociimage.tar(files), mtime=0)
