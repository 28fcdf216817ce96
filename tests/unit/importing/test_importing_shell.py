"""The reader of shell scripts: words, places, and what stands around a command."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from sparkgen.importing import Choices, Imported, Outcome, import_all, shell
from sparkgen.importing.commands import Word
from sparkgen.importing.expansion import MOST_EXPANDED, Variables
from sparkgen.importing.script import _Reading, read_script
from sparkgen.importing.shell import Unclosed, commands, read
from sparkgen.usecases.validate import examine


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


HEAD = "spark-submit --name nightly --class org.example.Nightly "


def submitted(text: str) -> tuple[Imported, dict[str, Any]]:
    """What becomes of a script with one spark-submit, and the spec of its document."""
    (item,) = import_all(["-"], Choices(image="r/x:1", spark_version="3.5.8"), examine, text.encode).imported
    spec: dict[str, Any] = yaml.safe_load(item.text)["spec"]
    return item, spec


def test_options_in_variables_arrays_and_comments_are_read() -> None:
    """A bare variable, a comment in backticks, an array that grows, and a default."""
    item, spec = submitted(
        'KRB="--conf spark.mine=1"\nARGS=(--master k8s://x --deploy-mode cluster)\n'
        "ARGS+=(--conf spark.executor.instances=8)\n"
        + HEAD
        + '$KRB `# sizes` "${ARGS[@]}" --executor-memory ${MEM:-8g} local:///a.jar 2024\n'
    )
    assert spec["mainClass"] == "org.example.Nightly"
    assert spec["sparkConf"]["spark.mine"] == "1"
    assert (spec["executor"]["instances"], spec["executor"]["memory"]) == (8, "8g")
    assert (spec["mainApplicationFile"], spec["arguments"]) == ("local:///a.jar", ["2024"])
    (found,) = item.findings
    assert (found.outcome, found.source) == (Outcome.CHANGED, ("--executor-memory",))
    assert "its default in the script was taken" in found.reason


@pytest.mark.parametrize("word", ["${%s1}", '"${%s1:-}"', '"${ARGS[%s1]}"', '"${ARGS[99%s]}"'])
def test_an_index_of_any_length_is_one_that_only_the_shell_knows(word: str) -> None:
    """Of arguments and of arrays: with more digits than Python converts to an integer."""
    item, spec = submitted(
        f"ARGS=(a b)\n{HEAD} --executor-memory 8g local:///a.jar {word % ('0' * 5000)} 1\n"
    )
    assert spec["executor"]["memory"] == "8g"
    (found,) = item.findings
    assert found.outcome is Outcome.CHANGED
    assert found.reason.startswith(("the shell variable ", "was a variable of the environment"))


@pytest.mark.parametrize("word", ["$UNKNOWN", '"${UNKNOWN[@]}"', "$(options)", "$@", "`options`"])
def test_options_that_only_the_shell_knows_are_reported(word: str) -> None:
    """And those behind them are read all the same."""
    item, spec = submitted(f"{HEAD} {word} --executor-memory 8g local:///a.jar 2024\n")
    assert (spec["executor"]["memory"], spec["arguments"]) == ("8g", ["2024"])
    assert spec["mainApplicationFile"] == "local:///a.jar"
    (found,) = item.findings
    assert found.outcome is Outcome.LOST
    assert f"options behind {word.strip(chr(34))} were not read" in found.reason


def test_the_arguments_of_the_script_are_reported() -> None:
    """They are no argument called `$@`."""
    item, spec = submitted(f'{HEAD} local:///a.jar one "$@" two\n')
    assert spec["arguments"] == ["one", "two"]
    assert [(entry.outcome, entry.source) for entry in item.findings] == [(Outcome.LOST, ("argument 2",))]


def test_a_value_that_only_the_shell_knows_is_one_finding() -> None:
    """Kept as it is written where a string may be, lost where a number must be."""
    item, spec = submitted(
        'if [ -n "$X" ]; then CORES=2; else CORES=4; fi\n'
        f"{HEAD} --executor-cores $CORES local:///a.jar $DAY\n"
    )
    assert "cores" not in spec["executor"]
    assert spec["arguments"] == ["$DAY"]
    assert [(entry.outcome, entry.source) for entry in item.findings] == [
        (Outcome.LOST, ("--executor-cores",)),
        (Outcome.CHANGED, ("argument 1",)),
    ]
    assert "the shell variable $CORES" in item.findings[0].reason


def test_each_call_of_a_function_is_an_application() -> None:
    """With the arguments of the call; also by a variable, by eval and in a here-document for a shell."""
    result = import_all(
        ["-"],
        Choices(),
        examine,
        lambda: (
            b'SUBMIT=/opt/bin/spark-submit\nrun() { $SUBMIT --class "$1" local:///a.jar; }\n'
            b'run org.One\nrun org.Two\neval "spark-submit --class org.Three local:///a.jar"\n'
            b"bash <<END\nspark-submit --class org.Four local:///a.jar\nEND\n"
        ),
    )
    classes = [yaml.safe_load(item.text)["spec"]["mainClass"] for item in result.imported]
    assert classes == ["org.One", "org.Two", "org.Three", "org.Four"]
    assert [item.origin.line for item in result.imported] == [2, 2, 5, 7]
    assert len({item.name for item in result.imported}) == 4


def test_what_is_not_followed_is_reported() -> None:
    """A here-document for another machine, and a manifest in one, which is imported."""
    text = (
        "#!/bin/bash\nssh host <<END\nspark-submit x\nEND\nkubectl apply -f - <<END\n"
        "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {name: her}\n"
        "spec: {nonsense: 1}\nEND\n"
    )
    result = import_all(["-"], Choices(), examine, text.encode)
    (item,) = result.imported
    assert (item.name, item.origin.line) == ("her", 6)
    assert any(entry.position.line == 9 and entry.source[-1] == "nonsense" for entry in item.findings)
    assert any("does not follow" in left.reason and left.position.line == 2 for left in result.left_alone)


def test_a_main_file_with_a_variable_in_it_is_the_main_file() -> None:
    """Whatever its path has in it: `/opt/` is no sign of options."""
    item, spec = submitted(f"VERSION=$2\n{HEAD} local:///opt/conf/app-$VERSION.jar one\n")
    assert (spec["mainApplicationFile"], spec["arguments"]) == ("local:///opt/conf/app-$2.jar", ["one"])
    assert [(entry.outcome, entry.source) for entry in item.findings] == [(Outcome.CHANGED, ("main file",))]


@pytest.mark.parametrize(
    ("begins", "doubles", "used"),
    [("A=x", "A=$A$A", "$A"), ("A=(x)", 'A=("${A[@]}" "${A[@]}")', '"${A[@]}"'), ("A=x", "A+=$A", "$A")],
)
def test_a_variable_that_doubles_again_and_again_is_not_followed_for_ever(
    begins: str, doubles: str, used: str
) -> None:
    """Forty lines would make a value of a terabyte: beyond a budget, only the machine knows a variable."""
    script = read_script("\n".join([begins, *[doubles] * 40, f"spark-submit --name pi local:///a.py {used}"]))
    [words] = script.submits
    assert sum(len(word.text) for word in words) < MOST_EXPANDED
    assert words[-1].variables


def test_nested_defaults_use_up_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level is read again, so that a function of 200 bytes would be read for minutes."""
    read: list[int] = []
    real = shell.words_in
    monkeypatch.setattr(shell, "words_in", lambda text: read.append(len(text)) or real(text))
    nested = "${A:-" * 25 + "{}" * 2_000 + "}" * 25
    calls = "f\n" * 100
    read_script(f'f() {{ declare x="{nested}"; }}\n{calls}spark-submit --name pi local:///a.py\n')
    assert sum(read) < 3 * MOST_EXPANDED


