"""Text becomes nodes with exact places, within limits."""

from __future__ import annotations

import sys

import pytest

from sparkgen.document.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_FILE_BYTES, MAX_NODES
from sparkgen.document.node import Node
from sparkgen.document.parse import Parsed, parse, parser_class
from sparkgen.errors import Position, Problem

TEXT = """\
# a comment
name: pi
spec:
  "quoted key": 'it''s'
  list:
  - a
  -   b: 1
      c:
  flow: [x, {w: "é", z: 3.10}]
  block: |
    text
  after: ünïcode
"""


def parsed(text: str | bytes) -> Parsed:
    """A text in a file called f."""
    return parse(text.encode() if isinstance(text, str) else text, "f")


def root(text: str | bytes) -> Node:
    """The root of a text's first document, which has no problems."""
    found = parsed(text)
    assert found.problems == ()
    assert found.documents[0].problems == ()
    node = found.documents[0].root
    assert node is not None
    return node


def problems(text: str | bytes) -> list[Problem]:
    """Everything that is wrong with a text."""
    found = parsed(text)
    return [*(problem for one in found.documents for problem in one.problems), *found.problems]


def codes(text: str | bytes) -> list[str]:
    """Code, line and column of everything that is wrong with a text."""
    return [f"{one.code} {one.position.line}:{one.position.column}" for one in problems(text)]


def at(line: int, column: int) -> Position:
    """A place in the file f."""
    return Position("f", line, column)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "a: 1\nb: 2\na: 3\n",
        "a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n",
        "a: 'x\nb: c'\n",
        "a: b\n  c: d\n",
        "%YAML 1.3\n---\na: [1, 2",
        "a: b\n---\n<<<<<<< HEAD\na: c\n",
        "\ta: b\n",
        "[" * (MAX_DEPTH + 1),
        "- x\n" * MAX_NODES,
    ],
)
@pytest.mark.parametrize("as_kubectl", [False, True])
def test_lines_above_a_text_count_and_are_not_read(text: str, *, as_kubectl: bool) -> None:
    """Places, and the lines in messages, are those of the file in which the text stands."""
    there = parse(text.encode(), "f", as_kubectl=as_kubectl, above=7)
    padded = parse(b"\n" * 7 + text.encode(), "f", as_kubectl=as_kubectl)
    assert there.problems == padded.problems
    for found, expected in zip(there.documents, padded.documents, strict=True):
        assert (found.problems, found.remarks) == (expected.problems, expected.remarks)
        assert repr(found.root) == repr(expected.root)


@pytest.mark.parametrize(
    ("path", "value", "text", "place"),
    [
        ((), None, "", at(2, 1)),
        (("name",), "pi", "pi", at(2, 7)),
        (("spec",), None, "", at(4, 3)),
        (("spec", "quoted key"), "it's", "it's", at(4, 17)),
        (("spec", "list"), None, "", at(6, 3)),
        (("spec", "list", 0), "a", "a", at(6, 5)),
        (("spec", "list", 1), {"b": 1, "c": None}, "", at(7, 7)),
        (("spec", "list", 1, "b"), 1, "1", at(7, 10)),
        (("spec", "list", 1, "c"), None, "", at(8, 9)),
        (("spec", "flow", 1), None, "", at(9, 13)),
        (("spec", "flow", 1, "w"), "é", "é", at(9, 17)),
        (("spec", "flow", 1, "z"), 3.1, "3.10", at(9, 25)),
        (("spec", "block"), "text\n", "text\n", at(10, 10)),
        (("spec", "after"), "ünïcode", "ünïcode", at(12, 10)),
    ],
)
@pytest.mark.usefixtures("either_parser")
def test_places_of_values(path: tuple[str | int, ...], value: object, text: str, place: Position) -> None:
    """Every value knows its line, its column (in characters) and its text."""
    node = root(TEXT).find(path)
    assert node is not None
    assert node.position == place
    assert node.text == text
    if value is not None:
        assert node.value == value


