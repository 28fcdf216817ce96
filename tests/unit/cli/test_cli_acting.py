"""The commands that act on a cluster: apply, run, wait, kill, delete, on an API server of the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sparkgen.cluster import Cluster
from sparkgen.runtime.allocator.pods.template import is_queued
from sparkgen.usecases import wait
from tests import reading

from .conftest import DOCUMENT, Cli, Result
from .kube import Kube

Act = Callable[..., Result]
JOBS = "/apis/batch/v1/namespaces/analytics/jobs"
CONFIG_MAPS = "/api/v1/namespaces/analytics/configmaps"


@pytest.fixture
def act(cli: Cli, kube: Kube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Act:
    """A function: run `sparkgen ARGUMENTS` with that cluster."""
    monkeypatch.setenv("KUBECONFIG", kube.kubeconfig(tmp_path))
    monkeypatch.setattr(wait, "LOOK_SECONDS", 0.2)
    return cli


def applied(act: Act, kube: Kube) -> str:
    """Apply app.yaml; the name of its Job."""
    assert act("apply", "app.yaml", "-q").code == 0
    [name] = kube.named("Job")
    return str(name)


def ended(kube: Kube, name: str, how: str = "Complete", code: int = 0) -> None:
    """Have a run's Job and its driver's pod end."""
    job = kube.one("Job", name)
    condition = {
        "type": how,
        "status": "True",
        "message": "it has a reason",
        "lastTransitionTime": "2026-11-22T01:00:00Z",
    }
    job["status"] = {"startTime": "2026-11-22T00:30:00Z", "conditions": [condition]}
    state = {"terminated": {"exitCode": code, "finishedAt": "2026-11-22T01:00:00Z"}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-x",
            "labels": {**job["metadata"]["labels"], "spark-role": "driver"},
            "ownerReferences": [{"kind": "Job", "uid": job["metadata"]["uid"], "controller": True}],
        },
        "status": {
            "phase": "Failed",
            "containerStatuses": [{"name": "spark-kubernetes-driver", "state": state}],
        },
    }
    kube.put(f"/api/v1/namespaces/analytics/pods/{name}-x", pod)


# --- apply ------------------------------------------------------------------------------------------------


def test_apply_says_what_became_of_each_object(act: Act, kube: Kube) -> None:
    """Created, then unchanged, then configured where the document changed; nothing runs twice."""
    first = act("apply", "app.yaml")
    assert first.code == 0, first.err
    lines = first.out.splitlines()
    assert lines[0] == "serviceaccount/pi created"
    assert all(line.endswith(" created") for line in lines)
    [job] = kube.named("Job")
    assert lines[-1] == f"job.batch/{job} created"
    assert first.err.endswith("next: sparkgen status pi -n analytics; sparkgen wait pi -n analytics\n")
    again = act("apply", "app.yaml")
    assert {line.rpartition(" ")[2] for line in again.out.splitlines()} == {"unchanged"}
    assert f"{job} exists already and is not started again" in again.err
    Path("app.yaml").write_text(DOCUMENT.replace("instances: 2", "instances: 5"))
    tuned = act("apply", "app.yaml").out.splitlines()
    assert [line for line in tuned if "unchanged" not in line] == ["configmap/pi-tuning configured"]


def test_a_new_run_leaves_the_one_before_alone(act: Act, kube: Kube) -> None:
    """Neither its Job nor its files are asked for, let alone changed."""
    old = applied(act, kube)
    before = kube.one("Job", old)
    act("apply", "app.yaml", "--set", "spec.run.id=again")
    assert len(kube.named("Job")) == 2
    assert kube.one("Job", old) == before


def test_a_dry_run_changes_nothing(act: Act, kube: Kube) -> None:
    """Every line says that it is one."""
    result = act("apply", "app.yaml", "--dry-run")
    assert result.code == 0
    assert all(line.endswith(" created (dry run)") for line in result.out.splitlines())
    assert {item["kind"] for item in kube.objects.values()} == {"Namespace"}


def test_a_preflight_with_errors_stops_the_apply(act: Act, kube: Kube) -> None:
    """All findings at once, each with its next step; --skip-preflight goes on."""
    arguments = ("apply", "app.yaml", "--set", "spec.imagePullSecrets={registry}")
    result = act(*arguments, "--set", "spec.run.expiresAt=2020-01-01T00:00:00Z")
    assert (result.code, result.out) == (1, "")
    assert "error: the driver needs the Secret registry, which does not exist in analytics" in result.err
    assert "error: the run expired at 2020-01-01T00:00:00Z" in result.err
    assert "    next: kubectl create secret generic registry -n analytics" in result.err
    assert result.err.endswith("nothing was applied; to apply anyway, add --skip-preflight\n")
    assert kube.named("Job") == []
    assert act(*arguments, "--skip-preflight").code == 0
    assert len(kube.named("Job")) == 1


def test_a_missing_namespace_and_a_broken_document(act: Act) -> None:
    """Exit code 1: they are findings."""
    result = act("apply", "app.yaml", "-n", "nowhere")
    assert result.code == 1
    assert "the namespace nowhere does not exist" in result.err
    result = act("apply", "app.yaml", "--set", "spec.executor.memory=2Gi")
    assert (result.code, "SG101" in result.err) == (1, True)


def test_a_conflict_with_others_is_told_and_ours_is_taken_over(act: Act, kube: Kube) -> None:
    """Fields that kubectl applied before are ours; those of a controller are not."""
    text = 'Apply failed with 1 conflict: conflict with "{}" using v1: .data.x'
    path = ("PATCH", f"{CONFIG_MAPS}/pi-tuning")
    kube.refuse[path] = (409, text.format("argocd-controller"))
    result = act("apply", "app.yaml")
    assert (result.code, kube.named("Job")) == (1, [])
    assert "take them over with --force-conflicts" in result.err
    kube.refuse[path] = (409, text.format("kubectl-client-side-apply"))
    act("apply", "app.yaml")
    asked = [line for line in kube.asked if line.endswith("/pi-tuning dry")]
    assert len(asked) >= 3  # refused once, and again with force


def test_an_apply_that_breaks_off_says_so(act: Act, kube: Kube) -> None:
    """What stands above is applied, and the driver's Job, which is last, is not."""
    kube.refuse["PATCH", f"{CONFIG_MAPS}/pi-tuning"] = (500, "etcd is away")
    result = act("apply", "app.yaml", "--skip-preflight")
    assert result.code == 2
    assert "etcd is away. The objects above are applied; fix the error and apply again" in result.err
    assert "serviceaccount/pi created" in result.out
    assert kube.named("Job") == []


