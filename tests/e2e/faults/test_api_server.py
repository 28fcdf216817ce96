"""The API server is away, refuses, or is slow: the application waits, says why, and goes on."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, datetime

import pytest
import yaml
from admission import webhook
from deployed import GO, Deployed, allow_pods, deploy, document, leaving, wait_until
from places import Nodes
from recorder import recorded

from cluster import answers, faults
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from sparkgen import contract
from sparkgen.codes import Code
from sparkgen.runtime.allocator.report.log_form import LogEvent
from sparkgen.runtime.kubernetes.transport import READ_TIMEOUT

OLD, NEW = TESTED_VERSIONS
LATE = 60.0
"""Seconds that a RoleBinding comes after the allocator was first refused."""


def verbs(cluster: Cluster, namespace: str, account: str, since: datetime | None = None) -> Counter[str]:
    """How often an allocator asked for what: "create pods 201" and the like."""
    calls = cluster.calls(namespace, account, since)
    return Counter(f"{call.verb} {call.resource} {call.code}" for call in calls)


def registered(application: Deployed, count: int, seconds: float = 150) -> None:
    """Wait until Spark has so many executors, of as many that are wanted."""
    wait_until(
        lambda: (count, count) in application.registered(),
        seconds,
        f"{count} executors are registered",
        application.story,
    )


def told(application: Deployed, reason: str, words: str) -> bool:
    """Whether an Event on the driver's pod says it."""
    return any(event["reason"] == reason and words in event["message"] for event in application.events())


def coded(application: Deployed, reason: str, code: Code) -> bool:
    """Whether an Event on the driver's pod has this code."""
    events = [event["metadata"] for event in application.events() if event["reason"] == reason]
    return any(
        json.loads(one["annotations"][contract.ANNOTATION_HINDRANCE])["code"] == code for one in events
    )


@pytest.mark.parametrize("seconds", [30, pytest.param(300, marks=pytest.mark.full)])
def test_the_api_server_is_away(cluster: Cluster, restricted: str, seconds: int) -> None:
    """It crashes while a job shuffles, and an executor dies meanwhile: the job goes on, and we do later."""
    with recorded(cluster, restricted) as record:
        application = deploy(cluster, restricted, document("away", NEW, "shuffle.py", "0", "0", GO))
        registered(application, 2)
        victim = application.executors("Running")[0]
        with faults.away("kube-apiserver"):
            began, killed = time.monotonic(), datetime.now(UTC)
            faults.kill_container(victim, "spark-kubernetes-executor")
            time.sleep(max(0.0, seconds - (time.monotonic() - began)))
        back = datetime.now(UTC)
        wait_until(
            lambda: len(record.uids("executor")) == 3 and len(application.executors("Running")) == 2,
            90,
            "the one that died is replaced",
            application.story,
        )
        application.touch(GO)
        assert application.wait() == "Complete", application.story()
    assert "rounds: (99500, 99700, 99900, 100100, 100300)" in application.logs()
    assert record.most_at_once("driver") == 1
    assert len(record.uids("executor")) == 3, "two that were wanted, and one for the one that died"
    later = verbs(cluster, restricted, "away", back)
    # The allocator may be served again before the server is ready for everybody.
    assert verbs(cluster, restricted, "away", killed)["create pods 201"] == 1
    assert sum(count for verb, count in later.items() if verb.startswith("list")) <= 2
    assert sum(count for verb, count in later.items() if verb.startswith("watch")) <= 5
    (allocator,) = application.driver()["status"]["initContainerStatuses"][1:]
    assert (allocator["name"], allocator["restartCount"]) == ("allocator", 0)


def test_a_full_quota_is_told_and_its_end_used(cluster: Cluster, restricted: str) -> None:
    """Room for one of three executors: the reason is told, few tries are made, and then all three run."""
    allow_pods(cluster, restricted, 2)
    wanted = document("quota", OLD, "shuffle.py", "60", "0", executor={"instances": 3})
    application = deploy(cluster, restricted, wanted)
    wait_until(application.has_driver, 60, "there is a driver")
    wait_until(
        lambda: coded(application, "ExecutorsRefused", Code.QUOTA_EXCEEDED),
        60,
        "the quota is told as an Event",
        application.story,
    )
    wait_until(lambda: (1, 3) in application.registered(), 90, "one works alone", application.story)
    refused = [
        call for call in cluster.calls(restricted, "quota") if (call.verb, call.code) == ("create", 403)
    ]
    lasted = (datetime.now(UTC) - refused[0].time).total_seconds()
    # Pauses grow from 1 s, so that n tries take more than 2^(n-2) s; the first round may have three at once.
    assert 2 ** max(0, len(refused) - 5) <= lasted + 1, f"{len(refused)} refused tries within {lasted:.0f} s"
    hindrances = [each.code for entry in application.decisions() for each in entry.hindrances]
    assert Code.QUOTA_EXCEEDED in hindrances
    cluster.kubectl("patch", "quota", "few", "-n", restricted, "-p", '{"spec": {"hard": {"pods": "9"}}}')
    registered(application, 3)
    assert application.wait() == "Complete", application.story()
    assert "rounds: (99500, 99700, 99900, 100100, 100300)" in application.logs()


