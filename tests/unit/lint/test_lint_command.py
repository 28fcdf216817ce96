"""`sparkgen lint` as a person runs it: findings, severities, configuration, ignores, exit codes."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from sparkgen import contract
from tests.unit.cli.conftest import DOCUMENT, Cli, cli

__all__ = ["cli"]

PRUNED = "metadata.target: syncing the next run prunes this one"
FLUX = "lint: {settings: {controllers: [flux]}}\n"


@pytest.fixture(autouse=True)
def _repository(cli: Cli) -> None:
    """The directory is the root of a repository: no configuration above it is looked for."""
    Path(".git").mkdir()


def config(text: str) -> None:
    """Write the configuration, which names the runtime image as well."""
    Path(".sparkgen.yaml").write_text(f"{text}runtimeImage: {contract.RUNTIME_IMAGE}\n")


def found(cli: Cli, *arguments: str) -> dict[str, str]:
    """Code -> severity of what is found in app.yaml; of several findings of a code the last."""
    listed = json.loads(cli("lint", "app.yaml", "--format", "json", *arguments).out)
    return {problem["code"]: problem["severity"] for problem in listed}


def test_a_finding_has_code_line_reason_and_next_step(cli: Cli) -> None:
    """As validate says it."""
    config(FLUX)
    result = cli("lint", "app.yaml", "--profile", "gitops")
    assert result.code == 1
    assert f"app.yaml:3:1: warning[SG201] {PRUNED}" in result.out
    assert "  next:    set `target: flux` in `metadata`, or render with `--target`" in result.out
    assert "1 fixable; next: sparkgen lint --fix" in result.err


def test_the_exit_code_follows_fail_on(cli: Cli) -> None:
    """A warning counts unless something says else; infos count when asked."""
    assert cli("lint", "app.yaml").code == 1
    assert cli("lint", "app.yaml", "--fail-on", "error").code == 0
    assert cli("lint", "app.yaml", "--fail-on", "never").code == 0
    gitops = ("lint", "app.yaml", "--profile", "gitops", "--rule", "SG201=off", "--rule", "SG204=off")
    assert cli(*gitops).code == 0
    assert cli(*gitops, "--fail-on", "info").code == 1


def test_what_is_not_valid_fails_whatever_the_policy_says(cli: Cli) -> None:
    """Errors of validity are shown, no policy is asked, and the exit code is 1."""
    Path("app.yaml").write_text(DOCUMENT.replace("instances: 2", "instnces: 2"))
    result = cli("lint", "app.yaml", "--fail-on", "never")
    assert result.code == 1
    assert "error[SG010]" in result.out
    assert "SG2" not in result.out


def test_infos_are_shown_when_asked(cli: Cli) -> None:
    """They are counted in a note otherwise."""
    quiet = cli("lint", "app.yaml")
    assert "info[" not in quiet.out
    assert "sparkgen lint --show info" in quiet.err
    loud = cli("lint", "app.yaml", "--show", "info")
    assert ": info[SG232] " in loud.out
    assert "more would be" not in loud.err


def test_quiet_shows_what_fails_alone(cli: Cli) -> None:
    """And no notes."""
    result = cli("lint", "app.yaml", "-q", "--fail-on", "error", "--rule", "SG204=error")
    assert (result.code, result.err) == (1, "")
    assert "SG204" in result.out
    assert "SG201" not in result.out


def test_nothing_found_is_said(cli: Cli) -> None:
    """So that nobody wonders whether it looked."""
    result = cli("lint", "app.yaml", "--profile", "pss-restricted")
    assert (result.code, result.out, result.err) == (0, "1 document checked, no problems found\n", "")


def test_image_volumes_are_restricted(cli: Cli) -> None:
    """As Kubernetes' own admission has it: the kubelet mounts images read-only."""
    Path("app.yaml").write_text(DOCUMENT + "  delivery: {mount: image}\n")
    result = cli("lint", "app.yaml", "--profile", "pss-restricted")
    assert (result.code, result.out) == (0, "1 document checked, no problems found\n")


def test_warnings_of_validity_are_shown_too_and_can_be_raised(cli: Cli) -> None:
    """One command in CI says everything; a profile or a rule may make an error of a warning."""
    Path("app.yaml").write_text(DOCUMENT + "  timeToLiveSeconds: 60\n")
    assert found(cli)["SG188"] == "error"
    assert found(cli, "--profile", "cost")["SG188"] == "warning"
    assert "SG188" not in found(cli, "--rule", "SG188=off")


def test_an_ignore_needs_a_reason_and_holds_for_its_line(cli: Cli) -> None:
    """As for validate, which leaves comments about policy alone."""
    text = DOCUMENT.replace("metadata:", "metadata: # sparkgen: ignore SG201, SG204 -- applied by hand")
    Path("app.yaml").write_text(text)
    assert not {"SG201", "SG204", "SG018"} & set(found(cli))
    assert cli("validate", "app.yaml", "--strict").code == 0


