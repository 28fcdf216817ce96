"""Who a command acts as: impersonation, OIDC tokens, and fields that neither client may leave out."""

from __future__ import annotations

import base64
import importlib.util
import json
import ssl
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.cluster import Cluster, ClusterError, Place, connect, official_client
from sparkgen.cluster.place import choose

from .conftest import AUTHORITY, Server, serving

pytestmark = pytest.mark.usefixtures("made")
Open = Callable[..., Cluster]

AS = {
    "as": "viewer",
    "as-uid": "7",
    "as-groups": ["viewers", "Domain Users"],
    "as-user-extra": {"example.com/scope": ["a", "b"], "Own%": ["c"]},
}
SENT = [
    ("Impersonate-Extra-Own%25", "c"),
    ("Impersonate-Extra-example.com%2Fscope", "a"),
    ("Impersonate-Extra-example.com%2Fscope", "b"),
    ("Impersonate-Group", "Domain Users"),
    ("Impersonate-Group", "viewers"),
    ("Impersonate-Uid", "7"),
    ("Impersonate-User", "viewer"),
]
METADATA = {
    "name": "a",
    "namespace": "n",
    "uid": "u",
    "resourceVersion": "1",
    "creationTimestamp": "2026-11-28T03:00:00Z",
}
PROGRAM = """#!/bin/sh
echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "t"}}'
"""
EXEC = {
    "apiVersion": "client.authentication.k8s.io/v1",
    "command": "./program",
    "interactiveMode": "Never",
}


def id_token(**claims: Any) -> str:
    """A JSON Web Token."""
    parts = ({"alg": "none"}, claims)
    texts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join((*texts, "c2ln"))


VALID = id_token(exp=4102444800)
"""A token that expires in 2100."""


def oidc(token: str, issuer: str = "https://127.0.0.1:1") -> dict[str, Any]:
    """A user who logs in with OIDC."""
    secrets = {"client-id": "k", "client-secret": "s", "refresh-token": "r", "idp-issuer-url": issuer}
    return {"auth-provider": {"name": "oidc", "config": {"id-token": token, **secrets}}}


class Handler(BaseHTTPRequestHandler):
    """Keeps who asks: the token, and the headers that impersonate."""

    server: Server

    def do_GET(self) -> None:
        """Answer with an object that serves all requests of the tests."""
        acts = sorted(pair for pair in self.headers.items() if pair[0].lower().startswith("impersonate"))
        self.server.requests.append((str(self.headers["Authorization"]), self.path, acts))
        data = json.dumps({"gitVersion": "v1", "items": [], "metadata": METADATA}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_PATCH = do_POST = do_DELETE = do_GET  # noqa: N815 - the names that BaseHTTPRequestHandler looks for

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def api(tls: ssl.SSLContext) -> Iterator[Server]:
    """A server that accepts everybody."""
    with serving(Server(tls, Handler)) as server:
        yield server


@pytest.fixture(params=["chosen", "official", "several files"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """A function: a connection to an address as a user, of each client, and with files that are merged."""
    (tmp_path / "program").write_text(PROGRAM)
    (tmp_path / "program").chmod(0o755)

    def make(address: str, user: dict[str, Any], **cluster: Any) -> Cluster:
        config: dict[str, Any] = {
            "current-context": "dev",
            "clusters": [
                {"name": "c", "cluster": {"server": address, "certificate-authority": AUTHORITY, **cluster}}
            ],
            "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "me"}}],
        }
        users = {"users": [{"name": "me", "user": user}]}
        path = tmp_path / "config"
        path.write_text(yaml.safe_dump(config | users))
        if request.param == "chosen":
            return connect(Place(str(path)), {})
        files = str(path)
        if request.param == "several files":
            path.write_text(yaml.safe_dump(config))
            (tmp_path / "users").write_text(yaml.safe_dump(users))
            files = f"{path}:{tmp_path / 'users'}"
        chosen = choose(Place(), {"KUBECONFIG": files})
        return Cluster(official_client.channel(chosen), chosen)

    return make


@pytest.mark.parametrize("login", [{"token": "t"}, {"exec": EXEC}], ids=["token", "program"])
def test_all_requests_impersonate(api: Server, opened: Open, login: dict[str, Any]) -> None:
    """Reads, writes, watches, logs and forwarded ports, as kubectl sends them."""
    cluster = opened(api.address, {**login, **AS, "extensions": []}, **{"disable-compression": True})
    pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": METADATA}
    cluster.version()
    cluster.list("v1", "Pod")
    cluster.apply(pod)
    cluster.delete(pod)
    list(cluster.watch(pod, 1))
    list(cluster.follow("a", "b", follow=True))
    with pytest.raises(ClusterError):
        cluster.forward("a", 4040, "n")
    assert len(api.requests) == 7
    assert {(token, tuple(acts)) for token, _, acts in api.requests} == {("Bearer t", tuple(SENT))}


def test_impersonation_needs_no_tls(opened: Open) -> None:
    """As behind `kubectl proxy`: kubectl leaves out the credentials only."""
    with serving(Server(None, Handler)) as api:
        opened(api.address, {"token": "t", "as": "viewer"}).version()
        assert [request[::2] for request in api.requests] == [("None", [("Impersonate-User", "viewer")])]


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ({"as-groups": ["a"]}, "add `as`, the user to act as"),
        ({"as": "a", "as-groups": "b"}, "as-groups must have a list"),
        ({"as": 5}, "as must be printable ASCII text, in quotation marks"),
        ({"as": "a\r\nAuthorization: b"}, "as must be printable ASCII text"),
        ({"as": "a", "as-groups": [None]}, "as-groups must be printable"),
        ({"as": "a", "as-user-extra": ["b"]}, "as-user-extra must be a mapping"),
        ({"as": "a", "as-user-extra": {"b": "c"}}, "as-user-extra must have a list"),
        ({"as-group": ["a"]}, "unknown field as-group: did you mean as-groups"),
        ({"device-flow": {}}, "unknown field device-flow: remove it"),
        ({"username": "a", "password": "b"}, "a token and a username: remove one"),
        ({"token": "a\r\nb: c"}, "the token in the kubeconfig has a space, a line break"),
        ({"token": "", "tokenFile": "missing"}, "cannot read the tokenFile .*missing .*: No such file"),
        ({"token": "", "tokenFile": "empty"}, "cannot read the tokenFile .*empty .*: it is empty"),
    ],
)
def test_who_the_user_is_must_be_clear(
    tmp_path: Path, opened: Open, user: dict[str, Any], words: str
) -> None:
    """An error, not another user."""
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(ClusterError, match=words):
        opened("https://127.0.0.1:1", {"token": "t", **user})


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        ({"tls-servername": "a"}, "unknown field tls-servername: did you mean tls-server-name"),
        ({"insecure-skip-tls-verify": "false"}, "must be true or false"),
        ({"insecure-skip-tls-verify": 1}, "must be true or false"),
    ],
)
def test_how_a_cluster_is_checked_must_be_clear(opened: Open, cluster: dict[str, Any], words: str) -> None:
    """A text would turn off the check of certificates."""
    with pytest.raises(ClusterError, match=words):
        opened("https://127.0.0.1:1", {}, **cluster)


