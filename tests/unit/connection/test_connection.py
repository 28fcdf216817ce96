"""Requests as the official client sends them, and faults in words."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from common.ports import free_port
from sparkgen.cluster import (
    ALL_NAMESPACES,
    ApplyResult,
    Cluster,
    ClusterError,
    Place,
    Unreadable,
    connect,
    errors,
    official_client,
)
from sparkgen.cluster.channel import Refused
from sparkgen.cluster.routes import route
from sparkgen.cluster.urllib3_client import MOST_OF_REFUSAL
from tests.unit.connection.conftest import Server
from tests.unit.deep import LEVELS, MANAGED, as_json

Connect = Callable[[str], Cluster]
JOBS = "/apis/batch/v1/namespaces/analytics/jobs"
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "pi", "namespace": "analytics", "resourceVersion": "1"},
}
SPEC = {"template": {"metadata": {}, "spec": {}}}
"""The least that a Job has."""


def metadata(name: str, **more: Any) -> dict[str, Any]:
    """The metadata of an object as an API server gives them."""
    given = {"namespace": "analytics", "uid": f"uid-{name}", "creationTimestamp": "2026-11-22T00:00:00Z"}
    return {"name": name, **given, **more}


@pytest.fixture(params=["plain", "official"])
def connected(kubeconfig: Callable[..., Path], request: pytest.FixtureRequest) -> Connect:
    """A function: a connection to an address, in namespace analytics; of both channels."""
    said = {"insecure-skip-tls-verify": False} if request.param == "official" else {}

    def make(address: str) -> Cluster:
        path = kubeconfig(address, {"dev": "analytics"}, current="dev")
        config = yaml.safe_load(path.read_text())
        config["clusters"][0]["cluster"] |= said
        path.write_text(yaml.safe_dump(config))
        return connect(Place(str(path)), {})

    return make


def status(code: int, message: str) -> tuple[int, dict[str, Any]]:
    """A refusal as an API server writes it."""
    return code, {"kind": "Status", "apiVersion": "v1", "code": code, "message": message}


def test_objects_are_plain_dicts(server: Server, connected: Connect) -> None:
    """One that is there, and None for one that is not."""
    server.answers[f"GET {JOBS}/pi"] = (200, {**JOB, "metadata": metadata("pi"), "spec": SPEC})
    cluster = connected(server.address)
    assert cluster.get("batch/v1", "Job", "pi") == {**JOB, "metadata": metadata("pi"), "spec": SPEC}
    assert cluster.get("batch/v1", "Job", "other") is None


def test_a_dry_run_is_one_strict_server_side_apply(server: Server, connected: Connect) -> None:
    """The path comes from the object, its namespace first; nothing else is asked of the server."""
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata("pi", namespace="analytics"),
        "spec": SPEC,
    }
    server.answers[f"PATCH {JOBS}/pi"] = (200, {**job, "status": {}})
    cluster = connected(server.address)
    assert cluster.apply(job, dry_run=True, force=True) == ApplyResult({**job, "status": {}}, created=False)
    [(asked, query, body)] = server.requests
    assert (asked, body) == (f"PATCH {JOBS}/pi", job)
    parts = set(query.lower().split("&"))
    assert parts == {"fieldvalidation=strict", "dryrun=all", "fieldmanager=sparkgen", "force=true"}
    server.answers[f"PATCH {JOBS}/pi"] = (201, job)
    assert cluster.apply(job).created


def test_a_list_is_read_to_its_last_page(server: Server, connected: Connect) -> None:
    """And its items say what they are, which a server leaves out."""

    def page(query: str) -> dict[str, Any]:
        if "continue=next" in query:
            return {"items": [{"metadata": metadata("b")}], "metadata": {}}
        return {"items": [{"metadata": metadata("a")}], "metadata": {"continue": "next"}}

    server.answers[f"GET {JOBS}"] = (200, page)
    found = connected(server.address).list("batch/v1", "Job", selector="a=b")
    assert [(item["kind"], item["metadata"]["name"]) for item in found] == [("Job", "a"), ("Job", "b")]
    assert "labelSelector=a%3Db" in server.requests[0][1]


def test_deleting_says_whether_there_was_one(server: Server, connected: Connect) -> None:
    """What is gone already is no error."""
    server.answers[f"DELETE {JOBS}/pi"] = (200, {"kind": "Status"})
    cluster = connected(server.address)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi"}}
    assert cluster.delete(job)
    assert not cluster.delete({**job, "metadata": {"name": "other"}})
    assert server.requests[0][2]["propagationPolicy"] == "Background"


def test_only_the_object_that_was_read_is_deleted(server: Server, connected: Connect) -> None:
    """Another one that has its name by now stays: the server compares the UIDs."""
    server.answers[f"DELETE {JOBS}/pi"] = status(409, "Precondition failed: UID in precondition: 1, ...: 2")
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi", "uid": "1"}}
    with pytest.raises(ClusterError, match="cannot delete Job pi in analytics: Precondition failed"):
        connected(server.address).delete(job, after_owned=True, grace=3)
    ((_, query, options),) = server.requests
    assert (query, options) == (
        "",
        {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Foreground",
            "preconditions": {"uid": "1"},
            "gracePeriodSeconds": 3,
        },
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            status(401, "Unauthorized"),
            "Unauthorized. Credentials are sent only over https: correct the address {server} ",
        ),
        (
            status(403, 'jobs.batch "pi" is forbidden: User "me" cannot get resource "jobs"'),
            'cannot get resource "jobs". Ask for this permission, or choose another --context or --namespace',
        ),
        (status(422, 'Job.batch "pi" is invalid: spec.template: field is immutable'), "field is immutable"),
        ((500, "no status at all"), "cannot read Job pi in analytics: Internal Server Error"),
    ],
)
def test_refusals_are_the_servers_words_and_a_next_step(
    server: Server, connected: Connect, answer: tuple[int, Any], words: str
) -> None:
    """The status is kept for who has to decide by it."""
    server.answers[f"GET {JOBS}/pi"] = answer
    with pytest.raises(ClusterError) as caught:
        connected(server.address).get("batch/v1", "Job", "pi")
    assert words.format(server=server.address) in str(caught.value)
    assert caught.value.status == answer[0]


def test_a_refusal_is_read_to_a_bound(server: Server, connected: Connect) -> None:
    """Something other than an API server may send a page without an end."""
    server.answers[f"GET {JOBS}/pi"] = (502, b"x" * 3 * MOST_OF_REFUSAL)
    with pytest.raises(ClusterError, match="cannot read Job pi in analytics: Bad Gateway") as caught:
        connected(server.address).get("batch/v1", "Job", "pi")
    assert isinstance(caught.value.__cause__, Refused)
    assert len(caught.value.__cause__.body) == MOST_OF_REFUSAL


def test_a_namespace_that_is_not_there(server: Server, connected: Connect) -> None:
    """Applying into it says what to do; it is no object that is missing."""
    server.answers[f"PATCH {JOBS}/pi"] = status(404, 'namespaces "analytics" not found')
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi"}}
    with pytest.raises(ClusterError, match=r"Create it, or choose another one with --namespace"):
        connected(server.address).apply(job, dry_run=True)


def test_nobody_answers(connected: Connect) -> None:
    """A port where nothing listens: the address, the reason, and what to look at."""
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(
        ClusterError, match=f"{address} does not answer .*refused.*: check that the cluster runs"
    ):
        connected(address).get("v1", "ConfigMap", "a")


def test_a_server_without_tls(server: Server, connected: Connect) -> None:
    """The address in the kubeconfig is wrong, and that is said."""
    with pytest.raises(ClusterError, match=r"https://127\S+ does not speak TLS \(.*check the address"):
        connected(server.address.replace("http:", "https:")).get("v1", "ConfigMap", "a")


def test_the_library_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra: the message says how to get it."""
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(ClusterError, match=r"pip install 'sparkgen\[cluster\]'"):
        connect(Place(), {})