@pytest.mark.full
def test_a_webhook_that_denies_is_told_and_its_end_used(cluster: Cluster, restricted: str) -> None:
    """Every executor is denied for a while: the webhook's words are told, and the job ends well after it."""
    with answers.webhooks() as url, webhook(cluster, restricted, "Validating", f"{url}/deny"):
        application = deploy(cluster, restricted, document("denied", NEW, "shuffle.py", "1", "0"))
        wait_until(application.has_driver, 60, "there is a driver")
        wait_until(
            lambda: told(application, "ExecutorsRefused", answers.DENIAL),
            60,
            "the denial is told as an Event",
            application.story,
        )
        wait_until(
            lambda: verbs(cluster, restricted, "denied")["create pods 403"] >= 4,
            60,
            "it was tried several times",
        )
        assert not application.executors()
    assert application.wait() == "Complete", application.story()
    assert coded(application, "ExecutorsRefused", Code.WEBHOOK_DENIED)
    assert verbs(cluster, restricted, "denied")["create pods 201"] == 2


@pytest.mark.full
def test_a_policy_that_denies_ends_the_application(cluster: Cluster, namespace: str, images: None) -> None:
    """A ValidatingAdmissionPolicy does not change its mind: with nothing running the application fails so."""
    name = f"{namespace}-none"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "objectSelector": {"matchLabels": {"spark-role": "executor"}},
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                    }
                ],
            },
            "validations": [{"expression": "false", "message": "no executors in this namespace"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    cluster.apply(policy, binding)
    try:
        pod = json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "try", "namespace": namespace, "labels": {"spark-role": "executor"}},
                "spec": {"containers": [{"name": "main", "image": "none"}]},
            }
        )
        wait_until(
            lambda: (
                "no executors in this namespace"
                in cluster.try_kubectl("create", "--dry-run=server", "-f", "-", input_text=pod).stderr
            ),
            30,
            "the policy is in force",
        )
        application = deploy(cluster, namespace, document("policy", OLD, "shuffle.py", "1", "0"))
        assert application.wait() == "Failed"
    finally:
        cluster.kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", name)
    said = application.logs()
    assert "no executor can start, and waiting will not help" in said
    assert "no executors in this namespace" in said
    assert told(application, "ApplicationFailed", "no executors in this namespace")


@pytest.mark.full
def test_a_slow_webhook_delays_and_doubles_nothing(cluster: Cluster, restricted: str) -> None:
    """Each creation takes 4 s, then longer than the webhook may: both executors come, each created once."""
    with answers.webhooks() as url:
        hanging = webhook(cluster, restricted, "Validating", f"{url}/slow/9", timeoutSeconds=2)
        with hanging:
            application = deploy(cluster, restricted, document("slow", NEW, "shuffle.py", "1", "0"))
            wait_until(
                lambda: verbs(cluster, restricted, "slow")["create pods 500"] >= 2,
                90,
                "creations have run into the webhook's time limit",
            )
            assert not application.executors()
        with webhook(cluster, restricted, "Validating", f"{url}/slow/4"):
            assert application.wait() == "Complete", application.story()
    count = verbs(cluster, restricted, "slow")
    assert count["create pods 201"] == 2
    assert count["create pods 500"] <= 8


