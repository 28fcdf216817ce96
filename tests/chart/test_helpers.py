"""The chart's helpers, each by itself, against the generator (docs/design/helm-parity.md).

One helm process computes all cases: a table of nasty ones, and generated ones. The chart `helpers` gets the
chart's own helpers and the generator's tables, and a template that calls them.
"""

from __future__ import annotations

import base64
import collections
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chart.schema import values_schema
from chart.tables import marked
from sparkgen import names
from sparkgen.grammar import GrammarError, duration, factor, memory
from sparkgen.model import build, sizes
from sparkgen.resources import fill, merge, pod, render, run, text
from sparkgen.schema.accepts import python_pattern

HELPERS = Path(__file__).parent / "helpers"
TEMPLATES = Path(__file__).parents[2] / "charts" / "spark-app" / "templates"
USED = ("_fill.tpl", "_merge.tpl", "_numbers.tpl", "_properties.tpl", "_text.tpl")
NASTY = Path(__file__).parent / "nasty.yaml"
EXAMPLES = Path(__file__).parents[2] / "examples"
REFUSED = "refused"

TABLES = {
    "bytes": dict(memory.UNITS),
    "microseconds": dict(duration.UNITS),
    "mergeKeys": dict(merge.MERGE_KEYS),
    "whole": sorted(merge.WHOLE),
    "appended": sorted(merge.APPENDED),
}

Case = tuple[str, Any]


# --- what the generator says ----------------------------------------------------------------------


def _memory(case: Mapping[str, Any]) -> dict[str, int]:
    role, properties = case["role"], case["properties"]
    if f"spark.{role}.memoryOverhead" not in properties:
        for name in (f"spark.{role}.memoryOverheadFactor", "spark.kubernetes.memoryOverheadFactor"):
            if name in properties:
                factor.parse(properties[name])  # as validation does, before anything is computed
                break
    result = sizes.memory(role, properties, case["language"])
    return {
        "heap": result.heap,
        "overhead": result.overhead,
        "offHeap": result.off_heap,
        "pyspark": result.pyspark,
    }


GENERATOR: Mapping[str, Callable[[Any], Any]] = {
    "mib": lambda case: memory.to_mib(case["text"], case["unit"]),
    "milliseconds": lambda case: duration.to_milliseconds(case["text"], case["unit"]),
    "memory": _memory,
    "merge": lambda case: merge.merge(case["base"], case["over"]),
    "fill": lambda case: fill.fill(case["layer"], collections.defaultdict(lambda: None, case["values"])),
    "canonical": names.canonical_json,
    "digest": lambda value: names.digest(value, names.RUN_HASH_LENGTH),
    "json": text.json_text,
    "propertyKey": text.property_key,
    "propertyValue": text.property_value,
    "xml": text.xml_text,
    "print": names.canonical_json,
    "pattern": lambda case: json.dumps(bool(re.search(python_pattern(case["pattern"]), case["text"]))),
}
"""Step -> what the generator computes for a case. `print`: what Go reads back from the printed YAML.
`pattern`: whether a text fits a pattern of the chart's schema, as Helm's library for schemas asks Go."""


def _expected(case: Case) -> Any:
    step, value = case
    try:
        return GENERATOR[step](value)
    except GrammarError:
        return REFUSED


# --- cases ----------------------------------------------------------------------------------------


def _nasty() -> dict[str, list[Any]]:
    """The values of nasty.yaml, which has them in rows."""
    data: dict[str, list[Any]] = yaml.safe_load(NASTY.read_text(encoding="utf-8"))
    rows = ("numbersWithUnits", "factors", "numbers", "texts", "schedules")
    return {**data, **{name: [value for row in data[name] for value in row] for name in rows}}


VALUES = _nasty()


def _patterns(schema: Any) -> set[str]:
    """Every pattern in a schema, those for names of properties, too."""
    if isinstance(schema, list):
        return set().union(*map(_patterns, schema))
    if not isinstance(schema, dict):
        return set()
    own = {schema["pattern"]} if isinstance(schema.get("pattern"), str) else set()
    return own.union(schema.get("patternProperties", ()), *map(_patterns, schema.values()))


PATTERNS = sorted(_patterns(values_schema()))