@pytest.mark.usefixtures("either_parser")
def test_places_of_keys() -> None:
    """Every key knows its place."""
    spec = root(TEXT).find(("spec",))
    assert spec is not None
    assert spec.keys == {
        "quoted key": at(4, 3),
        "list": at(5, 3),
        "flow": at(9, 3),
        "block": at(10, 3),
        "after": at(12, 3),
    }


def test_value_is_the_plain_tree() -> None:
    """A node's value is what json.loads would give for the same data."""
    assert root(TEXT).value == {
        "name": "pi",
        "spec": {
            "quoted key": "it's",
            "list": ["a", {"b": 1, "c": None}],
            "flow": ["x", {"w": "é", "z": 3.1}],
            "block": "text\n",
            "after": "ünïcode",
        },
    }


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.usefixtures("either_parser")
def test_line_ends(end: str) -> None:
    """Unix, Windows and old Mac line ends give the same values at the same places."""
    assert root(TEXT.replace("\n", end)) == root(TEXT)


@pytest.mark.usefixtures("either_parser")
def test_byte_order_mark_is_no_column() -> None:
    """A byte order mark at the start is skipped and not counted."""
    assert root(b"\xef\xbb\xbfa: 1") == root("a: 1")


def test_json_is_yaml() -> None:
    """A JSON document indented with tabs is read, as libyaml and go-yaml do."""
    assert root('{\n\t"a": [1, 2.0, true, null, "x\\u00e9"]\n}').value == {"a": [1, 2, True, None, "xé"]}


@pytest.mark.usefixtures("either_parser")
def test_several_documents() -> None:
    """Each document has its index and its first line; empty ones are there, without a root or with null."""
    found = parsed("# head\na: 1\n---\n# only a comment\n---\nb: 2\n...\n# tail\n")
    assert [one.root.value if one.root else None for one in found.documents] == [{"a": 1}, None, {"b": 2}]
    assert [(one.index, one.first_line) for one in found.documents] == [(0, 1), (1, 3), (2, 5)]
    assert found.problems == ()


@pytest.mark.parametrize("text", ["", "# nothing\n", "\n\n", "\ufeff"])
def test_no_documents(text: str) -> None:
    """A file without content has no documents, and that alone is no problem here."""
    assert parsed(text).documents == ()
    assert parsed(text).problems == ()


def test_documents_before_a_syntax_error_are_kept() -> None:
    """What could be read before the text stops to be YAML is there, with its own problems."""
    found = parsed("a: 1\na: 2\n---\nb: [\n")
    assert [one.root.value for one in found.documents if one.root] == [{"a": 1}]
    assert codes("a: 1\na: 2\n---\nb: [\n") == ["SG003 2:1", "SG002 4:4"]


