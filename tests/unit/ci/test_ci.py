"""What users copy into their CI: the steps of each file are executed, in a repository like theirs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from common.cachedir import cache_root
from gotools import golang, gotools
from sparkgen import contract

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "ci"
DOCUMENT = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata:
  name: pi
spec:
  type: Python
  sparkVersion: "3.5.8"
  image: docker.io/apache/spark:3.5.8
  mainApplicationFile: local:///opt/spark/examples/src/main/python/pi.py
  executor:
    instances: 2
"""
Done = subprocess.CompletedProcess[str]


def read(path: Path) -> Any:
    """A YAML file. `on:` of a workflow becomes a boolean key, which nobody here asks for."""
    return yaml.safe_load(path.read_text())


def environment(**more: str) -> dict[str, str]:
    """A runner's: sparkgen installed, git without anybody's settings."""
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITHUB_", "CI"))
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{own['PATH']}"
    return {**own, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **more}


class Repository:
    """apps/pi/app.yaml and what is rendered of it, committed as `base`; and a branch that changes it."""

    def __init__(self, folder: Path, base: str = "") -> None:
        self.folder = folder
        self.document = folder / "apps" / "pi" / "app.yaml"
        self.base = base

    def fill(self) -> None:
        """Begin it."""
        self.document.parent.mkdir(parents=True)
        self.document.write_text(DOCUMENT)
        (self.folder / ".sparkgen.yaml").write_text(f"runtimeImage: {contract.RUNTIME_IMAGE}\n")
        self.run(["git", "init", "--quiet"])
        self.render()
        self.base = self.commit()

    def run(self, command: list[str], **more: str) -> Done:
        """A command here."""
        return subprocess.run(
            command, cwd=self.folder, env=environment(**more), capture_output=True, text=True, check=False
        )

    def render(self) -> None:
        """Bring deploy/ up to date."""
        assert self.run(["sparkgen", "render", "-R", "apps", "-o", "deploy"]).returncode == 0

    def commit(self) -> str:
        """Commit all; the commit's id."""
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        self.run(["git", "add", "--all"])
        assert self.run(["git", *identity, "commit", "--quiet", "-m", "x"]).returncode == 0
        return self.run(["git", "rev-parse", "HEAD"]).stdout.strip()

    def spoil(self) -> None:
        """Misspell a field of a rendered Job."""
        job = self.folder / "deploy" / "pi" / "job.yaml"
        job.write_text(job.read_text().replace("backoffLimit:", "backofLimit:"))

    def change(self, old: str = "instances: 2", new: str = "instances: 3") -> None:
        """Change the document."""
        self.document.write_text(self.document.read_text().replace(old, new))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A user's repository, which is copied for each test: it takes six processes to make."""
    made = Repository(tmp_path_factory.mktemp("filled"))
    made.fill()
    return made


@pytest.fixture
def repository(filled: Repository, tmp_path: Path) -> Repository:
    """A user's repository."""
    folder = tmp_path / "repository"
    shutil.copytree(filled.folder, folder)
    return Repository(folder, filled.base)


# --- pre-commit -------------------------------------------------------------------------------------------


def hook(name: str, repository: Repository) -> Done:
    """Run a hook as pre-commit does: its entry, the arguments of the configuration, the files that match."""
    defined = {one["id"]: one for one in read(ROOT / ".pre-commit-hooks.yaml")}[name]
    [repo, _] = read(EXAMPLES / "pre-commit-config.yaml")["repos"]
    return play({**defined, **next(one for one in repo["hooks"] if one["id"] == name)}, repository)


def play(used: dict[str, Any], repository: Repository) -> Done:
    """Run what a hook's definition and its use come to."""
    files = repository.run(["git", "ls-files"]).stdout.split()
    named = [file for file in files if re.search(used.get("files", ""), file)]
    passed = named if used.get("pass_filenames", True) else []
    return repository.run([*shlex.split(used["entry"]), *used.get("args", []), *passed])


def test_the_hooks_pass_when_all_is_well(repository: Repository) -> None:
    """The documents are right and rendered."""
    assert hook("sparkgen-validate", repository).stdout == "1 document valid\n"
    assert hook("sparkgen-check", repository).returncode == 0


def test_the_hooks_find_mistakes_and_what_is_not_rendered(repository: Repository) -> None:
    """Each its own."""
    repository.change()
    done = hook("sparkgen-check", repository)
    assert done.returncode == 1
    assert "sparkgen render -R apps -o deploy" in done.stderr
    repository.change("instances", "instanzes")
    assert "error[SG010]" in hook("sparkgen-validate", repository).stdout