def test_blocks_deeper_than_any_script_has_them_are_closed_again() -> None:
    """What stands behind them is in no condition: its variables are known."""
    nested = "if a; then\n" * 3000 + "A=1\n" + "fi\n" * 3000
    script = read_script(f"{nested}B=2\nspark-submit --name $A local:///a.py $B\n")
    [words] = script.submits
    assert [word.text for word in words] == ["spark-submit", "--name", "$A", "local:///a.py", "2"]


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("a*", False),
        ("a?", False),
        ("[ab]", False),
        ("[]ab]", True),
        ("[[]", False),
        ("a[", True),
        ("[]", True),
        ("][", True),
    ],
)
def test_patterns_for_files_are_known_to_the_shell_alone(word: str, known: bool) -> None:
    """`*`, `?`, and brackets around at least one character."""
    script = read_script(f"spark-submit local:///a.py {word}\n")
    assert (script.submits[0][-1].variables == ()) is known


class Watched(tuple[Word, ...]):
    """Arguments that note how many words are copied out of them."""

    copied = 0

    def __getitem__(self, key: Any) -> Any:
        """A word, or some."""
        if isinstance(key, slice):
            Watched.copied += len(range(*key.indices(len(self))))
        return super().__getitem__(key)


def test_shift_copies_no_arguments() -> None:
    """Thousands of `shift` after `set -- a a a ...` would make a square of work."""
    arguments = Watched(Word(f"a{number}", 1, 1) for number in range(100))
    variables = Variables(arguments=arguments)
    assert variables.get("2") == (Word("a1", 1, 1),)
    Watched.copied = 0
    reading = _Reading()
    reading.run(read("shift\n" * 90 + 'spark-submit $1 "$@"\n'), variables)
    assert Watched.copied == 1 + 10
    (submit,) = reading.submits
    assert [word.text for word in submit[1:]] == ["a90", *(f"a{number}" for number in range(90, 100))]
