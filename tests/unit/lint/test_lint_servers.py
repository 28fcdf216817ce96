"""Rules of policy over history servers and shuffle services, and over the pods rendered from them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sparkgen import schema, semantics
from sparkgen.errors import Severity
from sparkgen.lint.registry import RULES, check
from sparkgen.lint.settings import Settings
from sparkgen.semantics.findings import rules_for
from tests.unit.lint.test_lint_pages import document
from tests.unit.semantics.documents import whole

SETTINGS = Settings(registries=("registry.example.com/",), required_labels=("team",))
HISTORY, SERVICE = "SparkHistoryServer", "SparkShuffleService"
DIGEST = f"registry.example.com/team/spark@sha256:{'a' * 64}"
GOOD = f"""\
metadata: {{name: good, namespace: analytics, labels: {{team: data}}}}
spec:
  image: {DIGEST}
  resources: {{limits: {{cpu: "2"}}}}
"""
GOOD_HISTORY = GOOD + "  podSecurityContext: {runAsUser: 10001}\n  networkPolicy: {enabled: true}\n"
GOOD_SERVICE = GOOD + f"  runtimeImage: {DIGEST}\n  secretName: shuffle\n"
CLAIM = "{eventLog: {dir: 'file:///mnt/logs', claim: logs}"
INGRESS = "{sparkUIOptions: {ingress: {host: h.example.com"

SPECS = {
    "SG204": "{}",
    "SG211": "{podSecurityContext: {windowsOptions: {hostProcess: true}}}",
    "SG214": "{podSecurityContext: {runAsUser: 0}}",
    "SG215": "{podSecurityContext: {seccompProfile: {type: Unconfined}}}",
    "SG217": "{annotations: {container.apparmor.security.beta.kubernetes.io/history: unconfined}}",
    "SG220": "{image: registry.example.com/team/spark:3.5.8}",
    "SG221": "{image: team/spark:3.5.8}",
    "SG222": "{image: docker.io/apache/spark:3.5.8}",
    "SG223": "{image: registry.example.com/team/spark:3.5.8}",
    "SG231": "{podSecurityContext: {runAsUser: 185}}",
    "SG232": "{}",
    "SG234": "{}",
    "SG235": "{sparkUIOptions: {serviceType: NodePort}}",
    "SG237": "{env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}",
    "SG239": "{javaOptions: '-agentlib:jdwp=transport=dt_socket,address=*:5005'}",
    "SG247": "{logging: {level: DEBUG}}",
    "SG254": "{}",
    "SG257": INGRESS + "}}}",
    "SG258": CLAIM + "}",
    "SG260": "{memory: 36g}",
    "SG270": "{networkPolicy: {ingressFrom: [{namespaceSelector: {}}]}}",
}
"""Code -> a spec that has the finding."""


def codes(kind: str) -> list[str]:
    """The codes of the rules that check documents of this kind."""
    return [rule.code for rule in rules_for(kind, RULES)]


def found(kind: str, text: str) -> dict[str, list[str]]:
    """Code -> paths of what is found in a fragment of this kind, which has to be valid."""
    value = whole(f"kind: {kind}\n{text}")
    shown = document(value)
    assert schema.check(shown) == []
    assert [problem for problem in semantics.check(shown) if problem.severity is Severity.ERROR] == []
    result: dict[str, list[str]] = {}
    for problem, _ in check(shown, SETTINGS):
        result.setdefault(problem.code, []).append(".".join(map(str, problem.path)))
    return result


@pytest.mark.parametrize(
    ("kind", "code"), [(kind, code) for kind in (HISTORY, SERVICE) for code in codes(kind)]
)
def test_each_rule_finds_what_it_is_about(kind: str, code: str) -> None:
    """All rules that look at a server do find something in one."""
    assert code in found(kind, f"spec: {SPECS[code]}")


def test_a_good_service_has_no_finding_at_all() -> None:
    """Each finding of a server can be ended by what it says."""
    assert found(SERVICE, GOOD_SERVICE) == {}


def test_a_good_history_server_has_none_but_of_its_metadata() -> None:
    """The documents of these tests give it no namespace and no labels."""
    assert set(found(HISTORY, GOOD_HISTORY)) == {"SG204", "SG254"}


def test_a_service_is_not_held_to_pod_security() -> None:
    """It needs directories, a port and a container of root: SG146 of `validate` says so, once."""
    codes = {rule.code for rule in RULES if rule.profiles == ("pss-restricted",)}
    assert codes
    assert not codes & set(found(SERVICE, "spec: {}"))


def test_both_images_of_a_service_are_looked_at() -> None:
    """The janitor runs as root at its start. The default image of Python has a digest."""
    tagged = "spec: {runtimeImage: 'registry.example.com/sparkgen-runtime:1'}"
    assert found(SERVICE, tagged)["SG220"] == ["spec.runtimeImage", "spec.image"]
    assert found(SERVICE, "spec: {}")["SG220"] == ["spec.image"]


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        (INGRESS + ", tlsSecretName: t}}}", "SG257"),
        (CLAIM + ", cleaner: {}}", "SG258"),
        ("{eventLog: {dir: 's3a://logs/spark'}}", "SG258"),
        ("{podSecurityContext: {runAsUser: 10001}}", "SG231"),
    ],
)
def test_what_is_right_is_not_found(spec: str, code: str) -> None:
    """What a page recommends, and what the rule is not about."""
    assert code not in found(HISTORY, f"spec: {spec}")


def test_a_cleaner_that_is_off_removes_nothing() -> None:
    """An overlay may switch it off."""
    assert "SG258" in found(HISTORY, f"spec: {CLAIM}, cleaner: {{enabled: false}}}}")


def test_an_application_with_an_ingress_is_asked_for_a_certificate() -> None:
    """The field is the same."""
    assert found("SparkApplication", f"spec: {INGRESS}}}}}}}")["SG257"] == [
        "spec.sparkUIOptions.ingress.tlsSecretName"
    ]


def test_the_page_lists_the_rules_of_servers() -> None:
    """docs/lint.md says which rules look at which kind."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "lint.md").read_text(encoding="utf-8")
    for kind in (HISTORY, SERVICE):
        (row,) = re.findall(rf"^\| `{kind}` \|(.*)\|$", page, re.MULTILINE)
        assert re.findall(r"SG\d+", row) == codes(kind)
