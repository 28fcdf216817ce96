"""What starts a new run, and what does not: the heart of safety under GitOps."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.model import build
from sparkgen.resources import render, run_name
from sparkgen.resources.run import files, identity

SCHEMA = json.loads(
    Path(__file__).parents[3].joinpath("schemas", "spark-application.schema.json").read_text("utf-8")
)

BASE: dict[str, Any] = {
    "type": "Python",
    "sparkVersion": "3.5.8",
    "image": "spark:3.5.8",
    "mainApplicationFile": "local:///app.py",
    "sparkConf": {"spark.a": "1", "spark.b": "2"},
    "driver": {"labels": {"x": "1", "y": "2"}},
}
"""What the documents of these tests have in common."""

Path_ = tuple[str, ...]


def value(
    spec: dict[str, Any] | None = None, kind: str = "SparkApplication", **metadata: Any
) -> dict[str, Any]:
    """A document's value."""
    spec = BASE if spec is None else spec
    outer = spec if kind == "SparkApplication" else {"schedule": "@daily", "template": spec}
    return {"kind": kind, "metadata": {"name": "pi", **metadata}, "spec": outer}


def run(spec: dict[str, Any] | None = None, kind: str = "SparkApplication", **metadata: Any) -> str:
    """The name of the run that a document describes."""
    return run_name(build(value(spec, kind, **metadata)))


def with_field(path: Path_, new: Any) -> dict[str, Any]:
    """The base with one field set."""
    spec = copy.deepcopy(BASE)
    place = spec
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = new
    return spec


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """What a `$ref` into this schema points at, with the keywords beside it."""
    found: Any = SCHEMA
    for part in schema.get("$ref", "#").removeprefix("#").strip("/").split("/"):
        found = found.get(part, {}) if part else {}
    return {**found, **schema}


def fields(
    schema: dict[str, Any], path: Path_ = (), tunable: bool = False
) -> Iterator[tuple[Path_, Any, bool]]:
    """(path, example, whether the schema calls it tunable) of every field below an application's spec."""
    for name, reference in schema["properties"].items():
        field = resolved(reference)
        free = tunable or bool(field.get("x-sparkgen-tunable"))
        if field.get("required") == ["name", "key"]:
            yield (*path, name), field["examples"][0], free
        elif "properties" in field:
            yield from fields(field, (*path, name), free)
        elif field.get("examples"):
            yield (*path, name), field["examples"][0], free


FIELDS = list(fields(SCHEMA["$defs"]["applicationSpec"]))

OBJECTS_OF_THE_APPLICATION = {"rbac", "networkPolicy", "podDisruptionBudget", "sparkUIOptions"}
"""Sections that change no pod of a run."""

CHANGEABLE = {
    ("suspend",),
    ("activeDeadlineSeconds",),
    ("timeToLiveSeconds",),
    ("serviceAccount", "create"),
    ("serviceAccount", "annotations"),
    ("restartPolicy", "onFailureRetries"),
}
"""Fields that change nothing in the run's objects, or what Kubernetes lets one change in them."""

WITHOUT_ARTIFACTS = {("deps", "requirements"), ("deps", "pythonVersion"), ("deps", "pythonPlatform")}
"""Fields that mean something to pods once something was pushed, beside those of `delivery` but `mount`."""

SAME_AS_THE_BASE = {
    ("type",),
    ("sparkVersion",),
    ("driver", "podSecurityContext"),
    ("executor", "podSecurityContext"),
    ("restartPolicy", "type"),  # OnFailure without a number is Never
}
"""Fields whose example says what the base says already, or what is the default."""

OF_THE_DRIVER_TOO = {("sparkUIOptions", "route", "path")}
"""Fields of such sections that Spark is told of."""


ARCHIVE = ("logging", "archive")
PLACE = {"url": "s3://logs", "image": "rclone:1"}
"""A log archive, without which its other fields mean nothing."""

NEEDED = {"ingress": {"host": "x.example.com"}, "route": {"parentRefs": [{"name": "x"}]}}
"""What rendering takes for granted in a section, as the schema does."""


def keeps_the_run(path: Path_, tunable: bool) -> bool:
    """Whether a field may change without a new run."""
    beside = path[0] in OBJECTS_OF_THE_APPLICATION and path not in OF_THE_DRIVER_TOO
    delivery = path[0] in ("delivery", "artifacts") and path != ("delivery", "mount")
    # Of Volcano's PodGroup, which is no part of what the pods are made of.
    group = path == ("batchSchedulerOptions", "resources")
    unread = path in WITHOUT_ARTIFACTS or delivery or group
    return tunable or path in CHANGEABLE or beside or unread


def test_the_schema_has_examples_for_these_tests() -> None:
    """The two tests below look at every field."""
    assert len(FIELDS) > 100
    assert sum(keeps_the_run(path, tunable) for path, _, tunable in FIELDS) > 20


@pytest.mark.parametrize(
    ("path", "example"),
    [(path, example) for path, example, tunable in FIELDS if keeps_the_run(path, tunable)],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else "",
)
def test_what_may_change_keeps_the_run(path: Path_, example: Any) -> None:
    """Tuning, what Kubernetes lets one change, and objects beside the run."""
    assert run(with_field(path, example)) == run()


