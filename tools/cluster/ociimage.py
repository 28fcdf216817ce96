"""Container images as values, and as one OCI archive with reproducible bytes.

Layers are not compressed: on one machine, compression takes too much time for the little space that it saves
(Spark's jars are already compressed), and without it a layer's digest is also its diff_id. Images that share
layers share them in the archive, too.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

BUSYBOX_COMMANDS = ("sh", "sleep", "wget", "nslookup", "httpd", "cat", "ls", "echo", "ping", "nc", "id")

_MEDIA_TYPE = "application/vnd.oci.image"

COPY_BYTES = 1 << 20
"""The bytes of a layer that are read at once."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer: its digest ("sha256:..."), its size in bytes, and its tar, in memory or in a file."""

    digest: str
    size: int
    content: bytes | Path


@dataclass(frozen=True, slots=True)
class Image:
    """An image without a name. `config`: the "config" of its OCI configuration (Env, User, ...)."""

    architecture: str
    config: Mapping[str, Any]
    layers: tuple[Layer, ...]


def layer(content: bytes | Path) -> Layer:
    """The layer of a tar, which is read completely for the digest."""
    if isinstance(content, bytes):
        return Layer(_digest(content), len(content), content)
    with content.open("rb") as file:
        whole = hashlib.file_digest(file, "sha256").hexdigest()
    return Layer(f"sha256:{whole}", content.stat().st_size, content)


def on_top(image: Image, *layers: Layer, **config: Any) -> Image:
    """The image with more layers, and with these entries of its config (User=..., Env=[...]) replaced."""
    return Image(image.architecture, {**image.config, **config}, (*image.layers, *layers))


def digest(image: Image) -> str:
    """The digest of the image's manifest, by which containerd identifies the image."""
    return _digest(_manifest(image, _configuration(image)))


Images = Mapping[str, Image | Sequence[Image]]
"""Images by their names; those for several architectures share one name, and become an index."""


def members(images: Images) -> dict[str, bytes | Layer]:
    """The files of an OCI layout with the images under these names ("docker.io/me/it:1").

    containerd reads the names from the manifests' annotations. (With an additional name for the index, as by
    `ctr images import --index-name`, ctr would unpack the index of an image that by then is the manifest. If
    containerd's garbage collector has run in between, this fails with "content digest ... not found".)
    """
    files: dict[str, bytes | Layer] = {}
    entries = []
    for name, image in images.items():
        described = _add_image(files, image) if isinstance(image, Image) else _add_index(files, image)
        entries.append({**described, "annotations": {"io.containerd.image.name": name}})
    files["index.json"] = _json({"schemaVersion": 2, "manifests": entries})
    files["oci-layout"] = _json({"imageLayoutVersion": "1.0.0"})
    return files


def _add_image(files: dict[str, bytes | Layer], image: Image) -> dict[str, Any]:
    """Add the files of an image. Returns what an index says about it."""
    configuration = _configuration(image)
    manifest = _manifest(image, configuration)
    files |= {_path(part.digest): part for part in image.layers}
    files |= {_path(_digest(blob)): blob for blob in (configuration, manifest)}
    return _descriptor("manifest.v1+json", _digest(manifest), len(manifest))


def _add_index(files: dict[str, bytes | Layer], images: Sequence[Image]) -> dict[str, Any]:
    """Add images for several architectures, and their index. Returns what another index says about it."""
    entries = [
        {**_add_image(files, image), "platform": {"architecture": image.architecture, "os": "linux"}}
        for image in images
    ]
    index = _json({"schemaVersion": 2, "mediaType": f"{_MEDIA_TYPE}.index.v1+json", "manifests": entries})
    files[_path(_digest(index))] = index
    return _descriptor("index.v1+json", _digest(index), len(index))


def write(output: IO[bytes], images: Images, there: Collection[str] = ()) -> None:
    """Write the archive of images, without the layers in `there`: digests that the receiver already has."""
    with tarfile.open(fileobj=output, mode="w|", bufsize=COPY_BYTES) as archive:
        for name, content in sorted(members(images).items()):
            if isinstance(content, bytes):
                _add(archive, name, len(content), io.BytesIO(content))
            elif content.digest not in there:
                with opened(content) as data:
                    _add(archive, name, content.size, data)


def make_layout(folder: Path, image: Image) -> None:
    """Write the OCI layout of one image to a folder; layers in files become hard links."""
    for name, content in members({"image": image}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.content if isinstance(content, Layer) else content
        if isinstance(data, bytes):
            path.write_bytes(data)
        else:
            path.hardlink_to(data)


def read_dir(folder: Path) -> Image:
    """The image that buildah (or skopeo) wrote to `dir:folder` with uncompressed layers."""

    def blob(described: Mapping[str, Any]) -> Path:
        return folder / str(described["digest"]).removeprefix("sha256:")

    manifest = json.loads((folder / "manifest.json").read_bytes())
    configuration = json.loads(blob(manifest["config"]).read_bytes())
    layers = tuple(Layer(entry["digest"], entry["size"], blob(entry)) for entry in manifest["layers"])
    return Image(configuration["architecture"], configuration["config"], layers)


def busybox(binary: Path) -> bytes:
    """The tar of a layer with one static busybox, and a link for each of its commands."""
    links = {f"bin/{command}": "busybox" for command in BUSYBOX_COMMANDS}
    return tar({"bin/busybox": binary.read_bytes(), "tmp/.keep": b""}, links)


def tar(files: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> bytes:
    """A tar of `files` (all executable, owned by root, dated 1970) and symbolic `links`."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for name, data in sorted(files.items()):
            _add(archive, name, len(data), io.BytesIO(data))
        for name, target in sorted((links or {}).items()):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return output.getvalue()


def _add(archive: tarfile.TarFile, name: str, size: int, data: IO[bytes]) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o755
    archive.addfile(member, data)


def opened(part: Layer) -> IO[bytes]:
    """The layer's tar, opened for reading."""
    return io.BytesIO(part.content) if isinstance(part.content, bytes) else part.content.open("rb")


def _configuration(image: Image) -> bytes:
    return _json(
        {
            "architecture": image.architecture,
            "os": "linux",
            "config": image.config,
            "rootfs": {"type": "layers", "diff_ids": [part.digest for part in image.layers]},
        }
    )


def _manifest(image: Image, configuration: bytes) -> bytes:
    return _json(
        {
            "schemaVersion": 2,
            "mediaType": f"{_MEDIA_TYPE}.manifest.v1+json",
            "config": _descriptor("config.v1+json", _digest(configuration), len(configuration)),
            "layers": [_descriptor("layer.v1.tar", part.digest, part.size) for part in image.layers],
        }
    )


def _descriptor(kind: str, its_digest: str, size: int) -> dict[str, Any]:
    return {"mediaType": f"{_MEDIA_TYPE}.{kind}", "digest": its_digest, "size": size}


def _path(its_digest: str) -> str:
    return f"blobs/{its_digest.replace(':', '/')}"


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
