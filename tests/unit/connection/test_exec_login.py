"""Kubeconfigs of clouds: a program logs in, without the official client."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.cluster import ClusterError, bounded_process, exec_login, urllib3_client
from sparkgen.cluster.channel import Call, Channel, Refused
from sparkgen.cluster.place import Chosen

from .conftest import AUTHORITY, Server, serving
from .test_urllib3_client import address

__all__ = ["address"]

pytestmark = pytest.mark.usefixtures("made")

V1, BETA = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
VERSION = Call("GET", "/version")

EKS = {
    "apiVersion": BETA,
    "command": "aws",
    "args": ["--region", "eu-west-1", "eks", "get-token", "--cluster-name", "data", "--output", "json"],
    "env": [{"name": "AWS_PROFILE", "value": "data"}],
    "interactiveMode": "IfAvailable",
    "provideClusterInfo": False,
}
GKE = {
    "apiVersion": BETA,
    "command": "gke-gcloud-auth-plugin",
    "installHint": "Install gke-gcloud-auth-plugin for use with kubectl by following\n  https://example.com/x",
    "provideClusterInfo": True,
}
AKS = {
    "apiVersion": V1,
    "command": "kubelogin",
    "args": ["get-token", "--login", "azurecli", "--server-id", "6dae42f8"],
    "env": None,
    "installHint": "\nkubelogin is not installed\n",
    "interactiveMode": "Never",
    "provideClusterInfo": False,
}


def credential(status: Mapping[str, Any], version: str = BETA) -> str:
    """What a program prints."""
    return json.dumps({"kind": "ExecCredential", "apiVersion": version, "spec": {}, "status": status})


def program(folder: Path, name: str, script: str) -> None:
    """A program of a cloud, first on the PATH. It notes its arguments and what it is told."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    notes = 'echo "$*|$AWS_PROFILE|$KUBERNETES_EXEC_INFO" >> "$NOTES"'
    path.write_text(f"#!/bin/sh\n{notes}\n{script}\n")
    path.chmod(0o755)


def runs(folder: Path) -> list[list[str]]:
    """The arguments, a variable and KUBERNETES_EXEC_INFO of each run of the program."""
    notes = folder / "notes"
    return [line.split("|", 2) for line in notes.read_text().splitlines()] if notes.exists() else []


def channel(
    folder: Path, entry: Mapping[str, Any], server: str, times: list[datetime] | None = None
) -> Channel:
    """The channel of a kubeconfig with this `exec`; the time is the first of `times`."""
    config = {
        "clusters": [{"name": "c", "cluster": {"server": server, "certificate-authority": AUTHORITY}}],
        "users": [{"name": "me", "user": {"exec": dict(entry)}}],
        "contexts": [{"name": "cloud", "context": {"cluster": "c", "user": "me"}}],
    }
    (folder / "config").write_text(yaml.safe_dump(config))
    environment = {"PATH": f"{folder}/bin:/usr/bin:/bin", "NOTES": str(folder / "notes")}
    now = times or [NOW]
    found = urllib3_client.channel(Chosen(str(folder / "config"), "cloud", ""), environment, lambda: now[0])
    assert found is not None
    return found


