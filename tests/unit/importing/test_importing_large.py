"""Large inputs: what an import does grows as its input does, counted and not timed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
import yaml

from sparkgen.document import Document
from sparkgen.document.limits import MAX_NODES
from sparkgen.document.parse import Parsed, parse
from sparkgen.errors import Problem
from sparkgen.importing import (
    Choices,
    Outcome,
    Result,
    embedded,
    expansion,
    import_all,
    repair,
    script,
    shell,
)
from sparkgen.usecases.validate import examine

HEAD = """\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: pi}
spec:
  type: Python
  mode: cluster
  sparkVersion: "3.5.8"
  image: registry.example.com/x:1
  mainApplicationFile: local:///a.py
"""
SIZE = 150


def imported(text: str) -> Result:
    """What becomes of a text."""
    return import_all(["-"], Choices(), examine, text.encode)


def events(work: Callable[[], object]) -> int:
    """How many functions are called, and generators resumed."""
    number = 0

    def count(_frame: FrameType, _event: str, _argument: Any) -> None:
        nonlocal number
        number += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return number


def conf(name: str) -> Callable[[int], str]:
    """So many properties of one form."""
    return lambda size: f"{HEAD}  sparkConf:\n" + "".join(f"    {name.format(i)}\n" for i in range(size))


LARGE: dict[str, Callable[[int], str]] = {
    "properties": conf("spark.x{}: a"),
    "one property again and again": conf("spark.x: '{}'"),
    "variables as properties": conf("spark.kubernetes.driverEnv.X{0}: x{0}"),
    "secrets as properties": conf("spark.kubernetes.driver.secrets.s{0}: /x{0}"),
    "references as properties": conf("spark.kubernetes.driver.secretKeyRef.S{0}: x{0}:k"),
    "volumes as properties": conf("spark.kubernetes.driver.volumes.emptyDir.s{0}.mount.path: /x{0}"),
    "variables": lambda size: (
        f"{HEAD}  driver:\n    envVars:\n" + "".join(f"      A{i}: x\n" for i in range(size))
    ),
    "unknown fields": lambda size: HEAD + "".join(f"  x{i}: y\n" for i in range(size)),
    "documents": lambda size: "---\n".join(HEAD for _ in range(size // 10)),
    "items": lambda size: "kind: List\nitems:\n"
    + ("- " + HEAD.rstrip().replace("\n", "\n  ") + "\n") * (size // 10),
    "arguments of a command": lambda size: (
        "#!/bin/sh\nspark-submit --name pi local:///a.py" + "".join(f" 'a {i}'" for i in range(size))
    ),
    "options of a command": lambda size: (
        "#!/bin/sh\nspark-submit --name pi"
        + "".join(f" --conf spark.x{i}=$Y" for i in range(size))
        + " local:///a"
    ),
    "variables among the options": lambda size: f"#!/bin/sh\nspark-submit {'$opts ' * size}local:///a.py\n",
    "variables of a script": lambda size: (
        "#!/bin/sh\n" + "".join(f"X{i}=1\n" for i in range(size)) + "spark-submit --name pi local:///a.py\n"
    ),
}


TEXTS: dict[str, Callable[[int], str]] = {
    "here-documents": lambda size: "#!/bin/sh\n" + f"kubectl apply -f - <<END\n{HEAD}END\n" * size,
    "texts of a document": lambda size: "kind: ConfigMap\ndata:\n"
    + "".join(f"  a{i}: |\n" + HEAD.replace("\n", "\n    ").join(("    ", "\n")) for i in range(size)),
}


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
def test_a_text_in_a_file_is_read_without_what_stands_above_it(
    make: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many texts with applications a file has, the parser gets nothing but these."""
    read = 0

    def counted(data: bytes, file: str, **options: Any) -> Parsed:
        nonlocal read
        read += len(data)
        return parse(data, file, **options)

    monkeypatch.setattr(embedded, "parse", counted)
    text = make(40)
    result = imported(text)
    assert len(result.imported) == 40
    assert 40 * (len(HEAD) - 1) <= read <= 40 * len(HEAD)


