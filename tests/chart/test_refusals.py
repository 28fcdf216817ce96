"""What sparkgen refuses, helm refuses before anything is installed, with the path named; and the reverse."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chart import batch as chart_batch
from sparkgen.document import Document, load
from sparkgen.errors import Severity
from sparkgen.schema import check
from sparkgen.semantics.registry import RULES, RULES_OF_FILES
from sparkgen.semantics.rules_metadata import RESERVED, reserved
from tests.chart import parity
from tests.chart.values_schema import validator
from tests.unit.semantics.documents import application

BAD = {path.stem: path for path in sorted((Path(__file__).parents[1] / "golden" / "bad").glob("*.yaml"))}

ONLY_SPARKGEN = {
    "yaml-duplicate-key": "Helm's reader takes the last of two equal keys, and no template sees the other",
}
"""Documents that helm cannot refuse -> why."""

SAID_BY_THE_SCHEMA = (
    *("SG101", "SG102", "SG103", "SG104", "SG105", "SG106"),
    *("SG122", "SG123", "SG128", "SG180", "SG182", "SG184", "SG323"),
)
"""Rules of which the chart's schema says what a schema can say."""

EACH = 12
"""One in so many documents is given to helm itself in each run, and all of them in their share."""

Call = Callable[..., subprocess.CompletedProcess[str]]

DOCUMENT = Path(__file__).parents[2] / "examples" / "python-pi" / "app.yaml"


