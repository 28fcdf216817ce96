"""What the garbage collection of a staging server keeps, from a claim as distribution writes it."""

from __future__ import annotations

import hashlib
import json
import os
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.jsonvalue import decode, decode_object
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.kubernetes.answers import AnswerTooLarge, CallFailed, Reply
from sparkgen.runtime.registry_gc import naming
from sparkgen.runtime.registry_gc.command import collect
from sparkgen.runtime.registry_gc.decide import Decision, decide
from sparkgen.runtime.registry_gc.registry import Registry
from sparkgen.runtime.registry_gc.storage import FOLDER, manifests, parts
from sparkgen.runtime.registry_gc.values import Manifest, Named, Settings, settings
from tests.unit.deep import LEVELS, MANAGED, as_json

NOW = 1_000_000.0
SETTINGS = Settings(("analytics",), 3600.0, dry_run=False)
ENVIRONMENT = {
    "SPARKGEN_CONTRACT": "1",
    "SPARKGEN_GC_NAMESPACES": "analytics,reporting",
    "SPARKGEN_GC_GRACE_SECONDS": "3600",
    "SPARKGEN_GC_DRY_RUN": "false",
}


def digest(text: str) -> str:
    """The digest of a text."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def old(repository: str, name: str, **more: Any) -> Manifest:
    """A manifest that was pushed long ago."""
    return Manifest(repository, digest(name), NOW - 7200, **more)


def push(root: Path, repository: str, value: Mapping[str, Any], pushed: float, tag: str = "") -> str:
    """A manifest as distribution keeps it."""
    text = json.dumps(value)
    found = digest(text)
    word = found.removeprefix("sha256:")
    base = root / FOLDER
    blob = base / "blobs" / "sha256" / word[:2] / word / "data"
    link = base / "repositories" / repository / "_manifests/revisions/sha256" / word / "link"
    for path, content in ((blob, text), (link, found)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    os.utime(link, (pushed, pushed))
    if tag:
        current = base / "repositories" / repository / "_manifests/tags" / tag / "current/link"
        current.parent.mkdir(parents=True)
        current.write_text(found)
    return found


class Api:
    """An API server with these digests in the Jobs of each namespace; others may not be read."""

    def __init__(self, named: Mapping[str, str]) -> None:
        self.named = named
        self.asked: list[str] = []

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Answer a list."""
        self.asked.append(path)
        namespace, _, resource = path.partition("/namespaces/")[2].partition("/")
        if namespace not in self.named:
            return Reply(403, {"kind": "Status", "message": "forbidden"})
        kind = next(kind for _, name, kind in naming.KINDS if name == resource)
        jobs = [{"env": f"repository@{self.named[namespace]}"}] if resource == "jobs" else []
        return Reply(200, {"kind": kind, "metadata": {}, "items": jobs})


class Recorder(Registry):
    """A registry that answers, and notes what it deletes."""

    def __init__(self) -> None:
        super().__init__()
        self.deleted: list[str] = []

    def wait(self, *_: Any) -> None:
        """It answers."""

    def delete(self, repository: str, digest: str) -> None:
        """Note it."""
        self.deleted.append(f"{repository}@{digest}")


def no_parts(_: Manifest) -> list[str]:
    """A manifest that lists none."""
    return []


def _decided(found: list[Manifest], lists: Mapping[Manifest, list[str]], *names: str) -> Decision:
    return decide(found, lambda one: lists.get(one, []), Named(frozenset(names), {}), SETTINGS, NOW)


def test_named_recent_and_foreign_ones_stay_and_the_rest_goes() -> None:
    """The namespace is the repository's first part; a repository without a second one is nobody's."""
    recent = Manifest("analytics/etl", digest("recent"), NOW - 60)
    future = Manifest("analytics/etl", digest("future"), NOW + 60)
    used, unused = old("analytics/etl", "used"), old("analytics/etl", "unused")
    foreign, bare = old("elsewhere/etl", "foreign"), old("analytics", "bare")
    found = decide(
        [recent, future, used, unused, foreign, bare],
        no_parts,
        Named(frozenset({used.digest}), {}),
        SETTINGS,
        NOW,
    )
    assert found.removed == (unused,)
    assert sum(found.kept.values()) == 5


