"""`sparkgen render -R`: documents in folders, environments by overlays, a directory per application."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkgen.document import Document
from sparkgen.usecases import parallel
from sparkgen.usecases import repository as usecase
from sparkgen.usecases.render import render
from sparkgen.writers.manifest import Bundle
from tests import reading

from .conftest import DOCUMENT, Cli


def put(path: str, text: str) -> None:
    """Write a file, with its folders."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def document(name: str) -> str:
    """The small document under another name."""
    return DOCUMENT.replace("name: pi", f"name: {name}")


@pytest.fixture
def repository(cli: Cli) -> Cli:
    """A repository of two teams: prod for all, dev for the first team alone."""
    put("apps/environments/prod.yaml", "metadata: {namespace: prod, target: argocd}\n")
    put("apps/one/environments/prod.yaml", "metadata: {namespace: one}\n")
    put("apps/one/environments/dev.yaml", "metadata: {namespace: dev}\nspec: {executor: {instances: 1}}\n")
    put("apps/one/report/app.yaml", document("report"))
    put("apps/two/environments/prod.yaml", "spec: {executor: {instances: 7}}\n")
    put("apps/two/load.yaml", document("load"))
    put("apps/two/README.md", "sparkgen.dev/ is named here, and this is no document\n")
    return cli


def directories(root: str) -> list[str]:
    """The folders below `root` that hold files of a render."""
    return sorted(path.parent.relative_to(root).as_posix() for path in Path(root).rglob("kustomization.yaml"))


def test_one_directory_for_each_application_and_environment(repository: Cli) -> None:
    """ENVIRONMENT/FOLDER/APPLICATION, a folder of the application's name not repeated; a note for each."""
    result = repository("render", "-R", "apps", "-o", "deploy")
    assert (result.code, result.out) == (0, "")
    assert directories("deploy") == ["dev/one/report", "prod/one/report", "prod/two/load"]
    assert result.err.splitlines() == [
        "deploy/dev/one/report: all its 9 files are new",
        "deploy/prod/one/report: all its 13 files are new",
        "deploy/prod/two/load: all its 13 files are new",
        "3 applications: 0 up to date, 3 written",
    ]
    again = repository("render", "-R", "apps", "-o", "deploy")
    assert again.err == "3 applications: 3 up to date, 0 written\n"


@pytest.mark.parametrize("folder", ["deploy", "deploy/prod", "deploy/prod/two"])
@pytest.mark.parametrize(
    ("name", "code"), [("kustomization.yaml", 0), ("kustomization.yml", 1), (".sourceignore", 1)]
)
def test_what_changes_manifests_from_above_is_named(
    repository: Cli, folder: str, name: str, code: int
) -> None:
    """A controller that applies a folder reads its own files, and not only those beside the manifests."""
    repository("render", "-R", "apps", "-o", "deploy")
    put(f"{folder}/{name}", "images: [{name: apache/spark, newName: evil.example/spark}]\n")
    checked = repository("render", "-R", "apps", "-o", "deploy", "--check")
    assert (checked.code, f"{folder}/{name}: " in checked.err) == (code, True)
    documents = ["apps/one/report/app.yaml", "apps/two/load.yaml"]
    assert f"{folder}/{name}: " in repository("diff", "--rendered", "deploy", *documents).err


def test_a_check_names_what_argo_cd_reads_beside_the_manifests(repository: Cli) -> None:
    """Argo CD reads it in the directory of an Application, and may change its images."""
    repository("render", "-R", "apps", "-o", "deploy")
    put("deploy/prod/two/load/.argocd-source-load.yaml", "kustomize: {images: [a=evil.example/a]}\n")
    put("deploy/.argocd-source.yaml", "of an Application for all of them\n")
    result = repository("render", "-R", "apps", "-o", "deploy", "--check")
    assert result.code == 1
    assert [line.partition(": ")[0] for line in result.err.splitlines()] == [
        "deploy/.argocd-source.yaml",
        "deploy/prod/two/load/.argocd-source-load.yaml",
    ]


