"""Which kubeconfigs need no official client, and that certificates are used as it uses them."""

from __future__ import annotations

import base64
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml

from sparkgen.cluster import Cluster, ClusterError, Place, connect, urllib3_client
from sparkgen.cluster.channel import Call
from sparkgen.cluster.place import Chosen

from .conftest import Server, serving

CONFIG: dict[str, Any] = {
    "current-context": "dev",
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9/k8s/c-x/"}}],
    "users": [{"name": "me", "user": {"token": "t"}}],
    "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "me"}}],
}


TLS = {"server": "https://127.0.0.1:9"}


def with_entries(cluster: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """The kubeconfig with more in its cluster and its user."""
    return {
        **CONFIG,
        "clusters": [{"name": "c", "cluster": {**CONFIG["clusters"][0]["cluster"], **cluster}}],
        "users": [{"name": "me", "user": {**CONFIG["users"][0]["user"], **user}}],
    }


def channel(folder: Path, config: dict[str, Any], **environment: str) -> urllib3_client.Plain | None:
    """The plain channel of a kubeconfig; None where there is none."""
    (folder / "config").write_text(yaml.safe_dump(config))
    return urllib3_client.channel(Chosen(str(folder / "config"), "dev", "default"), environment)


def test_a_server_may_have_a_path(tmp_path: Path) -> None:
    """As behind a proxy for many clusters; and the certificates of plain HTTP are nobody's."""
    found = channel(tmp_path, with_entries({}, {"client-certificate": "nowhere", "client-key": "nowhere"}))
    assert found is not None
    assert found.server == "http://127.0.0.1:9/k8s/c-x"


@pytest.mark.parametrize(
    ("cluster", "user"),
    [
        (TLS, {"exec": {"command": "aws"}}),
        (TLS, {"token": "", "username": "a", "password": "b"}),
        ({"insecure-skip-tls-verify": True}, {}),
        ({"tls-server-name": "x"}, {}),
        ({"proxy-url": "http://proxy"}, {}),
        ({**TLS, "certificate-authority": "nowhere"}, {}),
        ({**TLS, "certificate-authority-data": "!"}, {}),
        ({"certificate-authority": "a", "certificate-authority-data": "b"}, {}),
        (TLS, {"client-key-data": "YQ=="}),
        ({"server": None}, {}),
    ],
)
def test_what_the_official_client_has_to_read(
    tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any]
) -> None:
    """Other logins, proxies, and whatever is wrong, which it says."""
    assert channel(tmp_path, with_entries(cluster, user)) is None


def test_other_kubeconfigs_are_left_to_it_too(tmp_path: Path) -> None:
    """Several files, a pod's own cluster, names that are there twice or not at all."""
    assert channel(tmp_path, CONFIG) is not None
    assert urllib3_client.channel(Chosen("a:b", "dev", "default"), {}) is None
    assert urllib3_client.channel(Chosen("", "the pod's own", "default"), {}) is None
    assert channel(tmp_path, {**CONFIG, "users": CONFIG["users"] * 2}) is None
    assert channel(tmp_path, {**CONFIG, "users": []}) is None


def test_proxies_of_the_environment(tmp_path: Path) -> None:
    """One for this server is the official client's matter; one that is told to leave it alone is not."""
    assert channel(tmp_path, CONFIG, http_proxy="http://proxy") is None
    assert channel(tmp_path, CONFIG, ALL_PROXY="http://proxy") is None
    assert channel(tmp_path, CONFIG, HTTPS_PROXY="http://proxy", all="x") is not None
    assert channel(tmp_path, CONFIG, HTTP_PROXY="http://proxy", no_proxy="127.0.0.1") is not None


