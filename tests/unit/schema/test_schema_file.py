"""The schema files themselves: complete, valid, and in the form that every reader of them needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from k8s import kubernetes_types
from sparkgen.errors import SparkgenError, path_text
from sparkgen.model.properties import TYPED_PROPERTIES
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.schema import bundle, fields, store
from sparkgen.schema.accepts import compile_schema
from sparkgen.schema.fields import Field

EVERY_FIELD = {
    path_text(field.path): field
    for kind in reversed(fields.KINDS)  # where two kinds share a path, an application's field stands here
    for field in fields.own_fields(fields.document(kind))
}
"""Every field of ours of all kinds, by its path."""


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema that is itself a schema or holds some."""
    if isinstance(schema, dict):
        yield schema
        for keyword, value in schema.items():
            if keyword not in ("examples", "default", "enum"):
                yield from subschemas(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from subschemas(value)


@pytest.mark.parametrize("field", EVERY_FIELD.values(), ids=EVERY_FIELD.keys())
def test_every_field_is_described(field: Field) -> None:
    """Every field of ours has a title, a sentence that describes it, and an example."""
    assert field.schema["title"][0].isupper() or field.schema["title"] == "metrics.properties"
    assert field.schema["description"].endswith(".")
    assert field.examples


@pytest.mark.parametrize("field", EVERY_FIELD.values(), ids=EVERY_FIELD.keys())
def test_examples_and_defaults_are_valid(field: Field) -> None:
    """Every example and every default fits the schema of its own field."""
    fits = compile_schema(field.schema)
    defaults = [field.schema["default"]] if "default" in field.schema else []
    assert [value for value in [*field.examples, *defaults] if not fits(value)] == []


@pytest.mark.parametrize("example", store.application_schema()["examples"])
def test_example_documents_are_valid(example: dict[str, Any]) -> None:
    """The examples of whole documents are valid."""
    assert compile_schema(store.application_schema())(example)


def test_additional_properties_are_refused() -> None:
    """Every object of ours with named fields refuses any other."""
    open_ones = [
        path
        for path, field in EVERY_FIELD.items()
        if "properties" in field.item().schema
        and field.item().schema.get("additionalProperties") is not False
    ]
    assert open_ones == []


def test_tunable_fields() -> None:
    """Exactly these fields can be changed without a new run, and say so."""
    tunable = {
        path for path, field in EVERY_FIELD.items() if field.tunable and not path.startswith("spec.template")
    }
    assert tunable == {
        "spec.executor.instances",
        "spec.dynamicAllocation.initialExecutors",
        "spec.dynamicAllocation.minExecutors",
        "spec.dynamicAllocation.maxExecutors",
        "spec.allocation.batchSize",
        "spec.allocation.batchDelay",
        "spec.allocation.maxPendingPods",
        "spec.allocation.maxUnschedulablePods",
        "spec.allocation.waitForRegistration",
        "spec.allocation.hold",
        "spec.allocation.locality",
        "spec.allocation.locality.enabled",
        "spec.allocation.locality.hosts",
        "spec.allocation.memoryOverheadRecovery",
        "spec.allocation.memoryOverheadRecovery.step",
        "spec.allocation.memoryOverheadRecovery.maxIncrease",
        "spec.allocation.executorTimeout",
        "spec.allocation.pendingTimeout",
        "spec.allocation.poolTimeout",
        "spec.allocation.maxExecutorFailures",
        "spec.allocation.executorFailuresValidityInterval",
        "spec.run.expiresAt",
        "spec.run.history",
        "spec.run.history.succeeded",
        "spec.run.history.failed",
    }
    assert all("without a new run" in EVERY_FIELD[path].schema["description"] for path in tunable)


def test_the_gates_defaults_are_the_allocators() -> None:
    """Nothing is rendered for them, so what the schema says is true only where the allocator says it too."""
    usual = AllocationSettings()
    for name, value in {
        "maxUnschedulablePods": usual.max_unschedulable,
        "waitForRegistration": usual.wait_for_registration,
        "hold": usual.hold,
        "locality.enabled": usual.locality,
    }.items():
        assert EVERY_FIELD[f"spec.allocation.{name}"].schema["default"] == value


@pytest.mark.parametrize(("path", "name"), TYPED_PROPERTIES.items(), ids=TYPED_PROPERTIES.values())
def test_descriptions_name_the_property(path: tuple[str, ...], name: str) -> None:
    """A field that becomes a Spark property says which."""
    field = EVERY_FIELD[path_text(("spec", *path))]
    assert f"`{name}`" in field.schema["description"]


def test_driver_and_executor_share_their_fields() -> None:
    """The executor has the driver's fields, `instances` and `pools`."""
    driver, executor = (
        {child.name for child in EVERY_FIELD[f"spec.{role}"].children()} for role in ("driver", "executor")
    )
    assert executor - driver == {"instances", "pools"}
    assert driver - executor == set()


def test_scheduled_application_holds_an_application() -> None:
    """The template of a scheduled application is an application's spec."""
    template = {
        path.removeprefix("spec.template.") for path in EVERY_FIELD if path.startswith("spec.template.")
    }
    scheduled = {"schedule", "timeZone", "startingDeadlineSeconds", "template"}
    limits = {"successfulRunHistoryLimit", "failedRunHistoryLimit"}
    own = {
        path_text(field.path).removeprefix("spec.")
        for kind in fields.APPLICATION_KINDS
        for field in fields.own_fields(fields.document(kind))
        if field.path[0] == "spec" and len(field.path) > 1
    }
    assert template == {path for path in own if not path.startswith("template.")} - scheduled - limits


def test_bundle_is_a_schema_of_its_own() -> None:
    """The bundle is valid JSON Schema 2020-12 and refers to nothing outside itself."""
    schema = bundle()
    jsonschema.Draft202012Validator.check_schema(schema)
    references = {one["$ref"] for one in subschemas(schema) if isinstance(one.get("$ref"), str)}
    assert all(reference.startswith("#/$defs/") for reference in references)
    for reference in references:
        target: Any = schema
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]
        assert isinstance(target, dict)