def conform_hook(repository: Repository) -> Done:
    """Write the schemas as the one hook does, then run kubeconform as the other does."""
    assert hook("sparkgen-schemas", repository).returncode == 0
    [_, local] = read(EXAMPLES / "pre-commit-config.yaml")["repos"]
    [used] = local["hooks"]
    assert used["language"] == "golang"
    command = str(gotools.ensure("kubeconform"))  # what Go installs for the hook
    return play({**used, "entry": used["entry"].replace("kubeconform", command, 1)}, repository)


def test_the_hook_of_kubeconform(repository: Repository) -> None:
    """It passes what was rendered, and finds what somebody wrote into it."""
    assert (done := conform_hook(repository)).returncode == 0, done.stdout + done.stderr
    repository.spoil()
    done = conform_hook(repository)
    assert done.returncode == 1
    assert "additional properties 'backofLimit' not allowed" in done.stdout


def test_the_default_files_of_the_hook() -> None:
    """Documents of the usual name, in any folder, and no overlay."""
    pattern = next(one for one in read(ROOT / ".pre-commit-hooks.yaml") if "files" in one)["files"]
    assert re.search(pattern, "app.yaml")
    assert re.search(pattern, "apps/pi/app.yml")
    assert not re.search(pattern, "apps/pi/my-app.yaml")
    assert not re.search(pattern, "apps/environments/prod.yaml")


# --- the composite action ---------------------------------------------------------------------------------

INSTALL = ("Install sparkgen", "Install kubeconform")
FORGED = "::add-mask::x\n  ::set-output name=changed::true\nx ##[error]y\n::stop-commands::z\n::z::\n"


def obeyed(done: Done) -> list[str]:
    """The workflow commands that GitHub's runner takes from a step.

    It reads standard error beside standard output, at its own pace: whatever stands there is read as if
    nothing had been stopped. ActionCommandManager.cs and ActionCommand.cs of https://github.com/actions/runner.
    """
    taken, token = [], ""
    for line in [*done.stderr.splitlines(), *done.stdout.splitlines()]:
        found = re.match(r"\s*::([^ :]+)(?: [^:]*)?::(.*)", line) or re.search(
            r"##\[([^] ]+)[^]]*\](.*)", line
        )
        if found is None or (token and found[1].lower() != token):
            continue
        if token:
            token = ""
        elif found[1].lower() == "stop-commands":
            token = found[2].lower()
            assert len(token) >= 32, "a token that can be guessed"
        else:
            taken.append(found[1].lower())
    assert not token, "nothing is obeyed in what follows"
    return taken


class Runner:
    """As much of GitHub's runner as a composite action sees."""

    def __init__(self, repository: Repository, folder: Path, path: str = "", **inputs: str) -> None:
        self.path = path
        self.action = read(ROOT / "action.yml")
        defaults = {name: one.get("default", "") for name, one in self.action["inputs"].items()}
        self.inputs = {**defaults, **inputs}
        self.repository = repository
        self.files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in self.files.values():
            file.write_text("")
        self.temp = folder
        if not (folder / "kubeconform").exists():
            (folder / "kubeconform").symlink_to(gotools.ensure("kubeconform"))

    def run(self) -> list[Done]:
        """All steps with a script but those that install, until one fails."""
        done: list[Done] = []
        for step in self.action["runs"]["steps"]:
            if "run" not in step or step["name"] in INSTALL or not self._wanted(step.get("if", "")):
                continue
            done.append(self._step(step))
            if done[-1].returncode:
                break
        return done

    def step(self, name: str, **more: str) -> Done:
        """One step by its name."""
        [step] = [step for step in self.action["runs"]["steps"] if step.get("name") == name]
        return self._step(step, **more)

    def _step(self, step: dict[str, Any], **more: str) -> Done:
        assert "${{" not in step["run"], "a value in a script can be code"
        values = {name: self._value(text) for name, text in step.get("env", {}).items()}
        given = {**{name: str(path) for name, path in self.files.items()}, "RUNNER_TEMP": str(self.temp)}
        if self.path:
            given["PATH"] = f"{self.path}{os.pathsep}{environment()['PATH']}"
        given["GITHUB_ACTION_PATH"] = str(ROOT)
        # bash as the runner calls it for `shell: bash`.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return self.repository.run(command, **{**given, **values, **more})

    def _value(self, text: str) -> str:
        found = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)
        assert found, text
        return self.inputs[found[1]]

    def _wanted(self, condition: str) -> bool:
        if not condition:
            return True
        found = re.fullmatch(r"inputs\.(\w+) != ''", condition)
        assert found, condition
        return bool(self.inputs[found[1]])

    def outputs(self) -> dict[str, str]:
        """What the steps gave to the workflow."""
        lines = self.files["GITHUB_OUTPUT"].read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


