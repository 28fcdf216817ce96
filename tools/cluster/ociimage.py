"""A container image of a few files, as one OCI archive, byte for byte the same every time."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BUSYBOX_COMMANDS = ("sh", "sleep", "wget", "nslookup", "httpd", "cat", "ls", "echo", "ping", "nc", "id")


def archive(name: str, layer: bytes, command: Sequence[str]) -> bytes:
    """The archive of an image called `name` ("docker.io/me/it:1") with one layer (a tar)."""
    config = _blob(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Cmd": list(command), "Env": ["PATH=/bin"]},
            "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
        }
    )
    manifest = _blob(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": _descriptor("config.v1", config),
            "layers": [_descriptor("layer.v1.tar", layer)],
        }
    )
    entry = {**_descriptor("manifest.v1", manifest), "annotations": {"io.containerd.image.name": name}}
    files = {f"blobs/sha256/{_digest(blob)[7:]}": blob for blob in (layer, config, manifest)}
    files["index.json"] = _blob({"schemaVersion": 2, "manifests": [entry]})
    files["oci-layout"] = _blob({"imageLayoutVersion": "1.0.0"})
    return tar(files)


def busybox(binary: Path) -> bytes:
    """The layer of an image that holds one static busybox under its commands' names."""
    links = {f"bin/{command}": "busybox" for command in BUSYBOX_COMMANDS}
    return tar({"bin/busybox": binary.read_bytes(), "tmp/.keep": b""}, links)


def tar(files: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> bytes:
    """A tar of `files` (all executable, root's, of the year 1970) and symbolic `links`."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive_file:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o755
            archive_file.addfile(member, io.BytesIO(data))
        for name, target in sorted((links or {}).items()):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive_file.addfile(member)
    return output.getvalue()


def _blob(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _descriptor(kind: str, data: bytes) -> dict[str, Any]:
    media = {"config.v1": "config.v1+json", "manifest.v1": "manifest.v1+json"}.get(kind, kind)
    return {
        "mediaType": f"application/vnd.oci.image.{media}",
        "digest": _digest(data),
        "size": len(data),
    }
