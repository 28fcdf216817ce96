"""`sparkgen push`, and the lock that it writes for all other commands."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.delivery import environment
from sparkgen.delivery.registry.client import PAUSES, Client, Target, absolute
from sparkgen.delivery.registry.errors import RegistryError
from tests.unit.endless import ENDLESS, endless

from .conftest import DOCUMENT, Cli
from .fake_registry import Registry, served

CODE = "jobs/etl.py"
EXAMPLE = Path(__file__).parents[3] / "examples" / "laptop-code"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """A registry without a login, no credentials of this machine, and no pauses."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in (
        "DOCKER_CONFIG",
        "REGISTRY_AUTH_FILE",
        "HELM_REGISTRY_CONFIG",
        "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for module in ("client", "upload"):
        monkeypatch.setattr(f"sparkgen.delivery.registry.{module}.PAUSES", (0.0,) * 5)
    with served(Registry()) as found:
        yield found


@pytest.fixture
def project(cli: Cli, registry: Registry) -> Cli:
    """The command line in a folder whose document names a script and a folder beside it."""
    Path("jobs").mkdir()
    Path(CODE).write_text("print(1)\n")
    Path("lib").mkdir()
    Path("lib/a.py").write_text("x = 1\n")
    write(registry.address)
    return cli


def write(address: str, text: str = "", name: str = "pi") -> None:
    """Write the document for a registry."""
    document = DOCUMENT.replace("local:///opt/spark/examples/src/main/python/pi.py", f"./{CODE}")
    document = document.replace("name: pi", f"name: {name}")
    Path("app.yaml").write_text(
        document + f"  deps:\n    pyFiles: [./lib]\n  delivery:\n    repository: {address}/data/etl\n{text}"
    )


def login(registry: Registry, **entry: Any) -> Path:
    """Log in as docker does."""
    file = Path.home() / ".docker/config.json"
    file.parent.mkdir(exist_ok=True)
    auth = base64.b64encode(f"{registry.user}:{registry.password}".encode()).decode()
    file.write_text(json.dumps({"auths": {registry.address: entry or {"auth": auth}}}))
    return file


def artifacts() -> list[dict[str, Any]]:
    """What the lock has."""
    return list(yaml.safe_load(Path("app.lock.yaml").read_text())["spec"]["artifacts"])


# --- pushing ----------------------------------------------------------------------------------------------


def test_push_uploads_writes_the_lock_and_says_so(project: Cli, registry: Registry) -> None:
    """An image of one layer, by its digest; the lock is an overlay of the document."""
    done = project("push", "app.yaml")
    [artifact] = artifacts()
    assert done.code == 0, done.err
    assert f"code: {artifact['reference']}, 4.0 KiB: pushed" in done.out
    assert "app.lock.yaml: written" in done.out
    assert "next: commit app.lock.yaml" in done.err
    manifest = json.loads(registry.manifests[artifact["reference"].partition("@")[2]])
    layer = registry.blobs[artifact["digest"]]
    assert manifest["layers"][0] == {
        "digest": artifact["digest"],
        "mediaType": "application/vnd.oci.image.layer.v1.tar",
        "size": len(layer),
    }
    config = json.loads(registry.blobs[manifest["config"]["digest"]])
    assert config["rootfs"]["diff_ids"] == [artifact["digest"]]
    assert artifact["size"] == len(layer)
    assert artifact["files"] == {f"./{CODE}": [CODE], "./lib": ["lib/"]}
    [tag] = registry.tags
    assert tag.startswith("pi-code-")


def test_the_lock_of_the_example_is_what_push_writes(project: Cli, registry: Registry) -> None:
    """Its digests are those of its files, on whatever machine they are pushed."""
    shutil.copytree(EXAMPLE, "example")
    lock = Path("example/app.lock.yaml")
    before = lock.read_bytes()
    lock.unlink()
    place = f"spec.delivery.pushRepository={registry.address}/data/example"
    done = project("push", "example/app.yaml", "--set", place)
    assert done.code == 0, done.err
    assert lock.read_bytes() == before


@pytest.mark.parametrize("refusal", [[], [(400, b"the tag is immutable")], [(403, b"")], [(405, b"")]])
def test_a_second_push_sends_the_manifest_alone(
    project: Cli, registry: Registry, refusal: list[tuple[int, bytes]]
) -> None:
    """A question for each part; the lock is not touched. The manifest shows that it was pushed again.

    A staging server's garbage collection counts from then. A registry that refuses it has it nevertheless.
    """
    project("push", "app.yaml")
    registry.calls.clear()
    registry.answers[("PUT", "/manifests/")] = refusal
    before = Path("app.lock.yaml").stat().st_mtime_ns
    done = project("push", "app.yaml")
    assert (done.code, done.out) == (0, "nothing to push: app.yaml is up to date\n")
    [tag] = registry.tags
    asked = {"HEAD /v2/data/etl/manifests/sha256:": 1, "HEAD /v2/data/etl/blobs/sha256:": 2}
    assert registry.calls == {"GET /v2/": 1, **asked, f"PUT /v2/data/etl/manifests/{tag}": 1}
    assert Path("app.lock.yaml").stat().st_mtime_ns == before


