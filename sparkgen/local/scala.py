"""Scala sources compiled to a jar with the compiler that every Spark carries: no build tool is needed.

A jar's bytes depend on what it was made of only.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sparkgen.local.java import Java
from sparkgen.local.progress import Progress, run
from sparkgen.local.spark import Spark

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can say


def compile_jar(
    target: Path,
    sources: Sequence[Path],
    spark: Spark,
    java: Java,
    progress: Progress,
    extra: Mapping[str, bytes] | None = None,
) -> None:
    """Write the jar `target` of these sources, with `extra` files. CannotRun when they do not compile."""
    classes = target.with_suffix(".classes")
    classes.mkdir()
    run(
        progress,
        f"compiling {target.stem} for Spark {spark.version} (once)",
        [
            *(str(java.home / "bin" / "java"), "-cp", f"{spark.home / 'jars'}/*", "scala.tools.nsc.Main"),
            *("-usejavacp", "-nowarn", "-d", str(classes), *map(str, sources)),
        ],
    )
    content = {path.relative_to(classes).as_posix(): path.read_bytes() for path in classes.rglob("*.class")}
    write_jar(target, {**content, **(extra or {})})
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