@pytest.mark.parametrize("form", ["name", "json", "yaml"])
def test_apply_for_machines(act: Act, kube: Kube, form: str) -> None:
    """Names alone, or the objects as the server has them."""
    out = act("apply", "app.yaml", "-o", form).out
    [job] = kube.named("Job")
    if form == "name":
        assert out.splitlines()[-1] == f"job.batch/{job}"
        return
    listed = json.loads(out) if form == "json" else reading.load(out)
    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    last = listed["items"][-1]
    assert (last["kind"], last["metadata"]["name"]) == ("Job", job)
    assert last["metadata"]["uid"] == kube.one("Job", job)["metadata"]["uid"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("apply", "app.yaml", "--wait", "--dry-run"),
            "--dry-run starts no run, so there is nothing to wait for",
        ),
        (("apply", "app.yaml", "--timeout", "1m"), "--timeout needs --wait"),
        (("run", "pi", "--timeout", "1m"), "--timeout needs --wait"),
        (("run", "app.yaml"), "app.yaml is a document"),
        (("run", "pi", "--set", "a=b"), "--set needs a document"),
        (("run", "pi", "--arg", "a", "--", "b"), "--arg and arguments after -- cannot be combined"),
        (("run", "--local", "app.yaml", "--wait"), "--wait cannot be combined with --local"),
        (("wait", "pi", "--timeout", "soon"), "--timeout soon"),
        (("kill", "pi"), "there is no application pi in analytics"),
        (("delete", "pi", "--yes"), "there is no application pi in analytics"),
        (("wait", "pi", "--context", "nowhere"), "there is no context nowhere: dev"),
    ],
)
def test_wrong_usage(act: Act, arguments: tuple[str, ...], says: str) -> None:
    """Exit code 2, and what to do instead."""
    result = act(*arguments)
    assert (result.code, result.out) == (2, "")
    assert says.partition(": dev")[0] in result.err


# --- run --------------------------------------------------------------------------------------------------