@pytest.mark.skipif(importlib.util.find_spec("socks") is not None, reason="the library is there")
def test_a_socks_proxy_needs_a_library(opened: Open) -> None:
    """An error that names it."""
    with pytest.raises(ClusterError, match="pip install pysocks"):
        opened("https://127.0.0.1:1", {}, **{"proxy-url": "socks5://127.0.0.1:1"})


@pytest.mark.parametrize(
    ("user", "token"),
    [
        (oidc(VALID), VALID),
        ({**oidc(""), "token": "t"}, "t"),
        ({"token": "t", "tokenFile": "token"}, "f"),
        ({"token": "t", "tokenFile": "missing"}, "t"),
        ({"tokenFile": "token"}, "f"),
        ({"token": "t", "as": ""}, "t"),
    ],
)
def test_which_token_is_sent(
    tmp_path: Path, api: Server, opened: Open, user: dict[str, Any], token: str
) -> None:
    """As kubectl chooses it, without a request to an issuer."""
    (tmp_path / "token").write_text(" f\n")
    opened(api.address, user).version()
    [(sent, _, acts)] = api.requests
    assert (sent, acts) == (f"Bearer {token}", [])


@pytest.mark.parametrize("token", ["", "a.b", "a.!.c", id_token(), id_token(exp="x"), id_token(exp=1)])
def test_an_expired_token_is_not_renewed(tls: ssl.SSLContext, opened: Open, token: str) -> None:
    """The issuer is not even asked: its answer would say where the secrets go."""
    with serving(Server(tls, Handler)) as issuer:
        with pytest.raises(ClusterError, match="expired: run `kubectl get namespaces`"):
            opened("https://127.0.0.1:1", oidc(token, issuer.address))
        assert issuer.requests == []


@pytest.mark.parametrize("name", ["gcp", "azure", None])
def test_other_providers_have_ended(opened: Open, name: str | None) -> None:
    """As with kubectl."""
    with pytest.raises(ClusterError, match=f"the auth-provider {name} no longer exists: log in with `exec`"):
        opened("https://127.0.0.1:1", {"auth-provider": {"name": name, "config": {"cmd-path": "false"}}})


def test_files_are_relative_to_the_file_of_the_user(tmp_path: Path, tls: ssl.SSLContext, pair: Any) -> None:
    """Not to that of the cluster, which may be in another folder."""
    (tmp_path / "b").mkdir()
    with serving(Server(tls, Handler)) as api:
        cluster = {"server": api.address, "certificate-authority": AUTHORITY}
        user = {"client-certificate": "c.crt", "client-key": "c.key"}
        for name, path in zip(("c.crt", "c.key"), pair, strict=True):
            (tmp_path / "b" / name).write_bytes(path.read_bytes())
        first = {
            "current-context": "dev",
            "clusters": [{"name": "c", "cluster": cluster}],
            "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "me"}}],
        }
        (tmp_path / "config").write_text(yaml.safe_dump(first))
        (tmp_path / "b" / "config").write_text(yaml.safe_dump({"users": [{"name": "me", "user": user}]}))
        files = f"{tmp_path / 'config'}:{tmp_path / 'b' / 'config'}"
        connect(Place(), {"KUBECONFIG": files}).version()
