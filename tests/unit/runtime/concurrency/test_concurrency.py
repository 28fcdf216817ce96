"""`sparkgen-runtime concurrency` against an API server: what it reads, waits for, takes and ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sparkgen.runtime.__main__ import main
from sparkgen.runtime.concurrency.command import REFUSALS, driver_of, trim_decoded, wait
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.kubernetes.answers import CallFailed, Reply

NOW = datetime(2026, 3, 1, 6, 0, 0, tzinfo=UTC)
ENVIRONMENT = {
    "SPARKGEN_CONTRACT": "1",
    "SPARKGEN_APPLICATION": "pi",
    "SPARKGEN_RUN": "pi-2",
    "SPARKGEN_CONCURRENCY_POLICY": "Forbid",
    "SPARKGEN_POD_NAME": "pi-2-x",
    "SPARKGEN_POD_NAMESPACE": "a",
    "SPARKGEN_POD_UID": "u2",
}
TURN = "/api/v1/namespaces/a/configmaps/pi-concurrency"
PODS = "/api/v1/namespaces/a/pods"
JOBS = "/apis/batch/v1/namespaces/a/jobs"
LABELS = {"sparkgen.dev/application": "pi"}
GATED = {"initContainers": [{"name": "concurrency"}]}


def pod(name: str, uid: str, second: int, **more: Any) -> dict[str, Any]:
    """A driver's pod as the API server has it; `more` replaces its fields."""
    job = name.rpartition("-")[0]
    return {
        "metadata": {
            "name": name,
            "uid": uid,
            "creationTimestamp": f"2026-03-01T06:00:{second:02}Z",
            "ownerReferences": [{"kind": "Job", "name": job, "uid": f"u-{job}", "controller": True}],
        },
        "spec": GATED,
        "status": {"phase": "Pending"},
        **more,
    }


OWN = pod("pi-2-x", "u2", 20)
STARTED = [{"name": "concurrency", "state": {"terminated": {"exitCode": 0}}}]
EARLIER = pod("pi-1-x", "u1", 10, status={"phase": "Running", "initContainerStatuses": STARTED})


def job(name: str, second: int, **more: Any) -> dict[str, Any]:
    """A Job of the application as the API server has it; `more` replaces its metadata."""
    metadata = {
        "name": name,
        "uid": f"u-{name}",
        "resourceVersion": "1",
        "creationTimestamp": f"2026-03-01T05:59:{second:02}Z",
        "labels": LABELS,
    }
    return {"metadata": metadata | more, "spec": {}}


def turn_of(holder: str, number: int) -> dict[str, str]:
    """The annotations that say whose turn it is."""
    return {"sparkgen.dev/holder": holder, "sparkgen.dev/turns": str(number)}


class Server:
    """An API server with the ConfigMap of turns, pods and Jobs; `refuse`: a status for each request."""

    def __init__(self, *pods: Mapping[str, Any], holder: str = "", number: int = 0) -> None:
        self.pods = [OWN, *pods]
        self.unlabelled: list[Mapping[str, Any]] = []
        self.turn = turn_of(holder, number)
        self.version = 5
        self.jobs: dict[str, dict[str, Any]] = {"pi-2": job("pi-2", 20)}
        self.refuse = 0
        self.between: Callable[[], object] = lambda: None
        self.calls: list[tuple[str, str, Any]] = []

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Answer a request."""
        self.calls.append((method, path, body))
        if self.refuse:
            return Reply(self.refuse, {"message": "no"})
        if path == TURN and method == "GET":
            return Reply(200, {"metadata": {"resourceVersion": str(self.version), "annotations": self.turn}})
        if path == TURN:
            assert headers == {"Content-Type": "application/merge-patch+json"}
            if body["metadata"]["resourceVersion"] != str(self.version):
                return Reply(409, {"message": "the object has been modified"})
            self.turn |= body["metadata"]["annotations"]
            self.version += 1
            return Reply(200, {})
        if path == PODS:
            assert query is not None
            assert query["labelSelector"] == (
                "sparkgen.dev/application=pi,app.kubernetes.io/component=driver"
            )
            listed = list(self.pods)
            self.between()
            return Reply(200, {"metadata": {}, "items": listed})
        if path.startswith(PODS):
            found = [one for one in self.unlabelled if path.endswith(f"/{one['metadata']['name']}")]
            return Reply(200, dict(found[0])) if found else Reply(404, {"message": "not found"})
        job = self.jobs.get(path.removeprefix(f"{JOBS}/"))
        if job is None:
            return Reply(404, {"message": "not found"})
        if method == "PATCH":
            job["metadata"]["annotations"] = body["metadata"]["annotations"]
            job["spec"] |= body["spec"]
        return Reply(200, job)


def waited(server: Server, folder: Path, *ends: Callable[[], object], policy: str = "Forbid") -> list[str]:
    """What it says; each pause carries out the next of `ends`. The attempt's number is in the file then."""
    said: list[str] = []
    left = iter(ends)

    def sleep(_: float) -> None:
        next(left)()

    environment = {**ENVIRONMENT, "SPARKGEN_CONCURRENCY_POLICY": policy}
    wait(server, environment, lambda: NOW, said.append, sleep, folder / "attempt")
    return said