def test_bundle_leaves_the_files_alone() -> None:
    """Changing a bundle changes no other one."""
    bundle()["$defs"].clear()
    assert "Volume" in bundle()["$defs"]
    assert "driver" in store.application_schema()["$defs"]


def test_names_of_definitions_are_disjoint() -> None:
    """No definition of ours hides a Kubernetes type."""
    assert not store.application_schema()["$defs"].keys() & store.kubernetes_schema()["$defs"].keys()


def test_no_keyword_with_useless_messages() -> None:
    """Neither file has oneOf, anyOf or not."""
    used = {keyword for one in subschemas(bundle()) for keyword in one}
    assert not used & {"oneOf", "anyOf", "not", "dependentSchemas", "unevaluatedProperties"}


def test_patterns_are_portable() -> None:
    """Patterns are anchored, and mean the same to Python, Go and JavaScript."""
    for one in subschemas(bundle()):
        if isinstance(one.get("pattern"), str):
            pattern = one["pattern"]
            assert re.fullmatch(r"\^.*\$", pattern)
            assert not re.search(r"\(\?|\\[1-9dwsbDWSBAZz]|[*+?}]\+", pattern)
            assert pattern.count("$") == 1
            assert one["patternErrorMessage"]


def test_kubernetes_file_is_up_to_date(golden: Callable[[Path, str], None]) -> None:
    """The generated file is what its generator writes, and small enough to read at every start."""
    text = kubernetes_types.generate()
    golden(kubernetes_types.OUTPUT, text)
    assert len(text) < 150_000


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "The name of the volume, at most 63 letters. Cannot be updated.",
            "The name of the volume, at most 63 letters.",
        ),
        (
            "Image pull policy. One of Always, Never. Defaults to Always.",
            "Image pull policy. One of Always, Never.",
        ),
        (
            "Standard object's metadata, as ever. More info: https://example.com",
            "Standard object's metadata, as ever.",
        ),
        (
            "Prefers nodes (e.g. The same zone) where pods are. More.",
            "Prefers nodes (e.g. The same zone) where pods are.",
        ),
        ("Required. the name", "The name"),
    ],
)
def test_first_sentence(text: str, sentence: str) -> None:
    """A long description is cut to its first sentence, to two where the first is short."""
    assert kubernetes_types.first_sentence(text) == sentence


def test_missing_files_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """An installation without its schema files says so."""
    monkeypatch.setattr(store, "folder", lambda: tmp_path)
    with pytest.raises(SparkgenError, match="not installed completely"):
        store.read(store.APPLICATION_FILE)