def test_what_belongs_to_a_kept_one_stays() -> None:
    """The parts of an index, a signature, and the signature's own signature; not those of what goes."""
    part = old("analytics/etl", "part")
    index = old("analytics/etl", "index")
    signature = old("analytics/etl", "signature", subjects=(index.digest,))
    twice = old("analytics/etl", "twice", subjects=(signature.digest,))
    lost = old("analytics/etl", "lost", subjects=(digest("gone"),))
    lists = {index: [part.digest]}
    everything = [part, index, signature, twice, lost]
    assert _decided(everything, lists, index.digest).removed == (lost,)
    assert len(_decided(everything, lists).removed) == 5


def test_nothing_goes_while_a_namespace_is_unread() -> None:
    """Not even of the namespaces that could be read: an artifact may be named from anywhere."""
    unread = {"reporting": "403", "finance": "404"}
    found = decide([old("analytics/etl", "a")], no_parts, Named(frozenset(), unread), SETTINGS, NOW)
    assert found.removed == ()
    assert found.refusal == (
        "nothing is removed, because an object in a namespace that could not be read may use any artifact "
        "(finance: 404; reporting: 403)"
    )


MANIFESTS = st.builds(
    Manifest,
    st.sampled_from(["analytics/a", "analytics/b", "elsewhere/a"]),
    st.sampled_from([digest(letter) for letter in "abcdef"]),
    st.floats(NOW - 9000, NOW + 100),
    st.lists(st.sampled_from([digest(letter) for letter in "abcdef"]), max_size=2).map(tuple),
)
LISTS = st.frozensets(st.sampled_from([digest(letter) for letter in "abcdef"]), max_size=2)


PUSHED = st.lists(
    st.tuples(MANIFESTS, LISTS), max_size=12, unique_by=lambda one: (one[0].repository, one[0].digest)
).map(dict)
"""A registry has a digest once in a repository."""


@given(PUSHED, st.frozensets(st.sampled_from([digest(c) for c in "abcdef"])))
def test_nothing_named_goes_and_nothing_that_stays_loses_a_part(
    found: dict[Manifest, frozenset[str]], names: frozenset[str]
) -> None:
    """Whatever refers to whatever, in circles too."""
    decision = decide(found, found.__getitem__, Named(names, {}), SETTINGS, NOW)
    removed = set(decision.removed)
    assert not any(one.digest in names for one in removed)
    lost = {(one.repository, one.digest) for one in removed}
    for one in set(found) - removed:
        assert not any((one.repository, part) in lost for part in found[one])
    assert sum(decision.kept.values()) + len(removed) == len({*found})


def test_the_claim_is_read_as_distribution_writes_it(tmp_path: Path) -> None:
    """Repositories at any depth, manifests with and without a tag, indexes, signatures by their tag."""
    plain = push(tmp_path, "analytics/etl", {"layers": []}, 100.0)
    index = push(tmp_path, "analytics/deep/er/etl", {"manifests": [{"digest": plain}]}, 200.0)
    signature = push(tmp_path, "analytics/etl", {"x": 1}, 300.0, f"sha256-{plain[7:]}.sig")
    referrer = push(tmp_path, "analytics/etl", {"subject": {"digest": plain}}, 400.0, "latest")
    found = {one.digest: one for one in manifests(tmp_path)}
    assert found[plain] == Manifest("analytics/etl", plain, 100.0)
    assert parts(tmp_path, found[index]) == {plain}
    assert parts(tmp_path, found[plain]) == frozenset()
    assert found[index].repository == "analytics/deep/er/etl"
    assert found[signature].subjects == (plain,)
    assert found[referrer].subjects == (plain,)


def test_an_empty_claim_has_no_manifest(tmp_path: Path) -> None:
    """Before the first push there is not even a folder."""
    assert list(manifests(tmp_path)) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"manifests": 1}', '{"manifests": [{"digest": "x"}]}'])