class Checked(Server):
    """Knows which tokens are good, and counts what it refused."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(tls)
        self.good = "t1"
        self.RequestHandlerClass = type("Handler", (self.RequestHandlerClass,), {"do_GET": _checked})


def _checked(handler: Any) -> None:
    handler.server.requests.append(handler.headers.get("Authorization"))
    good = handler.headers.get("Authorization") == f"Bearer {handler.server.good}"
    data = b'{"gitVersion": "v1.34.1"}' if good else b'{"message": "Unauthorized"}'
    handler.send_response(200 if good else 401)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


@pytest.fixture
def checked(tls: ssl.SSLContext) -> Iterator[Checked]:
    """A server that takes the token t1."""
    with serving(Checked(tls)) as server:
        yield server


@pytest.mark.parametrize("entry", [EKS, GKE, AKS], ids=["eks", "gke", "aks"])
def test_the_kubeconfigs_of_three_clouds(
    tmp_path: Path, made: tuple[Path, Path], checked: Checked, entry: dict[str, Any]
) -> None:
    """One login serves all requests; the program gets its arguments, variables and what the field tells."""
    program(tmp_path, entry["command"], f"echo '{credential({'token': 't1'}, entry['apiVersion'])}'")
    found = channel(tmp_path, entry, checked.address)
    assert runs(tmp_path) == []
    for _ in range(3):
        assert json.loads(found.send(VERSION).data) == {"gitVersion": "v1.34.1"}
    [(arguments, profile, told)] = runs(tmp_path)
    assert arguments == " ".join(entry.get("args") or ())
    assert profile == ("data" if entry is EKS else "")
    authority = base64.b64encode(made[0].read_bytes()).decode()
    cluster = {"server": checked.address, "certificate-authority-data": authority}
    spec = {"interactive": False} | ({"cluster": cluster} if entry is GKE else {})
    assert json.loads(told) == {"apiVersion": entry["apiVersion"], "kind": "ExecCredential", "spec": spec}


def test_what_the_program_is_told_about_the_cluster(tmp_path: Path) -> None:
    """The authority as data, also where the kubeconfig names a file, and the settings for the program."""
    (tmp_path / "ca.crt").write_text("PEM")
    cluster = {
        "server": "https://x",
        "certificate-authority": "ca.crt",
        "extensions": [
            {"name": "other", "extension": 1},
            {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}},
        ],
    }
    made = exec_login.plugin("me", GKE, cluster, tmp_path, {})
    data = base64.b64encode(b"PEM").decode()
    told = {"server": "https://x", "certificate-authority-data": data, "config": {"audience": "x"}}
    assert made.cluster == told
    assert exec_login.plugin("me", AKS, cluster, tmp_path, {}).cluster is None


def test_a_token_that_expires(tmp_path: Path, checked: Checked) -> None:
    """The program runs again when the time has come, and not before: EKS's tokens live 14 minutes."""
    program(
        tmp_path,
        "aws",
        f"echo '{credential({'token': 't1', 'expirationTimestamp': '2026-05-01T12:14:00Z'})}'",
    )
    times = [NOW]
    found = channel(tmp_path, EKS, checked.address, times)
    for minutes, logins in ((0, 1), (13, 1), (14, 2)):
        times[0] = NOW + timedelta(minutes=minutes)
        found.send(VERSION)
        assert len(runs(tmp_path)) == logins


def test_a_token_that_the_server_no_longer_takes(tmp_path: Path, checked: Checked) -> None:
    """The program runs once more and the request is repeated; a second refusal is the answer."""
    first, second = (credential({"token": token}) for token in ("t1", "t2"))
    script = f"""[ -e "$NOTES.second" ] && echo '{second}' || echo '{first}'\ntouch "$NOTES.second" """
    program(tmp_path, "aws", script)
    found = channel(tmp_path, EKS, checked.address)
    found.send(VERSION)
    checked.good = "t2"
    found.send(VERSION)
    found.send(VERSION)
    assert checked.requests == ["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t2"]
    checked.good = "t3"
    with pytest.raises(Refused) as caught:
        found.send(VERSION)
    assert caught.value.status == 401
    assert len(runs(tmp_path)) == 3


def test_a_client_certificate_of_the_program(tmp_path: Path, made: tuple[Path, Path], address: str) -> None:
    """The server knows whose it is."""
    pem = {"clientCertificateData": made[0].read_text(), "clientKeyData": made[1].read_text()}
    (tmp_path / "printed").write_text(credential(pem, V1))
    program(tmp_path, "kubelogin", f"cat {tmp_path / 'printed'}")
    found = channel(tmp_path, AKS, address)
    assert "sparkgen" in json.loads(found.send(VERSION).data)["gitVersion"]


def test_a_program_beside_the_kubeconfig(tmp_path: Path, checked: Checked) -> None:
    """A path with a slash starts at the kubeconfig's folder, as for kubectl."""
    program(tmp_path, "own", f"echo '{credential({'token': 't1'})}'")
    channel(tmp_path, {**EKS, "command": "./bin/own"}, checked.address).send(VERSION)
    assert checked.requests == ["Bearer t1"]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "echo no session >&2; exit 254",
            "ended with exit code 254 (no session): log in again as your cloud",
        ),
        ("exit 1", "ended with exit code 1 (it printed no message)"),
        ("head -c 100000 /dev/zero | tr '\\0' e >&2; exit 1", "eee): log in again"),
        ("cat /dev/zero", "it printed more than 1 MiB"),
        ("echo hello", "it did not print an ExecCredential (it is not JSON): run it by hand"),
        ("printf '[%.0s' $(seq 100000)", "(it is nested too deeply)"),
        ("printf '\\377\\376'", "(it is not JSON)"),
        ("echo '[]'", "(it is another kind of object)"),
        (f"echo '{credential({'token': 't'}, V1)}'", f"(it is not of {BETA}, for which the kubeconfig asks)"),
        (f"echo '{credential({})}'", "(it has neither a token nor a client certificate)"),
        (f"echo '{credential({'token': 7})}'", "(token, certificate and key must be strings)"),
        (f"echo '{credential({'clientKeyData': 'k'})}'", "(it has a certificate or a key, and not both)"),
        (
            f"""printf '%s' '{credential({"token": "a b"})}'""",
            "(the token has characters that no header can carry)",
        ),
        (
            f"echo '{credential({'token': 't', 'expirationTimestamp': 'soon'})}'",
            "(expirationTimestamp is no time)",
        ),
        (
            f"echo '{credential({'token': 't', 'expirationTimestamp': '2026-05-01T12:00:00'})}'",
            "(expirationTimestamp has no time zone)",
        ),
    ],
)
def test_what_a_program_does_wrong(tmp_path: Path, checked: Checked, script: str, words: str) -> None:
    """A sentence of limited length with a next step; nothing that it printed on standard output."""
    program(tmp_path, "aws", script)
    with pytest.raises(ClusterError) as caught:
        channel(tmp_path, EKS, checked.address).send(VERSION)
    assert words in str(caught.value)
    assert str(caught.value).startswith("cannot log in as the user me of the kubeconfig: ")
    assert len(str(caught.value)) < 600
    assert checked.requests == []


