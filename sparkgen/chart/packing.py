"""Packs the chart for Helm: always to the same bytes, on every machine."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

from sparkgen.chart.files import NAME, files, version
from sparkgen.errors import SparkgenError
from sparkgen.writers.repository import refuse_way_out


def archive(content: dict[str, bytes]) -> bytes:
    """A gzipped tar of the chart's folder: no times, no owners, Chart.yaml first as in Helm's packages."""
    stream = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=stream, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name in sorted(content, key=lambda name: (name != "Chart.yaml", name)):
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size, entry.mode = len(content[name]), 0o644
            tar.addfile(entry, io.BytesIO(content[name]))
    return stream.getvalue()


def package(directory: Path) -> Path:
    """Write `spark-app-<version>.tgz` to a directory. Returns its path. Raises SparkgenError if it fails."""
    content = files()
    refuse_way_out(directory)
    path = directory / f"{NAME}-{version(content)}.tgz"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        draft = directory / f".{path.name}.{os.getpid()}"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(handle, "wb") as file:  # noqa: PTH123 - a name that must be new: no link is followed
                file.write(archive(content))
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise SparkgenError(f"cannot write {path}: {error.strerror}") from error
    return path
