"""The cache of a node: neighbours that hold locks or fill the folder, pods that are killed or race."""

from __future__ import annotations

import fcntl
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkgen.delivery.oci import sha256
from sparkgen.runtime.fetch import cache
from sparkgen.runtime.fetch.cache import Cache
from sparkgen.runtime.fetch.download import Time
from sparkgen.runtime.fetch.values import Artifact
from tests.unit.runtime.fetch.test_fetch import FakeTime

NOW = 1e9


def artifact(data: bytes) -> Artifact:
    """An artifact whose layer this is."""
    digest = sha256(data)
    return Artifact("code", "r.example", "a", digest, digest, len(data), len(data))


def made(folder: Path, clock: Time | None = None) -> tuple[Cache, list[str]]:
    """A cache, and what it says."""
    said: list[str] = []
    return Cache(folder, clock or FakeTime().time, lambda: NOW, said.append), said


def aged(path: Path, seconds: float) -> Path:
    """A file that nobody has touched for so long."""
    path.write_bytes(b"x")
    os.utime(path, (NOW - seconds,) * 2)
    return path


def test_neighbours_that_hold_all_locks_cost_one_wait(tmp_path: Path) -> None:
    """Not one for each layer: a pod with eight would start 40 minutes later."""
    clock = FakeTime()
    made_here, said = made(tmp_path, clock.time)
    wanted = [artifact(bytes([number])) for number in range(8)]
    held = [(tmp_path / f"{one.digest.replace(':', '-')}.lock").open("w") for one in wanted]
    for file, one in zip(held, wanted, strict=True):
        fcntl.flock(file, fcntl.LOCK_EX)
        with made_here.alone(one):
            pass
    assert clock.seconds < cache.LONGEST_WAIT + 10
    assert len(said) == len(wanted)
    for file in held:
        file.close()


def test_what_a_killed_pod_left_goes_before_the_next_layer_is_written(tmp_path: Path) -> None:
    """Its draft is as large as a layer: a pod that is killed again and again would fill the disk."""
    killed = aged(tmp_path / f".sha256-{'1' * 64}.0123", cache.DRAFT_SECONDS + 1)
    at_work = aged(tmp_path / f".sha256-{'1' * 64}.4567", 60)
    whole = aged(tmp_path / f"sha256-{'1' * 64}", cache.DRAFT_SECONDS + 1)
    made_here, said = made(tmp_path)
    made_here.put(artifact(b"layer"), io.BytesIO(b"layer"))
    assert not killed.exists()
    assert at_work.exists()
    assert whole.exists()
    assert said == []


def test_two_pods_that_remove_the_same_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one has listed, the other has removed: the layer is kept all the same."""
    gone = tmp_path / f"sha256-{'1' * 64}"
    real = Path.iterdir

    def listed(folder: Path) -> Iterator[Path]:
        return iter([gone, *real(folder)])

    monkeypatch.setattr(Path, "iterdir", listed)
    made_here, said = made(tmp_path)
    made_here.put(artifact(b"layer"), io.BytesIO(b"layer"))
    assert said == []
    assert made_here.take(artifact(b"layer"), io.BytesIO())


def test_what_looks_like_a_layer_and_is_none_stays(tmp_path: Path) -> None:
    """A folder or a link is a neighbour's."""
    odd = tmp_path / f"sha256-{'2' * 64}"
    odd.mkdir()
    os.utime(odd, (0, 0))
    made_here, said = made(tmp_path)
    made_here.put(artifact(b"layer"), io.BytesIO(b"layer"))
    assert (odd.is_dir(), said) == (True, [])


def test_a_folder_that_a_neighbour_filled_is_scanned_and_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of 900,000 names would take more than the container's memory."""
    for number in range(300):
        (tmp_path / f"{number:03}").touch()
    monkeypatch.setattr(cache, "MOST_LOOKED_AT", 100)
    looked_at: list[str] = []
    real = os.scandir

    class Counted:
        def __init__(self, folder: Path) -> None:
            self._entries = real(folder)

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            return self._each()

        def _each(self) -> Iterator[os.DirEntry[str]]:
            for entry in self._entries:
                looked_at.append(entry.name)
                yield entry

        def __exit__(self, *_: object) -> None:
            self._entries.close()

    monkeypatch.setattr(cache.os, "scandir", Counted)
    monkeypatch.setattr(cache.os, "listdir", pytest.fail)
    kept, said = made(tmp_path)
    wanted = artifact(b"x")
    kept.put(wanted, io.BytesIO(b"x"))
    assert len(looked_at) == 100
    assert (said, (tmp_path / wanted.digest.replace(":", "-")).read_bytes()) == ([], b"x")
