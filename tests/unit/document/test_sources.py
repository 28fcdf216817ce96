"""Files, directories and standard input."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from sparkgen.diff import rendered
from sparkgen.document import environments
from sparkgen.document.limits import MAX_FILE_BYTES
from sparkgen.document.locks import Locks
from sparkgen.document.node import Document
from sparkgen.document.parse import parse
from sparkgen.document.sources import Follow, Found, Reader, expand, read_file, without_documents
from sparkgen.errors import Position, Problem

OURS = "apiVersion: sparkgen.dev/v1alpha1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current directory with a directory `apps` of documents and other files."""
    apps = tmp_path / "apps"
    (apps / "deeper").mkdir(parents=True)
    for name in ("b.yaml", "a.yml", "deeper/c.yaml", ".hidden.yaml", "notes.txt"):
        (apps / name).write_text(OURS)
    (apps / "kustomization.yaml").write_text("resources: [b.yaml]\n")
    (apps / "folder.yaml").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "base"),
    [("apps", "apps"), ("apps/", "apps"), ("./apps", "./apps"), ("apps/../apps", "apps/../apps")],
)
def test_directory(folder: Path, given: str, base: str) -> None:
    """The YAML files that mention sparkgen, sorted, below the name as given; not hidden, not deeper."""
    assert expand([given]) == [f"{base}/a.yml", f"{base}/b.yaml"]


def test_absolute_and_current_directory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An absolute name stays one; the current directory is `.`."""
    assert expand([str(folder / "apps")]) == [f"{folder}/apps/a.yml", f"{folder}/apps/b.yaml"]
    monkeypatch.chdir(folder / "apps")
    assert expand(["."]) == ["./a.yml", "./b.yaml"]


def test_files_are_named_as_given(folder: Path) -> None:
    """A file, be it there or not, and standard input stay as they are, in their order."""
    assert expand(["z.yaml", "-", "apps/notes.txt"]) == ["z.yaml", "-", "apps/notes.txt"]


def test_each_file_once(folder: Path) -> None:
    """A file that is named twice, by whatever way, is read once, under its first name."""
    (folder / "apps" / "link.yaml").symlink_to("b.yaml")
    assert expand(["apps/b.yaml", "apps", "./apps/b.yaml", "apps"]) == ["apps/b.yaml", "apps/a.yml"]


def test_directory_without_documents(folder: Path) -> None:
    """It stays in the list, so that reading it gives the problem."""
    (folder / "empty").mkdir()
    assert expand(["empty"]) == ["empty"]
    problem = without_documents("empty")
    assert problem is not None
    assert (problem.code, problem.position) == ("SG001", Position("empty", 1, 1))
    assert "subdirectories are not searched" in problem.next_step
    assert without_documents("apps/b.yaml") is None
    assert without_documents("nowhere") is None


def test_symbolic_links_that_loop(folder: Path) -> None:
    """Links to themselves and directories that contain themselves do no harm."""
    (folder / "apps" / "loop.yaml").symlink_to("loop.yaml")
    (folder / "apps" / "up.yaml").symlink_to("..")
    (folder / "again").symlink_to("again")
    assert expand(["apps", "again"]) == ["apps/a.yml", "apps/b.yaml", "again"]
    assert isinstance(read_file("again"), Problem)


def test_a_link_out_of_the_repository_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a stranger's. Where there is no repository, each is read."""
    home = folder / "home"
    home.mkdir()
    (home / "netrc").write_text("password x")
    repository = folder / "apps"
    (repository / "link.yaml").symlink_to(home / "netrc")
    (repository / "folder").symlink_to(home)
    (repository / "inside.yaml").symlink_to("b.yaml")
    (folder / "beside.yaml").symlink_to(home / "netrc")
    monkeypatch.chdir(repository)
    assert read_file("link.yaml") == b"password x"
    (repository / ".git").mkdir()
    (repository / "below").mkdir()
    for here, up in ((".", ""), ("below", "../")):
        monkeypatch.chdir(repository / here)
        for name in (f"{up}link.yaml", f"{up}folder/netrc", str(repository / "link.yaml")):
            problem = read_file(name)
            assert isinstance(problem, Problem)
            assert "a symbolic link out of the repository" in problem.message
        assert read_file(f"{up}../beside.yaml") == b"password x"


