"""Checks whether the driver's Spark Connect server serves. The only user of h2, which is slow to import.

The check is gRPC's health check. Spark's server has no such service, and opens no session for it. It answers
UNIMPLEMENTED, or UNAUTHENTICATED if it requires a token. Any answer with a `grpc-status` comes from a gRPC
server that serves. User code in the same pod may answer instead, and may send anything.
"""

from __future__ import annotations

import socket
import time

import h2.connection
import h2.events

from sparkgen.runtime.addresses import url_host

SECONDS = 3.0
"""The time for the whole exchange, however slowly its bytes arrive."""
MAX_BYTES = 16 * 1024
"""The most bytes that the server may send; Spark 4.3.0 sends some 200. h2 limits unpacked headers."""
READ = 1024
"""Bytes to read between two checks of the time: unpacking hostile compressed data takes a while."""
METHOD = "/grpc.health.v1.Health/Check"
EMPTY_MESSAGE = bytes(5)
"""A gRPC message without content: not compressed, 0 bytes long."""
STREAM = 1
SETTINGS = b"\x04"
"""The type of a server's first frame (RFC 9113, 3.4), its fourth byte. h2 would wait for the end of
others."""


class _NoAnswer(Exception):
    """Why the server does not serve, in one line."""


def why_not_serving(address: str, port: int, seconds: float = SECONDS) -> str:
    """Why the server at an IP address of the pod does not serve, in one line; "" if it serves.

    Returns within `seconds`, and never raises.
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
    """Send the check, and read up to a `grpc-status`. If none comes, raises _NoAnswer, OSError or h2's."""
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
    """The seconds that are left. Raises TimeoutError if there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _is_answer(event: h2.events.Event) -> bool:
    """Whether an event has a `grpc-status`. Raises _NoAnswer if it ends the exchange without one."""
    match event:
        case h2.events.ResponseReceived() | h2.events.TrailersReceived():
            return any(name == b"grpc-status" for name, _ in event.headers or ())
        case h2.events.InformationalResponseReceived():
            raise _NoAnswer("does not speak gRPC: it sends interim responses")
        case h2.events.StreamEnded() | h2.events.StreamReset() | h2.events.ConnectionTerminated():
            raise _NoAnswer("ended its answer without a grpc-status")
    return False
