"""`sparkgen doctor` against a small API server: what it prints, and that it leaves nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.cli.doctor import DoctorOptions, document_of
from sparkgen.cluster import Place, connect
from sparkgen.doctor import probe
from sparkgen.doctor.gather import NamespaceFacts
from sparkgen.doctor.steps import STEPS
from sparkgen.doctor.values import Row, Verdict
from sparkgen.objects import Object
from sparkgen.usecases.apply import wanted
from sparkgen.usecases.doctor import Clock, examine
from sparkgen.usecases.trial import LOOKS_PER_DEATH
from sparkgen.usecases.wait import TimeLimit

from .conftest import Cli
from .kube import Kube

IMAGE = ("--runtime-image", "registry.example.com/sparkgen-runtime:1")
JOBS = "/apis/batch/v1/namespaces/analytics/jobs"
PODS = "/api/v1/namespaces/analytics/pods"
NAME = "doctor-ab12c"
EXECUTOR = {contract.LABEL_ROLE: "executor", contract.LABEL_EXECUTOR_ID: "1"}
GOOD = [step.name for step in STEPS if step.name not in ("images", "network-policy")]


@dataclass
class World:
    """What happens in the cluster while the doctor waits: one step for each pause, and a second passes.

    `lines`: of the driver's log, a few at each pause; `stranger`: the line of the pod that is no part of it.
    """

    kube: Kube
    lines: list[str] = field(default_factory=list)
    stranger: str = '{"api": true, "driver": false}'
    seconds: float = 0.0
    also: Callable[[int], None] = lambda _: None

    def clock(self) -> Clock:
        """The time, as it passes."""
        return Clock(lambda: self.seconds, self.pause)

    def pause(self, seconds: float) -> None:
        """One step."""
        self.seconds += seconds
        self.also(int(self.seconds))
        jobs = [job for job in self.kube.objects.values() if job["kind"] == "Job"]
        for job in jobs:
            if job["metadata"]["name"].startswith(NAME) and not job["spec"].get("suspend"):
                self._drive(job)

    def _drive(self, job: Object) -> None:
        labels = job["spec"]["template"]["metadata"]["labels"]
        state = {"running": {"startedAt": "2026-11-22T00:10:00Z"}}
        status = {
            "phase": "Running",
            "podIP": "10.1.2.3",
            "initContainerStatuses": [{"name": contract.ALLOCATOR_CONTAINER, "state": state}],
            "containerStatuses": [{"name": contract.DRIVER_CONTAINER, "state": state}],
        }
        pod: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "driver",
                "labels": labels,
                "ownerReferences": [{"kind": "Job", "uid": job["metadata"]["uid"], "controller": True}],
            },
            "status": status,
        }
        driver = self.kube.put(f"{PODS}/driver", pod)
        owner = {"kind": "Pod", "uid": driver["metadata"]["uid"], "controller": True}
        metadata = {"name": "exec-1", "labels": {**labels, **EXECUTOR}, "ownerReferences": [owner]}
        if self.seconds == 1:
            executor = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": metadata,
                "status": {"phase": "Running"},
            }
            self.kube.put(f"{PODS}/exec-1", executor)
        shown = "\n".join(self.lines[: int(self.seconds)])
        self.kube.logs[f"{PODS}/driver/log"] = f"{shown}\n"
        for path, item in list(self.kube.objects.items()):
            if path.endswith("-stranger"):
                self.kube.put(path, {**item, "status": {"phase": "Succeeded"}})
                self.kube.logs[f"{path}/log"] = f"sparkgen-doctor {self.stranger}\n"


def line(step: str, **facts: Any) -> str:
    """A line of the program."""
    return f"sparkgen-doctor {json.dumps({'step': step, **facts})}"


def tried(
    kube: Kube, folder: Path, world: World, seconds: int = 180, *, conformance: bool = False
) -> dict[str, Row]:
    """The rows of a doctor in that world."""
    kube.collects = True
    options = DoctorOptions(
        image="",
        spark_version="",
        runtime_image=IMAGE[1],
        values=(),
        sets=(),
        set_strings=(),
        conformance=conformance,
        timeout="3m",
        output="text",
    )
    document = document_of(options, seconds, NAME)
    assert document is not None
    cluster = connect(Place(kube.kubeconfig(folder)))
    now = datetime.fromisoformat("2026-11-22T00:00:00+00:00")
    rows: list[Row] = []
    facts = NamespaceFacts(cluster, wanted(document, "analytics"), now)
    examine(facts, TimeLimit("3m", seconds), rows.append, world.clock(), conformance=conformance)
    return {row.check: row for row in rows}


def left(kube: Kube) -> list[str]:
    """What is in the namespace beside itself."""
    return [path for path, item in kube.objects.items() if item["kind"] != "Namespace"]


def good() -> list[str]:
    """The lines of a program for which all works, and which names an executor to delete."""
    lines = [line(step, ok=True, found="fine") for step in GOOD]
    lines.insert(GOOD.index("moved"), line("moved", delete="1"))
    return lines


def test_a_namespace_in_which_all_works(kube: Kube, tmp_path: Path) -> None:
    """A row for each check; the executor that the program names is deleted once; nothing is left."""
    rows = tried(kube, tmp_path, World(kube, good()))
    verdicts = {row.check: row.verdict for row in rows.values() if row.verdict is not Verdict.WORKS}
    assert verdicts == {"storage": Verdict.WARNS}
    assert list(rows)[-len(STEPS) - 1 :] == [*(step.name for step in STEPS), "cleanup"]
    assert kube.asked.count(f"DELETE {PODS}/exec-1") == 1
    assert left(kube) == []


def test_all_belongs_to_the_job_before_it_starts(kube: Kube, tmp_path: Path) -> None:
    """A doctor that is killed leaves nothing that does not go with its Job."""
    seen: list[Object] = []

    def look(second: int) -> None:
        if second == 1:
            seen.extend(item for item in kube.objects.values() if item["kind"] != "Namespace")

    tried(kube, tmp_path, World(kube, good(), also=look))
    [job] = [item for item in seen if item["kind"] == "Job"]
    owners = [item["metadata"].get("ownerReferences") for item in seen if item["kind"] != "Job"]
    assert {one["uid"] for some in owners for one in some} == {job["metadata"]["uid"]}
    assert {"Role", "RoleBinding", "ServiceAccount", "ConfigMap", "NetworkPolicy"} <= {
        i["kind"] for i in seen
    }
    assert job["spec"]["suspend"] is False


def test_what_does_not_come_in_time_is_a_row(kube: Kube, tmp_path: Path) -> None:
    """With the reason; what needs it is not tried, and nothing is left."""
    rows = tried(kube, tmp_path, World(kube, good()[:1]))
    assert rows["dns"].verdict is Verdict.WORKS
    assert (rows["executors"].verdict, rows["executors"].found[:19]) == (Verdict.FAILS, "not known within 3m")
    assert rows["pi"].found == "not tried, because of: executors"
    assert rows["cleanup"].verdict is Verdict.WORKS
    assert left(kube) == []


def test_conformance(kube: Kube, tmp_path: Path) -> None:
    """The RoleBinding comes when the allocator has said what it lacks; the disk's row is the last."""
    bound: list[bool] = []

    def look(_: int) -> None:
        bound.append(bool(kube.named("RoleBinding")))

    world = World(kube, ["", "[Forbidden] cannot create pods", *good(), line("disk", ok=True)], also=look)
    rows = tried(kube, tmp_path, world, conformance=True)
    assert bound[:4] == [False, False, True, True]
    assert rows["late-binding"].verdict is Verdict.WORKS
    assert list(rows)[-2:] == ["disk", "cleanup"]
    assert left(kube) == []


