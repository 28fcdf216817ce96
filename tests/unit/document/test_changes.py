"""Overlays and single values keep places, and say what is wrong with them."""

from __future__ import annotations

import pytest

from sparkgen.document.changes import Changes, read_changes
from sparkgen.document.node import Node
from sparkgen.document.parse import parse
from sparkgen.document.setvalues import SetError
from sparkgen.document.sources import Reader
from sparkgen.errors import Position

BASE = """\
spec:
  driver:
    cores: 1
    memory: 1g
  volumes: [a, b]
  image: old
"""


class Files(Reader):
    """A reader of texts instead of files."""

    def __init__(self, files: dict[str, str]) -> None:
        super().__init__(bytes)
        self._files = files

    def read(self, name: str) -> bytes:
        """The text of a name."""
        return self._files[name].encode()


def changes(*overlays: str, sets: tuple[str, ...] = (), strings: tuple[str, ...] = ()) -> Changes:
    """The changes of overlays called o1, o2 and so on, and of single values."""
    files = {f"o{number}": text for number, text in enumerate(overlays, start=1)}
    return read_changes(Files(files), list(files), sets, strings)


def applied(*overlays: str, sets: tuple[str, ...] = (), strings: tuple[str, ...] = ()) -> Node:
    """BASE (the file `base`) with changes."""
    root = parse(BASE.encode(), "base").documents[0].root
    assert root is not None
    return changes(*overlays, sets=sets, strings=strings).apply(root)


def test_places_after_an_overlay() -> None:
    """What the overlay gave is in the overlay; what it left alone, and mappings that merged, in the base."""
    node = applied("spec:\n  driver: {cores: 2, labels: {x: 1}}\n  volumes: [c]\n  new: 1\n")
    assert node.locate(("spec", "driver", "cores")) == Position("o1", 2, 19)
    assert node.locate_key(("spec", "driver", "cores")) == Position("o1", 2, 12)
    assert node.locate(("spec", "driver", "labels", "x")) == Position("o1", 2, 34)
    assert node.locate(("spec", "driver")) == Position("base", 3, 5)
    assert node.locate_key(("spec", "driver")) == Position("base", 2, 3)
    assert node.locate(("spec", "driver", "memory")) == Position("base", 4, 13)
    assert node.locate(("spec", "volumes", 0)) == Position("o1", 3, 13)
    assert node.locate_key(("spec", "new")) == Position("o1", 4, 3)


def test_places_after_two_overlays() -> None:
    """The last overlay that gave a value has its place."""
    node = applied("spec: {image: x}", "spec:\n  image: z\n")
    assert node.locate(("spec", "image")) == Position("o2", 2, 10)


def test_places_of_set_values() -> None:
    """A single value is in the option: the line is the option's number, the column counts in its argument."""
    node = applied(sets=("spec.image=x", "spec.driver.cores=2,spec.volumes[1]=c"), strings=("spec.id=7",))
    assert node.locate(("spec", "image")) == Position("--set", 1, 12)
    assert node.locate_key(("spec", "image")) == Position("--set", 1, 6)
    assert node.locate(("spec", "driver", "cores")) == Position("--set", 2, 19)
    assert node.locate(("spec", "volumes", 1)) == Position("--set", 2, 37)
    assert node.locate(("spec", "volumes", 0)) == Position("base", 5, 13)
    assert node.locate(("spec", "id")) == Position("--set-string", 1, 9)
    assert node.locate(("spec", "driver", "memory")) == Position("base", 4, 13)


def test_texts_of_set_values() -> None:
    """A single value's text is what was written, so that a message can show it."""
    node = applied(sets=("spec.driver.cores=007,spec.image=TRUE,spec.volumes={1,x}",))
    assert [node.find(path).text for path in (("spec", "driver", "cores"), ("spec", "image"))] == [
        "007",
        "TRUE",
    ]  # type: ignore[union-attr]
    assert node.locate(("spec", "volumes", 1)) == Position("--set", 1, 55)


def test_base_is_not_changed() -> None:
    """Changes make new nodes: many documents share the overlay, and a base may be used again."""
    root = parse(BASE.encode(), "base").documents[0].root
    assert root is not None
    before = repr(root)
    laid = changes("spec: {driver: {cores: 2, memory: null}}", sets=("spec.volumes[0]=x,spec.image=null",))
    first, second = laid.apply(root), laid.apply(root)
    assert repr(root) == before
    assert first == second
    assert first.value == {"spec": {"driver": {"cores": 2}, "volumes": ["x", "b"]}}


def test_order() -> None:
    """Overlays come first to last, then --set, then --set-string."""
    node = applied("spec: {image: 1}", "spec: {image: 2}", sets=("spec.image=3",), strings=("spec.image=4",))
    assert node.value["spec"]["image"] == "4"


