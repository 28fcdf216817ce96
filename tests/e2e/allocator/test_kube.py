"""KubernetesBackend against a real API server: creation, deletion, lists, watches, refusals and faults.

The account has the rights of the rendered Role and no others.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from cluster import faults, lifecycle
from sparkgen import contract
from sparkgen.codes import Code, Hindrance
from sparkgen.resources.object_layers import ALLOCATOR_RULES
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.pods.kubernetes_backend import KubernetesBackend
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.backend import Notice, WatchEnded
from sparkgen.runtime.allocator.values.observed import Cause, PodPhase
from sparkgen.runtime.kubernetes.answers import Answer
from tests.e2e.allocator.conftest import ACCOUNT, Trial, small_pod, wait_until

pytestmark = pytest.mark.own_cluster


class Followed:
    """A view that a thread keeps up to date, as the allocator's watcher does."""

    def __init__(self, trial: Trial, kube: KubernetesBackend) -> None:
        self.view = PodView(trial.attempt)
        self.gaps: list[Hindrance] = []
        self._kube = kube

    def run(self) -> None:
        """Follow until the KubernetesBackend is closed; every gap is written down."""
        while True:
            try:
                asked_at = time.monotonic()
                self.view = self.view.with_list(self._kube.list(), asked_at, time.monotonic())
                for event in self._kube.watch(self.view.version):
                    self.view = self.view.with_event(event, time.monotonic())
                return
            except WatchEnded as ended:
                self.gaps.append(ended.reason)
                time.sleep(0.5)

    def phase(self, id_: int) -> PodPhase | None:
        """The phase of an executor; None when it is not seen."""
        seen = self.view.snapshot().executors.get(id_)
        return seen.phase if seen else None


@contextmanager
def followed(trial: Trial) -> Iterator[Followed]:
    """A view that follows the cluster while the block runs."""
    kube = trial.another()
    result = Followed(trial, kube)
    thread = threading.Thread(target=result.run)
    thread.start()
    try:
        wait_until(lambda: result.view.complete, "the first list")
        yield result
    finally:
        kube.close()
        thread.join(5)
        assert not thread.is_alive(), "closing did not end the watch"


def done(condition: Callable[[], object], what: str) -> None:
    """Wait for what a busy machine may take its time for."""
    wait_until(condition, what, seconds=60)


def test_an_executor_comes_and_goes_in_view(trial: Trial) -> None:
    """Created, seen pending and running, deleted, seen leaving and gone, with no gap and one list."""
    trial.kube.create_secret("secret")
    with followed(trial) as seen:
        assert trial.kube.create(Create(1, 0)).answer is Answer.DONE
        done(lambda: seen.phase(1) is PodPhase.RUNNING, "executor 1 runs")
        uid = seen.view.snapshot().executors[1].uid
        assert trial.kube.delete(Delete(1, uid)).answer is Answer.DONE
        done(lambda: 1 in seen.view.snapshot().vanished, "executor 1 is gone")
        snapshot = seen.view.snapshot()
        assert snapshot.complete
        assert snapshot.vanished[1].deleting
        loss = snapshot.vanished[1].loss
        assert loss is not None
        assert (loss.cause, loss.by_application) == (Cause.DELETED, False)
        assert not seen.gaps
    assert trial.kube.list().pods == ()


def test_what_is_created_is_what_the_contract_says(trial: Trial) -> None:
    """The pod has its name, owner, labels and variables on the server, too."""
    trial.kube.create(Create(3, 0))
    (pod,) = trial.pods()
    assert pod["metadata"]["name"] == trial.attempt.executor_name(3)
    assert pod["metadata"]["ownerReferences"] == [trial.attempt.owner]
    assert pod["metadata"]["labels"]["spark-app-selector"] == trial.attempt.application_id
    names = [entry["name"] for entry in pod["spec"]["containers"][0]["env"]]
    assert sorted(names) == sorted(
        set(contract.ADDED_BY_ALLOCATOR) - {contract.ENV_BLOCK_MANAGER_PORT, contract.ENV_SHUFFLE_FOLDER}
    )


def test_creating_twice_creates_once(trial: Trial) -> None:
    """A repeated creation finds our own pod, and is as good as done; as is one that finds it leaving."""
    kube = trial.kube
    assert [kube.create(Create(1, 0, again=again)).answer for again in (False, True)] == [Answer.DONE] * 2
    assert len(trial.pods()) == 1
    trial.cluster.kubectl(
        "patch", "pod", trial.attempt.executor_name(1), "-n", trial.namespace, "--type=merge",
        "-p", '{"metadata": {"finalizers": ["sparkgen.dev/test"]}}',
    )  # fmt: skip
    uid = trial.pods()[0]["metadata"]["uid"]
    kube.delete(Delete(1, uid))
    try:
        outcome = kube.create(Create(1, 0, again=True))
        assert (outcome.answer, outcome.uid) == (Answer.DONE, uid)
        assert len(trial.pods()) == 1
    finally:
        trial.cluster.kubectl(
            "patch", "pod", trial.attempt.executor_name(1), "-n", trial.namespace, "--type=merge",
            "-p", '{"metadata": {"finalizers": null}}',
        )  # fmt: skip