def _table() -> list[Case]:
    """Each nasty value in each step that may get it."""
    cases: list[Case] = []
    for number in VALUES["numbersWithUnits"]:
        cases += [("mib", {"text": number, "unit": unit}) for unit in ("m", "b")]
        cases += [("milliseconds", {"text": number, "unit": unit}) for unit in ("ms", "s")]
    for written in VALUES["factors"]:
        usual = {"spark.driver.memory": "2150m", "spark.kubernetes.memoryOverheadFactor": written}
        cases.append(("memory", {"role": "driver", "language": "Java", "properties": usual}))
        large = {"spark.executor.memory": "8191p", "spark.executor.memoryOverheadFactor": written}
        cases.append(("memory", {"role": "executor", "language": "R", "properties": large}))
    texts = [*VALUES["numbersWithUnits"], *VALUES["factors"], *VALUES["texts"], *VALUES["schedules"]]
    cases += [("pattern", {"pattern": one, "text": text}) for one in PATTERNS for text in texts]
    cases += [("merge", {"base": base, "over": over}) for base, over in VALUES["merges"]]
    cases += [("fill", {"layer": VALUES["layer"], "values": values}) for values in VALUES["layerValues"]]
    for number in VALUES["numbers"]:
        cases += [(step, {"number": [number]}) for step in ("canonical", "digest", "json")]
        cases.append(("print", {"number": [number or 0]}))
    for example in VALUES["texts"]:
        cases += [(step, example) for step in ("propertyKey", "propertyValue", "xml")]
        cases += [(step, {"text": [example]}) for step in ("canonical", "digest", "json", "print")]
        cases += [(step, {example: 1}) for step in ("canonical", "json")]
        cases.append(("print", {"data": {"text": example, "last": example}}))
    layout = {"keys": {key: {} for key in VALUES["keys"]}, "empty": [[], {}, None, True]}
    return [*cases, *((step, layout) for step in ("canonical", "digest", "json"))]


