"""A script that calls spark-submit is read as bash runs it: compared with bash and a program that prints.

Where only the machine knows a word, it may differ, but then it is reported.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparkgen.importing.script import read_script
from tests import scale

BASH = shutil.which("bash") or ""
SLOW = settings(
    max_examples=scale.count("tests/property/test_importing_scripts.py", 150, 20),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    deadline=None,
)
PRINTER = """\
#!/bin/sh
for word in "$@"; do printf '%s\\0' "$word" >> "$OUT"; done
printf '\\1\\0' >> "$OUT"
"""
NAMES = st.sampled_from(["A", "B", "OPTS", "ARGS"])
PLAIN = st.sampled_from(
    r"""word
'single quoted'
"double quoted"
a\ b
$'tab\there'
''
""
x'y'"z"
--conf
spark.a=b
`# a comment`
$(# another)
\$A
'$A'
a#b
--x=~
=
a\
b""".replace("\\\nb", "\\~b").split("\n")
).map(lambda word: word.replace("\\~b", "\\\n  b"))
FORMS = st.sampled_from(
    [
        "$V",
        '"$V"',
        "${V}",
        '"${V}"',
        "pre$V",
        '"pre ${V} post"',
        "${V:-def}",
        '"${V:-a b}"',
        "${V:-a b}",
        "${V-x}",
        "${V:+set}",
        '${V:+"was set"}',
        '"${V[@]}"',
        "${V[@]}",
        '"${V[*]}"',
        "${V[0]}",
        '"${V[1]}"',
        'x"${V[@]}"y',
        "${V:=given}",
        '"$@"',
        "$1",
        '"${2:-two}"',
        "${V:-$A}",
        "$V$V",
    ]
)
EXPANSIONS = st.builds(lambda form, name: form.replace("V", name), FORMS, NAMES)
WORDS = st.lists(PLAIN | EXPANSIONS, max_size=6).map(" ".join)
ASSIGNED = PLAIN.filter(lambda word: not word.startswith("`")) | EXPANSIONS.filter(
    lambda word: "@" not in word
)


@st.composite
def statements(draw: st.DrawFn, depth: int = 0) -> str:
    """A line or several of a script."""
    kinds = ["submit", "submit", "set", "append", "array", "more", "export", "unset"]
    holders = ["if", "for", "function", "group", "case", "subshell"]
    if depth < 2:
        kinds += [*holders, "and", "eval", "heredoc"]
    kind = draw(st.sampled_from(kinds))
    name, words = draw(NAMES), draw(WORDS)
    inner = draw(statements(depth + 1)) if kind in holders else ""
    value = draw(ASSIGNED)
    return {
        "submit": f"spark-submit {words}",
        "set": f"{name}={value}",
        "append": f"{name}+={value}",
        "array": f"{name}=({words})",
        "more": f"{name}+=({words})",
        "export": f"export {name}={value}",
        "unset": f"unset {name}",
        "if": f"if true; then\n{inner}\nelse\n{name}={value}\nfi",
        "for": f"for {name} in one two; do\n{inner}\ndone",
        "function": f"work() {{\n{inner}\n}}\nwork {words}",
        "group": f"{{ {inner}\n}}",
        "case": f"case word in\nw*) {inner}\n;;\nother|more) {name}={value};;\nesac",
        "and": f"true && {name}={value}",
        "subshell": f"(\n{inner}\n)",
        "eval": f"SUBMIT=spark-submit\n$SUBMIT {words}",
        "heredoc": f"cat >/dev/null <<END\nspark-submit {words}\nEND",
    }[kind]


SCRIPTS = st.lists(statements(), min_size=1, max_size=6).map("\n".join)


def by_bash(text: str) -> list[list[str]] | None:
    """The words of each call of spark-submit when bash runs a script; None if bash refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        printer = place / "spark-submit"
        printer.write_text(PRINTER)
        printer.chmod(0o755)
        (place / "out").touch()
        environment = {"PATH": f"{folder}:/usr/bin:/bin", "OUT": str(place / "out")}
        done = subprocess.run(
            [BASH, "-c", text], env=environment, cwd=folder, capture_output=True, check=False, timeout=20
        )
        if done.stderr:
            return None
        calls: list[list[str]] = [[]]
        for word in (place / "out").read_text().split("\0")[:-1]:
            if word == "\1":
                calls.append([])
            else:
                calls[-1].append(word)
        return calls[:-1]


@pytest.mark.skipif(not BASH, reason="compares with bash")
@SLOW
@given(SCRIPTS)
def test_a_script_is_read_as_bash_runs_it(text: str) -> None:
    """Each call that bash makes, in its order; a word that is not named as unknown is the word of bash."""
    expected = by_bash(text)
    if expected is None:
        return
    script = read_script(text)
    known = [words for words in script.submits if not any(word.variables or word.defaults for word in words)]
    read = [[word.text for word in words[1:]] for words in known]
    # A loop is read once, and each of its rounds has other words; what may not run is read, too.
    for words in read:
        assert words in expected, (words, expected)
    if len(known) == len(script.submits) and not any(word in text for word in ("for ", "unset", "case")):
        assert read == expected
