"""Checking manifests with the real kubeconform: it finds what a cluster would refuse, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from common.cachedir import ToolError
from k8s.kubeconform import Finding, causes
from k8s.kubernetes_schemas import MINOR_VERSIONS

Check = Callable[..., tuple[Finding, ...]]

POD = """
      restartPolicy: Never
      serviceAccountName: a
      containers:
      - name: main
        image: spark:4.0.0
        resources: {requests: {cpu: "1", memory: 1Gi}, limits: {memory: 1Gi}}
"""
JOB = f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: job, labels: {{a: b}}}}
spec:
  backoffLimit: 0
  podReplacementPolicy: Failed
  template:
    spec:{POD}"""
GOOD = f"""{JOB}---
apiVersion: batch/v1
kind: CronJob
metadata: {{name: cron}}
spec:
  schedule: "0 4 * * *"
  timeZone: Europe/Berlin
  jobTemplate:
    spec:
      template:
        spec: {{restartPolicy: Never, containers: [{{name: main, image: "spark:4.0.0"}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: deployment}}
spec:
  strategy: {{type: Recreate}}
  selector: {{matchLabels: {{a: b}}}}
  template:
    metadata: {{labels: {{a: b}}}}
    spec: {{containers: [{{name: main, image: "spark:4.0.0"}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: role}}
rules: [{{apiGroups: [""], resources: [pods], verbs: [create, get]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: binding}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: role}}
subjects: [{{kind: ServiceAccount, name: a}}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: a}}
automountServiceAccountToken: false
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: conf}}
immutable: true
data: {{spark-defaults.conf: "spark.app.name a"}}
---
apiVersion: v1
kind: Service
metadata: {{name: ui}}
spec: {{selector: {{a: b}}, ports: [{{port: 4040, targetPort: ui}}]}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: policy}}
spec: {{podSelector: {{}}, ingress: [{{ports: [{{port: 7078}}]}}]}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: budget}}
spec: {{maxUnavailable: 0, selector: {{matchLabels: {{a: b}}}}}}
"""


def test_good_objects_of_every_rendered_kind_pass(kubeconform: Check) -> None:
    """One object of each kind that sparkgen renders passes for Kubernetes 1.30 to 1.36."""
    assert kubeconform(GOOD) == ()


FAULTS = {
    "an-unknown-field.yaml": (
        "restartPolicy: Never\n",
        "restartPolicy: Never\n      hostNetwerk: true\n",
        "/spec/template/spec",
        "additional properties 'hostNetwerk' not allowed",
    ),
    "no-required-field.yaml": (
        "      - name: main\n        image:",
        "      - image:",
        "/spec/template/spec/containers/0",
        "missing property 'name'",
    ),
    "the-wrong-type.yaml": (
        "backoffLimit: 0",
        'backoffLimit: "0"',
        "/spec/backoffLimit",
        "got string, want null or integer",
    ),
}
"""File -> what stands in JOB, what is in its place, where the fault is, and what is said of it."""


def test_each_fault_is_found_in_every_version(kubeconform: Check) -> None:
    """Exactly the one fault of each file is found, at its place, once per version."""
    broken = {name: JOB.replace(before, after, 1) for name, (before, after, *_) in FAULTS.items()}
    assert JOB not in broken.values()
    assert kubeconform({**broken, "good.yaml": GOOD}) == tuple(
        Finding(name, "Job", "job", path, message, version)
        for name, (_, _, path, message) in FAULTS.items()
        for version in MINOR_VERSIONS
    )


def test_a_field_that_came_later_is_found_only_before(kubeconform: Check) -> None:
    """Versions differ: a pod's own resources came with Kubernetes 1.32 (PodLevelResources)."""
    text = JOB.replace(
        "restartPolicy: Never\n", "restartPolicy: Never\n      resources: {limits: {cpu: 1}}\n", 1
    )
    assert [found.kubernetes for found in kubeconform(text)] == ["1.30", "1.31"]


def test_a_repeated_key_is_found(kubeconform: Check) -> None:
    """A key written twice, which most parsers accept, is a finding."""
    text = JOB.replace("  backoffLimit: 0\n", "  backoffLimit: 0\n  backoffLimit: 0\n")
    (found,) = kubeconform(text, versions=("1.36",))
    assert 'key "backoffLimit" already set' in found.message


def test_an_unknown_kind_is_found(kubeconform: Check) -> None:
    """An object without a schema is not passed over."""
    (found,) = kubeconform("apiVersion: v1\nkind: Jop\nmetadata: {name: x}\n", versions=("1.36",))
    assert (found.kind, found.message) == ("Jop", "could not find schema for Jop")


def test_a_kustomization_is_passed_over_but_is_not_enough(kubeconform: Check) -> None:
    """It stands beside manifests and is no object of a cluster; a check of nothing else is an error."""
    kustomization = (
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [job.yaml]\n"
    )
    assert kubeconform({"kustomization.yaml": kustomization, "job.yaml": JOB}, versions=("1.36",)) == ()
    for nothing in (kustomization, "", "---\n"):
        with pytest.raises(ToolError, match="no manifest in"):
            kubeconform(nothing, versions=("1.36",))


def test_the_tree_in_a_message_becomes_its_leaves() -> None:
    """Inner nodes say nothing; a message about the whole object stays as it is."""
    message = (
        "validation failed with 'file:///x.json#' - at '/spec': validation failed"
        "   - at '/spec/a': got string, want null or integer   - at '': missing property 'b'"
    )
    assert causes(message) == [("/spec/a", "got string, want null or integer"), ("", "missing property 'b'")]
    assert causes("could not find schema for Jop") == [("", "could not find schema for Jop")]
