"""The objects: which there are, what they are called, and what form they have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sparkgen.names import MAX_APPLICATION_NAME

Make = Callable[..., Any]

ALWAYS = {"type": "Always"}
FORMS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("SparkApplication", {}, "Job"),
    ("SparkApplication", {"restartPolicy": {"type": "OnFailure", "onFailureRetries": 2}}, "Job"),
    ("SparkApplication", {"restartPolicy": ALWAYS}, "Deployment"),
    ("ScheduledSparkApplication", {}, "CronJob"),
)
EVERYTHING: dict[str, Any] = {
    "hadoopConf": {"a": "b"},
    "networkPolicy": {"ingressFrom": [{"podSelector": {}}]},
    "podDisruptionBudget": {"enabled": True},
}


@pytest.mark.parametrize(("kind", "spec", "form"), FORMS)
def test_which_objects_there_are(rendered: Make, kind: str, spec: dict[str, Any], form: str) -> None:
    """The least document has these, in the order in which they are applied."""
    made = rendered(kind, **spec)
    assert [item["kind"] for item in made.objects] == [
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "ConfigMap",
        "ConfigMap",
        "ConfigMap",
        "Service",
        form,
    ]


@pytest.mark.parametrize(("kind", "spec", "form"), FORMS)
def test_names(rendered: Make, kind: str, spec: dict[str, Any], form: str) -> None:
    """A run's objects have its name; the application's have the application's."""
    made = rendered(kind, **spec, **EVERYTHING)
    names = {(item["kind"], item["metadata"]["name"]) for item in made.objects}
    run = made.config_map("conf")["metadata"]["name"].removesuffix("-conf")
    assert re.fullmatch(r"pi-[0-9a-f]{8}", run)
    assert names == {
        ("ServiceAccount", "pi"),
        ("Role", "pi"),
        ("RoleBinding", "pi"),
        ("ConfigMap", f"{run}-conf"),
        ("ConfigMap", f"{run}-hadoop"),
        ("ConfigMap", f"{run}-executor"),
        ("ConfigMap", "pi-tuning"),
        ("NetworkPolicy", "pi"),
        ("PodDisruptionBudget", "pi-driver"),
        ("Service", "pi-ui"),
        (form, run if form == "Job" else "pi"),
    }


def strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, text) of every text in an object."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from strings(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item, key)
    elif isinstance(value, str):
        yield key, value


@pytest.mark.parametrize(("kind", "spec", "form"), FORMS)
def test_the_longest_name_fits_everywhere(rendered: Make, kind: str, spec: dict[str, Any], form: str) -> None:
    """With the longest application name no label's value, port or object's name is too long."""
    made = rendered(kind, {"name": "a" * MAX_APPLICATION_NAME}, **spec, **EVERYTHING)
    limits = {"Job": 63, "CronJob": 52, "Service": 63, "Deployment": 63}
    for item in made.objects:
        assert len(item["metadata"]["name"]) <= limits.get(item["kind"], 253)
    labels = [item["metadata"]["labels"] for item in made.objects]
    labels += [made.driver["metadata"]["labels"], made.executor["metadata"]["labels"]]
    assert all(len(text) <= 63 for found in labels for text in found.values())


def test_every_object_is_labelled_and_placed(rendered: Make) -> None:
    """Namespace, the application's labels and annotations, and sparkgen's labels are on every object."""
    metadata = {"namespace": "jobs", "labels": {"team": "a"}, "annotations": {"note": "b"}}
    made = rendered(metadata=metadata, **EVERYTHING)
    for item in made.objects:
        found = item["metadata"]
        assert (found["namespace"], found["labels"]["team"], found["annotations"]["note"]) == (
            "jobs",
            "a",
            "b",
        )
        assert found["labels"]["app.kubernetes.io/name"] == "pi"
        assert found["labels"]["app.kubernetes.io/managed-by"] == "sparkgen"
        assert found["labels"]["sparkgen.dev/application"] == "pi"
    of_the_run = [
        item["metadata"]["name"] for item in made.objects if "sparkgen.dev/run" in item["metadata"]["labels"]
    ]
    run = made.workload["metadata"]["name"]
    assert sorted(of_the_run) == sorted([run, f"{run}-conf", f"{run}-hadoop", f"{run}-executor"])