def test_a_run_with_other_arguments(act: Act, kube: Kube) -> None:
    """A Job and files of its own, all by the new name; it goes only when they are there."""
    old = applied(act, kube)
    result = act("run", "pi", "--arg", "a b", "--arg=--full")
    assert result.code == 0, result.err
    new = result.out.strip()
    assert result.err == f"started; next: sparkgen wait pi --run {new} -n analytics\n"
    job = kube.one("Job", new)
    assert job["spec"]["suspend"] is False
    spark = job["spec"]["template"]["spec"]["containers"][0]
    assert spark["args"][-3:] == ["local:///opt/spark/examples/src/main/python/pi.py", "a b", "--full"]
    assert old not in json.dumps(job)
    for suffix in ("conf", "executor"):
        copy = kube.one("ConfigMap", f"{new}-{suffix}")
        assert copy["immutable"] is True
        assert [owner["name"] for owner in copy["metadata"]["ownerReferences"]] == [new]
        assert old not in json.dumps(copy)
    created = [line for line in kube.asked if line.startswith(("POST", "PATCH"))][-4:]
    assert created == [f"POST {JOBS}", f"POST {CONFIG_MAPS}", f"POST {CONFIG_MAPS}", f"PATCH {JOBS}/{new}"]


def test_the_same_id_is_the_same_run(act: Act, kube: Kube) -> None:
    """A second call starts nothing; with other arguments it is refused."""
    applied(act, kube)
    first = act("run", "pi", "--id", "2026-01-01", "-o", "name", "--", "x")
    again = act("run", "pi", "--id", "2026-01-01", "-o", "name", "--", "x")
    assert first.out == again.out
    assert first.out.startswith("job.batch/pi-")
    assert again.err.startswith("the run exists already; next: ")
    assert len(kube.named("Job")) == 2
    other = act("run", "pi", "--id", "2026-01-01", "--", "y")
    assert (other.code, other.out) == (2, "")
    assert 'whose arguments are ["x"]; for another run, use another --id' in other.err
    assert act("run", "pi", "--id", "2026-01-02", "--", "y").out != first.out


def test_a_call_that_broke_off_is_completed_by_the_next_one(act: Act, kube: Kube) -> None:
    """The Job waits suspended for its files; the same id gives them to it."""
    applied(act, kube)
    kube.refuse["POST", CONFIG_MAPS] = (500, "etcd is away")
    assert act("run", "pi", "--id", "a").code == 2
    [waits] = [item for item in map(kube.one, ["Job"] * 2, kube.named("Job")) if item["spec"].get("suspend")]
    kube.refuse.clear()
    result = act("run", "pi", "--id", "a")
    assert (result.code, result.out.strip()) == (0, waits["metadata"]["name"])
    assert kube.one("Job", waits["metadata"]["name"])["spec"]["suspend"] is False


def test_files_of_somebody_else_are_not_the_files_of_a_run(act: Act, kube: Kube) -> None:
    """Whoever may create ConfigMaps could have the driver read others: then the run is not let go."""
    applied(act, kube)
    kube.refuse["POST", CONFIG_MAPS] = (500, "etcd is away")
    assert act("run", "pi", "--id", "a").code == 2
    kube.refuse.clear()
    [waits] = [item for item in map(kube.one, ["Job"] * 2, kube.named("Job")) if item["spec"].get("suspend")]
    name = f"{waits['metadata']['name']}-conf"
    kube.put(f"{CONFIG_MAPS}/{name}", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
    result = act("run", "pi", "--id", "a")
    assert (
        result.code,
        f"the ConfigMap {name} exists already and does not belong to this run" in result.err,
    ) == (
        2,
        True,
    )
    assert kube.one("Job", waits["metadata"]["name"])["spec"]["suspend"] is True


def queued(act: Act) -> None:
    """Apply app.yaml with a queue of Kueue."""
    act("apply", "app.yaml", "-q", "--set", r"metadata.labels.kueue\.x-k8s\.io/queue-name=team-a")


def admitted(job: dict[str, Any]) -> None:
    """What Kueue writes into a Job that it lets start (its constants.go, and podset.Merge)."""
    job["spec"]["suspend"] = False
    job["metadata"]["labels"]["kueue.x-k8s.io/prebuilt-workload-name"] = "job-pi-12345"
    template = job["spec"]["template"]
    template["metadata"]["labels"]["kueue.x-k8s.io/podset"] = "main"
    template["metadata"].setdefault("annotations", {})["kueue.x-k8s.io/workload"] = "job-pi-12345"
    template["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/topology"}]


