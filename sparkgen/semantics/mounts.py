"""What containers mount, and where."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from sparkgen.errors import Path
from sparkgen.semantics.facts import Container
from sparkgen.semantics.wording import shortened


def places(container: Container) -> Iterator[tuple[Path, str, str]]:
    """Yields the mounts of a container: path in the document, mount path, and what is mounted there."""
    for path, mount in container.items("volumeMounts"):
        if mount.get("mountPath"):
            yield (
                (*path, "mountPath"),
                str(mount["mountPath"]),
                f"volume `{shortened(str(mount.get('name')))}`",
            )
    if container.typed and container.kind == "spark":
        for field, what in (("secrets", "Secret"), ("configMaps", "ConfigMap")):
            for path, item in container.items(field):
                yield (*path, "path"), str(item["path"]), f"{what} `{shortened(item['name'])}`"


def mounted_at(place: str) -> str:
    """Returns the directory of a mount path: absolute, without `.`, `..` and doubled slashes.

    The kubelet puts a relative path below `/`, and the container runtime cleans it (Go's filepath.Clean).
    """
    return posixpath.normpath(f"/{place.lstrip('/')}")


def is_below(place: str, directory: str) -> bool:
    """Whether a mount path is a directory, or is inside it."""
    inside, outside = mounted_at(place), mounted_at(directory)
    return inside == outside or inside.startswith(f"{outside.rstrip('/')}/")
