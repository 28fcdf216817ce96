"""The container `fetch` against a registry that answers, refuses, breaks off and lies."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.codes import Code
from sparkgen.delivery.oci import sha256
from sparkgen.runtime.deadline import Deadline
from sparkgen.runtime.exits import Refused, exit_code
from sparkgen.runtime.fetch import cache, command, download
from sparkgen.runtime.fetch.command import Places, fetch
from sparkgen.runtime.fetch.registry import Access, Registry
from sparkgen.runtime.fetch.values import Artifact, BadArtifact, Passing, artifacts
from sparkgen.schema import store
from tests.unit.endless import ENDLESS, endless
from tests.unit.runtime.fetch.fake_registry import Answer, FakeRegistry, Pushed, environment, pushed

FILES = {"jobs/etl.py": b"print(1)\n", "lib/a/__init__.py": b"", "big": bytes(range(256)) * 4000}


class FakeTime:
    """A clock that stands still but for those who sleep."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Be later."""
        self.pauses.append(seconds)
        self.seconds += seconds

    @property
    def time(self) -> download.Time:
        """The clock as `fetch` takes it."""
        return download.Time(lambda: self.seconds, self.sleep, lambda: 0.5)


def run(pushed: Pushed, places: Places, clock: FakeTime | None = None, **more: str) -> list[str]:
    """Be the container; what it says."""
    said: list[str] = []
    chosen = (clock or FakeTime()).time
    fetch({**environment(pushed.wanted), **more}, chosen, lambda: 1e9, said.append, places)
    return said