def test_deleted_keys_are_gone() -> None:
    """A null deletes the key with its place, so that a missing field is reported where its mapping is."""
    node = applied("spec: {driver: {cores: ~}, image: }", sets=("spec.volumes=null",))
    assert node.value == {"spec": {"driver": {"memory": "1g"}}}
    assert node.find(("spec",)).keys.keys() == {"driver"}  # type: ignore[union-attr]


def test_null_of_nothing_changes_nothing() -> None:
    """Deleting what is not there makes nothing on the way."""
    assert applied(sets=("spec.executor.cores=null,new.a[0].b=null",)) == applied()


def test_set_below_null() -> None:
    """A null in the document makes room for a mapping or a list (Helm would end with an internal error)."""
    root = parse(b"spec: {driver: , volumes: ~}", "base").documents[0].root
    assert root is not None
    laid = changes(sets=("spec.driver.cores=1,spec.volumes[0]=x",))
    assert laid.apply(root).value == {"spec": {"driver": {"cores": 1}, "volumes": ["x"]}}


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("spec.image", 1, "the key has no value"),
        ("spec.image=x,spec.cores", 14, "the key has no value"),
        ("spec.image=x,,a=1", 14, "a key is missing"),
        ("=x", 1, "a key is missing"),
        ("spec.=x", 6, "a key is missing"),
        ("spec.", 6, "a key is missing"),
        ("spec.volumes[x]=1", 14, "an index must be a number"),
        ("spec.volumes[-1]=1", 14, "an index must be a number"),
        ("spec.volumes[0=1", 14, "is not closed"),
        ("spec.volumes[0]x=1", 16, "may follow `]`"),
        ("spec.volumes[99999]=1", 14, "the index is larger"),
        ("spec.volumes={a,b", 14, "the list is not closed"),
        (".".join("k" * 40) + "=1", 1, "more than 31 keys"),
        ("a" + "[0]" * 70 + "=1", 1, "more than"),
        ("", 1, "is empty"),
        ("spec.image=\udcff", 12, "is not UTF-8"),
    ],
)
def test_wrong_set(text: str, column: int, message: str) -> None:
    """A --set that cannot be read is SG017 at its place, with the grammar as the next step."""
    laid = changes(sets=("a=1", text))
    assert not laid.complete
    (problem,) = laid.problems
    assert problem.code == "SG017"
    assert problem.position == Position("--set", 2, column)
    assert message in problem.message
    assert problem.next_step


@pytest.mark.parametrize(
    ("text", "column", "where"),
    [
        ("spec.image.tag=x", 12, "base:6:10"),
        ("spec.volumes.a=x", 14, "base:5:12"),
        ("spec.driver[0]=x", 13, "base:3:5"),
        ("spec.image[0]=x", 12, "base:6:10"),
    ],
)
def test_set_that_does_not_fit(text: str, column: int, where: str) -> None:
    """A path through a scalar, or a list taken for a mapping: SG017 that names the value in the way."""
    with pytest.raises(SetError) as caught:
        applied(sets=(text,))
    problem = caught.value.problem
    assert (problem.code, problem.position) == ("SG017", Position("--set", 1, column))
    assert where in problem.message


@pytest.mark.parametrize(
    ("overlay", "code"),
    [
        ("- a\n", "SG017"),
        ("text\n", "SG017"),
        ("a: [\n", "SG002"),
        ("\ta: 1\n", "SG004"),
        ("a: 1\n---\n- b\n", "SG017"),
    ],
)
def test_wrong_overlay(overlay: str, code: str) -> None:
    """An overlay that cannot be laid on a document is a problem in the overlay."""
    laid = changes("{}", overlay)
    assert not laid.complete
    assert [(problem.code, problem.position.file) for problem in laid.problems] == [(code, "o2")]


def test_overlay_with_readable_mistakes() -> None:
    """A duplicate key is an error, but the overlay can be laid on; a boolean word is a warning."""
    laid = changes("a: 1\na: 2\nb: yes\n")
    assert laid.complete
    assert [problem.code for problem in laid.problems] == ["SG003", "SG008"]


def test_overlay_ignores() -> None:
    """A comment in an overlay ignores its own warnings, and goes with every document as shared."""
    laid = changes(
        "b: yes # sparkgen: ignore SG008 -- the old spelling\nc: 1 # sparkgen: ignore SG117 -- later\n"
    )
    assert laid.problems == ()
    assert [(ignore.codes, ignore.line, ignore.shared) for ignore in laid.ignores] == [
        (("SG008",), 1, True),
        (("SG117",), 2, True),
    ]


def test_empty_overlay() -> None:
    """An overlay of comments changes nothing."""
    assert applied("# nothing yet\n") == applied()
