"""Runs a program for its output, with limits on its time and on the size of the output."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import IO, cast

MOST = 1 << 20
"""The largest number of bytes of standard output that are read, unless a caller says otherwise."""
_TAIL = 2048
"""The number of bytes kept of the end of standard error."""
_PIECE = 1 << 16
_SHOWN = 300


class Failed(Exception):
    """A program failed or was killed. The message has the reason on one line."""


class TooMuch(Failed):
    """A program printed more than is read."""


def output_of(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    seconds: float,
    stdin: bool,
    shown: bool = True,
    most: int = MOST,
) -> bytes:
    """Returns a program's standard output. Raises Failed, OSError (no start), ValueError (null byte).

    At a terminal, its standard error is shown directly, because it may contain the address of a login page;
    otherwise its end is in the message. `stdin`: the program may read our standard input, where a user is;
    `shown`: its standard error may go to the terminal as it is; `most`: bytes, or it is TooMuch.
    """
    watched = stdin or (shown and sys.stderr is not None and sys.stderr.isatty())
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=None if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if watched else subprocess.PIPE,
    )
    end = time.monotonic() + seconds
    try:
        printed, said = _read(process, end, most)
        status = process.wait(max(end - time.monotonic(), 0))
    except (TimeoutError, subprocess.TimeoutExpired):
        raise Failed(f"{command[0]} did not end within {seconds:.0f} seconds") from None
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    if status:
        reason = "see its message above" if watched else _line(said) or "it printed no message"
        raise Failed(f"{command[0]} ended with exit code {status} ({reason})")
    return printed


def _read(process: subprocess.Popen[bytes], end: float, most: int) -> tuple[bytes, bytes]:
    """Returns standard output, and the end of standard error. Raises TooMuch, TimeoutError."""
    read = {pipe: bytearray() for pipe in (process.stdout, process.stderr) if pipe is not None}
    with selectors.DefaultSelector() as selector:
        for pipe in read:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(end - time.monotonic(), 0))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                pipe = cast(IO[bytes], key.fileobj)
                piece = os.read(key.fd, _PIECE)
                if not piece:
                    selector.unregister(pipe)
                elif pipe is process.stderr:
                    read[pipe] = (read[pipe] + piece)[-_TAIL:]
                elif len(read[pipe]) + len(piece) > most:
                    raise TooMuch(f"it printed more than {most >> 20} MiB")
                else:
                    read[pipe] += piece
    said = read[process.stderr] if process.stderr else b""
    return bytes(read[cast(IO[bytes], process.stdout)]), bytes(said)


def _line(said: bytes) -> str:
    """Returns the end of standard error on one line, at most 300 characters."""
    text = " ".join(said.decode(errors="replace").split())
    return text if len(text) <= _SHOWN else f"...{text[3 - _SHOWN :]}"