def test_an_ignore_of_another_profile_is_no_finding_and_one_of_nothing_is(cli: Cli) -> None:
    """A document may be reviewed with several profiles."""
    text = DOCUMENT.replace("metadata:", "metadata: # sparkgen: ignore SG201 -- applied by hand")
    Path("app.yaml").write_text(text)
    assert "SG018" not in found(cli, "--profile", "cost")
    Path("app.yaml").write_text(text.replace("SG201", "SG203"))
    assert found(cli)["SG018"] == "warning"


def test_an_error_of_policy_can_be_ignored(cli: Cli) -> None:
    """It is a wish of the repository, and not of Kubernetes."""
    text = DOCUMENT.replace("metadata:", "metadata: # sparkgen: ignore SG204 -- from the command line")
    Path("app.yaml").write_text(text)
    assert "SG204" not in found(cli, "--rule", "SG204=error")


def test_the_configuration_of_the_repository_is_found(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the directory or above it, up to the repository's root; `--isolated` reads none."""
    config("lint:\n  profiles: [gitops]\n  rules: {SG201: off}\n")
    assert set(found(cli)) == {"SG204"}
    assert "SG201" in found(cli, "--isolated")
    assert "SG220" in found(cli, "--profile", "production")
    Path("below").mkdir()
    monkeypatch.chdir("below")
    assert "SG204" in cli("lint", "../app.yaml").out
    assert "SG201" not in cli("lint", "../app.yaml").out
    Path(".git").mkdir()
    assert "SG201" in cli("lint", "../app.yaml").out


def test_an_override_is_relative_to_the_configuration(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """From whatever directory the command is called."""
    config("lint:\n  profiles: [gitops]\n  overrides: [{files: ['dev/*'], profiles: []}]\n")
    Path("dev").mkdir()
    Path("dev/app.yaml").write_text(DOCUMENT)
    assert cli("lint", "dev/app.yaml").code == 0
    monkeypatch.chdir("dev")
    assert cli("lint", "app.yaml").code == 0
    assert cli("lint", "../app.yaml").code == 1


def test_a_wrong_configuration_is_exit_code_2(cli: Cli) -> None:
    """With its place, on standard error."""
    config("lint:\n  rules: {SG201: loud}\n")
    result = cli("lint", "app.yaml")
    assert (result.code, result.out) == (2, "")
    assert ".sparkgen.yaml:2:18: error[SG200] lint.rules.SG201: is not a severity" in result.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--profile", "prod"], "unknown profile prod; use gitops,"),
        (["--fail-on", "bad"], "--fail-on: unknown severity 'bad'"),
        (["--show", "never"], "--show: unknown severity 'never'"),
        (["--rule", "SG201"], "has no severity; write --rule SG201=off"),
        (["--rule", "SG104=off"], "SG104 is not a warning"),
        (["--rule", "SG201=loud"], "unknown severity 'loud'"),
        (["--config", "a.yaml", "--isolated"], "cannot be combined"),
        (["--config", "none.yaml"], "there is no such file"),
        (["--fix", "--set", "spec.executor.instances=3"], "leave out -f, --set, --set-string and --target"),
    ],
)
def test_wrong_usage_is_exit_code_2(cli: Cli, arguments: list[str], says: str) -> None:
    """It names what was written and what may be."""
    result = cli("lint", "app.yaml", *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


def test_standard_input_is_reviewed_and_not_fixed(cli: Cli) -> None:
    """There is no file to change."""
    assert "SG201" in cli("lint", "-", stdin=DOCUMENT).out
    assert cli("lint", "-", "--fix", stdin=DOCUMENT).code == 2


def test_an_overlay_counts(cli: Cli) -> None:
    """What is reviewed is what is rendered."""
    Path("prod.yaml").write_text("metadata:\n  namespace: reports\n")
    assert "SG204" not in found(cli, "-f", "prod.yaml")
    assert "SG204" not in found(cli, "--set", "metadata.namespace=reports")


def test_the_target_counts(cli: Cli) -> None:
    """What a controller is told with it guards the run; `kubectl` says that there is no controller."""
    assert "SG201" not in found(cli, "--target", "argocd")
    assert "SG201" not in found(cli, "--set", "metadata.target=kubectl")
    config(FLUX)
    assert "SG201" in found(cli, "--target", "argocd")
    assert "SG201" in found(cli, "--set", "metadata.target=kubectl")


def test_sarif_and_github_carry_severities(cli: Cli) -> None:
    """An info is a note there, and a notice; a rule's page is its help."""
    log = json.loads(cli("lint", "app.yaml", "--format", "sarif", "--show", "info").out)
    (run,) = log["runs"]
    levels = {result["ruleId"]: result["level"] for result in run["results"]}
    assert (levels["SG201"], levels["SG232"]) == ("warning", "note")
    assert run["tool"]["driver"]["rules"][0]["help"]["markdown"].startswith("# SG2")
    notes = cli("lint", "app.yaml", "--format", "github", "--show", "info").out
    assert "::notice file=app.yaml,line=5,col=1,title=SG232" in notes


def test_many_documents_say_the_same_in_parallel(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of processors is."""
    from sparkgen.usecases import parallel  # noqa: PLC0415

    texts = [DOCUMENT.replace("name: pi", f"name: pi-{number}") for number in range(40)]
    Path("app.yaml").write_text("---\n".join(texts))
    monkeypatch.setattr(parallel, "_processors", lambda: 2)
    several = cli("lint", "app.yaml", "--format", "json").out
    monkeypatch.setattr(parallel, "_processors", lambda: 1)
    assert several == cli("lint", "app.yaml", "--format", "json").out
    assert len(json.loads(several)) > 40 * 5


def test_the_rule_command_knows_them(cli: Cli) -> None:
    """A code that a finding carries can be looked up."""
    assert cli("rule", "SG201").out.startswith("# SG201: ")
    assert "SG269  a very large driver" in cli("rule").out


def test_fix_changes_the_file_and_says_so(cli: Cli) -> None:
    """In place, with its mode; what is left is reported."""
    config(FLUX)
    path = Path("app.yaml")
    path.chmod(0o640)
    result = cli("lint", "app.yaml", "--fix", "--profile", "gitops")
    assert "app.yaml: fixed 1 finding" in result.err
    assert "new run" not in result.err
    assert "SG201" not in result.out
    assert "SG204" in result.out
    assert path.read_text() == DOCUMENT.replace("  name: pi\n", "  name: pi\n  target: flux\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert {entry.name for entry in Path().iterdir()} == {".git", ".sparkgen.yaml", "app.yaml"}


def test_fix_says_which_run_it_starts(cli: Cli) -> None:
    """A change of the pod runs the job again, which nobody may learn from the cluster."""
    Path("app.yaml").write_text(
        DOCUMENT + "  driver:\n    sidecars:\n      - name: logs\n        image: docker.io/a/logs:1\n"
        "        securityContext: {readOnlyRootFilesystem: true} # wanted\n"
    )
    result = cli("lint", "app.yaml", "--fix", "--profile", "pss-restricted")
    assert (result.code, result.out) == (0, "1 document checked, no problems found\n")
    assert "the next apply starts a new run: pi-" in result.err
    assert (
        Path("app.yaml")
        .read_text()
        .endswith(
            "securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, "
            'capabilities: {drop: ["ALL"]}} # wanted\n'
        )
    )


def test_diff_shows_and_changes_nothing(cli: Cli) -> None:
    """Exit 1 where there is something to fix."""
    config(FLUX)
    before = Path("app.yaml").read_text()
    result = cli("lint", "app.yaml", "--diff")
    assert result.code == 1
    assert "+  target: flux\n" in result.out
    assert Path("app.yaml").read_text() == before
    cli("lint", "app.yaml", "--fix")
    assert (cli("lint", "app.yaml", "--diff").out, cli("lint", "app.yaml", "--diff").code) == ("", 0)


def test_fix_goes_through_a_link(cli: Cli) -> None:
    """The link stays, its file changes."""
    config(FLUX)
    Path("app.yaml").rename("real.yaml")
    Path("app.yaml").symlink_to("real.yaml")
    cli("lint", "app.yaml", "--fix")
    assert Path("app.yaml").is_symlink()
    assert "target: flux" in Path("real.yaml").read_text()


def test_a_folder_without_rights_is_a_message(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the file is as it was, without another beside it."""
    from sparkgen.writers import atomic  # noqa: PLC0415

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    config(FLUX)
    monkeypatch.setattr(atomic, "settle", refuse)
    before = sorted(Path().iterdir())
    result = cli("lint", "app.yaml", "--fix")
    assert result.code == 2
    assert "cannot change app.yaml: Permission denied; the file is unchanged" in result.err
    assert Path("app.yaml").read_text() == DOCUMENT
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--type", "java"),
        ("--type", "scala"),
        ("--type", "r"),
        ("--scheduled",),
        ("--shuffle-service",),
        ("--history-server",),
        ("--connect",),
        ("--notebook",),
    ],
    ids=" ".join,
)
def test_what_init_writes_passes(cli: Cli, options: tuple[str, ...]) -> None:
    """With and without a runtime image for the repository."""
    assert cli("init", *options, "new.yaml").code == 0
    config("")
    done = cli("lint", "new.yaml")
    assert (done.code, done.out) == (0, "1 document checked, no problems found\n")
    Path(".sparkgen.yaml").unlink()
    done = cli("lint", "new.yaml")
    assert (done.code, done.out) == (0, "1 document checked, no problems found\n")
    assert cli("validate", "new.yaml").out == "1 document valid\n"