def test_a_broken_manifest_is_one_without_references(tmp_path: Path, text: str) -> None:
    """Whoever may push may push that: it does not keep the rest from being collected."""
    found = push(tmp_path, "analytics/etl", {}, 1.0)
    word = found.removeprefix("sha256:")
    (tmp_path / FOLDER / "blobs/sha256" / word[:2] / word / "data").write_text(text)
    assert list(manifests(tmp_path)) == [Manifest("analytics/etl", found, 1.0)]


def test_an_odd_part_costs_no_other_one(tmp_path: Path) -> None:
    """Of an index with parts of another algorithm, or none at all, the rest is kept with it."""
    part = push(tmp_path, "analytics/etl", {"layers": []}, 1.0)
    other = push(tmp_path, "analytics/etl", {"layers": [1]}, 1.0)
    odd: list[Any] = [{"digest": "sha512:" + "0" * 128}, {"digest": 1}, {}, "x", None, {"digest": part}]
    index = push(tmp_path, "analytics/etl", {"manifests": odd, "subject": "x"}, 1.0)
    about = push(tmp_path, "analytics/etl", {"manifests": 1, "subject": {"digest": other}}, 1.0)
    found = {one.digest: one for one in manifests(tmp_path)}
    assert parts(tmp_path, found[index]) == {part}
    assert found[about].subjects == (other,)


def test_a_chain_of_manifests_is_followed_once() -> None:
    """Whoever may push makes one; pushes of all others wait while it is looked at."""
    chain = [Manifest("analytics/etl", f"sha256:{number:064x}", 0.0) for number in range(2_000)]
    asked: list[Manifest] = []

    def whole(one: Manifest) -> list[str]:
        asked.append(one)
        return [other.digest for other in chain]

    decision = decide(chain, whole, Named(frozenset({chain[0].digest}), {}), SETTINGS, NOW)
    assert decision.removed == ()
    assert len(asked) == len(chain)


def test_what_lists_name_is_not_kept_in_memory(tmp_path: Path) -> None:
    """The container has 512 Mi, and one list of four megabytes names 60,000 manifests."""
    push(tmp_path, "analytics/etl", {"x": 1}, 1.0)
    tracemalloc.start()
    small = [*manifests(tmp_path)]
    base, _ = tracemalloc.get_traced_memory()
    for list_ in range(8):
        named = [{"digest": f"sha256:{list_ * 5_000 + number:064x}"} for number in range(5_000)]
        push(tmp_path, "analytics/etl", {"manifests": named}, 1.0)
    del named
    large = [*manifests(tmp_path)]
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(small), len(large)) == (1, 9)
    assert kept - base < 100_000


@pytest.mark.parametrize("dry_run", [True, False])
def test_collecting_deletes_what_nothing_names(tmp_path: Path, dry_run: bool) -> None:
    """And says so; a dry run only says."""
    used = push(tmp_path, "analytics/etl", {"a": 1}, 1.0)
    unused = push(tmp_path, "analytics/etl", {"b": 1}, 1.0)
    registry, said = Recorder(), list[str]()
    wanted = Settings(("analytics",), 3600.0, dry_run)
    collect(wanted, registry, Api({"analytics": used}), tmp_path, lambda: NOW, said.append)
    assert registry.deleted == ([] if dry_run else [f"analytics/etl@{unused}"])
    assert f"{'would remove' if dry_run else 'removing'} analytics/etl@{unused}" in said


def test_a_refusal_deletes_nothing(tmp_path: Path) -> None:
    """And names the namespace, and the way out."""
    push(tmp_path, "analytics/etl", {"a": 1}, 1.0)
    registry = Recorder()
    with pytest.raises(Refused, match=r"analytics: GET .*403 forbidden") as refused:
        collect(SETTINGS, registry, Api({}), tmp_path, lambda: NOW, lambda _: None)
    assert refused.value.next_step.startswith(
        "If the permission is missing in analytics: apply the Role and the RoleBinding NAME-staging-gc there"
    )
    assert "delivery.stagingServer" in refused.value.next_step
    assert registry.deleted == []


