"""Which ended runs go: never one that runs, nor the current one, nor what is younger than the Job itself."""

from __future__ import annotations

import json
import tracemalloc
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen import contract
from sparkgen.jsonvalue import decode_object
from sparkgen.runtime.__main__ import _history
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.history.plan import (
    IGNORE_HEALTH,
    SUPERSEDED,
    HistoryPolicy,
    ended,
    prune_plan,
    trim_decoded,
)
from sparkgen.runtime.history.prune import METADATA_ONLY, history_policy, prune
from sparkgen.runtime.kubernetes.answers import AnswerTooLarge, CallFailed, Reply

ARGO = {"argocd.argoproj.io/sync-options": "Prune=false"}
ENVIRONMENT = {
    "SPARKGEN_CONTRACT": "1",
    "SPARKGEN_APPLICATION": "pi",
    "SPARKGEN_RUN": "pi-now",
    "SPARKGEN_WORKLOAD": "Job",
    "SPARKGEN_JOB_NAME": "pi-history-now",
    "SPARKGEN_KEEP_SUCCEEDED": "1",
    "SPARKGEN_KEEP_FAILED": "0",
    "SPARKGEN_POD_NAMESPACE": "a",
}
SESSION = {"app.kubernetes.io/component": "session"}
RESULTS = {"running": [], "Complete": [{"type": "Complete", "status": "True"}]}
RESULTS["Failed"] = [{"type": "Failed", "status": "True"}]


def thing(name: str, minute: int, run: str = "", **metadata: Any) -> dict[str, Any]:
    """An object of the application, created at this minute."""
    labels = {"sparkgen.dev/application": "pi"}
    labels |= {"sparkgen.dev/run": run} if run else {"app.kubernetes.io/component": "history"}
    born = f"2026-01-01T00:{minute:02}:00Z"
    version = {"uid": f"uid-{name}", "resourceVersion": "7", "creationTimestamp": born}
    return {"metadata": {"name": name, "labels": labels, **version, **metadata}}


def job(run: str, minute: int, state: str = "Complete", **metadata: Any) -> dict[str, Any]:
    """A driver's Job."""
    return {**thing(run, minute, run, **metadata), "status": {"conditions": RESULTS[state]}}


def history(name: str = "pi-history-now", minute: int = 50, state: str = "running") -> dict[str, Any]:
    """A history Job."""
    return {**thing(name, minute), "status": {"conditions": RESULTS[state]}}


def wanted(succeeded: int | None = 1, failed: int | None = 0, workload: str = "Job") -> HistoryPolicy:
    """What the document asks for."""
    return HistoryPolicy("pi-now", workload, "pi-history-now", succeeded, failed)


def names(items: Any) -> list[str]:
    """The names of objects."""
    return [item["metadata"]["name"] for item in items]


def test_sessions_are_no_runs() -> None:
    """They remove themselves, and none of them pushes a run out."""
    label = SESSION
    sessions = [job(f"pi-session-{number}", 20 + number) for number in range(3)]
    for one in sessions:
        one["spec"] = {"template": {"metadata": {"labels": label}}}
    jobs = [history(), job("pi-now", 40), job("pi-before", 1), *sessions]
    assert prune_plan(wanted(), jobs, []) == prune_plan(wanted(), [history(), *jobs[1:3]], [])


def test_a_runs_pod_group_goes_with_its_files() -> None:
    """And stays as long as they do; one that a Job owns goes by itself."""
    groups = [thing(run, minute, run) for run, minute in (("pi-now", 40), ("pi-before", 1), ("pi-kept", 2))]
    owned = thing("pi-asked", 1, "pi-asked", ownerReferences=[{"uid": "uid-of-a-job"}])
    jobs = [history(), job("pi-now", 40), job("pi-before", 1), job("pi-kept", 2, "running")]
    plan = prune_plan(wanted(0), jobs, [], [*groups, owned])
    assert names(plan.pod_groups) == ["pi-before"]
    assert plan.config_maps == ()


