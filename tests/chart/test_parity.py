"""`helm template` of the chart is `sparkgen render`, object by object, under both helms."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chart import batch as chart_batch
from demo import Variant, variants
from sparkgen.document.configuration import Configured
from sparkgen.grammar import GrammarError, factor
from sparkgen.properties.table import judgements
from sparkgen.schema import fields as schema_fields
from sparkgen.semantics import fields, rules_sizes
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.usecases.inputs import Inputs
from sparkgen.usecases.validate import check
from tests import reading, scale
from tests.chart import parity
from tests.chart.values_schema import validator
from tests.property.strategies import (
    connect_servers,
    documents,
    history_servers,
    notebooks,
    services,
    staging_servers,
)
from tests.property.strategies import objects as objects_of

Value = dict[str, Any]

ROOT = Path(__file__).parents[2]
VARIANTS = {variant.name: variant for variant in variants(ROOT / "examples")}
GOOD = sorted((ROOT / "tests" / "golden" / "good").glob("*.yaml"))


def in_helms_order(items: list[Value]) -> list[tuple[str, str, Value]]:
    """Objects by kind and name: Helm prints them in the order in which it installs kinds."""
    return sorted(
        ((item["kind"], item["metadata"]["name"], item) for item in items), key=lambda item: item[:2]
    )


def example(variant: Variant) -> Value:
    """The document of an example, with its overlay and its local files."""
    overlays = (str(variant.overlay),) if variant.overlay else ()
    inputs = Inputs((str(variant.document),), overlays, configured=Configured())
    (document,) = check(inputs, lambda: b"").documents
    return document.value


def test_examples_in_one_process(helms: tuple[Path, ...]) -> None:
    """All examples, overlays too: the chart's schema takes them, and its templates make the same objects."""
    values = [example(variant) for variant in VARIANTS.values()]
    assert taken(values) == values
    compare_all(helms, values)


@pytest.mark.parametrize(
    "name",
    [
        name if name in (*parity.FEW, parity.WITH_FILES) else pytest.param(name, marks=pytest.mark.long)
        for name in VARIANTS
    ],
)
def test_examples(name: str, helm_call: Any, objects: Callable[[str], list[Value]], tmp_path: Path) -> None:
    """An example by helm itself, with the chart as it is: schema, notes, hooks and Helm's own merging."""
    variant = VARIANTS[name]
    value = example(variant)
    files = parity.values_files(variant, tmp_path)
    done = helm_call(
        "template",
        "any",
        "spark-app",
        *("--namespace", value["metadata"].get("namespace", "default")),
        *(word for file in files for word in ("-f", str(file))),
    )
    assert (done.returncode, done.stderr) == (0, "")
    ours = parity.without_helms_own(objects(done.stdout), parity.target_of(value))
    theirs = parity.rendered(value)
    assert [item[2] for item in in_helms_order(ours)] == [item[2] for item in in_helms_order(theirs)]


def test_good_documents(helms: tuple[Path, ...]) -> None:
    """What the generator's tests call good, through the chart's templates."""
    values = [document.value for path in GOOD for document in parity.documents(path)]
    compare_all(helms, values)


# --- generated documents --------------------------------------------------------------------------

TRICKY = st.text(
    st.sampled_from("\\\"u003c<>&' \n\t\r:=#!${}\x01\x7f\x85\u2028\ufffe\u00e9\U0001f600ab0"), max_size=12
)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TRAPS = st.sampled_from(
    [
        "1:30",
        "0777",
        "0o17",
        "1_000",
        "yes",
        "off",
        "null",
        "~",
        "1e3",
        ".inf",
        "0x1F",
        "2026-01-01",
        "",
        "- a",
        "<<",
        "*a",
        "=",
        "${HOME}",
    ]
)
TEXT = TRICKY | ANY | TRAPS
"""What YAML, JSON, Java's properties and Go's templates may stumble over."""

NUMBERS = st.sampled_from(["1", "1.0", "2147483648", "1e2", "0777", "0x1F", "9007199254740992"])
"""Spellings of numbers that a field may have, as written in YAML."""


