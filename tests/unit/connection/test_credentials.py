"""Which credentials of a kubeconfig reach a server: all over TLS, and none without it, with both clients."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.cluster import Cluster, ClusterError, Place, connect, official_client
from sparkgen.cluster.channel import gets_credentials, with_scheme
from sparkgen.cluster.place import choose

from .conftest import AUTHORITY, Server, serving

USERS: dict[str, dict[str, Any]] = {
    "token": {"token": "t"},
    "token file": {"tokenFile": "token"},
    "program": {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "./program",
            "interactiveMode": "Never",
        }
    },
    "password": {"username": "a", "password": "b"},
    "certificate": {"client-certificate": AUTHORITY, "client-key": "own.key"},
    "certificate and token": {"client-certificate": AUTHORITY, "client-key": "own.key", "token": "t"},
}
ARRIVES = {
    "token": ("Bearer t", ""),
    "token file": ("Bearer f", ""),
    "program": ("Bearer p", ""),
    "password": ("Basic YTpi", ""),
    "certificate": ("", "sparkgen"),
    "certificate and token": ("Bearer t", "sparkgen"),
}
NOTHING = ("", "")
PROGRAM = """#!/bin/sh
echo ran >> "${0%/*}/runs"
echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "p"}}'
"""


class Handler(BaseHTTPRequestHandler):
    """Refuses each request, and keeps its credentials: the header, and the certificate's name."""

    server: Server

    def do_GET(self) -> None:
        """Answer as an API server that knows nobody."""
        found = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        subject = (found or {}).get("subject", ((("", ""),),))
        name = str(subject[0][0][1])
        self.server.requests.append((self.headers.get("Authorization", ""), name, None))
        data = b'{"kind": "Status", "message": "Unauthorized"}'
        self.send_response(401)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(params=["https", "http", "HTTP", "no scheme"])
def form(request: pytest.FixtureRequest) -> str:
    """How the kubeconfig writes the server."""
    return str(request.param)


@pytest.fixture
def refusing(form: str, tls: ssl.SSLContext) -> Iterator[Server]:
    """A server that refuses everybody."""
    with serving(Server(tls if form == "https" else None, Handler)) as server:
        yield server


@pytest.fixture(params=["chosen", "official"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, dict[str, Any]], Cluster]:
    """A function: a connection to an address as a user, of the client that is chosen or the official one."""

    def make(address: str, user: dict[str, Any]) -> Cluster:
        config = {
            "current-context": "dev",
            "clusters": [{"name": "c", "cluster": {"server": address, "certificate-authority": AUTHORITY}}],
            "users": [{"name": "me", "user": user}],
            "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "me"}}],
        }
        path = tmp_path / "config"
        path.write_text(yaml.safe_dump(config))
        place = Place(str(path))
        if request.param == "chosen":
            return connect(place, {})
        chosen = choose(place, {})
        return Cluster(official_client.channel(chosen), chosen)

    return make


def written(form: str, address: str) -> str:
    """The address as the kubeconfig writes it."""
    return {"no scheme": address.removeprefix("http://"), "HTTP": address.replace("http", "HTTP")}.get(
        form, address
    )


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("login", USERS)
def test_credentials_need_tls(
    tmp_path: Path,
    refusing: Server,
    form: str,
    opened: Callable[[str, dict[str, Any]], Cluster],
    login: str,
) -> None:
    """Requests and forwarded ports; no program runs for a server that would not get its credential."""
    (tmp_path / "token").write_text("f")
    (tmp_path / "program").write_text(PROGRAM)
    (tmp_path / "program").chmod(0o755)
    cluster = opened(written(form, refusing.address), USERS[login])
    words = "Log in to" if form == "https" else f"only over https: correct the address {refusing.address} "
    for act in (cluster.version, lambda: cluster.forward("pi", 4040, "team")):
        with pytest.raises(ClusterError, match=words) as caught:
            act()
        assert caught.value.status == 401
    arrived = {one[:2] for one in refusing.requests}
    assert arrived == {ARRIVES[login] if form == "https" else NOTHING}
    assert (tmp_path / "runs").exists() is (form == "https" and login == "program")


class Redirecting(Handler):
    """Sends everybody to the address in `target`."""

    target = ""
    status = 302

    def do_GET(self) -> None:
        """Answer with the other address."""
        self.send_response(self.status)
        self.send_header("Location", self.target)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_no_redirect_is_followed(
    tls: ssl.SSLContext, opened: Callable[[str, dict[str, Any]], Cluster], scheme: str, status: int
) -> None:
    """Requests and forwarded ports: a login page, or another host, gets neither the request nor the token."""
    with serving(Server(None, Handler)) as other:
        target = other.address.replace("http", scheme, 1)
        handler = type("To", (Redirecting,), {"target": f"{target}/login", "status": status})
        with serving(Server(tls, handler)) as api:
            cluster = opened(api.address, USERS["token"])
            for act in (cluster.version, lambda: cluster.forward("pi", 4040, "team")):
                with pytest.raises(ClusterError):
                    act()
        assert other.requests == []


@pytest.mark.parametrize("user", [{"tokenFile": "missing"}, {"exec": {}}, {"token": "a b"}])
def test_a_login_that_is_not_used_may_be_wrong(
    server: Server, opened: Callable[[str, dict[str, Any]], Cluster], user: dict[str, Any]
) -> None:
    """As behind `kubectl proxy`, which has credentials of its own."""
    server.answers["GET /version"] = (200, {"gitVersion": "v1.34.1"})
    assert opened(server.address, user).version() == "v1.34.1"


@pytest.mark.parametrize(
    ("user", "step"),
    [
        ("system:anonymous", "Credentials are sent only over https"),
        ("me", "Ask for this permission"),
    ],
)
def test_why_a_server_without_tls_forbids(
    server: Server, opened: Callable[[str, dict[str, Any]], Cluster], user: str, step: str
) -> None:
    """Nobody is logged in; or the proxy's user has no permission."""
    said = f'pods "a" is forbidden: User "{user}" cannot get resource "pods"'
    server.answers["GET /api/v1/namespaces/default/pods/a"] = (403, {"kind": "Status", "message": said})
    with pytest.raises(ClusterError, match=step):
        opened(server.address, {"token": "t"}).get("v1", "Pod", "a")


@pytest.mark.parametrize(
    ("server", "address", "credentials"),
    [
        ("https://a/", "https://a", True),
        ("HTTPS://a:6443", "https://a:6443", True),
        ("http://a", "http://a", False),
        ("a:6443", "http://a:6443", False),
        ("localhost", "http://localhost", False),
        ("http://a/?u=https://b", "http://a/?u=https://b", False),
        ("a/?u=https://b", "a/?u=https://b", False),
        (" https://a", " https://a", False),
        ("httpsx://a", "httpsx://a", False),
        ("", "http://", False),
    ],
)
def test_addresses(server: str, address: str, credentials: bool) -> None:
    """As client-go reads them."""
    assert with_scheme(server) == address
    assert gets_credentials(address) is credentials