@pytest.mark.full
def test_answers_that_are_lost_create_each_executor_once(
    cluster: Cluster, restricted: str, nodes: Nodes
) -> None:
    """The driver's node is cut off while creations are on their way: made, not answered, asked for again.

    A slow webhook leaves the time to cut. Executors may not start before the cable is back, and the job lasts
    until what was asked for again has its answer: afterwards it would be created again, and deleted.
    """
    nodes.open("node2", "driver")
    options = {
        "driver": {"nodeSelector": nodes.at("driver")},
        "executor": {"nodeSelector": nodes.at("executor")},
    }
    with (
        answers.webhooks() as url,
        webhook(cluster, restricted, "Validating", f"{url}/slow/15", timeoutSeconds=30),
    ):
        application = deploy(cluster, restricted, document("lost", NEW, "shuffle.py", "25", "0", **options))
        wait_until(
            lambda: application.has_driver()
            and any(entry.facts["create"] == [1, 2] for entry in application.decisions()),
            90,
            "creations are on their way",
        )
        with faults.cut_off("node2"):
            assert not application.executors(), "nothing was shown: they were answered before the cut"
            wait_until(lambda: len(application.executors()) == 2, 40, "both were made all the same")
            time.sleep(READ_TIMEOUT)  # until the allocator has given up, which nobody can see
        nodes.open("node1", "executor")
        assert application.wait() == "Complete", application.story()
    count = verbs(cluster, restricted, "lost")
    assert count["create pods 201"] == 2
    # Asked for again, and found to be there: by a conflict, or by the list after the cut if that is sooner.
    assert count["create pods 409"] <= 2
    # One line for each, or one for both when they were given up in the same moment.
    answers_told = [entry.facts for entry in application.allocator_log() if entry.event == LogEvent.ANSWER]
    assert {id_ for said in answers_told if said["answer"] == "lost" for id_ in said["executors"]} == {1, 2}
    assert len(created_names(cluster, restricted, "lost")) == 2


def created_names(cluster: Cluster, namespace: str, account: str) -> set[str]:
    """The names of the executors that an allocator asked for."""
    calls = cluster.calls(namespace, account)
    return {call.name for call in calls if (call.verb, call.resource) == ("create", "pods")}


def without_binding(manifests: str) -> tuple[str, str]:
    """Manifests in two parts: all but the RoleBinding, and the RoleBinding."""
    objects = list(yaml.safe_load_all(manifests))
    late = [item for item in objects if item["kind"] == "RoleBinding"]
    assert len(late) == 1
    return yaml.safe_dump_all([item for item in objects if item not in late]), yaml.safe_dump_all(late)


@pytest.mark.full
def test_a_role_binding_comes_a_minute_late(cluster: Cluster, restricted: str) -> None:
    """The account has no right for a while: that is told, nothing fails, and the job ends well."""
    late: list[str] = []

    def hold_back(manifests: str) -> str:
        now, after = without_binding(manifests)
        late.append(after)
        return now

    wanted = document("rights", NEW, "shuffle.py", "1", "0")
    application = deploy(cluster, restricted, wanted, change=hold_back)

    def denied() -> list[datetime]:
        return [call.time for call in cluster.calls(restricted, "rights") if call.code == 403]

    wait_until(lambda: bool(denied()), 90, "something was denied", application.story)
    first = denied()[0]
    wait_until(lambda: (datetime.now(UTC) - first).total_seconds() >= LATE, LATE + 5, "it has become late")
    assert not application.finished(), application.story()
    hindrances = [each.code for entry in application.decisions() for each in entry.hindrances]
    assert Code.FORBIDDEN in hindrances
    cluster.kubectl("apply", "-f", "-", input_text=late[0])
    assert application.wait() == "Complete", application.story()
    count = verbs(cluster, restricted, "rights")
    assert count["create pods 201"] == 2
    tries = sum(number for verb, number in count.items() if verb.endswith("403"))
    assert tries <= 40, f"{tries} calls were denied"


@pytest.mark.full
def test_an_image_that_is_not_there_ends_the_application(cluster: Cluster, restricted: str) -> None:
    """A registry does not know the executors' image: three rounds, and the application fails, saying so."""
    with answers.empty_registry() as registry:
        executor = {"image": f"{registry}/spark:mistyped", "instances": 2}
        wanted = document("image", NEW, "shuffle.py", "1", "0", executor=executor)
        application = deploy(cluster, restricted, wanted)
        assert application.wait(400) == "Failed", application.story()
    said = application.logs()
    assert "no executor can start, and waiting will not help" in said
    assert f"{registry}/spark:mistyped" in said
    assert told(application, "ApplicationFailed", "mistyped")
    created = verbs(cluster, restricted, "image")["create pods 201"]
    assert created <= 6, f"{created} pods for an image that cannot be had"
    wait_until(
        lambda: not [p for p in application.executors() if not leaving(p)],
        60,
        "none left",
        application.story,
    )
