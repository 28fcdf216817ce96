"""The objects of the doctor's application, and those of doctors that were killed."""

from __future__ import annotations

from typing import Any

from sparkgen import contract
from sparkgen.doctor import probe
from sparkgen.objects import Object
from sparkgen.preflight import Wanted
from sparkgen.preflight.security import violations

OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}


def job_of(application: Wanted) -> Object:
    """Its Job."""
    return dict(next(item for item in application.objects if item["kind"] == "Job"))


def test_the_job_waits_and_goes_by_itself(application: Wanted) -> None:
    """Suspended until all is there; it has a deadline, and a time to live."""
    spec = job_of(application)["spec"]
    limits = (spec["suspend"], spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"])
    assert limits == (True, 240, 60)


def test_its_pods_are_allowed_everywhere(application: Wanted) -> None:
    """Where a namespace is restricted, the doctor still finds out the rest."""
    assert [*violations(application.document, "restricted")] == []


def test_the_stranger_is_no_part_of_the_application(application: Wanted) -> None:
    """A policy that selects the application's pods must not let it in; it is as confined as the driver."""
    pod = probe.stranger(job_of(application), "10.1.2.3", OWNER)
    labels = pod["metadata"]["labels"]
    policy = next(item for item in application.objects if item["kind"] == "NetworkPolicy")
    [allowed] = policy["spec"]["ingress"][0]["from"]
    assert not allowed["podSelector"]["matchLabels"].items() <= labels.items()
    [container] = pod["spec"]["containers"]
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert "7078" in container["command"][2]
    compile(container["command"][2], "stranger", "exec")
    assert pod["metadata"]["ownerReferences"] == [OWNER]


def doctors_job(uid: str, created: str, beat: str = "") -> dict[str, Any]:
    """The Job of a doctor."""
    annotations = {probe.BEAT: beat} if beat else {}
    metadata = {"name": f"doctor-{uid}-1a", "uid": uid, "creationTimestamp": f"2026-11-27T{created}Z"}
    template = {"metadata": {"labels": {"sparkgen.dev/doctor": "true"}}}
    spec = {"activeDeadlineSeconds": 240, "template": template}
    return {"metadata": {**metadata, "annotations": annotations}, "spec": spec}


def test_jobs_of_killed_doctors_are_found() -> None:
    """One that is past its deadline at once, one that no longer beats later; never one that lives."""
    own = doctors_job("own", "10:10:00", "5")
    old, dead = doctors_job("old", "10:00:00"), doctors_job("dead", "10:09:00", "3")
    alive = doctors_job("alive", "10:09:30", "7")
    jobs = [own, old, dead, alive]
    assert probe.abandoned(jobs, own, {}) == [old]
    assert len(probe.abandoned([old] * 1_000, own, {})) == probe.MOST_AT_ONCE
    before = {"own": "", "dead": "3", "alive": "5"}
    assert probe.abandoned(jobs, own, before) == [old, dead]


def test_an_application_that_calls_itself_a_doctor_is_none(application: Wanted) -> None:
    """A document may set the component as a label: its Job is not removed, however old it is."""
    own, job = doctors_job("own", "10:10:00"), job_of(application)
    born = {"uid": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    metadata = {**job["metadata"], **born}
    labels = {**metadata["labels"], contract.LABEL_COMPONENT: probe.DOCTOR}
    theirs = {**job, "metadata": {**metadata, "labels": labels}}
    assert probe.abandoned([theirs], own, {}) == []
    marked = probe.marked(job)
    assert probe.abandoned([{**marked, "metadata": {**marked["metadata"], **born}}], own, {}) != []


def test_a_deadline_of_ages_ends_no_doctor() -> None:
    """Whoever may create Jobs can write any number there."""
    own, endless = doctors_job("own", "10:10:00"), doctors_job("endless", "10:00:00")
    endless["spec"]["activeDeadlineSeconds"] = 2**62
    assert probe.abandoned([endless], own, {}) == []