@pytest.mark.parametrize(
    ("api_version", "kind", "path"),
    [
        ("v1", "ConfigMap", "/api/v1/namespaces/n/configmaps/x"),
        (
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "/apis/networking.k8s.io/v1/namespaces/n/networkpolicies/x",
        ),
        ("networking.k8s.io/v1", "Ingress", "/apis/networking.k8s.io/v1/namespaces/n/ingresses/x"),
        ("v1", "Namespace", "/api/v1/namespaces/x"),
        ("batch/v1", "CronJob", "/apis/batch/v1/namespaces/n/cronjobs/x"),
    ],
)
def test_paths(api_version: str, kind: str, path: str) -> None:
    """The core group has another root, two kinds another plural, and namespaces are in none."""
    assert route(api_version, kind, "n", "x") == path


def test_a_log_is_text_and_its_options_are_the_servers(server: Server, connected: Connect) -> None:
    """Nothing is asked for that was not said."""
    path = "/api/v1/namespaces/analytics/pods/pi-x/log"
    server.answers[f"GET {path}"] = (200, "hello")
    cluster = connected(server.address)
    assert cluster.log("pi-x", "driver") == '"hello"'
    assert cluster.log("pi-x", "driver", tail=0, previous=True) == '"hello"'
    assert b"".join(cluster.follow("pi-x", "driver", "analytics", follow=True)) == b'"hello"'
    assert [query for _, query, _ in server.requests] == [
        "container=driver",
        "container=driver&tailLines=0&previous=true",
        "container=driver&follow=true",
    ]