def files_in(folder: Path) -> dict[str, bytes]:
    """What was unpacked."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def nothing_is_left(places: Places) -> bool:
    """Whether a refused artifact has left nothing behind."""
    return not [*places.artifacts.iterdir()]


def test_what_was_pushed_is_there(registry: FakeRegistry, places: Places) -> None:
    """Once with every file; a restarted container finds it again and asks nothing."""
    pushed = registry.push(FILES)
    run(pushed, places)
    assert files_in(places.artifacts / "code") == FILES
    asked = len(registry.asked)
    assert run(pushed, places) == ["code: already unpacked"]
    assert len(registry.asked) == asked
    assert sorted(path.name for path in places.artifacts.iterdir()) == [".code.digest", "code"]


def test_a_half_done_folder_does_not_count(registry: FakeRegistry, places: Places) -> None:
    """The mark is written last: without it all restarts."""
    pushed = registry.push(FILES)
    for name in ("code", ".code.new"):
        (places.artifacts / name).mkdir()
        (places.artifacts / name / "half").write_text("x")
    (places.artifacts / ".code.tar").write_text("half")
    run(pushed, places)
    assert files_in(places.artifacts / "code") == FILES


def test_two_artifacts(registry: FakeRegistry, places: Places) -> None:
    """Each has a folder of its own."""
    code, deps = registry.push(FILES), registry.push({"python/x.py": b"x"}, "dependencies")
    fetch(environment(code.wanted, deps.wanted), FakeTime().time, lambda: 1e9, print, places)
    assert files_in(places.artifacts / "dependencies") == {"python/x.py": b"x"}


# --- a registry that is away, and connections that break -----------------------------------------


def test_a_layer_goes_on_where_it_broke_off(registry: FakeRegistry, places: Places) -> None:
    """Twice cut: the rest alone is asked for."""
    pushed = registry.push(FILES)
    registry.script = [("blobs", Answer(cut=300_000)), ("blobs", Answer(cut=300_000))]
    run(pushed, places)
    ranges = [headers.get("range") for path, headers in registry.asked if "blobs" in path]
    assert ranges[0] is None
    assert [text and int(text[6:-1]) > 0 for text in ranges[1:]] == [True, True]
    assert files_in(places.artifacts / "code") == FILES


def test_a_registry_without_ranges(registry: FakeRegistry, places: Places) -> None:
    """It sends all again, and nothing is there twice."""
    pushed = registry.push(FILES)
    registry.script = [("blobs", Answer(cut=300_000)), ("blobs", Answer(200, pushed.layer))]
    run(pushed, places)
    assert files_in(places.artifacts / "code") == FILES


@pytest.mark.parametrize("trouble", [None, Answer(503), Answer(500), Answer(429)], ids=str)
def test_a_registry_that_is_away_for_a_minute(
    registry: FakeRegistry, places: Places, trouble: Answer | None
) -> None:
    """It is asked again after pauses that grow."""
    pushed, clock = registry.push(FILES), FakeTime()
    registry.script = [("manifests", trouble)] * 10
    run(pushed, places, clock)
    assert files_in(places.artifacts / "code") == FILES
    assert clock.pauses == sorted(clock.pauses)
    assert clock.seconds > 60


def test_the_registry_says_when(registry: FakeRegistry, places: Places) -> None:
    """Retry-After counts, up to a bound."""
    pushed, clock = registry.push(FILES), FakeTime()
    registry.script = [("manifests", Answer(429, headers={"Retry-After": text})) for text in ("7", "99999")]
    run(pushed, places, clock)
    assert clock.pauses == [7.0, 120.0]


def test_a_registry_that_stays_away(places: Places) -> None:
    """That is no fault of the artifact: it may go well in another pod."""
    away = FakeRegistry()
    pushed, clock = away.push(FILES), FakeTime()
    away.close()
    with pytest.raises(Refused) as caught:
        run(pushed, places, clock)
    assert (caught.value.code, caught.value.exit_code) == (Code.REGISTRY_AWAY, 1)
    assert 200 < clock.seconds < 300
    assert nothing_is_left(places)


# --- what no second try would fix ----------------------------------------------------------------


def refused(pushed: Pushed, places: Places, **more: str) -> str:
    """The reason; with it nothing is left, and nothing was tried again."""
    clock = FakeTime()
    with pytest.raises(BadArtifact) as caught:
        run(pushed, places, clock, **more)
    assert caught.value.code is Code.BAD_ARTIFACT
    assert (caught.value.exit_code, clock.pauses) == (contract.BAD_ARTIFACT, [])
    assert nothing_is_left(places)
    return f"{caught.value} | {caught.value.next_step}"


def test_what_was_never_pushed(registry: FakeRegistry, places: Places) -> None:
    """Or was removed."""
    pushed = registry.push(FILES)
    registry.blobs.clear()
    assert "is not in the registry" in refused(pushed, places)


def test_a_layer_that_is_gone(registry: FakeRegistry, places: Places) -> None:
    """A manifest alone is not enough."""
    pushed = registry.push(FILES)
    del registry.blobs[sha256(pushed.layer)]
    assert "the layer is missing" in refused(pushed, places)


@pytest.mark.parametrize("length", [0, 1000, -1])
def test_a_truncated_layer(registry: FakeRegistry, places: Places, length: int) -> None:
    """The registry says itself that it has fewer bytes."""
    pushed = registry.push(FILES)
    registry.blobs[sha256(pushed.layer)] = pushed.layer[:length]
    assert " in the lock" in refused(pushed, places)


def test_a_tampered_layer(registry: FakeRegistry, places: Places) -> None:
    """As long, and with another byte: nothing of it is unpacked."""
    pushed = registry.push(FILES)
    changed = bytearray(pushed.layer)
    changed[-3000] ^= 1
    registry.blobs[sha256(pushed.layer)] = bytes(changed)
    assert "is not what was pushed" in refused(pushed, places)


def test_a_tampered_manifest(registry: FakeRegistry, places: Places) -> None:
    """It could lead to another layer."""
    pushed = registry.push(FILES)
    registry.blobs[sha256(pushed.manifest)] = pushed.manifest + b" "
    assert "is not what was pushed" in refused(pushed, places)


def test_a_layer_that_does_not_end(registry: FakeRegistry, places: Places) -> None:
    """More bytes than the lock says are not taken."""
    pushed = registry.push(FILES)
    registry.script = [("blobs", Answer(200, pushed.layer * 2, {"Length": str(len(pushed.layer))}))]
    run(pushed, places)  # HTTP itself cuts it
    registry.script = [("blobs", Answer(200, pushed.layer + b"x"))]
    (places.artifacts / ".code.digest").unlink()
    with pytest.raises(BadArtifact, match=" in the lock"):
        run(pushed, places)


def test_a_manifest_of_megabytes(registry: FakeRegistry, places: Places) -> None:
    """It is not read to its end."""
    pushed = registry.push(FILES)
    registry.blobs[sha256(pushed.manifest)] = bytes(3 << 20)
    assert "larger than" in refused(pushed, places)


@pytest.mark.parametrize(
    "change",
    [
        {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip"},
        {"digest": "sha256:" + "0" * 64},
        {"size": 1},
    ],
    ids=str,
)
def test_another_layer_than_the_lock_says(
    registry: FakeRegistry, places: Places, change: Mapping[str, Any]
) -> None:
    """What the manifest says has to be what the document was rendered with."""
    pushed = registry.push(FILES)
    found = json.loads(pushed.manifest)
    found["layers"][0] |= change
    _with_manifest(registry, pushed, json.dumps(found).encode())
    assert refused(pushed, places)


@pytest.mark.parametrize(
    "manifest",
    [b"", b"[]", b"{}", b'{"layers": []}', b"[" * 100_000, b'{"layers": [1, 2]}'],
    ids=["empty", "list", "object", "no-layers", "deeply-nested", "layers-of-numbers"],
)
def test_what_is_no_manifest(registry: FakeRegistry, places: Places, manifest: bytes) -> None:
    """Even where its digest is right."""
    pushed = registry.push(FILES)
    _with_manifest(registry, pushed, manifest)
    assert "not an image with one layer" in refused(pushed, places)


def _with_manifest(registry: FakeRegistry, pushed: Pushed, manifest: bytes) -> None:
    registry.blobs[sha256(manifest)] = manifest
    pushed.wanted["reference"] = pushed.wanted["reference"].partition("@")[0] + "@" + sha256(manifest)


def test_a_bad_archive(registry: FakeRegistry, places: Places) -> None:
    """With the right digest: whoever pushed it may be the enemy."""
    assert "ustar" in refused(registry.push_layer(b"evil" * 1000), places)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "[1]", '[{"name": "../x"}]', "[" * 100_000, '[{"name": "code", "size": "1"}]'],
    ids=["empty", "object", "empty-list", "number", "path-as-name", "deeply-nested", "size-as-string"],
)
def test_a_bad_environment(places: Places, text: str) -> None:
    """Somebody has changed the manifest."""
    given = {contract.ENV_CONTRACT: str(contract.VERSION), contract.ENV_ARTIFACTS: text}
    with pytest.raises(BadArtifact):
        fetch(given, FakeTime().time, lambda: 1e9, print, places)


def test_the_reason_is_the_termination_message(tmp_path: Path) -> None:
    """One line, and the exit code that says that no second try helps."""
    log = tmp_path / "termination-log"
    log.touch()

    def bad() -> int:
        raise BadArtifact("it is gone", "push again")

    assert exit_code(bad, log) == contract.BAD_ARTIFACT
    assert log.read_text() == "[BadArtifact] it is gone\npush again\n"


# --- rights ---------------------------------------------------------------------------------------


def docker_config(places: Places, host: str, user: str = "ada", password: str = "pass") -> None:  # noqa: S107
    """The Secret's file."""
    entry = {"username": user, "password": password}
    places.config.write_text(json.dumps({"auths": {host: entry}}))


