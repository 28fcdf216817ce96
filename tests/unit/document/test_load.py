"""From a command's arguments to documents."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sparkgen.document import Loaded, load, sources
from sparkgen.document.load import defined_twice, identities
from sparkgen.errors import Position

OURS = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata:
  name: NAME
spec:
  image: old
"""


def ours(name: str) -> str:
    """A document with a name."""
    return OURS.replace("NAME", name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, **files: str) -> None:
    """Files called NAME.yaml."""
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)


def names(loaded: Loaded) -> list[str]:
    """The names of the documents."""
    return [document.value["metadata"]["name"] for document in loaded.documents]


def codes(loaded: Loaded) -> list[str]:
    """Code and place of every problem."""
    return [f"{problem.code} {problem.position}" for problem in loaded.problems]


def test_one_file(folder: Path) -> None:
    """A file's document knows its file, and that it is the first."""
    write(folder, app=ours("pi"))
    (document,) = load(["app.yaml"]).documents
    assert (document.source, document.index, document.ignores, document.warnings) == ("app.yaml", 0, (), ())
    assert document.value is document.node.value
    assert document.node.locate(("metadata", "name")) == Position("app.yaml", 4, 9)


def test_standard_input() -> None:
    """`-` is standard input, which is called <stdin>, and read once."""
    calls = []

    def stdin() -> bytes:
        calls.append(1)
        return ours("pi").encode()

    loaded = load(["-", "-"], stdin=stdin)
    assert names(loaded) == ["pi"]
    assert loaded.documents[0].source == "<stdin>"
    assert codes(loaded) == ["SG001 <stdin>:1:1"]
    assert calls == [1]


def test_order_and_index(folder: Path) -> None:
    """Documents come in the order of the arguments and of their files; empty ones keep their number."""
    write(folder, one=f"---\n# empty\n---\n{ours('a')}---\n{ours('b')}---\n", two=ours("c"))
    loaded = load(["two.yaml", "one.yaml"])
    assert [(one.source, one.index) for one in loaded.documents] == [
        ("two.yaml", 0),
        ("one.yaml", 1),
        ("one.yaml", 2),
    ]
    assert names(loaded) == ["c", "a", "b"]
    assert loaded.problems == ()


def test_directory_skips_what_is_not_ours(folder: Path) -> None:
    """In a directory other kinds, lists and files without documents are nobody's mistake."""
    write(
        folder,
        app=f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: sparkgen.dev}}\n---\n{ours('pi')}",
        kustomization="resources: [app.yaml]\n",
        chart="{{- range .Values }}\n",
        values="# for sparkgen.dev\nimage: x\n",
        items="- sparkgen.dev\n",
        empty="# sparkgen.dev\n",
    )
    loaded = load(["."])
    assert names(loaded) == ["pi"]
    assert [one.source for one in loaded.documents] == ["./app.yaml"]
    assert loaded.problems == ()


def test_directory_reports_what_is_ours(folder: Path) -> None:
    """In a directory a broken file that mentions sparkgen, and an unknown version of it, is not skipped."""
    write(folder, broken=ours("pi") + "\tx: 1\n", old=ours("old").replace("v1alpha1", "v0"))
    loaded = load(["."])
    assert codes(loaded) == ["SG004 ./broken.yaml:7:1"]
    assert names(loaded) == ["old"]


def test_named_file_of_another_kind(folder: Path) -> None:
    """A file that was named is not skipped: the schema says that it does not know the kind."""
    write(folder, other="apiVersion: v1\nkind: ConfigMap\n")
    assert [one.value["kind"] for one in load(["other.yaml"]).documents] == ["ConfigMap"]


