"""The pod of one executor, made from the rendered template."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen import contract
from sparkgen.runtime.allocator.driver.session import DriverLocation, Session
from sparkgen.runtime.allocator.pods.template import TemplateError, executor_pod, grace_of, read_template
from sparkgen.runtime.allocator.sidecar import backend_inputs
from sparkgen.runtime.allocator.values.actions import Create
from sparkgen.runtime.allocator.values.clock import ClockAndRandom
from sparkgen.runtime.allocator.values.target import Profile
from tests.unit.runtime.allocator.recorded_pods import ATTEMPT

GOLDEN = Path(__file__).parents[3] / "golden" / "examples"


def rendered(example: str = "tuning") -> str:
    """The text of executor.json of an example, as `sparkgen render` writes it."""
    file = GOLDEN / example / "config-map-executor.yaml"
    text: str = yaml.safe_load(file.read_text())["data"]["executor.json"]
    return text


def pod(order: Create, template: dict[str, Any] | None = None) -> dict[str, Any]:
    """The executor's pod from a template, which is the rendered one of the example `tuning`."""
    start = ATTEMPT.start_url(order.id)
    return executor_pod(template or read_template(rendered()), ATTEMPT, order, start, ATTEMPT.driver_url)


def spark(made: dict[str, Any]) -> dict[str, Any]:
    """The Spark container of a pod."""
    container: dict[str, Any] = made["spec"]["containers"][0]
    return container


def env(made: dict[str, Any]) -> dict[str, Any]:
    """The variables of the Spark container, each of which is there once."""
    entries = spark(made)["env"]
    assert len({entry["name"] for entry in entries}) == len(entries)
    return {entry["name"]: entry.get("value") or entry["valueFrom"] for entry in entries}


def with_resources(**resources: dict[str, str]) -> dict[str, Any]:
    """The template with other resources."""
    template = read_template(rendered())
    template["spec"]["containers"][0]["resources"] = resources
    return template


def test_no_controller_claims_an_executor() -> None:
    """Whatever wrote the template: with one of these marks Kueue would hold the pod back forever."""
    template = read_template(rendered())
    before = template["metadata"]
    claims = {"kueue.x-k8s.io/pod-suspending-parent": "Job", "argocd.argoproj.io/tracking-id": "pi"}
    labels = {**before["labels"], "kueue.x-k8s.io/managed": "true", "job-name": "pi"}
    template["metadata"] = {"labels": labels, "annotations": {**before["annotations"], **claims}}
    made = pod(Create(7, 0), template)["metadata"]
    assert not {"kueue.x-k8s.io/managed", "job-name"} & made["labels"].keys()
    assert made["annotations"] == before["annotations"]


def test_an_executor_waits_in_the_queue_by_itself() -> None:
    """With all of Kueue's marks it keeps them, and is not controlled by a pod of another workload."""
    template = read_template(rendered("kueue"))
    made = pod(Create(7, 0), template)["metadata"]
    marks = {key: text for key, text in made["labels"].items() if key.startswith("kueue.x-k8s.io/")}
    assert marks == {
        "kueue.x-k8s.io/queue-name": "team-a",
        "kueue.x-k8s.io/priority-class": "nightly",
        "kueue.x-k8s.io/managed": "true",
    }
    assert made["annotations"]["kueue.x-k8s.io/pod-suspending-parent"] == "sparkgen"
    assert [(one["uid"], one["controller"]) for one in made["ownerReferences"]] == [(ATTEMPT.pod_uid, False)]


@pytest.mark.parametrize("queued", [True, False])
def test_topologies_are_for_who_waits_in_a_queue(queued: bool) -> None:
    """Kueue chooses the node of an executor that is a workload of its own, and reads no other's."""
    template = read_template(rendered("kueue" if queued else "tuning"))
    asked = dict.fromkeys(contract.QUEUE_TOPOLOGY, "rack")
    template["metadata"]["annotations"] = {**template["metadata"]["annotations"], **asked}
    made = pod(Create(7, 0), template)["metadata"]["annotations"]
    assert {key: text for key, text in made.items() if key in contract.QUEUE_TOPOLOGY} == (
        asked if queued else {}
    )


