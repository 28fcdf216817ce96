"""Why executors end or wait: the pods that a real cluster wrote, and what is read from them.

Recorded on Kubernetes 1.36: all of pods/ but admission-error, image-not-found, node-gone, node-pressure and
node-shutdown, which are recorded pods with the status that Kubernetes' sources write.
"""

from __future__ import annotations

import pytest

from sparkgen import contract
from sparkgen.codes import Code
from sparkgen.runtime.allocator.observe.causes import departure_of, loss_of, waiting_of
from sparkgen.runtime.allocator.values.observed import Cause, Loss, Waiting
from tests.unit.runtime.allocator.recorded_pods import FOLDER, recorded

LOSSES = {
    "admission-error": (Cause.FAILED_START, False, None, "no healthy devices"),
    "deadline": (Cause.EXITED, True, 0, "activeDeadlineSeconds"),
    "deleted-137": (Cause.DELETED, False, 137, "was deleted (exit code 137)"),
    "deleted-143": (Cause.DELETED, False, 143, "was deleted (exit code 143)"),
    "ended-and-sidecar-failed": (Cause.EXITED, False, 0, "exited with code 0, unexpectedly"),
    "ended-beside-a-sidecar": (Cause.EXITED, True, 3, "exited with code 3"),
    "evicted-by-api": (Cause.EVICTED, False, 143, "evicted through the API"),
    "evicted-own-limit": (Cause.EVICTED, True, 137, 'EmptyDir volume "v" exceeds the limit "1Mi"'),
    "exited-0": (Cause.EXITED, False, 0, "exited with code 0, unexpectedly"),
    "exited-1": (Cause.EXITED, True, 1, "exited with code 1 (see its log for the error): boom"),
    "exited-143": (Cause.EXITED, False, 143, "exited with code 143 (SIGTERM: it was asked to stop)"),
    "exited-52": (Cause.EXITED, True, 52, "the Java heap was full: raise spark.executor.memory"),
    "init-container-failed": (Cause.FAILED_START, False, None, "its init container fetch exited with code 7"),
    "node-affinity": (Cause.FAILED_START, False, None, "NodeAffinity"),
    "node-gone": (Cause.NODE_LOST, False, None, "node that no longer exists"),
    "node-out-of-cpu": (Cause.FAILED_START, False, None, "OutOfcpu"),
    "node-pressure": (Cause.EVICTED, False, 137, "The node was low on resource: memory"),
    "node-shutdown": (Cause.EVICTED, False, 143, "its node is shutting down"),
    "node-silent-deleting": (Cause.NODE_LOST, False, None, "its node node2 stopped responding"),
    "oom-killed": (Cause.OOM, True, 137, "out of memory (limit 32Mi: raise spark.executor.memoryOverhead)"),
    "preempted": (Cause.PREEMPTED, False, 143, "was preempted by a pod of higher priority"),
    "queue-preempted": (Cause.PREEMPTED, False, 143, "was preempted by another workload of its queue"),
    "queue-stopped": (Cause.EVICTED, False, 143, "by its queue (WorkloadEvictedDueToClusterQueueStopped)"),
    "start-error": (Cause.FAILED_START, False, 128, "no such file or directory"),
    "tainted": (Cause.EVICTED, False, 143, "NoExecute taint"),
}
"""Pod, and its cause, whose fault, the exit code, and words of the message."""

WAITING = {
    "gated": ("SchedulingGated", "scheduling gates", False),
    "image-back-off": ("ImagePullBackOff", "dial tcp: lookup registry-1.docker.io", False),
    "image-name-invalid": ("InvalidImageName", "must be lowercase", True),
    "image-never-pulled": ("ErrImageNeverPull", "is not present with pull policy of Never", True),
    "image-not-found": ("ErrImagePull", "docker.io/apache/spark:3.5.88: not found", True),
    "secret-missing": ("CreateContainerConfigError", 'secret "absent" not found', True),
    "unschedulable": ("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu", False),
    "volume-missing": ("ContainerCreating", "", False),
}
"""Pod, and why it waits, words of the message, and whether waiting is of no use."""


def test_files_that_cannot_be_had_are_the_application_s_fault() -> None:
    """The words of `fetch` are the reason, without its code and its next step."""
    pod = recorded("init-container-failed")
    (status,) = pod["status"]["initContainerStatuses"]
    message = "[BadArtifact] r.example/a is not in the registry\npush it again\n"
    status["state"]["terminated"] |= {"exitCode": contract.BAD_ARTIFACT, "message": message}
    loss = loss_of(pod)
    assert loss is not None
    assert (loss.cause, loss.by_application, loss.hindrance.code) == (
        Cause.FAILED_START,
        True,
        Code.BAD_ARTIFACT,
    )
    assert loss.message.endswith("because its files are unavailable: r.example/a is not in the registry")


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_the_cause_of_an_end_is_read_from_the_pod(name: str) -> None:
    """Each pod that has ended has its cause, fault and exit code, and a message that names the executor."""
    cause, by_application, exit_code, words = LOSSES[name]
    loss = loss_of(recorded(name))
    assert loss is not None
    assert (loss.cause, loss.by_application, loss.exit_code) == (cause, by_application, exit_code)
    assert loss.message.startswith("executor 7")
    assert words in loss.message