@pytest.mark.parametrize(
    ("text", "expected", "message"),
    [
        ("", "SG006 f.yaml:1:1", "no document"),
        ("# nothing\n---\n---\n", "SG006 f.yaml:1:1", "no document"),
        ("- a\n", "SG006 f.yaml:1:1", "not a list"),
        ("\n  text\n", "SG006 f.yaml:2:3", "not a single value"),
        ("a: 1\n---\n[b]\n", "SG006 f.yaml:3:1", "not a list"),
        ("*x", "SG002 f.yaml:1:1", "no `&x`"),
    ],
)
def test_no_mapping(folder: Path, text: str, expected: str, message: str) -> None:
    """A file that was named holds a mapping at least."""
    write(folder, f=text)
    loaded = load(["f.yaml"])
    assert codes(loaded)[0] == expected
    assert message in loaded.problems[0].message


def test_errors_of_a_readable_document(folder: Path) -> None:
    """A duplicate key is an error, and the document is there for further checks."""
    write(folder, app=ours("pi") + "  image: new\n  suspend: yes\n")
    loaded = load(["app.yaml"])
    assert codes(loaded) == ["SG003 app.yaml:7:3"]
    (document,) = loaded.documents
    assert [str(problem.position) for problem in document.warnings] == ["app.yaml:8:12"]


def test_comments_belong_to_their_document(folder: Path) -> None:
    """A comment in a document's lines is that document's, malformed or not; the head is the first one's."""
    text = (
        "# sparkgen: ignore SG101 -- in the head\n"
        f"{ours('a')}  suspend: true # sparkgen: ignore SG102 -- in the first\n"
        f"---\n{ours('b')}  suspend: true # sparkgen: ignore SG103 -- in the second\n  # sparkgen: nonsense\n"
    )
    write(folder, app=text)
    first, second = load(["app.yaml"]).documents
    assert [(ignore.codes, ignore.line) for ignore in first.ignores] == [(("SG101",), 2), (("SG102",), 8)]
    assert [(ignore.codes, ignore.line) for ignore in second.ignores] == [(("SG103",), 16)]
    assert [str(problem.position) for problem in second.warnings] == ["app.yaml:17:3"]


class TestChanges:
    """Overlays and single values on every document."""

    def test_every_document(self, folder: Path) -> None:
        """They are laid on each document; each keeps its own name and comments."""
        write(
            folder,
            apps=f"{ours('a')}---\n{ours('b')}",
            over="spec: {image: new} # sparkgen: ignore SG117 -- x\n",
        )
        loaded = load(["apps.yaml"], ["over.yaml"], ["spec.cores=2"], ["spec.id=7"])
        assert [one.value["spec"] for one in loaded.documents] == [
            {"image": "new", "cores": 2, "id": "7"}
        ] * 2
        assert [one.value for one in loaded.documents] == [one.node.value for one in loaded.documents]
        assert [[ignore.shared for ignore in one.ignores] for one in loaded.documents] == [[True], [True]]
        assert loaded.problems == ()

    def test_overlay_from_standard_input(self, folder: Path) -> None:
        """An overlay may come from standard input."""
        write(folder, app=ours("a"))
        (document,) = load(["app.yaml"], ["-"], stdin=lambda: b"spec: {image: new}").documents
        assert document.node.locate(("spec", "image")) == Position("<stdin>", 1, 15)

    @pytest.mark.parametrize(
        ("values", "sets", "expected"),
        [
            (["nowhere.yaml"], [], "SG017 nowhere.yaml:1:1"),
            (["."], [], "SG017 .:1:1"),
            (["list.yaml"], [], "SG017 list.yaml:1:1"),
            (["broken.yaml"], [], "SG002 broken.yaml:1:4"),
            ([], ["spec.image"], "SG017 --set:1:1"),
        ],
    )
    def test_unreadable_changes(
        self, folder: Path, values: list[str], sets: list[str], expected: str
    ) -> None:
        """Without a change that was asked for no document is returned, and the rest is still reported."""
        write(folder, app=ours("a") + "\tx\n", fine=ours("b"), list="- a\n", broken="a: [\n")
        loaded = load(["app.yaml", "fine.yaml"], values, sets)
        assert loaded.documents == ()
        assert codes(loaded) == [expected, "SG004 app.yaml:7:1"]

    def test_set_that_fits_one(self, folder: Path) -> None:
        """A --set that does not fit a document is a problem, and only that document is left out."""
        write(folder, one=ours("a"), two=ours("b").replace("image: old", "image: {tag: x}"))
        loaded = load(["one.yaml", "two.yaml"], sets=["spec.image.tag=new"])
        assert names(loaded) == ["b"]
        assert codes(loaded) == ["SG017 --set:1:12"]
        assert "one.yaml:6:10" in loaded.problems[0].message

    def test_warnings_of_overlays_come_once(self, folder: Path) -> None:
        """An overlay's warnings are the call's, not each document's."""
        write(folder, apps=f"{ours('a')}---\n{ours('b')}", over="spec: {suspend: yes}\n")
        loaded = load(["apps.yaml"], ["over.yaml"])
        assert codes(loaded) == ["SG008 over.yaml:1:17"]
        assert [document.warnings for document in loaded.documents] == [(), ()]