@pytest.mark.parametrize("mark", sorted(contract.QUEUE_MARKS))
def test_a_part_of_the_marks_is_none(mark: str) -> None:
    """With some of them Kueue would hold the pod back forever, or pass it over: it gets none."""
    template = read_template(rendered("kueue"))
    for part in ("labels", "annotations"):
        template["metadata"][part].pop(mark, None)
    made = pod(Create(7, 0), template)["metadata"]
    assert "kueue.x-k8s.io/" not in json.dumps(made)
    assert made["ownerReferences"] == [ATTEMPT.owner]


def test_what_the_allocator_adds_is_what_the_contract_lists() -> None:
    """Name, owner, labels and six variables are added; everything else is as it was rendered."""
    template = read_template(rendered())
    before = copy.deepcopy(template)
    made = pod(Create(7, 0), template)
    assert template == before
    assert made["metadata"]["name"] == "pi-1a2b3c4d-7bab1-exec-7"
    assert made["metadata"]["namespace"] == "analytics"
    assert made["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": "pi-1a2b3c4d-x7k2p",
            "uid": "3f0b1c9e-6c1e-4a52-9f07-2d9a1c5b8e11",
            "controller": True,
        }
    ]
    added = {name: env(made)[name] for name in set(env(made)) - set(env_of(template))}
    assert added == {
        "SPARK_EXECUTOR_ID": "7",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@10.88.1.5:7078",
        "SPARK_APPLICATION_ID": "pi-1a2b3c4d-7bab1",
        "SPARKGEN_START_URL": "http://10.88.1.5:7091/v1/executors/7/start",
        "_SPARK_AUTH_SECRET": {"secretKeyRef": {"name": "pi-1a2b3c4d-7bab1", "key": "secret"}},
    }
    rest = copy.deepcopy(made["spec"])
    rest["containers"][0]["env"] = template["spec"]["containers"][0]["env"]
    assert rest == template["spec"]


def env_of(template: dict[str, Any]) -> list[str]:
    """The names of the template's variables."""
    return [entry["name"] for entry in template["spec"]["containers"][0]["env"]]


def test_labels_are_the_templates_and_those_that_select() -> None:
    """The rendered labels stay, and those by which people and the allocator select are there."""
    made = pod(Create(7, 2))["metadata"]["labels"]
    template = read_template(rendered())["metadata"]["labels"]
    added = {key: value for key, value in made.items() if key not in template}
    assert {key: made[key] for key in template} == {**template, "sparkgen.dev/run": "pi-1a2b3c4d"}
    assert added == {
        "spark-app-selector": "pi-1a2b3c4d-7bab1",
        "spark-exec-id": "7",
        "spark-exec-resourceprofile-id": "2",
        "sparkgen.dev/attempt": "7bab1",
    }


def test_a_variable_of_the_document_does_not_hide_the_allocators() -> None:
    """A document that sets a name of the contract loses it; a duplicate would win over the allocator's."""
    template = read_template(rendered())
    template["spec"]["containers"][0]["env"].append({"name": "SPARK_EXECUTOR_ID", "value": "99"})
    assert env(pod(Create(7, 0), template))["SPARK_EXECUTOR_ID"] == "7"


def test_sidecars_stay_as_they_are() -> None:
    """Only the Spark container gets the variables: the RPC secret is no sidecar's business."""
    template = read_template(rendered())
    template["spec"]["containers"].insert(0, {"name": "logger", "image": "logger:1"})
    made = pod(Create(7, 0), template)
    assert made["spec"]["containers"][0] == {"name": "logger", "image": "logger:1"}


def test_a_profile_changes_cores_and_memory() -> None:
    """Requests, the memory limit and the variables are the profile's; a CPU limit is not invented."""
    made = pod(Create(7, 1, Profile(cores=3, memory=2048, overhead=400, pyspark=100, off_heap=52)))
    assert (env(made)["SPARK_EXECUTOR_CORES"], env(made)["SPARK_EXECUTOR_MEMORY"]) == ("3", "2048m")
    assert spark(made)["resources"] == {
        "requests": {"cpu": "3", "memory": "2600Mi"},
        "limits": {"memory": "2600Mi"},
    }