@pytest.mark.parametrize("name", sorted({file.stem for file in FOLDER.glob("*.json")} - set(LOSSES)))
def test_a_pod_that_may_still_run_has_no_cause(name: str) -> None:
    """Pending, running and leaving pods have not ended, nor has one whose sidecar has or node is silent."""
    assert loss_of(recorded(name)) is None


@pytest.mark.parametrize("name", sorted(WAITING))
def test_a_pending_pod_says_why_it_waits(name: str) -> None:
    """The reason is Kubernetes' own; only what no time will fix is permanent."""
    reason, words, permanent = WAITING[name]
    waiting = waiting_of(recorded(name))
    assert waiting is not None
    assert (waiting.reason, waiting.permanent) == (reason, permanent)
    assert words in waiting.message


def test_nothing_waits_that_runs_or_has_ended() -> None:
    """A running pod and one that ended have no reason to wait; nor has one that nobody has looked at."""
    assert [waiting_of(recorded(name)) for name in ("running", "exited-1", "pending")] == [None] * 3


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("evicting", Cause.EVICTED),
        ("preempting", Cause.PREEMPTED),
        ("deleting", Cause.DELETED),
        ("running", Cause.DELETED),
        ("node-silent", Cause.NODE_LOST),
        ("oom-killed", Cause.OOM),
    ],
)
def test_a_pod_that_vanishes_left_for_the_reason_seen_last(name: str, cause: Cause) -> None:
    """Nobody may see a pod's last state: whoever was about to end it is the cause, and else somebody."""
    assert departure_of(recorded(name)).cause is cause


def test_a_failed_init_container_of_a_sidecar_kind_is_named() -> None:
    """The message of a waiting container that is not Spark's names the container."""
    pod = recorded("image-not-found")
    pod["status"]["containerStatuses"][0]["name"] = "logger"
    waiting = waiting_of(pod)
    assert waiting is not None
    assert waiting.message.startswith("container logger: ")


def test_a_registry_that_is_away_may_come_back() -> None:
    """The same failed pull is permanent or not by what the registry, or the network, said."""

    def permanent(message: str) -> bool:
        pod = recorded("image-not-found")
        pod["status"]["containerStatuses"][0]["state"]["waiting"]["message"] = message
        waiting = waiting_of(pod)
        assert waiting is not None
        return waiting.permanent

    assert permanent("pull access denied, repository does not exist or may require authorization")
    assert permanent("dial tcp: lookup registry.exmaple.org: no such host")
    assert not permanent("429 Too Many Requests - toomanyrequests: You have reached your pull rate limit")
    assert not permanent("dial tcp 10.0.0.1:443: connect: connection refused")


def test_a_long_message_keeps_both_its_ends() -> None:
    """What failed is at the front of a chain of errors and why at its end: the middle may go."""
    pod = recorded("exited-1")
    pod["status"]["containerStatuses"][0]["state"]["terminated"]["message"] = f"begin {'x' * 5000} end."
    loss = loss_of(pod)
    assert loss is not None
    assert "begin" in loss.message
    assert loss.message.endswith("end")
    assert len(loss.message) < 600


def test_an_executor_without_a_memory_limit_was_killed_for_its_node() -> None:
    """Without a limit there is no number to name, and none to raise."""
    pod = recorded("oom-killed")
    del pod["spec"]["containers"][0]["resources"]["limits"]
    assert loss_of(pod) == Loss(
        Cause.OOM, "executor 7 was killed: out of memory (its container has no memory limit)", True, 137
    )


def test_a_pod_that_says_nothing_is_unknown() -> None:
    """A failed pod without any status of its container has no cause that could be told."""
    pod = recorded("exited-1")
    pod["status"] = {"phase": "Failed"}
    loss = loss_of(pod)
    assert loss is not None
    assert (loss.cause, loss.by_application) == (Cause.UNKNOWN, False)


def test_a_pending_pod_in_its_init_containers_waits_for_them() -> None:
    """PodInitializing is the one reason without a message of its own."""
    pod = recorded("volume-missing")
    pod["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": "PodInitializing"}}
    assert waiting_of(pod) == Waiting("PodInitializing", "")


def test_a_container_whose_machine_was_started_again_is_not_the_applications_fault() -> None:
    """Containerd has lost it, and says 255 and Unknown (recorded: exited-1, with what containerd writes)."""
    pod = recorded("exited-1")
    pod["status"]["containerStatuses"][0]["state"]["terminated"].update(exitCode=255, reason="Unknown")
    loss = loss_of(pod)
    assert loss is not None
    assert (loss.cause, loss.by_application) == (Cause.UNKNOWN, False)
