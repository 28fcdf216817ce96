"""Overlays and `--set` do what they do in Helm."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sparkgen.document.changes import Changes, read_changes
from sparkgen.document.parse import parse
from sparkgen.document.setvalues import SetError
from sparkgen.document.sources import Reader
from tests.unit.document.helm_reading import BASE, Change, Golden, measure_changes, read_table
from tests.unit.document.helm_reading import CHANGES as TABLE


def _set(*texts: str, strings: tuple[str, ...] = ()) -> Change:
    return Change((BASE,), texts, strings)


def _overlay(*overlays: str) -> Change:
    return Change((BASE, *overlays))


def _on_defaults(*overlays: str, sets: tuple[str, ...] = ()) -> Change:
    return Change(overlays, sets, defaults=BASE)


MERGES = (
    _overlay("{}\n"),
    _overlay("# nothing\n"),
    _overlay("a: {b: 2}\n"),
    _overlay("a: {k: {m: 1}}\n"),
    _overlay("a: {d: {k: 1}}\n"),
    _overlay("a: {d: text}\n"),
    _overlay("a: {d: []}\n"),
    _overlay("a: {d: {}}\n"),
    _overlay("a: {c: [z]}\n"),
    _overlay("a: {c: {z: 1}}\n"),
    _overlay("a: 1\n"),
    _overlay("g: {x: 1}\n"),
    _overlay("h: [{i: 9}]\n"),
    _overlay("new: 1\n"),
    _overlay("a: {b: 2}\n", "a: {b: 3, k: 4}\n"),
    _overlay("a: {b: 2}\n---\na: {b: 3}\ng: other\n"),
    _overlay("a: text\n", "a: {b: 3}\n"),
    _overlay("- list\n"),
    _overlay("just text\n"),
    _on_defaults("g: null\n"),
    _on_defaults("a: {b: null}\n"),
    _on_defaults("a: {d: {e: null}}\n"),
    _on_defaults("a: null\n"),
    _on_defaults("h: null\n"),
    _on_defaults("h: [null, {i: null}]\n"),
    _on_defaults("g:\n"),
    _on_defaults("{}\n", sets=("g=null",)),
    _on_defaults("{}\n", sets=("a.b=null",)),
    _on_defaults("{}\n", sets=("a.d.e=null,a.b=5",)),
)

SETS = (
    _set("g=x"),
    _set("a.b=2"),
    _set("a.b=2,g=y"),
    _set("a.b=2", "a.b=3"),
    _set("a.k.m=1"),
    _set("new.k.m=1"),
    _set("a.c[0]=z"),
    _set("a.c[1]=z,a.c[2]=q"),
    _set("a.c[4]=z"),
    _set("a.c=z"),
    _set("a.c={p,q}"),
    _set("a.c={}"),
    _set("a.c={p}"),
    _set("a.c={1,true,null,x}"),
    _set("a.c={p,q},g=z"),
    _set("a.c={p}g=z"),
    _set("h[0].i=7"),
    _set("h[0].k=7"),
    _set("h[3].i=7"),
    _set("new[0].k=1"),
    _set("new[0][1]=x"),
    _set("new[1][0].k=x"),
    _set("a.c[0].k=1"),
    _set("g="),
    _set("g=,a.b="),
    _set("g=a\\,b"),
    _set("g=a\\\\b"),
    _set("g=a=b"),
    _set("g=a.b[0]"),
    _set("g={a"),
    _set("g=\\{a\\,b}"),
    _set("g={a\\,b,c}"),
    _set("sparkConf.spark\\.sql\\.x=1"),
    _set("x\\=y=1"),
    _set("x\\[0\\]=1"),
    _set("g= a "),
    _set(" g=a"),
    _set("g=true"),
    _set("g=TRUE"),
    _set("g=False"),
    _set("g=NULL,a.b=x"),
    _set("g=yes"),
    _set("g=0"),
    _set("g=00"),
    _set("g=007"),
    _set("g=7"),
    _set("g=-7"),
    _set("g=+7"),
    _set("g=-0"),
    _set("g=-07"),
    _set("g=1.5"),
    _set("g=1e3"),
    _set("g=0x1F"),
    _set("g=1_000"),
    _set("g=9223372036854775807"),
    _set("g=9223372036854775808"),
    _set("g=é"),
    _set("g=a#b: c"),
    _set("g=x,"),
    _set(strings=("g=7",)),
    _set(strings=("g=true,a.b=null",)),
    _set(strings=("a.c={1,2}",)),
    _set("g=1", strings=("g=2",)),
    _set("g"),
    _set("g,"),
    _set("g=x,,a.b=1"),
    _set("g.x=1"),
    _set("a.c.x=1"),
    _set("a[0]=1"),
    _set("g[0]=1"),
    _set("a.c[x]=1"),
    _set("a.c[-1]=1"),
    _set("a.c[0=1"),
    _set("a.c[0]x=1"),
    _set("a.c[70000]=1"),
    _set("a.=1"),
    _set(".".join("k" * 31) + "=1"),
    _set(".".join("k" * 32) + "=1"),
)

CASES = (*MERGES, *SETS)

STRICTER = ("a.c[0=1", "a.=1")
"""Helm sets nothing at all then, and says nothing."""


def ours(record: dict[str, Any]) -> tuple[Any, list[str]]:
    """The values that a record's call has here, and the codes of what is wrong with it."""
    texts = [record["defaults"], *record["files"]] if "defaults" in record else record["files"]
    first, *overlays = [BASE if text == "BASE" else text for text in texts]
    changes = _changes(overlays, record)
    root = parse(first.encode(), "base.yaml").documents[0].root
    assert root is not None
    if not changes.complete:
        return None, [problem.code for problem in changes.problems]
    try:
        return changes.apply(root).value, []
    except SetError as error:
        return None, [error.problem.code]


