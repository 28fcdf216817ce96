"""Asks the driver's Spark Connect server whether it serves. The one user of h2, which is slow to import.

The question is gRPC's health check. Spark's server has no such service, and opens no session for it: it
answers UNIMPLEMENTED, or UNAUTHENTICATED where it asks for a token. Any answer with a `grpc-status` comes
from a gRPC server that serves. User code of the same pod may answer instead, in any way that it likes.
"""

from __future__ import annotations

import socket
import time

import h2.connection
import h2.events

from sparkgen.runtime.addresses import url_host

SECONDS = 3.0
"""For the whole exchange, however slowly its bytes come."""
MAX_BYTES = 16 * 1024
"""Of all that the server sends; Spark 4.3.0 sends some 200. h2 bounds headers when they are unpacked."""
READ = 1024
"""Bytes between two looks at the time: what is packed to explode takes a while."""
METHOD = "/grpc.health.v1.Health/Check"
EMPTY_MESSAGE = bytes(5)
"""A gRPC message without content: not compressed, 0 bytes long."""
STREAM = 1
SETTINGS = b"\x04"
"""The type of a server's first frame (RFC 9113, 3.4), in its fourth byte. Of others h2 waits for the end."""


class _NoAnswer(Exception):
    """Why the server does not serve, as one line."""


def why_not_serving(address: str, port: int, seconds: float = SECONDS) -> str:
    """Why the server at an IP address of the pod does not serve, as one line; empty where it does.

    It returns within `seconds`, and raises nothing.
    """
    place = f"the Connect server at {url_host(address)}:{port}"
    deadline = time.monotonic() + seconds
    try:
        with socket.create_connection((address, port), seconds) as connection:
            _exchange(connection, f"{url_host(address)}:{port}", deadline)
    except ConnectionRefusedError:
        return f"{place} is not listening yet"
    except TimeoutError:
        return f"{place} did not answer within {seconds:g} s"
    except OSError as error:
        return f"{place} cannot be reached: {error.strerror or type(error).__name__}"
    except _NoAnswer as error:
        return f"{place} {error}"
    except Exception as error:  # noqa: BLE001 - h2 reads what may be anything, and names its errors by what it found
        return f"{place} does not speak gRPC: {type(error).__name__}"
    return ""


def _exchange(connection: socket.socket, authority: str, deadline: float) -> None:
    """Ask, and read until there is a `grpc-status`. _NoAnswer, OSError, or h2's errors where none comes."""
    client = h2.connection.H2Connection()
    client.initiate_connection()
    client.send_headers(
        STREAM,
        [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", METHOD),
            (":authority", authority),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        ],
    )
    client.send_data(STREAM, EMPTY_MESSAGE, end_stream=True)
    received, start = 0, b""
    while received <= MAX_BYTES:
        connection.settimeout(_left(deadline))
        connection.sendall(client.data_to_send())
        connection.settimeout(_left(deadline))
        data = connection.recv(READ)
        if not data:
            raise _NoAnswer("closed the connection without an answer")
        received, start = received + len(data), (start + data)[:4]
        if start[3:] not in (b"", SETTINGS):
            raise _NoAnswer("does not speak HTTP/2, which gRPC needs")
        if any(_is_answer(event) for event in client.receive_data(data)):
            return
    raise _NoAnswer(f"sent more than {MAX_BYTES} bytes without an answer")


def _left(deadline: float) -> float:
    """Seconds that are left. TimeoutError when there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _is_answer(event: h2.events.Event) -> bool:
    """Whether it has a `grpc-status`. _NoAnswer for what ends the exchange without one."""
    match event:
        case h2.events.ResponseReceived() | h2.events.TrailersReceived():
            return any(name == b"grpc-status" for name, _ in event.headers or ())
        case h2.events.InformationalResponseReceived():
            raise _NoAnswer("does not speak gRPC: it sends interim responses")
        case h2.events.StreamEnded() | h2.events.StreamReset() | h2.events.ConnectionTerminated():
            raise _NoAnswer("ended its answer without a grpc-status")
    return False
