"""Laws of the import of YAML as people write it: odd keys and scalars, anchors, nulls and templates.

What kubectl makes of a key is measured in tests/unit/document; here, its reader gives the tree, and every
leaf of the tree must be in the document or be reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparkgen.document import Node
from sparkgen.document.parse import parse
from sparkgen.errors import Path, Severity
from sparkgen.importing import Choices, Imported, Outcome, Result, import_all
from sparkgen.importing.entry import FINDINGS
from sparkgen.importing.repair import problems_of
from sparkgen.semantics.secret import is_secret
from sparkgen.usecases.validate import examine
from tests import scale

SLOW = settings(
    max_examples=scale.count("tests/property/test_importing_documents.py", 100, 12),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    deadline=None,
)
HEAD = """\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: app}
spec:
  type: Scala
  image: r.example.com/app:1
  sparkVersion: 3.5.6
  mainClass: a.B
  mainApplicationFile: local:///opt/app.jar
"""
KEYS = st.sampled_from(
    [
        "team",
        "on",
        "y",
        "N",
        "2024",
        "0777",
        "1e3",
        "1.10",
        ".inf",
        "0x1F",
        "2024-01-01",
        "1_000",
        "null",
        "a.b/c",
        "password",
        "api-token",
        "plain",
    ]
)
SCALARS = st.sampled_from(
    [
        "word",
        "yes",
        "off",
        "7",
        "0777",
        "1e3",
        "1.10",
        "~",
        "null",
        "true",
        ".inf",
        "2024-01-01",
        "12:30",
        "'quoted'",
        '"q: x"',
        "{{ ds }}",
        "{{x}}",
        "'{{ ds }}'",
        "$(PASSWORD)",
        "${TOKEN}",
        "hunter22",
        "18446744073709551615",
        "&anchor word",
        "*known",
        "[a, b]",
        "{a: b}",
        "",
    ]
)
SECTIONS = st.dictionaries(KEYS, SCALARS, max_size=4)


def block(name: str, entries: dict[str, str], margin: str) -> Iterator[str]:
    """A mapping with each entry on a line of its own."""
    yield f"{margin}{name}:"
    for key, scalar in entries.items():
        yield f"{margin}  {key}: {scalar}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    """An application of kubeflow's operator, whose values have each a line of their own."""
    lines = [f"{HEAD}  imagePullPolicy: &known Always"]
    for name in draw(st.sets(st.sampled_from(["sparkConf", "hadoopConf", "nodeSelector"]))):
        lines += block(name, draw(SECTIONS), "  ")
    lines += ["  arguments:", *(f"  - {scalar}" for scalar in draw(st.lists(SCALARS, max_size=3)))]
    for role in ("driver", "executor"):
        lines += [f"  {role}:"]
        names = ["labels", "annotations", "nodeSelector", "envVars", "unheardOf"]
        for name in draw(st.sets(st.sampled_from(names))):
            lines += block(name, draw(SECTIONS), "    ")
        lines += ["    env:"]
        for key, scalar in draw(SECTIONS).items():
            lines += [f"    - name: {key}", f"      value: {scalar}"]
        for key in draw(st.sets(st.sampled_from(["SPARK_CONF_DIR", "SPARK_EXECUTOR_MEMORY"]))):
            lines += [f"    - name: {key}", "      value: x"]
    return "\n".join(lines) + "\n"


def leaves(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """The scalars and empty collections of a tree."""
    parts = node.entries.items() if node.is_mapping else enumerate(node.items)
    empty = True
    for key, child in parts:
        empty = False
        yield from leaves(child, (*path, key))
    if empty:
        yield path, node


def covering(item: Imported, path: Path) -> list[Any]:
    """The entries that speak for a leaf: those with the longest path that leads to it."""
    said = [entry for entry in item.entries if entry.source and path[: len(entry.source)] == entry.source]
    longest = max((len(entry.source) for entry in said), default=0)
    return [entry for entry in said if len(entry.source) == longest]


def texts(value: Any) -> Iterator[str]:
    """All scalars and keys of a document, as texts."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    else:
        yield str(value).lower() if isinstance(value, bool) else str(value)


def at(value: Any, path: Path) -> Any:
    """What a document has at a path."""
    for part in path:
        value = value[part]
    return value


def read(text: str) -> Result:
    """What becomes of a text."""
    return import_all(["-"], Choices(), examine, text.encode)


@SLOW
@given(documents())
def test_every_leaf_is_in_the_document_or_is_reported(text: str) -> None:
    """With the value that kubectl's reader gives it; what is reported is so once, at its own line."""
    (composed,) = parse(text.encode(), "<stdin>", as_kubectl=True).documents
    result = read(text)
    assert result.problems == ()
    (item,) = result.imported
    assert composed.root is not None
    document = yaml.load(item.text, yaml.BaseLoader)  # noqa: S506 - texts of all scalars
    for path, node in leaves(composed.root):
        entries = covering(item, path)
        assert entries, path
        for entry in entries:
            if entry.outcome in (Outcome.CARRIED, Outcome.CHANGED) and entry.target and node.value:
                assert node.text in texts(at(document, entry.target)), (path, entry)
    assert {one.severity for one in problems_of(item.text, examine)} <= {Severity.WARNING, Severity.INFO}


@SLOW
@given(documents())
def test_a_finding_is_told_once_at_its_own_line(text: str) -> None:
    """No two findings about one value, and none about a line that has another value."""
    (item,) = read(text).imported
    # two keys that kubectl reads alike have one path
    sources = [
        entry.source for entry in item.findings if entry.source and "duplicate key" not in entry.reason
    ]
    assert len(set(sources)) == len(sources)
    (composed,) = parse(text.encode(), "<stdin>", as_kubectl=True).documents
    assert composed.root is not None
    for entry in item.findings:
        if entry.source and composed.root.find(entry.source) is not None:
            lines = {composed.root.locate(entry.source).line, composed.root.locate_key(entry.source).line}
            assert entry.position.line in lines, entry
    for entry in item.entries:
        if entry.outcome is Outcome.LOST:
            whole = [
                other for other in sources if other != entry.source and entry.source[: len(other)] == other
            ]
            assert whole == [], (entry, whole)


@SLOW
@given(documents())
def test_what_validate_calls_a_secret_import_reports(text: str) -> None:
    """And the value of it stands in no message."""
    (item,) = read(text).imported
    spec = yaml.safe_load(item.text)["spec"]
    said = {entry.target: entry for entry in item.entries if entry.outcome in FINDINGS}
    for section in ("sparkConf", "hadoopConf"):
        for name, value in spec.get(section, {}).items():
            if is_secret(name, str(value)):
                assert ("spec", section, name) in said
    assert not any("hunter22" in entry.reason + entry.step for entry in item.entries)


NAMES = st.from_regex(r"[a-z]([-a-z0-9.]{0,60}[a-z0-9])?(-history|-staging-gc)?", fullmatch=True)


@SLOW
@given(
    st.lists(
        NAMES | st.sampled_from(["a.b", "a-b", "default", "x-history"]), min_size=1, max_size=6, unique=True
    )
)
def test_n_inputs_give_n_names(names: list[str]) -> None:
    """And a name that is another one says which it was."""
    text = "---\n".join(HEAD.replace("name: app", f"name: {name!r}") for name in names)
    items = read(text).imported
    assert len({item.name for item in items}) == len(names)
    for name, item in zip(names, items, strict=True):
        assert item.name == name or any(f"was {name!r}" in entry.reason for entry in item.findings)