def test_a_configmap_that_keeps_nothing_is_told(tmp_path: Path) -> None:
    """A webhook may take the annotations away: the pod pauses, and says so."""
    server = Server()
    server.turn = Forgetful()

    def end() -> None:
        raise KeyboardInterrupt

    said: list[str] = []
    environment = {**ENVIRONMENT, "SPARKGEN_CONCURRENCY_POLICY": "Forbid"}
    with pytest.raises(KeyboardInterrupt):
        wait(server, environment, lambda: NOW, said.append, lambda _: end(), tmp_path / "attempt")
    assert said == [f"{TURN} does not keep whose turn it is; does a webhook change it?"]


class Forgetful(dict[str, str]):
    """Annotations that stay empty."""

    def __ior__(self, _: Any) -> Forgetful:  # type: ignore[override, misc]
        """Keep nothing."""
        return self


def test_a_turn_after_the_largest_number_of_nine_digits(tmp_path: Path) -> None:
    """It is counted on."""
    server = Server(holder="", number=999_999_999)
    waited(server, tmp_path)
    assert (tmp_path / "attempt").read_text() == "1000000000\n"


def nothing() -> None:
    """A pause in which nothing happens."""


def test_alone_it_takes_its_turn_and_starts(tmp_path: Path) -> None:
    """The ConfigMap says who, and how often that has changed."""
    server = Server(number=7)
    assert waited(server, tmp_path) == ["no other run is active; this is attempt 8 of the application"]
    assert (tmp_path / "attempt").read_text() == "8\n"
    assert server.turn == turn_of("pi-2-x_u2", 8)


def test_begun_anew_it_keeps_its_number(tmp_path: Path) -> None:
    """A container that starts again in the same pod is the same attempt."""
    server = Server(holder="pi-2-x_u2", number=3)
    waited(server, tmp_path)
    assert (tmp_path / "attempt").read_text() == "3\n"
    assert {method for method, _, _ in server.calls} == {"GET"}


def test_it_waits_for_the_end_of_an_earlier_driver(tmp_path: Path) -> None:
    """And says so once."""
    server = Server(EARLIER, holder="pi-1-x_u1", number=1)
    said = waited(server, tmp_path, nothing, nothing, server.pods.pop)
    assert said == [
        "waiting for the end of pi-1-x",
        "no other run is active; this is attempt 2 of the application",
    ]


@pytest.mark.parametrize(
    "other",
    [
        pod("pi-3-x", "u3", 30, status={"phase": "Running"}, spec={}),
        {**EARLIER, "metadata": {**EARLIER["metadata"], "deletionTimestamp": "2026-03-01T06:00:00Z"}},
        pod("pi-3-x", "u3", 30, status={"initContainerStatuses": STARTED}),
    ],
    ids=["without-the-container", "on-a-lost-node", "later-but-started"],
)
def test_what_counts_as_active(tmp_path: Path, other: Mapping[str, Any]) -> None:
    """A pod that is being deleted may still write, and one that has started does not wait."""
    server = Server(other)
    assert "waiting" in waited(server, tmp_path, server.pods.pop)[0]


@pytest.mark.parametrize(
    "other",
    [
        pod("pi-1-x", "u1", 10, status={"phase": "Succeeded"}),
        pod("pi-1-x", "u1", 10, status={"phase": "Failed"}),
        pod("pi-3-x", "u3", 30),
        pod("pi-3-x", "u3", 30, status={"initContainerStatuses": [{"name": "concurrency", "state": {}}]}),
        pod("pi-1-x", "u1", 10),
    ],
    ids=["succeeded", "failed", "later", "later-with-status", "earlier-without-a-node"],
)
def test_what_does_not_count(tmp_path: Path, other: Mapping[str, Any]) -> None:
    """Pods that have ended, and later ones that wait."""
    assert len(waited(Server(other, holder="pi-0-x_u0"), tmp_path)) == 1