def test_a_profile_with_the_same_cores_keeps_the_reviewed_cpu_request() -> None:
    """Where only memory differs, a request of half a core per core is not replaced by a whole one."""
    template = with_resources(requests={"cpu": "500m", "memory": "1408Mi"}, limits={"memory": "1408Mi"})
    made = pod(Create(7, 1, Profile(cores=1)), template)
    assert spark(made)["resources"]["requests"]["cpu"] == "500m"


@pytest.mark.parametrize(("limit", "expected"), [("1500m", "2"), ("2", "2"), ("4", "4"), (1, "2")])
def test_a_cpu_limit_is_never_below_the_request(limit: str, expected: str) -> None:
    """The API server refuses a pod whose limit is below its request; a higher limit stays."""
    template = with_resources(requests={"cpu": "1"}, limits={"cpu": limit})
    made = pod(Create(7, 1, Profile(cores=2)), template)
    assert spark(made)["resources"]["limits"]["cpu"] == expected


def test_custom_resources_are_the_profiles_own() -> None:
    """A GPU is named as the template names it; a profile without one has none, though the template has."""
    template = with_resources(
        requests={"cpu": "1", "ephemeral-storage": "1Gi"}, limits={"nvidia.com/gpu": "1"}
    )
    with_two = pod(Create(7, 1, Profile(resources={"gpu": 2})), template)
    without = pod(Create(8, 2, Profile()), template)
    named = pod(Create(9, 3, Profile(resources={"amd.com/gpu": 1})), template)
    assert spark(with_two)["resources"]["limits"] == {"memory": "1408Mi", "nvidia.com/gpu": "2"}
    assert spark(without)["resources"]["limits"] == {"memory": "1408Mi"}
    assert spark(named)["resources"]["limits"] == {"memory": "1408Mi", "amd.com/gpu": "1"}
    assert spark(without)["resources"]["requests"]["ephemeral-storage"] == "1Gi"


@pytest.mark.parametrize(("secret", "named"), [("s3cret", True), (None, False)])
def test_a_secret_is_referred_to_where_there_is_one(secret: str | None, named: bool) -> None:
    """Without authentication nobody makes a Secret, and a container that waits for it never starts."""
    begun = Session(DriverLocation(Path(), "app", "10.0.0.1"), {}, "token", secret)
    given = backend_inputs(
        ATTEMPT, read_template(rendered()), begun, ClockAndRandom(lambda: 0.0, lambda: 0.0)
    )
    made = executor_pod(given.template, given.attempt, Create(7, 0), "http://start", "spark://driver")
    assert ("_SPARK_AUTH_SECRET" in env(made)) is named
    assert ("secretKeyRef" in json.dumps(made["spec"]["containers"][0]["env"])) is named


def test_the_name_of_the_secret_is_nobodys_to_guess() -> None:
    """A neighbour who made it first would know the executors' secret: it follows from the token alone.

    The same for each allocator of one pod; it says nothing of the secret, which a person may have chosen.
    """
    place, template = DriverLocation(Path(), "app", "10.0.0.1"), read_template(rendered())
    clock_and_random = ClockAndRandom(lambda: 0.0, lambda: 0.0)
    names = [
        backend_inputs(
            ATTEMPT, template, Session(place, {}, token, secret), clock_and_random
        ).attempt.secret_name
        for token, secret in (("a", "x"), ("a", "x"), ("a", "y"), ("b", "x"))
    ]
    assert names[0] == names[1] == names[2] != names[3]
    assert all(re.fullmatch(f"{ATTEMPT.secret_name}-[0-9a-f]{{16}}", name) for name in names)
    assert "token" not in names[0]