def test_ctrl_c(kube: Kube, tmp_path: Path) -> None:
    """At any moment: all is removed."""

    def interrupt(second: int) -> None:
        if second == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tried(kube, tmp_path, World(kube, good(), also=interrupt))
    assert left(kube) == []


def test_a_lost_connection_passes(kube: Kube, tmp_path: Path) -> None:
    """The next look has the results."""

    def lose(second: int) -> None:
        refuse = {("GET", PODS): (503, "the server is away")}
        kube.refuse = refuse if second in (2, 3, 4) else {}

    rows = tried(kube, tmp_path, World(kube, good(), also=lose))
    assert rows["replaced"].verdict is Verdict.WORKS


def test_what_cannot_be_removed_is_said(kube: Kube, tmp_path: Path) -> None:
    """And that it goes by itself."""
    kube.refuse = {("DELETE", JOBS): (500, "etcd is away")}
    row = tried(kube, tmp_path, World(kube, good()))["cleanup"]
    assert row.verdict is Verdict.WARNS
    assert "etcd is away" in row.found
    assert row.meaning.startswith("it ends and goes by itself")


def other_doctor(name: str, created: str) -> Object:
    """The Job of another doctor."""
    labels = {contract.LABEL_COMPONENT: probe.DOCTOR, contract.LABEL_MANAGED_BY: "sparkgen"}
    metadata = {"name": name, "labels": labels, "namespace": "analytics", "uid": name}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**metadata, "creationTimestamp": created, "resourceVersion": "1"},
        "spec": {
            "activeDeadlineSeconds": 240,
            "template": {"metadata": {"labels": {"sparkgen.dev/doctor": "true"}}},
        },
    }


