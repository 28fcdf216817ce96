"""Compiles Scala sources to a jar with the compiler in every Spark: no build tool is needed.

A jar's bytes depend only on its inputs.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkgen.local.progress import Progress, run

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time in a zip file


@dataclass(frozen=True, slots=True)
class Compiler:
    """The compiler of a Spark. `home` and `java` are called only if something is compiled."""

    version: str
    """The version of Spark."""
    scala: str
    """The Scala version of Spark's jars."""
    home: Callable[[], Path]
    java: Callable[[], Path]


def compile_jar(
    target: Path,
    sources: Sequence[Path],
    compiler: Compiler,
    progress: Progress,
    extra: Mapping[str, bytes],
) -> None:
    """Compile these sources to the jar `target`, with `extra` files. Raises CannotRun if that fails."""
    classes = target.with_suffix(".classes")
    classes.mkdir()
    run(
        progress,
        f"compiling {target.stem} for Spark {compiler.version} (once)",
        [
            *(str(compiler.java()), "-cp", f"{compiler.home() / 'jars'}/*", "scala.tools.nsc.Main"),
            *("-usejavacp", "-nowarn", "-d", str(classes), *map(str, sources)),
        ],
    )
    content = {path.relative_to(classes).as_posix(): path.read_bytes() for path in classes.rglob("*.class")}
    write_jar(target, {**content, **extra})
    shutil.rmtree(classes)


def write_jar(path: Path, content: Mapping[str, bytes]) -> None:
    """Write a jar of `content` (data by name), without times, and in an order of its own."""
    manifest = {"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n\r\n"}
    _write(path, [*manifest.items(), *sorted(content.items())])


def write_zip(path: Path, content: Mapping[str, bytes]) -> None:
    """Write a zip file of `content` (data by name), without times, in the order of the names."""
    _write(path, sorted(content.items()))


def _write(path: Path, entries: Iterable[tuple[str, bytes]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # Unix, whatever writes it
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