def test_only_the_end_of_a_log_is_kept(
    server: Server, connected: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last whole lines, however much is sent; what does not end is not read for ever."""
    lines = [f"line {number}" for number in range(50_000)]
    answer = "\n".join(lines).encode()
    server.answers["GET /api/v1/namespaces/analytics/pods/pi/log"] = (200, answer)
    cluster = connected(server.address)
    kept = cluster.log("pi", "spark", "analytics", most=1000)
    assert 900 < len(kept) <= 1000
    assert kept.split("\n") == lines[-kept.count("line") :]
    assert cluster.log("pi", "spark", "analytics") == "\n".join(lines)
    server.answers["GET /api/v1/namespaces/analytics/pods/pi/log"] = (200, b"first\n" + b"x" * 3_000 + b"\n")
    assert cluster.log("pi", "spark", "analytics", most=1000) == "x" * 999 + "\n"
    server.answers["GET /api/v1/namespaces/analytics/pods/pi/log"] = (200, answer)
    monkeypatch.setattr("sparkgen.cluster.connection.MOST_SENT_OF_LOG", 100_000)
    with pytest.raises(Unreadable, match="cannot read the log of spark in pod pi: it has no end"):
        cluster.log("pi", "spark", "analytics", most=1000)


def test_a_port_that_may_not_be_forwarded(server: Server, connected: Connect) -> None:
    """The refused handshake has a status and words, as any other answer."""
    path = "/api/v1/namespaces/analytics/pods/pi-x/portforward"
    server.answers[f"GET {path}"] = status(403, 'pods "pi-x" is forbidden: User "me" cannot create resource')
    with pytest.raises(ClusterError) as caught:
        connected(server.address).forward("pi-x", 4040)
    assert caught.value.status == 403
    assert str(caught.value) == f"cannot forward port 4040 of pod pi-x in analytics: {caught.value.said}"
    assert caught.value.said == (
        'pods "pi-x" is forbidden: User "me" cannot '
        "create resource. Ask for this permission, or choose another --context or --namespace"
    )


def test_a_handshake_has_an_end(connected: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes the connection and says nothing: others wait behind it."""
    monkeypatch.setattr(official_client, "HANDSHAKE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        cluster = connected(f"http://127.0.0.1:{silent.getsockname()[1]}")
        for _ in range(2):
            with pytest.raises(
                ClusterError, match=r"cannot forward port 4040 of .* does not answer .no answer for"
            ):
                cluster.forward("pi-x", 4040)


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        ([{"f:data": {".": {}, "f:krb.keytab": {}}}, {"f:data": {"f:ca": {}}}], {"krb.keytab", "ca"}),
        ([{"f:stringData": {"f:a": {}}, "f:metadata": {"f:labels": {}}}], {"a"}),
        ([{"f:metadata": {}}, "odd", {"f:data": []}], set()),
        (None, set()),
    ],
)
def test_keys_are_known_without_their_values(
    server: Server, connected: Connect, fields: list[object] | None, keys: set[str]
) -> None:
    """From the record of who set which field; the server is asked for the metadata alone."""
    records = None if fields is None else [{"manager": "m", "fieldsV1": one} for one in fields]
    path = "/api/v1/namespaces/analytics/secrets/etl"
    server.answers[f"GET {path}"] = (200, {"metadata": metadata("etl", managedFields=records)})
    cluster = connected(server.address)
    assert cluster.data_keys("Secret", "etl") == keys
    assert cluster.data_keys("Secret", "other") is None