def test_an_earlier_one_that_queues_goes_first(tmp_path: Path) -> None:
    """Its container runs, so it will take its turn. One that is being deleted may not get that far."""
    status = {"initContainerStatuses": [{"name": "concurrency", "state": {"running": {}}}]}
    server = Server(pod("pi-1-x", "u1", 10, status=status))
    assert waited(server, tmp_path, server.pods.pop)[0] == "waiting for the end of pi-1-x"
    leaving = pod("pi-1-x", "u1", 10, status=status)
    leaving["metadata"]["deletionTimestamp"] = "now"
    assert len(waited(Server(leaving), tmp_path)) == 1


def test_a_holder_without_its_labels_counts(tmp_path: Path) -> None:
    """Somebody may change labels; the ConfigMap says who runs."""
    server = Server(holder="pi-1-x_u1")
    server.unlabelled = [EARLIER]
    assert waited(server, tmp_path, server.unlabelled.clear)[0] == "waiting for the end of pi-1-x"


def test_a_new_pod_of_the_holders_name_is_not_the_holder(tmp_path: Path) -> None:
    """A StatefulSet, or a person, may use a name again."""
    server = Server(holder="pi-1-x_u0")
    server.unlabelled = [EARLIER]
    assert len(waited(server, tmp_path)) == 1


@pytest.mark.parametrize("holder", ["someone", "../../secrets/x_u1", "_", "x" * 200])
def test_a_holder_that_no_pod_has_written(tmp_path: Path, holder: str) -> None:
    """It leads nowhere else, and holds nothing."""
    server = Server(holder=holder)
    waited(server, tmp_path)
    assert all("secrets/" not in path for _, path, _ in server.calls)


def test_replace_ends_the_jobs_of_other_runs_only(tmp_path: Path) -> None:
    """As `sparkgen kill` does, and once. An earlier pod of its own Job ends by itself."""
    server = Server(EARLIER, pod("pi-2-w", "u0", 15))
    server.jobs["pi-1"] = job("pi-1", 10, annotations={"mine": "1"})
    server.jobs["pi-1"]["spec"]["activeDeadlineSeconds"] = 900
    said = waited(server, tmp_path, nothing, lambda: server.pods.__delitem__(slice(1, 3)), policy="Replace")
    assert said[:2] == [
        "waiting for the end of pi-1-x; ended: pi-1",
        "waiting for the end of pi-1-x",
    ]
    patches = [body for method, path, body in server.calls if method == "PATCH" and path.startswith(JOBS)]
    assert patches == [
        {
            "metadata": {
                "resourceVersion": "1",
                "annotations": {
                    "sparkgen.dev/killed": "2026-03-01T06:00:00Z",
                    "sparkgen.dev/replaced-by": "pi-2",
                    "sparkgen.dev/deadline-before": "900",
                },
            },
            "spec": {"activeDeadlineSeconds": 1},
        }
    ]


def test_an_older_run_gives_way_to_a_newer_one(tmp_path: Path) -> None:
    """Its pod is the later one where its Job tries again: the newer run has started meanwhile, or queues."""
    server = Server(EARLIER)
    server.jobs["pi-1"] = job("pi-1", 30, labels={**LABELS, "sparkgen.dev/run": "pi-new"})
    with pytest.raises(StopIteration):  # it waits for its own end
        waited(server, tmp_path, nothing, server.pods.pop, nothing, policy="Replace")
    assert not (tmp_path / "attempt").exists()
    assert "annotations" not in server.jobs["pi-1"]["metadata"]
    assert server.jobs["pi-2"]["metadata"]["annotations"]["sparkgen.dev/replaced-by"] == "pi-new"


