"""The YAML writer: what a reviewer sees, and that every reader gets back what was written."""

from __future__ import annotations

import sys
import time
import unicodedata
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.document.parse import parse
from sparkgen.document.scalars import resolve
from sparkgen.yamltext import dump, scalar

# Each of these is something other than a string to at least one of PyYAML, go-yaml v2 or v3, YAML 1.2 or
# Ruby's reader.
AMBIGUOUS = [
    *["", "~", "null", "Null", "NULL", "true", "True", "FALSE", "yes", "No", "on", "OFF", "y", "N"],
    *["0", "-1", "+1", "007", "0o7", "0O7", "0x1f", "0X1F", "0b1", "0b1_0", "1_000", "+_1", "1__0"],
    *["0b-11", "0b+_1"],
    *["1.0", ".5", "1.", "1e3", "1E400", "1.5e-3", "12e03", "+.inf", "-.INF", ".NaN", "1,000"],
    *["1:30", "190:20:30", "1:30.5", "3.5.8", "10.0.0.1"],
    *["2001-12-14", "2001-1-1", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5"],
    *["<<", "=", "-", "?", ":", "---", "...", "--- a", "- a", "? a", ": a", "a: b", "a:", "a #b", "#a"],
    *["&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "'a'", '"a"', "[a]", "{a: b}", ",a", " a", "a ", "\ta"],
    *["a\tb", "a\rb", "\x00", "\x1b[31m", "\x85", "\xa0", "\u2028", "\ufeff", "\u202e", "\u200b"],
]
PLAIN = [
    *[
        "pi",
        "spark.executor.memory",
        "4g",
        "500m",
        "1Gi",
        "--conf",
        "-x",
        "/opt/spark",
        "${HOME}",
        "$(POD_IP)",
    ],
    *[
        "local:///opt/app.py",
        "repo/image:1.0",
        "a@sha256:0f",
        "*/5"[1:],
        "é",
        "日本語",
        "😀",
        "a,b",
        "a[0]",
        "None",
    ],
    *["v1", "1a2b3c4d", "60s", "0.1x", "./run.sh", "x=y", "a'b", 'a"b', "C:\\temp"],
]
BLOCKS = [
    *[
        "a\n",
        "a\nb",
        "a\nb\n",
        "a\n\nb\n",
        "a\nb\n\n\n",
        "\na\n",
        "  a\nb\n",
        "\ta\nb\n",
        "\n\n  a\n",
        "# a\nb\n",
    ],
    *["---\na\n", "a\n...\n", "a: b\n- c\n", "x\ty\n", "é\n😀\n"],
]
NOT_BLOCKS = ["\n", "\n\n", "a \nb\n", "a\t\nb", "a\r\nb\n", "a\n ", "a\x07\nb", "a\u2028\nb", " \na"]

NUMBER_PARTS = [
    *["0", "1", "7", "9", "0b", "0x", "0o"],
    *["-", "+", ".", ":", "_", "e", "E", "f", "inf", "NaN", "y"],
]
"""What numbers of every base are made of."""

texts = (
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.text("0123456789+-._:,eExXobinfaNyntrul~=<># \t\n\"'\\-{}[]&*!|>%@`?", max_size=8)
    | st.sampled_from([*AMBIGUOUS, *PLAIN, *BLOCKS, *NOT_BLOCKS])
)
kubernetes_scalars: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts


def collections(scalars: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of any shape made of these scalars."""
    keys = st.text(max_size=9)
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


kubernetes_values = collections(kubernetes_scalars)
plain_values = collections(kubernetes_scalars | st.integers() | st.floats(allow_nan=False))


def both_readers(text: str) -> list[Any]:
    """What PyYAML's Python reader and its C reader make of a text."""
    loaders: list[Any] = [yaml.SafeLoader, *([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])]
    return [yaml.load(text, Loader=loader) for loader in loaders]  # noqa: S506  (both are the safe ones)


VISIBLE_CONTROLS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Signs of category Cf with a shape."""


def test_nothing_hides_from_a_reviewer() -> None:
    """No format character of Unicode (Cf) that has no shape, and nothing else that is blank."""
    controls = {char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) == "Cf"}
    joining = {"\u200c", "\u200d"}
    for char in [
        *(controls - set(VISIBLE_CONTROLS) - joining),
        *"\u3164\u115f\uffa0\u034f\u2800\U000e0101\U0001107f\U00016fe4\U0001d159",
    ]:
        for text in (f"a{char}b", f"a\n{char}b\n", f'"a{char}b', f"é{char}é", char):
            written = dump({"key": text})
            assert char not in written, hex(ord(char))
            assert both_readers(written) == [{"key": text}] * len(both_readers(written))


@pytest.mark.parametrize("char", ["\u200c", "\u200d", "\ufe0f"])
def test_joiners_do_not_hide_where_they_join_nothing(char: str) -> None:
    """Beside ASCII, and more than one."""
    for text in (f"a{char}b", f"é{char}{char}{char}b", f"a\n{char}é\n", f"{char}é", char):
        written = dump({"key": text})
        assert written.count(char) <= text.startswith("é") * (char == "\ufe0f")
        assert both_readers(written) == [{"key": text}] * len(both_readers(written))


@pytest.mark.parametrize(
    "text", ["👩\u200d💻", "می\u200cش", "❤\ufe0f", "👁\ufe0f\u200d🗨\ufe0f", "क\u094d\u200dष"]
)
def test_joiners_stay_where_they_join(text: str) -> None:
    """Emoji, and scripts whose letters have several shapes."""
    assert scalar(text) == text


def test_an_object_looks_as_an_expert_writes_it() -> None:
    """Keys in the order given, indented lists, blocks for text, quotes only where they are needed."""
    value = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "pi-0a1b2c3d-conf", "labels": {}, "annotations": {"y": "on"}},
        "immutable": True,
        "data": {
            "spark-defaults.conf": "spark.app.name pi\nspark.ui.port 4040\n",
            "empty": "",
            "one": "a: b",
        },
        "items": [
            {"name": "a", "args": ["--conf", "x y", '{"a": 1}'], "ports": [{"port": 80}]},
            1.5,
            None,
            [],
        ],
    }
    assert (
        dump(value)
        == """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: pi-0a1b2c3d-conf
  labels: {}
  annotations:
    "y": "on"
immutable: true
data:
  spark-defaults.conf: |
    spark.app.name pi
    spark.ui.port 4040
  empty: ""
  one: "a: b"
items:
  - name: a
    args:
      - --conf
      - x y
      - '{"a": 1}'
    ports:
      - port: 80
  - 1.5
  - null
  - []
"""
    )


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_what_a_reader_could_take_for_something_else_is_quoted(text: str) -> None:
    """Numbers of every YAML, words, dates, indicators and invisible characters never stand bare."""
    written = dump({"k": text})
    assert written[3] in "\"'"
    assert both_readers(written) == [{"k": text}] * len(both_readers(written))


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_clear_is_not_quoted(text: str) -> None:
    """Names, images, paths, quantities and options stay as people write them."""
    assert dump({"k": text}) == f"k: {text}\n"
    assert both_readers(dump([text]))[0] == [text]


@pytest.mark.parametrize("text", BLOCKS)
@pytest.mark.parametrize(
    "wrap", [lambda t: {"k": t, "z": 1}, lambda t: [t, "z"], lambda t: {"k": [[t], {"a": t}]}]
)
def test_text_of_several_lines_is_a_block(text: str, wrap: Any) -> None:
    """Literal blocks wherever YAML has one for the text, at any depth, whatever follows."""
    written = dump(wrap(text))
    assert "|" in written
    assert "\\n" not in written
    for value in both_readers(written):
        assert value == wrap(text)


@pytest.mark.parametrize("text", NOT_BLOCKS)
def test_text_that_an_editor_would_change_is_quoted(text: str) -> None:
    """Blanks at line ends, carriage returns and controls are shown as escapes on one line."""
    written = dump({"k": text})
    assert written.count("\n") == 1
    assert both_readers(written)[0] == {"k": text}


@given(plain_values)
def test_what_is_written_is_read_back(value: Any) -> None:
    """Law: reading what was written gives the value, types included, with both of PyYAML's readers."""
    for read in both_readers(dump(value)):
        assert read == value
        assert repr(read) == repr(value)


@given(st.lists(st.sampled_from(NUMBER_PARTS), min_size=1, max_size=6).map("".join))
def test_no_plain_text_is_anything_else_to_kubectl(text: str) -> None:
    """Law: what stands without quotes means itself by the rules of go-yaml, too."""
    if scalar(text) == text:
        assert resolve(text) == text


@given(kubernetes_values)
def test_our_own_reader_agrees(value: Any) -> None:
    """Law: documents are read as kubectl reads them, and what was written is among what it reads."""
    parsed = parse(dump({"value": value}).encode(), "x.yaml")
    assert [problem for found in parsed.documents for problem in found.problems] == []
    [root] = [found.root for found in parsed.documents]
    assert root is not None
    assert root.value == {"value": value}
    assert repr(root.value) == repr({"value": value})


@given(plain_values)
def test_there_are_no_anchors_and_no_folded_lines(value: Any) -> None:
    """Law: one value written twice is written out twice, and a line is as long as it is."""
    written = dump([value, value])
    events = list(yaml.parse(written, Loader=yaml.SafeLoader))
    assert not [event for event in events if getattr(event, "anchor", None)]
    assert dump({"k": "word " * 100 + "end"}).count("\n") == 1


def test_a_root_scalar_and_an_empty_collection_are_documents() -> None:
    """The writer has no favourite root."""
    assert dump("a\nb\n") == "|\n  a\n  b\n"
    assert both_readers(dump("  a\nb\n"))[0] == "  a\nb\n"
    assert (dump({}), dump([]), dump(None)) == ("{}\n", "[]\n", "null\n")


def test_a_key_longer_than_yaml_allows_on_a_line_is_marked() -> None:
    """Beyond 1024 characters a key needs `?`; readers refuse it otherwise."""
    value = {"k" * 1100: {"a": 1}, "l" * 1100: ["x"], "m" * 2000: "a\nb\n"}
    assert both_readers(dump(value))[0] == value


def test_types_that_yaml_has_not_are_refused() -> None:
    """A set, bytes or a number as a key is a mistake of the caller."""
    with pytest.raises(TypeError, match="set"):
        dump({"a": {1}})
    with pytest.raises(TypeError, match="key of type int"):
        dump({1: "a"})


def test_an_application_is_written_in_a_few_milliseconds() -> None:
    """Ten objects of 1.5 KB: the best of ten runs stays below 6 ms."""
    container = {
        "name": "driver",
        "env": [{"name": f"NAME_{n}", "value": f"value-{n}"} for n in range(15)],
        "volumeMounts": [{"name": f"volume-{n}", "mountPath": f"/mnt/{n}"} for n in range(10)],
    }
    objects = [
        {"metadata": {"name": f"pi-{n}"}, "data": {"x": "a\n" * 60}, "c": container} for n in range(10)
    ]
    assert sum(len(dump(item)) for item in objects) > 14_000
    best = min(_seconds(objects) for _ in range(10))
    assert best < 0.006


def _seconds(objects: list[Any]) -> float:
    start = time.perf_counter()
    for item in objects:
        dump(item)
    return time.perf_counter() - start
