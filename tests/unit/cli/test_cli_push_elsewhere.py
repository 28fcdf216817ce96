"""Local files in other commands than push: apply, diff between revisions, render -R, shell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import DOCUMENT, Cli
from .fake_registry import Registry
from .kube import Kube
from .test_cli_diff import commit, git
from .test_cli_push import CODE, artifacts, project, registry, write

__all__ = ["project", "registry"]  # fixtures


@pytest.fixture
def act(project: Cli, kube: Kube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line with local files, a registry and a cluster."""
    monkeypatch.setenv("KUBECONFIG", kube.kubeconfig(tmp_path))
    return project


def test_apply_pushes_what_has_changed_and_only_that(act: Cli, kube: Kube, registry: Registry) -> None:
    """It says so on standard error; without a change no registry is asked."""
    done = act("apply", "app.yaml", "--skip-preflight")
    assert done.code == 0, done.err
    assert "pushing app.yaml: code was not pushed" in done.err
    assert "app.lock.yaml: written" in done.err
    reference = artifacts()[0]["reference"]
    assert any(reference in str(job) for job in [kube.one("Job", name) for name in kube.named("Job")])
    registry.calls.clear()
    assert act("apply", "app.yaml", "--skip-preflight").code == 0
    assert not registry.calls


def test_apply_leaves_out_what_the_document_no_longer_names(act: Cli, kube: Kube, registry: Registry) -> None:
    """A lock that is left of local files goes: pods would wait for artifacts that nobody asked for."""
    assert act("apply", "app.yaml", "--skip-preflight").code == 0
    reference = artifacts()[0]["reference"]
    before = set(kube.named("Job"))
    Path("app.yaml").write_text(DOCUMENT)
    done = act("apply", "app.yaml", "--skip-preflight")
    assert done.code == 0, done.err
    assert "app.lock.yaml: removed" in done.err
    (run,) = (name for name in set(kube.named("Job")) - before if "history" not in name)
    assert reference not in str(kube.one("Job", run))
    Path("app.lock.yaml").unlink(missing_ok=True)
    assert act("render", "app.yaml").out.count(run)


def test_apply_without_push_refuses(act: Cli, kube: Kube, registry: Registry) -> None:
    """And nothing is applied."""
    done = act("apply", "app.yaml", "--skip-preflight", "--no-push")
    assert done.code == 1
    assert "error[SG306]" in done.err
    assert not kube.named("Job")
    assert not registry.calls


def test_a_dry_run_of_apply_pushes_nothing(act: Cli, registry: Registry) -> None:
    """It shows what would be pushed, and applies it in dry runs."""
    done = act("apply", "app.yaml", "--skip-preflight", "--dry-run")
    assert done.code == 0, done.err
    assert "would be pushed" in done.out
    assert not Path("app.lock.yaml").exists()
    assert not registry.calls


def test_a_document_of_standard_input_is_pushed_by_apply(act: Cli, registry: Registry) -> None:
    """There is no file beside which a lock could stand; the run has the digest all the same."""
    done = act("apply", "-", "--skip-preflight", stdin=Path("app.yaml").read_text())
    assert done.code == 0, done.err
    assert len(registry.manifests) == 1
    assert not list(Path().glob("*.lock.yaml"))


def test_a_session_refuses_files_that_were_not_pushed(act: Cli) -> None:
    """Its executors would have none, or old ones."""
    done = act("shell", "app.yaml", "--", "true")
    assert done.code == 1
    assert "error[SG306]" in done.err


def test_files_that_are_not_in_git_are_named(act: Cli, kube: Kube) -> None:
    """Others lack them. What Git ignores may be built; without a repository, nobody knows."""
    warning, ignored = "warning: not in Git: ", "in artifacts, although Git ignores it: lib/built.py\n"
    assert warning not in act("push", "app.yaml", "--dry-run").err
    git("init", "--quiet")
    Path(".gitignore").write_text("lib/built.py\n")
    Path("lib/built.py").write_text("x = 2\n")
    commit("one")
    done = act("push", "app.yaml", "--dry-run")
    assert (warning in done.err, ignored in done.err) == (False, True)
    Path("lib/sub").mkdir()
    Path("lib/sub/new [1].py").write_text("x = 3\n")
    Path("unused.py").touch()
    said = f"{warning}lib/sub/new [1].py; add them to Git, or to .sparkgenignore\n"
    assert said in act("push", "app.yaml", "--dry-run").err
    assert said in act("apply", "app.yaml", "--skip-preflight").err
    done = act("push", "app.yaml", "-q")
    assert (warning in done.err, ignored in done.err) == (False, False)


