"""Requests to one repository: with its login, tried again where that helps, and errors in words."""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError

from sparkgen.delivery.registry import errors
from sparkgen.delivery.registry.errors import RegistryError
from sparkgen.delivery.registry.receiver import check_receiver, checked
from sparkgen.runtime.deadline import Deadline, within
from sparkgen.runtime.registry.challenge import challenge
from sparkgen.runtime.registry.credentials import Credentials, api_host
from sparkgen.runtime.registry.headers import asked_pause, is_number
from sparkgen.runtime.registry.login import (
    MOST_REDIRECTS,
    REDIRECTS,
    BadAddress,
    Body,
    Login,
    NoLogin,
    Place,
    next_address,
)
from sparkgen.runtime.watched_pool import watched

AGENT = "sparkgen"
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before a request is sent again."""
_LONGEST_PAUSE = 30.0
_OK = 200
_TRANSIENT = (429, 500, 502, 503, 504)
_TIMEOUT = urllib3.Timeout(connect=10, read=120)
_WHOLE_SECONDS = 180.0
"""For a whole answer, and for each piece of a large one, however its bytes arrive."""
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_CHUNK = 1 << 18
_MOST_BYTES = 1 << 20
"""Of an answer: a registry that is none may send anything."""

Read = Callable[[Iterator[bytes]], bytes]
"""Reads a body of any size as it comes, and gives what is kept of it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Target:
    """A repository, as this machine reaches it.

    `insecure`: plain HTTP; `ca_file`: certificates to trust instead of the system's, or "".
    """

    repository: str
    insecure: bool = False
    ca_file: str = ""

    @property
    def host(self) -> str:
        """The registry, with its port; Docker Hub's has another name than its images."""
        return api_host(self.repository.partition("/")[0])

    @property
    def name(self) -> str:
        """The repository within the registry."""
        return self.repository.partition("/")[2]

    @property
    def local(self) -> bool:
        """Whether its name is this machine's, where plain HTTP is allowed (see `receiver`)."""
        return self.host.rpartition(":")[0] in _LOCAL_HOSTS or self.host in _LOCAL_HOSTS


@dataclass(slots=True)
class Client:
    """Speaks to the registry of a target; for several threads. `sleep`, `environment`: passed in by tests."""

    target: Target
    credentials: Callable[[], Credentials | None]
    sleep: Callable[[float], None]
    environment: Mapping[str, str]
    _scheme: str = ""
    _login: Login[Answer] | None = field(default=None, repr=False)
    _pool: urllib3.PoolManager | None = field(default=None, repr=False)

    def begin(self) -> None:
        """Find out how the registry speaks, and whether it is one. RegistryError says why it is not."""
        self._scheme = "http" if self.target.insecure else "https"
        try:
            answer = self._answer_of_root()
        except RegistryError as error:
            if self.target.insecure or not self.target.local or error.unreached != "plain HTTP":
                raise
            self._scheme = "http"
            answer = self._answer_of_root()
        if answer.status == 401 and (challenge(answer.headers.get("www-authenticate", "")) is not None):
            return
        if answer.status != 200 or b"<html" in answer.body[:500].lower():
            if answer.status in _TRANSIENT:
                raise errors.refused(self.target.host, "reach the registry", answer.status, answer.body)
            raise RegistryError(
                f"{self.target.host} is not a registry: it answers {answer.status} to /v2/; check the "
                "repository"
            )

    def _answer_of_root(self) -> Answer:
        return self.send("GET", f"{self._scheme}://{self.target.host}/v2/", {"User-Agent": AGENT}, None)

    def url(self, path: str) -> str:
        """The address of a path below the repository."""
        return self._known_login().place.url(path)

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: Body | None = None,
        read: Read | None = None,
    ) -> Answer:
        """The answer, with a login where one is asked for. RegistryError where none comes or none is taken.

        What went wrong at the registry for a moment is tried again, with growing pauses.
        """
        login = self._known_login()
        try:
            answer = login.request(method, url, headers, body, self._reading(read))
        except NoLogin as error:
            raise self._without_login(error) from None
        if answer.status == 401 and login.place.owns(url):
            raise self._not_let_in()
        return answer

    def read(self, url: str, headers: Mapping[str, str], read: Read) -> Answer:
        """The answer to a GET whose body may be large and elsewhere, such as in an object store."""
        for _ in range(MOST_REDIRECTS):
            answer = self.request("GET", url, headers, read=read)
            if answer.status not in REDIRECTS or "location" not in answer.headers:
                return answer
            url = absolute(url, answer.headers["location"])
        raise RegistryError(f"{self.target.host} redirects more than {MOST_REDIRECTS} times")

    def once(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: Body | None = None
    ) -> Answer:
        """The answer to one request that is not tried again. Raises HTTPError or OSError without one."""
        return self._once(method, url, self._known_login().headers(url, headers), body)

    # --- single requests, for the login ---------------------------------------------------------------

    def send(self, method: str, url: str, headers: Mapping[str, str], body: Body | None) -> Answer:
        """The answer to a request, tried again where that helps."""
        return self._tried(method, url, headers, body)

    def _reading(self, read: Read | None) -> Callable[[str, str, Mapping[str, str], Body | None], Answer]:
        return lambda method, url, headers, body: self._tried(method, url, headers, body, read)

    def _tried(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: Body | None,
        read: Read | None = None,
    ) -> Answer:
        for number, pause in enumerate((*PAUSES, None)):
            try:
                answer = self._once(method, url, headers, body, read)
            except (HTTPError, OSError) as error:
                told = errors.not_reached(self.target.host, error)
                if pause is None or _is_permanent(told, number):
                    raise told from None
                self.sleep(pause)
                continue
            if answer.status not in _TRANSIENT or pause is None:
                return answer
            self.sleep(asked_pause(answer.headers.get("retry-after", ""), _LONGEST_PAUSE, pause))
        raise AssertionError("the last round returns or raises")

    def _once(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: Body | None,
        read: Read | None = None,
    ) -> Answer:
        if self._pool is None:
            self._pool = _pool(self.target, self.environment)
        with within(_WHOLE_SECONDS) as deadline:
            response = self._pool.request(
                method,
                url,
                headers=headers,
                body=body() if body is not None else None,
                retries=False,
                redirect=False,
                timeout=_TIMEOUT,
                preload_content=False,
            )
            try:
                if read is not None and response.status == _OK:
                    data = read(_pieces(response, deadline))
                else:
                    data = b"" if method == "HEAD" else response.read(_MOST_BYTES, decode_content=False)
            finally:
                response.drain_conn() if _is_small(response.headers) else response.close()
                response.release_conn()
        return Answer(response.status, {key.lower(): text for key, text in response.headers.items()}, data)

    def whole(self, answer: Answer) -> bytes:
        """The body of an answer, which was read already."""
        return answer.body

    def close_answer(self, answer: Answer) -> None:
        """Nothing: each answer was read."""

    # --- login ----------------------------------------------------------------------------------------

    def _known_login(self) -> Login[Answer]:
        if self._login is None:
            place = Place(self._scheme, self.target.host, self.target.name)
            self._login = Login(place, "pull,push", AGENT, self.credentials, self)
        return self._login

    def _without_login(self, error: NoLogin) -> RegistryError:
        host = self.target.host
        if error.kind == "unknown":
            return RegistryError(f"{host} requires a login, but does not say what kind", 401)
        if error.kind == "invalid server":
            return RegistryError(f"{host} names a login server with an invalid address")
        if error.kind == "unsafe server":
            return RegistryError(
                f"{host} names a login server that may not get its password ({error.server}): sparkgen did "
                "not send the credentials; without TLS, it must be at the registry's own address"
            )
        if error.kind == "no token":
            return RegistryError(f"the login server of {host} sent no token")
        return self._not_let_in()

    def _not_let_in(self) -> RegistryError:
        known = self.credentials()
        host = self.target.host
        login = f"docker login {host}, or: helm registry login {host}, or: oras login {host}"
        if known is None:
            return RegistryError(
                f"{host} requires a login, and there are no credentials for it: {login}", 401
            )
        who = f"of {known.user} " if known.user else ""
        return RegistryError(f"{host} rejects the credentials {who}in {known.where}: {login}", 401)


