"""Requests to one repository, with the login that its registry asks for.

One rule says where credentials go: headers are made anew for each address, with a login only if scheme, host
and port are the registry's own. So no redirect, however many there are, takes credentials along.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar
from urllib.parse import SplitResult, quote, urlencode, urljoin, urlsplit

from sparkgen.jsonvalue import decode
from sparkgen.runtime.registry.challenge import Challenge, challenge
from sparkgen.runtime.registry.credentials import Credentials, api_host

BASIC = "Basic "
"""How the header with a name and a password begins."""
_FORM = "application/x-www-form-urlencoded"
REDIRECTS = (301, 302, 303, 307, 308)
MOST_REDIRECTS = 5
_TOKEN = re.compile(r"[\x21-\x7e]+")

Body = Callable[[], Iterable[bytes]]
Kind = Literal[
    "unknown", "no credentials", "rejected", "invalid server", "unsafe server", "no token", "refused"
]
"""Why there is no login: an unknown scheme; no credentials, or wrong ones; a token server with an invalid
address, or one to which no password may go; one that sends no token, or answers with `status`."""


class NoLogin(Exception):
    """A registry asks for a login that cannot be had. `server`: scheme and host of the token server."""

    def __init__(self, kind: Kind, server: str = "", status: int = 0) -> None:
        super().__init__(kind)
        self.kind = kind
        self.server = server
        self.status = status


class BadAddress(Exception):
    """An answer leads to an invalid address (`scheme` None), or to one without TLS or with a password."""

    def __init__(self, scheme: str | None, host: str | None) -> None:
        super().__init__(f"{scheme}://{host}")
        self.scheme = scheme
        self.host = host


class Answered(Protocol):
    """An answer of a server."""

    @property
    def status(self) -> int:
        """Its code."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Its headers; those that are asked for are in small letters."""


Answer = TypeVar("Answer", bound=Answered)
Send = Callable[[str, str, Mapping[str, str], Body | None], Answer]
"""Sends a request: method, address, headers, body."""


class Wire(Protocol[Answer]):
    """Sends single requests, without a login and without following redirects; its errors are the caller's."""

    def send(self, method: str, url: str, headers: Mapping[str, str], body: Body | None) -> Answer:
        """The answer."""
        ...

    def whole(self, answer: Answer) -> bytes:
        """The body of a small answer, which is closed then."""
        ...

    def close_answer(self, answer: Answer) -> None:
        """Let go of an answer that is not read."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A repository, and how its registry is reached: `scheme` is http only for an insecure one."""

    scheme: str
    host: str
    repository: str

    @property
    def base(self) -> str:
        """The address of the registry."""
        return f"{self.scheme}://{api_host(self.host)}"

    def url(self, path: str) -> str:
        """The address of a path below the repository."""
        return f"{self.base}/v2/{self.repository}/{path}"

    def owns(self, url: str) -> bool:
        """Whether an address is the registry's own: only there may its credentials go."""
        where = urlsplit(url)
        return f"{where.scheme}://{where.netloc}" == self.base


def carries_credentials(headers: Mapping[str, str]) -> bool:
    """Whether a request of a Login, with these headers, has a password or token in it: only its forms do."""
    return "Authorization" in headers or headers.get("Content-Type") == _FORM