def _examples() -> list[Case]:
    """What is merged, hashed, written and printed for each example."""
    cases: list[Case] = []
    for path in sorted(EXAMPLES.glob("*/app.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if not document["kind"].endswith("SparkApplication"):
                continue
            application = build(document)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(pod, "merge", _recorded(cases))
                patch.setattr(pod, "fill", _recorded_fill(cases))
                identity = run.identity(application)
            cases += [(step, identity) for step in ("canonical", "digest", "json")]
            cases += [("print", item) for item in render(application)]
    return cases


def _recorded(cases: list[Case]) -> Callable[..., dict[str, Any]]:
    """`merge`, which adds a case for each of its calls."""

    def record(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
        cases.append(("merge", {"base": base, "over": over}))
        return merge.merge(base, over)

    return record


def _recorded_fill(cases: list[Case]) -> Callable[..., dict[str, Any]]:
    """`fill`, which adds a case for each of its calls."""

    def record(layer: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in values.items() if value is not None}
        cases.append(("fill", {"layer": layer, "values": given}))
        return fill.fill(layer, values)

    return record


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TRICKY_TEXT = st.text(
    st.sampled_from("\\\"u003c<>&' \n\t\r:=#!\x01\x7f\x85\u2028\ufffe\u00e9\U0001f600ab"), max_size=12
)
TEXT = ANY_TEXT | TRICKY_TEXT | st.sampled_from(VALUES["texts"])
NUMBER = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
OBJECT = st.dictionaries(TEXT, VALUE, max_size=4)
# Printing loses the sign of zero, and a key "<<" is a merge to Go's YAML reader, even in quotes.
PRINTED = st.recursive(
    st.booleans() | NUMBER.map(lambda number: number or 0) | TEXT,
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(TEXT.filter(lambda key: key != "<<"), inner, max_size=4),
    max_leaves=12,
)

SIZE = st.one_of(
    st.builds("{}{}".format, st.integers(0, 9000), st.sampled_from([*memory.UNITS, "", "G", "x"])),
    st.builds("{}{}".format, st.integers(0, 2**64), st.sampled_from([*memory.UNITS, *duration.UNITS, ""])),
    st.sampled_from(VALUES["numbersWithUnits"]),
)
FACTOR = st.one_of(
    st.decimals("0.01", "2", places=2).map(str),
    st.decimals("0.0001", 100, places=15).map(str),
    st.builds("{}.{}e{}".format, st.integers(0, 99), st.integers(0, 10**20), st.integers(-30, 3)),
    st.sampled_from(VALUES["factors"]),
)


@st.composite
def _memory_cases(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(["driver", "executor"]))
    optional = {
        f"spark.{role}.memory": SIZE,
        f"spark.{role}.memoryOverhead": SIZE,
        f"spark.{role}.minMemoryOverhead": SIZE,
        f"spark.{role}.memoryOverheadFactor": FACTOR,
        "spark.kubernetes.memoryOverheadFactor": FACTOR,
        "spark.memory.offHeap.enabled": st.sampled_from(["true", "false", " TRUE\n", "yes", ""]),
        "spark.memory.offHeap.size": SIZE,
        "spark.executor.pyspark.memory": SIZE,
    }
    names_given = draw(st.lists(st.sampled_from(sorted(optional)), unique=True, max_size=4))
    properties = {name: draw(optional[name]) for name in names_given}
    return {
        "role": role,
        "language": draw(st.sampled_from(["Java", "Python", "R"])),
        "properties": properties,
    }


# No item has 1 where another has true: to Python (and only to Python) those two are equal.
SCALAR = st.none() | st.booleans() | st.integers(2, 4) | st.sampled_from(["", "a", "b"])


@st.composite
def _layers(draw: st.DrawFn, fields: tuple[str, ...], depth: int = 3) -> dict[str, Any]:
    """A partial object of these fields, whose lists have the items that their field must have."""
    inner = _layers(fields, depth - 1) if depth else st.just({})
    layer: dict[str, Any] = {}
    for field in fields:
        if draw(st.integers(0, 3)) == 0:
            continue
        if field in merge.MERGE_KEYS:
            key = merge.MERGE_KEYS[field]
            items = st.builds(
                lambda value, rest, key=key: {**rest, key: value}, st.sampled_from(["a", "b", 4]), inner
            )
            layer[field] = draw(st.lists(items | inner, max_size=3))
        elif field in merge.APPENDED:
            layer[field] = draw(
                st.lists(st.fixed_dictionaries({"key": SCALAR}, optional={"x": SCALAR}), max_size=3)
            )
        else:
            layer[field] = draw(
                {"spec": inner, "args": st.lists(SCALAR, max_size=2)}.get(field, SCALAR | inner)
            )
    return layer


@st.composite
def _merge_cases(draw: st.DrawFn) -> dict[str, Any]:
    known = st.sampled_from(["spec", "args", "x", *merge.MERGE_KEYS, *merge.APPENDED])
    fields = tuple(draw(st.lists(known, min_size=1, max_size=3, unique=True)))
    return {"base": draw(_layers(fields)), "over": draw(_layers(fields))}


STRATEGIES: Mapping[str, st.SearchStrategy[Any]] = {
    "mib": st.fixed_dictionaries({"text": SIZE, "unit": st.sampled_from(["m", "b"])}),
    "milliseconds": st.fixed_dictionaries({"text": SIZE, "unit": st.sampled_from(["ms", "s"])}),
    "memory": _memory_cases(),
    "merge": _merge_cases(),
    "canonical": OBJECT,
    "digest": OBJECT,
    "json": OBJECT,
    "propertyKey": TEXT,
    "propertyValue": TEXT,
    "xml": TEXT,
    "pattern": st.fixed_dictionaries({"pattern": st.sampled_from(PATTERNS), "text": TEXT | SIZE | FACTOR}),
    "print": st.dictionaries(st.sampled_from(["data", "spec", "x"]), PRINTED, max_size=3),
}


def _generated(step: str, count: int) -> list[Case]:
    cases: list[Case] = []

    @settings(
        max_examples=count,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(STRATEGIES[step])
    def collect(value: Any) -> None:
        cases.append((step, value))

    collect()
    return cases


# --- one helm process -----------------------------------------------------------------------------


def _as_values(value: Any) -> str:
    """JSON that Go's YAML reader reads back: what YAML calls unprintable is escaped, nothing else."""
    unprintable = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
    return unprintable.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False, indent=0)
    )


def _as_input(step: str, value: Any) -> Any:
    """A case as the chart gets it: a layer's places are marked in its tables."""
    return {**value, "layer": marked(value["layer"])} if step == "fill" else value


def _computed(helm: Path, cases: list[Case], values: Path) -> list[Any]:
    chart = values.parent / "chart"
    shutil.copytree(HELPERS, chart)
    for name in USED:
        shutil.copy(TEMPLATES / name, chart / "templates")
    inputs = [{"step": step, "input": _as_input(step, value)} for step, value in cases]
    document = {"tables": TABLES, "cases": inputs}
    values.write_text(_as_values(document), encoding="utf-8")
    done = subprocess.run(
        [str(helm), "template", "helpers", str(chart), "--values", str(values)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = done.stdout.rpartition("results: ")[2]
    return list(json.loads(base64.b64decode(results)))


@pytest.fixture(scope="module")
def compared(helm: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Any, Any, Any]]]:
    """Step -> its cases, each as (input, what the chart computed, what the generator computed)."""
    count = settings().max_examples * 2 // 5  # 40, or 800 with --hypothesis-profile=explore
    cases = _table() + _examples() + [case for step in STRATEGIES for case in _generated(step, count)]
    results = _computed(helm, cases, tmp_path_factory.mktemp("helpers") / "values.json")
    assert len(results) == len(cases)
    by_step: dict[str, list[tuple[Any, Any, Any]]] = {step: [] for step in GENERATOR}
    for case, result in zip(cases, results, strict=True):
        by_step[case[0]].append((case[1], result, _expected(case)))
    return by_step


@pytest.mark.parametrize("step", GENERATOR)
def test_chart_and_generator_agree(step: str, compared: dict[str, list[tuple[Any, Any, Any]]]) -> None:
    """Helm's language computes what Python computes, for every case of the step."""
    assert len(compared[step]) >= 40
    different = [row for row in compared[step] if row[1] != row[2]]
    assert not different, (
        f"{len(different)} of {len(compared[step])}; (input, chart, generator): {different[:3]!a}"
    )


def test_both_refuse_the_same(compared: dict[str, list[tuple[Any, Any, Any]]]) -> None:
    """The table has values that are refused and values that are not, for each grammar."""
    for step in ("mib", "milliseconds", "memory"):
        refused = [row for row in compared[step] if row[1] == REFUSED]
        assert 5 < len(refused) < len(compared[step]) - 20