def test_a_text_with_aliases_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An alias of an application is not another one."""
    reads = 0

    def counted(data: bytes, file: str, **options: Any) -> Parsed:
        nonlocal reads
        reads += 1
        return parse(data, file, **options)

    monkeypatch.setattr(embedded, "parse", counted)
    text = "kind: ConfigMap\ndata:\n  a: &a |\n" + HEAD.replace("\n", "\n    ").join(("    ", "\n"))
    result = imported(text + "".join(f"  a{number}: *a\n" for number in range(40)))
    assert (reads, len(result.imported), len(result.problems)) == (1, 1, 0)


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_twice_the_input_is_twice_the_work(make: Callable[[int], str]) -> None:
    """At most, with what does not depend on it."""
    imported(make(10))  # what is done once in a process is done
    small, large = make(SIZE), make(2 * SIZE)
    assert events(lambda: imported(large)) < 2.1 * events(lambda: imported(small))


NAMES: dict[str, Callable[[int], str]] = {
    "variables in a list": lambda size: (
        "spark-submit --jars " + ",".join(f"x/$a{i}" for i in range(size)) + " local:///a.py"
    ),
    "variables in all arguments": lambda size: (
        "set -- " + "".join(f"$a{i} " for i in range(size)) + '\nspark-submit local:///a.py "$@"'
    ),
    "names of defaults, split": lambda size: (
        "A="
        + "".join(f"${{x{i}:-}}" for i in range(size))
        + f"'{'x ' * size}'\nspark-submit local:///a.py $A"
    ),
    "names of defaults, again and again": lambda size: (
        "A0=x\n" + "".join(f"A{i + 1}=${{x{i}:-$A{i}}}\n" for i in range(size)) + f"spark-submit $A{size}"
    ),
}


@pytest.mark.parametrize("make", NAMES.values(), ids=NAMES)
def test_a_name_is_recorded_once_for_a_value(make: Callable[[int], str]) -> None:
    """Twice the names make at most twice the report, and the words get a limited number of them."""

    def size(number: int) -> int:
        text = f"#!/bin/sh\n{make(number)}\n"
        known = script.read_script(text)
        names = sum(len(word.defaults) for words in known.submits for word in words)
        assert names <= expansion.MOST_EXPANDED / expansion.WORD
        [item] = imported(text).imported
        return len(item.text) + sum(len(entry.reason) for entry in item.entries)

    assert size(2 * SIZE) < 2.2 * size(SIZE)


MISTAKES: dict[str, Callable[[int], str]] = {
    "labels": lambda size: f"{HEAD}  driver:\n    labels:\n"
    + "".join(f"      'no label {i}!': x\n" for i in range(size)),
    "variables": lambda size: f"{HEAD}  driver:\n    envVars:\n"
    + "".join(f"      'X {i}=': x\n" for i in range(size)),
}


@pytest.mark.parametrize("make", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("number", [10, 250])
def test_many_mistakes_are_put_right_in_few_looks(make: Callable[[int], str], number: int) -> None:
    """A look at the document takes as long as it is large: not one for each mistake. All are reported."""
    looks = 0

    def looked(document: Document) -> list[Problem]:
        nonlocal looks
        looks += 1
        return examine(document)

    [item] = import_all(["-"], Choices(), looked, make(number).encode).imported
    assert looks < 25
    assert len([entry for entry in item.entries if entry.outcome is Outcome.LOST]) == number
    assert not item.problems


def test_unknown_fields_in_many_places_are_taken_out_together() -> None:
    """Many in one place, and a few in each of many: each look says what may be meant, and takes long."""
    looks = 0

    def looked(document: Document) -> list[Problem]:
        nonlocal looks
        looks += 1
        return examine(document)

    sections = ("securityContext", "podSecurityContext", "dnsConfig", "affinity", "lifecycle", "gpu")
    executor = {section: {f"zz{number}": 1 for number in range(9)} for section in sections}
    lists = ("env", "envFrom", "secrets", "configMaps", "volumeMounts", "tolerations", "sidecars", "ports")
    executor |= {field: [{"zz": 1, "name": "a"}] for field in lists}
    value = {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": "pi"},
        "spec": {
            "type": "Scala",
            "sparkVersion": "4.0.1",
            "image": "a/b:1",
            "mainClass": "A",
            "mainApplicationFile": "local:///a.jar",
            "driver": {"affinity": {f"zz{number}": 1 for number in range(100)}},
            "executor": executor,
        },
    }
    [item] = import_all(["-"], Choices(), looked, json.dumps(value).encode).imported
    assert looks < 25
    assert not item.problems


def test_a_document_that_is_too_large_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it can be put right, so its name and its arguments stay, and the limit is reported."""
    reads = 0

    def counted(data: bytes, file: str, **options: Any) -> Parsed:
        nonlocal reads
        reads += 1
        return parse(data, file, **options)

    monkeypatch.setattr(repair, "parse", counted)
    [item] = imported("#!/bin/sh\nspark-submit --name pi local:///a.py" + " x" * MAX_NODES).imported
    assert reads == 1
    assert [problem.code for problem in item.problems] == ["SG005"]
    assert item.name == "pi"
    assert item.text.count("\n    - x") == MAX_NODES


