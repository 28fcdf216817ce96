"""What git answers is read once, however many files it is about."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from sparkgen.diff import git

NUMBER = 300


class Answer(bytes):
    """Bytes that count what is copied out of them."""

    copied = 0

    def __getitem__(self, key: Any) -> Any:
        piece = super().__getitem__(key)
        if isinstance(key, slice):
            Answer.copied += len(piece)
        return Answer(piece) if isinstance(key, slice) else piece

    def partition(self, separator: Any, /) -> Any:
        """Count the rest, too."""
        pieces = super().partition(separator)
        Answer.copied += sum(map(len, pieces))
        return tuple(map(Answer, pieces))


def run(folder: Path, *arguments: str) -> str:
    """What git prints."""
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    command = ["git", *settings, *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> git.Repository:
    """A repository with a commit: many files, and a link to each."""
    run(tmp_path, "init", "--quiet")
    (tmp_path / "lib").mkdir()
    (tmp_path / "links").mkdir()
    for number in range(NUMBER):
        (tmp_path / f"lib/{number}.yaml").write_text(f"{number}\n" * 100)
        (tmp_path / f"links/{number}.yaml").symlink_to(f"../lib/{number}.yaml")
        (tmp_path / f"links/none-{number}.yaml").symlink_to("../nothing")
    run(tmp_path, "add", ".")
    run(tmp_path, "commit", "--quiet", "--message", "all")
    return git.repository(tmp_path)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of git's answers, whose copies are counted."""
    lengths: list[int] = []
    real = git._run

    def counted(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[bytes]:
        done = real(*arguments, **options)
        lengths.append(len(done.stdout))
        done.stdout = Answer(done.stdout)
        return done

    monkeypatch.setattr(git, "_run", counted)
    monkeypatch.setattr(Answer, "copied", 0)
    return lengths


def test_contents_are_copied_once(repository: git.Repository, answers: list[int]) -> None:
    """The rest of the answer is not copied for each file."""
    ids = repository.listing(repository.commit("HEAD"), str(repository.root / "lib")).files
    answers.clear()
    Answer.copied = 0
    contents = repository.read(ids.values())
    assert sorted(contents.values()) == sorted(f"{number}\n".encode() * 100 for number in range(NUMBER))
    assert Answer.copied <= sum(answers)


def test_links_are_copied_once(repository: git.Repository, answers: list[int]) -> None:
    """So is what git says of links, whether they lead to a file or to nothing."""
    found = repository.listing(repository.commit("HEAD"), str(repository.root / "links")).links
    assert [target.kind for target in found.values()].count("file") == NUMBER
    assert [target.kind for target in found.values()].count("nothing") == NUMBER
    assert Answer.copied <= sum(answers)


def test_links_of_a_commit_are_followed(repository: git.Repository, tmp_path: Path) -> None:
    """Those in a named folder, those that are named, and those on the way to a named file."""
    root = repository.root
    (root / "way").symlink_to("lib")
    run(root, "add", ".")
    run(root, "commit", "--quiet", "--message", "a way")
    names = [str(root / name) for name in ("way/7.yaml", "links/8.yaml")]
    target = tmp_path / "out"
    target.mkdir()
    repository.write(repository.commit("HEAD"), names, target)
    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*.yaml")) == [
        "lib/7.yaml",
        "lib/8.yaml",
        "links/8.yaml",
    ]
    assert (target / "way/7.yaml").read_text() == "7\n" * 100


@pytest.mark.parametrize("format_", ["sha1", "sha256"])
def test_a_file_in_git_is_compared_without_its_contents(
    tmp_path: Path, format_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its id: a large file of the index is never read into memory."""
    run(tmp_path, "init", "--quiet", f"--object-format={format_}")
    same, other = tmp_path / "same", tmp_path / "other"
    for file in (same, other):
        file.write_text("a\n")
    run(tmp_path, "add", ".")
    other.write_text("b\n")
    monkeypatch.setattr(git.Repository, "read", None)
    assert git.repository(tmp_path).tracked([same, other, tmp_path / "none"]) == {same}
