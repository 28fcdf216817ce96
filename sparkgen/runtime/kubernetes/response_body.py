"""Reads the bytes of an API server's answer, whole or line by line, up to the size of a valid answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import urllib3

from sparkgen.runtime.deadline import Overdue
from sparkgen.runtime.kubernetes.answers import AnswerTooLarge, CallFailed

CONNECT_TIMEOUT = 5.0
WHOLE_TIMEOUT = 120.0
"""The most seconds for a whole answer, or for the head of a watch, even if it arrives bit by bit."""
MAX_ANSWER = 12 * 1024 * 1024
"""The most bytes of an answer, and of a line of a watch. An object of Kubernetes has 1.5 MiB at most (etcd's
limit of a request), which JSON may write in up to six times as many; a page of 500 executors has some 4
MiB."""
MAX_REFUSAL = 64 * 1024
"""The most bytes of an error answer: only its first words are read."""
PIECE = 64 * 1024


class LineStream:
    """An answer that arrives in lines."""

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        self._response = response

    def lines(self) -> Iterator[bytes]:
        """Yields each whole line as it arrives, until the answer ends. Raises CallFailed if it breaks off."""
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
        """Wake up the thread that waits for a line, which gets CallFailed. Call it from another thread."""
        with suppress(OSError, ValueError, RuntimeError):  # it has ended already
            self._response.shutdown()


@contextmanager
def as_call_failures() -> Iterator[None]:
    """Turn urllib3's exceptions into CallFailed with a reason in words."""
    errors = urllib3.exceptions
    try:
        yield
    except errors.NewConnectionError as error:  # before ConnectTimeoutError, its base class
        raise CallFailed(f"the API server cannot be reached ({_cause(error)})", sent=False) from error
    except errors.ConnectTimeoutError as error:
        words = f"the API server accepted no connection within {CONNECT_TIMEOUT:g} s"
        raise CallFailed(words, sent=False) from error
    except errors.SSLError as error:
        raise CallFailed(f"TLS with the API server failed ({_cause(error)})", sent=False) from error
    except errors.ReadTimeoutError as error:
        raise CallFailed("the API server did not answer in time", sent=True) from error
    except Overdue as error:
        raise CallFailed(f"the API server sent {error}", sent=True) from error
    except (errors.HTTPError, OSError, ValueError) as error:
        raise CallFailed(f"the connection to the API server broke ({_cause(error)})", sent=True) from error


def _cause(error: BaseException) -> str:
    """The innermost error's words: urllib3 wraps the original error."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return f"{type(error).__name__}: {error}"


def whole_of(response: urllib3.BaseHTTPResponse, most: int, *, cut: bool) -> bytes:
    """All bytes of an answer, as received: no compression was requested, so nothing is decompressed.

    If there are more than `most`, returns the first ones (`cut`) or raises AnswerTooLarge.
    """
    data = bytearray()
    while piece := response.read1(PIECE, decode_content=False):
        data += piece
        if len(data) > most:
            response.close()  # the connection has more bytes to come, so it cannot be used again
            if cut:
                return bytes(data[:most])
            raise AnswerTooLarge(f"the API server's answer has more than {most >> 20} MiB", sent=True)
    return bytes(data)
