"""A law of finding: `diff -R` compares what `render -R` renders, on the disk and in a commit."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sparkgen.cli.request import Request
from sparkgen.cli.revisions import points, sides
from sparkgen.diff.git import repository
from sparkgen.document.environments import parts
from sparkgen.errors import SparkgenError
from sparkgen.usecases.validate import check
from tests import scale

Form = Callable[[str], str]
Tree = tuple[Sequence[tuple[str, Form]], Sequence[str], Sequence[tuple[str, str]]]

OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {group: sparkgen.dev}\n"


def document(name: str) -> str:
    """A valid document."""
    return (
        f"apiVersion: sparkgen.dev/v1alpha1\nkind: SparkApplication\nmetadata:\n  name: {name}\nspec:\n"
        '  type: Python\n  sparkVersion: "3.5.8"\n  image: docker.io/apache/spark:3.5.8\n'
        "  mainApplicationFile: local:///opt/pi.py\n"
    )


def indented(text: str) -> str:
    """Every line a blank further to the right."""
    return "".join(f" {line}" for line in text.splitlines(keepends=True))


FORMS: list[Form] = [
    document,
    lambda name: "\ufeff" + document(name),
    lambda name: document(name).replace("apiVersion:", '"apiVersion":'),
    lambda name: document(name).replace(
        "apiVersion: sparkgen.dev/v1alpha1", "'apiVersion' : 'sparkgen.dev/v1alpha1'"
    ),
    lambda name: document(name).replace("apiVersion: ", "? apiVersion\n: "),
    lambda name: indented(document(name)),
    lambda name: "# a comment\n\n" + document(name),
    lambda name: document(name).replace("\n", "\r\n"),
    lambda name: f"{OTHER}---\n{document(name)}---\n{document(f'{name}-more')}",
    lambda name: f"%YAML 1.1\n--- # {name}\n{document(name)}...\n",
    lambda name: json.dumps(
        {
            "kind": "SparkApplication",
            "metadata": {"name": name},
            "spec": {
                "type": "Python",
                "sparkVersion": "3.5.8",
                "image": "docker.io/apache/spark:3.5.8",
                "mainApplicationFile": "local:///opt/pi.py",
            },
            "apiVersion": "sparkgen.dev/v1alpha1",
        }
    ),
    lambda _: OTHER,
    lambda _: "# sparkgen.dev\n",
]

FOLDERS = ["", "a/", "a/b/", "b/", ".hidden/", "environments/more/"]
NAMES = ["app.yaml", "app.yml", "more.yaml", "alone.lock.yaml", ".app.yaml", "app.txt"]
OVERLAYS = [
    f"{folder}environments/{name}" for folder in ("", "a/", "a/b/") for name in ("dev.yaml", "prod.yml")
]
LINKS = ["link.yaml", "a/link.yaml", "b/environments", "b/environments/dev.yaml", "c", "a/link.lock.yaml"]
TARGETS = ["app.yaml", "a/app.yml", "a", "a/environments", "nothing", "../notes.txt", "../notes", "../../.."]

trees: st.SearchStrategy[Tree] = st.tuples(
    st.lists(
        st.tuples(
            st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(NAMES)), st.sampled_from(FORMS)
        ),
        max_size=5,
        unique_by=lambda one: one[0],
    ),
    st.lists(st.sampled_from(OVERLAYS), max_size=3, unique=True),
    st.lists(
        st.tuples(st.sampled_from(LINKS), st.sampled_from(TARGETS)), max_size=2, unique_by=lambda one: one[0]
    ).flatmap(lambda links: st.sampled_from([links, []])),
)


def write(tree: Tree) -> None:
    """Write a tree below `apps`, and notes beside it."""
    files, overlays, links = tree
    written = {f"apps/{path}": form(f"app{number}") for number, (path, form) in enumerate(files)}
    written |= {f"apps/{path}": "metadata: {labels: {tier: gold}}\n" for path in overlays}
    written |= {"notes.txt": document("linked"), "notes/dev.yaml": "spec: {driver: {memory: 2g}}\n"}
    for name, text in written.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(text.encode())
    for path, target in links:
        place = Path("apps", path)
        if not place.exists() and not place.parent.is_symlink():
            place.parent.mkdir(parents=True, exist_ok=True)
            leads = (
                target if target.startswith("../../..") else os.path.relpath(f"apps/{target}", place.parent)
            )
            place.symlink_to(leads)


def git(*arguments: str) -> str:
    """Run git with no settings but these."""
    settings_ = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "core.autocrlf=false")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *settings_, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def rendered() -> set[tuple[str, str]] | None:
    """Environment and name of all that `render -R` renders; None if it refuses the tree."""
    try:
        todo = parts("apps", "deploy")
    except SparkgenError as error:
        assert "symbolic link" in str(error)  # noqa: PT017 - no other error is expected
        return None
    found: set[tuple[str, str]] = set()
    for part in todo:
        checked = check(Request(sources=(part.file,), values=part.overlays), lambda: b"")
        assert not checked.errors, checked.problems
        found |= {(part.environment, document.owner[1]) for document in checked.documents}
    return found


def compared(empty: str, to: str) -> set[tuple[str, str]] | None:
    """Environment and name of all that `diff -R` says is new; None if it refuses the tree."""
    where = repository(Path())
    old, new = points(where, empty, to, merge_base=False)
    try:
        before, after, same = sides(where, old, new, Request(sources=("apps",), recursive=True))
    except SparkgenError as error:
        if "no document in" in str(error):
            return set()
        assert "symbolic link" in str(error)  # noqa: PT017 - no other error is expected
        return None
    assert (before, same) == ([], 0)
    return {(side.environment, side.name) for side in after}


@settings(max_examples=scale.count("tests/property/test_finding.py", 100, 20))
@given(trees)
def test_what_is_rendered_is_compared(tree: Tree) -> None:
    """Whatever the files look like; and a tree that one command refuses, the other refuses, too."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        git("init", "--quiet")
        git("commit", "--quiet", "--allow-empty", "--message", "empty")
        empty = git("rev-parse", "HEAD")
        Path("apps").mkdir()
        write(tree)
        git("add", "--all")
        git("commit", "--quiet", "--allow-empty", "--message", "tree")
        expected = rendered()
        assert compared(empty, "") == expected
        assert compared(empty, "HEAD") == expected
