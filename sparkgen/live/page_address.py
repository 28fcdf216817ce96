"""The address of a forwarded page: an origin that the browser shares with no other page.

Browsers keep cookies, caches and service workers by host name. A name below `localhost` leads to this machine
(RFC 6761, section 6.3), and browsers take it for a site of its own.
"""

from __future__ import annotations

import re
import socket

from sparkgen.names import MAX_LABEL
from sparkgen.runtime.httpserver.parse import END, BadRequest, parse_head, response_bytes
from sparkgen.runtime.httpserver.values import text

HEAD_BYTES = 2**16
"""The most bytes of a request's head that are read: servers accept less."""
REFUSAL = response_bytes(
    text(421, "This port has another address: open the one that sparkgen printed.\n"),
    keep_alive=False,
)
"""The answer to a request for another host. It names no host: a page of another one must not learn it."""
REFUSED = (
    "refused a request that does not name the printed address: open exactly that one, so that pages of other "
    "applications cannot act in its place"
)


def page_host(name: str, namespace: str, random: str) -> str:
    """Returns a host for one forwarding of an application: a DNS label below `localhost`.

    `random`: lower-case letters and digits that nobody can guess. A long name is cut, never the random part.
    """
    words = re.findall(r"[a-z0-9]+", f"{name}-{namespace}".lower())  # a label's value may have more
    shown = "-".join(words)[: MAX_LABEL - len(random) - 1].rstrip("-")
    return f"{shown}-{random}.localhost"


def authority(host: str, port: int) -> str:
    """Returns what a browser sends in the header Host: the host, with the port unless it is 80."""
    return host if port == 80 else f"{host}:{port}"


def read_head(connection: socket.socket) -> bytes:
    """Read until the head of a request is complete, or can be none. Raises OSError as `recv` does."""
    head = b""
    while END not in head and len(head) < HEAD_BYTES and (head[:1].isalpha() or not head):
        piece = connection.recv(HEAD_BYTES)
        if not piece:
            break
        head += piece
    return head


def is_for(head: bytes, host: str) -> bool:
    """Whether bytes begin with the head of a request that names exactly this host (`authority`)."""
    fields, end, _ = head.partition(END)
    try:
        return bool(end) and parse_head(fields).headers.get("host", "").lower() == host
    except BadRequest:
        return False