def test_basic_credentials(registry: FakeRegistry, places: Places) -> None:
    """They are sent once they are asked for."""
    pushed = registry.push(FILES)
    registry.user = ("ada", "pass")
    docker_config(places, registry.host)
    run(pushed, places)
    assert "authorization" not in registry.asked[0][1]
    assert files_in(places.artifacts / "code") == FILES


def test_a_token(registry: FakeRegistry, places: Places) -> None:
    """From the server that the registry names, for pulling this repository alone."""
    pushed = registry.push(FILES)
    registry.token = "t0ken"  # noqa: S105
    docker_config(places, registry.host)
    run(pushed, places)
    (asked,) = registry.paths("/token")
    assert "scope=repository%3Ateam%2Fetl%3Apull" in asked
    assert files_in(places.artifacts / "code") == FILES


@pytest.mark.parametrize("known", [True, False])
def test_wrong_or_missing_credentials(registry: FakeRegistry, places: Places, known: bool) -> None:
    """Neither is in the reason."""
    pushed = registry.push(FILES)
    registry.user = ("ada", "right")
    if known:
        docker_config(places, registry.host, password="wr0ng")  # noqa: S106
    reason = refused(pushed, places)
    assert "delivery.pullSecret" in reason
    assert ("rejects the credentials" if known else "requires credentials") in reason
    assert "wr0ng" not in reason


