"""List the properties that Spark's Kubernetes module and spark-submit read, from the jars of each tested one.

    .venv/bin/python tools/spark/properties.py     write sparkgen/properties/spark.tsv

The names come from the entries of Spark's configuration objects, by reflection, and from the constants of the
classes that read them. Older names come from the entries and from SparkConf.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.cachedir import ToolError
from common.command import run, tells_errors
from spark import classfile, spark_home
from sparkgen.properties.known import DATA, Known, text_of
from sparkgen.spark_versions import TESTED

SOURCE = Path(__file__).parent / "entries" / "ListEntries.scala"
MAIN = "org.apache.spark.sparkgen.ListEntries"
READERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "kubernetes": (("spark-kubernetes_", r".*\.class"),),
    "submit": (
        ("spark-core_", r"org/apache/spark/deploy/(?:SparkSubmit|PythonRunner)[^/]*\.class"),
        ("spark-launcher_", r".*\.class"),
    ),
}
"""Who reads a property -> the jars and the classes in them."""
PLUGINS = frozenset(("org/apache/spark/api/plugin/SparkPlugin", "org/apache/spark/shuffle/api/ShuffleDataIO"))
"""What classes extend or implement that `spark.plugins` and `spark.shuffle.sort.io.plugin.class` can name."""
NAMES_OF_OBJECTS = re.compile(r".*/k8s/Constants\$\.class")
"""Texts here name annotations, files and ports of Kubernetes."""
_NAME = re.compile(r"spark\.[a-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*\.?")
_ENTRIES_IN = ("spark-core_", "spark-kubernetes_", "spark-config_", "spark-common-utils_")


@dataclass(frozen=True, slots=True)
class Entries:
    """What Spark's objects say. `members`: of objects -> their property; `older`: property -> older names."""

    members: Mapping[str, str]
    since: Mapping[str, str]
    older: Mapping[str, tuple[str, ...]]


def properties() -> tuple[Known, ...]:
    """The properties of all tested versions of Spark, sorted by name."""
    lists = [_of_version(tested.version) for tested in TESTED]
    names = sorted({name for one in lists for name in one})
    found = (_joined([one[name] for one in lists if name in one], len(lists)) for name in names)
    return tuple(one for one in found if one.readers or one.older)


def _joined(found: list[Known], versions: int) -> Known:
    """One property of several versions; older names are those that every version knows."""
    newest = found[-1]
    always = [name for name in newest.older if all(name in one.older for one in found)]
    return replace(
        newest,
        versions=tuple(version for one in found for version in one.versions),
        readers=tuple(sorted({reader for one in found for reader in one.readers})),
        older=tuple(always) if len(found) == versions else (),
    )


def _of_version(version: str) -> Mapping[str, Known]:
    jars = spark_home.ensure(version) / "jars"
    entries = _entries(jars)
    readers: dict[str, set[str]] = {}
    for reader, places in READERS.items():
        for begin, pattern in places:
            for name in _read_by(_jar(jars, begin), pattern, entries.members):
                readers.setdefault(name, set()).add(reader)
    for name in _plugins(_jar(jars, "spark-kubernetes_")):
        readers[name] = {"plugin"}
    named = readers.keys() | entries.older.keys()
    return {
        name: Known(
            name,
            entries.since.get(name, ""),
            (version,),
            tuple(sorted(readers.get(name, ()))),
            entries.older.get(name, ()),
        )
        for name in named
    }


def _read_by(jar: Path, pattern: str, members: Mapping[str, str]) -> Iterator[str]:
    """The properties that the classes of a jar name, or ask one of Spark's objects for."""
    with zipfile.ZipFile(jar) as archive:
        for entry in archive.namelist():
            if not re.fullmatch(pattern, entry) or NAMES_OF_OBJECTS.fullmatch(entry):
                continue
            found = classfile.constants(archive.read(entry))
            yield from filter(_NAME.fullmatch, found.texts)
            for owner, member in found.references:
                name = members.get(f"{owner.replace('/', '.')}.{member}")
                if name is not None:
                    yield name


def _plugins(jar: Path) -> Iterator[str]:
    """The classes of a jar that properties can name."""
    with zipfile.ZipFile(jar) as archive:
        for entry in archive.namelist():
            if entry.endswith(".class"):
                found = classfile.constants(archive.read(entry))
                if found.parents & PLUGINS:
                    yield found.name.replace("/", ".")


def _entries(jars: Path) -> Entries:
    """Run the Scala program on a folder of jars."""
    java, library = str(spark_home.java()), f"{jars}/*"
    with tempfile.TemporaryDirectory() as classes:
        compiler = ["scala.tools.nsc.Main", "-usejavacp", "-nowarn", "-d", classes, str(SOURCE)]
        run(java, "-cp", library, *compiler)
        given = [str(path) for begin in _ENTRIES_IN for path in sorted(jars.glob(f"{begin}*.jar"))]
        text = run(java, "-cp", f"{classes}:{library}", MAIN, *given)
    return _parsed(text.splitlines())


def _parsed(lines: Iterable[str]) -> Entries:
    """The entries in the program's output. SparkConf's older names come before those of an entry."""
    members: dict[str, str] = {}
    since: dict[str, str] = {}
    own: dict[str, list[str]] = {}
    older: dict[str, list[str]] = {}
    for line in lines:
        kind, *parts = line.split("\t")
        if kind == "entry":
            member, key, version, names = parts
            members[member], since[key] = key, version
            own.setdefault(key, []).extend(filter(None, names.split(",")))
        elif parts[2] == "false":  # Spark itself translates the other values
            older.setdefault(parts[0], []).append(parts[1])
    merged = {key: tuple(dict.fromkeys([*older.get(key, ()), *own.get(key, ())])) for key in own | older}
    return Entries(members, since, {key: names for key, names in merged.items() if names})


def _jar(jars: Path, begin: str) -> Path:
    found = sorted(jars.glob(f"{begin}*.jar"))
    if len(found) != 1:
        raise ToolError(f"there is no single {begin}*.jar in {jars}")
    return found[0]


@tells_errors
def main() -> int:
    """Write the data file."""
    DATA.write_text(text_of(properties()), encoding="utf-8")
    print(DATA)
    return 0


if __name__ == "__main__":
    sys.exit(main())
