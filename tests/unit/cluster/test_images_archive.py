"""An archive of images: every digest is right, nothing is there twice, and it is the same every time."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from cluster import ociimage
from cluster.ociimage import Image, Layer

BASE = ociimage.layer(ociimage.tar({"bin/x": b"x"}, {"bin/y": "x"}))
MORE = ociimage.layer(ociimage.tar({"etc/z": b"z"}))
IMAGE = Image("amd64", {"User": "7", "Env": ["A=1"]}, (BASE,))
OTHER = ociimage.on_top(IMAGE, MORE, User="8")
NAMES = {"docker.io/me/it:1": IMAGE, "docker.io/me/it:1-too": IMAGE, "docker.io/me/other:2": OTHER}


def unpack(images: dict[str, Image], there: tuple[str, ...] = ()) -> dict[str, bytes]:
    """The files of the images' archive; a file that is there twice fails the test."""
    output = io.BytesIO()
    ociimage.write(output, images, there)
    with tarfile.open(fileobj=io.BytesIO(output.getvalue())) as archive:
        names = archive.getnames()
        assert len(names) == len(set(names))
        return {name: (archive.extractfile(name) or io.BytesIO()).read() for name in names}


def follow(files: dict[str, bytes], described: dict[str, Any]) -> bytes:
    """The blob of a descriptor; fails the test when its digest or its size is wrong."""
    data = files[f"blobs/{described['digest'].replace(':', '/')}"]
    assert described["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert described["size"] == len(data)
    return data


def test_every_digest_and_size_is_right() -> None:
    """From the index to the layers, as containerd follows them, for every name."""
    files = unpack(NAMES)
    entries = json.loads(files["index.json"])["manifests"]
    assert [entry["annotations"]["io.containerd.image.name"] for entry in entries] == list(NAMES)
    for entry, image in zip(entries, NAMES.values(), strict=True):
        manifest = json.loads(follow(files, entry))
        assert entry["digest"] == ociimage.digest(image)
        configuration = json.loads(follow(files, manifest["config"]))
        layers = [follow(files, described) for described in manifest["layers"]]
        assert layers == [layer.content for layer in image.layers]
        assert configuration["rootfs"]["diff_ids"] == [entry["digest"] for entry in manifest["layers"]]
        assert configuration["config"] == image.config
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}


def test_what_images_share_is_there_once() -> None:
    """Three names, two images, two layers: two configurations, two manifests, two layers."""
    assert sum(name.startswith("blobs/") for name in unpack(NAMES)) == 6


def test_the_index_has_no_name_of_its_own() -> None:
    """With one, ctr would unpack an index that containerd's garbage collector may have removed."""
    index = json.loads(unpack(NAMES)["index.json"])
    assert sorted(index) == ["manifests", "schemaVersion"]
    assert {tuple(entry["annotations"]) for entry in index["manifests"]} == {("io.containerd.image.name",)}


def test_layers_that_the_receiver_has_are_left_out() -> None:
    """Only layers: what is small is sent again, and the manifests still name every layer."""
    whole, part = unpack(NAMES), unpack(NAMES, (BASE.digest,))
    assert whole.keys() - part.keys() == {f"blobs/{BASE.digest.replace(':', '/')}"}
    assert part.items() <= whole.items()


def test_the_same_images_are_the_same_bytes() -> None:
    """An archive has no time, no user and no order but that of its names."""
    first, second = io.BytesIO(), io.BytesIO()
    ociimage.write(first, NAMES)
    again = Image("amd64", {"Env": ["A=1"], "User": "7"}, (ociimage.layer(BASE.content),))
    ociimage.write(second, {**NAMES, "docker.io/me/it:1": again})
    assert first.getvalue() == second.getvalue()


def test_a_tar_does_not_depend_on_the_order_of_its_files() -> None:
    """The same files are the same layer, and every one belongs to root and has no time."""
    files = {"a": b"1", "b/c": b"2"}
    assert ociimage.tar(files, {"l": "a"}) == ociimage.tar(dict(reversed(files.items())), {"l": "a"})
    with tarfile.open(fileobj=io.BytesIO(ociimage.tar(files, {"l": "a"}))) as archive:
        members = {m.name: (m.uid, m.gid, m.mtime, m.mode, m.linkname) for m in archive if m.isfile()}
        assert members == {"a": (0, 0, 0, 0o755, ""), "b/c": (0, 0, 0, 0o755, "")}
        assert archive.getmember("l").linkname == "a"


def test_a_layer_in_a_file_is_the_same_layer(tmp_path: Path) -> None:
    """Digest and size do not depend on where the tar is; nor does the archive."""
    path = tmp_path / "layer.tar"
    path.write_bytes(bytes(BASE.content) if isinstance(BASE.content, bytes) else b"")
    layer = ociimage.layer(path)
    assert (layer.digest, layer.size) == (BASE.digest, BASE.size)
    assert unpack({"x": Image("amd64", {}, (layer,))}) == unpack({"x": Image("amd64", {}, (BASE,))})


@pytest.mark.parametrize(
    "other",
    [
        Image("arm64", IMAGE.config, IMAGE.layers),
        Image("amd64", {**IMAGE.config, "User": "9"}, IMAGE.layers),
        OTHER,
        Image("amd64", OTHER.config, (MORE, BASE)),
    ],
)
def test_another_image_has_another_digest(other: Image) -> None:
    """By the digest a node knows that what it has under a name is from an older recipe."""
    assert ociimage.digest(other) != ociimage.digest(IMAGE)


def test_on_top_adds_and_changes_nothing_below() -> None:
    """The layers below stay first, settings that are not named stay, and the first image is as it was."""
    assert OTHER.layers == (BASE, MORE)
    assert OTHER.config == {"User": "8", "Env": ["A=1"]}
    assert IMAGE.config == {"User": "7", "Env": ["A=1"]}


def test_a_layout_links_to_layers_in_files(tmp_path: Path) -> None:
    """A base of hundreds of MB is not copied to be built on."""
    (tmp_path / "layer.tar").write_bytes(b"a tar")
    layer = ociimage.layer(tmp_path / "layer.tar")
    ociimage.make_layout(tmp_path / "layout", Image("amd64", {}, (layer, BASE)))
    blob = tmp_path / "layout" / "blobs" / layer.digest.replace(":", "/")
    assert blob.samefile(tmp_path / "layer.tar")
    assert (tmp_path / "layout" / "blobs" / BASE.digest.replace(":", "/")).read_bytes() == BASE.content


def test_what_buildah_writes_is_read(tmp_path: Path) -> None:
    """A `dir:` has its blobs under their digests, without the algorithm's name."""
    files = unpack({"x": OTHER})
    manifest = json.loads(files["index.json"])["manifests"][0]["digest"]
    for name, data in files.items():
        (tmp_path / Path(name).name).write_bytes(data)
    (tmp_path / "manifest.json").write_bytes(files[f"blobs/{manifest.replace(':', '/')}"])
    found = ociimage.read_dir(tmp_path)
    assert (found.architecture, found.config) == (OTHER.architecture, OTHER.config)
    assert [layer.digest for layer in found.layers] == [BASE.digest, MORE.digest]
    assert all(ociimage.layer(layer.content) == layer for layer in found.layers)
    assert isinstance(found.layers[0], Layer)