def test_the_action_on_a_pull_request(repository: Repository, tmp_path: Path) -> None:
    """Rendered and changed: all steps pass, and the changes are in the summary and the file."""
    repository.change()
    repository.render()
    repository.commit()
    runner = Runner(repository, tmp_path, documents="apps", rendered="deploy", base=repository.base)
    assert [done.returncode for done in runner.run()] == [0, 0, 0, 0]
    assert runner.outputs()["changed"] == "true"
    comment = Path(runner.outputs()["comment"]).read_text()
    assert "executor instances (Number of executors) | `2` | `3` | same run" in comment
    assert runner.files["GITHUB_STEP_SUMMARY"].read_text() == comment


def test_the_action_when_nothing_changes(repository: Repository, tmp_path: Path) -> None:
    """A comment in the document is no change."""
    repository.change("spec:", "# a comment\nspec:")
    repository.commit()
    runner = Runner(repository, tmp_path, documents="apps", base=repository.base)
    assert [done.returncode for done in runner.run()] == [0, 0, 0]
    assert runner.outputs()["changed"] == "false"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("instances: 2", "instanzes: 2", "::error file=apps/pi/app.yaml,line=11"),
        ("instances: 2", "instances: 3", "is out of date"),
    ],
)
def test_the_action_fails_with_the_reason(
    repository: Repository, tmp_path: Path, old: str, new: str, said: str
) -> None:
    """A mistake as an annotation at its line; manifests that were not rendered."""
    repository.change(old, new)
    runner = Runner(repository, tmp_path, documents="apps", rendered="deploy", base=repository.base)
    last = runner.run()[-1]
    assert last.returncode == 1
    assert said in last.stdout + last.stderr


KUBECONFORM = "Check the manifests with kubeconform"


def test_the_action_runs_kubeconform_on_what_it_rendered(repository: Repository, tmp_path: Path) -> None:
    """For the version that is asked for, with the schemas of sparkgen alone; each object is looked at."""
    runner = Runner(repository, tmp_path, documents="apps", kubernetes="1.33", base="")
    _, done = runner.run()
    assert re.search(r"Valid: [1-9]\d*, Invalid: 0, Errors: 0, Skipped: [12]\b", done.stdout), done.stdout
    assert (tmp_path / "sparkgen-schemas" / "v1.33.0-standalone-strict" / "job-batch-v1.json").is_file()
    job = tmp_path / "sparkgen-rendered" / "pi" / "job.yaml"
    job.write_text(job.read_text().replace("backoffLimit:", "backofLimit:"))
    done = runner.step(KUBECONFORM)
    assert done.returncode == 1
    assert "additional properties 'backofLimit' not allowed" in done.stdout


def test_the_action_skips_what_has_no_schema(repository: Repository, tmp_path: Path) -> None:
    """Volcano's PodGroup, beside the kustomization."""
    repository.change("spec:\n", "spec:\n  batchScheduler: volcano\n")
    _, done = Runner(repository, tmp_path, documents="apps", kubernetes="1.33", base="").run()
    assert (tmp_path / "sparkgen-rendered" / "pi" / "pod-group.yaml").is_file()
    assert re.search(r"Invalid: 0, Errors: 0, Skipped: [12]\b", done.stdout), done.stdout


def test_a_version_without_schemas_is_told(repository: Repository, tmp_path: Path) -> None:
    """1.30 without quotes is 1.3 in a workflow."""
    last = Runner(repository, tmp_path, documents="apps", kubernetes="1.3", base="").run()[-1]
    assert last.returncode == 2
    assert 'In YAML, quote it: "1.30"' in last.stdout


def test_the_action_leaves_kubeconform_out(repository: Repository, tmp_path: Path) -> None:
    """Where nobody asks for it, neither is it installed."""
    runner = Runner(repository, tmp_path, documents="apps", kubernetes="", base="")
    assert [done.returncode for done in runner.run()] == [0]
    steps = [step for step in runner.action["runs"]["steps"] if "kubeconform" in step.get("name", "")]
    assert [step["if"] for step in steps] == ["inputs.kubernetes != ''"] * 2