class TestAliases:
    """Anchors, aliases and merge keys."""

    def test_alias_is_the_anchored_node(self) -> None:
        """An alias has the value and the place of what it stands for; its key has its own."""
        node = root("a: &x {b: 1}\nc: *x\n")
        assert node.value == {"a": {"b": 1}, "c": {"b": 1}}
        assert node.locate(("c", "b")) == at(1, 11)
        assert node.locate_key(("c",)) == at(2, 1)

    def test_anchored_key(self) -> None:
        """A key can be anchored, and an alias of a text can be a key."""
        assert root("&x a: 1\nb: *x\nc: {*x : 2}\n").value == {"a": 1, "b": "a", "c": {"a": 2}}

    def test_anchor_defined_again(self) -> None:
        """The later anchor wins, from where it stands on; also when the first one was still open."""
        assert root("[&x 1, *x, &x 2, *x]").value == [1, 1, 2, 2]
        assert root("[&x [&x 1, *x], *x]").value == [[1, 1], 1]

    def test_anchors_end_with_the_document(self) -> None:
        """An anchor is not known in the next document."""
        assert codes("a: &x 1\n---\nb: *x\n") == ["SG002 3:4"]

    @pytest.mark.parametrize(
        ("text", "merged"),
        [
            ("a: &a {x: 1, w: 2}\nb: {<<: *a, w: 3}", {"x": 1, "w": 3}),
            ("a: &a {x: 1}\nc: &c {x: 2, z: 3}\nb: {<<: [*a, *c]}", {"x": 1, "z": 3}),
            ("b: {<<: {x: 1}, w: 2}", {"x": 1, "w": 2}),
            ("a: &a {x: 1}\nc: &c {<<: *a, w: 2}\nb: {<<: *c, z: 3}", {"x": 1, "w": 2, "z": 3}),
            ("a: &a {x: 1}\nb: {k: 0, <<: *a}", {"k": 0, "x": 1}),
            ('b: {"<<": 1}', {"<<": 1}),
            ("b: {<<: []}", {}),
        ],
    )
    def test_merge_keys(self, text: str, merged: dict[str, int]) -> None:
        """`<<` brings the keys of mappings; own keys below it win, and so do earlier mappings of a list."""
        assert root(text).value["b"] == merged

    def test_places_of_merged_keys(self) -> None:
        """A merged key is where it was written; one that replaces it is where that stands."""
        node = root("a: &a {x: 1, w: 2}\nb:\n  <<: *a\n  w: 3\n")
        assert node.locate_key(("b", "x")) == at(1, 8)
        assert node.locate_key(("b", "w")) == at(4, 3)
        assert node.locate(("b", "w")) == at(4, 6)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a: *nothing", "SG002 1:4"),
            ("a: &x [*x]", "SG002 1:8"),
            ("a: &x {b: {c: *x}}", "SG002 1:15"),
            ("a: {<<: 1}", "SG002 1:9"),
            ("a: {<<: [1]}", "SG002 1:9"),
            ("a: {<<: }", "SG002 1:9"),
            ("x: &x {k: 1}\na: {<<: *x, <<: *x}", "SG003 2:13"),
            ("x: &x {k: 1}\na:\n  k: 2\n  <<: *x\n", "SG003 3:3"),
        ],
    )
    def test_wrong_aliases_and_merges(self, text: str, expected: str) -> None:
        """Each is a problem at its place; kubectl's silent choice of `<<` over a key above it, too."""
        assert codes(text) == [expected]


