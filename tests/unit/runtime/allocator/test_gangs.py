"""Gangs of Kubernetes' own: who is a member, when nobody is any more, and what is there before the first."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.codes import Code
from sparkgen.runtime.allocator.decide import gangs
from sparkgen.runtime.allocator.observe.trim_pod import trim_pod
from sparkgen.runtime.allocator.pods.prerequisites import PrerequisitesBackend
from sparkgen.runtime.allocator.pods.template import TemplateError, gang_of, read_template
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.observed import Cause, Loss, PodPhase
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import Profile
from sparkgen.runtime.kubernetes.answers import Answer, Reply
from tests.unit.runtime.allocator.test_decide import DYNAMIC, decided, ids, pod, remembers, seen, wants
from tests.unit.runtime.allocator.test_hostile_answers import Given, kube_with
from tests.unit.runtime.allocator.test_template import ATTEMPT, rendered
from tests.unit.runtime.allocator.test_template import pod as made_pod

GANG = replace(DYNAMIC, gang=3, minimum=3)


def members(decision: Any) -> list[bool]:
    """Of each creation, whether it is one of a member."""
    return [action.gang for action in decision.actions if isinstance(action, Create)]


def waiting(id_: int, **rest: Any) -> Any:
    """A member without a node."""
    return pod(id_, PodPhase.PENDING, gang=True, **rest)


def test_the_first_executors_are_members() -> None:
    """Also more of them than the gang needs; and one that takes the place of one that is gone."""
    assert members(decided(seen(), wants(4))) == [False] * 4, "no gang is asked for"
    assert members(decided(seen(), wants(4), settings=GANG)) == [True] * 4
    left = decided(seen([waiting(1), waiting(2)]), wants(3), settings=GANG)
    assert members(left) == [True], "with two members of three nobody would get a node"


def test_from_the_first_node_on_others_come_one_by_one() -> None:
    """The scheduler counts pods that are there: a member would wait for others that nobody wants."""
    placed = pod(1, node="node-1", gang=True)
    assert members(decided(seen([placed]), wants(3), settings=GANG)) == [False, False]
    leaves = pod(1, node="node-1", gang=True, deleting=True)
    assert members(decided(seen([leaves]), wants(3), settings=GANG))[:2] == [True, True]


def test_fewer_than_the_gang_are_no_gang() -> None:
    """A lower minimum holds at once: those that wait for each other would wait forever."""
    assert members(decided(seen(), wants(2), settings=GANG)) == [False, False]
    dissolved = decided(seen([waiting(1), waiting(2)]), wants(2), settings=GANG)
    assert ids(dissolved.actions, Delete) == [1, 2]
    reasons = {action.why for action in dissolved.actions if isinstance(action, Delete)}
    assert reasons == {gangs.STRANDED}
    kept = decided(seen([waiting(1), waiting(2), waiting(3)]), wants(3), settings=GANG)
    assert kept.actions == ()


def test_executors_of_an_earlier_driver_are_no_part_of_the_gang() -> None:
    """A driver that starts again in its pod has its own gang, though the first one's still have nodes."""
    earlier = [pod(id_, node="node-1", gang=True) for id_ in (1, 2, 3)]
    again = decided(seen(earlier), wants(3), remembers(next_id=4, first_id=4), settings=GANG)
    assert set(members(again)) == {True}


def test_what_has_ended_keeps_nobody_out_of_the_gang() -> None:
    """Its pod still names a node, until its driver has been told; so does one of another profile."""
    ended = pod(1, PodPhase.FAILED, node="node-1", gang=True, loss=Loss(Cause.EVICTED, "evicted"))
    other = pod(2, node="node-1", profile=1)
    target = wants(3, executors={0: 3, 1: 1}, profiles={0: Profile(), 1: Profile(cores=2)})
    assert members(decided(seen([ended, other]), target, settings=GANG)) == [True, True, True]


def test_a_gang_that_does_not_fit_beside_others_is_none() -> None:
    """Two wait for a node by themselves, and three are wanted: a third one would wait for two more."""
    alone = [pod(id_, PodPhase.PENDING) for id_ in (4, 5)]
    assert members(decided(seen(alone), wants(3), settings=GANG)) == [False]
    assert members(decided(seen(alone), wants(5), settings=GANG)) == [True, True, True]
    few = replace(GANG, max_unschedulable=4)
    assert members(decided(seen(alone), wants(5), settings=few)) == [False, False]


def test_a_member_that_waits_for_nobody_is_deleted() -> None:
    """Of five members three got nodes, and have gone since; those in their place came one by one."""
    stranded = [waiting(4), waiting(5)]
    others = [pod(id_, node="node-1") for id_ in (6, 7, 8)]
    given_up = decided(seen([*stranded, *others]), wants(5), settings=GANG)
    assert {one.id: one.why for one in given_up.actions if isinstance(one, Delete)} == {
        4: gangs.STRANDED,
        5: gangs.STRANDED,
    }
    third = pod(3, node="node-2", gang=True)
    assert decided(seen([*stranded, third, *others]), wants(6), settings=GANG).actions == ()