def test_a_runner_without_go_is_told(repository: Repository, tmp_path: Path) -> None:
    """What to do stands in an annotation."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bash").symlink_to(str(shutil.which("bash")))
    runner = Runner(repository, tmp_path, documents="apps")
    done = runner.step("Install kubeconform", PATH=str(tmp_path / "bin"))
    assert done.returncode == 1
    assert done.stdout.startswith("::error::this runner has no Go")


@pytest.mark.long
def test_the_action_builds_kubeconform(repository: Repository, tmp_path: Path) -> None:
    """With any Go, from what go.sum holds: the pinned version's modules, and no other."""
    module = gotools.read_module(gotools.find_tool("kubeconform"))
    go = golang.choose(module.go, golang.on_path(os.environ))
    root = cache_root(os.environ)
    path = f"{golang.command_of(go, root).parent}{os.pathsep}{os.environ['PATH']}"
    given = {**golang.build_environment(go, root, os.environ), "PATH": path}
    runner = Runner(repository, tmp_path, documents="apps")
    (tmp_path / "kubeconform").unlink()
    done = runner.step("Install kubeconform", **given)
    assert done.returncode == 0, done.stderr
    assert repository.run([str(tmp_path / "kubeconform"), "-v"]).returncode == 0


def test_kubeconform_is_the_tested_one_everywhere() -> None:
    """The examples name the version that tools/go/kubeconform pins, which the action builds."""
    pinned = gotools.read_module(gotools.find_tool("kubeconform"))
    texts = [path.read_text() for path in (*EXAMPLES.iterdir(), *(ROOT / "docs").glob("*.md"))]
    named = {version for text in texts for version in re.findall(r"cmd/kubeconform@(\S+?)[\s\"`]", text)}
    assert named == {pinned.version_of("github.com/yannh/kubeconform")}
    image = read(EXAMPLES / "gitlab-ci.yml")["kubeconform"]["image"]
    assert image.removeprefix("golang:").split(".") >= pinned.go.split(".")[:2]


def test_a_base_that_is_not_there_fails(repository: Repository, tmp_path: Path) -> None:
    """A shallow clone: the message says what to fetch."""
    runner = Runner(repository, tmp_path, documents="apps", base="0" * 40)
    last = runner.run()[-1]
    assert last.returncode == 2
    assert "for older commits of a shallow clone" in last.stdout + last.stderr


def test_no_document_gives_the_runner_an_order(repository: Repository, tmp_path: Path) -> None:
    """Not by a value in a diff, not by a mistake: all that is obeyed are annotations at its lines."""
    forged = json.dumps(f"x\n{FORGED}\x1b[2J")
    repository.change("spec:\n", f"spec:\n  arguments: [{forged}]\n  sparkConf:\n    spark.x: {forged}\n")
    repository.commit()
    for base in (repository.base, "0" * 40):
        runner = Runner(repository, tmp_path, documents="apps", rendered="deploy", base=base)
        assert [obeyed(done) for done in runner.run()] == [[], [], []]
    repository.render()
    runner = Runner(repository, tmp_path, documents="apps", rendered="deploy", base=repository.base)
    assert [obeyed(done) for done in runner.run()] == [[], [], [], []]
    assert runner.outputs()["changed"] == "true"
    assert "\x1b" not in runner.files["GITHUB_STEP_SUMMARY"].read_text()
    repository.change("type: Python", f"type: {forged}")
    last = Runner(repository, tmp_path, documents="apps", rendered="deploy", base=repository.base).run()[-1]
    assert last.returncode == 1
    assert {*obeyed(last)} == {"error"}


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_action_stops_commands_whatever_is_printed(
    repository: Repository, tmp_path: Path, code: int
) -> None:
    """It does not lean on what sparkgen escapes. Here it escapes nothing, on both streams."""
    stub = tmp_path / "stub" / "sparkgen"
    stub.parent.mkdir()
    stub.write_text(
        f"#!/bin/sh\nprintf %s {shlex.quote(FORGED)}\nprintf %s {shlex.quote(FORGED)} >&2\nexit {code}\n"
    )
    stub.chmod(0o755)
    runner = Runner(
        repository, tmp_path, path=str(stub.parent), documents="apps", rendered="deploy", base=repository.base
    )
    for name in ("Check the documents", "Check that the manifests are up to date", "Say what changes"):
        done = runner.step(name)
        assert done.returncode == (0 if name == "Say what changes" and code == 1 else code)
        assert obeyed(done) == []