def test_a_command_goes_without_the_official_client(tmp_path: Path) -> None:
    """It is not even imported: that takes longer than the command."""
    (tmp_path / "config").write_text(yaml.safe_dump(CONFIG))
    program = (
        "import sys; from sparkgen.cluster import *\n"
        f"try: connect(Place({str(tmp_path / 'config')!r})).version()\n"
        "except ClusterError as error: print(error)\n"
        "print('kubernetes' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out.startswith("cannot ask for the version: http://127.0.0.1:9/k8s/c-x does not answer")
    assert out.endswith("\nFalse\n")


# --- certificates -----------------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    """Says which certificate the client has."""

    def do_GET(self) -> None:
        """As a version."""
        names = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        data = f'{{"gitVersion": "{(names or {}).get("subject")}"}}'.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def address(tls: ssl.SSLContext) -> Iterator[str]:
    """A server that wants a client certificate."""
    tls.verify_mode = ssl.CERT_REQUIRED
    with serving(Server(tls, Handler)) as server:
        yield server.address


def connected(folder: Path, cluster: dict[str, Any], user: dict[str, Any]) -> Cluster:
    """A connection with these entries beside the token."""
    (folder / "config").write_text(yaml.safe_dump(with_entries(cluster, user)))
    return connect(Place(str(folder / "config")), {})


@pytest.mark.parametrize("form", ["files", "data", "both", "official"])
def test_certificates(tmp_path: Path, made: tuple[Path, Path], address: str, form: str) -> None:
    """From files beside the kubeconfig, or from data in it; the official client does the same."""
    certificate, key = (base64.b64encode(path.read_bytes()).decode() for path in made)
    cluster = {"server": address, "certificate-authority": "own.crt"}
    user = {"client-certificate": "own.crt", "client-key": "own.key"}
    if form == "data":
        cluster = {"server": address, "certificate-authority-data": certificate}
        user = {"client-certificate-data": certificate, "client-key-data": key}
    elif form == "both":
        user = {"client-certificate": "own.crt", "client-key-data": key}
    elif form == "official":
        cluster |= {"tls-server-name": "127.0.0.1"}
    assert (channel(tmp_path, with_entries(cluster, user)) is None) is (form == "official")
    assert "sparkgen" in connected(tmp_path, cluster, user).version()


def test_a_server_that_is_not_trusted(tmp_path: Path, address: str) -> None:
    """Its certificate is none that this machine knows."""
    with pytest.raises(ClusterError, match=r"the certificate of https://127\S+ is not trusted"):
        connected(tmp_path, {"server": address}, {}).version()


class Slow(BaseHTTPRequestHandler):
    """A server that thinks for a while, and then says its answer bit by bit."""

    def do_GET(self) -> None:
        """Answer late."""
        time.sleep(0.3)
        with suppress(ConnectionError):  # the client may have gone: the next test shall not read of it
            self.send_response(200)
            self.end_headers()
            for piece in (b"one ", b"two"):
                self.wfile.write(piece)
                time.sleep(0.3)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def test_the_time_for_a_connection_is_not_that_for_an_answer(tmp_path: Path) -> None:
    """A log that is followed says nothing for minutes: only the time for the answer is a limit of that."""
    with serving(Server(handler=Slow)) as server:
        found = channel(tmp_path, with_entries({"server": server.address}, {}))
        assert found is not None
        answer = found.send(Call("GET", "/log", timeout=(0.2, None)))
        assert b"".join(answer.stream(100, decode_content=True)) == b"one two"
        with pytest.raises(urllib3.exceptions.HTTPError):
            found.send(Call("GET", "/log", timeout=(5.0, 0.1)))


@pytest.mark.parametrize(("asked", "waited"), [("1", 1.0), ("86400", 10.0)])
def test_no_server_lets_a_user_wait_for_long(asked: str, waited: float) -> None:
    """An API server under load names a second or two; one that is none, or its proxy, may name a day."""
    answer = urllib3.HTTPResponse(headers={"Retry-After": asked}, status=429)
    assert urllib3_client.Again(1).get_retry_after(answer) == waited
    assert urllib3_client.Again(1).increment("GET", "/").get_retry_after(answer) == waited


def test_no_retry_is_asked_for_by_silence() -> None:
    """Without the header, there is no pause."""
    assert urllib3_client.Again(1).get_retry_after(urllib3.HTTPResponse(status=429)) is None
