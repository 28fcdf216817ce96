"""Maps paths in the image, which a document contains, to files of this machine.

`/opt/spark` is the home of the local Spark. `--map PATH=FOLDER` maps other folders of the image. All other
files must have the same path here; relative paths start at the document's folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sparkgen.local.errors import CannotRun

IMAGE_HOME = PurePosixPath("/opt/spark")
"""SPARK_HOME in the stock images."""
EXAMPLES_JAR = re.compile(r"/opt/spark/examples/jars/spark-examples(?:_[\d.]+-[\d.]+)?\.jar")
_HERE = re.compile(r"(?:local|file):(?://)?(/.*)")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class PathMapping:
    """Maps paths of the image to paths of this machine. `folder`: the document's."""

    spark_home: Path
    folder: Path
    maps: tuple[tuple[PurePosixPath, Path], ...] = ()
    examples_jar: Callable[[], Path] | None = None
    """Returns a jar of Spark's examples, if the local Spark has none."""

    def file(self, text: str, field: str) -> str:
        """The path here of a file that the document names in `field`; a remote URL is returned unchanged.

        Raises CannotRun if the file is not on this machine.
        """
        here = _HERE.fullmatch(text)
        if here is None and _ELSEWHERE.match(text):
            return text
        named = here[1] if here else text
        path, mark, name = named.partition("#")  # an archive's name after unpacking
        found = self._find(path)
        if found is None:
            raise CannotRun(self._missing(path, text, field))
        return f"{found}{mark}{name}"

    def argument(self, text: str) -> str:
        """An argument; mapped if it is a path that does not exist here, and its mapped file does."""
        here = re.fullmatch(r"((?:local|file):(?://)?)?(/.*)", text)
        if here is None or Path(here[2]).exists():
            return text
        moved = self._moved(here[2])
        return f"{here[1] or ''}{moved}" if moved is not None and moved.exists() else text

    def mapped(self, path: str) -> Path | None:
        """The file here to which `--map` maps a path of the pod; None if there is none."""
        moved = self._moved(path)
        return moved if moved is not None and moved.is_file() else None

    def path_list(self, text: str) -> str:
        """A class path, with each entry mapped as by `argument`."""
        return ":".join(self.argument(entry) for entry in text.split(":"))

    def _find(self, path: str) -> Path | None:
        if not path.startswith("/"):
            beside = self.folder / path
            return beside.absolute() if beside.exists() else None
        moved = self._moved(path)
        if moved is not None and moved.exists():
            return moved
        if self.examples_jar is not None and EXAMPLES_JAR.fullmatch(path):
            return self.examples_jar()
        return Path(path) if Path(path).exists() else None

    def _moved(self, path: str) -> Path | None:
        """The path here for a path of the image; the longest mapping wins."""
        pure = PurePosixPath(path)
        every = [*self.maps, (IMAGE_HOME, self.spark_home)]
        fitting = [(origin, here) for origin, here in every if pure.is_relative_to(origin)]
        if not fitting:
            return None
        origin, here = max(fitting, key=lambda pair: len(pair[0].parts))
        return here.absolute() / pure.relative_to(origin)

    def _missing(self, path: str, text: str, field: str) -> str:
        if not path.startswith("/"):
            return f"{field}: there is no {self.folder / path} (paths are relative to the document's folder)"
        if PurePosixPath(path).is_relative_to(IMAGE_HOME / "examples"):
            return (
                f"{field}: the Spark of this machine ({self.spark_home}) has no "
                f"{path.removeprefix('/opt/spark/')}; PyPI's pyspark has only the Python examples: set "
                "SPARK_HOME to a full release of Spark"
            )
        parent, name = str(PurePosixPath(path).parent), PurePosixPath(path).name
        beside = self.folder if (self.folder / name).exists() else Path("FOLDER")
        return (
            f"{field}: {text} is a file in the image, and is not on this machine; say where its folder is "
            f"with --map {parent}={beside}"
        )


def parse_maps(texts: Sequence[str]) -> tuple[tuple[PurePosixPath, Path], ...]:
    """The mappings of `--map PATH=FOLDER`. Raises CannotRun for a malformed one."""
    found = []
    for text in texts:
        origin, equals, folder = text.partition("=")
        origin = re.sub(r"^(?:local|file):(?://)?(?=/)", "", origin)
        if not equals or not origin.startswith("/") or not folder:
            raise CannotRun(
                f"--map {text}: write the image's folder, an equals sign, and the local folder: /opt/app=src"
            )
        if not Path(folder).expanduser().is_dir():
            raise CannotRun(f"--map {text}: there is no folder {folder}")
        found.append((PurePosixPath(origin), Path(folder).expanduser().absolute()))
    return tuple(found)