def test_a_run_waits_in_the_queue_of_its_application(act: Act, kube: Kube) -> None:
    """It has the queue's label, and Kueue lets it go; what Kueue noted of the other run stays there."""
    queued(act)
    [old] = kube.named("Job")
    admitted(kube.one("Job", old))
    result = act("run", "pi")
    assert result.code == 0, result.err
    new = result.out.strip()
    assert result.err.startswith(f"waiting in the queue team-a; next: sparkgen wait pi --run {new}")
    job = kube.one("Job", new)
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert job["spec"]["suspend"] is True
    noted = [text for text in json.dumps(job).split('"') if text.startswith("kueue.x-k8s.io/")]
    assert set(noted) == {"kueue.x-k8s.io/queue-name"}
    assert kube.one("ConfigMap", f"{new}-conf")


def test_a_runs_executors_wait_in_the_queue_too(act: Act, kube: Kube) -> None:
    """Job and executors of a run by hand are in the queue that the document names by batchScheduler."""
    act("apply", "app.yaml", "-q", *("--set", "spec.batchScheduler=kueue"))
    [old] = kube.named("Job")
    assert "suspend" not in kube.one("Job", old)["spec"]
    admitted(kube.one("Job", old))
    new = act("run", "pi").out.strip()
    assert kube.one("Job", new)["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    file = json.loads(kube.one("ConfigMap", f"{new}-executor")["data"]["executor.json"])
    assert is_queued(file["template"])


def test_a_run_has_a_pod_group_of_its_own(act: Act, kube: Kube) -> None:
    """With Volcano: its pods name it, and it goes with the run's Job."""
    act("apply", "app.yaml", "-q", *("--set", "spec.batchScheduler=volcano"))
    [old] = kube.named("Job")
    new = act("run", "pi").out.strip()
    group = kube.one("PodGroup", new)
    assert group["spec"] == kube.one("PodGroup", old)["spec"]
    assert [owner["name"] for owner in group["metadata"]["ownerReferences"]] == [new]
    key = "scheduling.k8s.io/group-name"
    assert kube.one("Job", new)["spec"]["template"]["metadata"]["annotations"][key] == new
    file = json.loads(kube.one("ConfigMap", f"{new}-executor")["data"]["executor.json"])
    assert file["template"]["metadata"]["annotations"][key] == new


def test_a_queued_run_that_went_before_its_files_is_completed(act: Act, kube: Kube) -> None:
    """Kueue may let it go at any moment, so what broke off is seen by the files that are not there."""
    queued(act)
    kube.refuse["POST", CONFIG_MAPS] = (500, "etcd is away")
    assert act("run", "pi", "--id", "a").code == 2
    kube.refuse.clear()
    job = kube.one("Job", kube.named("Job")[1])
    admitted(job)
    job["status"] = {"startTime": "2026-11-22T00:30:00Z"}
    result = act("run", "pi", "--id", "a")
    assert (result.code, result.out.strip()) == (0, job["metadata"]["name"])
    assert kube.one("ConfigMap", f"{job['metadata']['name']}-executor")


def test_a_firing_by_hand_waits_in_the_queue_too(act: Act, kube: Kube) -> None:
    """The label is on the CronJob's template, and on the Job that is made of it."""
    scheduled(act, "metadata.labels.kueue\\.x-k8s\\.io/queue-name=team-a")
    job = kube.one("Job", act("run", "pi").out.strip())
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"


def scheduled(act: Act, *settings: str) -> None:
    """Apply app.yaml as a scheduled application."""
    text = DOCUMENT.replace("kind: Spark", "kind: ScheduledSpark").replace(
        "spec:\n", 'spec:\n  schedule: "0 3 * * *"\n  template:\n'
    )
    head, _, rest = text.partition("  template:\n")
    Path("app.yaml").write_text(f"{head}  template:\n" + "".join(f"  {line}\n" for line in rest.splitlines()))
    result = act("apply", "app.yaml", "-q", *(word for text in settings for word in ("--set", text)))
    assert result.code == 0, result.err


def test_a_scheduled_application_runs_now(act: Act, kube: Kube) -> None:
    """As a firing: the CronJob owns it, with the CronJob's files."""
    scheduled(act)
    maps = kube.named("ConfigMap")
    new = act("run", "pi", "--arg", "x").out.strip()
    job = kube.one("Job", new)
    assert [owner["kind"] for owner in job["metadata"]["ownerReferences"]] == ["CronJob"]
    assert "suspend" not in job["spec"]
    assert kube.named("ConfigMap") == maps


def test_what_cannot_run_once_more(act: Act, kube: Kube) -> None:
    """One that has expired, one that runs forever, one that is not there (with the nearest name)."""
    applied(act, kube)
    assert "did you mean pi?" in act("run", "pii").err
    act("apply", "app.yaml", "--skip-preflight", "--set", "spec.run.expiresAt=2020-01-01T00:00:00Z")
    assert "expired at 2020-01-01T00:00:00Z" in act("run", "pi").err
    act("apply", "app.yaml", "--set", "metadata.name=stream", "--set", "spec.restartPolicy.type=Always")
    assert "stream is a Deployment, which runs forever" in act("run", "stream").err


# --- wait -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "code", "expected", "says"),
    [
        ("Complete", 0, 0, "succeeded after 30m00s"),
        ("Failed", 3, 3, "failed after 30m00s: the driver's exit code is 3; next: sparkgen status"),
        ("Failed", 0, 1, "failed after 30m00s: it has a reason"),
    ],
)
def test_waiting_takes_the_applications_exit_code(
    act: Act, kube: Kube, how: str, code: int, expected: int, says: str
) -> None:
    """0 when it succeeded, its own when it failed, 1 when it has none."""
    name = applied(act, kube)
    ended(kube, name, how, code)
    result = act("wait", "pi")
    assert (result.code, result.out) == (expected, "")
    assert f"{name} {says}" in result.err