def test_what_is_left_of_large_objects_gives_the_same_plan() -> None:
    """Whoever may create Jobs in the namespace does not end this one for lack of memory."""
    dense = {
        "annotations": {"a": "b"},
        "managedFields": [{"fieldsV1": {f"f:{n}": {} for n in range(30_000)}}],
    }
    jobs = [
        history(),
        history("pi-history-old", 1, "Complete"),
        job("pi-now", 40, annotations={**ARGO, SUPERSEDED: "true"}),
        job("pi-marked", 5, "Failed", annotations={**ARGO, SUPERSEDED: "true"}),
        job("pi-unmarked", 6, "running", annotations=ARGO),
        job("pi-owned", 2, ownerReferences=[{"uid": "1"}]),
        *[job(f"pi-{n}", 10 + n, **dense) for n in range(20)],
    ]
    jobs.append({**job("pi-session", 20), "spec": {"template": {"metadata": {"labels": SESSION}}}})
    jobs.append({**job("pi-like-a-session", 21), "spec": {"template": {"metadata": {"labels": {}}}}})
    jobs[-1]["metadata"]["labels"] |= SESSION
    files = [thing(f"{run}-conf", 1, run) for run in ("pi-now", "pi-owned", "pi-1", "pi-19", "pi-gone")]
    data = json.dumps({"items": [*jobs, *files], "metadata": {"continue": "x"}}).encode()
    tracemalloc.start()
    page = decode_object(data, trim_decoded)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert page["metadata"] == {"continue": "x"}
    assert peak < 3 * len(data)
    for policy in (wanted(), wanted(3, 0), wanted(None, 0), wanted(0, None, "CronJob")):
        whole = prune_plan(policy, jobs, files)
        reduced = prune_plan(policy, page["items"][: len(jobs)], page["items"][len(jobs) :])
        for part in ("jobs", "config_maps", "mark", "unmark"):
            assert names(getattr(reduced, part)) == names(getattr(whole, part)), part
    assert names(whole.unmark) == ["pi-now"]


def test_the_command_reduces_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it is decoded with this hook, and only the metadata of files and PodGroups is asked for."""
    hooks: list[Any] = []
    accepted: dict[str, Any] = {}

    def call(method: str, path: str, query: Any = None, body: Any = None, *, headers: Any = None) -> Reply:
        accepted[path.rpartition("/")[2]] = headers
        return Reply(200, {"items": [], "metadata": {}}, "")

    def transport(_: Any, agent: str, hook: Any) -> Any:
        hooks.append(hook)
        return SimpleNamespace(call=call)

    monkeypatch.setattr("sparkgen.runtime.kubernetes.transport.Transport", transport)
    monkeypatch.setattr("sparkgen.runtime.kubernetes.access.in_cluster", lambda _: None)
    for name, text in {**ENVIRONMENT, contract.ENV_POD_GROUPS: "true"}.items():
        monkeypatch.setenv(name, text)
    assert _history() == 0
    assert hooks == [trim_decoded]
    only = {"Accept": METADATA_ONLY}
    assert accepted == {"configmaps": only, "podgroups": only, "jobs": None}


def test_a_label_of_the_document_makes_no_run_a_session() -> None:
    """`metadata.labels` is on a run's Job as well: its runs would stay forever."""
    before = job("pi-before", 1)
    before["metadata"]["labels"] |= {"app.kubernetes.io/component": "session"}
    before["spec"] = {"template": {"metadata": {"labels": {"app.kubernetes.io/component": "driver"}}}}
    plan = prune_plan(wanted(0), [history(), job("pi-now", 40), before], [])
    assert names(plan.jobs) == ["pi-before"]


def test_the_oldest_beyond_history_go() -> None:
    """So many succeeded, so many failed; the files go with their Job, and those of the others stay."""
    jobs = [job("pi-a", 1), job("pi-b", 3), job("pi-c", 2), job("pi-d", 4, "Failed"), job("pi-now", 9)]
    files = [thing(f"{run}-conf", 1, run) for run in ("pi-a", "pi-b", "pi-c", "pi-d", "pi-now", "pi-gone")]
    made = prune_plan(wanted(1, 0), [*jobs, history()], files)
    assert names(made.jobs) == ["pi-a", "pi-c", "pi-d"]
    assert names(made.config_maps) == ["pi-a-conf", "pi-c-conf", "pi-d-conf", "pi-gone-conf"]


def test_what_runs_stays() -> None:
    """A superseded driver that runs is left alone, with its files; so is one that is suspended."""
    suspended = {**job("pi-b", 2), "status": {"conditions": [{"type": "Suspended", "status": "True"}]}}
    files = [thing("pi-a-conf", 1, "pi-a"), thing("pi-b-conf", 1, "pi-b")]
    made = prune_plan(
        wanted(0, 0), [job("pi-a", 1, "running"), suspended, job("pi-now", 9), history()], files
    )
    assert (made.jobs, made.config_maps) == ((), ())


def test_without_a_number_all_are_kept() -> None:
    """Only what the document limits is limited."""
    jobs = [job("pi-a", 1), job("pi-b", 2, "Failed"), job("pi-now", 9), history()]
    assert names(prune_plan(wanted(None, 0), jobs, []).jobs) == ["pi-b"]
    assert names(prune_plan(wanted(0, None), jobs, []).jobs) == ["pi-a"]