def absolute(base: str, location: str) -> str:
    """An address from an answer, which may be relative to that of the request.

    RegistryError for what is none, and for one without TLS where the request had it.
    """
    try:
        return next_address(base, location)
    except BadAddress as error:
        host = urlsplit(base).netloc
        if error.scheme is None:
            raise RegistryError(f"{host} names an invalid address for the upload") from None
        raise RegistryError(
            f"{host} redirects the upload to an address without TLS ({error.scheme}): sparkgen did not send "
            "it; a proxy in front of the registry must set X-Forwarded-Proto"
        ) from None


def _pieces(response: urllib3.BaseHTTPResponse, deadline: Deadline) -> Iterator[bytes]:
    """The body as it comes: nobody asked for a compressed one, and a megabyte of it may be a thousand."""
    for piece in response.stream(_CHUNK, decode_content=False):
        yield piece
        deadline.extend()


def _is_small(headers: Mapping[str, str]) -> bool:
    """Whether the rest of an answer ends soon: the length of one in chunks means nothing."""
    length = headers.get("content-length", "")
    return is_number(length) and int(length) <= _MOST_BYTES and "transfer-encoding" not in headers


def _is_permanent(error: RegistryError, tries: int) -> bool:
    """Whether another try would end the same way, after so many; what restarts listens again in seconds."""
    if error.unreached == "nothing listens":
        return tries >= 2
    return error.unreached in ("untrusted", "plain HTTP", "no host")


def _pool(target: Target, environment: Mapping[str, str]) -> urllib3.PoolManager:
    try:
        tls = ssl.create_default_context(cafile=target.ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise RegistryError(f"cannot read certificates from {target.ca_file}: {error}") from None
    more: dict[str, Any] = {"ssl_context": tls, "maxsize": 8}
    known = {name.lower(): text for name, text in environment.items() if text}
    proxy = known.get("http_proxy" if target.insecure else "https_proxy") or known.get("all_proxy")
    # typeshed leaves the function out.
    bypass: Callable[..., bool] = vars(urllib.request)["proxy_bypass_environment"]
    if proxy and not target.local and not bypass(target.host, {"no": known.get("no_proxy", "")}):
        return watched(urllib3.ProxyManager(proxy if "://" in proxy else f"http://{proxy}", **more))
    check = partial(check_receiver, host=target.host, environment=environment, anywhere=target.insecure)
    return checked(watched(urllib3.PoolManager(**more)), check)