def test_a_newer_run_that_has_ended_is_not_followed_by_an_older_one(tmp_path: Path) -> None:
    """The older one tries again after a pause, in which the newer one has done its work."""
    server = Server(number=3)
    server.turn["sparkgen.dev/newest-job"] = "2026-03-01T06:10:00Z u-pi-9 pi-9"

    def anew() -> None:
        server.jobs["pi-2"], server.turn = job("pi-2", 20), turn_of("pi-9-x_u9", 3)

    said = waited(server, tmp_path, nothing, anew, policy="Replace")
    patches = [body["metadata"]["annotations"] for method, _, body in server.calls if method == "PATCH"]
    assert patches[0]["sparkgen.dev/replaced-by"] == "pi-9"
    assert said[:2] == [
        "the run pi-9 is newer, and has had its turn: this one ends",
        "this run has been ended",
    ]
    assert server.turn == {
        **turn_of("pi-2-x_u2", 4),
        "sparkgen.dev/newest-job": "2026-03-01T05:59:20Z u-pi-2 pi-2",
    }


def test_a_run_that_has_been_ended_ends_no_other(tmp_path: Path) -> None:
    """Its pod may be there for a while."""
    server = Server(EARLIER)
    server.jobs |= {
        "pi-1": job("pi-1", 10),
        "pi-2": job("pi-2", 20, annotations={"sparkgen.dev/killed": "x"}),
    }
    with pytest.raises(StopIteration):  # it waits for its own end
        waited(server, tmp_path, nothing, server.pods.pop, nothing, policy="Replace")
    assert "PATCH" not in [method for method, path, _ in server.calls]


@pytest.mark.parametrize("name", ["../../pods/y", "pi-1/status", "pi%2F1", "x" * 254, "PI"])
def test_the_name_of_a_forged_owner_is_no_path(tmp_path: Path, name: str) -> None:
    """Whoever creates a pod names its owners: the API server would read a slash, also an encoded one."""
    forged = pod("odd-x", "u1", 10, status=EARLIER["status"])
    forged["metadata"]["ownerReferences"][0]["name"] = name
    server = Server(forged)
    assert (
        waited(server, tmp_path, nothing, server.pods.pop, policy="Replace")[0]
        == "waiting for the end of odd-x"
    )
    assert {path for _, path, _ in server.calls if path.startswith(JOBS)} <= {f"{JOBS}/pi-2"}


def test_a_pod_of_no_job_ends_no_newer_job(tmp_path: Path) -> None:
    """A Deployment that is left over makes a new pod, after the document has got a Job."""
    server = Server(EARLIER)
    server.pods[0] = {**OWN, "metadata": {**OWN["metadata"], "ownerReferences": []}}
    server.jobs["pi-1"] = job("pi-1", 0, creationTimestamp="2026-03-01T06:00:50Z")
    waited(server, tmp_path, nothing, server.pods.pop, policy="Replace")
    assert "PATCH" not in [method for method, path, _ in server.calls if path.startswith(JOBS)]
    server = Server(EARLIER)
    server.pods[0] = {**OWN, "metadata": {**OWN["metadata"], "ownerReferences": []}}
    server.jobs["pi-1"] = job("pi-1", 5)
    assert waited(server, tmp_path, nothing, server.pods.pop, policy="Replace")[0].endswith("; ended: pi-1")


def test_of_a_pod_only_what_is_read_is_kept(tmp_path: Path) -> None:
    """Whoever creates pods chooses the rest, which may be megabytes."""
    large = {**EARLIER, "spec": {**EARLIER["spec"], "containers": [], "imagePullSecrets": [{}] * 100}}
    large["metadata"] = {**EARLIER["metadata"], "labels": {"a": "b"}, "annotations": {"c": "d" * 1000}}
    owners = [*large["metadata"]["ownerReferences"], {"kind": "Pod", "name": "n" * 1000, "uid": "u"}]
    large["metadata"]["ownerReferences"] = owners
    small = trim_decoded(large)
    assert driver_of(small) == driver_of(EARLIER)
    assert len(str(small)) < 600
    assert trim_decoded({"metadata": {}, "items": [small]})["items"] == [small]
    assert trim_decoded({"metadata": {}, "spec": {"containers": 3, "initContainers": 3}, "status": 3}) == {
        "metadata": {"ownerReferences": []},
        "spec": {"initContainers": []},
        "status": {"phase": None, "initContainerStatuses": []},
    }


def test_a_pod_that_no_api_server_writes_is_nobodys_turn(tmp_path: Path) -> None:
    """It would end each new run of the application."""
    odd = pod("odd-x", "u1", 10)
    odd["metadata"]["ownerReferences"][0]["name"] = "n" * 2000
    assert waited(Server(odd), tmp_path) == ["no other run is active; this is attempt 1 of the application"]