def test_waiting_ends_with_the_cause_and_the_lines_that_matter(
    act: Act, kube: Kube, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `status` would say, so that nobody has to ask; the log's noise is left out."""
    name = applied(act, kube)
    log = (
        "26/11/22 00:00:01 INFO SparkContext: Running Spark version 3.5.8\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/app/etl.py", line 3, in <module>\n'
        "    day = rows[0]\n"
        "IndexError: list index out of range\n"
        "26/11/22 00:00:02 INFO ShutdownHookManager: Deleting directory /tmp/x\n"
    )
    monkeypatch.setattr(Cluster, "log", lambda *_args, **_more: log)
    ended(kube, name, "Failed", 1)
    lines = act("wait", "pi").err.splitlines()
    first = next(number for number, line in enumerate(lines) if "failed after" in line)
    assert lines[first + 1 :] == [
        "  reason: the program failed (IndexError: list index out of range): read its log: "
        "sparkgen logs pi -n analytics",
        "  the driver's log says:",
        "    Traceback (most recent call last):",
        '      File "/opt/app/etl.py", line 3, in <module>',
        "        day = rows[0]",
        "    IndexError: list index out of range",
    ]


def test_waiting_has_an_end(act: Act, kube: Kube) -> None:
    """After --timeout it is 124, and the run goes on."""
    name = applied(act, kube)
    result = act("wait", "pi", "--timeout", "1s")
    assert result.code == 124
    assert f"{name}: Pending\n" in result.err
    assert (
        f"{name} has not ended after 1s and is still running; to wait again: sparkgen wait pi --run {name}"
        in result.err
    )


def test_waiting_for_what_is_deleted_or_not_there(
    act: Act, kube: Kube, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1 when it goes before its end; an answer that does not come is asked for again."""
    name = applied(act, kube)
    kube.refuse["GET", f"{JOBS}/{name}"] = (503, "starting")
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        kube.refuse.clear()
        kube.objects.pop(f"{JOBS}/{name}", None)

    monkeypatch.setattr(wait.time, "sleep", nap)
    result = act("wait", "pi")
    assert result.code == 1
    assert "starting; retrying" in result.err
    assert f"{name} was deleted before it ended" in result.err
    assert naps == [0.2]


def test_ctrl_c_detaches(act: Act, kube: Kube, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 130, nothing is ended, and the way back is named."""
    name = applied(act, kube)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(wait, "_until_it_changes", interrupt)
    asked = len(kube.asked)
    result = act("wait", "pi")
    assert result.code == 130
    assert f"{name} is still running; to wait again: sparkgen wait pi --run {name} -n analytics" in result.err
    assert {line.split()[0] for line in kube.asked[asked:]} == {"GET"}
    for words in (("apply", "app.yaml", "--wait"), ("run", "pi", "--wait")):
        begun = act(*words)
        assert (begun.code, "is still running; to wait again: sparkgen wait pi --run " in begun.err) == (
            130,
            True,
        )
    assert len(kube.named("Job")) == 2
    assert not any("sparkgen.dev/killed" in str(kube.one("Job", job)) for job in kube.named("Job"))


# --- kill and delete --------------------------------------------------------------------------------------


def test_killing_leaves_a_failed_job(act: Act, kube: Kube) -> None:
    """A deadline that is over, with what it was before; an apply does not run it again."""
    name = applied(act, kube)
    refused = act("kill", "pi")
    assert (refused.code, "add --yes" in refused.err) == (2, True)
    result = act("kill", "pi", "--yes")
    assert (result.code, result.out) == (0, f"job.batch/{name} killed\n")
    job = kube.one("Job", name)
    assert job["spec"]["activeDeadlineSeconds"] == 1
    assert "sparkgen.dev/killed" in job["metadata"]["annotations"]
    ended(kube, name, "Failed", 143)
    assert act("kill", "pi", "--yes").err == f"no run of pi is running: {name} is Failed\n"
    assert f"{name} was killed" in act("wait", "pi").err
    assert f"job.batch/{name} unchanged (killed; " in act("apply", "app.yaml").out
    new = act("run", "pi").out.strip()
    assert "activeDeadlineSeconds" not in kube.one("Job", new)["spec"]


def test_a_job_that_is_killed_during_an_apply_stays_killed(act: Act, kube: Kube) -> None:
    """The apply has read it just before, and would have given it its old deadline."""
    name = applied(act, kube)
    (path,) = [path for path in kube.objects if path.endswith(f"/jobs/{name}")]
    kube.meanwhile[f"PATCH {path}"] = lambda: act("kill", "pi", "--yes")
    assert f"job.batch/{name} unchanged (killed; " in act("apply", "app.yaml").out
    job = kube.one("Job", name)
    assert job["spec"]["activeDeadlineSeconds"] == 1
    assert "sparkgen.dev/killed" in job["metadata"]["annotations"]


def test_a_job_whose_status_changes_during_an_apply_is_applied(act: Act, kube: Kube) -> None:
    """It is read again, and applied to what it is now."""
    name = applied(act, kube)
    (path,) = [path for path in kube.objects if path.endswith(f"/jobs/{name}")]
    changed = {**kube.objects[path], "status": {"active": 1}}
    kube.meanwhile[f"PATCH {path}"] = lambda: kube.put(path, changed)
    assert act("apply", "app.yaml").code == 0
    assert len([call for call in kube.asked if call == f"PATCH {path}"]) == 3


def test_a_streaming_application_is_stopped_until_it_is_applied(act: Act, kube: Kube) -> None:
    """It has no end to be given: no replicas, and no mark that would keep an apply from starting it."""
    always = ("apply", "app.yaml", "--set", "spec.restartPolicy.type=Always")
    act(*always)
    result = act("kill", "pi", "--yes")
    assert (result.code, result.out) == (0, "deployment.apps/pi killed\n")
    assert "the next apply starts it again" in result.err
    assert kube.one("Deployment", "pi")["spec"]["replicas"] == 0
    assert "deployment.apps/pi configured" in act(*always).out
    assert kube.one("Deployment", "pi")["spec"]["replicas"] == 1
    assert "pi is a Deployment, which never ends" in act("wait", "pi").err


SERVERS = {
    "SparkConnectServer": ("Connect server", "connect: {}"),
    "SparkNotebook": ("notebook", "notebook: {token: {name: ada-notebook, key: token}}"),
}


@pytest.mark.parametrize("kind", SERVERS)
def test_what_people_connect_to_is_no_run(act: Act, kind: str) -> None:
    """Every command names `sparkgen connect`: it opens a server, waits for it, and starts it again."""
    what, section = SERVERS[kind]
    Path("ada.yaml").write_text(
        f"{{apiVersion: sparkgen.dev/v1alpha1, kind: {kind}, metadata: {{name: ada}},\n"
        f"spec: {{sparkVersion: 4.0.1, image: docker.io/apache/spark:4.0.1-python3, {section}}}}}\n"
    )
    apply = ("apply", "ada.yaml", "--skip-preflight", "-n", "analytics")
    connect = "sparkgen connect ada -n analytics"
    assert act(*apply).err.endswith(f"next: {connect}   # waits until it is ready\n")
    assert act(*apply, "--set", "spec.suspend=true").err.endswith(
        f"ada is suspended; next: {connect} --start\n"
    )
    act(*apply)
    assert act("run", "ada").err == (
        f"sparkgen: ada is a {what}, which has no runs; next: sparkgen connect ada -n analytics "
        "(with --start, if it is stopped)\n"
    )
    assert act("wait", "ada").err.endswith(
        "which never ends; to wait until it is ready: sparkgen connect ada -n analytics\n"
    )
    assert act("kill", "ada", "-n", "analytics", "--yes").err.endswith(
        f"to keep it stopped, set spec.suspend: true in the document; next: {connect} --start\n"
    )


def test_of_several_runs_one_is_chosen(act: Act, kube: Kube) -> None:
    """Without --run it is refused, with their names."""
    old = applied(act, kube)
    new = act("run", "pi").out.strip()
    result = act("kill", "pi", "--yes")
    assert (result.code, result.out) == (2, "")
    assert f"several runs of pi are running: {new}, {old}; choose one with --run" in result.err
    assert act("kill", "pi", "--run", old, "--yes").out == f"job.batch/{old} killed\n"


def test_deleting_removes_all_of_it_and_nothing_else(act: Act, kube: Kube) -> None:
    """What starts pods goes first; another application's objects stay."""
    act("apply", "app.yaml", "-q", "--set", "metadata.name=other")
    others = dict(kube.objects)
    applied_now = act("apply", "app.yaml", "-o", "name").out.splitlines()
    listed = act("delete", "pi", "--dry-run")
    assert sorted(line.removesuffix(" (dry run)") for line in listed.out.splitlines()) == sorted(applied_now)
    result = act("delete", "pi", "--yes")
    assert result.code == 0
    assert result.out.startswith("job.batch/pi-")
    assert kube.objects == others


def test_what_gets_a_deleted_name_meanwhile_stays(act: Act, kube: Kube) -> None:
    """The user was asked about the objects that were there, and not about a later one."""
    name = applied(act, kube)

    def replace() -> None:
        kube.put(f"{JOBS}/{name}", kube.objects.pop(f"{JOBS}/{name}"))

    kube.meanwhile[f"DELETE {JOBS}/{name}"] = replace
    result = act("delete", "pi", "--yes")
    assert (result.code, result.out) == (2, "")
    assert f"cannot delete Job {name} in analytics: the UID in the precondition" in result.err
    assert "Another object has this name now: run the command again" in result.err
    assert kube.named("Job") == [name]


def test_several_applications_are_deleted_at_once(act: Act, kube: Kube) -> None:
    """Confirmed once, for all; one JSON for all; a name twice counts once."""
    before = dict(kube.objects)
    for name in ("pi", "etl", "web"):
        act("apply", "app.yaml", "-q", "--set", f"metadata.name={name}")
    refused = act("delete", "pi", "etl", "pi")
    number = len(act("delete", "pi", "etl", "--dry-run").out.splitlines())
    assert refused.err == (
        f"sparkgen: delete these {number} objects of pi and etl in analytics (dev)? Cannot ask without a "
        "terminal; add --yes\n"
    )
    result = act("delete", "pi", "etl", "--yes", "-o", "json")
    assert (result.code, len(json.loads(result.out)["items"])) == (0, number)
    assert act("delete", "web", "--yes").code == 0
    assert kube.objects == before


def test_nothing_is_deleted_if_one_of_several_is_not_there(act: Act, kube: Kube) -> None:
    """All problems at once."""
    applied(act, kube)
    before = dict(kube.objects)
    result = act("delete", "pi", "etl", "pie", "--yes")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "sparkgen: there is no application etl in analytics: there is pi\n"
        "sparkgen: there is no application pie in analytics: did you mean pi?\n"
    )
    assert kube.objects == before


CUSTOM = {
    "/apis/gateway.networking.k8s.io/v1": "HTTPRoute",
    "/apis/scheduling.volcano.sh/v1beta1": "PodGroup",
}
"""Kinds that many clusters do not have, and that the roles `admin` and `edit` do not include."""


@pytest.mark.parametrize(("command", "code"), [(("diff", "app.yaml"), 0), (("delete", "pi", "--dry-run"), 0)])
def test_a_user_without_rights_on_kinds_that_the_cluster_lacks(
    act: Act, kube: Kube, command: tuple[str, ...], code: int
) -> None:
    """The API server checks rights before it looks for the kind, so both answers are 403."""
    applied(act, kube)
    for group in CUSTOM:
        kube.refuse["GET", f"{group}/namespaces"] = (
            403,
            'x is forbidden: User "me" cannot list resource "x"',
        )
    result = act(*command)
    assert result.code == code, result.err
    assert "forbidden" not in result.err
    kube.kinds = {group: [kind] for group, kind in CUSTOM.items()}
    result = act(*command)
    assert result.code == code, result.err
    assert result.err.count("not checked: cannot list") == 2, result.err


def test_a_diff_of_a_new_application_by_a_user_of_a_namespace(act: Act, kube: Kube) -> None:
    """The server cannot look at the permissions of a Role that only a dry run has made."""
    path = "/apis/rbac.authorization.k8s.io/v1/namespaces/analytics/rolebindings"
    kube.refuse["PATCH", path] = (404, 'rolebindings.rbac.authorization.k8s.io "pi" not found')
    result = act("diff", "app.yaml", "--brief")
    assert result.code == 1, result.err
    assert "RoleBinding" in act("diff", "app.yaml").out


def test_a_diff_needs_the_right_to_list_what_the_document_has(act: Act, kube: Kube) -> None:
    """A difference that could not be seen would look like none."""
    applied(act, kube)
    kube.refuse["GET", JOBS] = (403, 'jobs.batch is forbidden: User "me" cannot list resource "jobs"')
    kube.kinds = {"/apis/batch/v1": ["Job", "CronJob"]}
    result = act("diff", "app.yaml")
    assert result.code == 2
    assert "cannot list Jobs in analytics" in result.err


def test_deleting_leaves_a_server_with_the_label_of_the_application(act: Act, kube: Kube) -> None:
    """Labels of documents reach the objects of a history server, but its component is its own."""
    applied(act, kube)
    labels = {
        "sparkgen.dev/application": "pi",
        "app.kubernetes.io/managed-by": "sparkgen",
        "app.kubernetes.io/component": "history-server",
        "sparkgen.dev/history-server": "logs",
    }
    server = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "logs-conf", "labels": labels}}
    kube.put(f"{CONFIG_MAPS}/logs-conf", server)
    result = act("delete", "pi", "--yes")
    assert (result.code, "logs-conf" in result.out) == (0, False)
    assert kube.named("ConfigMap") == ["logs-conf"]