class TestKeys:
    """Keys are text, and stand once."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a: 1\nb: 2\na: 3\n", "SG003 3:1"),
            ("{a: 1, 'a': 2}", "SG003 1:8"),
            ("s:\n  a: 1\n  a: 2\n", "SG003 3:3"),
            ("1: x", "SG002 1:1"),
            ("true: x", "SG002 1:1"),
            ("on: x", "SG002 1:1"),
            ("a: {yes: x}", "SG002 1:5"),
            ("null: x", "SG002 1:1"),
            ("~: x", "SG002 1:1"),
            (": x", "SG002 1:1"),
            ("[a]: x", "SG002 1:1"),
            ("{a: b}: x", "SG002 1:1"),
            ("? {a: b}\n: x", "SG002 1:3"),
            ("a: {{ x }}", "SG002 1:4"),
            ("a: {{x}}", "SG002 1:4"),
            ("1.5: x", "SG002 1:1"),
        ],
    )
    def test_wrong_keys(self, text: str, expected: str) -> None:
        """Each is a problem at the key."""
        assert codes(text) == [expected]

    def test_both_lines_are_named(self) -> None:
        """A duplicate key's message names both lines, and its path is the key's."""
        (problem,) = problems("s:\n  a: 1\n  b: 2\n  a: 3\n")
        assert "on lines 2 and 4" in problem.message
        assert problem.path == ("s", "a")

    @pytest.mark.parametrize("key", ["2001-01-01", "1:30", "é", "a b", "=", "'1'", '"true"', "!!str 1"])
    def test_right_keys(self, key: str) -> None:
        """Text that looks like something else to other readers is a key."""
        assert len(root(f"{key}: x").value) == 1

    def test_values_of_refused_keys_are_read(self) -> None:
        """A refused key does not hide the problems behind it."""
        assert codes("1: {a: 1, a: 2}\nb: 1\nb: [*x]\n") == [
            "SG002 1:1",
            "SG003 1:11",
            "SG003 3:1",
            "SG002 3:5",
        ]

    def test_paths_below_refused_keys(self) -> None:
        """A problem below a key that was refused has the key in its path."""
        assert [problem.path for problem in problems("a: 1\na: yes\n2: {b: yes}\n")] == [
            ("a",),
            ("a",),
            (),
            ("2", "b"),
        ]

    def test_template_is_text(self) -> None:
        """An unquoted template is one problem, and text from then on: no mapping for the schema to refuse."""
        (document,) = parsed("a: [{{ x }}, {{w}}]\n").documents
        assert document.root is not None
        assert document.root.value == {"a": ["{{ x }}", "{{w}}"]}
        assert [problem.path for problem in document.problems] == [("a", 0), ("a", 1)]


class TestAsKubectl:
    """Keys as kubectl reads them: import does, because the documents of others are written for it."""

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            ("1", "1"),
            ("0777", "511"),
            ("0x10", "16"),
            ("1_000", "1000"),
            ("on", "true"),
            ("No", "false"),
            ("1e3", "1000"),
            ("1.10", "1.1"),
            ("1.5e300", ".inf"),
            (".inf", ".inf"),
            ("-.inf", "-.inf"),
            (".nan", ".nan"),
            ("1e-7", "1e-07"),
            ("123456789.5", "1.2345679e+08"),
            ("0.30000000000000004", "0.3"),
            ("-0.0", "-0"),
            ("1e20", "1e+20"),
            ("123456789012", "123456789012"),
            ("2024-01-01", "2024-01-01"),
        ],
    )
    def test_a_key_that_is_no_string_becomes_one(self, written: str, expected: str) -> None:
        """Measured with kubectl 1.36: `kubectl annotate --local -f`."""
        (document,) = parse(f"{{{written}: x}}".encode(), "a", as_kubectl=True).documents
        assert document.root is not None
        assert (document.root.value, document.problems) == ({expected: "x"}, ())
        assert bool(document.remarks) is (written != expected)

    @pytest.mark.parametrize("written", ["null", "~", "18446744073709551615"])
    def test_a_key_that_kubectl_refuses_is_refused(self, written: str) -> None:
        """Null, and a number that Go keeps without a sign."""
        (document,) = parse(f"a: {{{written}: x}}".encode(), "a", as_kubectl=True).documents
        assert document.root is not None
        assert document.root.value == {"a": {}}
        assert [problem.path for problem in document.problems] == [("a", written)]


class TestScalars:
    """Problems of scalars; their values are compared with Helm's elsewhere."""

    @pytest.mark.parametrize("word", ["yes", "No", "ON", "off", "y", "N"])
    def test_boolean_words(self, word: str) -> None:
        """A YAML 1.1 boolean is read as one, with a warning that has both spellings."""
        (problem,) = problems(f"a: {word}")
        assert (problem.code, problem.severity.value, problem.path) == ("SG008", "warning", ("a",))
        assert f'"{word}"' in problem.next_step
        assert problem.next_step.startswith(("write true", "write false"))

    @pytest.mark.parametrize(
        "text", ["a: true", "a: 'yes'", 'a: "on"', "a: !!bool yes", "a: !!str no", "a: |\n  yes"]
    )
    def test_no_boolean_word(self, text: str) -> None:
        """True and false, and what is quoted or tagged, needs no warning."""
        assert codes(text) == []

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a: .inf", "SG002 1:4"),
            ("a: [x, -.INF]", "SG002 1:8"),
            ("a: .nan", "SG002 1:4"),
            ("a: 9007199254740993", "SG002 1:4"),
            ("a: !x y", "SG002 1:4"),
            ("a: !x {b: c}", "SG002 1:4"),
            ("a: !!set {b}", "SG002 1:4"),
            ("a: !!int x", "SG002 1:4"),
            ("a: [b?c]", "SG002 1:5"),
            ("a: {b?: c}", "SG002 1:5"),
            ("%YAML 1.2\n---\na: 1", "SG002 1:1"),
        ],
    )
    def test_wrong_scalars(self, text: str, expected: str) -> None:
        """What JSON, Helm or kubectl could not read, or would read otherwise, is a problem at its place."""
        assert codes(text) == [expected]

    def test_question_marks_elsewhere(self) -> None:
        """Only an unquoted `?` inside of brackets is refused by go-yaml."""
        assert codes("a: b?c\nd: ['e?f', \"g?\"]\nh: {i: 'j?'}\n") == []