def test_another_pod_takes_its_turn_first(tmp_path: Path) -> None:
    """What was read is too old then: it looks again, and waits."""
    server = Server()

    def taken() -> None:
        server.between = nothing
        server.turn = turn_of("pi-1-x_u1", 4)
        server.version += 1
        server.pods.append(EARLIER)

    server.between = taken
    said = waited(server, tmp_path, nothing, server.pods.pop)
    assert "409 the object has been modified" in said[0]
    assert said[1:] == [
        "waiting for the end of pi-1-x",
        "no other run is active; this is attempt 5 of the application",
    ]


@pytest.mark.parametrize(
    "more",
    [
        None,
        {"uid": "another"},
        {"labels": {"sparkgen.dev/application": "sales"}},
        {"labels": None},
    ],
    ids=["gone", "another of its name", "of another application", "of nobody"],
)
def test_a_job_that_is_gone_or_of_others_is_not_ended(tmp_path: Path, more: dict[str, Any] | None) -> None:
    """The pod may still be ending; and a pod may name any Job as its owner."""
    server = Server(EARLIER)
    server.jobs = {} if more is None else {"pi-1": job("pi-1", 10, **more)}
    said = waited(server, tmp_path, *[nothing] * REFUSALS, server.pods.pop, policy="Replace")
    assert said[0] == "waiting for the end of pi-1-x"
    calls = [method for method, path, _ in server.calls if path == f"{JOBS}/pi-1"]
    assert calls == ["GET"] * (REFUSALS + 1)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_does_not_pass_by_itself_ends_the_pod(tmp_path: Path, status: int) -> None:
    """Not at the first time: a Role or the ConfigMap may be applied after the Job."""
    server = Server()
    server.refuse = status
    with pytest.raises(Refused, match=f"{status} no") as refused:
        waited(server, tmp_path, *[nothing] * REFUSALS)
    assert refused.value.next_step == (
        "apply all rendered manifests of the application again, its Role and ConfigMaps included"
    )
    assert not (tmp_path / "attempt").exists()
    server.refuse = status
    waited(server, tmp_path, *[nothing] * (REFUSALS - 2), lambda: setattr(server, "refuse", 0))


@pytest.mark.parametrize("status", [409, 429, 500, 503])
def test_what_passes_by_itself_ends_nothing(tmp_path: Path, status: int) -> None:
    """An API server may be away for longer than two minutes."""
    server = Server()
    server.refuse = status
    waited(server, tmp_path, *[nothing] * (3 * REFUSALS), lambda: setattr(server, "refuse", 0))
    assert (tmp_path / "attempt").read_text() == "1\n"


def test_no_answer_is_no_end(tmp_path: Path) -> None:
    """A server that is away comes back."""

    class Away(Server):
        away = True

        def call(self, method: str, path: str, *arguments: Any, **options: Any) -> Reply:
            """Fail once."""
            if self.away:
                self.away = False
                raise CallFailed("connection refused", sent=False)
            return super().call(method, path, *arguments, **options)

    assert waited(Away(), tmp_path, nothing)[0] == "connection refused"


def test_a_pod_that_is_no_driver_of_the_application(tmp_path: Path) -> None:
    """Without its labels, nobody would wait for it."""
    server = Server()
    server.pods.clear()
    said = waited(server, tmp_path, lambda: server.pods.append(OWN))
    assert said[0] == "the pod pi-2-x is not among the application's drivers, or has ended"


def test_an_environment_without_the_pods_name_is_refused(tmp_path: Path) -> None:
    """As when somebody has edited the manifest."""
    with pytest.raises(Refused, match="SPARKGEN_POD_NAME, SPARKGEN_POD_UID"):
        wait(
            Server(),
            {key: text for key, text in ENVIRONMENT.items() if key[-4:] not in ("NAME", "_UID")},
            lambda: NOW,
            print,
            target=tmp_path / "attempt",
        )


def test_outside_of_a_cluster_it_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert main(["concurrency"]) == 1
    assert "run this in a pod" in capsys.readouterr().err


@pytest.mark.parametrize("value", [{}, {"metadata": None}, {"status": None, "spec": None}])
def test_a_pod_with_nothing_in_it(value: dict[str, Any]) -> None:
    """It does not wait, so it counts."""
    seen = driver_of(value)
    assert seen is not None
    assert not seen.waits