def test_all_namespaces_are_one_list(server: Server, connected: Connect) -> None:
    """And a refusal says so."""
    server.answers["GET /apis/batch/v1/jobs"] = (200, {"items": [{"metadata": metadata("pi")}]})
    cluster = connected(server.address)
    [job] = cluster.list("batch/v1", "Job", ALL_NAMESPACES)
    assert job["metadata"]["name"] == "pi"
    server.answers["GET /apis/batch/v1/jobs"] = status(403, "no")
    with pytest.raises(ClusterError, match="cannot list Jobs in all namespaces: no"):
        cluster.list("batch/v1", "Job", ALL_NAMESPACES)


def test_one_deep_object_hides_no_other(server: Server, connected: Connect) -> None:
    """Kubernetes stores managedFields of ten thousand levels in anybody's Job."""
    deep = {"metadata": metadata("deep", namespace="tenant", managedFields=MANAGED)}
    for levels in (400, 900, LEVELS):
        body = as_json({"items": [deep, {"metadata": metadata("pi")}]}, levels)
        server.answers["GET /apis/batch/v1/jobs"] = (200, body)
        cluster = connected(server.address)
        jobs = cluster.list("batch/v1", "Job", ALL_NAMESPACES)
        assert [job["metadata"]["name"] for job in jobs] == ["deep", "pi"]
        assert jobs[0]["metadata"]["managedFields"] == [
            {"manager": "kubectl-create", "fieldsType": "FieldsV1"}
        ]
        server.answers[f"GET {JOBS}/deep"] = (200, as_json(deep, levels))
        found = cluster.get("batch/v1", "Job", "deep")
        assert found is not None
        assert found["metadata"]["name"] == "deep"