def test_each_step_that_shows_documents_stops_commands() -> None:
    """A step that comes later must not forget it."""
    for step in read(ROOT / "action.yml")["runs"]["steps"]:
        if re.search(r"^ *sparkgen ", step.get("run", ""), re.MULTILINE):
            assert "::stop-commands::$token" in step["run"], step["name"]


HOSTILE = """\
import pathlib
pathlib.Path(__file__).resolve().with_name("ran").touch()
"""


def test_the_action_runs_no_python_of_the_checkout(repository: Repository, tmp_path: Path) -> None:
    """Modules with the names of those that its steps import: Python's own, sparkgen, and its dependencies."""
    for name in ("secrets", "pip/__main__", "pip/__init__", "sitecustomize", "yaml", "typer", "sparkgen"):
        path = repository.folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(HOSTILE)
    repository.change()
    repository.render()
    repository.commit()
    runner = Runner(repository, tmp_path, documents="apps", rendered="deploy", base=repository.base)
    assert [done.returncode for done in runner.run()] == [0, 0, 0, 0]
    assert not list(repository.folder.rglob("ran"))


def test_the_action_installs_nothing_of_the_checkout(repository: Repository, tmp_path: Path) -> None:
    """Its Python is asked for its version in place of an installation."""
    stub = tmp_path / "stub" / "python"
    stub.parent.mkdir()
    calls = tmp_path / "calls"
    stub.write_text(f'#!/bin/sh\necho "$@" >> {calls}\nexec {sys.executable} "$1" -m pip --version\n')
    stub.chmod(0o755)
    (repository.folder / "pip.py").write_text(HOSTILE)
    runner = Runner(repository, tmp_path, path=str(stub.parent), documents="apps")
    assert runner.step("Install sparkgen").returncode == 0
    lines = calls.read_text().splitlines()
    assert [call.split(" install ")[0] for call in lines] == ["-I -m pip", "-I -m pip"]
    assert "--require-hashes" in lines[0]
    assert not (repository.folder / "ran").exists()


def test_a_directory_s_name_is_no_code(repository: Repository, tmp_path: Path) -> None:
    """Whatever stands in an input, it is a name."""
    runner = Runner(repository, tmp_path, documents='"; touch hacked; "', base=repository.base)
    assert runner.run()[-1].returncode == 2
    assert not (repository.folder / "hacked").exists()


def test_the_workflow_uses_inputs_and_outputs_that_are_there() -> None:
    """The example and the action agree."""
    action = read(ROOT / "action.yml")
    text = (EXAMPLES / "github-workflow.yml").read_text()
    steps = read(EXAMPLES / "github-workflow.yml")["jobs"]["spark"]["steps"]
    used = next(step for step in steps if step.get("id") == "sparkgen")
    assert {*used["with"]} <= {*action["inputs"]}
    assert {*re.findall(r"steps\.sparkgen\.outputs\.(\w+)", text)} <= {*action["outputs"]}
    assert all("${{" not in step["run"] for step in steps if "run" in step)


# --- GitLab -----------------------------------------------------------------------------------------------


def gitlab(repository: Repository) -> Done:
    """Run the job's script as the runner does: one shell, line by line, the first failure ends it."""
    job = read(EXAMPLES / "gitlab-ci.yml")["spark"]
    variables = {**job["variables"], "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base}
    [binary] = [
        Path(path) for path in read(EXAMPLES / "gitlab-ci.yml")[job["needs"][0]]["artifacts"]["paths"]
    ]
    (repository.folder / binary.parent).mkdir(exist_ok=True)
    if not (repository.folder / binary).exists():
        (repository.folder / binary).symlink_to(gotools.ensure("kubeconform"))
    return repository.run(["sh", "-e", "-c", "\n".join(job["script"])], **variables)


def test_the_gitlab_job(repository: Repository) -> None:
    """The changes are printed, and kept where the artifact is taken from."""
    repository.change()
    repository.render()
    repository.commit()
    done = gitlab(repository)
    assert (done.returncode, done.stderr.count("error")) == (0, 0), done.stderr
    [artifact] = read(EXAMPLES / "gitlab-ci.yml")["spark"]["artifacts"]["paths"]
    assert (repository.folder / artifact).read_text() in done.stdout
    assert "**Starts a new run: no**" in done.stdout
    assert "Invalid: 0, Errors: 0" in done.stdout


def test_the_gitlab_job_fails_when_it_should(repository: Repository) -> None:
    """Manifests out of date; a base that is not there."""
    repository.change()
    assert gitlab(repository).returncode == 1
    repository.render()
    repository.base = "0" * 40
    assert gitlab(repository).returncode == 2
