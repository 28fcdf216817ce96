"""Reads lists of the API server in pages: smaller ones where one is too large, and never without end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sparkgen.runtime.kubernetes.answers import AnswerTooLarge, CallFailed, Reply
from sparkgen.runtime.kubernetes.untrusted import Malformed, mapping

MAX_TOKEN = 64 * 1024
"""The most characters of the token for the next page of a list."""
MOST_WANTED = 16
"""The most small pages after which a larger one is tried again."""


def pages(
    ask: Callable[[Mapping[str, str]], Reply], sizes: Sequence[int], most: int, selector: str = ""
) -> Iterator[Reply]:
    """The answers that have the pages of a list; an answer that is not 200 is the last.

    `ask` makes a request with a query. `sizes`: the numbers of objects in one page, from the largest to the
    smallest; `most`: of requests. Raises the CallFailed of `ask` (AnswerTooLarge if the smallest page is too
    large), and CallFailed if the list does not end, or if a page does not say whether it is the last.
    """
    query = {"labelSelector": selector} if selector else {}
    size = _Size(sizes)
    for _ in range(most):
        query["limit"] = str(size.now)
        try:
            reply = ask(dict(query))
        except AnswerTooLarge:
            if not size.smaller():
                raise
            continue
        yield reply
        size.fits()
        token = _token_in(reply) if reply.status == 200 else ""
        if not token:
            return
        if token == query.get("continue"):
            break
        query["continue"] = token
    raise CallFailed("the API server's list does not end", sent=True)


class _Size:
    """The size of the next page. One large object must not make all pages small, nor many cost many tries.

    So after each page that is too large, twice as many must fit before a larger one is tried again.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._at = self._fitted = 0
        self._wanted = 1

    @property
    def now(self) -> int:
        return self._sizes[self._at]

    def smaller(self) -> bool:
        """Note that a page was too large. Returns whether there is a smaller one."""
        self._fitted = 0
        self._wanted = min(2 * self._wanted, MOST_WANTED)
        self._at += 1
        return self._at < len(self._sizes)

    def fits(self) -> None:
        """Note that a page was not too large."""
        self._fitted += 1
        if self._at and self._fitted >= self._wanted:
            self._at, self._fitted = self._at - 1, 0


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