def test_a_later_commit_is_not_judged() -> None:
    """A history Job that comes late does nothing when a later one is there, and touches nothing younger."""
    late = [job("pi-a", 1), job("pi-now", 9), history(minute=10)]
    assert prune_plan(wanted(0, 0), [*late, history("pi-history-b", 20)], []) == prune_plan(wanted(), [], [])
    younger = [job("pi-b", 11, "Failed"), thing("pi-c-conf", 11, "pi-c")]
    made = prune_plan(wanted(0, 0), [*late, younger[0]], [younger[1]])
    assert (names(made.jobs), made.config_maps, made.mark) == (["pi-a"], (), ())


def test_earlier_history_jobs_go() -> None:
    """Where nobody prunes they would pile up."""
    jobs = [history("pi-history-a", 1, "Complete"), history("pi-history-b", 2), history()]
    assert names(prune_plan(wanted(), jobs, []).jobs) == ["pi-history-a"]


def test_a_superseded_run_is_out_of_the_applications_health() -> None:
    """Under Argo CD each superseded Job that stays is marked, once, running or not; without it none is."""
    jobs = [job("pi-a", 1, "running", annotations=ARGO), job("pi-b", 2, annotations=ARGO), job("pi-c", 3)]
    done = job("pi-d", 4, "Failed", annotations={**ARGO, SUPERSEDED: "true"})
    made = prune_plan(wanted(None, None), [*jobs, done, job("pi-now", 9, annotations=ARGO), history()], [])
    assert names(made.mark) == ["pi-a", "pi-b"]


def test_a_revert_counts_again() -> None:
    """A run that becomes the current one again loses the mark, and is not deleted."""
    back = job("pi-now", 1, "Failed", annotations={**ARGO, SUPERSEDED: "true", IGNORE_HEALTH: "true"})
    made = prune_plan(wanted(0, 0), [back, history()], [])
    assert (names(made.unmark), made.jobs) == (["pi-now"], ())


def test_the_jobs_of_a_cron_job_are_its_own() -> None:
    """They are deleted by the CronJob; the files of the run before stay, and those that a firing uses."""
    owner = [{"kind": "CronJob", "name": "pi"}]
    firings = [job("pi-a", 1, "running", ownerReferences=owner), job("pi-c", 3, ownerReferences=owner)]
    files = [thing(f"{run}-conf", n, run) for n, run in enumerate(("pi-a", "pi-b", "pi-x", "pi-y"), 1)]
    made = prune_plan(wanted(0, 0, "CronJob"), [*firings, history()], files)
    assert (made.jobs, names(made.config_maps)) == ((), ["pi-b-conf", "pi-x-conf"])


def test_files_with_an_owner_go_with_it() -> None:
    """A run that was asked for counts as any ended run; its files are its Job's, there or not."""
    owner = [{"kind": "Job", "name": "pi-asked"}]
    files = [thing("pi-asked-conf", 9, "pi-asked", ownerReferences=owner), thing("pi-a-conf", 1, "pi-a")]
    made = prune_plan(wanted(1), [job("pi-asked", 9), job("pi-b", 2), history()], files)
    assert (names(made.jobs), names(made.config_maps)) == (["pi-b"], ["pi-a-conf"])


JOBS = st.lists(
    st.builds(job, st.sampled_from(["pi-now", *"abcdef"]), st.integers(0, 59), st.sampled_from([*RESULTS])),
    max_size=12,
    unique_by=lambda item: item["metadata"]["name"],
)


@given(JOBS, st.integers(0, 3), st.integers(0, 3), st.integers(0, 59))
def test_laws(jobs: list[dict[str, Any]], succeeded: int, failed: int, minute: int) -> None:
    """Only ended, superseded, older Jobs go, and no more than leaves the numbers asked for."""
    made = prune_plan(wanted(succeeded, failed), [*jobs, history(minute=minute)], [])
    born = f"2026-01-01T00:{minute:02}:00Z"
    for item in made.jobs:
        assert ended(item)
        assert item["metadata"]["name"] != "pi-now"
        assert item["metadata"]["creationTimestamp"] < born
    gone = names(made.jobs)
    for how, keep in (("succeeded", succeeded), ("failed", failed)):
        old = [
            item["metadata"]["name"]
            for item in jobs
            if ended(item) == how
            and item["metadata"]["name"] != "pi-now"
            and item["metadata"]["creationTimestamp"] < born
        ]
        assert len([name for name in old if name not in gone]) == min(len(old), keep)


