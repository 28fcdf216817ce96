"""A server whose answers never end, though no byte of them is late."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator

OK = b"HTTP/1.1 200 OK\r\n"
ENDLESS = {
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "head": (OK + b"A: b", b"b"),
    "length of a chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "trailer": (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
    "body": (OK + b"Content-Length: 1000000\r\n\r\n", b" "),
}
"""What is sent first, and then again and again."""
PAUSE = 0.02
"""Seconds between two pieces: a client that has room for everything must not be filled."""


@contextlib.contextmanager
def endless(kind: str, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Yields the address, with the port, of a server that answers so. At the end, no client is connected."""
    ended = threading.Event()
    threads: list[threading.Thread] = []

    def play(accepted: socket.socket) -> None:
        first, again = ENDLESS[kind]
        with (
            contextlib.suppress(OSError),
            tls.wrap_socket(accepted, server_side=True) if tls else accepted as near,
        ):
            near.recv(1 << 16)
            near.sendall(first)
            while not ended.wait(PAUSE):
                near.sendall(again)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                thread = threading.Thread(target=play, args=(listener.accept()[0],), daemon=True)
                threads.append(thread)
                thread.start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join(60)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "the client is still connected"
    ended.set()
