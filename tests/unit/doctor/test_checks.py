"""What the doctor decides on what it has read: a row for each check, and the text for a ticket."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen import contract
from sparkgen.doctor import rights
from sparkgen.doctor.checks import CHECKS
from sparkgen.doctor.values import Row, Verdict, request, skipped
from sparkgen.preflight import ClusterFacts, Unknown, Wanted
from sparkgen.preflight.rights import Right

DECIDE = {check.name: check.decide for check in CHECKS}
NAMESPACE = {"metadata": {"name": "analytics"}}


def wanted(image: str = contract.RUNTIME_IMAGE) -> Wanted:
    """An application of one driver, whose only containers are Spark's and the allocator's."""
    containers = [
        {"name": "spark-kubernetes-driver", "image": "spark:1"},
        {"name": "allocator", "image": image},
    ]
    template = {"metadata": {"labels": {contract.LABEL_RUN: "x"}}, "spec": {"containers": containers}}
    job = {"kind": "Job", "metadata": {"name": "x"}, "spec": {"template": template}}
    document = {"kind": "SparkApplication", "spec": {}}
    return Wanted("x", "analytics", (job,), document)


def test_checks_need_earlier_checks_only() -> None:
    """So each row can be printed as soon as it is known."""
    known: set[str] = set()
    for check in CHECKS:
        assert set(check.needs) <= known, check.name
        known.add(check.name)


def test_every_row_has_the_name_of_its_check() -> None:
    """The rows that others need are found by name."""
    facts = ClusterFacts("v1.34.1", NAMESPACE)
    gathered: dict[str, Any] = {
        "kubernetes": "v1.34.1",
        "rights": ("analytics", []),
        "limit-ranges": [],
        "storage": ([], []),
        "runtime-image": wanted(),
    }
    rows = [DECIDE[name](gathered.get(name, (wanted(), facts))) for name in DECIDE]
    assert [row.check for row in rows] == list(DECIDE)


@pytest.mark.parametrize(
    ("version", "verdict"),
    [("v1.36.3", Verdict.WORKS), ("v1.29.9+k3s1", Verdict.FAILS), ("odd", Verdict.WORKS)],
)
def test_versions(version: str, verdict: Verdict) -> None:
    """The oldest that works is the preflight's."""
    assert DECIDE["kubernetes"](version).verdict is verdict


def test_missing_rights_are_listed_by_command() -> None:
    """And once in the request, whatever commands need them."""
    row = DECIDE["rights"](("analytics", [Right("get", "pods", part="log"), Right("create", "secrets")]))
    assert row.verdict is Verdict.FAILS
    assert row.found == "you lack permissions for apply: create secrets; logs: get pods/log"
    assert row.ask.startswith("grant me in analytics: create secrets; get pods/log. ")


def test_an_application_can_run_without_the_right_to_read_logs() -> None:
    """Then it is only a warning."""
    row = DECIDE["rights"](("analytics", [Right("get", "pods", part="log")]))
    assert (row.verdict, row.meaning) == (Verdict.WARNS, "sparkgen logs will be refused")


def test_rights_are_written_by_resource() -> None:
    """In the order of the table."""
    some = [Right("get", "jobs", "batch"), Right("create", "pods"), Right("patch", "jobs", "batch")]
    assert rights.listed(some) == "get, patch jobs.batch; create pods"


def test_pod_security_is_named(application: Wanted) -> None:
    """Also where nothing is wrong with it."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    facts = ClusterFacts("v1.34.1", {"metadata": {"name": "analytics", "labels": labels}})
    row = DECIDE["pod-security"]((application, facts))
    assert row.found.startswith('the namespace enforces "restricted"; ')


def test_a_namespace_that_does_not_exist() -> None:
    """It fails, and so does nothing else: the other checks need it."""
    rows = {"namespace": DECIDE["namespace"]((wanted(), ClusterFacts("v1.34.1", None)))}
    assert rows["namespace"].verdict is Verdict.FAILS
    assert rows["namespace"].ask == "create analytics"
    needing = [skipped(check.name, check.needs, rows) for check in CHECKS if "namespace" in check.needs]
    assert {row.found for row in needing if row} == {"not tried, because of: namespace"}


def test_what_may_not_be_read_is_unknown_and_stops_nothing() -> None:
    """Few users may read nodes."""
    facts = ClusterFacts("v1.34.1", NAMESPACE, quotas=Unknown("you may not"), nodes=Unknown("you may not"))
    row = DECIDE["quota"]((wanted(), facts))
    assert (row.verdict, row.ask) == (Verdict.UNKNOWN, "")
    unread = ClusterFacts("v1.34.1", Unknown("you may not"), nodes=Unknown("you may not"))
    unknown = [name for name in ("nodes", "pod-security") if _says_unknown(name, unread)]
    assert unknown == ["nodes", "pod-security"]


def _says_unknown(name: str, facts: ClusterFacts) -> bool:
    return DECIDE[name]((wanted(), facts)).verdict is Verdict.UNKNOWN


def test_the_images_are_named() -> None:
    """Whether a node can pull them, the application's pods show."""
    row = DECIDE["runtime-image"](wanted("registry/sparkgen-runtime:1"))
    assert (row.verdict, row.found) == (Verdict.WORKS, "spark:1, registry/sparkgen-runtime:1")


def test_storage() -> None:
    """A default class works; without one, documents must name one."""
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    classes = [{"metadata": {"name": "slow"}}, {"metadata": {"name": "fast", "annotations": default}}]
    claims = [{"metadata": {"name": "data"}, "status": {"phase": "Pending"}}]
    row = DECIDE["storage"]((classes, claims))
    assert (row.verdict, row.found) == (
        Verdict.WORKS,
        "the default StorageClass is fast; 1 claim; not bound: data",
    )
    assert DECIDE["storage"]((classes[:1], [])).verdict is Verdict.WARNS


def test_limit_ranges_are_named() -> None:
    """The dry run of pods says whether they refuse one."""
    limit = {"type": "Container", "max": {"memory": "1Gi"}, "min": {"cpu": "10m"}}
    row = DECIDE["limit-ranges"]([{"metadata": {"name": "l"}, "spec": {"limits": [limit]}}])
    assert row.found == "min cpu 10m per Container, max memory 1Gi per Container"


def test_the_request_lists_what_fails_and_what_warns() -> None:
    """Numbered; what cannot be known, or was not tried, asks for nothing."""
    rows = [
        Row("quota", Verdict.FAILS, "no room", "", "raise the quota"),
        Row("nodes", Verdict.UNKNOWN, "you may not", "", "add a node"),
        Row("network-policy", Verdict.WARNS, "not enforced", "", "use another plugin"),
    ]
    assert request(rows, "analytics", "v1.34.1") == (
        "We want to run Apache Spark with sparkgen in the namespace analytics (Kubernetes v1.34.1). "
        "`sparkgen doctor` found:\n\n"
        "1. quota: no room.\n   Please raise the quota.\n\n"
        "2. network policy: not enforced.\n   Please use another plugin.\n"
    )
    assert request(rows[1:2], "analytics", "") == ""
