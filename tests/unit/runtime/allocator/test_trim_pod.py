"""What is kept of a pod: all that is read of it, and little else."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from sparkgen import contract
from sparkgen.runtime.allocator.observe.causes import departure_of, loss_of, waiting_of
from sparkgen.runtime.allocator.observe.trim_pod import trim_pod
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.values.backend import Pod, PodList
from tests.unit.runtime.allocator.recorded_pods import ATTEMPT, FOLDER, executor, recorded

NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
LONGEST = 6_000
"""Bytes of Python objects that one pod in a list may have: 10,000 of them fit into the container."""


def seen(pod: Pod) -> PodView:
    """A view of this pod alone."""
    return PodView(ATTEMPT).with_list(PodList((pod,), "1"), 1.0, 2.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_reduced_pod_says_what_the_whole_one_says(name: str) -> None:
    """Cause, departure and waiting are the same, and so is all that is seen of it."""
    for whole in (recorded(name), executor(name, 7)):
        little = trim_pod(whole)
        for read in (loss_of, departure_of, waiting_of):
            assert read(little) == read(whole)
        assert trim_pod(little) == little
    assert seen(trim_pod(executor(name, 7))) == seen(executor(name, 7))
    assert seen(executor(name, 7)).pods


def test_a_pod_with_readiness_gates_is_not_taken_for_lost() -> None:
    """The gates count for whether a node is silent: they are kept."""
    whole = executor("node-silent-deleting", 7)
    whole["spec"]["readinessGates"] = [{"conditionType": "example.com/ready"}]
    assert loss_of(trim_pod(whole)) == loss_of(whole) != loss_of(executor("node-silent-deleting", 7))


def test_a_pod_without_anything_stays_one() -> None:
    """A bookmark's object has a version only."""
    assert loss_of(trim_pod({"metadata": {"resourceVersion": "9"}})) is None


@pytest.mark.parametrize("text", ["9" * 262_144, ""], ids=["long", "empty"])
def test_an_annotation_that_is_no_quantity_hides_no_pod(text: str) -> None:
    """Whoever may create or change pods chooses the text: the pod is seen all the same."""
    whole = executor("running", 7)
    whole["metadata"].setdefault("annotations", {})[contract.ANNOTATION_ADDED_MEMORY] = text
    assert len(seen(trim_pod(whole)).pods) == 1
    assert trim_pod(whole)["metadata"]["annotations"] == (
        {contract.ANNOTATION_ADDED_MEMORY: ""} if not text else {}
    )


def test_a_limit_with_many_zeros_hides_no_pod() -> None:
    """Kubernetes keeps such a quantity as it is written: it is only part of a message, and left out."""
    whole = executor("running", 7)
    [container] = [one for one in whole["spec"]["containers"] if one["name"] == contract.EXECUTOR_CONTAINER]
    container["resources"] = {"limits": {"memory": "0" * 1100 + "5Mi"}}
    assert len(seen(trim_pod(whole)).pods) == 1


def test_little_is_kept_of_a_pod() -> None:
    """Thousands of them are kept at once, as Python's objects."""
    texts = [json.dumps(trim_pod(executor("running", id_))) for id_ in range(1, 201)]
    tracemalloc.start()
    kept = [json.loads(text) for text in texts]
    size = tracemalloc.get_traced_memory()[0] / len(kept)
    tracemalloc.stop()
    assert size < LONGEST


@pytest.mark.parametrize(
    ("text", "added"),
    [("512Mi", 512), ("512", 0), ("-1Mi", 0), ("1Gi", 0), ("Mi", 0), ("99999999999Mi", 0)],
)
def test_memory_in_addition_is_read_from_the_pod(text: str, added: int) -> None:
    """A restarted allocator finds it there; a text of another form is none."""
    whole = executor("running", 7)
    whole["metadata"]["annotations"] = {contract.ANNOTATION_ADDED_MEMORY: text, "other": "x"}
    assert seen(trim_pod(whole)) == seen(whole)
    assert seen(whole).snapshot().executors[7].added_memory == added
