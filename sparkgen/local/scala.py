"""Scala sources compiled to a jar with the compiler that every Spark carries: no build tool is needed.

A jar's bytes depend on what it was made of only.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkgen.local.progress import Progress, run

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can say


@dataclass(frozen=True, slots=True)
class Compiler:
    """The compiler of a Spark. Where it is, and its `java`, are asked only when something is compiled."""

    version: str
    """Of Spark."""
    scala: str
    """The Scala line."""
    home: Callable[[], Path]
    java: Callable[[], Path]


def compile_jar(
    target: Path,
    sources: Sequence[Path],
    compiler: Compiler,
    progress: Progress,
    extra: Mapping[str, bytes],
) -> None:
    """Write the jar `target` of these sources, with `extra` files. CannotRun when they do not compile."""
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
    """A jar of `content` (data by name), without times and without the order of a file system."""
    manifest = b"Manifest-Version: 1.0\r\n\r\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, data in [("META-INF/MANIFEST.MF", manifest), *sorted(content.items())]:
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            jar.writestr(entry, data)
