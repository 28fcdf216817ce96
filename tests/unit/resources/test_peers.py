"""Lists of peers, in documents of all kinds: who is named is let in, and an empty list names nobody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sparkgen.model import describe
from sparkgen.resources import render
from sparkgen.schema import fields as schema_fields
from sparkgen.schema import store

IMAGE = {"sparkVersion": "4.3.0", "image": "i:1"}
MAIN = {"type": "Python", "mainApplicationFile": "local:///main.py"}
LEAST: dict[str, dict[str, Any]] = {
    "applicationSpec": {"kind": "SparkApplication", "spec": {**IMAGE, **MAIN}},
    "scheduledSpec": {
        "kind": "ScheduledSparkApplication",
        "spec": {"schedule": "@daily", "template": {**IMAGE, **MAIN}},
    },
    "connectServerSpec": {"kind": "SparkConnectServer", "spec": IMAGE},
    "notebookSpec": {
        "kind": "SparkNotebook",
        "spec": {**IMAGE, "notebook": {"token": {"name": "t", "key": "k"}}},
    },
    "shuffleServiceSpec": {
        "kind": "SparkShuffleService",
        "spec": {
            **IMAGE,
            "directories": ["/mnt/disk"],
            "secretName": "s",
            "networkPolicy": {"ingressFrom": [{"podSelector": {}}]},
        },
    },
    "historyServerSpec": {"kind": "SparkHistoryServer", "spec": {**IMAGE, "eventLog": {"dir": "s3a://l"}}},
    "stagingServerSpec": {
        "kind": "SparkStagingServer",
        "spec": {"storage": {"claim": "c"}, "credentials": {"secretName": "s"}},
    },
}
"""Definition of a spec in the schema -> a small document."""

NAMED = [{"ipBlock": {"cidr": "192.0.2.7/32"}}]


def lists(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all lists of peers below a schema that may be empty."""
    if store.kubernetes_type(schema.get("$ref", "")):
        return
    schema = schema_fields.merged(schema) if "$ref" in schema else schema
    peers = str(schema.get("items", {}).get("$ref", "")).endswith("NetworkPolicyPeer")
    if peers and not schema.get("minItems"):
        yield path
    for name, child in schema.get("properties", {}).items():
        yield from lists(child, (*path, name))


CASES = [(spec, path) for spec in LEAST for path in sorted(lists(store.application_schema()["$defs"][spec]))]


def sources(spec: str, path: tuple[str, ...], peers: Any) -> list[Any]:
    """Each rule's `from` in the policies of a document with this list; "everybody" for a rule without one."""
    value: dict[str, Any] = {"apiVersion": "sparkgen.dev/v1alpha1", "metadata": {"name": "x"}, **LEAST[spec]}
    at = value["spec"] = dict(value["spec"])
    for name in path[:-1]:
        at[name] = dict(at.get(name, {}))
        at = at[name]
    at[path[-1]] = peers
    below = value["spec"]["template"] if path[0] == "template" else value["spec"]
    below["networkPolicy"] = {**below.get("networkPolicy", {}), "enabled": True}
    policies = [item for item in render(describe(value, "n")) if item["kind"] == "NetworkPolicy"]
    assert policies
    assert all(policy["spec"]["policyTypes"] == ["Ingress"] for policy in policies)
    return [rule.get("from", "everybody") for one in policies for rule in one["spec"].get("ingress", ())]


def test_all_kinds_are_looked_at() -> None:
    """Each kind has a list, and a small document here."""
    specs = {name for name in store.application_schema()["$defs"] if name.endswith("Spec")}
    assert specs == set(LEAST)
    assert {spec for spec, _ in CASES} == specs


@pytest.mark.parametrize(("spec", "path"), CASES)
def test_an_empty_list_lets_in_nobody(spec: str, path: tuple[str, ...]) -> None:
    """It takes away the rule that one peer has, and adds no other: `from: []` would let in everybody."""
    one = sources(spec, path, NAMED)
    assert one.count(NAMED) == 1
    one.remove(NAMED)
    assert sources(spec, path, []) == one
    assert [] not in one
