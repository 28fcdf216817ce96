"""The bytes of an API server's answer: whole, or line by line. No more of them than there can be rightly."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import urllib3

from sparkgen.runtime.kubernetes.answers import AnswerTooLarge, CallFailed

CONNECT_TIMEOUT = 5.0
WHOLE_TIMEOUT = 120.0
"""Seconds for the whole of an answer that comes bit by bit."""
MAX_ANSWER = 12 * 1024 * 1024
"""Bytes of an answer, and of a line of a watch. An object of Kubernetes has 1.5 MiB at most (etcd's bound of
a request), which JSON may write in up to six times as many; a page of 500 executors has some 4 MiB."""
MAX_REFUSAL = 64 * 1024
"""Bytes of an answer that is an error: only its first words are read."""
PIECE = 64 * 1024


class LineStream:
    """An answer that comes in lines."""

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        self._response = response

    def lines(self) -> Iterator[bytes]:
        """Each whole line as it comes, until the server ends the answer. Fault when that breaks off."""
        rest = bytearray()
        with as_call_failures():
            while piece := self._response.read1(PIECE, decode_content=False):
                rest += piece
                if b"\n" in piece:
                    *whole, last = bytes(rest).split(b"\n")
                    rest = bytearray(last)
                    yield from filter(None, whole)
                if len(rest) > MAX_ANSWER:
                    raise CallFailed(f"a line of the watch has more than {MAX_ANSWER >> 20} MiB", sent=True)

    def stop(self) -> None:
        """Wake the thread that waits for a line: it gets a Fault. From any other thread."""
        with suppress(OSError, ValueError, RuntimeError):  # it has ended already
            self._response.shutdown()


@contextmanager
def as_call_failures() -> Iterator[None]:
    """Turn what urllib3 raises into a Fault that says it in words."""
    errors = urllib3.exceptions
    try:
        yield
    except errors.NewConnectionError as error:  # before ConnectTimeoutError, which it is a kind of
        raise CallFailed(f"the API server cannot be reached ({_cause(error)})", sent=False) from error
    except errors.ConnectTimeoutError as error:
        words = f"the API server accepted no connection within {CONNECT_TIMEOUT:g} s"
        raise CallFailed(words, sent=False) from error
    except errors.SSLError as error:
        raise CallFailed(f"TLS with the API server failed ({_cause(error)})", sent=False) from error
    except errors.ReadTimeoutError as error:
        raise CallFailed("the API server did not answer in time", sent=True) from error
    except (errors.HTTPError, OSError, ValueError) as error:
        raise CallFailed(f"the connection to the API server broke ({_cause(error)})", sent=True) from error


def _cause(error: BaseException) -> str:
    """The innermost error's words: urllib3 wraps the one that matters."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return f"{type(error).__name__}: {error}"


def whole_of(response: urllib3.BaseHTTPResponse, most: int, *, cut: bool) -> bytes:
    """All bytes of an answer, as they came: nothing was asked for that is packed, so nothing is unpacked.

    Of more than `most` the first ones (`cut`), or none: TooLarge. Fault when they take too long.
    """
    data, deadline = bytearray(), time.monotonic() + WHOLE_TIMEOUT
    while piece := response.read1(PIECE, decode_content=False):
        data += piece
        if len(data) > most:
            response.close()  # there is more to come on this connection
            if cut:
                return bytes(data[:most])
            raise AnswerTooLarge(f"the API server's answer has more than {most >> 20} MiB", sent=True)
        if time.monotonic() > deadline:
            response.close()
            raise CallFailed(f"the API server did not answer within {WHOLE_TIMEOUT:g} s", sent=True)
    return bytes(data)
