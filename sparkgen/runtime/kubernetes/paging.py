"""Reads lists of the API server in pages: smaller ones where one is too large, and never without end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sparkgen.runtime.kubernetes.answers import AnswerTooLarge, CallFailed, Reply
from sparkgen.runtime.kubernetes.untrusted import Malformed, mapping

MAX_TOKEN = 64 * 1024
"""The most characters of the token for the next page of a list."""


def pages(
    ask: Callable[[Mapping[str, str]], Reply], sizes: Sequence[int], most: int, selector: str = ""
) -> Iterator[Reply]:
    """The answers that have the pages of a list; an answer that is not 200 is the last.

    `ask` makes a request with a query. `sizes`: the numbers of objects in one page, from the largest to the
    smallest; `most`: of requests. Raises the CallFailed of `ask` (AnswerTooLarge if the smallest page is too
    large), and CallFailed if the list does not end, or if a page does not say whether it is the last.
    """
    query = {"labelSelector": selector} if selector else {}
    left = iter(sizes)
    query["limit"] = str(next(left))
    for _ in range(most):
        try:
            reply = ask(dict(query))
        except AnswerTooLarge:
            size = next(left, 0)
            if not size:
                raise
            query["limit"] = str(size)
            continue
        yield reply
        token = _token_in(reply) if reply.status == 200 else ""
        if not token:
            return
        if token == query.get("continue"):
            break
        query["continue"] = token
    raise CallFailed("the API server's list does not end", sent=True)


def _token_in(reply: Reply) -> str:
    """The token for the next page: some hundred characters, of any kind; "" after the last."""
    try:
        token = mapping(mapping(reply.body, "the answer").get("metadata"), "metadata").get("continue")
        if token is None:
            return ""
        if not isinstance(token, str) or len(token) > MAX_TOKEN or not token.isascii():
            raise Malformed(f"metadata.continue must be a string of at most {MAX_TOKEN} characters")
    except Malformed as error:
        raise CallFailed(f"the API server's answer is not a list ({error})", sent=True) from None
    return token