def test_a_resource_that_nobody_named_is_refused_in_words() -> None:
    """Without a vendor there is no name to ask Kubernetes for; the message says where to give one."""
    with pytest.raises(TemplateError, match=r"resource profile 1 asks for 1 x 'fpga'.*vendor"):
        pod(Create(7, 1, Profile(resources={"fpga": 1})))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not valid JSON"),
        ("[]", "is not a v1 PodTemplate"),
        ('{"kind": "Pod", "template": {}}', "is not a v1 PodTemplate"),
        (
            '{"kind": "PodTemplate", "template": {"spec": {"containers": [{"name": "x"}]}}}',
            "has no container",
        ),
        ('{"kind": "PodTemplate", "template": {"spec": null}}', "has no container"),
    ],
)
def test_a_file_that_is_no_template_is_refused_in_words(text: str, words: str) -> None:
    """Whatever is in the file, the message says what is missing and how to get it."""
    with pytest.raises(TemplateError, match=f"executor.json {words}.*render the application again"):
        read_template(text)


@pytest.mark.parametrize(
    "example", sorted(path.parent.name for path in GOLDEN.glob("*/config-map-tuning.yaml"))
)
def test_every_example_makes_an_executor(example: str) -> None:
    """What is rendered for each example with an allocator becomes a pod, which is JSON."""
    made = pod(Create(1, 0), read_template(rendered(example)))
    assert json.loads(json.dumps(made)) == made


def test_the_grace_of_a_template_is_kubernetes_default_or_its_own() -> None:
    """Thirty seconds, unless the document says otherwise."""
    template = read_template(rendered())
    assert grace_of(template) == 30
    template["spec"]["terminationGracePeriodSeconds"] = 5
    assert grace_of(template) == 5


def test_more_memory_is_in_request_and_limit_and_is_noted() -> None:
    """The Java heap stays as it is: what is added is outside of it."""
    template = read_template(rendered())
    usual, larger = pod(Create(7, 0), template), pod(Create(7, 0, added_memory=512), template)
    assert spark(usual)["resources"]["limits"]["memory"] == "1408Mi"
    assert spark(larger)["resources"]["limits"]["memory"] == "1920Mi"
    assert spark(larger)["resources"]["requests"] == {"cpu": "1", "memory": "1920Mi"}
    assert env(larger) == env(usual)
    added = {contract.ANNOTATION_ADDED_MEMORY: "512Mi"}
    assert larger["metadata"]["annotations"] == usual["metadata"]["annotations"] | added
    assert contract.ANNOTATION_ADDED_MEMORY not in usual["metadata"]["annotations"]


def test_more_memory_than_a_resource_profile_asks_for() -> None:
    """It is added to what the profile asks for."""
    shape = Profile(cores=1, memory=2048, overhead=400)
    made = pod(Create(7, 3, shape, added_memory=100))
    assert spark(made)["resources"]["limits"]["memory"] == "2548Mi"


@pytest.mark.parametrize(
    ("amount", "more"),
    [
        ("1Gi", "1025Mi"),
        ("1.5Gi", "1537Mi"),
        ("1G", str(10**9 + 2**20)),
        ("1073741824", "1025Mi"),
        ("1000m", str(2**20 + 1)),
    ],
)
def test_more_memory_for_every_form_of_quantity(amount: str, more: str) -> None:
    """A document's own template may have written it."""
    template = with_resources(requests={"memory": amount}, limits={"memory": amount, "cpu": "1"})
    resources = spark(pod(Create(7, 0, added_memory=1), template))["resources"]
    assert resources == {"requests": {"memory": more}, "limits": {"memory": more, "cpu": "1"}}


def test_more_memory_than_a_quantity_of_an_unknown_form() -> None:
    """The creation is refused with the reason."""
    with pytest.raises(
        TemplateError, match="cannot add 1 MiB to the executor's memory '1e3': write it as in"
    ):
        pod(Create(7, 0, added_memory=1), with_resources(limits={"memory": "1e3"}))


def test_a_larger_executor_is_no_member_of_a_task_group() -> None:
    """YuniKorn refuses pods of another size than its placeholders have."""
    template = read_template(rendered())
    template["metadata"]["annotations"] = {contract.ANNOTATION_TASK_GROUP: "executors"}
    noted = pod(Create(7, 0, added_memory=64), template)["metadata"]["annotations"]
    assert noted == {contract.ANNOTATION_ADDED_MEMORY: "64Mi"}