FULL = Hindrance(Code.QUOTA_EXCEEDED, "cannot create executor 2")


def code_of(outcome: ActionOutcome) -> str:
    """The code of an action that was not done; "" for one that was."""
    return "" if outcome.hindrance is None else outcome.hindrance.code


def test_a_pod_of_somebody_else_is_neither_taken_nor_deleted(trial: Trial) -> None:
    """A pod that has the name but not our owner is in the way, and stays."""
    foreign = {"apiVersion": "v1", "kind": "Pod", **small_pod("x", contract.EXECUTOR_CONTAINER)}
    foreign["metadata"] = {"name": trial.attempt.executor_name(1), "namespace": trial.namespace}
    foreign["spec"]["schedulingGates"] = [{"name": "sparkgen.dev/test"}]
    trial.cluster.apply(foreign)
    outcome = trial.kube.create(Create(1, 0))
    assert outcome.answer is Answer.REFUSED
    assert code_of(outcome) == Code.ALREADY_EXISTS
    assert trial.kube.delete(Delete(1)).answer is Answer.DONE
    there = trial.cluster.kubectl(
        "get", "pod", foreign["metadata"]["name"], "-n", trial.namespace, "-o", "json"
    )
    assert "deletionTimestamp" not in json.loads(there)["metadata"]


def test_only_the_pod_that_is_meant_is_deleted(trial: Trial) -> None:
    """Not there is done; another UID deletes nothing; no UID means ours of that name; force is at once."""
    kube = trial.kube
    assert [kube.delete(Delete(9, uid)).answer for uid in ("", "some-uid")] == [Answer.DONE] * 2
    for id_ in (1, 2):
        kube.create(Create(id_, 0))
    assert kube.delete(Delete(1, "another-uid")).answer is Answer.DONE
    assert len(trial.pods()) == 2
    assert kube.delete(Delete(1)).answer is Answer.DONE
    assert kube.delete(Delete(2, forced=True)).answer is Answer.DONE
    assert trial.attempt.executor_name(2) not in [pod["metadata"]["name"] for pod in trial.pods()]
    done(lambda: not trial.pods(), "both are gone")


