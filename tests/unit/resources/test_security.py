"""Pod Security "restricted" by default, and what the document changes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from k8s import pod_security
from sparkgen import contract

Make = Callable[..., Any]
ROLES = pytest.mark.parametrize("role", ["driver", "executor"])

MAIN = {"driver": contract.DRIVER_CONTAINER, "executor": contract.EXECUTOR_CONTAINER}


@ROLES
def test_pods_are_restricted_by_default(rendered: Make, role: str) -> None:
    """Pod Security "restricted" accepts both pods of the least document."""
    made = rendered(hadoopConf={"a": "b"}, sparkConf={"spark.decommission.enabled": "true"})
    assert pod_security.violations(made.pod(role)) == []


@ROLES
def test_security_contexts_are_laid_over_the_defaults(rendered: Make, role: str) -> None:
    """A field that the document sets changes; the others stay as restricted as they were."""
    fields = {"podSecurityContext": {"runAsUser": 1000}, "securityContext": {"readOnlyRootFilesystem": True}}
    made = rendered(**{role: fields})
    pod, container = made.pod(role)["spec"]["securityContext"], made.spark(role)["securityContext"]
    assert (pod["runAsUser"], pod["runAsGroup"], pod["runAsNonRoot"]) == (1000, 185, True)
    assert container == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


@ROLES
@pytest.mark.parametrize(
    "given", [{"privileged": True}, {"capabilities": {"add": ["CAP_SYS_ADMIN"]}}], ids=str
)
@pytest.mark.parametrize("place", ["field", "template"])
def test_privileges_that_must_be_able_to_grow(rendered: Make, role: str, given: Any, place: str) -> None:
    """Beside these the API server refuses `allowPrivilegeEscalation: false`, which is the default here."""
    template = {"spec": {"containers": [{"name": MAIN[role], "securityContext": given}]}}
    made = rendered(**{role: {"securityContext": given} if place == "field" else {"template": template}})
    container = made.spark(role)["securityContext"]
    assert "allowPrivilegeEscalation" not in container
    assert container.items() >= {"privileged": True}.items() or container["capabilities"]["add"]


@ROLES
def test_containers_of_the_document_are_restricted_too(rendered: Make, role: str) -> None:
    """One that says nothing of its security would be refused; what another one says stays as it is."""
    chown = {"runAsUser": 0, "runAsNonRoot": False}
    fields = {
        "initContainers": [
            {"name": "fetch", "image": "a"},
            {"name": "chown", "image": "b", "securityContext": chown},
        ],
        "sidecars": [{"name": "proxy", "image": "p"}],
        "template": {"spec": {"containers": [{"name": MAIN[role]}, {"name": "shipper", "image": "s"}]}},
    }
    pod = rendered(**{role: fields}).pod(role)
    assert all("chown" in sentence for sentence in pod_security.violations(pod))
    (own,) = [item for item in pod["spec"]["initContainers"] if item["name"] == "chown"]
    assert own["securityContext"] == chown