def test_a_link_in_the_repository_is_read_only_as_a_document(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a stranger's, and lead to a file with passwords that Git ignores."""
    repository = folder / "apps"
    (repository / ".git").mkdir()
    (repository / "private").mkdir()
    (repository / "private" / "creds.json").write_text('{"key": "AKIA"}')
    (repository / "creds.yaml").symlink_to("private/creds.json")
    (repository / "linked").symlink_to("private")
    (repository / "inside.yaml").symlink_to("b.yaml")
    (folder / "again").symlink_to("apps")
    monkeypatch.chdir(repository)
    messages: dict[Follow, str] = {"no": "a symbolic link", "document": "a link to no sparkgen document"}
    for name in ("creds.yaml", "linked/creds.json", str(folder / "again" / "creds.yaml")):
        for follow, message in messages.items():
            problem = read_file(name, follow)
            assert isinstance(problem, Problem)
            assert (problem.code, problem.message) == ("SG001", f"it is, or is below, {message}")
        assert read_file(name, "yes") == b'{"key": "AKIA"}'
    assert isinstance(read_file("inside.yaml"), Problem)
    assert read_file("inside.yaml", "document") == OURS.encode()
    assert read_file("../again/b.yaml") == OURS.encode()


def test_a_search_opens_no_link_out_of_the_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is behind it has no effect: it is listed, and reading it gives the problem."""
    repository = folder / "apps"
    (repository / ".git").mkdir()
    (folder / "other").write_text("nothing of ours")
    (repository / "away.yaml").symlink_to("../other")
    monkeypatch.chdir(repository)
    assert "./away.yaml" in expand(["."])


def test_found_files_stay_found(folder: Path) -> None:
    """What was found in a directory is marked as such, also on its way to another process."""
    names = pickle.loads(pickle.dumps(expand(["apps", "apps/notes.txt"])))  # noqa: S301  (our own)
    assert [isinstance(name, Found) for name in names] == [True, True, False]
    assert expand(names) == names


def test_read_file(folder: Path) -> None:
    """A file's bytes."""
    assert read_file("apps/b.yaml") == OURS.encode()


@pytest.mark.parametrize(
    ("name", "message", "step"),
    [
        ("nowhere.yaml", "no such file", "check the path"),
        ("apps/bb.yaml", "no such file", "did you mean apps/b.yaml?"),
        ("nowhere/x.yaml", "no such file", "check the path"),
        ("apps/b.yaml/c", "Not a directory", "check the path"),
        ("apps", "it is a directory", "give the files"),
        ("", "empty", "give a file"),
        ("a\0b", "embedded null", "check the path"),
        ("x" * 5000, "too long", "check the path"),
        ("\udcff.yaml", "no such file", "check the path"),
    ],
)
def test_unreadable(folder: Path, name: str, message: str, step: str) -> None:
    """SG001 at the first line of the name as given, with a next step."""
    problem = read_file(name)
    assert isinstance(problem, Problem)
    assert (problem.code, problem.position) == ("SG001", Position(name, 1, 1))
    assert message in problem.message
    assert step in problem.next_step


def test_permission(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read says so (simulated: nothing is forbidden to root)."""

    def forbidden(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    problem = read_file("apps/b.yaml")
    assert isinstance(problem, Problem)
    assert (problem.code, problem.message) == ("SG001", "permission denied")


def test_large_files_are_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's size is looked at first."""
    (folder / "large.yaml").write_bytes(b"")
    os.truncate(folder / "large.yaml", 50 * MAX_FILE_BYTES)
    monkeypatch.setattr(Path, "open", None)
    problem = read_file("large.yaml")
    assert isinstance(problem, Problem)
    assert problem.code == "SG005"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="only Unix has a file without end")
def test_files_without_end(folder: Path) -> None:
    """No more than the limit is read of what has no size."""
    problem = read_file("/dev/zero")
    assert isinstance(problem, Problem)
    assert problem.code == "SG005"


@pytest.fixture
def pipe(tmp_path: Path) -> str:
    """A pipe to which nobody writes: who opens it waits forever."""
    os.mkfifo(tmp_path / "app.lock.yaml")
    return str(tmp_path / "app.lock.yaml")


def is_refused(problem: object) -> bool:
    """Whether a pipe was refused without being opened."""
    return isinstance(problem, Problem) and "it is a pipe, a socket or a device" in problem.message


def test_a_pipe_that_was_found_is_not_opened(pipe: str) -> None:
    """A person who names a pipe wants it to be read, as in `<(...)`; nobody named this one."""
    assert is_refused(read_file(Found(pipe)))


def test_a_lock_that_is_a_pipe_is_not_opened(pipe: str) -> None:
    """It lies beside the document, and the document's author did not name it."""
    text = "apiVersion: sparkgen.dev/v1alpha1\nkind: SparkApplication\nmetadata: {name: a}\n"
    locks = Locks(Reader(lambda: b""))
    (composed,) = parse(text.encode(), "app.yaml").documents
    assert composed.root is not None
    source = pipe.replace(".lock", "")
    assert locks.artifacts(Document(composed.root, composed.root.value, source, 0)) is None
    (problem,) = locks.problems
    assert problem.message == "the lock file cannot be read: it is a pipe, a socket or a device"


def test_an_overlay_of_an_environment_that_is_a_pipe_is_not_opened(tmp_path: Path) -> None:
    """It was found in a folder."""
    (tmp_path / "app.yaml").write_text(OURS)
    (tmp_path / "environments").mkdir()
    os.mkfifo(tmp_path / "environments" / "prod.yaml")
    (part,) = environments.parts(str(tmp_path), "")
    assert is_refused(Reader(lambda: b"").read(part.overlays[0]))


def test_a_pipe_among_rendered_files_is_not_opened(pipe: str) -> None:
    """`diff` reads every file of a folder."""
    assert rendered.read(Path(pipe).parent).manifests == {}


def test_standard_input() -> None:
    """It is read once; the second time is SG001."""
    reader = Reader(lambda: b"a: 1")
    assert reader.read("-") == b"a: 1"
    problem = reader.read("-")
    assert isinstance(problem, Problem)
    assert (problem.code, problem.position.file) == ("SG001", "<stdin>")


def test_closed_standard_input() -> None:
    """A pipe that fails is SG001."""

    def closed() -> bytes:
        raise ValueError("I/O operation on closed file")

    problem = Reader(closed).read("-")
    assert isinstance(problem, Problem)
    assert (problem.code, problem.position.file) == ("SG001", "<stdin>")
