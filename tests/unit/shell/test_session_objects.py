"""The objects of a session: the application's allocator alone, with the same rights, and nothing of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from k8s import pod_security
from sparkgen import contract, model, names
from sparkgen.errors import SparkgenError
from sparkgen.objects import Object
from sparkgen.runtime.allocator.pods.template import read_template
from sparkgen.runtime.registry_gc.values import DIGEST
from sparkgen.shell.requirements import check_allocator
from sparkgen.shell.session_objects import (
    AskedSession,
    SessionObjects,
    config_maps,
    network_policy,
    objects_of,
)

EXAMPLES = Path(__file__).parents[3] / "examples"
DOCUMENTS = {path.parent.name: yaml.safe_load(path.read_text()) for path in EXAMPLES.glob("*/app.yaml")}
APPLICATIONS = sorted(
    name
    for name, value in DOCUMENTS.items()
    if value["kind"] in ("SparkApplication", "ScheduledSparkApplication")
    and value["spec"].get("allocator") != "spark"
)
EACH = pytest.mark.parametrize("example", APPLICATIONS)
HASH = "0f" * 32


def made(example: str, **metadata: Any) -> SessionObjects:
    """The session's objects of an example."""
    value = yaml.safe_load((EXAMPLES / example / "app.yaml").read_text())
    value["metadata"] |= metadata
    value["spec"].setdefault("image", "x")
    value["spec"].get("template", {}).setdefault("image", "x")
    return objects_of(model.build(value), AskedSession(value["metadata"]["name"], "0a1b2", HASH))


def served(job: Object) -> Object:
    """The Job as the API server has it."""
    return {**job, "metadata": {**job["metadata"], "uid": "uid-of-the-job"}}


def test_the_job_names_the_artifacts_of_its_executors() -> None:
    """A staging server's garbage collection keeps what a Job names; it reads no ConfigMap."""
    folder = EXAMPLES / "laptop-code"
    value = yaml.safe_load((folder / "app.yaml").read_text())
    lock = yaml.safe_load((folder / "app.lock.yaml").read_text())
    value["spec"]["artifacts"] = lock["spec"]["artifacts"]
    job = objects_of(model.build(value, "analytics"), AskedSession("etl", "0a1b2", HASH)).job
    manifests = {one["reference"].partition("@")[2] for one in value["spec"]["artifacts"]}
    assert manifests
    assert set(DIGEST.findall(json.dumps(job["spec"]["template"]))) == manifests


@EACH
def test_the_pod_is_the_allocator_alone_and_restricted(example: str) -> None:
    """Whatever the document says of its driver's pod: no Spark, nothing installed, nothing of the node."""
    job = made(example).job
    template = job["spec"]["template"]
    pod = template["spec"]
    assert pod_security.violations(template) == []
    assert [one["name"] for one in pod["containers"]] == ["allocator"]
    assert "initContainers" not in pod
    assert {one["name"] for one in pod["volumes"]} == {
        f"sparkgen-{name}" for name in ("conf", "executor", "session", "token", "tuning")
    }
    variables = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
    assert variables["SPARKGEN_SESSIONS"] == "client"
    assert variables["SPARKGEN_SESSION_TOKEN_SHA256"] == HASH
    assert variables["SPARKGEN_RUN"] == job["metadata"]["name"]
    assert pod["restartPolicy"] == "OnFailure"
    assert pod["automountServiceAccountToken"] is False


@EACH
def test_everything_of_it_says_that_it_is_a_session(example: str) -> None:
    """So that nobody takes it for a run of the document; and goes with its Job, but for what is shared."""
    objects = made(example)
    job = objects.job
    owned = [*config_maps(objects, served(job)), network_policy(served(job), "10.1.2.3")]
    for item in (job, *owned, job["spec"]["template"]):
        labels = item["metadata"]["labels"]
        assert labels["app.kubernetes.io/component"] == "session"
        assert labels["sparkgen.dev/run"] == job["metadata"]["name"]
    assert {item["metadata"]["ownerReferences"][0]["uid"] for item in owned} == {"uid-of-the-job"}
    mounted = {
        volume["configMap"]["name"]
        for volume in job["spec"]["template"]["spec"]["volumes"]
        if "configMap" in volume
    }
    assert mounted <= {item["metadata"]["name"] for item in owned}
    assert {item["kind"] for item in objects.basis} <= {
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "NetworkPolicy",
    }
    assert not [item for item in objects.basis if item["metadata"]["name"].endswith("-history")]


@EACH
def test_executors_are_those_of_the_document(example: str) -> None:
    """Their template differs in the run's name alone."""
    objects = made(example)
    before = next(item for item in objects.files if item["metadata"]["name"].endswith("-executor"))
    after = next(
        item
        for item in config_maps(objects, served(objects.job))
        if item["metadata"]["name"].endswith("-executor")
    )
    text = after["data"][contract.EXECUTOR_TEMPLATE_FILE]
    read_template(text)
    old = before["data"][contract.EXECUTOR_TEMPLATE_FILE]
    name = objects.job["metadata"]["name"]
    assert json.loads(text) == json.loads(old.replace(objects.run, name))


def test_how_long_it_lasts() -> None:
    """A day, or what the document says; a minute is left to read why it has ended."""
    spec = made("python-pi").job["spec"]
    assert (spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"], spec["suspend"]) == (
        86400,
        60,
        True,
    )


def test_queues_hold_for_sessions() -> None:
    """Kueue's label stays on the Job; what makes it a controller's does not."""
    labels = {"kueue.x-k8s.io/queue-name": "team", "app.kubernetes.io/instance": "argo"}
    annotations = {"argocd.argoproj.io/tracking-id": "x", "team": "a"}
    metadata = made("python-pi", labels=labels, annotations=annotations).job["metadata"]
    assert metadata["labels"]["kueue.x-k8s.io/queue-name"] == "team"
    assert "app.kubernetes.io/instance" not in metadata["labels"]
    assert metadata["annotations"] == {"team": "a"}


def test_the_network_policy_lets_the_driver_in() -> None:
    """Only it, and only at the executors' data and the allocator."""
    objects = made("network-policy-and-pdb")
    assert objects.policy
    [rule] = network_policy(served(objects.job), "2001:db8::7")["spec"]["ingress"]
    assert rule["from"] == [{"ipBlock": {"cidr": "2001:db8::7/128"}}]
    assert [port["port"] for port in rule["ports"]] == [7079, 7091]


@given(st.from_regex(r"[a-z]([a-z0-9-]{0,43}[a-z0-9])?", fullmatch=True))
def test_names_are_as_long_as_a_runs(application: str) -> None:
    """An application id is a label's value, also that of the hundredth driver."""
    name = names.session_name(application, "0a1b2")
    longest = len(names.run_name("a" * names.MAX_APPLICATION_NAME, names.RUN_PLACEHOLDER))
    assert len(name) <= longest
    assert name.endswith("-session-0a1b2")
    assert "--session" not in name


def test_spark_creates_no_executors_for_a_session() -> None:
    """Its Role is that of Spark's backend, and a session does not change it."""
    with pytest.raises(SparkgenError, match="the document has allocator: spark"):
        check_allocator(model.build(DOCUMENTS["spark-backend"]))
