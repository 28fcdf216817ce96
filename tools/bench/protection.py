"""`make bench-protection`: what it costs to protect the traffic of a secure HDFS.

A client reads the same file from an HDFS of each side, in turn. KDC, NameNode, DataNode and client are
processes on loopback, so that nothing but the processors limits them. The times of a client that only logs
in and lists a folder are subtracted.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.folders import FOLDER
from bench.pages import Page, parser, show
from common.cachedir import ToolError
from common.command import tells_errors
from common.ports import free_port
from common.process_usage import children_cpu_seconds
from hadoop import hdfs
from hadoop.hdfs import Hdfs, Lives
from hadoop.kdc import Kdc
from hadoop.place import LOOPBACK, Place

RESULTS = FOLDER / "protection.md"
BLOCK = 512 << 20
"""Bytes of the file, which is one block; a client reads it twice."""
LIVES = Lives(3600, 7200)
"""Of tickets and tokens, in seconds: longer than the benchmark."""
AES = {"dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding"}
SIDES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "authentication": ("authentication", {}),
    "integrity": ("integrity", {}),
    "privacy": ("privacy", {}),
    "privacy with AES": ("privacy", AES),
}
"""Each with the protection of calls and data, and what else is set."""


@dataclass(frozen=True, slots=True)
class Read:
    """Seconds for 1 GiB: by the clock, and of the processors."""

    wall: float
    client: float
    server: float
    """Of the NameNode and the DataNode."""

    @property
    def cpu(self) -> float:
        """Of the processors, on both sides."""
        return self.client + self.server


Round = Mapping[str, Read]
"""By side."""


@dataclass(frozen=True)
class Storage:
    """An HDFS with one file, and who reads it."""

    hdfs: Hdfs
    reader: tuple[str, Path]


@tells_errors
def main(arguments: list[str] | None = None) -> int:
    """Run the rounds, print the page, and keep it with `--write`."""
    options = parser(__doc__, RESULTS, rounds=3).parse_args(arguments)
    found = measured(options.rounds)
    show(RESULTS, page(found), {"rounds": found}, write=options.write)
    return 0


def measured(rounds: int) -> list[Round]:
    """The rounds, each with all sides in turn."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-protection-")))
        block = folder / "block"
        block.write_bytes(b"." * BLOCK)
        storages = {
            side: stack.enter_context(filled(folder / str(number), block, *SIDES[side]))
            for number, side in enumerate(SIDES)
        }
        found: list[Round] = []
        for number in range(rounds):
            found.append({side: read(storage) for side, storage in storages.items()})
            print(f"round {number + 1}: {found[-1]}", file=sys.stderr, flush=True)
        return found


@contextmanager
def filled(folder: Path, block: Path, protection: str, more: Mapping[str, str]) -> Iterator[Storage]:
    """A secure HDFS that has the file, with a KDC of its own."""
    folder.mkdir()
    kdc = Kdc(folder / "kdc", free_port(), LIVES.renewal, LIVES.maximum)
    reader = ("alice", kdc.keytab("alice"))
    with ExitStack() as stack:
        stack.callback(kdc.stop)
        kdc.start()
        running = hdfs.running(
            *(folder / "hdfs", kdc, LOOPBACK, (Place(name="node1"),), LIVES, free_port()),
            block_size=BLOCK,
            protection=protection,
            properties=more,
            # The compiler that knows the processor's instructions for AES.
            java_options=(),
        )
        storage = stack.enter_context(running)
        storage.shell(f"-put {block} /block", "-chmod 755 /")
        yield Storage(storage, reader)


def read(storage: Storage) -> Read:
    """Read the file, and subtract what a client costs that reads nothing."""
    without = timed(storage, "-ls", "/")
    whole = timed(storage, "-cat", "/block", "/block")
    gigabytes = 2 * BLOCK / 2**30
    parts = (later - before for before, later in zip(without, whole, strict=True))
    return Read(*(round(part / gigabytes, 2) for part in parts))


def timed(storage: Storage, *words: str) -> tuple[float, float, float]:
    """Seconds of a command of `hdfs dfs`: by the clock, of its processors, and of the servers'."""
    command = [*storage.hdfs.command(storage.reader), *words]
    client, server, began = children_cpu_seconds(), storage.hdfs.cpu_seconds(), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise ToolError(f"hdfs dfs {' '.join(words)} failed:\n{done.stderr.decode()[-2000:]}")
    return time.monotonic() - began, children_cpu_seconds() - client, storage.hdfs.cpu_seconds() - server


def page(found: Sequence[Round]) -> str:
    """The page of results."""
    page = Page(RESULTS.name)
    page.setting(f"Hadoop {hdfs.PACKAGE.rpartition(':')[2]}")
    page.say("The numbers are for 1 GiB ", f"(medians of {len(found)}).")
    plain = middle(found, "authentication").cpu
    page.rows(
        (side, *(f"{part:.1f} s" for part in (one.wall, one.client, one.server)), f"{one.cpu / plain:.1f}")
        for side in SIDES
        for one in (middle(found, side),)
    )
    return page.text()


def middle(found: Sequence[Round], side: str) -> Read:
    """The medians of a side."""
    reads = [each[side] for each in found]
    return Read(
        *(statistics.median(getattr(one, name) for one in reads) for name in ("wall", "client", "server"))
    )