NASTY = reading.load((Path(__file__).parent / "nasty.yaml").read_text(encoding="utf-8"))
ODD = st.one_of(
    st.sampled_from(
        [text for rows in ("numbersWithUnits", "factors") for row in NASTY[rows] for text in row]
    ),
    st.sampled_from(
        ["true", " TRUE\n", "no", "-1", "0", "1", "10.5", "1Gi", "500m", "1,5", "2 cores", "5 min", "1h30m"]
    ),
    st.sampled_from(
        ["* * * * *", "0 3 * * 7", "@daily", "@Daily", "*/0 * * * *", "5-1 * * * *", "@every 1h", "1 2 3"]
    ),
    st.sampled_from(["Europe/Berlin", "europe/berlin", "Local", "UTC", "Mars/Base", "Berlin", "a b/c"]),
    st.sampled_from(["2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01 00:00:00Z", "2024-02-29T23:59:60Z"]),
    st.sampled_from(
        ["a:b:c", "a:b", "x.jar", "-Xmx1g", "-Dspark.x=1", "sort", "spark-local-dir-1", "/opt/sparkgen/x"]
    ),
    st.sampled_from(
        ["AKIAABCDEFGHIJKLMNOP", "s3://me:secret1@x", "password=abcdef", "pwd=${X}", "secret=<a>b"]
    ),
    st.sampled_from(["1" * 101, "\u00e9" * 100, "\u00e9" * 101, "a b" * 50, "1" * 41, "0." + "1" * 38]),
    st.from_regex(r"[0-9]{1,3}[.,]?[0-9]{0,2} ?[kmgtMGi]{0,2}", fullmatch=True),
    st.from_regex(r"([0-9*,/-]{1,4} ){4}[0-9a-zA-Z*,/-]{1,4}", fullmatch=True),
    TEXT,
)
"""Texts that some grammar takes, or nearly so."""

IN_A_GRAMMAR = {
    *rules_sizes.MEMORY_SETTINGS,
    *rules_sizes.CPU_SETTINGS,
    *rules_sizes.DURATION_SETTINGS,
    *rules_sizes.FACTOR_SETTINGS,
    *rules_sizes.COUNT_SETTINGS,
    *rules_sizes.SWITCHES,
}
FREE = st.sampled_from(
    sorted(
        {
            *(f"{name}x" if name.endswith(".") else name for name in judgements()),
            "spark.app.id", "spark.memory.fraction", "spark.jars.packages", "spark.shuffle.manager",
            "spark.executor.extraJavaOptions", "spark.driver.defaultJavaOptions",
            "spark.executor.extraClassPath", "spark.executor.resource.gpu.amount",
            "spark.executor.resource.gpu.vendor",
            "spark.executorEnv.A", "spark.authenticate.secret", "spark.ssl.x", "spark.port.x", "spark.x.port",
        }
        - IN_A_GRAMMAR
    )
)  # fmt: skip
"""Properties that some rule or step looks at, and that may have any text."""
SETTINGS = FREE | st.sampled_from(sorted({*IN_A_GRAMMAR, "fs.s3a.x", "spark.a b"}))

PLACES = st.one_of(
    st.tuples(st.just("sparkConf"), SETTINGS),
    st.sampled_from(sorted({path for paths in fields.APPLICATION_FIELDS.values() for path in paths})),
    st.sampled_from([("schedule",), ("timeZone",)]),
)
"""Where a text in some grammar stands, below `spec`."""


def with_one(case: tuple[tuple[str, ...], str]) -> Value | None:
    """A small valid document with a text at a place, if the schema takes it."""
    (*path, name), text = case
    spec: Value = {"type": "Scala", "sparkVersion": "3.5.8", "image": "i", "mainClass": "A"}
    spec["mainApplicationFile"] = "local:///a.jar"
    value: Value = {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": "a"},
    }
    value["spec"] = spec
    if not path and name in ("schedule", "timeZone"):
        value |= {"kind": "ScheduledSparkApplication", "spec": {"schedule": "@daily", "template": spec}}
        spec = value["spec"]
    for part in path:
        spec = spec.setdefault(part, {})
    spec[name] = text
    document = as_document(value)
    return None if document is None else document.value


