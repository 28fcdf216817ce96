"""What a staging server keeps, from its claim: the registry's protocol lists no manifest without a tag.

The folders are those of distribution's file system driver (registry/storage/paths.go):

    repositories/NAME/_manifests/revisions/sha256/HEX/link      a manifest; its time: when it was pushed last
    repositories/NAME/_manifests/tags/TAG/current/link          what a tag means
    blobs/sha256/HE/HEX/data                                    the bytes of a manifest, or of a layer
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sparkgen.jsonvalue import decode
from sparkgen.runtime.kubernetes.untrusted import mapping
from sparkgen.runtime.registry_gc.values import DIGEST, Manifest

FOLDER = Path("docker/registry/v2")
MAX_MANIFEST = 4 << 20
"""Bytes: distribution takes none that is larger (maxManifestBodySize)."""

_HEX = re.compile(r"[0-9a-f]{64}")
_ABOUT = re.compile(r"sha256-([0-9a-f]{64})(\..*)?")
"""The tag of what is about a manifest: a signature of cosign's, or a registry's list of referrers."""


def manifests(root: Path) -> Iterator[Manifest]:
    """All manifests below a claim's root. OSError when something cannot be read."""
    base = root / FOLDER
    for repository in _repositories(base / "repositories"):
        folder = base / "repositories" / repository / "_manifests"
        about = _tagged(folder / "tags")
        for digest, pushed in _revisions(folder / "revisions" / "sha256"):
            subject = _digests([_content(base, digest).get("subject")])
            subjects = tuple({*subject, *about.get(digest, ())})
            yield Manifest(repository, digest, pushed, subjects)


def parts(root: Path, manifest: Manifest) -> frozenset[str]:
    """The manifests that one lists. OSError when it cannot be read.

    They are read when they are needed, and not kept: a list of four megabytes names 60,000 of them.
    """
    listed = _content(root / FOLDER, manifest.digest).get("manifests")
    return frozenset(_digests(listed if isinstance(listed, list) else ()))


def _repositories(root: Path) -> Iterator[str]:
    """The names of all repositories: folders with one for manifests. No link is followed."""
    if not root.is_dir():
        return  # nobody has pushed anything yet

    def fail(error: OSError) -> None:
        raise error

    for folder, names, _ in os.walk(root, onerror=fail):
        if "_manifests" in names:
            yield str(Path(folder).relative_to(root))
        names[:] = sorted(name for name in names if not name.startswith("_"))


def _revisions(folder: Path) -> Iterator[tuple[str, float]]:
    """Digest and time of a repository's manifests. One that is gone meanwhile is none."""
    for entry in _entries(folder):
        if _HEX.fullmatch(entry.name):
            try:
                yield f"sha256:{entry.name}", (entry / "link").stat().st_mtime
            except FileNotFoundError:
                continue


def _tagged(folder: Path) -> dict[str, frozenset[str]]:
    """Digest -> what it is about, by its tags."""
    found: dict[str, frozenset[str]] = {}
    for entry in _entries(folder):
        about = _ABOUT.fullmatch(entry.name)
        if about is None:
            continue
        try:
            digest = (entry / "current" / "link").read_text("utf-8").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            continue
        found[digest] = found.get(digest, frozenset()) | {f"sha256:{about[1]}"}
    return found


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []


def _content(base: Path, digest: str) -> Mapping[str, Any]:
    """What a manifest says; nothing for what is no manifest.

    One odd entry costs no other one: what is not found here may be deleted.
    """
    word = digest.removeprefix("sha256:")
    try:
        with (base / "blobs" / "sha256" / word[:2] / word / "data").open("rb") as file:
            return mapping(decode(file.read(MAX_MANIFEST)), "manifest")
    except (FileNotFoundError, ValueError):
        return {}


def _digests(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        digest = value.get("digest") if isinstance(value, dict) else None
        if isinstance(digest, str) and DIGEST.fullmatch(digest):
            yield digest