@pytest.mark.parametrize("flag", ["skip-worktree", "assume-unchanged"])
def test_changes_that_git_hides_are_named(act: Cli, kube: Kube, flag: str) -> None:
    """Git shows no change of such a file, so nobody would expect one in what pods get."""
    git("init", "--quiet")
    commit("one")
    git("update-index", f"--{flag}", "lib/a.py")
    warning = f"lib/a.py has changes that git status hides; run: git update-index --no-{flag} "
    assert "git update-index" not in act("push", "app.yaml", "--dry-run").err
    Path("lib/a.py").write_text("x = 'changed'\n")
    assert warning in act("push", "app.yaml", "--dry-run").err
    document = Path("app.yaml").read_text()
    assert "  delivery:\n" in document
    Path("app.yaml").write_text(re.sub(r"(?m)^  delivery:\n(    .*\n)+", "", document))
    done = act("render", "app.yaml")
    assert done.code == 1
    assert "lib/a.py has changes that git status hides, and manifests would show them" in done.err
    assert f"next:    run: git update-index --no-{flag} " in done.err
    git("update-index", f"--no-{flag}", "lib/a.py")
    assert act("render", "app.yaml").code == 0


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
@pytest.mark.parametrize("ignored", [".env\n", ""])
def test_no_ignore_file_allows_a_private_secret(
    act: Cli, kube: Kube, registry: Registry, quiet: list[str], ignored: str
) -> None:
    """A stranger's branch may name the file and allow it; the person who pushes has it, and not Git."""
    document = Path("app.yaml").read_text()
    assert "  deps:\n" in document
    Path("app.yaml").write_text(document.replace("  deps:\n", "  deps:\n    archives: [./.env]\n"))
    Path(".sparkgenignore").write_text("!.env\n")
    Path(".gitignore").write_text(ignored)
    git("init", "--quiet")
    commit("one")
    Path(".env").write_text("PASSWORD=s3cret\n")
    for command in (["push", "app.yaml"], ["apply", "app.yaml", "--skip-preflight"]):
        done = act(*command, *quiet)
        assert done.code == 2
        assert (
            ".env seems to contain a secret (environment variables with secrets) and is not in Git"
            in done.err
        )
        assert not registry.blobs
    git("add", "--force", ".env")
    commit("reviewed")
    assert act("push", "app.yaml").code == 0


def _names_a_secret(path: str) -> None:
    document = Path("app.yaml").read_text()
    Path("app.yaml").write_text(document.replace("  deps:\n", f"  deps:\n    archives: [./{path}]\n"))
    Path(".sparkgenignore").write_text(f"!{path}\n")
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text("PASSWORD=s3cret\n")
    Path(".gitignore").write_text(f"{path}\n")


@pytest.mark.parametrize("link", ["settings", "settings/.env"])
def test_a_secret_below_a_submodule_is_not_in_git(act: Cli, registry: Registry, link: str) -> None:
    """Git lists nothing of a submodule, whether it is one or only said to be one by a commit."""
    git("init", "--quiet")
    first = commit("one")
    git("update-index", "--add", "--cacheinfo", f"160000,{first},{link}")
    git("commit", "--quiet", "--message", "link")
    _names_a_secret("settings/.env")
    done = act("push", "app.yaml")
    assert done.code == 2
    assert "is not in Git, so .sparkgenignore cannot allow it" in done.err
    assert not registry.blobs


def test_a_changed_sample_is_no_file_of_git(act: Cli, registry: Registry) -> None:
    """A repository may have a sample into which everybody writes their own passwords."""
    _names_a_secret("settings/.env")
    Path(".gitignore").unlink()
    git("init", "--quiet")
    commit("sample")
    Path("settings/.env").write_text("PASSWORD=mine\n")
    done = act("push", "app.yaml")
    assert done.code == 2
    assert "is not in Git, so .sparkgenignore cannot allow it" in done.err
    assert not registry.blobs


def test_a_secret_is_refused_where_git_cannot_tell(act: Cli, registry: Registry) -> None:
    """As in a work tree of another user; without any repository, nobody else wrote the ignore file."""
    _names_a_secret("settings/.env")
    Path(".git").write_text("gitdir: nowhere\n")
    done = act("push", "app.yaml")
    assert done.code == 2
    assert (
        "seems to contain a secret (environment variables with secrets) and may not be in Git (" in done.err
    )
    assert not registry.blobs
    Path(".git").unlink()
    assert act("push", "app.yaml").code == 0


def test_a_difference_between_revisions_goes_by_their_locks(project: Cli) -> None:
    """Each revision has its own; files of the work tree have to be pushed."""
    git("init", "--quiet")
    project("push", "app.yaml")
    first = commit("one")
    assert project("diff", "--from", first, "app.yaml").code == 0
    Path(CODE).write_text("print(2)\n")
    done = project("diff", "--from", first, "app.yaml")
    assert done.code == 2
    assert "SG307" in done.err
    project("push", "app.yaml")
    second = commit("two")
    for sides in ((first,), (first, "--to", second)):
        done = project("diff", "--from", *sides, "app.yaml")
        assert done.code == 1, done.err
        assert artifacts()[0]["reference"] in done.out
    assert project("diff", "--from", first, "-R", ".").code == 1


def test_a_revision_without_a_lock_has_no_application_yet(project: Cli) -> None:
    """The document was committed before its first push."""
    git("init", "--quiet")
    first = commit("one")
    project("push", "app.yaml")
    done = project("diff", "--from", first, "app.yaml")
    assert done.code == 1
    assert "error[SG306]" in done.err
    assert "the document is ignored in this revision" in done.err


def test_each_environment_may_have_its_lock(project: Cli, registry: Registry) -> None:
    """`app.prod.lock.yaml` is for `prod`; the others take the one beside the document."""
    folder = Path("apps/environments")
    folder.mkdir(parents=True)
    for name in ("app.yaml", "jobs", "lib"):
        Path(name).rename(f"apps/{name}")
    (folder / "dev.yaml").write_text("metadata: {namespace: dev}\n")
    (folder / "prod.yaml").write_text("spec: {deps: {pyFiles: [./lib/a.py]}}\n")
    assert project("push", "apps/app.yaml").code == 0
    done = project("render", "-R", "apps", "-o", "deploy")
    assert done.code == 1
    assert "error[SG307]" in done.err
    lock = "apps/app.prod.lock.yaml"
    assert project("push", "apps/app.yaml", "-f", "apps/environments/prod.yaml", "--lock", lock).code == 0
    done = project("render", "-R", "apps", "-o", "deploy")
    assert done.code == 0, done.err
    assert project("render", "-R", "apps", "-o", "deploy", "--check").code == 0
    assert "2 applications" in done.out + done.err
    write(registry.address)