def test_refusals_say_why(trial: Trial) -> None:
    """A quota that is used up, a pod that is not valid, and one that Pod Security forbids: each in words."""
    cluster, namespace = trial.cluster, trial.namespace
    invalid = small_pod("unnamed", contract.EXECUTOR_CONTAINER)
    invalid["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
    outcome = trial.another(invalid).create(Create(1, 0))
    assert outcome.answer is Answer.PERMANENT
    assert code_of(outcome) == Code.INVALID
    assert "must be less than or equal to cpu limit" in str(outcome.hindrance)

    cluster.kubectl("create", "quota", "few", "-n", namespace, "--hard=pods=1")
    read = ("get", "quota", "few", "-n", namespace, "-o", "jsonpath={.status.used.pods}")
    done(lambda: cluster.kubectl(*read) == "1", "the quota is counted")
    outcome = trial.kube.create(Create(2, 0))
    assert outcome.answer is Answer.REFUSED
    assert code_of(outcome) == Code.QUOTA_EXCEEDED
    assert "-exec-2" not in str(outcome.hindrance)
    cluster.kubectl("delete", "quota", "few", "-n", namespace)

    cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")

    def refused() -> bool:
        outcome = trial.kube.create(Create(3, 0))
        return (outcome.answer, code_of(outcome)) == (Answer.PERMANENT, Code.POD_SECURITY_VIOLATED)

    done(refused, "Pod Security refuses")


def test_a_late_role_binding_is_waited_for(unbound: Trial) -> None:
    """Without rights all is refused at first, for good after a minute, and done once they are there."""
    kube = unbound.kube
    first = kube.create(Create(1, 0))
    assert first.answer is Answer.REFUSED
    assert code_of(first) == Code.FORBIDDEN
    with pytest.raises(WatchEnded) as ended:
        kube.list()
    assert ended.value.reason.code == Code.FORBIDDEN
    unbound.clock.ahead = 61
    assert kube.create(Create(1, 0)).answer is Answer.PERMANENT
    unbound.bind()
    done(lambda: kube.create(Create(1, 0)).answer is Answer.DONE, "the rights hold")


def test_the_secret_belongs_to_the_driver(trial: Trial) -> None:
    """It holds what was given first, cannot be changed, and goes with the driver's pod."""
    assert [trial.kube.create_secret(text).answer for text in ("first", "second")] == [Answer.DONE] * 2
    (secret,) = trial.cluster.objects("secrets", trial.namespace)
    assert base64.b64decode(secret["data"]["secret"]) == b"first"
    assert secret["metadata"]["name"] == trial.attempt.secret_name
    assert secret["metadata"]["ownerReferences"] == [trial.attempt.owner]
    assert secret["immutable"] is True


def test_a_notice_is_an_event_on_the_driver(trial: Trial) -> None:
    """`kubectl describe pod` of the driver shows what the allocator tells."""
    trial.kube.record_event(Notice("QuotaUsedUp", FULL, warning=True))
    shown = trial.cluster.kubectl("describe", "pod", trial.attempt.pod_name, "-n", trial.namespace)
    assert "Warning  QuotaUsedUp" in shown
    assert "sparkgen-allocator  cannot create executor 2" in shown
    events = trial.cluster.objects("events", trial.namespace)
    (made,) = [event["metadata"] for event in events if event["reason"] == "QuotaUsedUp"]
    assert json.loads(made["annotations"][contract.ANNOTATION_HINDRANCE]) == FULL.facts


def test_everything_goes_with_the_drivers_pod(trial: Trial) -> None:
    """Executors and Secret are collected when the driver's pod is deleted, with no allocator there."""
    trial.kube.create_secret("secret")
    for id_ in (1, 2):
        trial.kube.create(Create(id_, 0))
    trial.cluster.kubectl("delete", "pod", trial.attempt.pod_name, "-n", trial.namespace)
    done(lambda: not trial.pods(), "no executor is left")
    done(lambda: not trial.cluster.objects("secrets", trial.namespace), "no Secret is left")


def test_many_writes_at_a_time(trial: Trial) -> None:
    """Sixteen threads create and delete forty executors over one pool; the list has them all."""
    gated = small_pod("unnamed", contract.EXECUTOR_CONTAINER)
    gated["spec"]["schedulingGates"] = [{"name": "sparkgen.dev/test"}]
    kube = trial.another(gated)
    with ThreadPoolExecutor(16) as pool:
        created = list(pool.map(kube.create, [Create(id_, 0) for id_ in range(1, 41)]))
        assert {outcome.answer for outcome in created} == {Answer.DONE}
        view = PodView(trial.attempt).with_list(kube.list(), 0, 0)
        assert sorted(view.pods) == list(range(1, 41))
        deleted = list(pool.map(kube.delete, [Delete(id_) for id_ in range(1, 41)]))
        assert {outcome.answer for outcome in deleted} == {Answer.DONE}
    done(lambda: not trial.pods(), "all are gone")


def test_a_hanging_api_server_loses_answers_and_no_executors(trial: Trial) -> None:
    """While it hangs a creation is lost; sent again it is one pod, and the watch has missed nothing."""
    impatient = trial.another(read_timeout=1.0)
    with followed(trial) as seen:
        with faults.paused("kube-apiserver"):
            lost = impatient.create(Create(1, 0))
        assert lost.answer in (Answer.UNKNOWN, Answer.BUSY)
        done(
            lambda: trial.kube.create(Create(1, 0, again=True)).answer is Answer.DONE, "executor 1 is created"
        )
        done(lambda: seen.phase(1) is not None, "executor 1 is seen")
        assert len(trial.pods()) == 1
        assert not seen.gaps


def test_a_new_api_server_is_followed(trial: Trial) -> None:
    """The API server dies and comes back: the watch goes on, with another list only if it forgot the version.

    A version from before all that it knows is told as a gap at once.
    """
    began = datetime.now(UTC)
    with followed(trial) as seen:
        trial.kube.create(Create(1, 0))
        done(lambda: seen.phase(1) is not None, "executor 1 is seen")
        faults.kill("kube-apiserver")
        assert trial.kube.create(Create(2, 0)).answer in (Answer.BUSY, Answer.UNKNOWN)
        lifecycle.up()
        done(
            lambda: trial.kube.create(Create(2, 0, again=True)).answer is Answer.DONE, "executor 2 is created"
        )
        done(lambda: seen.phase(2) is not None, "executor 2 is seen")
        assert all(reason.code == Code.GONE for reason in seen.gaps), seen.gaps
        with pytest.raises(WatchEnded, match="no longer has that resourceVersion"):
            next(trial.kube.watch("1"))
    verbs = Counter(call.verb for call in trial.cluster.calls(trial.namespace, ACCOUNT, began))
    assert verbs["list"] == 1 + len(seen.gaps)
    assert verbs["watch"] >= 2


def test_every_right_of_the_role_is_used_and_no_other(trial: Trial) -> None:
    """The audit log has each verb that the rendered Role grants, and nothing that was forbidden."""
    kube = trial.kube
    began = datetime.now(UTC)
    kube.create_secret("secret")
    kube.record_event(Notice("Test", FULL))
    with followed(trial):
        for _ in range(2):
            kube.create(Create(1, 0))
        kube.delete(Delete(1))
    calls = trial.cluster.calls(trial.namespace, ACCOUNT, began)
    granted = {
        (resource, verb)
        for rule in ALLOCATOR_RULES
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert {(call.resource, call.verb) for call in calls} == granted
    assert all(call.code < 400 or call.code == 409 for call in calls)
    assert all(call.namespace == trial.namespace for call in calls)