@pytest.mark.parametrize(
    ("path", "example"),
    [
        (path, example)
        for path, example, tunable in FIELDS
        if not keeps_the_run(path, tunable) and path not in SAME_AS_THE_BASE
    ],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else "",
)
def test_anything_else_starts_a_new_run(path: Path_, example: Any) -> None:
    """Every other field of the schema is part of what runs."""
    if path[-1] == "volumes":
        mounted = {"volumeMounts": [{"name": example[0]["name"], "mountPath": "/x"}]}
        assert run({**BASE, "volumes": example, "driver": mounted}) != run({**BASE, "driver": mounted})
        return
    if path[0] == "batchSchedulerOptions":
        queued = {**BASE, "batchScheduler": "kueue"}
        assert run({**queued, path[0]: {path[1]: example}}) != run(queued)
        return
    if path == ("pythonImage",):
        in_config_map = {**BASE, "runtimeConfigMap": "sparkgen-runtime"}
        assert run({**in_config_map, "pythonImage": example}) != run(in_config_map)
        return
    if path[:2] == ARCHIVE:
        given = with_field((*ARCHIVE, path[2]), example)["logging"]["archive"]
        assert run(with_field(ARCHIVE, {**PLACE, **given})) != run(with_field(ARCHIVE, PLACE))
        return
    if path == ("eventLog", "claim"):
        log = {"dir": "file:///x"}
        assert run({**BASE, "eventLog": {**log, "claim": example}}) != run({**BASE, "eventLog": log})
        return
    assert run(with_field(path, example)) != run()


def test_retries() -> None:
    """The first retry brings an immutable failure policy; from then on the number is free."""
    one, two = ({"type": "OnFailure", "onFailureRetries": number} for number in (1, 2))
    assert run(with_field(("restartPolicy",), one)) == run(with_field(("restartPolicy",), two))
    assert run(with_field(("restartPolicy",), one)) != run()


def test_run_id_is_the_deliberate_new_run() -> None:
    """Any new text makes a new run, and the same text the same."""
    ids = [run(with_field(("run", "id"), text)) for text in ("a", "b", "a")]
    assert ids[0] == ids[2] != ids[1]
    assert run() not in ids


def test_a_suspended_deployment_is_the_same_run() -> None:
    """Stopping and starting a streaming application changes nothing in its files."""
    streaming = with_field(("restartPolicy",), {"type": "Always"})
    assert run({**streaming, "suspend": True}) == run(streaming)


def test_metadata() -> None:
    """Labels are in the pods; annotations and the namespace are not."""
    assert run(labels={"a": "b"}) != run()
    assert run(annotations={"a": "b"}) == run()
    assert run(namespace="other") == run()
    assert run(name="other").removeprefix("other") != run().removeprefix("pi")


def test_the_schedule_is_not_part_of_a_run() -> None:
    """A firing at another time runs the same thing."""
    document = value(kind="ScheduledSparkApplication")
    later = copy.deepcopy(document)
    later["spec"].update(schedule="@weekly", timeZone="Etc/UTC", suspend=True, concurrencyPolicy="Allow")
    assert run_name(build(later)) == run_name(build(document))


@given(st.permutations(list(BASE)), st.permutations(["spark.a", "spark.b"]), st.permutations(["x", "y"]))
def test_the_order_of_keys_keeps_the_run(spec: list[str], conf: list[str], labels: list[str]) -> None:
    """A document that says the same in another order is the same run."""
    shuffled = {key: BASE[key] for key in spec}
    shuffled["sparkConf"] = {key: BASE["sparkConf"][key] for key in conf}
    shuffled["driver"] = {"labels": {key: BASE["driver"]["labels"][key] for key in labels}}
    assert run(shuffled) == run()


@given(st.lists(st.sampled_from([path for path, _, _ in FIELDS]), max_size=4, unique=True))
def test_rendering_is_a_function(paths: list[Path_]) -> None:
    """One document, one result, whatever was rendered before."""
    examples = {path: example for path, example, _ in FIELDS}
    spec = copy.deepcopy(BASE)
    for path in paths:
        spec = {**spec, path[0]: with_field(path, examples[path])[path[0]]}
    for section, needed in (spec.get("sparkUIOptions") or {}).items():
        if section in NEEDED:
            needed.update({**NEEDED[section], **needed})
    if archive := spec.get("logging", {}).get("archive"):
        archive.update({**PLACE, **archive})
    application = build(value(spec))
    before = copy.deepcopy(application)
    assert render(application) == render(build(value(copy.deepcopy(spec))))
    assert application == before


def test_identity_has_the_placeholder_only() -> None:
    """What is hashed names no run, so that the hash does not depend on itself."""
    text = json.dumps(identity(build(value())))
    assert "pi-00000000" in text
    assert run() not in text


def test_files_carry_the_name_of_the_run() -> None:
    """The executor's template points at the ConfigMaps of its own run."""
    template = files(build(value()), "pi-12345678")["executor"]["executor.json"]
    assert "pi-12345678-conf" in template
    assert "pi-00000000" not in template


@pytest.mark.parametrize(
    ("path", "other"),
    [
        (("type",), "Java"),
        (("sparkVersion",), "4.0.1"),
        (("driver", "podSecurityContext"), {"runAsUser": 1000}),
        (("executor", "podSecurityContext"), {"runAsUser": 1000}),
        (("restartPolicy", "type"), "Always"),
    ],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else "",
)
def test_so_do_the_fields_whose_example_is_the_base(path: Path_, other: Any) -> None:
    """With another value these start a new run as well."""
    assert run(with_field(path, other)) != run()