class Broken(Api):
    """An API server whose second page never comes."""

    def call(self, method: str, path: str, query: Any = None, body: Any = None, **_: Any) -> Reply:
        """One page, and no other."""
        if "continue" in (query or {}):
            raise CallFailed("connection reset", sent=True)
        kind = next(kind for _, name, kind in naming.KINDS if path.endswith(name))
        return Reply(200, {"kind": kind, "metadata": {"continue": "more"}, "items": []})


def test_a_part_of_a_list_is_worth_nothing() -> None:
    """The namespace counts as unread."""
    assert "connection reset" in naming.named(Broken({}), ["analytics"]).unread["analytics"]


def test_all_that_runs_is_looked_at() -> None:
    """Each kind of each namespace, once."""
    api = Api({"analytics": digest("x")})
    assert naming.named(api, ["analytics"]).digests == {digest("x")}
    assert len(api.asked) == len(naming.KINDS)


def test_large_objects_of_one_namespace_do_not_end_the_collection_of_all() -> None:
    """The container has 256 Mi: each object is reduced to the digests in it, wherever they are."""
    template = {"metadata": {"annotations": {"a": f"x@{digest('b')}"}}, "spec": {"image": f"y@{digest('a')}"}}
    many: list[Any] = [{}] * 20_000
    job = {
        "metadata": {"name": "n"},
        "spec": {"template": template, "odd": many},
        "status": {"c": digest("c")},
    }
    text = json.dumps({"kind": "JobList", "metadata": {"continue": "c"}, "items": [job] * 10})
    tracemalloc.start()
    kept = decode(text, naming.trim_decoded)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    found = {"digests": sorted(map(digest, "abc"))}
    assert kept == {"kind": "JobList", "metadata": {"continue": "c"}, "items": [found] * 10}


def test_one_deep_object_does_not_end_the_collection_of_all() -> None:
    """Kubernetes stores managedFields of 10,000 levels; what the object names is still found."""
    spec = {"template": {"metadata": {}, "spec": {"image": f"y@{digest('a')}"}}}
    for levels in (900, LEVELS):
        job = {"metadata": {"managedFields": MANAGED, "annotations": {"b": digest("b")}}, "spec": spec}
        text = as_json({"kind": "JobList", "metadata": {}, "items": [job]}, levels)
        kept = decode_object(text, naming.trim_decoded)
        assert kept["items"] == [{"digests": sorted([digest("a"), digest("b")])}]


def test_a_page_that_is_too_large_is_asked_for_in_smaller_ones() -> None:
    """Until the smallest is too large as well."""

    class Large(Api):
        most = 20

        def call(self, method: str, path: str, query: Any = None, body: Any = None, **more: Any) -> Reply:
            """Large pods, of which a few may be read at once."""
            if int((query or {})["limit"]) > self.most:
                raise AnswerTooLarge("more than 12 MiB", sent=True)
            return super().call(method, path, query, body, **more)

    assert naming.named(Large({"analytics": digest("x")}), ["analytics"]).digests == {digest("x")}
    Large.most = 0
    unread = naming.named(Large({"analytics": digest("x")}), ["analytics"]).unread
    assert "more than 12 MiB" in unread["analytics"]


def test_the_registry_is_waited_for_and_then_given_up() -> None:
    """Until it answers, somebody else has the lock."""

    def refused() -> Any:
        raise ConnectionRefusedError

    clock = iter(range(0, 10_000, 100))
    with pytest.raises(Refused, match="cannot lock the claim"):
        Registry(refused).wait(lambda: float(next(clock)), lambda _: None)


def test_settings_come_from_the_environment() -> None:
    """And are refused when one is missing, or of another version."""
    assert settings(ENVIRONMENT) == Settings(("analytics", "reporting"), 3600.0, dry_run=False)
    for name, value in (
        ("SPARKGEN_CONTRACT", "0"),
        ("SPARKGEN_GC_NAMESPACES", ""),
        ("SPARKGEN_GC_GRACE_SECONDS", "month"),
        ("SPARKGEN_GC_GRACE_SECONDS", "nan"),
    ):
        with pytest.raises(Refused):
            settings({**ENVIRONMENT, name: value})
