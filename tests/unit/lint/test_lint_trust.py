"""One shuffle service for namespaces that may not trust each other: what can be known of it, and what not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkgen.errors import path_text
from sparkgen.lint.registry import check_together
from sparkgen.lint.rules_trust import many_namespaces, shared_services
from sparkgen.lint.serversubject import ServerSubject
from sparkgen.lint.settings import Settings
from tests.unit.cli.conftest import Cli, cli
from tests.unit.lint.test_lint_pages import document
from tests.unit.semantics.documents import whole

__all__ = ["cli"]

LABEL = "kubernetes.io/metadata.name"
SERVICE = {"name": "shuffle-35", "namespace": "shuffle", "secretName": "s"}


def app(namespace: str | None, service: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """An application of a namespace that uses a service."""
    where = {} if namespace is None else {"namespace": namespace}
    return {
        "kind": "SparkApplication",
        "metadata": {"name": f"of-{namespace}", **where},
        "spec": {"shuffleService": SERVICE if service is None else service, **spec},
    }


def found(*values: dict[str, Any]) -> dict[int, str]:
    """Index of a document -> what is said of it."""
    return {index: finding.message for index, finding in shared_services(values)}


def test_each_application_is_told_of_the_other_namespaces() -> None:
    """Of all of them, and not of its own; a service that another namespace has alone is no business of it."""
    other = {**SERVICE, "name": "shuffle-40"}
    said = found(app("finance"), app("science"), app("finance"), app("ops"), app("alone", other))
    assert set(said) == {0, 1, 2, 3}
    assert said[0] == said[2]
    assert said[0].startswith("applications in ops and science use the same service")
    assert said[1].startswith("applications in finance and ops use the same service")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (app("a"), app("a")),
        (app("a"), app(None)),
        (app("a"), app("b", {"mode": "sidecar"})),
        (app("a"), app("b", {**SERVICE, "namespace": "elsewhere"})),
        (app("a", {"name": "s", "secretName": "s"}), app("b", {"name": "s", "secretName": "s"})),
        (app("a"), app("b", {"name": "shuffle-35", "namespace": "shuffle"})),
        (app("a"), {"kind": "SparkShuffleService", "metadata": {"name": "x", "namespace": "b"}, "spec": {}}),
    ],
    ids=["one-namespace", "none-named", "sidecar", "another", "own-namespaces", "no-secret", "a-service"],
)
def test_what_says_nothing(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Documents that share no secret, as far as they say."""
    assert found(one, other) == {}


def test_a_scheduled_application_counts() -> None:
    """Its service stands a level deeper."""
    spec = {"schedule": "@daily", "template": {"shuffleService": SERVICE}}
    scheduled = {
        "kind": "ScheduledSparkApplication",
        "metadata": {"name": "x", "namespace": "b"},
        "spec": spec,
    }
    documents = [document(whole("metadata: {namespace: a}\nspec: {shuffleService: {name: s, namespace: n}}"))]
    assert check_together(documents) == []
    (_, finding) = shared_services([app("a"), scheduled])[1]
    assert path_text(finding.path) == "spec.template.shuffleService.secretName"


def peers(*selectors: dict[str, Any]) -> list[str]:
    """What is said of a service that lets these namespaces in."""
    policy = {"ingressFrom": [{"namespaceSelector": selector} for selector in selectors]}
    value = whole("kind: SparkShuffleService\nspec: {}")
    value["spec"]["networkPolicy"] = policy
    return [finding.message for finding in many_namespaces.check(ServerSubject.of(value, Settings()))]


def named(name: str) -> dict[str, Any]:
    """The selector of a namespace."""
    return {"matchLabels": {LABEL: name}}


def test_namespaces_of_a_policy_are_counted() -> None:
    """By their names, however they are selected; one that is named twice is one."""
    (said,) = peers(named("finance"), named("science"))
    assert said.startswith("applications in finance and science are let in")
    inside = {"matchExpressions": [{"key": LABEL, "operator": "In", "values": ["a", "b"]}]}
    assert len(peers(inside)) == 1
    assert len(peers({})) == 1
    assert peers(named("finance"), named("finance")) == []
    assert peers({"matchLabels": {"team": "finance"}}) == []
    assert peers() == []


APP = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: {{name: {0}, namespace: {0}, labels: {{team: x}}}}
spec:
  type: Python
  sparkVersion: "3.5.8"
  image: docker.io/apache/spark:3.5.8
  mainApplicationFile: local:///a.py
  shuffleService:
    name: shuffle-35
    namespace: shuffle
    secretName: shuffle{1}
"""


def test_the_command_compares_what_it_reviews(cli: Cli) -> None:
    """Each document at its line; a comment with a reason ignores it, and one document alone shows nothing."""
    Path(".git").mkdir()
    Path("a.yaml").write_text(APP.format("finance", ""))
    Path("b.yaml").write_text(APP.format("science", "  # sparkgen: ignore SG270 -- one team"))
    said = cli("lint", "a.yaml", "b.yaml", "--profile", "production").out
    assert "a.yaml:12:17: warning[SG270] spec.shuffleService.secretName: applications in science" in said
    assert "b.yaml:12" not in said
    assert "SG270" not in cli("lint", "a.yaml", "--profile", "production").out
    Path("b.yaml").write_text(APP.format("science", "\n  typo: 1"))
    assert "SG270" not in cli("lint", "a.yaml", "b.yaml", "--profile", "production").out
