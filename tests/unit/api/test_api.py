"""sparkgen as a library finds and renders what the command line does, and prints nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkgen import api, contract
from sparkgen.__main__ import run
from sparkgen.errors import path_text
from sparkgen.usecases import parallel

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("examples/*/app.yaml"))
BAD = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/golden/bad/*.yaml"))[::8]
NAMED = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: {name: pi}
spec:
  type: Python
  sparkVersion: "3.5.8"
  image: docker.io/apache/spark:3.5.8
  mainApplicationFile: local:///opt/spark/examples/src/main/python/pi.py
"""


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command line prints to standard output; nothing may have been printed before."""
    assert capfd.readouterr() == ("", "")
    run(list(arguments))
    return capfd.readouterr().out


def entry(problem: api.Problem) -> tuple[str, str, int, str]:
    """What tells one problem from another."""
    return problem.code, path_text(problem.path), problem.position.line, problem.message


def told(report: str) -> list[tuple[str, str, int, str]]:
    """The same of a report in JSON."""
    return [(one["code"], one["path"], one["line"], one["message"]) for one in json.loads(report)]


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_renders_as_the_command_does(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Byte for byte."""
    checked = api.validate(api.Inputs((name,)))
    assert not checked.errors
    text = api.text(api.render(checked.documents))
    assert text == said(capfd, "render", "-q", name)


@pytest.mark.parametrize("name", BAD)
def test_it_finds_what_the_command_finds(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Every problem, with its place."""
    checked = api.validate(api.Inputs((name,)))
    found = [entry(problem) for problem in checked.problems]
    assert found
    assert sorted(found) == sorted(told(said(capfd, "validate", name, "--format", "json")))


def test_two_documents_that_render_the_same_object(tmp_path: Path) -> None:
    """Each is right alone."""
    both = tmp_path / "app.yaml"
    both.write_text(f"{NAMED}---\n{NAMED.replace('name: pi', 'name: other')}  serviceAccount: {{name: pi}}\n")
    inputs = api.Inputs((str(both),))
    assert not api.load(inputs).errors
    assert [one.code for one in api.validate(inputs).problems if one.severity is api.Severity.ERROR] == [
        "SG019"
    ]


def test_it_reviews_as_the_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With the configuration of the working directory, or with options instead of it."""
    monkeypatch.chdir(tmp_path)
    Path("app.yaml").write_text(NAMED)
    Path(".sparkgen.yaml").write_text(f"runtimeImage: {contract.RUNTIME_IMAGE}\n")
    findings = api.lint(api.Inputs(("app.yaml",)), api.LintOptions(show="info"))
    assert findings.documents == 1
    shown = sorted(entry(problem) for problem in findings.visible)
    assert shown == sorted(told(said(capfd, "lint", "app.yaml", "--show", "info", "--format", "json")))
    Path(".sparkgen.yaml").write_text("lint: {profiles: [none]}\n")
    with pytest.raises(api.SparkgenError, match="configuration of the repository has errors"):
        api.lint(api.Inputs(("app.yaml",)))
    assert api.lint(api.Inputs(("app.yaml",), configured=None), api.LintOptions(isolated=True)).found


def test_the_configuration_of_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program's working directory may be anywhere."""
    (tmp_path / "repository" / "apps").mkdir(parents=True)
    (tmp_path / "repository" / ".sparkgen.yaml").write_text("runtimeImage: registry.example.org/own:1\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    image = api.configured(tmp_path / "repository" / "apps").runtime_image
    assert image is not None
    assert image.value == "registry.example.org/own:1"
    assert api.configured(tmp_path / "elsewhere") == api.Configured()


def test_many_documents_are_reviewed_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with threads must not be forked."""
    monkeypatch.setattr(parallel, "_processors", lambda: 8)
    monkeypatch.setattr(parallel, "_in_parallel", lambda *_: pytest.fail("it forks"))
    file = tmp_path / "app.yaml"
    file.write_text("---\n".join(NAMED.replace("name: pi", f"name: pi-{number}") for number in range(130)))
    assert api.lint(api.Inputs((str(file),))).documents == 130


def test_what_would_change(tmp_path: Path) -> None:
    """Of two sets of documents, for each application."""
    file = tmp_path / "app.yaml"
    file.write_text(NAMED)
    old = api.load(api.Inputs((str(file),))).documents
    new = api.load(api.Inputs((str(file),), sets=("spec.arguments=[10]",))).documents
    assert not api.diff(old, old)
    (application,) = api.diff(old, new).applications
    assert (application.name, application.verdict.starts) == ("pi", True)
    assert [one.state for one in api.diff((), new).applications] == ["added"]


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its program runs as it stands there."""
    page = (ROOT / "docs" / "python.md").read_text()
    program = page.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    Path("deploy").mkdir()
    Path("app.yaml").write_text(NAMED + "  executor: {instances: 2}\n")
    exec(compile(program, "docs/python.md", "exec"), {})  # noqa: S102 - our own page
    assert "job.yaml" in {path.name for path in Path("deploy").iterdir()}
    assert all(f"`{name}(" in page for name in ("load", "validate", "render", "text", "lint", "diff"))


def test_another_namespace_is_refused(tmp_path: Path) -> None:
    """One of the two is a mistake."""
    file = tmp_path / "app.yaml"
    file.write_text(NAMED.replace("{name: pi}", "{name: pi, namespace: a}"))
    documents = api.load(api.Inputs((str(file),))).documents
    with pytest.raises(api.SparkgenError, match="namespace is a, but --namespace is b"):
        api.render(documents, "b")