def test_an_internal_error_at_one_document_hides_nothing_of_the_others(
    repository: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named once with its document; the others' problems are shown; nothing is written."""
    put("apps/two/bad.yaml", document("bad").replace("type: Python", "type: python"))

    def odd(value: Document, namespace: str) -> Bundle:
        if value.value["metadata"]["name"] == "report":
            raise ValueError("odd\nand more")
        return render(value, namespace)

    monkeypatch.setattr(usecase, "render", odd)
    result = repository("render", "-R", "apps", "-o", "deploy")
    assert (result.code, result.out) == (2, "")
    assert "apps/two/bad.yaml:" in result.err
    assert "1 error in 1 file" in result.err
    assert result.err.splitlines()[-2:] == [
        "apps/one/report/app.yaml: internal error (ValueError: odd)",
        "nothing was written; all other documents were checked. Please report it with the output of the same "
        "command under SPARKGEN_DEBUG=1",
    ]
    assert not Path("deploy").exists()
    monkeypatch.setenv("SPARKGEN_DEBUG", "1")
    assert "Traceback" in repository("render", "-R", "apps", "-o", "deploy").err


def test_overlays_from_the_outside_in(repository: Cli) -> None:
    """The overlay of a nearer folder wins, and each has the others' fields."""
    repository("render", "-R", "apps", "-o", "deploy")
    job = reading.load(Path("deploy/prod/one/report/job.yaml").read_text())
    assert job["metadata"]["namespace"] == "one"
    assert "argocd.argoproj.io/sync-options" in job["metadata"]["annotations"]
    tuning = reading.load(Path("deploy/prod/two/load/config-map-tuning.yaml").read_text())
    assert '"instances": 7' in tuning["data"]["tuning.json"]
    assert tuning["metadata"]["namespace"] == "prod"


def test_the_same_as_one_by_one(repository: Cli) -> None:
    """What -R writes is what render writes with the same overlays."""
    repository("render", "-R", "apps", "-o", "deploy")
    overlays = ("-f", "apps/environments/prod.yaml", "-f", "apps/two/environments/prod.yaml")
    check = repository("render", "apps/two/load.yaml", *overlays, "-o", "deploy/prod/two/load", "--check")
    assert check.code == 0, check.out


def test_without_environments(cli: Cli) -> None:
    """A repository without overlays has a directory for each application."""
    put("apps/x/app.yaml", document("a") + "---\n" + document("b"))
    cli("render", "-R", "apps", "-o", "deploy")
    assert directories("deploy") == ["x/a", "x/b"]


def test_check_names_what_is_out_of_date_and_why(repository: Cli) -> None:
    """Exit 1, the diff on standard output, a reason for each directory, and the command that helps."""
    repository("render", "-R", "apps", "-o", "deploy")
    assert repository("render", "-R", "apps", "-o", "deploy", "--check").code == 0
    put("apps/one/report/app.yaml", document("report").replace("3.5.8\n", "3.5.7\n", 1))
    Path("apps/two/load.yaml").unlink()
    put("apps/one/new.yaml", document("new"))
    result = repository("render", "-R", "apps", "-o", "deploy", "--check")
    assert result.code == 1
    assert result.out.startswith("--- /dev/null\n+++ deploy/dev/one/new/config-map-conf.yaml\n")
    assert "+++ deploy/prod/one/report/job.yaml\n" in result.out
    lines = result.err.splitlines()
    assert "deploy/dev/one/new is out of date: all its 9 files are new" in lines
    assert "deploy/prod/two/load is out of date: no document renders to it" in lines
    assert any(line.startswith("deploy/prod/one/report is out of date: ") for line in lines)
    assert lines[-1] == ("5 directories are out of date; next: sparkgen render -R apps -o deploy")
    assert directories("deploy") == ["dev/one/report", "prod/one/report", "prod/two/load"]


def test_what_no_document_gives_goes(repository: Cli) -> None:
    """The files of an application that went are removed; files of others stay."""
    repository("render", "-R", "apps", "-o", "deploy")
    put("deploy/prod/two/load/notes.md", "mine\n")
    put("deploy/other/kustomization.yaml", "resources: [a.yaml]\n")
    put("deploy/other/a.yaml", "kind: List\n")
    Path("apps/two/load.yaml").unlink()
    result = repository("render", "-R", "apps", "-o", "deploy")
    assert "deploy/prod/two/load: removed, as no document renders to it\n" in result.err
    assert [path.name for path in Path("deploy/prod/two/load").iterdir()] == ["notes.md"]
    assert Path("deploy/other/a.yaml").is_file()


def test_an_error_in_one_document_stops_all(repository: Cli, broken: str) -> None:
    """Every problem of the repository, each once for all environments; nothing is written."""
    put("apps/one/bad.yaml", broken.replace("name: pi", "name: bad"))
    result = repository("render", "-R", "apps", "-o", "deploy")
    assert result.code == 1
    assert result.err.count("error[SG013]") == 1
    assert result.err.endswith("nothing was written; fix the errors in all documents first\n")
    assert not Path("deploy").exists()


def test_twins_within_an_environment(repository: Cli) -> None:
    """The same application twice in one namespace is an error; the same in two environments is not."""
    put("apps/two/again.yaml", document("load"))
    result = repository("render", "-R", "apps", "-o", "deploy")
    assert (result.code, result.err.count("SG019")) == (1, 1)


def test_two_applications_for_one_directory(cli: Cli) -> None:
    """A folder of the application's name, and a file beside it: which of them it would be is not guessed."""
    put("apps/x/app.yaml", document("x").replace("  name: x\n", "  name: x\n  namespace: a\n"))
    put("apps/x.yaml", document("x"))
    result = cli("render", "-R", "apps", "-o", "deploy")
    assert result.code == 2
    assert "2 applications render to x; " in result.err


def test_many_in_parallel(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes or one: the same files."""
    for number in range(40):
        put(f"apps/team-{number % 4}/app-{number}.yaml", document(f"app-{number}"))
    monkeypatch.setattr(parallel, "_processors", lambda: 2)
    cli("render", "-R", "apps", "-o", "deploy")
    monkeypatch.setattr(parallel, "_processors", lambda: 1)
    assert cli("render", "-R", "apps", "-o", "deploy", "--check").err == (
        "deploy: 40 applications, all up to date\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("app.yaml", "-o", "out"), "app.yaml is not a directory"),
        (("apps", "more", "-o", "out"), "-R takes one directory"),
        (("apps",), "-R needs a directory to write to or compare with"),
        (("apps", "-o", "."), "choose another --output-dir"),
        (("empty", "-o", "out"), "no sparkgen document in empty or below"),
    ],
)
def test_usage(repository: Cli, arguments: tuple[str, ...], said: str) -> None:
    """What makes no sense is said before anything is read or written."""
    Path("empty").mkdir()
    result = repository("render", "-R", *arguments)
    assert result.code == 2
    assert said in result.err


def test_the_output_is_no_source(repository: Cli) -> None:
    """The output may stand among the documents: it is not searched."""
    assert repository("render", "-R", ".", "-o", "deploy").code == 0
    assert repository("render", "-R", ".", "-o", "deploy", "--check").code == 0


def test_two_overlays_of_one_environment(repository: Cli) -> None:
    """prod.yaml and prod.yml: the order would be a guess."""
    put("apps/environments/prod.yml", "")
    result = repository("render", "-R", "apps", "-o", "deploy")
    assert result.code == 2
    assert "are overlays of the same environment; delete one" in result.err