def test_files_of_a_run_do_not_change(rendered: Make) -> None:
    """A run's ConfigMaps are immutable; the tuning is not."""
    made = rendered(hadoopConf={"a": "b"})
    found = {
        item["metadata"]["name"].rpartition("-")[2]: item.get("immutable") for item in made.all("ConfigMap")
    }
    assert found == {"conf": True, "hadoop": True, "executor": True, "tuning": None}


# --- rights -----------------------------------------------------------------------------------------


def test_rights_are_the_least(rendered: Make) -> None:
    """One namespace; no Secret can be read; nothing can be changed but pods made and removed."""
    rules = {rule["resources"][0]: rule for rule in rendered().one("Role")["rules"]}
    assert {name: rule["verbs"] for name, rule in rules.items()} == {
        "pods": ["create", "delete", "get", "list", "watch"],
        "secrets": ["create"],
        "events": ["create"],
    }


def test_binding_ties_the_account_to_the_role(rendered: Make) -> None:
    """The subject is the account that the driver's pod runs as, wherever its name comes from."""
    made = rendered(metadata={"namespace": "jobs"}, serviceAccount={"name": "own"})
    binding = made.one("RoleBinding")
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "own", "namespace": "jobs"}]
    assert binding["roleRef"]["name"] == made.one("Role")["metadata"]["name"]
    assert (
        made.driver["spec"]["serviceAccountName"] == made.one("ServiceAccount")["metadata"]["name"] == "own"
    )


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        ({"serviceAccount": {"create": False, "name": "own"}}, {"ServiceAccount"}),
        ({"driver": {"serviceAccount": "own"}}, {"ServiceAccount"}),
        ({"rbac": {"create": False}}, {"Role", "RoleBinding"}),
    ],
)
def test_accounts_and_rights_of_ones_own(rendered: Make, spec: dict[str, Any], missing: set[str]) -> None:
    """What somebody else makes is not rendered."""
    kinds = {item["kind"] for item in rendered(**spec).objects}
    assert {"ServiceAccount", "Role", "RoleBinding"} - kinds == missing


def test_annotations_of_the_account(rendered: Make) -> None:
    """Cloud identities hang on them; they join the application's own."""
    made = rendered(metadata={"annotations": {"note": "n"}}, serviceAccount={"annotations": {"role": "r"}})
    assert made.one("ServiceAccount")["metadata"]["annotations"] == {"note": "n", "role": "r"}
    assert made.one("ServiceAccount")["automountServiceAccountToken"] is False


# --- workloads --------------------------------------------------------------------------------------


def test_a_job_runs_once(rendered: Make) -> None:
    """No retry unless asked, and never a second driver beside a lost one."""
    spec = rendered().one("Job")["spec"]
    assert {key: spec[key] for key in spec if key != "template"} == {
        "backoffLimit": 0,
        "podReplacementPolicy": "Failed",
    }


def test_a_job_with_retries_does_not_count_disruptions(rendered: Make) -> None:
    """A drained node is no failure of the application; without retries there is nothing to count."""
    made = rendered(
        restartPolicy={"type": "OnFailure", "onFailureRetries": 3},
        activeDeadlineSeconds=60,
        timeToLiveSeconds=0,
        suspend=True,
    )
    spec = made.one("Job")["spec"]
    (rule,) = spec["podFailurePolicy"]["rules"]
    assert rule["action"] == "Ignore"
    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"]) == (3, 60)
    assert (spec["ttlSecondsAfterFinished"], spec["suspend"]) == (0, True)
    assert made.driver["spec"]["restartPolicy"] == "Never"


def test_cron_job(rendered: Make) -> None:
    """One object forever; its pods belong to the newest run."""
    made = rendered("ScheduledSparkApplication", activeDeadlineSeconds=60)
    spec = made.one("CronJob")["spec"]
    assert (spec["schedule"], spec["concurrencyPolicy"], spec["suspend"]) == ("@daily", "Forbid", False)
    assert "timeZone" not in spec
    assert spec["jobTemplate"]["spec"]["activeDeadlineSeconds"] == 60
    run = made.config_map("conf")["metadata"]["labels"]["sparkgen.dev/run"]
    assert spec["jobTemplate"]["metadata"]["labels"]["sparkgen.dev/run"] == run
    assert made.driver["metadata"]["labels"]["sparkgen.dev/run"] == run
    assert "sparkgen.dev/run" not in made.one("CronJob")["metadata"]["labels"]