def test_a_right_to_another_repository(registry: FakeRegistry, places: Places) -> None:
    """As when a token is of another namespace."""
    pushed = registry.push(FILES)
    registry.script = [("manifests", Answer(403))]
    assert "does not allow pulling team/etl" in refused(pushed, places)


def test_a_token_server_elsewhere_without_tls(registry: FakeRegistry, places: Places) -> None:
    """It would have the password."""
    pushed = registry.push(FILES)
    docker_config(places, registry.host)
    realm = {"WWW-Authenticate": 'Bearer realm="http://evil.example.com/token"'}
    registry.script = [("manifests", Answer(401, headers=realm))]
    assert "unsafe" in refused(pushed, places)


def test_a_redirect_takes_no_credentials_along(registry: FakeRegistry, places: Places) -> None:
    """To another host; the layer may be in an object store."""
    other = FakeRegistry()
    try:
        pushed = registry.push(FILES)
        other.push(FILES)
        registry.user = ("ada", "pass")
        docker_config(places, registry.host)
        target = f"http://{other.host}/v2/team/etl/blobs/{pushed.wanted['digest']}"
        registry.script = [("blobs", Answer(307, headers={"Location": target}))]
        run(pushed, places)
        assert [("authorization" in headers) for _, headers in other.asked] == [False]
    finally:
        other.close()


@pytest.mark.parametrize("token", [None, "t0ken"])
def test_no_redirect_takes_credentials_along(
    registry: FakeRegistry, places: Places, token: str | None
) -> None:
    """Not the second one either, which stays at the host that has none of them."""
    other = FakeRegistry()
    try:
        pushed = registry.push(FILES)
        other.push(FILES)
        registry.user, registry.token = (None if token else ("ada", "pass")), token
        docker_config(places, registry.host)
        blob = f"/v2/team/etl/blobs/{pushed.wanted['digest']}"
        registry.script = [
            ("blobs", Answer(307, headers={"Location": f"http://{other.host}{blob}"})),
        ]
        other.script = [("blobs", Answer(307, headers={"Location": blob}))] * 2
        run(pushed, places)
        assert [("authorization" in headers) for _, headers in other.asked] == [False] * 3
    finally:
        other.close()


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://x/y", "http://user:x@127.0.0.1/", "gopher:"])
def test_a_redirect_to_what_is_not_safe(registry: FakeRegistry, places: Places, target: str) -> None:
    """Nothing is read there."""
    pushed = registry.push(FILES)
    registry.script = [("blobs", Answer(302, headers={"Location": target}))]
    assert "unsafe" in refused(pushed, places)


@pytest.mark.parametrize("location", ["http://[", "https://[::1", "http://\xb2["])
def test_a_redirect_to_no_address(registry: FakeRegistry, places: Places, location: str) -> None:
    """It is refused in a sentence."""
    pushed = registry.push(FILES)
    registry.script = [("blobs", Answer(302, headers={"Location": location}))]
    assert "redirects to an invalid address" in refused(pushed, places)


def test_a_token_server_at_no_address(registry: FakeRegistry, places: Places) -> None:
    """As is a realm."""
    pushed = registry.push(FILES)
    registry.script = [("manifests", Answer(401, headers={"WWW-Authenticate": 'Bearer realm="https://["'}))]
    assert "a token server with an invalid address" in refused(pushed, places)


@pytest.mark.parametrize("number", ["\xb2", "9" * 5000, "-1", "1e5", "\xb9\xb2"])
def test_a_header_that_is_no_number(registry: FakeRegistry, places: Places, number: str) -> None:
    """Superscripts are digits for `isdigit` and not for `int`; they end nothing here."""
    pushed = registry.push(FILES)
    registry.script = [
        ("manifests", Answer(429, headers={"Retry-After": number})),
        ("blobs", Answer(416, headers={"Content-Range": f"bytes */{number}"})),
        ("blobs", Answer(200, pushed.layer, {"Length": number}, cut=len(pushed.layer))),
    ]
    run(pushed, places)
    assert files_in(places.artifacts / "code") == FILES