class Login(Generic[Answer]):
    """Sends requests about one repository; for several threads. `actions`: such as `pull,push`."""

    def __init__(
        self,
        place: Place,
        actions: str,
        agent: str,
        credentials: Callable[[], Credentials | None],
        wire: Wire[Answer],
    ) -> None:
        self.place = place
        self._actions = actions
        self._agent = agent
        self._credentials = credentials
        self._wire = wire
        self._authorization = ""

    def headers(self, url: str, headers: Mapping[str, str] | None = None) -> dict[str, str]:
        """The headers of a request, with the login where the address is the registry's own."""
        own = self._authorization and self.place.owns(url)
        return {
            "User-Agent": self._agent,
            **(headers or {}),
            **({"Authorization": self._authorization} if own else {}),
        }

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: Body | None = None,
        send: Send[Answer] | None = None,
    ) -> Answer:
        """The answer, after a challenge of the registry was met. NoLogin where it cannot be met.

        `send`: sends this request in place of the wire's own.
        """
        send = send or self._wire.send
        sent = self.headers(url, headers)
        answer = send(method, url, sent, body)
        if answer.status != 401 or not self.place.owns(url):
            return answer
        asked = challenge(answer.headers.get("www-authenticate", ""))
        self._wire.close_answer(answer)
        self._authorization = self._answer_to(asked, sent.get("Authorization", ""))
        answer = send(method, url, self.headers(url, headers), body)
        if answer.status == 401 and self._authorization.startswith(BASIC):
            self._wire.close_answer(answer)
            raise self._rejected()
        return answer

    def _answer_to(self, asked: Challenge | None, tried: str) -> str:
        if asked is None:
            raise NoLogin("unknown")
        known = self._credentials()
        if asked.scheme == "bearer":
            return f"Bearer {self._token(asked, known)}"
        if known is None or not known.user or tried == known.basic:
            raise self._rejected()
        return known.basic

    def _rejected(self) -> NoLogin:
        return NoLogin("no credentials" if self._credentials() is None else "rejected")

    def _token(self, asked: Challenge, known: Credentials | None) -> str:
        realm = self._checked(asked.realm)
        # The scope is ours: a registry could ask for a token that may do more, and elsewhere.
        query = {"scope": f"repository:{self.place.repository}:{self._actions}"}
        if asked.service:
            query["service"] = asked.service
        headers = {"User-Agent": self._agent}
        if known is not None and known.identity_token:
            form = {
                **query,
                "grant_type": "refresh_token",
                "client_id": self._agent,
                "refresh_token": known.identity_token,
            }
            data = urlencode(form).encode()
            headers |= {
                "Content-Type": _FORM,
                "Content-Length": str(len(data)),
            }
            answer = self._wire.send("POST", asked.realm, headers, lambda: [data])
        else:
            if known is not None:
                headers["Authorization"] = known.basic
            mark = "&" if realm.query else "?"
            url = f"{asked.realm}{mark}{urlencode(query, quote_via=quote)}"
            answer = self._wire.send("GET", url, headers, None)
        return self._token_in(answer)

    def _checked(self, realm: str) -> SplitResult:
        """The address of a token server to which credentials may go.

        A registry with TLS may name any server with TLS. What one without TLS names could be anybody's words,
        so only its own host may get the password.
        """
        try:
            found = urlsplit(realm)
            own = found.hostname == urlsplit(self.place.base).hostname
        except ValueError:
            raise NoLogin("invalid server") from None
        insecure = self.place.scheme == "http"
        safe = (found.scheme == "https" and (own or not insecure)) or self.place.owns(realm)
        if not safe or not found.hostname or found.username is not None:
            raise NoLogin("unsafe server", f"{found.scheme}://{found.hostname}")
        return found

    def _token_in(self, answer: Answer) -> str:
        if answer.status in (400, 401, 403):
            self._wire.close_answer(answer)
            raise self._rejected()
        if answer.status != 200:
            self._wire.close_answer(answer)
            raise NoLogin("refused", status=answer.status)
        with suppress(ValueError):
            found = decode(self._wire.whole(answer))
            token = (found.get("token") or found.get("access_token")) if isinstance(found, dict) else None
            if isinstance(token, str) and _TOKEN.fullmatch(token):
                return token
        raise NoLogin("no token")


def next_address(base: str, location: str) -> str:
    """An address from an answer, which may be relative to that of the request. BadAddress for an unsafe one.

    It has TLS where the request had it, and no user.
    """
    try:
        found = urljoin(base, location)
        parts = urlsplit(found)
        host, named = parts.hostname, parts.username is not None
    except ValueError:  # such as half an IPv6 address
        raise BadAddress(None, None) from None
    if parts.scheme not in ("https", urlsplit(base).scheme) or not host or named:
        raise BadAddress(parts.scheme, host)
    return found
