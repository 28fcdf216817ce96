"""Laws of reading: nothing raises, every place is in the text, and values are what JSON says."""

from __future__ import annotations

import json
import string
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.document import load
from sparkgen.document.changes import read_changes
from sparkgen.document.node import Node
from sparkgen.document.overlay import merge
from sparkgen.document.parse import parse
from sparkgen.document.scalars import resolve
from sparkgen.document.setvalues import parse_set
from sparkgen.document.sources import Reader
from sparkgen.document.text import lines_of
from sparkgen.errors import Path as NodePath
from sparkgen.errors import Problem

VALID = b"""\
# sparkgen: ignore SG117 -- an example
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: {name: pi, labels: {"a b": 'c'}}
spec: &s
  type: Python   # sparkgen: ignore SG118 -- it's a test
  sparkVersion: "3.5.8"
  arguments: [--x, "u: z", 'it''s', 1e3, yes]
  text: |
    line one
     line two # no comment

  folded: >-
    a
    b
  plain: several words
    on two lines
  list:
  - a
  - b: 1
    c: &t {p: 1, q: !!str 2}
  - - x
    - *t
  merged:
    <<: *t
    q: 3
  empty:
  escaped: "a\\tb\\u00e9 \\
    more"
---
apiVersion: sparkgen.dev/v1alpha1
kind: ScheduledSparkApplication
"""

FRAGMENTS = [
    *(
        b"\n",
        b"  ",
        b" ",
        b":",
        b": ",
        b"- ",
        b"-",
        b"[",
        b"]",
        b"{",
        b"}",
        b",",
        b"'",
        b'"',
        b"#",
        b" #",
        b"|",
    ),
    *(
        b">",
        b"&a ",
        b"*a ",
        b"*s",
        b"<<: ",
        b"!!str ",
        b"!x ",
        b"\t",
        b"\r\n",
        b"\r",
        b"?",
        b"? ",
        b"%",
        b"---\n",
    ),
    *(
        b"...\n",
        b"\\",
        b"\xc3\xa9",
        b"\xc3",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\0",
        b"\x1b",
    ),
    *(
        b"yes",
        b"~",
        b"@",
        b"`",
        b"|-\n",
        b"{{",
        b"}}",
        b"x: 1\n",
        b"\xf0\x9f\x98\x80",
        b"# sparkgen: ",
        b"9" * 30,
    ),
]


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """A valid file with some mistakes in it, or a part of one."""
    data = VALID
    if draw(st.booleans()):
        lines = VALID.splitlines(keepends=True)
        first = draw(st.integers(0, len(lines) - 1))
        data = b"".join(lines[first : first + draw(st.integers(1, 6))])
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        cut = draw(st.sampled_from((0, 0, 1, 2, 5)))
        data = data[:at] + draw(st.sampled_from(FRAGMENTS)) + data[at + cut :]
    return data


def problems_of(data: bytes) -> list[Problem]:
    """What is wrong with a file, by way of `load` with its text as standard input."""
    loaded = load(["-"], stdin=lambda: data)
    return [*loaded.problems, *(one for document in loaded.documents for one in document.warnings)]