def test_a_layer_that_comes_by_drops(registry: FakeRegistry, places: Places) -> None:
    """Each of them is something new, and all the same it ends: no pod waits for days."""
    pushed, clock = registry.push(FILES), FakeTime()

    class Drips(Registry):
        @contextmanager
        def layer(self, artifact: Artifact, start: int) -> Iterator[tuple[int, Iterator[bytes]]]:
            def drops() -> Iterator[bytes]:
                for byte in pushed.layer[start:]:
                    clock.seconds += 29
                    yield bytes([byte])

            with super().layer(artifact, start) as (begins, _):
                yield begins, drops()

    [artifact] = artifacts(environment(pushed.wanted))
    with (places.artifacts / "x").open("w+b") as file, pytest.raises(Refused) as caught:
        download.download(Drips(Access(insecure=True)), artifact, file, clock.time, print)
    assert caught.value.code == Code.REGISTRY_AWAY
    assert clock.seconds < 3700


@pytest.mark.parametrize("host", ["[::::]", "[1:2]", "[::1]:99999", "registry:99999"])
def test_what_only_looks_like_an_address_is_refused_in_words(host: str) -> None:
    """And not by a traceback when it is asked."""
    with pytest.raises(BadArtifact, match="SPARKGEN_ARTIFACTS is invalid"):
        artifacts(environment(pushed(host, b"layer", 5).wanted))