class Server:
    """An API server with some objects. `refusals`: what it answers first, in their order."""

    def __init__(self, jobs: list[Any], files: list[Any], refusals: list[Reply | CallFailed]) -> None:
        self.objects = {"jobs": jobs, "configmaps": files}
        self.refusals = refusals
        self.calls: list[tuple[str, str, Any]] = []

    def call(
        self, method: str, path: str, query: Any = None, body: Any = None, *, headers: Any = None
    ) -> Reply:
        """Answer as the API server does."""
        if self.refusals:
            refusal = self.refusals.pop(0)
            if isinstance(refusal, CallFailed):
                raise refusal
            return refusal
        if method == "GET":
            kind = path.rpartition("/")[2]
            start = int(query["continue"] or 0) if "continue" in query else 0
            items = self.objects[kind]
            more = str(start + 2) if start + 2 < len(items) else ""
            return Reply(200, {"items": items[start : start + 2], "metadata": {"continue": more}}, "")
        self.calls.append((method, path, body))
        return Reply(200, {}, "")


def kept_house(server: Server) -> list[str]:
    """What the Job says while it works."""
    said: list[str] = []
    prune(server, ENVIRONMENT, history_policy(ENVIRONMENT), said.append, lambda _: None)
    return said


def test_deletions_name_what_was_seen() -> None:
    """Page by page; each deletion with uid and version, in the background, Jobs before their files."""
    jobs = [job("pi-a", 1), job("pi-b", 2), job("pi-c", 3, "Failed"), job("pi-now", 9), history()]
    server = Server(jobs, [thing("pi-a-conf", 1, "pi-a")], [])
    assert kept_house(server)[-1] == "done: 2 Jobs and 1 ConfigMaps deleted"
    assert [(method, path) for method, path, _ in server.calls] == [
        ("DELETE", "/apis/batch/v1/namespaces/a/jobs/pi-a"),
        ("DELETE", "/apis/batch/v1/namespaces/a/jobs/pi-c"),
        ("DELETE", "/api/v1/namespaces/a/configmaps/pi-a-conf"),
    ]
    options = server.calls[0][2]
    assert options["preconditions"] == {"uid": "uid-pi-a", "resourceVersion": "7"}
    assert options["propagationPolicy"] == "Background"


def test_rights_that_come_late() -> None:
    """A 403 in the first moments, a busy server and a broken connection are tried again."""
    refusals = [Reply(403, {"message": "no"}, ""), Reply(503, {}, ""), CallFailed("broke", sent=True)]
    server = Server([job("pi-now", 9), history()], [], refusals)
    assert kept_house(server) == ["done: 0 Jobs and 0 ConfigMaps deleted"]


@pytest.mark.parametrize(("status", "tries"), [(400, 1), (403, 30)])
def test_no_rights_at_all(status: int, tries: int) -> None:
    """It gives up in the end, and says what is missing."""
    refusals: list[Reply | CallFailed] = [Reply(status, {"message": "forbidden"}, "") for _ in range(40)]
    server = Server([], [], refusals)
    with pytest.raises(Refused, match="forbidden") as refused:
        kept_house(server)
    assert ("needs the Role that is rendered with it" in str(refused.value)) is (status == 403)
    assert len(refusals) == 40 - tries


def test_large_jobs_of_others_are_read_in_smaller_pages() -> None:
    """Else whoever may create Jobs in the namespace keeps all finished runs."""
    server = Server([job("pi-now", 9), history()], [], [*[AnswerTooLarge("12 MiB", sent=True)] * 2])
    assert kept_house(server) == ["done: 0 Jobs and 0 ConfigMaps deleted"]
    assert server.refusals == []


def test_a_job_that_was_not_rendered() -> None:
    """What is missing is named."""
    with pytest.raises(
        Refused, match="missing environment variables: SPARKGEN_RUN, SPARKGEN_WORKLOAD; render"
    ):
        history_policy({**ENVIRONMENT, "SPARKGEN_RUN": "", "SPARKGEN_WORKLOAD": ""})


@pytest.mark.parametrize(
    "body",
    [
        {"items": [None]},
        {"items": {}},
        {"items": [{"metadata": None}], "metadata": {}},
        {"items": [], "metadata": []},
        {"items": [], "metadata": {"continue": 7}},
        {"items": [{"metadata": {"name": "x", "uid": "y", "resourceVersion": "1", "annotations": []}}]},
    ],
)
def test_an_answer_that_is_no_list(body: Any) -> None:
    """Nothing is concluded from it, and nothing deleted."""
    server = Server([], [], [Reply(200, body, "")])
    with pytest.raises(Refused, match="is not a list"):
        kept_house(server)
    assert server.calls == []