@pytest.mark.parametrize(
    "settings",
    [
        replace(GANG, wait_for_registration=True, batch_size=3),
        replace(GANG, max_unschedulable=3),
        replace(GANG, max_pending=4),
    ],
    ids=["batch", "nodes", "pending"],
)
def test_no_gate_holds_a_part_of_a_gang_back(settings: AllocationSettings) -> None:
    """The other part would wait for it: here one of three is lost while another profile wants its share."""
    target = wants(3, executors={0: 3, 1: 1}, profiles={0: Profile(), 1: Profile(cores=2)})
    left = [waiting(1), waiting(2), pod(4, PodPhase.PENDING, profile=1)]
    made = decided(seen(left), target, settings=settings)
    assert members(made) == [True]


def test_another_profile_is_no_member() -> None:
    """The gang is made of executors of the default profile."""
    target = wants(3, executors={0: 3, 1: 1}, profiles={0: Profile(), 1: Profile(cores=2)})
    made = decided(seen(), target, remembers(next_id=1), settings=GANG)
    by_profile = {(one.profile, one.gang) for one in made.actions if isinstance(one, Create)}
    assert by_profile == {(0, True), (1, False)}


def test_a_members_pod_names_the_group() -> None:
    """Which is that of the attempt; others name none, and both say how large a gang is asked for."""
    template = read_template(rendered("gang"))
    assert gang_of(template) == 3
    assert gang_of(read_template(rendered())) == 0
    member = made_pod(Create(7, 0, gang=True), template)
    assert member["spec"]["schedulingGroup"] == {"podGroupName": f"{ATTEMPT.run}-{ATTEMPT.attempt}"}
    assert "schedulingGroup" not in made_pod(Create(7, 0), template)["spec"]
    trimmed = trim_pod({**member, "status": {}})
    assert trimmed["spec"]["schedulingGroup"]["podGroupName"] == ATTEMPT.pod_group


@pytest.mark.parametrize("text", ["-1", "many", "3.0", "9" * 12, ""])
def test_a_gang_that_is_no_number_is_refused(text: str) -> None:
    """Before anything is created."""
    template = read_template(rendered("gang"))
    template["metadata"]["annotations"][contract.ANNOTATION_GANG] = text
    with pytest.raises(TemplateError, match="must be a whole number"):
        gang_of(template)


def test_a_pod_of_another_size_takes_no_place_of_yunikorns() -> None:
    """Places are held for the default profile: a larger pod that names them would be refused."""
    template = read_template(rendered("yunikorn"))
    assert contract.ANNOTATION_TASK_GROUP in made_pod(Create(7, 0), template)["metadata"]["annotations"]
    other = made_pod(Create(7, 1, Profile(cores=4)), template)
    assert contract.ANNOTATION_TASK_GROUP not in other["metadata"]["annotations"]


VERSIONS = ("v1beta1", "v1alpha2")
ALREADY = Reply(409, {"reason": "AlreadyExists"})
NOT_SERVED = Reply(404, {"message": "the server could not find the requested resource"})


@pytest.mark.parametrize(
    ("reply", "answer"),
    [(Reply(201, {}), Answer.DONE), (ALREADY, Answer.DONE), (NOT_SERVED, Answer.PERMANENT)],
)
def test_the_group_is_made_once(reply: Reply, answer: Answer) -> None:
    """One that is there is as good, as after a restart; a cluster without the API is told of for good."""
    given = Given([reply])
    verdict = kube_with(given).create_pod_group(3)
    assert verdict.answer is answer
    if answer is Answer.PERMANENT:
        assert verdict.hindrance is not None
        assert verdict.hindrance.code is Code.NOT_FOUND
        assert "PodGroup" in verdict.hindrance.message


def test_the_group_is_of_a_version_that_the_cluster_serves() -> None:
    """The beta of Kubernetes 1.37, or else the alpha of 1.36; nothing is asked for twice."""
    newest, oldest = (
        f"/apis/scheduling.k8s.io/{version}/namespaces/{ATTEMPT.namespace}/podgroups" for version in VERSIONS
    )
    served = Given([Reply(201, {})])
    assert kube_with(served).create_pod_group(3).answer is Answer.DONE
    assert [path for _, path, _ in served.calls] == [newest]
    older = Given([NOT_SERVED, Reply(201, {})])
    assert kube_with(older).create_pod_group(3).answer is Answer.DONE
    assert [path for _, path, _ in older.calls] == [newest, oldest]
    refused = Given([Reply(403, {"reason": "Forbidden", "message": "podgroups is forbidden"})])
    assert kube_with(refused).create_pod_group(3).answer is not Answer.DONE
    assert len(refused.calls) == 1


def test_nothing_is_created_before_all_that_it_needs() -> None:
    """Each is asked for until it is there, in its order, and then never again."""
    asked: list[str] = []
    answers = {"secret": [Answer.DONE], "group": [Answer.REFUSED, Answer.DONE]}

    def prerequisite(name: str) -> Any:
        def make(order: Create) -> ActionOutcome:
            asked.append(name)
            return ActionOutcome(order, answers[name].pop(0))

        return make

    class Pods:
        def create(self, order: Create) -> ActionOutcome:
            asked.append("pod")
            return ActionOutcome(order, Answer.DONE)

    backend: Any = PrerequisitesBackend(Pods(), [prerequisite("secret"), prerequisite("group")])  # type: ignore[arg-type]
    assert [backend.create(Create(id_, 0)).answer for id_ in (1, 1, 2)] == [
        Answer.REFUSED,
        Answer.DONE,
        Answer.DONE,
    ]
    assert asked == ["secret", "group", "group", "pod", "pod"]
    assert json.dumps(answers) == '{"secret": [], "group": []}'