@st.composite
def careless(draw: st.DrawFn) -> Value:
    """A document that the schema takes, and that nobody looked through; with settings of all kinds."""
    kind = draw(st.sampled_from(schema_fields.APPLICATION_KINDS))
    value: Value = {**draw(objects_of(schema_fields.document(kind))), "kind": kind}
    spec = value["spec"]["template"] if kind == schema_fields.KINDS[1] else value["spec"]
    conf = draw(st.dictionaries(draw(st.sampled_from([FREE, FREE, SETTINGS])), ODD, max_size=6))
    if conf:
        spec["sparkConf"] = {**spec.get("sparkConf", {}), **conf}
    return value


@st.composite
def tricky(draw: st.DrawFn) -> Value:
    """A valid document with odd texts in the places where any text may be."""
    value = draw(documents())
    spec = value["spec"].get("template", value["spec"]) if value["kind"].startswith("Sch") else value["spec"]
    if draw(st.booleans()):
        spec["arguments"] = draw(st.lists(TEXT, max_size=3))
    if draw(st.booleans()):
        spec.setdefault("sparkConf", {})["spark.app.description"] = draw(TEXT)
    if draw(st.booleans()):
        spec.setdefault("hadoopConf", {})[f"fs.{draw(st.sampled_from('abc'))}"] = draw(TEXT)
    if draw(st.booleans()):
        value["metadata"].setdefault("annotations", {})["example.com/note"] = draw(TEXT)
    if draw(st.booleans()):
        spec.setdefault("driver", {}).setdefault("env", []).append({"name": "ODD", "value": draw(TEXT)})
    if draw(st.booleans()):
        spec.setdefault("monitoring", {})["metricsProperties"] = draw(TEXT) + "x"
    return value