def test_what_the_registry_has_lost_is_pushed_again(project: Cli, registry: Registry) -> None:
    """The lock is up to date, and the registry was emptied."""
    project("push", "app.yaml")
    before = Path("app.lock.yaml").read_bytes()
    registry.manifests.clear()
    registry.blobs.clear()
    done = project("push", "app.yaml")
    assert "pushed" in done.out
    assert Path("app.lock.yaml").read_bytes() == before
    assert len(registry.manifests) == 1


def test_a_changed_file_is_another_digest_and_the_same_file_the_old_one(
    project: Cli, registry: Registry
) -> None:
    """By content: going back needs no upload."""
    project("push", "app.yaml")
    first = artifacts()
    Path(CODE).write_text("print(2)\n")
    project("push", "app.yaml")
    assert artifacts() != first
    Path(CODE).write_text("print(1)\n")
    registry.received = 0
    done = project("push", "app.yaml")
    assert "exists already" in done.out
    assert artifacts() == first
    assert registry.received == 0


def test_a_dry_run_changes_nothing(project: Cli, registry: Registry) -> None:
    """It names the digest that would be pushed, and every file."""
    done = project("push", "app.yaml", "--dry-run")
    assert "2 files: would be pushed\n  jobs/etl.py  9 bytes\n  lib/a.py  6 bytes\n" in done.out
    assert not Path("app.lock.yaml").exists()
    assert not registry.calls
    project("push", "app.yaml")
    assert artifacts()[0]["reference"] in done.out


