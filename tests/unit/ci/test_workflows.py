"""What runs in CI is named by its content, and what publishes runs no code of the project."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from release import names

ROOT = Path(__file__).resolve().parents[3]
FILES = [
    *sorted((ROOT / ".github").rglob("*.y*ml")),
    ROOT / "action.yml",
    *sorted((ROOT / "examples" / "ci").glob("*.y*ml")),
]
USES = re.compile(r"^\s*(?:- )?[\"']?uses[\"']?:\s*(.*)$", re.MULTILINE)
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
PROGRAMS = [*FILES, ROOT / ".pre-commit-hooks.yaml", ROOT / "docs" / "ci.md"]
PYTHON = re.compile(r"(?<![\w./-])python3?(?:\.\d+)?[ \t]+(?!-I\b)(?:-|\S+\.py)")
"""A call of Python that imports from the working directory, which is a checkout."""
OURS = f"{names.read().repository.removeprefix('https://github.com/')}@"
"""This project itself."""
RELEASE = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
WRITES = {"contents", "packages", "id-token"}


def unpinned(text: str) -> list[str]:
    """The actions in a workflow that are not named by a whole commit, with the version as a comment."""
    return [use for use in USES.findall(text) if not PINNED.fullmatch(use) and not use.startswith(OURS)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_actions_are_named_by_their_commits(file: Path) -> None:
    """A tag may be moved to other code by whoever takes over the action."""
    text = file.read_text()
    assert unpinned(text) == []
    assert len(USES.findall(text)) == text.count("uses:") - text.count("# A composite action: `uses:")


@pytest.mark.parametrize(
    "text",
    [
        "- uses: actions/checkout@v5",
        "  uses: actions/checkout@main",
        "- uses: actions/checkout@3d3c42e",
        "- uses: actions/checkout",
        "- uses: docker://alpine:3",
        "- 'uses': actions/checkout@v5",
        "- uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1",
    ],
)
def test_what_counts_as_not_pinned(text: str) -> None:
    """The test of the tests."""
    assert len(unpinned(text)) == 1


def test_a_pull_request_gets_no_right_and_no_secret() -> None:
    """It runs the code of whoever opened it. It runs all that CI runs, with the history that shares need."""
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    workflow = yaml.safe_load(text)
    assert set(workflow[True]) == {"pull_request", "push"}  # YAML 1.1 reads the key `on` as true
    assert workflow["permissions"] == {}
    (job,) = workflow["jobs"].values()
    assert job["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    assert job["steps"][0]["with"] == {"persist-credentials": False, "fetch-depth": 0}
    assert job["steps"][-1]["run"].endswith("bash .ci/run")


def test_no_job_has_rights_that_it_does_not_name() -> None:
    """None by default; the build, which runs the project and all that it fetches, can write nothing."""
    assert RELEASE["permissions"] == {}
    rights: dict[str, Any] = {name: job["permissions"] for name, job in RELEASE["jobs"].items()}
    assert rights["build"] == {"contents": "read"}
    assert rights["python"] == {"id-token": "write"}
    assert "contents" not in rights["image"]
    assert "packages" not in rights["files"]


def test_what_publishes_runs_nothing_of_the_project() -> None:
    """It has no checkout, no make, no Python: what the build left is data to it."""
    for name, job in RELEASE["jobs"].items():
        if not WRITES & {right for right, level in job["permissions"].items() if level == "write"}:
            continue
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        run = " ".join(step.get("run", "") for step in job["steps"])
        assert "build" in job["needs"], name
        assert not [action for action in used if action.startswith("actions/checkout@")], name
        assert not re.search(r"\b(make|python3?|pip|npm|bash|sh) [^|]*", run.replace("mkdir python", "")), (
            name
        )


def test_values_come_into_scripts_as_variables() -> None:
    """Written into a script, a tag's name with a quote in it would be code."""
    for job in RELEASE["jobs"].values():
        assert not [step["run"] for step in job["steps"] if "${{" in step.get("run", "")]


def test_what_is_published_is_signed_and_its_origin_told() -> None:
    """Image, chart and files: by the workflow's own identity, as no option names a key."""
    steps = [
        step for job in RELEASE["jobs"].values() for step in job["steps"] if "cosign" in step.get("run", "")
    ]
    assert [step["name"] for step in steps] == ["Publish and sign image and chart", "Sign the files"]
    assert [step["env"]["SIGN_WITH"] for step in steps] == ["--yes", "--yes"]
    signed = [
        line.strip()
        for step in steps
        for line in step["run"].splitlines()
        if re.match(r"cosign (sign|att)", line)
    ]
    assert [line.partition(" $SIGN_WITH ")[0] for line in signed] == [
        *("cosign sign", "cosign sign", "cosign attest", "cosign attest", "cosign attest"),
        *("cosign sign-blob", "cosign attest-blob"),
    ]
    assert all(step["run"].startswith("sha256sum --check --strict SHA256SUMS\n") for step in steps)