def installed(call: Call, path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """`helm template`, into the namespace that the document names."""
    loaded = load([str(path)], [], [], [], lambda: b"").documents
    metadata = (loaded[0].value.get("metadata") or {}) if loaded and isinstance(loaded[0].value, dict) else {}
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    place = ("--namespace", namespace) if isinstance(namespace, str) else ()
    return call("template", "any", "spark-app", "-f", str(path), *place, *more)


def first_of(name: str) -> tuple[tuple[Document, ...], bool]:
    """The first document of a file, as Helm reads no other; and whether the file cannot be read."""
    loaded = load([str(BAD[name])], [], [], [], lambda: b"")
    return loaded.documents[:1], any(problem.severity is Severity.ERROR for problem in loaded.problems)


def test_what_the_schema_refuses_in_bad_documents() -> None:
    """The chart's own schema refuses it, too, but for a null, which takes an optional field away."""
    refused = []
    for name in BAD:
        first, unread = first_of(name)
        problems = [problem for document in first if not unread for problem in check(document)]
        if any(not problem.message.endswith("has no value") for problem in problems):
            refused.append(name)
            assert not validator().is_valid(first[0].value), name
    assert len(refused) > 20


def test_what_the_rules_refuse_in_bad_documents(helms: tuple[Path, ...]) -> None:
    """The chart's rules refuse the same, with the same words; all documents in one process of helm."""
    found = {name: first_of(name) for name in BAD}
    values = {
        name: first[0].value
        for name, (first, unread) in found.items()
        if first and not unread and not check(first[0]) and validator().is_valid(first[0].value)
    }
    for helm in helms:
        for (name, value), result in zip(
            values.items(), chart_batch.render(helm, list(values.values())), strict=True
        ):
            assert parity.refused(result.problems) == parity.errors(value), name
    codes = {error[0] for value in values.values() for error in parity.errors(value)}
    assert codes == {rule.code for rule in (*RULES, *RULES_OF_FILES) if rule.chart}, "each has a bad document"


@pytest.mark.parametrize("code", SAID_BY_THE_SCHEMA)
def test_what_the_schema_says_of_rules(code: str) -> None:
    """Bad documents of rules that need no template: the chart's schema refuses one at least."""
    refused = []
    for name in BAD:
        first, unread = first_of(name)
        if first and not unread and not check(first[0]) and code in parity.refusing(first[0].value):
            refused.append(not validator().is_valid(first[0].value))
    assert any(refused)


@pytest.mark.parametrize("name", [*RESERVED, "example.com/"])
@pytest.mark.parametrize(
    "text", ["", "true", "enabled", "ENABLED", "Prune=false, Force=true ", "Prune=false"]
)
def test_the_schema_and_the_rule_refuse_the_same_names(name: str, text: str) -> None:
    """In each place where a document sets labels or annotations."""
    key = f"{name}x" if name.endswith("/") else name
    metadata = {"annotations": {key: text}}
    specs = (
        {"serviceAccount": metadata},
        {"sparkUIOptions": {"ingress": {"host": "a", **metadata}}},
        {"driver": {"template": {"metadata": metadata}}},
        {"executor": metadata},
    )
    values = [application({}) | {"metadata": {"name": "a", **metadata}}, *map(application, specs)]
    for value in values:
        assert validator().is_valid(value) is (reserved(key, text) is None)
        assert ("SG323" in parity.refusing(value)) is (reserved(key, text) is not None)


@pytest.mark.parametrize(
    "name",
    [
        name if index % EACH == 0 else pytest.param(name, marks=pytest.mark.long)
        for index, name in enumerate(BAD)
    ],
)
def test_bad_documents(name: str, helm_call: Call) -> None:
    """Every document of the generator's tests: helm refuses it by schema or by rules, or renders it."""
    first, unread = first_of(name)
    of_the_form = [problem for document in first for problem in check(document)]
    readable = bool(first and not of_the_form and not unread)
    by_schema = readable and not validator().is_valid(first[0].value)
    wanted = parity.errors(first[0].value) if readable and not by_schema else set()
    done = installed(helm_call, BAD[name])
    refused = bool(unread or of_the_form or by_schema or wanted) and name not in ONLY_SPARKGEN
    assert bool(done.returncode) is refused, done.stderr
    for code, path, message, step in wanted:
        assert f"error[{code}] {path}: {message}" in done.stderr
        assert f"next: {step}" in done.stderr
    for problem in () if unread else of_the_form:
        if problem.message.endswith("has no value"):
            continue  # a null takes an optional field away, as `--set x=null` does
        named = f"invalid propertyName '{problem.path[-1]}'" in done.stderr  # Helm names no place of a key
        assert named or any(f"at '{place}'" in done.stderr for place in pointers(problem.path)), problem


def pointers(path: tuple[str | int, ...]) -> list[str]:
    """The places that Helm may name for a problem: the value's, or that of a mapping around it."""
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in path]
    return [
        "".join(f"/{part}" for part in parts[:count]) for count in (len(parts), len(parts) - 1) if count >= 0
    ]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["spec.executor.instances=-1"], r"at '/spec/executor/instances': minimum"),
        (["spec.executor.cores=two"], r"at '/spec/executor/cores': got string, want"),
        (["spec.exekutor.cores=2"], r"at '/spec': additional properties 'exekutor' not allowed"),
        (["spec.driver.memory=4Gi"], r"at '/spec/driver/memory': '4Gi' does not match pattern"),
        (
            ["spec.sparkConf.spark\\.executor\\.memory=4Gi"],
            r"at '/spec/sparkConf/spark.executor.memory': '4Gi'",
        ),
        (["spec.hadoopConf.spark\\.x=y"], r"at '/spec/hadoopConf'(.|\n)*invalid propertyName 'spark.x'"),
        ([f"spec.driver.memory={'9' * 30}g"], r"the memory of the driver cannot be computed"),
        (["spec.driver.template.spec.hostPID=true"], r"error\[SG166\] spec.driver.template.spec.hostPID"),
        (
            ["metadata.namespace=elsewhere"],
            r"error metadata.namespace: is elsewhere, but the release goes to default",
        ),
        (
            [
                "spec.logging.archive.url=s3://data-logs/x",
                "spec.logging.archive.image=rclone:1",
                "spec.logging.archive.maxAge=500ms",
            ],
            r"logging\.archive\.maxAge is shorter than 1h",
        ),
        (["spec.image=null"], r"at '/spec/image': got null, want string"),
        (["kind=Pod"], r"at '/kind': value must be one of"),
        (["spec.sparkConf.spark\\.driver\\.memory=9"], r"got number"),
    ],
)
def test_wrong_values_name_their_place(settings: list[str], says: str, helm_call: Call) -> None:
    """A `--set` that is wrong is refused, and the message says where."""
    done = helm_call("template", "any", "spark-app", "-f", str(DOCUMENT), *sets(settings))
    assert done.returncode != 0
    assert re.search(says, done.stderr), done.stderr


def sets(settings: list[str]) -> list[str]:
    """Each setting as an option."""
    return [word for setting in settings for word in ("--set", setting)]