def collected(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """So many values of a strategy, the same ones in every run."""
    found: list[Any] = []

    @settings(
        max_examples=count,
        database=None,
        derandomize="SPARKGEN_SOAK" not in os.environ,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def many() -> int:
    """How many documents: 40, 320 in this file's share, or as many as `make soak-chart` asks for."""
    return int(os.environ.get("SPARKGEN_SOAK", scale.count("tests/chart/test_parity.py", 320, 40)))


def compare(values: list[Value], *results: list[chart_batch.Rendered]) -> None:
    """Each document: the same objects where sparkgen takes it, whatever helm rendered it.

    Where sparkgen refuses it, the chart refuses it by its own rules, with the same words, or not at all.
    """
    for value, *found in zip(values, *results, strict=True):
        wanted = parity.errors(value)
        theirs = None if wanted or parity.refusing(value) else parity.rendered(value)
        for result in found:
            assert parity.refused(result.problems) == wanted, value
            if theirs is not None:
                ours = parity.without_helms_own(result.objects, parity.target_of(value))
                assert parity.same(ours, theirs), difference(ours, theirs)


def compare_all(helms: tuple[Path, ...], values: list[Value]) -> None:
    """The same, with each helm."""
    compare(values, *(chart_batch.render(helm, values) for helm in helms))


def taken(values: list[Value]) -> list[Value]:
    """The documents that reach the chart's templates: its schema takes all that sparkgen takes."""
    found = []
    for value in values:
        refusing = parity.refusing(value)
        if not validator().is_valid(value):
            assert refusing, value
        elif not refusing & parity.UNCOUNTABLE:
            found.append(value)
    return found


def difference(ours: list[Value], theirs: list[Value]) -> str:
    """The first object that differs, as a person wants to see it."""
    for one, other in zip(ours, theirs, strict=False):
        if not parity.same([one], [other]):
            return f"the chart has:\n{yaml.safe_dump(one)}\nsparkgen render has:\n{yaml.safe_dump(other)}"
    return f"{len(ours)} objects in the chart, {len(theirs)} in sparkgen render"


def test_generated_documents(helms: tuple[Path, ...]) -> None:
    """Documents generated from the schema, with odd texts in them."""
    values = collected(tricky(), many())
    compare_all(helms, values)


def test_generated_services(helms: tuple[Path, ...]) -> None:
    """Shuffle services generated from the schema, with any of their fields."""
    values = collected(services(), scale.count("tests/chart/test_parity.py", 60, 15))
    assert not any(parity.errors(value) for value in values)
    compare_all(helms, values)


def test_generated_history_servers(helms: tuple[Path, ...]) -> None:
    """History servers generated from the schema, with any of their fields."""
    values = collected(history_servers(), scale.count("tests/chart/test_parity.py", 60, 15))
    assert not any(parity.errors(value) for value in values)
    compare_all(helms, values)


def test_generated_staging_servers(helms: tuple[Path, ...]) -> None:
    """Staging servers generated from the schema, with any of their fields."""
    values = collected(staging_servers(), scale.count("tests/chart/test_parity.py", 60, 15))
    assert not any(parity.errors(value) for value in values)
    compare_all(helms, values)


def test_generated_connect_servers(helms: tuple[Path, ...]) -> None:
    """Connect servers generated from the schema, with any of their fields."""
    values = collected(connect_servers(), scale.count("tests/chart/test_parity.py", 60, 15))
    assert not any(parity.errors(value) for value in values)
    compare_all(helms, values)


def test_generated_notebooks(helms: tuple[Path, ...]) -> None:
    """Notebooks generated from the schema, with any of their fields."""
    values = collected(notebooks(), scale.count("tests/chart/test_parity.py", 60, 15))
    assert not any(parity.errors(value) for value in values)
    compare_all(helms, values)


def test_documents_that_contradict_themselves(helms: tuple[Path, ...]) -> None:
    """Whatever both schemas take, with odd values where rules look: helm never stops in a template.

    The chart itself refuses few of them: test_refusals.py has those.
    """
    found = collected(careless(), many())
    values = [document.value for document in map(as_document, found) if document is not None]
    assert len(values) > len(found) // 2
    reaching = taken(values)
    compare_all(helms, reaching)
    assert len(reaching) > len(found) // 3
    assert sum(bool(parity.refusing(value)) for value in reaching) > len(reaching) // 4


def test_texts_of_each_grammar(helms: tuple[Path, ...]) -> None:
    """One odd text at a time, in a document that is right but for it."""
    values = [
        value for value in map(with_one, collected(st.tuples(PLACES, ODD), many() * 2)) if value is not None
    ]
    compare_all(helms, taken(values))


def as_document(value: Value) -> Any:
    """The document that a value is when it is written down; None where it is none."""
    document = parity.read(chart_batch.as_values(value))
    return document if document is not None and computable(document.value) else None


def computable(value: Value) -> bool:
    """Whether the chart can compute with the factors: it refuses those from 10^6 on (helm-parity.md)."""
    properties = DocumentFacts.of(value).properties
    for name in rules_sizes.FACTOR_SETTINGS:
        with contextlib.suppress(GrammarError):
            if factor.parse(properties.get(name, "1")) >= 10**6:
                return False
    return True


class Plain(yaml.SafeDumper):
    """A dumper without anchors: Helm's reader has them, but a value is no better for them."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value where it stands."""
        return True


def spelled(value: Value, seed: int) -> str:
    """A document as YAML, its style drawn from a seed: block or flow; plain, quoted or literal texts."""
    draw = random.Random(seed)  # noqa: S311 - the same texts in every run
    return yaml.dump(
        value,
        Dumper=Plain,
        default_style=draw.choice([None, None, '"', "'", "|", ">"]),
        default_flow_style=draw.choice([True, False, None]),
        allow_unicode=draw.choice([True, False]),
        width=draw.choice([20, 80, 1000]),
        sort_keys=False,
    )


def test_spelling_of_yaml(helms: tuple[Path, ...]) -> None:
    """The same text, read by sparkgen and by helm: however a document is written, both read the same."""
    texts = [spelled(value, seed) for seed, value in enumerate(collected(tricky(), many()))]
    read = [(text, document.value) for text in texts if (document := parity.read(text)) is not None]
    assert len(read) > len(texts) * 2 // 3
    values = [value for _, value in read]
    compare(values, *(chart_batch.render_texts(helm, [text for text, _ in read], values) for helm in helms))