def test_a_step_ends_where_a_command_fails() -> None:
    """Also before a pipe: GitHub's default shell would go on after `helm push ... | tee`."""
    assert RELEASE["defaults"] == {"run": {"shell": "bash"}}
    assert not [step for job in RELEASE["jobs"].values() for step in job["steps"] if "shell" in step]


def test_a_tag_publishes_nothing_before_there_is_a_public_home() -> None:
    """The build, which every other job needs, first reads the names, and ends if one is missing."""
    build = RELEASE["jobs"]["build"]
    (step,) = (step for step in build["steps"] if step.get("id") == "names")
    assert "-m release.names >>" in step["run"]
    assert all("build" in job["needs"] for name, job in RELEASE["jobs"].items() if name != "build")
    assert build["outputs"] == {"registry": "${{ steps.names.outputs.registry }}"}


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.name)
def test_python_imports_nothing_from_a_checkout(file: Path) -> None:
    """Else its `secrets.py` or `pip/` would run in place of Python's own."""
    assert PYTHON.findall(file.read_text()) == []


@pytest.mark.parametrize(
    "text", ["python -m pip install x", "$(python -c 'import re')", "python3.11 -m venv x", "python x.py"]
)
def test_what_counts_as_importing_from_a_checkout(text: str) -> None:
    """The test of the test."""
    assert PYTHON.search(text)
    assert not PYTHON.search(text.replace(" ", " -I ", 1))


LOCKED = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


def locked(name: str) -> dict[str, str]:
    """The versions in a file of requirements/; of several for one package, the last."""
    return dict(LOCKED.findall((ROOT / "requirements" / name).read_text()))


@pytest.mark.parametrize("name", ["sparkgen.txt", "dev.txt"])
def test_each_locked_version_has_hashes(name: str) -> None:
    """Else pip refuses the whole file; this says it without a network."""
    text = (ROOT / "requirements" / name).read_text()
    for entry in re.split(r"\n(?=\S)", text.strip())[1:]:
        assert LOCKED.match(entry), entry
        assert "--hash=sha256:" in entry


def test_the_locks_have_what_pyproject_asks_for() -> None:
    """`make requirements` was run after a change."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime = project["project"]["dependencies"]
    for name, wanted in (
        ("sparkgen.txt", [*runtime, *project["build-system"]["requires"]]),
        ("dev.txt", [*runtime, *project["project"]["optional-dependencies"]["dev"]]),
    ):
        have = locked(name)
        for one in map(Requirement, wanted):
            assert one.specifier.contains(have[one.name.lower().replace("_", "-")]), one


def test_the_action_and_a_release_compare_hashes() -> None:
    """A new file in a registry runs in nobody's CI: not as a dependency, and not as a build backend."""
    action = (ROOT / "action.yml").read_text()
    make = (ROOT / "Makefile").read_text()
    gitlab = (ROOT / "examples" / "ci" / "gitlab-ci.yml").read_text()
    for text, lock in ((action, "sparkgen.txt"), (make, "dev.txt"), (gitlab, "sparkgen.txt")):
        assert re.search(rf"--require-hashes --requirement \S*requirements/{re.escape(lock)}", text)
        assert "--no-deps --no-build-isolation" in text
    assert '"--no-isolation"' in (ROOT / "tools" / "release" / "__main__.py").read_text()
    assert "build --no-isolation --wheel" in make


def test_the_hooks_install_the_locked_versions() -> None:
    """All that sparkgen imports there, whatever a registry has today."""
    have = locked("sparkgen.txt")
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()):
        pinned = dict(one.split("==") for one in hook["additional_dependencies"])
        assert pinned.items() <= have.items()
        assert needed_by("sparkgen") <= pinned.keys()


def needed_by(name: str) -> set[str]:
    """All that a package needs on this system, without extras, by the names of a lock."""
    found: set[str] = set()
    for text in metadata.requires(name) or ():
        one = Requirement(text)
        if one.marker is None or one.marker.evaluate({"extra": ""}):
            plain = one.name.lower().replace("_", "-").replace(".", "-")
            found |= {plain} | needed_by(one.name)
    return found
