"""Laws of packing: the bytes of a layer follow from paths, contents and the right to execute alone."""

from __future__ import annotations

import base64
import io
import os
import random
import re
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sparkgen.delivery.look import look
from sparkgen.delivery.mounted import contents as mounted_contents
from sparkgen.delivery.oci import image
from sparkgen.delivery.pack import layer, measured
from sparkgen.delivery.source import source
from sparkgen.delivery.tar import Member, archive

NAMES = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=("Cs", "Cc")), min_size=1, max_size=60
).filter(lambda name: name not in (".", "..") and len(name.encode()) < 200)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
TREES = st.dictionaries(
    PATHS, st.tuples(st.binary(max_size=1500), st.booleans()), min_size=1, max_size=8
).filter(lambda tree: not any(a != b and b.startswith(f"{a}/") for a in tree for b in tree))


def members(tree: dict[str, tuple[bytes, bool]]) -> list[Member]:
    """A tree as members of an archive."""
    return [
        Member(path, len(data), executable, lambda data=data: iter([data]))  # type: ignore[misc]
        for path, (data, executable) in tree.items()
    ]


@given(TREES)
def test_unpacking_gives_back_what_was_packed(tree: dict[str, tuple[bytes, bool]]) -> None:
    """Another program reads every path, content and mode; owners, times and links are none."""
    data = b"".join(archive(members(tree)))
    assert len(data) % 512 == 0
    with tarfile.open(fileobj=io.BytesIO(data)) as found:
        entries = found.getmembers()
        files = {
            entry.name: (found.extractfile(entry).read(), entry.mode == 0o755)  # type: ignore[union-attr]
            for entry in entries
            if entry.isfile()
        }
    assert files == tree
    assert all(entry.isfile() or (entry.isdir() and entry.mode == 0o755) for entry in entries)
    assert all(
        (entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname) == (0, 0, 0, "", "")
        for entry in entries
    )
    names = [entry.name for entry in entries]
    assert all(str(Path(name).parent) in (".", *names[:index]) for index, name in enumerate(names))


@given(TREES, st.randoms(use_true_random=False))
def test_the_order_of_files_changes_nothing(
    tree: dict[str, tuple[bytes, bool]], chance: random.Random
) -> None:
    """A folder lists its files in any order."""
    shuffled = list(tree.items())
    chance.shuffle(shuffled)
    assert measured(archive(members(dict(shuffled)))) == measured(archive(members(tree)))


@given(TREES, st.data())
def test_any_change_is_another_digest(tree: dict[str, tuple[bytes, bool]], data: st.DataObject) -> None:
    """A byte, a mode, a name."""
    path = data.draw(st.sampled_from(sorted(tree)))
    content, executable = tree[path]
    changed = data.draw(
        st.sampled_from(
            [
                {**tree, path: (content + b"\0", executable)},
                {**tree, path: (content, not executable)},
                {**{key: value for key, value in tree.items() if key != path}, f"{path}x": tree[path]},
            ]
        )
    )
    if changed.keys() != tree.keys() and f"{path}x" in tree:
        return
    first, second = measured(archive(members(tree))), measured(archive(members(changed)))
    assert first.digest != second.digest
    assert image(first).digest != image(second).digest


@given(TREES)
def test_same_files_same_digest_on_any_machine(tree: dict[str, tuple[bytes, bool]]) -> None:
    """Whatever the times, the umask, the owner's modes and the folder's place are."""
    digests = []
    for umask, time in ((0o022, 1), (0o077, 1_700_000_000)):
        before = os.umask(umask)
        try:
            with tempfile.TemporaryDirectory() as folder:
                for path, (content, executable) in tree.items():
                    file = Path(folder, "lib", path)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(content)
                    file.chmod((0o700 if executable else 0o600) | (0o055 & ~umask))
                    os.utime(file, (time, time))
                value = {"spec": {"deps": {"pyFiles": ["./lib"]}}}
                looked = look(value, Path(folder))
                if looked.wrong:
                    return  # a name of a cache, or of a secret
                [contents] = looked.contents
                digests.append((layer(contents.files).blob, source(contents)))
        finally:
            os.umask(before)
    assert digests[0] == digests[1]


def test_the_bytes_of_a_layer_stay_the_same_for_years() -> None:
    """A known layer and its image: whoever changes these makes every lock out of date."""
    tree = {
        "jobs/etl.py": (b"print(1)\n", False),
        "run.sh": (b"#!/bin/sh\n", True),
        "long/" + "n" * 120: (b"x", False),
        "umlaut/\u00fc.py": (b"", False),
    }
    blob = measured(archive(members(tree)))
    assert (blob.digest, blob.size) == (
        "sha256:53a2da8072a9afa1cf7ed63ad6237bd81aa3b7279e24fa0e18cef8e1c6150a38",
        8192,
    )
    assert image(blob).digest == "sha256:0fb1b1a88a4771e2075aa213b01da822c0bf17423e172bce18d7ca7c0d407e01"


@given(TREES)
def test_a_config_map_is_mounted_as_an_artifact_is_unpacked(tree: dict[str, tuple[bytes, bool]]) -> None:
    """Paths, contents and modes; a ConfigMap has no folders of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for path, (content, executable) in tree.items():
            file = Path(folder, "lib", path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o755 if executable else 0o644)
        looked = look({"spec": {"deps": {"pyFiles": ["./lib"]}}}, Path(folder))
        if looked.wrong:
            return  # a name of a cache, or of a secret
        [contents] = looked.contents
        data = b"".join(layer(contents.files).chunks())
        mounted = as_mounted(mounted_contents(contents.files))
    with tarfile.open(fileobj=io.BytesIO(data)) as found:
        unpacked = {
            entry.name: (found.extractfile(entry).read(), entry.mode)  # type: ignore[union-attr]
            for entry in found.getmembers()
            if entry.isfile()
        }
    assert mounted == unpacked


def as_mounted(contents: dict[str, Any]) -> dict[str, tuple[bytes, int]]:
    """Path -> content and mode of what the kubelet makes of a volume's items."""
    texts = {key: text.encode() for key, text in contents.get("data", {}).items()}
    others = {key: base64.b64decode(text) for key, text in contents.get("binaryData", {}).items()}
    assert all(re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key) for key in (*texts, *others))
    assert not texts.keys() & others.keys()
    files = texts | others
    assert sorted(files) == sorted(item["key"] for item in contents["items"])
    return {item["path"]: (files[item["key"]], item.get("mode", 0o644)) for item in contents["items"]}