def test_doctors_that_were_killed_are_removed_and_living_ones_are_not(kube: Kube, tmp_path: Path) -> None:
    """One is past its deadline, one no longer beats, one does."""
    names = {
        "old-1": "2026-11-21T20:00:00Z",
        "dead-1": "2026-11-22T00:00:00Z",
        "alive-1": "2026-11-22T00:00:00Z",
    }
    for name, created in names.items():
        kube.objects[f"{JOBS}/doctor-{name}"] = other_doctor(f"doctor-{name}", created)

    def beat(second: int) -> None:
        job = kube.objects[f"{JOBS}/doctor-alive-1"]
        metadata = {**job["metadata"], "annotations": {probe.BEAT: str(second)}}
        kube.objects[f"{JOBS}/doctor-alive-1"] = {**job, "metadata": metadata}

    row = tried(kube, tmp_path, World(kube, [*[""] * LOOKS_PER_DEATH, *good()], also=beat))["cleanup"]
    assert kube.named("Job") == ["doctor-alive-1"]
    assert row.found.endswith("; 1 Job of a doctor that was killed removed")


def test_without_rights_nothing_is_started(cli: Cli, kube: Kube, tmp_path: Path) -> None:
    """Each row says why; the request has the permissions; the exit code is 1."""
    kube.denied = {"create roles", "create rolebindings"}
    result = cli("doctor", *IMAGE, "--kubeconfig", kube.kubeconfig(tmp_path))
    assert result.code == 1
    assert "✗ rights           you lack permissions for apply: create roles.rbac" in result.out
    assert "- pi               not tried, because of: rights\n" in result.out
    assert "Please grant me in analytics: create roles.rbac.authorization.k8s.io; create role" in result.out
    assert not [
        asked for asked in kube.asked if "POST" in asked and "review" not in asked and "dry" not in asked
    ]


def test_a_quota_that_wants_limits(cli: Cli, kube: Kube, tmp_path: Path) -> None:
    """The API server refuses the dry run of a pod: its words, and no application is started."""
    said = 'pods "doctor" is forbidden: failed quota: team: must specify limits.cpu for: driver'
    kube.refuse = {("POST", PODS): (403, said)}
    result = cli("doctor", *IMAGE, "--kubeconfig", kube.kubeconfig(tmp_path))
    assert result.code == 1
    assert "✗ admission        the driver's pod is refused: pods" in result.out
    assert "must specify limits.cpu" in result.out
    assert "- executors        not tried, because of: admission\n" in result.out
    assert kube.named("Job") == []


def test_json_for_a_ticket(cli: Cli, kube: Kube, tmp_path: Path) -> None:
    """The same rows and text; nothing of the kubeconfig."""
    kube.objects.clear()
    result = cli("doctor", *IMAGE, "--kubeconfig", kube.kubeconfig(tmp_path), "-o", "json")
    value = json.loads(result.out)
    rows = {row["check"]: row["verdict"] for row in value["checks"]}
    assert (result.code, value["namespace"], rows["namespace"]) == (1, "analytics", "fails")
    assert rows["cleanup" if "cleanup" in rows else "pi"] == "skipped"
    assert "Please create analytics." in value["request"]
    assert "127.0.0.1" not in result.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--timeout", "10s"), "--timeout 10s must be between 1m and 1h"),
        (("--kubeconfig", "none"), "--kubeconfig none: there is no such file"),
    ],
)
def test_wrong_usage(cli: Cli, options: tuple[str, ...], message: str) -> None:
    """Exit code 2, and one line."""
    result = cli("doctor", *IMAGE, *options)
    assert (result.code, result.err) == (2, f"sparkgen: {message}\n")


def test_an_overlay_that_breaks_the_document(cli: Cli, kube: Kube, tmp_path: Path) -> None:
    """Its problems are printed, and nothing is asked."""
    options = ("--set", "spec.executor.memory=2Gi", "--kubeconfig", kube.kubeconfig(tmp_path))
    result = cli("doctor", *IMAGE, *options)
    assert (result.code, kube.asked) == (1, [])
    assert "error[SG101] spec.executor.memory" in result.err