class TestIdentity:
    """Two documents that would be one object."""

    def test_twice(self, folder: Path) -> None:
        """The second one is a problem that names the first."""
        write(folder, one=ours("a"), two=f"{ours('b')}---\n{ours('a')}")
        loaded = load(["one.yaml", "two.yaml"])
        assert codes(loaded) == ["SG019 two.yaml:11:9"]
        assert "one.yaml:4:9" in loaded.problems[0].message
        assert names(loaded) == ["a", "b", "a"]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("name: a", "name: a\n  namespace: other"),
            ("kind: Spark", "kind: ScheduledSpark"),
            ("  name: a", "  labels: {}"),
        ],
    )
    def test_not_twice(self, folder: Path, old: str, new: str) -> None:
        """Another namespace or kind is another object; a document without a name is the schema's."""
        write(folder, one=ours("a"), two=ours("a").replace(old, new))
        assert load(["one.yaml", "two.yaml"]).problems == ()

    def test_after_changes(self, folder: Path) -> None:
        """The identity is that of the document with its changes."""
        write(folder, one=ours("a"), two=ours("b"))
        assert codes(load(["one.yaml", "two.yaml"], sets=["metadata.name=x"])) == ["SG019 --set:1:15"]

    def test_same_file_twice(self, folder: Path) -> None:
        """A file that was named twice is read once."""
        write(folder, one=ours("a"))
        loaded = load(["one.yaml", ".", "./one.yaml"])
        assert names(loaded) == ["a"]
        assert loaded.problems == ()

    def test_parts(self, folder: Path) -> None:
        """Who loads in parts puts the identities together."""
        write(folder, one=ours("a"), two=ours("a"))
        parts = [*identities(load(["one.yaml"]).documents), *identities(load(["two.yaml"]).documents)]
        assert [problem.code for problem in defined_twice(parts)] == ["SG019"]


def test_import_is_cheap() -> None:
    """Importing the package loads no YAML parser, and nothing of the layers above."""
    code = (
        "import sys, sparkgen.document; "
        "parts = [name.split('.') for name in sys.modules]; "
        "print([one for one in parts if one[0] in ('yaml', 'jsonschema', 'typer', 'jinja2')"
        " or one[0] == 'sparkgen' and one[1:2] not in ([], ['document'], ['errors'])])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_document_without_a_lock_costs_no_look_through_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most have none: hundreds in a folder would each be compared with all the others' names."""
    path = tmp_path / "app.yaml"
    path.write_text(ours("pi"), encoding="utf-8")
    asked: list[Path] = []
    monkeypatch.setattr(sources, "_nearest", lambda name: asked.append(name) or "")
    assert len(load([str(path)]).documents) == 1
    assert asked == []