class TestLimits:
    """A file asks for no more than it may."""

    def test_size(self) -> None:
        """One byte more than the limit is too large; the limit itself is not."""
        head = b"a: b #"
        assert codes(head + b"x" * (MAX_FILE_BYTES - len(head))) == []
        assert codes(head + b"x" * (MAX_FILE_BYTES - len(head) + 1)) == ["SG005 1:1"]

    @pytest.mark.parametrize(
        "text", ["[" * 20_000, "{" * 20_000, "- " * 20_000, "? " * 20_000, "[{a: " * 10_000]
    )
    @pytest.mark.usefixtures("either_parser")
    def test_depth_without_end(self, text: str) -> None:
        """Brackets without end are one problem, at the first that is too deep."""
        (problem,) = problems(text)
        assert problem.code == "SG005"

    def test_depth(self) -> None:
        """The deepest that is allowed, and one more."""
        assert codes("[" * MAX_DEPTH + "]" * MAX_DEPTH) == []
        assert codes("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)) == [f"SG005 1:{MAX_DEPTH + 1}"]

    def test_depth_by_aliases(self) -> None:
        """An alias counts with the depth of what it stands for."""
        half = MAX_DEPTH // 2
        deep = "[" * half + "]" * half
        assert codes(f"- &x {deep}\n- {'[' * (half - 1)}*x{']' * (half - 1)}\n") == []
        assert codes(f"- &x {deep}\n- {'[' * half}*x{']' * half}\n")[0].startswith("SG005 2:")

    def test_nodes(self) -> None:
        """The most values that are allowed, and one more."""
        assert codes("- 1\n" * (MAX_NODES - 1)) == []
        assert codes("- 1\n" * MAX_NODES) == [f"SG005 {MAX_NODES}:3"]

    @pytest.mark.parametrize("use", ["- *a\n", "- {b: *a}\n", "- {*a : 1}\n", "- {<<: *b}\n"])
    def test_long_aliases(self, use: str) -> None:
        """What is rendered has the text wherever an alias stands for it."""
        length = MAX_FILE_BYTES // 4
        head = f"- &a {'x' * length}\n- &b {{c: *a}}\n"
        most = MAX_CHARACTERS // length - 3
        assert codes(head + use * most) == []
        assert codes(head + use * (most + 3))[0].startswith("SG005 ")
        [problem] = parse((head + use * 20).encode(), "a.yaml").problems
        assert (
            problem.message
            == f"the document has more than {MAX_CHARACTERS} characters after expanding aliases"
        )

    @pytest.mark.parametrize("item", ["[{}]", "{{a: {}}}", "{{<<: {}}}"])
    def test_exploding_aliases(self, item: str) -> None:
        """Aliases of aliases count as often as they are used."""
        lines = ["a0: &a0 {x: 1}"]
        for number in range(1, 60):
            names = [f"*a{number - 1}"] * 10
            inner = ", ".join(names) if item.startswith("[") else f"[{', '.join(names)}]"
            lines.append(f"a{number}: &a{number} " + item.format(inner))
        (problem,) = problems("\n".join(lines))
        assert problem.code == "SG005"

    def test_recursion_limit_is_not_reached(self) -> None:
        """The deepest document is read with hardly any stack."""
        text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
        before = sys.getrecursionlimit()
        frame, depth = sys._getframe(), 0
        while frame is not None:
            frame, depth = frame.f_back, depth + 1
        sys.setrecursionlimit(depth + 50)
        try:
            assert codes(text) == []
        finally:
            sys.setrecursionlimit(before)


class TestBytes:
    """What is no UTF-8 text."""

    @pytest.mark.parametrize(
        ("data", "message", "expected"),
        [
            (b"a: 1\nb: \xff\n", "not UTF-8", "SG002 2:4"),
            ("a: é\nb: ü".encode("latin-1"), "not UTF-8", "SG002 1:4"),
            ("é: 1\n".encode() + b"b: \xc3", "not UTF-8", "SG002 2:4"),
            ("a: 1".encode("utf-16"), "UTF-16", "SG002 1:1"),
            ("a: 1".encode("utf-16-le"), "UTF-16", "SG002 1:1"),
            ("a: 1".encode("utf-16-be"), "UTF-16", "SG002 1:1"),
            (b"a: 1\n\0", "NUL", "SG002 2:1"),
            (b"\x7fELF\x02\x01\0\0\xff\xfe", "NUL", "SG002 1:9"),
            (b"PK\3\4\0\0\xff", "NUL", "SG002 1:7"),
            (b"a: \x1b[31m", "control character U+001B", "SG002 1:4"),
            ("a: 1\n\ufeffb: 2".encode(), "byte order mark", "SG002 2:1"),
        ],
    )
    def test_no_text(self, data: bytes, message: str, expected: str) -> None:
        """Each says what it is, where, and has a next step."""
        (problem,) = problems(data)
        assert message in problem.message
        assert problem.next_step
        assert codes(data) == [expected]

    def test_surrogates_and_astral_characters(self) -> None:
        """Characters beyond 16 bits are one column each."""
        node = root("a: ['\U0001f600', b]")
        assert node.locate(("a", 1)) == at(1, 10)


ZEROS = "0" * 5000
"""More digits than Python converts to an integer."""


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("ZEROS9", 9),
        ("-ZEROS9", -9),
        ("0_ZEROS9", 9),
        ('!!float "ZEROS9"', 9),
        ("ZEROS9.5", 9.5),
        ("ZEROS8e2", 800),
        ("8eZEROS2", 800),
        pytest.param("9" * 5000, "9" * 5000, id="nines"),
    ],
)
def test_numbers_of_any_length(written: str, value: object) -> None:
    """As kubectl reads them: leading zeros before an 8 or a 9 make a float, which JSON has as an integer."""
    assert root(f"a: {written.replace('ZEROS', ZEROS)}\n").value == {"a": value}


def test_numbers_of_any_length_as_keys() -> None:
    """A key is no string here, and no reason to raise."""
    text = f"? {ZEROS}9\n: 1\n"
    (problem,) = problems(text)
    assert problem.code == "SG002"
    (found,) = parse(text.encode(), "f", as_kubectl=True).documents
    assert found.root is not None
    assert found.root.value == {"9": 1}


def test_a_long_number_that_helm_would_round() -> None:
    """Leading zeros change nothing about it."""
    (problem,) = problems(f"a: {ZEROS}9007199254740993\n")
    assert "would read 9007199254740992" in f"{problem.message} {problem.allowed} {problem.next_step}"


def test_libyaml_is_used() -> None:
    """The development environment has libyaml, so that both parsers are tested."""
    assert parser_class().__name__ == "CParser"
