"""The reader of shell scripts: words, places, and what stands around a command."""

from __future__ import annotations

import pytest

from sparkgen.importing.script import read_script
from sparkgen.importing.shell import Unclosed, commands


def words(text: str) -> list[list[str]]:
    """The words of each command."""
    return [[word.text for word in command.words] for command in commands(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a b\\\n  c", [["a", "b", "c"]]),
        ("a; b && c || d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a # no b\nc#d", [["a"], ["c#d"]]),
        ("a 'it'\\''s' \"\"", [["a", "it's", ""]]),
        ('a "x\\"y\\$z\\q"', [["a", 'x"y$z\\q']]),
        ("a $'x\\ty'", [["a", "x\ty"]]),
        ("a > log 2>&1 < in b", [["a", "b"]]),
        ("a 100 2> log", [["a", "100"]]),
        ("cat <<END\nspark-submit x\nEND\nb", [["cat"], ["b"]]),
        ("if a; then b; fi", [["a"], ["b"]]),
        ("X=1 Y=2 a b=c", [["a", "b=c"]]),
        ("a\r\nb", [["a"], ["b"]]),
    ],
)
def test_words(text: str, expected: list[list[str]]) -> None:
    """Words are those that a shell would hand to the command."""
    assert [found for found in words(text) if found] == expected


def test_places_and_variables() -> None:
    """A word knows where it starts, and which expansions are in it, as written."""
    command = commands('run \\\n  "$A/x" ${B:-"c d"} \'$C\' $(date +%F) `id`')[0]
    assert [(word.line, word.column) for word in command.words] == [
        (1, 1),
        (2, 3),
        (2, 10),
        (2, 22),
        (2, 27),
        (2, 39),
    ]
    assert [word.variables for word in command.words] == [
        (),
        ("$A",),
        ('${B:-"c d"}',),
        (),
        ("$(date +%F)",),
        ("`id`",),
    ]
    assert [word.bare for word in command.words] == [False, False, True, False, True, True]


@pytest.mark.parametrize(
    ("text", "place"), [("a 'b", (1, 3)), ('a\nb "c', (2, 3)), ("a ${b", (1, 3)), ("a $(b", (1, 3))]
)
def test_what_has_no_end_is_refused_at_its_start(text: str, place: tuple[int, int]) -> None:
    """A quote or bracket that is never closed is reported where it opens."""
    with pytest.raises(Unclosed) as refused:
        commands(text)
    assert (refused.value.line, refused.value.column) == place


def test_a_script_knows_its_submits_and_its_variables() -> None:
    """A call by any path counts, talk about spark-submit does not, and variables are remembered."""
    script = read_script(
        "A=1\nexport B=two\necho spark-submit x\nwhich spark-submit\n"
        "nice /opt/bin/spark-submit one\n$SPARK_HOME/bin/spark-submit two\nkinit me\n"
    )
    assert [[word.text for word in found[1:]] for found in script.submits] == [["one"], ["two"]]
    assert [[word.text for word in found] for found in script.before] == [["nice"], []]
    assert script.known == {"A": 1, "B": 2}
    assert [word.text for word in script.others] == ["A=1", "B=two", "echo", "which", "kinit"]