def _changes(overlays: list[str], record: dict[str, Any]) -> Changes:
    texts = iter(overlays)

    class Texts(Reader):
        def read(self, name: str) -> bytes:
            return next(texts).encode()

    names = [f"{number}.yaml" for number in range(len(overlays))]
    return read_changes(Texts(bytes), names, record.get("set", ()), record.get("set-string", ()))


def without_nulls(value: Any) -> Any:
    """Helm keeps a null where the chart has no default to delete; a template takes it for nothing."""
    if isinstance(value, dict):
        return {key: without_nulls(child) for key, child in value.items() if child is not None}
    return value


def case_name(record: dict[str, Any]) -> str:
    """A record as the name of its test."""
    words = [*record["files"], *record.get("set", ()), *record.get("set-string", ())]
    return repr(" + ".join(words))


@pytest.mark.parametrize("record", read_table(TABLE), ids=case_name)
def test_change_is_helms(record: dict[str, Any]) -> None:
    """The values are those that Helm's templates see; what Helm refuses is SG017."""
    values, codes = ours(record)
    if "refused" in record or record.get("set", [""])[0] in STRICTER:
        assert codes == ["SG017"]
    else:
        assert not codes
        assert json.dumps(values, sort_keys=True) == json.dumps(
            without_nulls(record["values"]), sort_keys=True
        )


@pytest.mark.parametrize("text", ["=x", "a[0]", "a.", "a.b.", "[0]=x", "a..b=1", "a.c[20000]=1", ""])
def test_what_helm_takes_for_nothing_is_a_problem(text: str) -> None:
    """Where Helm sets nothing and says nothing (or would make a list of 20,000 nulls), SG017."""
    values, codes = ours({"files": ["BASE"], "set": [text]})
    assert values is None
    assert codes == ["SG017"]


def test_table_has_every_case() -> None:
    """The table was measured for exactly the cases of this file."""
    expected = [change.record() for change in CASES]
    results = ("values", "refused")
    table = [
        {key: value for key, value in record.items() if key not in results} for record in read_table(TABLE)
    ]
    assert table == expected


@pytest.mark.long
def test_helm_still_does_so(helm: Any, golden: Golden) -> None:
    """Measure again with the pinned Helm: the committed table is what it does."""
    golden(TABLE, measure_changes(helm, CASES))