def check_places(data: bytes, problems: list[Problem]) -> None:
    """Every problem is in the file, or one column behind the end of a line, and says what to do."""
    lines = lines_of(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    for problem in problems:
        assert 1 <= problem.position.line <= len(lines)
        if b"\xff" not in data and b"\0" not in data:
            assert 1 <= problem.position.column <= len(lines[problem.position.line - 1]) + 1
        assert problem.message
        assert problem.next_step
        assert "\n" not in problem.message + problem.next_step + problem.found


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    """Any bytes are documents or problems with a place in the file."""
    check_places(data, problems_of(data))


@given(st.text(alphabet=st.sampled_from("ab:-[]{}'\"#|>&*!%@`,? \n\t1.~<\\"), max_size=60))
def test_no_text_raises(text: str) -> None:
    """Any text of YAML's own characters, too."""
    check_places(text.encode(), problems_of(text.encode()))


@given(broken())
def test_no_broken_document_raises(data: bytes) -> None:
    """A document with mistakes gives documents or problems in its lines."""
    check_places(data, problems_of(data))


@given(broken(), st.text(max_size=20), st.text(alphabet="ab.[]={},\\0123", max_size=20))
def test_no_change_raises(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, text: str, grammar: str
) -> None:
    """Any overlay and any --set is laid on, or is a problem."""
    folder = tmp_path_factory.getbasetemp()
    overlay = folder / "overlay.yaml"
    overlay.write_bytes(data)
    loaded = load(["-"], [str(overlay)], [text], [grammar], stdin=lambda: VALID)
    assert loaded.documents or loaded.problems
    for problem in loaded.problems:
        assert problem.position.file in (str(overlay), "--set", "--set-string", "<stdin>")


CHARACTERS = st.characters(
    codec="utf-8", exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="\ufeff\u2028\u2029"
) | st.sampled_from("\n\t")
"""What may stand in YAML as it is; line ends that only YAML 1.1 knows are folded in quotes."""

KEYS = st.text(alphabet=string.ascii_letters + "_./- é", min_size=1, max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(CHARACTERS, max_size=20)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def canonical(value: Any) -> str:
    """A JSON value as text, with integral numbers below 1e21 as integers: so Kubernetes' JSON writes them."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return f"{Decimal(repr(value)) + 0:.0f}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    return json.dumps(value)


def read(data: str) -> Any:
    """The value of a text's only document, which has no errors."""
    parsed = parse(data.encode(), "f")
    assert parsed.problems == ()
    (document,) = parsed.documents
    assert [problem for problem in document.problems if problem.code != "SG008"] == []
    return document.root.value if document.root is not None else None


def left_unquoted(value: Any) -> bool:
    """Whether PyYAML leaves out quotes that Kubernetes needs: around `N`, `1e3`, `08`, `0o17`."""
    if isinstance(value, dict):
        return any(left_unquoted(item) for entry in value.items() for item in entry)
    if isinstance(value, list):
        return any(left_unquoted(item) for item in value)
    return isinstance(value, str) and not isinstance(resolve(value), str)


@given(st.dictionaries(KEYS, JSON, max_size=5).filter(lambda value: not left_unquoted(value)), st.booleans())
def test_what_pyyaml_writes_is_read(value: dict[str, Any], flow: bool) -> None:
    """A document that PyYAML dumped has the values that went in."""
    text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True)
    assert canonical(read(text)) == canonical(json.loads(json.dumps(value, ensure_ascii=False)))


@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_what_pyyaml_writes_in_quotes_is_read(value: dict[str, Any]) -> None:
    """The same with every scalar in quotes, where tags say what is a number."""
    text = yaml.safe_dump(value, default_style='"', allow_unicode=True)
    assert canonical(read(text)) == canonical(json.loads(json.dumps(value, ensure_ascii=False)))


@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_json_is_read(value: dict[str, Any]) -> None:
    """A JSON document has the values that JSON gives it."""
    assert canonical(read(json.dumps(value, ensure_ascii=False))) == canonical(
        json.loads(json.dumps(value, ensure_ascii=False))
    )


def paths(node: Node, path: NodePath = ()) -> list[NodePath]:
    """The paths of a node and of all below it."""
    found = [path]
    for key, child in node.entries.items():
        found += paths(child, (*path, key))
    for index, child in enumerate(node.items):
        found += paths(child, (*path, index))
    return found


@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_every_place_is_where_the_text_is(value: dict[str, Any]) -> None:
    """At the place of every key and of every unquoted scalar the file has its text."""
    text = yaml.safe_dump(value, default_flow_style=False, allow_unicode=True, width=10_000)
    root = parse(text.encode(), "f").documents[0].root
    assert root is not None
    lines = lines_of(text)
    for path in paths(root):
        node = root.find(path)
        assert node is not None
        rest = lines[node.position.line - 1][node.position.column - 1 :]
        if isinstance(node.value, int | float):
            assert rest.startswith(node.text)
        if path and isinstance(path[-1], str):
            key = root.locate_key(path)
            assert lines[key.line - 1][key.column - 1 :].startswith((path[-1], '"', "'"))


@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_plain_values_mirror_the_nodes(value: dict[str, Any]) -> None:
    """A node's value is made of its children's values, everywhere."""
    root = parse(json.dumps(value, ensure_ascii=False).encode(), "f").documents[0].root
    assert root is not None
    for path in paths(root):
        node = root.find(path)
        assert node is not None
        if node.is_mapping:
            assert node.value == {key: child.value for key, child in node.entries.items()}
            assert node.keys.keys() == node.value.keys()
        elif node.is_list:
            assert node.value == [child.value for child in node.items]


def node_of(value: Any) -> Node:
    """A value as a node."""
    root = parse(json.dumps(value, ensure_ascii=False).encode(), "f").documents[0].root
    assert root is not None
    return root


NUMBERS = st.integers(-9, 9)
SHAPE = st.fixed_dictionaries(
    {},
    optional={
        "a": NUMBERS,
        "b": st.text(CHARACTERS, max_size=3),
        "c": st.lists(NUMBERS, max_size=2),
    },
)
TREES = st.fixed_dictionaries({}, optional={"x": SHAPE, "z": SHAPE, "a": NUMBERS})
"""Mappings in which a key is always of the same type: for these overlays are associative."""


@given(JSON.filter(lambda value: isinstance(value, dict)))
def test_empty_overlay_is_identity(value: dict[str, Any]) -> None:
    """An empty overlay changes nothing, places included."""
    base = node_of(value)
    assert merge(base, node_of({})) == base


@given(TREES)
def test_overlay_of_itself_is_identity(value: dict[str, Any]) -> None:
    """A document laid on itself has its own values."""
    assert merge(node_of(value), node_of(value)).value == value


@given(TREES, TREES, TREES)
def test_overlays_are_associative(
    first: dict[str, Any], second: dict[str, Any], third: dict[str, Any]
) -> None:
    """It does not matter which two of three overlays are merged first."""
    one, two, three = node_of(first), node_of(second), node_of(third)
    assert merge(merge(one, two), three).value == merge(one, merge(two, three)).value


@given(TREES, TREES)
def test_later_wins(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Every scalar and list of the overlay is in the result, and what it does not name is the base's."""
    result = merge(node_of(first), node_of(second))
    for path in paths(node_of(second)):
        wanted = node_of(second).find(path)
        found = result.find(path)
        assert wanted is not None
        assert found is not None
        if not wanted.is_mapping:
            assert found.value == wanted.value
    for path in paths(node_of(first)):
        if node_of(second).find(path[:1]) is None and path:
            assert result.find(path) == node_of(first).find(path)


@given(st.dictionaries(KEYS, JSON, max_size=4), KEYS)
def test_null_deletes(value: dict[str, Any], key: str) -> None:
    """A null in an overlay leaves everything but its key."""
    base = node_of(value)
    result = merge(base, node_of({key: None}))
    assert result.value == {name: child for name, child in base.value.items() if name != key}
    assert result.keys.keys() == result.value.keys()


ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\,.=[]{}"})


@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4), st.text(max_size=8))
def test_escaped_set_is_read_back(path: list[str], value: str) -> None:
    """With a backslash before every special character any keys and any text can be set."""
    text = ".".join(key.translate(ESCAPED) for key in path) + "=" + value.translate(ESCAPED)
    (assignment,) = parse_set(text, "--set-string", 1, strings=True)
    assert [part for part, _ in assignment.path] == path
    assert assignment.value.value == value


@given(st.text(alphabet="ab.[]={},\\01", max_size=30))
def test_no_set_raises(text: str) -> None:
    """Any --set is read, or is SG017 within the argument."""
    laid = read_changes(Reader(bytes), (), (text,), ())
    assert laid.complete == bool(laid.assignments)
    for problem in laid.problems:
        assert problem.code == "SG017"
        assert 1 <= problem.position.column <= len(text) + 1


def test_mutated_file_is_valid_before(tmp_path: Path) -> None:
    """The file that the mutations start from has no problems."""
    file = tmp_path / "valid.yaml"
    file.write_bytes(VALID)
    loaded = load([str(file)])
    assert loaded.problems == ()
    assert [problem.code for document in loaded.documents for problem in document.warnings] == ["SG008"]