def test_what_is_killed_and_deleted_is_written_as_asked(act: Act, kube: Kube) -> None:
    """Names alone for a script, the Job with its new deadline, the objects that there were."""
    name = applied(act, kube)
    job = f"job.batch/{name}"
    killed = act("kill", "pi", "--yes", "-o", "json")
    assert json.loads(killed.out)["spec"]["activeDeadlineSeconds"] == 1
    assert act("kill", "pi", "--yes", "-o", "name").out == f"{job}\n"
    listed = act("delete", "pi", "--dry-run", "-o", "name").out.splitlines()
    assert listed[0] == job
    items = reading.load(act("delete", "pi", "--dry-run", "-o", "yaml").out)["items"]
    assert [item["kind"] for item in items][:1] == ["Job"]
    assert act("delete", "pi", "--yes", "-o", "name").out.splitlines() == listed
    assert kube.named("Job") == []


def test_deleting_what_a_controller_manages_warns(act: Act, kube: Kube) -> None:
    """It would come back."""
    applied(act, kube)
    tuning = kube.one("ConfigMap", "pi-tuning")
    tuning["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "team-pi:x"}
    result = act("delete", "pi", "--yes")
    assert "warning: Argo CD (application team-pi) manages pi, and will create it again" in result.err
    assert result.code == 0