def test_a_dry_run_lists_the_files_of_packages(project: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in the artifact as all others are."""
    Path("installed/six").mkdir(parents=True)
    Path("installed/six/__init__.py").write_text("x = 1\n")
    monkeypatch.setattr(environment, "built", lambda *_: Path("installed"))
    Path("requirements.txt").write_text("six==1.17.0\n")
    text = Path("app.yaml").read_text()
    packages = '  deps:\n    requirements: ./requirements.txt\n    pythonVersion: "3.10"\n'
    Path("app.yaml").write_text(text.replace("  deps:\n", packages))
    done = project("push", "app.yaml", "--dry-run")
    assert "1 file: would be pushed\n  python/six/__init__.py  6 bytes\n" in done.out


def test_push_repository_is_where_this_machine_reaches_it(project: Cli, registry: Registry) -> None:
    """Pods name the other address."""
    write("registry.example.com", f"    pushRepository: {registry.address}/data/etl\n")
    assert project("push", "app.yaml").code == 0
    assert artifacts()[0]["reference"].startswith("registry.example.com/data/etl@sha256:")


def test_an_upload_goes_on_where_it_broke(project: Cli, registry: Registry) -> None:
    """The bytes that the registry has are not sent again."""
    Path("lib/data.bin").write_bytes(os.urandom(3_000_000))
    registry.cut_after = [1_000_000, 500_000]
    assert project("push", "app.yaml").code == 0
    assert artifacts()[0]["digest"] in registry.blobs
    assert registry.received < artifacts()[0]["size"] + 100_000


def parts(registry: Registry) -> list[tuple[dict[str, bytes], str]]:
    """Manifest, layer and configuration: where the registry has them, and their digests."""
    manifest = artifacts()[0]["reference"].partition("@")[2]
    said = json.loads(registry.manifests[manifest])
    layer, config = said["layers"][0]["digest"], said["config"]["digest"]
    return [(registry.manifests, manifest), (registry.blobs, layer), (registry.blobs, config)]


@pytest.mark.parametrize("lost", range(1, 8), ids=lambda lost: f"{lost:03b}")
def test_whatever_a_registry_lost_is_pushed_again(project: Cli, registry: Registry, lost: int) -> None:
    """Each set of manifest, layer and configuration; nothing else is sent, and the lock stays."""
    project("push", "app.yaml")
    before = (Path("app.lock.yaml").read_bytes(), dict(registry.blobs), dict(registry.manifests))
    gone = [part for number, part in enumerate(parts(registry)) if lost & 1 << number]
    for where, digest in gone:
        del where[digest]
    registry.calls.clear()
    done = project("push", "app.yaml")
    assert (done.code, "pushed, " in done.out) == (0, True), done.err
    assert (Path("app.lock.yaml").read_bytes(), registry.blobs, registry.manifests) == before
    uploads = registry.calls["POST /v2/data/etl/blobs/uploads/"]
    assert uploads == sum(where is registry.blobs for where, _ in gone)
    assert "nothing to push" in project("push", "app.yaml").out


@pytest.mark.parametrize("part", [0, 1, 2], ids=["manifest", "layer", "config"])
@pytest.mark.parametrize("cut", [True, False], ids=["shorter", "altered"])
def test_whatever_a_registry_altered_is_pushed_again(
    project: Cli, registry: Registry, part: int, cut: bool
) -> None:
    """A wrong size is seen at once; other bytes of the same size with --verify."""
    project("push", "app.yaml")
    before = (dict(registry.blobs), dict(registry.manifests))
    where, digest = parts(registry)[part]
    where[digest] = where[digest][:-1] + (b"" if cut else b"?")
    if not cut:
        altered = where[digest]
        assert "nothing to push" in project("push", "app.yaml").out
        where[digest] = altered  # a manifest is put again by each push
    done = project("push", "app.yaml", *([] if cut else ["--verify"]))
    assert (done.code, "pushed, " in done.out) == (0, True), done.err
    assert (registry.blobs, registry.manifests) == before
    assert "nothing to push" in project("push", "app.yaml", "--verify").out


def test_a_registry_that_keeps_altered_bytes(project: Cli, registry: Registry) -> None:
    """As one that does not write what it has already: its operator has to act."""
    project("push", "app.yaml")
    registry.keeps_blobs = True
    layer = parts(registry)[1][1]
    registry.blobs[layer] = b"?" * len(registry.blobs[layer])
    done = project("push", "app.yaml", "--verify")
    assert done.code == 2
    assert f"{registry.address} has other bytes under {layer}, and keeps them after an upload" in done.err
    assert "have its operator delete this blob there" in done.err


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_a_registry_that_stumbles_is_asked_again(project: Cli, registry: Registry, status: int) -> None:
    """In each step of an upload."""
    registry.answers = {
        (method, path): [(status, b""), (status, b"")]
        for method, path in (
            ("HEAD", "manifests"),
            ("HEAD", "blobs"),
            ("POST", "uploads"),
            ("PATCH", "uploads"),
            ("PUT", "."),
        )
    }
    done = project("push", "app.yaml")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({("POST", "uploads"): [(403, b"")]}, "these credentials cannot push there"),
        ({("POST", "uploads"): [(404, b'{"errors":[{"code":"NAME_UNKNOWN"}]}')]},
         "the repository does not exist"),
        ({("POST", "uploads"): [(405, b"")]}, "it accepts no uploads"),
        ({("PATCH", "uploads"): [(413, b"<html>")]}, "accepts no uploads of this size"),
        ({("PATCH", "uploads"): [(500, b'{"errors":[{"detail":"no space left on device"}]}')]},
         "has no space left"),
        ({("PATCH", "uploads"): [(507, b"")]}, "has no space left"),
        ({("PUT", "manifests"): [(503, b"")] * 9}, "answers 503"),
    ],
)  # fmt: skip
def test_a_registry_that_refuses(
    project: Cli, registry: Registry, answers: dict[tuple[str, str], list[tuple[int, bytes]]], message: str
) -> None:
    """Each refusal has a sentence and a next step; no lock is written, and no address with its state."""
    registry.answers = {key: [*statuses, *statuses * 8] for key, statuses in answers.items()}
    done = project("push", "app.yaml")
    assert done.code == 2
    assert message in done.err
    assert "_state" not in done.err
    assert not Path("app.lock.yaml").exists()


def test_a_registry_that_stores_something_else(project: Cli, registry: Registry) -> None:
    """What it answers is compared with what was sent."""
    registry.wrong_digest = True
    done = project("push", "app.yaml")
    assert "stored something other than what was sent" in done.err
    assert not Path("app.lock.yaml").exists()


def test_what_is_no_registry(project: Cli, registry: Registry) -> None:
    """A web server that answers everything with a page."""
    registry.no_registry = True
    assert "is not a registry: it answers 200 to /v2/" in project("push", "app.yaml").err


def test_an_answer_that_goes_on_after_its_length() -> None:
    """In chunks, the length that it names means nothing: what was not asked for is not read."""
    chunk = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
    sent: list[int] = []

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n")
            for number in range(64):
                connection.sendall(chunk)
                sent.append(number)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        target = Target(f"127.0.0.1:{listener.getsockname()[1]}/x", insecure=True)
        Client(target, lambda: None, lambda _seconds: None, {}).begin()
        thread.join()
    assert len(sent) < 64


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_answer_without_an_end_is_given_up(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try, and its connection is closed, though a byte always came in time."""
    monkeypatch.setattr("sparkgen.delivery.registry.client._WHOLE_SECONDS", 0.1)
    pauses: list[float] = []
    with endless(kind) as host:
        client = Client(Target(f"{host}/x", insecure=True), lambda: None, pauses.append, {})
        with pytest.raises(RegistryError, match=f"{host} does not answer: check the address"):
            client.begin()
    assert pauses == list(PAUSES)


def test_nobody_there(project: Cli, registry: Registry) -> None:
    """A port without a listener, and a host without an address."""
    write("localhost:1")
    assert "nothing listens at localhost:1" in project("push", "app.yaml").err
    write("registry.sparkgen.invalid")
    assert "there is no host registry.sparkgen.invalid" in project("push", "app.yaml").err


# --- login ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["basic", "bearer"])
def test_credentials_of_docker(project: Cli, registry: Registry, scheme: str) -> None:
    """Basic, and a token of the server that the registry names."""
    registry.login = scheme
    done = project("push", "app.yaml")
    assert (
        f"{registry.address} requires a login, and there are no credentials for it: docker login" in done.err
    )
    login(registry)
    assert project("push", "app.yaml").code == 0
    registry.password = "other"  # noqa: S105 - of a test
    Path(CODE).write_text("changed")
    done = project("push", "app.yaml")
    assert f"rejects the credentials of me in {Path.home()}/.docker/config.json" in done.err
    assert "word" not in done.err


@pytest.mark.parametrize("location", ["http://[", "ftp://files.example.com/x", "gopher:x"])
def test_an_upload_that_is_sent_to_no_address(project: Cli, registry: Registry, location: str) -> None:
    """A sentence, and nothing is sent."""
    registry.location = location
    done = project("push", "app.yaml")
    assert (done.code, registry.received) == (2, 0)
    assert registry.address in done.err
    assert "Traceback" not in done.err


def test_no_code_goes_out_without_tls_where_there_was_tls() -> None:
    """A proxy that ends TLS and does not say so makes a registry name http addresses."""
    with pytest.raises(
        RegistryError, match=r"reg.example.com redirects the upload to an address without TLS"
    ):
        absolute("https://reg.example.com/v2/x/blobs/uploads/", "http://reg.example.com/v2/x/blobs/uploads/1")
    for location in ("/v2/x/1", "https://store.example.com/1"):
        assert absolute("https://reg.example.com/v2/x/", location).startswith("https://")
    assert absolute("http://reg.example.com/v2/x/", "http://reg.example.com/1") == "http://reg.example.com/1"


@pytest.mark.parametrize(
    "token",
    [
        b"[]",
        b'{"token": "a\\nb"}',
        '{"token": "\u65e5"}'.encode(),
        b'{"token": 5}',
        b"[" * 100_000,
        b"\x1f\x8b\x08",
    ],
    ids=lambda token: repr(token[:12]),
)
def test_a_login_server_that_sends_no_token(project: Cli, registry: Registry, token: bytes) -> None:
    """Whatever it sends, it is told in a sentence."""
    registry.login, registry.token = "bearer", token
    login(registry)
    done = project("push", "app.yaml")
    assert done.code == 2
    assert "sent no token" in done.err


def test_a_login_at_what_is_no_address(project: Cli, registry: Registry) -> None:
    """Nor does a broken realm end in a traceback."""
    registry.login, registry.realm = "bearer", "https://["
    login(registry)
    assert "an invalid address" in project("push", "app.yaml").err


def test_a_refusal_of_any_depth(project: Cli, registry: Registry) -> None:
    """JSON that is nested without end is no message."""
    registry.answers = {("POST", "/v2/"): [(403, b'{"errors":' + b"[" * 100_000)]}
    assert "answers 403: these credentials" in project("push", "app.yaml").err


def test_a_login_server_without_tls_gets_no_password(project: Cli, registry: Registry) -> None:
    """A registry may not send it elsewhere in plain text."""
    registry.login, registry.realm = "bearer", "ftp://elsewhere.example.com/token"
    login(registry)
    assert "sparkgen did not send the credentials" in project("push", "app.yaml").err


def test_a_registry_without_tls_sends_the_password_nowhere_else(project: Cli, registry: Registry) -> None:
    """Whoever answers in its place could name any server: another port, another host, with TLS or without."""
    registry.login = "bearer"
    login(registry)
    for realm in ("http://127.0.0.1:1/token", "http://evil.example.com/token", "https://evil.example.com/t"):
        registry.realm = realm
        said = project("push", "app.yaml").err
        assert "without TLS, it must be at the registry's own address" in said


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux tells whose a socket is")
@pytest.mark.parametrize("more", ["", "    insecure: true\n"])
@pytest.mark.parametrize(
    ("scheme", "entry"), [("basic", {}), ("bearer", {}), ("bearer", {"identitytoken": "secret"})]
)
def test_another_user_of_this_machine_gets_no_password(
    project: Cli,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    entry: dict[str, str],
    more: str,
) -> None:
    """Who listens at the registry's port while no port-forward runs, or at the other address of localhost."""
    monkeypatch.setattr("sparkgen.delivery.registry.receiver.own_users", lambda _: frozenset({65533}))
    write(registry.address, more)
    registry.login = scheme
    login(registry, **entry)
    done = project("push", "app.yaml")
    port = registry.address.partition(":")[2]
    user = pwd.getpwuid(os.getuid()).pw_name
    assert done.code == 2
    assert f"the program at 127.0.0.1:{port} belongs to {user} (uid {os.getuid()})" in done.err
    assert f"start your port-forward before you push, and write 127.0.0.1:{port}, not localhost" in done.err
    assert registry.seen
    assert {line.split(" ", 2)[2] for line in registry.seen} == {""}
    assert {line.split(" ", 1)[0] for line in registry.seen} <= {"GET", "HEAD"}


def test_a_token_is_asked_for_what_a_push_needs(project: Cli, registry: Registry) -> None:
    """The registry asks for the scope `x`, which could be anybody's repository."""
    registry.login = "bearer"
    login(registry)
    assert project("push", "app.yaml").code == 0
    asked = {line.split()[1].partition("?")[2] for line in registry.seen if line.startswith("GET /token")}
    assert asked == {"scope=repository%3Adata%2Fetl%3Apull%2Cpush&service=reg"}


def test_a_credential_helper(
    project: Cli, registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As docker calls it: the server on standard input, JSON on standard output."""
    registry.login = "basic"
    helper = tmp_path / "docker-credential-fake"
    answer = json.dumps({"Username": "me", "Secret": "word"})
    helper.write_text(
        f"#!/bin/sh\nread server\n[ \"$server\" = {registry.address} ] || exit 1\necho '{answer}'\n"
    )
    helper.chmod(0o755)
    file = Path.home() / ".docker/config.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"credHelpers": {registry.address: "fake"}}))
    assert "cannot start docker-credential-fake" in project("push", "app.yaml").err
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert project("push", "app.yaml").code == 0


# --- TLS --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of this machine that nobody has signed, and its key, in one file."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", str(file), "-out", f"{file}.crt"],
        check=True, capture_output=True,
    )  # fmt: skip
    return file


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_answer_without_an_end_is_given_up_with_tls(
    kind: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that reads is woken up."""
    monkeypatch.setattr("sparkgen.delivery.registry.client._WHOLE_SECONDS", 0.1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{certificate}.crt", certificate)
    with endless(kind, context) as host:
        target = Target(f"{host}/x".replace("127.0.0.1", "localhost"), ca_file=f"{certificate}.crt")
        client = Client(target, lambda: None, lambda _seconds: None, {})
        with pytest.raises(RegistryError, match="does not answer: check the address"):
            client.begin()


def test_a_certificate_of_another_authority(project: Cli, registry: Registry, certificate: Path) -> None:
    """It is refused, until the authority is named."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{certificate}.crt", certificate)
    with served(Registry(), context) as secure:
        write(secure.address)
        done = project("push", "app.yaml")
        assert f"the certificate of {secure.address} is not trusted" in done.err
        assert "--ca-file" in done.err
        assert project("push", "app.yaml", "--ca-file", f"{certificate}.crt").code == 0
        assert "cannot read certificates" in project("push", "app.yaml", "--ca-file", "none.pem").err


# --- the lock ---------------------------------------------------------------------------------------------


def test_all_commands_read_the_lock_and_compare_it(project: Cli) -> None:
    """Without a network: not pushed, up to date, out of date."""
    done = project("validate", "app.yaml")
    assert done.code == 1
    assert "error[SG306] spec.mainApplicationFile: the artifact `code` was not pushed" in done.out
    assert "run: sparkgen push app.yaml, and commit app.lock.yaml" in done.out
    project("push", "app.yaml")
    for command in ("validate", "render", "lint"):
        assert "SG30" not in project(command, "app.yaml").out.replace("SG305", "")
    Path("lib/b.py").write_text("")
    done = project("render", "app.yaml", "-o", "deploy")
    assert done.code == 1
    assert "error[SG307]" in done.err
    assert not Path("deploy").exists()
    assert "SG307" in project("lint", "app.yaml").out
    assert "SG307" in project("diff", "--rendered", "deploy", "app.yaml").err


def test_a_lock_is_no_document_of_a_folder(project: Cli) -> None:
    """The folder has one application."""
    project("push", "app.yaml")
    assert "1 document valid" in project("validate", ".").out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("repository", "not to localhost:9/data/etl"),
        ("entry", "differs from what was pushed; new: lib/a.py"),
        ("main", "pushed for different entries"),
        ("name", "SG306"),
        ("mode", "has changed since it was pushed"),
    ],
)
def test_what_makes_a_lock_stale(project: Cli, registry: Registry, change: str, message: str) -> None:
    """What pods would get is not what the document says any more."""
    project("push", "app.yaml")
    text = Path("app.yaml").read_text()
    if change == "repository":
        write("localhost:9")
    elif change == "entry":
        Path("app.yaml").write_text(text.replace("./lib", "./lib/a.py"))
    elif change == "main":
        Path("app.yaml").write_text(text.replace("./jobs/etl.py", "./jobs/../jobs/etl.py"))
    elif change == "name":
        write(registry.address, name="other")
    else:
        Path(CODE).chmod(0o755)
    done = project("validate", "app.yaml")
    assert done.code == 1
    assert message in done.out


def test_a_document_that_names_no_files_any_more(project: Cli) -> None:
    """The lock is told to be too much, and push removes it."""
    project("push", "app.yaml")
    Path("app.yaml").write_text(DOCUMENT)
    assert "has files that the document does not name" in project("validate", "app.yaml").out
    done = project("push", "app.yaml")
    assert "app.lock.yaml: removed" in done.out
    assert not Path("app.lock.yaml").exists()
    assert project("push", "app.yaml").out == "nothing to push: app.yaml names no local files\n"


def test_several_documents_in_one_file(project: Cli, registry: Registry) -> None:
    """One lock has a part for each, and a schedule has its artifacts in the template."""
    first = Path("app.yaml").read_text()
    scheduled = yaml.safe_load(first.replace("name: pi", "name: nightly"))
    scheduled["kind"] = "ScheduledSparkApplication"
    scheduled["spec"] = {"schedule": "0 3 * * *", "template": scheduled["spec"]}
    Path("app.yaml").write_text(f"{first}---\n{yaml.safe_dump(scheduled)}")
    done = project("push", "app.yaml")
    assert done.code == 0, done.err
    assert len(list(yaml.safe_load_all(Path("app.lock.yaml").read_text()))) == 2
    assert project("validate", "app.yaml").code == 0


def test_an_overlay_that_changes_the_files_has_a_lock_of_its_own(project: Cli) -> None:
    """The lock beside the document is that of the document alone."""
    Path("prod.yaml").write_text("spec: {deps: {pyFiles: [./lib/a.py]}}\n")
    project("push", "app.yaml")
    done = project("validate", "app.yaml", "-f", "prod.yaml")
    assert "run: sparkgen push app.yaml -f prod.yaml, and commit app.lock.yaml" in done.out
    prod = ("app.yaml", "-f", "prod.yaml", "--lock", "app.prod.lock.yaml")
    assert project("push", *prod).code == 0
    assert project("validate", *prod).code == 0
    assert project("validate", "app.yaml").code == 0
    assert project("validate", "app.yaml", "-f", "prod.yaml", "-f", "app.prod.lock.yaml").code == 0


def test_a_document_from_standard_input(project: Cli) -> None:
    """Its files are beside the working directory; its lock has to be named."""
    text = Path("app.yaml").read_text()
    assert "save the document in a file" in project("validate", "-", stdin=text).out
    assert "has no lock file; add --lock FILE" in project("push", "-", stdin=text).err
    assert project("push", "-", "--lock", "x.lock.yaml", stdin=text).code == 0
    assert project("validate", "-", "--lock", "x.lock.yaml", stdin=text).code == 0


def test_a_lock_that_names_other_content_is_found(project: Cli) -> None:
    """Whoever changes the digest in Git and leaves the rest as it is would have pods run something else."""
    assert project("push", "app.yaml").code == 0
    good, before = Path("app.lock.yaml").read_text(), artifacts()[0]
    Path(CODE).write_text("print(2)\n")
    assert project("push", "app.yaml").code == 0
    other = artifacts()[0]
    Path(CODE).write_text("print(1)\n")
    lies = [(before[field], other[field]) for field in ("reference", "digest")]
    lies += [(f"{field}: {before[field]}", f"{field}: 7") for field in ("size", "unpackedSize")]
    for truth, lie in lies:
        Path("app.lock.yaml").write_text(good.replace(truth, lie))
        done = project("validate", "app.yaml")
        assert done.code == 1
        assert "SG307" in done.out
        assert "has files whose digest or size differs from the lock" in done.out
    assert project("push", "app.yaml").code == 0
    assert Path("app.lock.yaml").read_text() == good


def conflict(lock: str, form: str) -> str:
    """A lock as a merge leaves it."""
    other = lock.replace(" size: 4096", " size: 8192")
    if form == "whole":
        return f"<<<<<<< HEAD\n{lock}=======\n{other}>>>>>>> main\n"
    ours, theirs = (next(line for line in text.splitlines() if " size:" in line) for text in (lock, other))
    base = f"||||||| base\n{ours}\n" if form == "diff3" else ""
    return lock.replace(ours, f"<<<<<<< HEAD\n{ours}\n{base}=======\n{theirs}\n>>>>>>> main")


@pytest.mark.parametrize("form", ["middle", "whole", "diff3"])
def test_push_rewrites_a_lock_with_merge_conflicts(project: Cli, registry: Registry, form: str) -> None:
    """All commands name the conflict and the line, and what they advise repairs it."""
    project("push", "app.yaml")
    good = Path("app.lock.yaml").read_text()
    Path("app.lock.yaml").write_text(conflict(good, form))
    line = conflict(good, form).splitlines().index("<<<<<<< HEAD") + 1
    done = project("validate", "app.yaml")
    assert done.code == 1
    assert f"app.lock.yaml:{line}:1: error[SG017] the lock file contains merge conflicts" in done.out
    assert "run `sparkgen push`: it rewrites the lock file" in done.out
    assert "YAML" not in done.out
    done = project("push", "app.yaml")
    assert (done.code, "app.lock.yaml: written" in done.out) == (0, True), done.err
    assert Path("app.lock.yaml").read_text() == good
    assert project("validate", "app.yaml").code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[]", "is no part of a lock"),
        (b"hello", "is no part of a lock"),
        (b"", "SG306"),
        (b"\xff\xfe\x00", "app.lock.yaml:1"),
        (b"a: [", "run `sparkgen push`: it rewrites the lock file"),
        (b"kind: SparkApplication\nmetadata: {name: pi}\nspec: {artifacts: 5}\n", "app.lock.yaml:3"),
        (b"kind: SparkApplication\nmetadata: {name: pi}\nspec: {artifacts: [{}]}\n", "app.lock.yaml:3"),
    ],
)
def test_a_broken_lock(project: Cli, text: bytes, message: str) -> None:
    """It is told where it is broken, and another push fixes it."""
    project("push", "app.yaml")
    good = Path("app.lock.yaml").read_bytes()
    Path("app.lock.yaml").write_bytes(text)
    done = project("validate", "app.yaml")
    assert done.code == 1
    assert message in done.out
    done = project("push", "app.yaml")
    assert done.code == 0, done.err
    assert Path("app.lock.yaml").read_bytes() == good


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ("  image: evil.example.com/spark\n", "spec.image"),
        ("  arguments: [--evil]\n", "spec.arguments"),
        ("  sparkConf: {spark.plugins: Evil}\n", "spec.sparkConf"),
        ("  driver: {env: [{name: A, value: b}]}\n", "spec.driver"),
        ("other: 1\n", "other"),
    ],
)
def test_a_lock_says_only_what_a_lock_may_say(project: Cli, more: str, path: str) -> None:
    """Helm would apply the rest of it: all commands refuse it, also as an overlay; push removes it."""
    project("push", "app.yaml")
    good = Path("app.lock.yaml").read_text()
    Path("app.lock.yaml").write_text(good + more)
    line = len(good.splitlines()) + 1
    for arguments in (("app.yaml",), ("app.yaml", "-f", "app.lock.yaml")):
        for command in ("validate", "render", "lint"):
            done = project(command, *arguments)
            said = done.out + done.err
            assert done.code == 1
            assert f"error[SG017] {path}: does not belong in a lock file" in said
            assert f"app.lock.yaml:{line}:" in said
    done = project("push", "app.yaml")
    assert done.code == 0, done.err
    assert Path("app.lock.yaml").read_text() == good


def test_a_name_and_a_namespace_in_a_lock(project: Cli) -> None:
    """Its name says whose it is; nothing else of the metadata is its matter."""
    project("push", "app.yaml")
    text = Path("app.lock.yaml").read_text()
    Path("app.lock.yaml").write_text(text.replace("  name: pi\n", "  name: pi\n  namespace: other\n"))
    assert "SG017] metadata.namespace: does not belong" in project("validate", "app.yaml").out


def test_push_rewrites_no_file_that_is_no_lock(project: Cli) -> None:
    """A slip of --lock costs nobody a document."""
    before = Path("app.yaml").read_text()
    done = project("push", "app.yaml", "--lock", "app.yaml")
    assert (done.code, Path("app.yaml").read_text()) == (1, before)
    assert "does not belong in a lock file" in done.err


def test_a_lock_that_was_named_has_to_be_there(project: Cli) -> None:
    """A wrong name is no lock that is out of date."""
    assert "the lock file cannot be read" in project("validate", "app.yaml", "--lock", "none.lock.yaml").out


def without_registry() -> None:
    """The document names no registry any more."""
    Path("app.yaml").write_text(Path("app.yaml").read_text().partition("  delivery:")[0])


def test_files_without_a_registry(project: Cli) -> None:
    """They are rendered without a lock; a push writes the one that Helm needs, and uploads nothing."""
    without_registry()
    assert project("validate", "app.yaml").code == 0
    (config_map,) = [
        one
        for one in yaml.safe_load_all(project("render", "app.yaml", "--quiet").out)
        if one["metadata"]["name"].endswith("-code")
    ]
    assert config_map["data"]["jobs_etl.py"] == Path(CODE).read_text()
    assert not Path("app.lock.yaml").exists()
    assert project("push", "app.yaml").out == "app.lock.yaml: written\n"
    lock = Path("app.lock.yaml").read_text()
    assert "Only Helm needs it" in lock
    assert yaml.safe_load(lock)["spec"]["artifacts"][0]["contents"]["data"] == config_map["data"]
    dry = project("push", "app.yaml", "--dry-run").out
    assert dry.startswith("code: a ConfigMap of the run, ")


def test_a_lock_with_files_is_compared_with_them(project: Cli) -> None:
    """Whoever changes the files, or the lock, is told: Helm would install something else."""
    without_registry()
    project("push", "app.yaml")
    before = Path(CODE).read_text()
    Path(CODE).write_text(before + "# more\n")
    assert "has changed since it was pushed" in project("validate", "app.yaml").out
    Path(CODE).write_text(before)
    assert project("validate", "app.yaml").code == 0
    lock = Path("app.lock.yaml")
    lock.write_text(lock.read_text().replace("print(", "exit("))
    assert "differs from the lock" in project("validate", "app.yaml").out


def test_files_that_no_config_map_can_hold(project: Cli) -> None:
    """One message names both ways out."""
    without_registry()
    Path("lib/big.bin").write_bytes(b"x" * (900 << 10))
    for command in ("push", "validate"):
        done = project(command, "app.yaml")
        assert done.code == 1
        text = " ".join((done.out + done.err).split())
        assert "SG309" in text
        assert "more than the 900.0 KiB that fit into a ConfigMap; the largest is lib/big.bin" in text
        assert "add `delivery.repository: REGISTRY/NAME`, and run `sparkgen push`; or put the files" in text


def test_the_limit_of_the_repository(project: Cli) -> None:
    """`.sparkgen.yaml` raises it; nonsense there is told."""
    configuration = Path(".sparkgen.yaml")
    before = configuration.read_text()
    with Path("lib/big.bin").open("wb") as file:
        file.truncate((1 << 20) + 1)
    configuration.write_text(before + "maxArtifactSize: 1Mi\n")
    assert "more than 1.0 MiB; the largest is lib/big.bin" in project("push", "app.yaml").err
    configuration.write_text(before + "maxArtifactSize: 2Mi\n")
    assert project("push", "app.yaml").code == 0
    configuration.write_text(before + "maxArtifactSize: much\n")
    assert "must be a size in Mi or Gi" in project("push", "app.yaml").err


@pytest.mark.parametrize("name", ["y", "n", "on", "off", "null", "e3"])
def test_a_name_that_yaml_could_take_for_something_else(project: Cli, registry: Registry, name: str) -> None:
    """The lock has it in quotes, as the document must."""
    path = Path("app.yaml")
    path.write_text(path.read_text().replace("name: pi", f'name: "{name}"'))
    assert project("push", "app.yaml").code == 0
    [written] = yaml.safe_load_all(Path("app.lock.yaml").read_text())
    assert written["metadata"] == {"name": name}
    assert project("validate", "app.yaml").code == 0
    assert "up to date" in project("push", "app.yaml").err + project("push", "app.yaml").out