def test_an_answer_that_is_too_large_is_asked_for_in_smaller_pages(
    server: Server, connected: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's large Jobs: 500 of them are never read at once, and those of others are found."""
    monkeypatch.setattr("sparkgen.cluster.reading.LARGEST", 3_000)
    names = [f"job-{number}" for number in range(8)]

    def page(query: str) -> dict[str, Any]:
        asked = {name: value[0] for name, value in parse_qs(query).items()}
        first = int(asked.get("continue", 0))
        last = first + int(asked["limit"])
        items = [{"metadata": metadata(name, annotations={"a": "x" * 400})} for name in names[first:last]]
        return {"items": items, "metadata": {"continue": str(last) if last < len(names) else ""}}

    server.answers["GET /apis/batch/v1/jobs"] = (200, page)
    cluster = connected(server.address)
    found = cluster.list("batch/v1", "Job", ALL_NAMESPACES)
    assert [job["metadata"]["name"] for job in found] == names
    limits = [parse_qs(query)["limit"] for _, query, _ in server.requests]
    assert limits == [["500"], ["50"], ["5"], ["50"]]  # one large page does not make all the others small
    monkeypatch.setattr("sparkgen.cluster.reading.LARGEST", 300)
    with pytest.raises(
        Unreadable, match=r"cannot list Jobs in all namespaces: the answer of .* has more than 0"
    ):
        cluster.list("batch/v1", "Job", ALL_NAMESPACES)


def test_a_list_has_an_end_in_memory(
    server: Server, connected: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And an object, too: the address in the kubeconfig may be right, so it is not blamed."""
    monkeypatch.setattr("sparkgen.cluster.connection.MOST_OF_LIST", 1 << 20)
    large = {"metadata": metadata("pi", annotations={"a": "x" * 700_000})}
    answers = [{"items": [large], "metadata": {"continue": end}} for end in ("1", "")]
    server.answers["GET /apis/batch/v1/jobs"] = (200, lambda _: answers.pop(0))
    cluster = connected(server.address)
    with pytest.raises(Unreadable) as raised:
        cluster.list("batch/v1", "Job", ALL_NAMESPACES)
    words = f"cannot list Jobs in all namespaces: the answer of {server.address} has more than 1 MiB"
    assert str(raised.value) == words


def test_dense_objects_take_little_memory_where_they_are_shown(
    server: Server, connected: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty source of a volume takes 4 bytes in etcd, and some 500 in Python: a tenant has many.

    What the object is, and whose, is always known. Where something is made of an object, it is whole.
    """
    spec = {"volumes": [{"name": "v", "projected": {"sources": [{"downwardAPI": {}}] * 30_000}}]}
    own = metadata(
        "dense",
        annotations={f"a{number}": "" for number in range(50_000)},
        labels={"sparkgen.dev/application": "dense"},
        ownerReferences=[{"kind": "CronJob", "name": "nightly", "uid": "u"}],
    )
    template = {"metadata": {}, "spec": spec}
    dense = {"metadata": own, "spec": {"template": template}, "status": {"failed": 1}}
    small = {"metadata": metadata("pi"), "spec": SPEC}
    server.answers["GET /apis/batch/v1/jobs"] = (200, {"items": [dense, small]})
    cluster = connected(server.address)
    kinds = {"apiVersion": "batch/v1", "kind": "Job"}
    assert cluster.list("batch/v1", "Job", ALL_NAMESPACES) == [{**dense, **kinds}, {**small, **kinds}]
    first, second = cluster.list("batch/v1", "Job", ALL_NAMESPACES, brief=True)
    assert second == {**small, **kinds}
    assert {**first["metadata"], "annotations": {}} == {**own, "annotations": {}}
    assert {key: first[key] for key in ("status", *kinds)} == {"status": {"failed": 1}, **kinds}
    kept = first["spec"]["template"]["spec"]["volumes"][0]["projected"]["sources"]
    assert 0 < len(kept) < 10_000
    assert 0 < len(first["metadata"]["annotations"]) < 30_000
    for most, brief in ((100_000, False), (20_000, True)):
        monkeypatch.setattr("sparkgen.cluster.connection.MOST_ROOM_OF_LIST", most)
        with pytest.raises(Unreadable, match="cannot list Jobs in all namespaces: the list takes more than"):
            cluster.list("batch/v1", "Job", ALL_NAMESPACES, brief=brief)


def test_dense_pages_are_asked_for_in_smaller_ones(
    server: Server, connected: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before they are decoded; one object alone is read, however dense it is."""
    monkeypatch.setattr("sparkgen.cluster.connection.MOST_MAPS_OF_PAGE", 100)
    monkeypatch.setattr("sparkgen.cluster.reading.MOST_PARTS", 1_000)
    dense = {"metadata": metadata("dense"), "spec": {"a": [{}] * 150}}
    server.answers["GET /apis/batch/v1/jobs"] = (200, {"items": [dense]})
    found = connected(server.address).list("batch/v1", "Job", ALL_NAMESPACES)
    assert [job["metadata"]["name"] for job in found] == ["dense"]
    limits = [parse_qs(query)["limit"] for _, query, _ in server.requests]
    assert limits == [["500"], ["50"], ["5"], ["1"]]
    full = {"metadata": metadata("full"), "spec": {"a": ":" * 300}}

    def page(query: str) -> dict[str, Any]:
        return {"items": [full] * min(int(parse_qs(query)["limit"][0]), 8)}

    server.answers["GET /apis/batch/v1/jobs"] = (200, page)
    assert len(connected(server.address).list("batch/v1", "Job", ALL_NAMESPACES)) == 1


VERBS: dict[str, Callable[[Cluster], object]] = {
    f"GET {JOBS}/pi": lambda cluster: cluster.get("batch/v1", "Job", "pi"),
    f"PATCH {JOBS}/pi": lambda cluster: cluster.apply(JOB),
    f"POST {JOBS}": lambda cluster: cluster.create(JOB),
    f"DELETE {JOBS}/pi": lambda cluster: cluster.delete(JOB),
    f"GET {JOBS}": lambda cluster: [*cluster.watch(JOB, 1)],
    "GET /version": lambda cluster: cluster.version(),
    "GET /apis/batch/v1": lambda cluster: cluster.knows("batch/v1", "Job"),
}
"""Request -> the call that sends it."""


@pytest.mark.parametrize("asked", VERBS)
def test_an_answer_has_an_end_in_memory(
    server: Server, connected: Connect, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Of its bytes, and of what it has: two bytes of JSON take dozens of times as many in Python."""
    large: dict[str, Any] = {"metadata": metadata("pi"), "spec": {"a": "x" * 200_000}}
    dense: dict[str, Any] = {"metadata": metadata("pi"), "spec": {"a": [{}] * 300}}
    for limit, most, odd, words in (
        ("LARGEST", 100_000, large, "more than 0 MiB"),
        ("MOST_PARTS", 300, dense, "more than 300 fields and items"),
    ):
        answer = {"type": "MODIFIED", "object": odd} if asked == f"GET {JOBS}" else odd
        server.answers[asked] = (200, json.dumps(answer).encode() + b"\n")
        cluster = connected(server.address)
        VERBS[asked](cluster)
        with monkeypatch.context() as patched:
            patched.setattr(f"sparkgen.cluster.reading.{limit}", most)
            with pytest.raises(Unreadable, match=f"the answer of {server.address} has {words}"):
                VERBS[asked](cluster)


def test_a_list_may_be_chosen_by_fields(server: Server, connected: Connect) -> None:
    """As Events about one object are."""
    server.answers["GET /api/v1/namespaces/analytics/events"] = (200, {"items": [], "metadata": {}})
    assert connected(server.address).list("v1", "Event", fields="involvedObject.uid=7") == []
    assert "fieldSelector=involvedObject.uid%3D7" in server.requests[0][1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("[" * 100_000, "Forbidden"),
        ("", "Handshake status 403 a -+-+- b -+-+- b'no end"),
        ("", f"Handshake status {'4' * 5000} a -+-+- b -+-+- c"),
    ],
)
def test_an_answer_that_nobody_can_read_is_an_error_in_words(body: str, reason: str) -> None:
    """Neither its depth, nor half a text, nor a number without an end makes an internal error of it."""
    answer: Any = SimpleNamespace(status=403, body=body, reason=reason)
    said = errors.refused("read pods", "https://cluster.example.com", answer)
    assert said.status == 403
    assert str(said).startswith("cannot read pods: ")


@pytest.mark.parametrize(
    "name",
    [
        "../../billing/secrets/database",
        "..",
        ".",
        "a/b",
        "a?b=c",
        "a#b",
        "a%2e",
        "a b",
        "x#\ny",
        "a" * 254,
        "ä",
        "-a",
    ],
)
def test_a_name_that_no_object_has_leads_nowhere(name: str) -> None:
    """Annotations and volumes hold any text of whoever wrote them; clients and proxies resolve `..`."""
    for place in (("team", name), (name, "a"), ("*", name)):
        with pytest.raises(ClusterError, match="no Secret can be named") as raised:
            route("v1", "Secret", *place)
        assert raised.value.status == 404
    with pytest.raises(ClusterError):
        route("scheduling.k8s.io/v1alpha1", "PodGroup", "team", name)


@pytest.mark.parametrize("name", ["pi-1a2b3c4d", "a.b", "system:node", "kube-root-ca.crt", "a" * 253])
def test_names_of_objects_lead_to_them(name: str) -> None:
    """As Kubernetes has them."""
    assert route("v1", "ConfigMap", "team", name) == f"/api/v1/namespaces/team/configmaps/{name}"
