"""Checks whether the contents of an artifact are within its limits. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparkgen.delivery.ignore import FILE_NAME
from sparkgen.delivery.limits import MAX_FILES, bytes_text
from sparkgen.delivery.tar import folders_above
from sparkgen.delivery.values import Contents, Wrong
from sparkgen.runtime.fetch.archive import MOST_ENTRIES
from sparkgen.semantics.local_entries import Entry


def too_large(contents: Sequence[Contents], entries: Sequence[Entry], max_bytes: int) -> Iterator[Wrong]:
    """Yields the artifacts that are over a limit, each as a problem of its first entry."""
    for one in contents:
        first = next(entry for entry in entries if entry.artifact == one.name)
        size = sum(file.size for file in one.files)
        if size > max_bytes:
            largest = max(one.files, key=lambda file: file.size)
            yield Wrong(
                first,
                f"the files of the artifact {one.name} have {bytes_text(size)}, more than "
                f"{bytes_text(max_bytes)}; the largest is {largest.inside} with {bytes_text(largest.size)}",
                f"add files to {FILE_NAME}, or raise maxArtifactSize in .sparkgen.yaml",
            )
        if len(one.files) > MAX_FILES:
            yield Wrong(
                first,
                f"the artifact {one.name} would have {len(one.files)} files, more than {MAX_FILES}",
                f"add files to {FILE_NAME}, or pack them into an archive",
            )
        elif len(one.files) + len(_folders(one)) >= MOST_ENTRIES:
            yield Wrong(
                first,
                f"the artifact {one.name} would have {MOST_ENTRIES} or more files and folders",
                f"add folders to {FILE_NAME}, or pack them into an archive",
            )


def _folders(contents: Contents) -> set[str]:
    return {above for file in contents.files for above in folders_above(file.inside)}
