"""YAML of files that are not documents: its value, or one kind of error, whatever is in it."""

from __future__ import annotations

import pytest

from sparkgen.yamlvalue import MOST_MERGED, value_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("a: [1, b]", {"a": [1, "b"]}),
        ("[1:30, 1:30.5, 1.5, 0x1f]", ["1:30", "1:30.5", 1.5, 31]),
        ("a: " + "1:" * 200 + "1.0", {"a": "1:" * 200 + "1.0"}),
        (
            "a: &a {k: v}\nb: {<<: *a}\nc: {<<: [*a, {z: 1}], k: w}",
            {
                "a": {"k": "v"},
                "b": {"k": "v"},
                "c": {"k": "w", "z": 1},
            },
        ),
    ],
)
def test_values(text: str, expected: object) -> None:
    """Merges are understood; numbers that YAML 1.1 counts by sixty are strings, as for kubectl."""
    assert value_of(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "expected the node content|did not find expected node content"),
        ("a: 2026-99-99", "month must be in 1..12"),
        ("a: !!int x", "invalid literal"),
        ("a: !!bool x", "a tag does not fit its value"),
        ("a: !!timestamp x", "a tag does not fit its value"),
        ("a: !!int ''", "a tag does not fit its value"),
        ("a: !!int '-'", "a tag does not fit its value"),
        ("a: !!float ''", "a tag does not fit its value"),
        ("a: !other b", "could not determine a constructor"),
        ("? [a]\n: b", "unhashable key"),
        ("[" * 50_000 + "]" * 50_000, "nest(ed too deeply|ing depth)"),
    ],
    ids=lambda given: given[:20],
)
def test_what_is_no_value(text: str, words: str) -> None:
    """Also what PyYAML itself does not catch."""
    with pytest.raises(ValueError, match=words):
        value_of(text)


def test_merges_that_multiply_are_given_up() -> None:
    """One more key with each line, or one that is copied often: neither is followed to its end."""
    longer = "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: v}}\n" for n in range(1, 3000))
    wide = "b: {<<: [" + "*a0, " * 50_000 + "]}"
    for lines in (longer, wide):
        with pytest.raises(ValueError, match=f"copy more than {MOST_MERGED} keys"):
            value_of("a0: &a0 {k: v}\n" + lines)


def test_aliases_are_counted_as_they_are_written_out() -> None:
    """What prints or compares the value writes each of them out."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{index}: &a{index} [{', '.join([f'*a{index - 1}'] * 10)}]" for index in range(1, 10)]
    with pytest.raises(ValueError, match="more than 200,000 values"):
        value_of("\n".join(lines))
    assert len(value_of("\n".join(lines[:4]))) == 4


@pytest.mark.parametrize("tag", ["!!pairs", "!!omap"])
def test_values_of_any_tag_are_counted(tag: str) -> None:
    """Some tags make lists of pairs."""
    lines = [f"a0: &a0 {tag} [{', '.join(f'k{index}: x' for index in range(10))}]"]
    for level in range(1, 8):
        inner = ", ".join(f"k{index}: *a{level - 1}" for index in range(10))
        lines.append(f"a{level}: &a{level} {tag} [{inner}]")
    with pytest.raises(ValueError, match="more than 200,000 values"):
        value_of("\n".join(lines))


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: {c: *a}}", "&a [b, &b [*a]]"])
def test_a_value_that_contains_itself_is_none(text: str) -> None:
    """It would be printed without end."""
    with pytest.raises(ValueError, match="contains itself"):
        value_of(text)


@pytest.mark.parametrize("form", ["- *a\n", "- {b: *a}\n", "- {*a : 1}\n"])
def test_characters_are_counted_as_they_are_written_out(form: str) -> None:
    """A few aliases of a long text would be gigabytes."""
    long = "x" * 100_000
    text = f"- &a {long}\n"
    assert len(value_of(text + form * 10)) == 11
    with pytest.raises(ValueError, match=r"more than 4,29\d,\d+ characters when its aliases"):
        value_of(text + form * 500)
    assert len(value_of("".join(f"- {long}\n" for _ in range(60)))) == 60