def test_a_certificate_that_is_none(tmp_path: Path, made: tuple[Path, Path], address: str) -> None:
    """Also an encrypted key, for whose password nobody is asked."""
    command = ["openssl", "pkey", "-in", str(made[1]), "-aes256", "-passout", "pass:secret"]
    encrypted = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    for key in ("no key", encrypted):
        pem = {"clientCertificateData": made[0].read_text(), "clientKeyData": key}
        (tmp_path / "printed").write_text(credential(pem, V1))
        program(tmp_path, "kubelogin", f"cat {tmp_path / 'printed'}")
        with pytest.raises(ClusterError, match="the key that its program printed cannot be used"):
            channel(tmp_path, AKS, address).send(VERSION)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (
            {**GKE, "command": "no-such-plugin"},
            "there is no program no-such-plugin: Install gke-gcloud-auth-plugin for use with kubectl "
            "by following https://example.com/x",
        ),
        (
            {**EKS, "command": "nothing"},
            "there is no program nothing: install it, or correct `exec.command` of this user",
        ),
        ({**EKS, "command": "./config"}, "does not start (Permission denied)"),
        ({**EKS, "args": ["a\0b"]}, "a null byte stands in"),
    ],
)
def test_a_program_that_does_not_start(tmp_path: Path, entry: dict[str, Any], words: str) -> None:
    """The kubeconfig may say how to install it."""
    with pytest.raises(ClusterError) as caught:
        channel(tmp_path, entry, "https://127.0.0.1:9").send(VERSION)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({**EKS, "command": None}, "needs `command`, the program that logs in"),
        ({**EKS, "args": ["a", 1]}, "must have `args` that are a list of strings"),
        ({**EKS, "env": [{"name": "A"}]}, "must have `env` that is a list of names and values"),
        ({**EKS, "env": 7}, "must have `env` that is a list of names and values"),
        ({**AKS, "interactiveMode": None}, "needs `interactiveMode`: Never, IfAvailable or Always"),
        ({**EKS, "interactiveMode": "Always"}, "asks questions, and standard input is no terminal"),
    ],
)
def test_entries_that_kubectl_refuses_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], words: str
) -> None:
    """They are named before anything is run."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ClusterError) as caught:
        channel(tmp_path, entry, "https://127.0.0.1:9")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "user",
    [
        {"exec": {**EKS, "apiVersion": "client.authentication.k8s.io/v1alpha1"}},
        {"exec": EKS, "token": "t"},
        {"exec": "aws"},
    ],
)
def test_what_is_left_to_the_official_client(user: dict[str, Any]) -> None:
    """An older version, and two ways to log in."""
    assert not exec_login.can_read(user)


def test_a_person_sees_what_the_program_says(capfd: pytest.CaptureFixture[str]) -> None:
    """Where to log in is on standard error, at once, and also where that is no terminal."""
    script = ["sh", "-c", "echo open this page >&2; exit 1"]
    with pytest.raises(bounded_process.Failed, match=r"exit code 1 \(see its message above\)"):
        bounded_process.output_of(script, {}, seconds=10, stdin=True)
    assert capfd.readouterr().err == "open this page\n"


def test_a_program_that_does_not_end() -> None:
    """It is ended, also if it has closed its output, or something that it started keeps the output open."""
    for script in ("sleep 60", "exec >&- 2>&-; sleep 60", "sleep 60 & exit 0"):
        with pytest.raises(bounded_process.Failed, match="sh did not end within 0 seconds"):
            bounded_process.output_of(["sh", "-c", script], {}, seconds=0.2, stdin=False)