NULLS = (
    "spec.arguments",
    "spec.driver",
    "spec.executor.memory",
    "spec.executor.instances",
    "spec.restartPolicy",
    "metadata.labels",
    "spec.sparkConf",
    "spec.volumes",
)


@pytest.mark.parametrize("place", NULLS)
def test_set_null_deletes_a_field(
    place: str, helm_call: Call, objects: Callable[[str], list[dict[str, Any]]], tmp_path: Path
) -> None:
    """`--set x=null`, and a null in an overlay, do what they do for `sparkgen render`: the key is gone."""
    wanted = load([str(DOCUMENT)], [], [f"{place}=null"], [], lambda: b"").documents[0].value
    *above, last = place.split(".")
    overlay = tmp_path / "overlay.yaml"
    lines = [f"{'  ' * depth}{name}:" for depth, name in enumerate([*above, last])]
    overlay.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for more in (("--set", f"{place}=null"), ("-f", str(overlay))):
        done = helm_call("template", "any", "spark-app", "-f", str(DOCUMENT), *more)
        assert done.returncode == 0, done.stderr
        found = {
            (item["kind"], item["metadata"]["name"]): item
            for item in parity.without_helms_own(objects(done.stdout))
        }
        assert found == {(item["kind"], item["metadata"]["name"]): item for item in parity.rendered(wanted)}


def test_set_of_other_types(helm_call: Call, objects: Callable[[str], list[dict[str, Any]]]) -> None:
    """Numbers of `--set` are integers where those of a file are floats: the run's hash is the same."""
    settings = ["spec.executor.instances=3", "spec.executor.cores=2", "spec.activeDeadlineSeconds=3000000"]
    wanted = load([str(DOCUMENT)], [], settings, [], lambda: b"").documents[0].value
    done = helm_call("template", "any", "spark-app", "-f", str(DOCUMENT), *sets(settings))
    assert done.returncode == 0, done.stderr
    found = {
        (item["kind"], item["metadata"]["name"]): item
        for item in parity.without_helms_own(objects(done.stdout))
    }
    assert found == {(item["kind"], item["metadata"]["name"]): item for item in parity.rendered(wanted)}


def gang(*amounts: str) -> dict[str, Any]:
    """A document for which the chart adds up what pods request; its driver has a sidecar for each amount."""
    sidecars = [
        {"name": f"s{index}", "image": "s:1", "resources": {"requests": {"memory": amount}}}
        for index, amount in enumerate(amounts)
    ]
    spec = {"type": "Scala", "sparkVersion": "4.3.0", "image": "i:1", "mainClass": "M"}
    more = {
        "mainApplicationFile": "local:///m.jar",
        "batchScheduler": "yunikorn",
        "driver": {"sidecars": sidecars},
    }
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": "gang"},
        "spec": {**spec, **more},
    }


@pytest.mark.parametrize(
    ("amounts", "says"),
    [
        (["1e123456"], "the quantity 1e123456 has an exponent that is too large"),
        (["1e-123456"], "the quantity 1e-123456 has an exponent that is too large"),
        (["1e99"], "the quantity 1e99 cannot be added up"),
        (["1" * 70], f"the quantity {'1' * 64} cannot be added up"),
        (["5P", "5P"], "the amounts of memory cannot be added up"),
    ],
)
def test_amounts_without_bounds(amounts: list[str], says: str, helm_call: Call, tmp_path: Path) -> None:
    """Templates repeat no digit for an exponent without bounds, and no sum of 64 bits becomes negative."""
    values = tmp_path / "gang.yaml"
    values.write_text(json.dumps(gang(*amounts)), encoding="utf-8")
    done = helm_call("template", "any", "spark-app", "-f", str(values), "--skip-schema-validation")
    assert done.returncode == 1
    assert says in done.stderr


@pytest.mark.parametrize("amount", ["1e31", "1e700000000", "1" * 65, 1e300])
def test_the_schema_bounds_amounts(amount: Any) -> None:
    """So Helm, editors and `validate` refuse what nobody could add up."""
    document = gang("1e+030")
    assert validator().is_valid(document)
    document["spec"]["driver"]["sidecars"][0]["resources"]["requests"]["memory"] = amount
    assert not validator().is_valid(document)