def test_deployment(rendered: Make) -> None:
    """One driver at a time, found by labels that no run changes; `suspend` stops it."""
    made = rendered(restartPolicy=ALWAYS)
    spec = made.one("Deployment")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    selector = spec["selector"]["matchLabels"]
    assert selector == {"sparkgen.dev/application": "pi", "spark-role": "driver"}
    assert selector.items() <= made.driver["metadata"]["labels"].items()
    assert made.driver["spec"]["restartPolicy"] == "Always"
    assert rendered(restartPolicy=ALWAYS, suspend=True).one("Deployment")["spec"]["replicas"] == 0


# --- service, policy, budget ------------------------------------------------------------------------


def test_ui_service(rendered: Make) -> None:
    """It selects the current run's driver alone, by a port that the driver has."""
    made = rendered()
    service = made.one("Service")
    assert service["spec"]["selector"].items() <= made.driver["metadata"]["labels"].items()
    assert not service["spec"]["selector"].items() <= made.executor["metadata"]["labels"].items()
    (port,) = service["spec"]["ports"]
    assert (service["spec"]["type"], port["port"]) == ("ClusterIP", 4040)
    assert port["targetPort"] in [item["name"] for item in made.spark("driver")["ports"]]


def test_ui_options(rendered: Make) -> None:
    """Type, port, labels and annotations of the Service; sparkgen's labels stay."""
    options = {
        "serviceType": "LoadBalancer",
        "servicePort": 80,
        "serviceAnnotations": {"a": "b"},
        "serviceLabels": {"expose": "yes", "sparkgen.dev/application": "other"},
    }
    service = rendered(sparkUIOptions=options).one("Service")
    assert (service["spec"]["type"], service["spec"]["ports"][0]["port"]) == ("LoadBalancer", 80)
    assert service["metadata"]["annotations"] == {"a": "b"}
    assert service["metadata"]["labels"]["expose"] == "yes"
    assert service["metadata"]["labels"]["sparkgen.dev/application"] == "pi"


def test_network_policy(rendered: Make) -> None:
    """Pods of the application reach each other; the named peers reach UI and metrics, and nothing else."""
    peer = {"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}
    made = rendered(networkPolicy={"ingressFrom": [peer]})
    spec = made.one("NetworkPolicy")["spec"]
    own = spec["podSelector"]["matchLabels"]
    for role in ("driver", "executor"):
        assert own.items() <= made.pod(role)["metadata"]["labels"].items()
    assert spec["policyTypes"] == ["Ingress"]
    ours, theirs = spec["ingress"]
    assert ours == {"from": [{"podSelector": {"matchLabels": own}}]}
    assert theirs["from"] == [peer]
    assert [port["port"] for port in theirs["ports"]] == [4040, 7091]


@pytest.mark.parametrize("policy", [{}, {"enabled": True}, {"ingressFrom": []}])
def test_network_policy_without_peers(rendered: Make, policy: dict[str, Any]) -> None:
    """An empty list of peers lets nobody in; as a rule it would let in everybody."""
    assert len(rendered(networkPolicy=policy).one("NetworkPolicy")["spec"]["ingress"]) == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"minAvailable": 1}),
        ({"enabled": True, "maxUnavailable": 0}, {"maxUnavailable": 0}),
        ({"minAvailable": "100%"}, {"minAvailable": "100%"}),
        (
            {"unhealthyPodEvictionPolicy": "AlwaysAllow"},
            {"minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
        ),
    ],
)
def test_disruption_budget(rendered: Make, given: dict[str, Any], expected: dict[str, Any]) -> None:
    """It is about the driver; without a number it keeps one pod."""
    made = rendered(podDisruptionBudget=given)
    spec = made.one("PodDisruptionBudget")["spec"]
    selector = spec.pop("selector")["matchLabels"]
    assert spec == expected
    assert selector.items() <= made.driver["metadata"]["labels"].items()
    assert not selector.items() <= made.executor["metadata"]["labels"].items()