WORDS = {
    "a bare word": "x" * 100_000,
    "single quotes": f"'{'x' * 100_000}'",
    "double quotes": f'"{"x" * 100_000}"',
    "variables in a word": "$a" * 50_000,
    "variables in double quotes": f'"{"$a" * 50_000}"',
    "escapes": "$'" + "\\n" * 50_000 + "'",
    "a substitution": f"$({'x' * 100_000})",
    "nested substitutions": "$(" * 30_000 + ")" * 30_000,
    "back quotes": f"`{'x' * 100_000}`",
    "lines that go on": "x\\\n" * 30_000,
    "a here-document": f"<<END\n{'x' * 100_000}\nEND",
    "a comment": f"#{'x' * 100_000}",
}


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_a_script_is_read_once(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each character is taken once, and no rest of the text is copied for a look at its start."""
    taken = peeked = 0
    take, peek = shell._Reader.take, shell._Reader.peek

    def counted(reader: Any, count: int) -> str:
        nonlocal taken
        piece = take(reader, count)
        taken += len(piece)
        return piece

    def looked(reader: Any, count: int = 1) -> str:
        nonlocal peeked
        piece = peek(reader, count)
        peeked += len(piece)
        return piece

    class Text(str):
        """A text that is cut by its reader alone."""

        __slots__ = ()

        def __getitem__(self, key: Any) -> str:
            nonlocal peeked
            piece = super().__getitem__(key)
            peeked += len(piece)
            return piece

        def replace(self, *_: Any) -> str:  # type: ignore[override]
            return self

    monkeypatch.setattr(shell._Reader, "take", counted)
    monkeypatch.setattr(shell._Reader, "peek", looked)
    text = Text(f"a {word}\nb")
    assert [command.words[0].text for command in shell.commands(text)] == ["a", "b"]
    assert taken == len(text)
    assert peeked < 30 * len(text)


DEEP = {
    "arrays": "x=(" * 1500 + "a" + ")" * 1500,
    "defaults": 'A="' + "${a:-" * 700 + "x" + "}" * 700 + '"',
    "braces": "{ " * 1500 + "true;" + " }" * 1500,
    "conditions": "if true; then " * 1500 + "true;" + " fi" * 1500,
    "substitutions": "A=" + "$(" * 1500 + "true" + ")" * 1500,
    "brackets": "( " * 1500 + "true" + " )" * 1500,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_no_depth_of_a_script_is_an_error(text: str) -> None:
    """What is nested in itself is read without a level of Python's own for each."""
    [item] = imported(f"#!/bin/sh\n{text}\nspark-submit local:///a.py $A\n").imported
    assert yaml.safe_load(item.text)["spec"]["mainApplicationFile"] == "local:///a.py"


def test_a_call_that_is_not_followed_is_a_finding() -> None:
    """After a hundred of them: nothing is left out without a word."""
    calls = "".join(f"start {number}\n" for number in range(103))
    result = imported(f'#!/bin/sh\nstart() {{ spark-submit --name "job-$1" local:///a.py; }}\n{calls}')
    assert len(result.imported) == 100
    assert [(left.name, left.finding) for left in result.left_alone] == [("start", True)] * 3


MULTIPLIED = {
    "submits": "f() {\n" + "spark-submit a.py\n" * 100 + "}\n" + "f\n" * 100,
    "a text for a shell": "f() { bash -c '" + "a;" * 2000 + "spark-submit a.py'; }\n" + "f\n" * 100,
    "texts in texts": "f() { bash -c 'bash -c \"" + "a;" * 2000 + "spark-submit a.py\"'; }\n" + "f\n" * 100,
    "words": "f() { a " + "x " * 4000 + "; spark-submit a.py; }\n" + "f\n" * 100,
    "a here-document": "f() { spark-submit a.py; a <<END\n" + "x\n" * 40_000 + "END\n}\n" + "f\n" * 100,
    "lines": "spark-submit a.py\n" * 1100,
    "jobs": "aws emr-containers start-job-run\n" * 1100,
}


@pytest.mark.parametrize("text", MULTIPLIED.values(), ids=MULTIPLIED)
def test_a_script_is_followed_up_to_a_limit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a few bytes multiply, and whatever is beyond it is a finding."""
    commands = texts = 0
    follow = script._Reading._command

    def followed(*arguments: Any) -> None:
        nonlocal commands
        commands += 1
        follow(*arguments)

    def counted(text: str, line: int = 1) -> Any:
        nonlocal texts
        texts += len(text)
        return shell.read(text, line)

    monkeypatch.setattr(script._Reading, "_command", followed)
    monkeypatch.setattr(script, "read", counted)
    found = script.read_script(text)
    assert 0 < len(found.submits) + len(found.jobs) <= 1000
    assert commands < 35_000
    assert texts < len(text) + (1 << 18)
    assert {word.text.rpartition("/")[2] for word in found.beyond} <= {"f", "bash", "spark-submit", "aws"}
    assert found.beyond


def test_commands_beyond_the_limit_are_findings() -> None:
    """Each with its line."""
    result = imported("#!/bin/sh\nsubmit() { spark-submit local:///a.py; }\n" + "submit\n" * 101)
    [left] = result.left_alone
    assert (left.position.line, left.reason) == (103, "import does not follow so many commands of one script")


def test_calls_do_not_look_at_other_commands() -> None:
    """A hundred calls of a short function cost the same beside ten commands and beside thousands."""
    calls = "\nf() { :; }\n" + "f\n" * 100

    def cost(number: int) -> int:
        program = shell.read("a;" * number + calls)
        return events(lambda: script._Reading().run(program, expansion.Variables()))

    assert cost(2000) - cost(1000) < 100 * 1000


def test_deep_blocks_are_in_memory_once() -> None:
    """A hundred names are not kept again for each of the commands in them."""
    program = shell.read("{ " * 100 + "a;" * 1000 + " }" * 100)
    assert len({id(command.blocks) for command in program.commands}) == 1


def test_a_here_document_in_a_function_is_imported_once() -> None:
    """However often the script calls the function."""
    result = imported(f"#!/bin/sh\nf() {{ kubectl apply -f - <<END\n{HEAD}END\n}}\nf\nf\n")
    assert (len(result.imported), result.problems) == (1, ())


def test_large_words_are_whole() -> None:
    """What 800,000 characters come to, and where the next word stands."""
    [command] = shell.commands("a '" + "x\n" * 400_000 + '\'"y" b')
    assert command.words[1].text == "x\n" * 400_000 + "y"
    assert (command.words[2].line, command.words[2].column) == (400_001, 6)