@pytest.mark.parametrize(
    ("host", "valid"),
    [
        ("registry.example.com", True),
        ("10.0.0.1:5443", True),
        ("[fd00:10:77::1]:5443", True),
        ("[fd00::1]", True),
        ("fd00::1", False),
        ("[fd00::1", False),
        ("[registry]", False),
    ],
)
def test_hosts_of_registries(host: str, valid: bool) -> None:
    """A name or an address; an IPv6 address is in brackets. A document may have the same ones."""
    wanted = pushed(host, b"layer", 5).wanted
    repository = re.compile(store.application_schema()["$defs"]["repository"]["pattern"])
    assert bool(repository.fullmatch(f"{host}/data/etl")) is valid
    if valid:
        [artifact] = artifacts(environment(wanted))
        assert (artifact.host, artifact.reference) == (host, wanted["reference"])
    else:
        with pytest.raises(BadArtifact, match="invalid name, digest or reference"):
            artifacts(environment(wanted))


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_answer_without_an_end_is_given_up(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for again later; the connection is closed, though a byte always came in time."""
    monkeypatch.setattr("sparkgen.runtime.fetch.registry.WHOLE_SECONDS", 0.2)
    with endless(kind) as host:
        source = Registry(Access(insecure=True))
        [artifact] = artifacts(environment(pushed(host, b"layer", 5).wanted))
        with pytest.raises(Passing, match=r"sent no complete answer within 0\.2 s"):
            source.manifest(artifact)
        source.close()


def test_each_piece_of_a_layer_has_the_time_of_an_answer(
    registry: FakeRegistry, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large layer takes longer than that."""
    extended, extend = list[Deadline](), Deadline.extend

    def noted(deadline: Deadline) -> None:
        extended.append(deadline)
        extend(deadline)

    monkeypatch.setattr(Deadline, "extend", noted)
    run(registry.push(FILES), places)
    assert extended.count(extended[0]) == 1  # the manifest's, at its beginning
    assert extended.count(extended[-1]) > 2  # the layer's, and at each piece


def test_redirects_in_a_circle(registry: FakeRegistry, places: Places) -> None:
    """They end."""
    pushed = registry.push(FILES)
    registry.script = [("blobs", Answer(302, headers={"Location": "/v2/team/etl/blobs/x"}))] * 9
    assert "answers 302" in refused(pushed, places)


def test_plain_http_only_where_it_was_asked_for(registry: FakeRegistry, places: Places) -> None:
    """Else it speaks TLS, which this registry does not."""
    pushed, clock = registry.push(FILES), FakeTime()
    with pytest.raises(Refused):
        run(pushed, places, clock, **{contract.ENV_ARTIFACTS_INSECURE: ""})
    assert not registry.asked


# --- the cache of a node --------------------------------------------------------------------------


def pod(places: Places, number: int) -> Places:
    """The volumes of one of many pods of a node."""
    root = places.artifacts / f"pod-{number}"
    root.mkdir()
    return Places(root, places.cache, places.config, places.ca)


def test_fifty_pods_of_a_node_download_once(registry: FakeRegistry, places: Places) -> None:
    """All at once: one is alone with the registry, the others wait for it and take its copy."""
    places.cache.mkdir()
    pushed = registry.push(FILES)
    failed: list[BaseException] = []

    def one(number: int) -> None:
        try:
            import time  # noqa: PLC0415 - the others of this file stand still

            chosen = download.Time(time.monotonic, time.sleep, lambda: 0.5)
            fetch(environment(pushed.wanted), chosen, time.time, lambda _: None, pods[number])
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    pods = [pod(places, number) for number in range(50)]
    threads = [threading.Thread(target=one, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert len(registry.paths("blobs")) == 1
    assert all(files_in(each.artifacts / "code") == FILES for each in pods)


def test_a_cached_layer_needs_no_registry(registry: FakeRegistry, places: Places) -> None:
    """An executor starts while the registry is away."""
    places.cache.mkdir()
    pushed = registry.push(FILES)
    run(pushed, pod(places, 1))
    registry.close()
    second = pod(places, 2)
    assert run(pushed, second)[0] == "code: taken from the node's cache"
    assert files_in(second.artifacts / "code") == FILES


@pytest.mark.parametrize("how", ["changed", "longer", "shorter", "link", "folder", "pipe", "dangling"])
def test_a_hostile_cache_costs_a_download(registry: FakeRegistry, places: Places, how: str) -> None:
    """What a neighbour has put there is never unpacked, nor followed."""
    places.cache.mkdir()
    pushed = registry.push(FILES)
    entry = places.cache / pushed.wanted["digest"].replace(":", "-")
    elsewhere = places.cache.parent / "elsewhere"
    match how:
        case "changed":
            entry.write_bytes(pushed.layer[:-2000] + b"x" + pushed.layer[-1999:])
        case "longer":
            entry.write_bytes(pushed.layer + b"x")
        case "shorter":
            entry.write_bytes(pushed.layer[:-1])
        case "link":
            elsewhere.write_bytes(pushed.layer)
            entry.symlink_to(elsewhere)
        case "dangling":
            entry.symlink_to(elsewhere)
        case "folder":
            entry.mkdir()
        case "pipe":
            import os  # noqa: PLC0415 - for this one

            os.mkfifo(entry)
    run(pushed, pod(places, 1))
    assert files_in(places.artifacts / "pod-1" / "code") == FILES
    assert len(registry.paths("blobs")) == 1
    assert how != "dangling" or not elsewhere.exists()


def test_a_neighbour_that_keeps_the_lock(registry: FakeRegistry, places: Places) -> None:
    """It is waited for, and not forever."""
    import fcntl  # noqa: PLC0415 - for this one

    places.cache.mkdir()
    pushed, clock = registry.push(FILES), FakeTime()
    lock = places.cache / f"{pushed.wanted['digest'].replace(':', '-')}.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run(pushed, pod(places, 1), clock)
    assert cache.LONGEST_WAIT <= clock.seconds < cache.LONGEST_WAIT + 10
    assert files_in(places.artifacts / "pod-1" / "code") == FILES


def test_a_cache_that_cannot_be_written(
    registry: FakeRegistry, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that belongs to root: it is said, and the pod starts."""
    places.cache.mkdir()
    pushed = registry.push(FILES)
    real = command.Cache.put

    def full(self: cache.Cache, *given: Any) -> None:
        monkeypatch.setattr(cache.secrets, "token_hex", lambda _: "x/y")  # no folder of this name
        real(self, *given)

    monkeypatch.setattr(command.Cache, "put", full)
    said = run(pushed, pod(places, 1))
    assert any("cannot write the cache" in text for text in said)
    assert files_in(places.artifacts / "pod-1" / "code") == FILES


def test_what_nobody_uses_goes(registry: FakeRegistry, places: Places) -> None:
    """A month after its last use; nothing that is not the cache's."""
    import os  # noqa: PLC0415 - for this one

    places.cache.mkdir()
    old = {places.cache / name for name in ("sha256-" + "0" * 64, ".sha256-1.draft", "notes")}
    for path in old:
        path.write_text("x")
        os.utime(path, (1e9 - cache.KEPT_SECONDS - 1,) * 2)
    run(registry.push(FILES), pod(places, 1))
    assert [path.name for path in sorted(places.cache.iterdir()) if path in old] == ["notes"]
