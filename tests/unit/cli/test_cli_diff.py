"""`sparkgen diff` between revisions and with a directory: words, exit codes, and nothing touched."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from .conftest import DOCUMENT, Cli

SCHEDULED = """\
apiVersion: sparkgen.dev/v1alpha1
kind: ScheduledSparkApplication
metadata:
  name: nightly
spec:
  schedule: "30 2 * * *"
  template:
    type: Python
    sparkVersion: "3.5.8"
    image: docker.io/apache/spark:3.5.8
    mainApplicationFile: local:///opt/spark/examples/src/main/python/pi.py
"""


def git(*arguments: str) -> str:
    """Run git in the present folder, whatever the machine's own settings are."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(message: str = "change") -> str:
    """Commit all; the new commit's id."""
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "--message", message)
    return git("rev-parse", "HEAD")


@pytest.fixture
def repository(cli: Cli) -> Cli:
    """The command line in a repository whose first commit has app.yaml."""
    git("init", "--quiet")
    commit("start")
    return cli


def rewrite(old: str, new: str, name: str = "app.yaml") -> None:
    """Change a file of the work tree."""
    text = Path(name).read_text()
    assert old in text
    Path(name).write_text(text.replace(old, new))


def test_a_larger_executor_is_said_in_words(repository: Cli) -> None:
    """The field, both values, the run before and after, why, and the objects with their diffs."""
    rewrite("  executor:\n", "  executor:\n    memory: 8g\n")
    result = repository("diff", "--from", "HEAD", "app.yaml")
    assert (result.code, result.err) == (1, "")
    assert (
        "default/pi (app.yaml)\n  starts a new run: yes: a new run beside the earlier one (pi-" in result.out
    )
    assert "executor memory  1g (default) -> 8g  [new run]" in result.out
    assert "changed in the run: Spark's properties, the executor pod\n" in result.out
    assert "caused by: executor memory\n" in result.out
    assert "\n+    spark.executor.memory 8192m\n" in result.out
    assert result.out.endswith("1 application changed, 1 new run; 0 unchanged\n")


def test_tuning_starts_nothing(repository: Cli) -> None:
    """Another number of executors is one changed ConfigMap, and the run stays."""
    rewrite("instances: 2", "instances: 3")
    out = repository("diff", "--from", "HEAD", "--brief", "app.yaml").out
    assert "starts a new run: no: the run is unchanged" in out
    assert "only tuning and settings change" in out
    assert "executor instances  2 -> 3  [same run]" in out
    assert out.split("objects:\n")[1].split("\n\n")[0] == "    ~ ConfigMap pi-tuning"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kind: Spark", "# why\nkind: Spark"),
        ("name: pi\n", 'name: "pi"\n'),
        ("  executor:\n", "  executor:\n    memory: 1024m\n    cores: 1\n"),
        ("  executor:\n", "  suspend: false\n  executor:\n"),
    ],
)
def test_what_has_no_effect_is_no_difference(repository: Cli, old: str, new: str) -> None:
    """Comments, quotes, defaults written out, another spelling of the same size."""
    rewrite(old, new)
    result = repository("diff", "--from", "HEAD", "app.yaml")
    assert (result.code, result.out, result.err) == (0, "", "no changes: 1 up to date\n")


def test_what_has_no_effect_is_left_out_beside_what_has(repository: Cli) -> None:
    """Only the field that matters is named."""
    rewrite("  executor:\n", "  executor:\n    memory: 1024m\n    cores: 2\n")
    out = repository("diff", "--from", "HEAD", "--brief", "app.yaml").out
    assert "executor cores  1 (default) -> 2" in out
    assert "executor memory" not in out


def test_two_revisions_and_their_overlays(repository: Cli) -> None:
    """Both sides have the overlay of their own time; the work tree plays no part."""
    Path("prod.yaml").write_text("spec: {driver: {memory: 2g}}\n")
    first = commit()
    Path("prod.yaml").write_text("spec: {driver: {memory: 4g}}\n")
    second = commit()
    Path("prod.yaml").write_text("not: [yaml")
    result = repository("diff", "--from", first, "--to", second, "-f", "prod.yaml", "--brief", "app.yaml")
    assert "driver memory  2g -> 4g  [new run]" in result.out
    same = repository("diff", "--from", first, "--to", first, "-f", "prod.yaml", "app.yaml")
    assert (same.code, same.out) == (0, "")


def test_the_merge_base_leaves_out_what_others_did(repository: Cli) -> None:
    """A branch is compared with where it began, not with what main has become."""
    git("checkout", "--quiet", "-b", "topic")
    rewrite("instances: 2", "instances: 3")
    commit()
    git("checkout", "--quiet", "main")
    rewrite("docker.io/apache/spark:3.5.8", "docker.io/apache/spark:3.5.9")
    commit()
    git("checkout", "--quiet", "topic")
    assert "image" in repository("diff", "--from", "main", "--brief", "app.yaml").out
    out = repository("diff", "--from", "main", "--merge-base", "--brief", "app.yaml").out
    assert "executor instances" in out
    assert "image" not in out


def test_neither_index_nor_work_tree_nor_references_are_touched(repository: Cli) -> None:
    """What git itself keeps is byte for byte as it was, and so are the files."""
    rewrite("instances: 2", "instances: 3")
    Path("new.yaml").write_text("untracked: true\n")

    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}

    before = everything()
    assert repository("diff", "--from", "HEAD", "app.yaml").code == 1
    assert everything() == before


def test_added_removed_and_renamed_applications(repository: Cli) -> None:
    """An application is its namespace and name, in whichever file it stands."""
    Path("apps").mkdir()
    Path("apps/a.yaml").write_text(DOCUMENT.replace("name: pi", "name: old"))
    Path("apps/moved.yaml").write_text(DOCUMENT.replace("name: pi", "name: same"))
    Path("apps/other.yaml").write_text("kind: ConfigMap\n")
    commit()
    Path("apps/a.yaml").write_text(DOCUMENT.replace("name: pi", "name: new"))
    Path("apps/moved.yaml").rename("apps/there.yaml")
    result = repository("diff", "--from", "HEAD", "-o", "json", "apps")
    found = {
        one["name"]: (one["state"], one["startsNewRun"]) for one in json.loads(result.out)["applications"]
    }
    assert found == {"new": ("added", True), "old": ("removed", False)}
    assert json.loads(result.out)["unchanged"] == 1


SERVER = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkHistoryServer
metadata:
  name: NAME
spec:
  sparkVersion: "4.3.0"
  image: docker.io/apache/spark:4.3.0
  serviceAccount: {create: false, name: NAME}
  eventLog: {dir: "file:///mnt/event-logs", claim: logs}
"""


def _name_of_document() -> str:
    return next(line for line in DOCUMENT.splitlines() if line.startswith("  name: ")).removeprefix(
        "  name: "
    )


def test_no_server_hides_an_application_of_its_name(repository: Cli) -> None:
    """Nor the reverse: both are compared, whichever file comes first."""
    server = SERVER.replace("NAME", "pi")
    for name in ("a-server.yaml", "z-server.yaml"):
        Path(name).write_text(server)
        rewrite("instances: 2", "instances: 3")
        done = repository("diff", "--from", "HEAD", "-R", ".")
        assert done.code == 1
        assert "default/pi (app.yaml)" in done.out
        assert f"default/pi ({name})" in done.out
        assert json.loads(repository("diff", "--from", "HEAD", "-R", ".", "-o", "json").out)["unchanged"] == 0
        Path(name).unlink()
        rewrite("instances: 3", "instances: 2")
    Path("z-server.yaml").write_text(server)
    commit("both")
    rewrite("instances: 2", "instances: 3")
    Path("z-server.yaml").write_text(f"{server}# a comment\n")
    done = repository("diff", "--from", "HEAD", "-R", ".")
    assert done.code == 1
    assert "default/pi (app.yaml)" in done.out


def test_a_rendered_server_is_compared(cli: Cli) -> None:
    """Its objects have a label of their own."""
    Path("server.yaml").write_text(SERVER.replace("NAME", "history"))
    cli("render", "server.yaml", "-o", "out")
    assert cli("diff", "--rendered", "out", "server.yaml").code == 0
    Path("server.yaml").write_text(SERVER.replace("NAME", "history").replace("4.3.0", "4.2.0"))
    done = cli("diff", "--rendered", "out", "server.yaml")
    assert (done.code, done.err) == (1, "")
    assert "4.2.0" in done.out


def test_a_whole_repository_with_its_environments(repository: Cli) -> None:
    """Each document counts once per environment, with the overlays of its own; only what changed is named."""
    for team in ("a", "b"):
        Path("teams", team).mkdir(parents=True)
        Path("teams", team, "app.yaml").write_text(DOCUMENT.replace("name: pi", f"name: {team}"))
    Path("teams/environments").mkdir()
    for name in ("dev", "prod"):
        Path("teams/environments", f"{name}.yaml").write_text(f"metadata: {{namespace: {name}}}\n")
    commit()
    assert repository("diff", "--from", "HEAD", "teams").code == 2
    result = repository("diff", "--from", "HEAD", "-R", "teams")
    assert (result.code, result.err) == (0, "no changes: 4 up to date\n")
    rewrite("instances: 2", "instances: 3", "teams/a/app.yaml")
    Path("teams/environments/prod.yaml").write_text("metadata: {namespace: prod, labels: {tier: gold}}\n")
    out = repository("diff", "--from", "HEAD", "-R", "--brief", "teams").out
    titles = [line for line in out.splitlines() if line.endswith("app.yaml)")]
    assert titles == [
        "dev: dev/a (teams/a/app.yaml)",
        "prod: prod/a (teams/a/app.yaml)",
        "prod: prod/b (teams/b/app.yaml)",
    ]
    assert "label tier  set to gold  [new run]" in out
    assert "1 unchanged" in out


def test_the_target_is_that_of_the_directory(cli: Cli) -> None:
    """As for render: annotations of another controller are a difference that runs nothing."""
    cli("render", "app.yaml", "--target", "argocd", "-o", "out")
    assert cli("diff", "--rendered", "out", "--target", "argocd", "app.yaml").code == 0
    result = cli("diff", "--rendered", "out", "--brief", "app.yaml")
    assert result.code == 1
    assert "starts a new run: no: the run is unchanged" in result.out


def test_a_schedule_starts_nothing_by_itself(repository: Cli) -> None:
    """A new image waits for the next firing."""
    Path("app.yaml").write_text(SCHEDULED)
    commit()
    rewrite("spark:3.5.8", "spark:3.5.9")
    out = repository("diff", "--from", "HEAD", "--brief", "app.yaml").out
    assert 'starts a new run: no: the schedule "30 2 * * *" starts runs; the changes apply' in out
    assert "image  docker.io/apache/spark:3.5.8 -> docker.io/apache/spark:3.5.9  [new run]" in out


def test_a_streaming_driver_is_started_anew(repository: Cli) -> None:
    """One Deployment forever: its driver is replaced; suspended, it stops."""
    rewrite("spec:\n", "spec:\n  restartPolicy: {type: Always}\n")
    commit()
    rewrite("spark:3.5.8", "spark:3.5.9")
    out = repository("diff", "--from", "HEAD", "--brief", "app.yaml").out
    assert "starts a new run: yes: the driver restarts" in out
    rewrite("spec:\n", "spec:\n  suspend: true\n")
    out = repository("diff", "--from", "HEAD", "--brief", "app.yaml").out
    assert "starts a new run: no: suspending it stops its driver" in out


def test_resuming_a_job_starts_its_run(repository: Cli) -> None:
    """The run is the same one, and starts all the same."""
    rewrite("spec:\n", "spec:\n  suspend: true\n")
    commit()
    rewrite("  suspend: true\n", "")
    out = repository("diff", "--from", "HEAD", "--brief", "app.yaml").out
    assert "starts a new run: yes: the run is no longer suspended" in out


def test_a_deliberate_new_run(repository: Cli) -> None:
    """`run.id` is in no object but the names."""
    rewrite("spec:\n", "spec:\n  run: {id: again}\n")
    out = repository("diff", "--from", "HEAD", "--brief", "app.yaml").out
    assert "starts a new run: yes" in out
    assert "changed in the run: run.id\n  caused by: run id\n" in out


def test_a_document_that_becomes_scheduled(repository: Cli) -> None:
    """Its fields stand elsewhere now, and are compared all the same."""
    Path("app.yaml").write_text(SCHEDULED.replace("name: nightly", "name: pi"))
    out = repository("diff", "--from", "HEAD", "--brief", "app.yaml").out
    assert "starts a new run: no: it was a Job before; the schedule" in out
    assert "kind" in out
    assert "main application file" not in out


def test_secrets_are_never_shown(repository: Cli) -> None:
    """Neither in words nor in diffs, as a property, a variable or by their form."""
    key = "spark.hadoop.fs.s3a.secret.key"
    variable = "  driver:\n    env: [{name: DB_PASSWORD, value: pw-old-1}]\n"
    extra = f"  sparkConf:\n    {key}: hunter2-old\n{variable}"
    rewrite("  executor:\n", f"{extra}  executor:\n")
    commit()
    rewrite("hunter2-old", "hunter2-new")
    rewrite("pw-old-1", "pw-new-1")
    for form in ("text", "markdown", "json"):
        out = repository("diff", "--from", "HEAD", "-o", form, "app.yaml").out
        assert "***" in out
        assert key in out
        assert not any(word in out for word in ("hunter2", "pw-old", "pw-new")), form


def test_markdown_is_for_a_pull_request(repository: Cli) -> None:
    """A table of changes, diffs in a fold, and nothing that a document's text could break out of."""
    rewrite("  executor:\n", "  arguments: ['| @team `x` </details>']\n  executor:\n")
    out = repository("diff", "--from", "HEAD", "-o", "markdown", "app.yaml").out
    assert out.startswith("### sparkgen diff: `HEAD` → `the work tree`\n")
    assert "**Starts a new run: yes** — a new run beside the earlier one" in out
    row = next(line for line in out.splitlines() if line.startswith("| arguments"))
    assert row.replace("\\|", "").count("|") == 5
    assert "`` | @team `x` </details> ``".replace("|", "\\|") in row.replace('["', "").replace('"]', "")
    assert repository("diff", "--from", "HEAD", "--to", "HEAD", "-o", "markdown", "app.yaml").out.endswith(
        "No changes.\n"
    )


@pytest.mark.parametrize("name", ["aa.yaml", "zz.yaml"])
@pytest.mark.parametrize("changed", [False, True])
def test_a_second_object_of_one_name_in_a_rendered_directory(cli: Cli, name: str, changed: bool) -> None:
    """Whoever applies the folder may get this one."""
    assert cli("render", "app.yaml", "-o", "out").code == 0
    text = Path("out/service-account.yaml").read_text()
    Path("out", name).write_text(
        text.replace("metadata:", "metadata:\n  annotations: {a: b}") if changed else text
    )
    result = cli("diff", "--rendered", "out", "app.yaml")
    assert result.code == 1
    assert "ServiceAccount" in result.out
    assert ("-    a: b" in result.out) == changed
    assert result.out.count("+kind") == 0
    assert result.out.count("-kind: ServiceAccount") == 1


@pytest.mark.parametrize(
    ("name", "says", "check"),
    [
        ("kustomization.yaml", "kustomize applies what this file says", "out of date"),
        ("kustomization.yml", "kustomize reads this file by itself", "reads this file by itself"),
        ("Kustomization", "kustomize reads this file by itself", "reads this file by itself"),
        (".argocd-source.yaml", "Argo CD reads this file by itself", "reads this file by itself"),
        (".argocd-source-pi.yaml", "Argo CD reads this file by itself", "reads this file by itself"),
        ("Chart.yaml", "Argo CD reads this file by itself", "reads this file by itself"),
    ],
)
def test_what_changes_rendered_objects_as_they_are_applied(
    cli: Cli, name: str, says: str, check: str
) -> None:
    """Objects as they were rendered are not what runs if a file beside them patches them."""
    assert cli("render", "app.yaml", "-o", "out").code == 0
    with Path("out", name).open("a") as file:
        file.write("images: [{name: docker.io/apache/spark, newName: evil.example/spark}]\n")
    result = cli("diff", "--rendered", "out", "app.yaml")
    assert result.code == 1
    assert f"out/{name}: {says}" in result.err
    checked = cli("render", "app.yaml", "-o", "out", "--check")
    assert checked.code == 1
    assert check in checked.err
    assert "up to date" not in checked.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"sparkgen \S+;", "sparkgen +argocd:skip-file-rendering;"),
        (r"render again\.", "render again. +argocd:skip-file-rendering"),
        (r"sparkgen \S+;", f"sparkgen {'1' * 41};"),
        (r"\Z", "# +argocd:skip-file-rendering\n"),
    ],
    ids=["version", "end", "long version", "comment"],
)
def test_no_comment_says_anything_to_a_tool(cli: Cli, old: str, new: str) -> None:
    """Argo CD leaves out a file that contains this text; no comment hides it."""
    cli("render", "app.yaml", "-o", "out")
    path = Path("out/job.yaml")
    path.write_text(re.sub(old, new, path.read_text(), count=1))
    assert cli("diff", "--rendered", "out", "app.yaml").code == 1
    assert cli("render", "app.yaml", "-o", "out", "--check").code > 0


def test_a_kustomization_that_is_missing(cli: Cli) -> None:
    """Without it, a tool applies also what lies beside the manifests."""
    cli("render", "app.yaml", "-o", "out")
    Path("out/kustomization.yaml").unlink()
    result = cli("diff", "--rendered", "out", "app.yaml")
    assert (result.code, "out/kustomization.yaml is missing" in result.err) == (1, True)


def test_a_kustomization_that_leaves_out_a_file_or_is_of_others(cli: Cli) -> None:
    """What a rendered kustomization does not list is not applied, and one of others may do anything."""
    cli("render", "app.yaml", "-o", "out")
    path = Path("out/kustomization.yaml")
    whole = path.read_text()
    path.write_text(whole.replace("  - role.yaml\n", ""))
    assert cli("diff", "--rendered", "out", "app.yaml").code == 1
    path.write_text("kind: Kustomization\nnamePrefix: own-\nresources: [job.yaml]\n")
    result = cli("diff", "--rendered", "out", "app.yaml")
    assert (result.code, "sparkgen has not written this file" in result.err) == (1, True)
    assert (
        "out/kustomization.yaml: sparkgen"
        in cli("diff", "--rendered", "out", "app.yaml", "-o", "markdown").out
    )
    value = json.loads(cli("diff", "--rendered", "out", "app.yaml", "-o", "json").out)
    assert [text.partition(": ")[0] for text in value["overrides"]] == ["out/kustomization.yaml"]
    assert value["notes"] == []


def test_a_kustomization_of_your_own_above_the_manifests_is_named_in_every_form(cli: Cli) -> None:
    """It is no difference by itself, but a reviewer must know of it."""
    cli("render", "app.yaml", "-o", "out/pi")
    Path("out/kustomization.yaml").write_text("kind: Kustomization\nnamePrefix: own-\nresources: [pi]\n")
    result = cli("diff", "--rendered", "out", "app.yaml")
    assert (result.code, "sparkgen has not written this file" in result.err) == (0, True)
    markdown = cli("diff", "--rendered", "out", "app.yaml", "-o", "markdown")
    assert markdown.code == 0
    assert "No changes.\n\n- out/kustomization.yaml: sparkgen has not written this file" in markdown.out
    value = json.loads(cli("diff", "--rendered", "out", "app.yaml", "-o", "json").out)
    assert value["overrides"] == []
    assert [text.partition(": ")[0] for text in value["notes"]] == ["out/kustomization.yaml"]


def test_a_kustomization_that_lists_what_nobody_rendered(cli: Cli) -> None:
    """A file of any name, or a folder with a kustomization of its own: kustomize would apply them."""
    cli("render", "app.yaml", "-o", "out")
    assert cli("diff", "--rendered", "out", "app.yaml").code == 0
    path = Path("out/kustomization.yaml")
    whole = path.read_text()
    Path("out/evil").mkdir()
    for name in ("evil.yaml", "notes.txt", "evil", "job.yml"):
        path.write_text(f"{whole}  - {name}\n")
        result = cli("diff", "--rendered", "out", "app.yaml")
        assert (result.code, "out/kustomization.yaml: kustomize applies" in result.err) == (1, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"- name: spark-kubernetes-driver", "- <<: [{name: spark-kubernetes-driver}, {name: evil}]"),
        (r"restartPolicy: Never", "restartPolicy: &never Never"),
        (r"restartPolicy: Never", "restartPolicy: !!str Never"),
        (r"backoffLimit: 0", "backoffLimit: 00"),
    ],
)
def test_a_manifest_that_programs_read_differently(cli: Cli, old: str, new: str) -> None:
    """For PyYAML it is as rendered; kubectl or kustomize may apply something else."""
    cli("render", "app.yaml", "-o", "out")
    path = Path("out/job.yaml")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    result = cli("diff", "--rendered", "out", "app.yaml")
    assert (result.code, "out/job.yaml has sparkgen's header, but is not a valid" in result.err) == (2, True)


@pytest.mark.parametrize(
    "number", ["1.5e3", "0O17", "-08", ".5e3", "0X1F", "1_000", "190:20:30", "1e3", "+1"]
)
def test_a_number_that_programs_read_differently(cli: Cli, number: str) -> None:
    """In quotes it is a string for all; without them, kustomize passes on another one."""
    Path("b.yaml").write_text(f"{DOCUMENT}  driver: {{env: [{{name: A, value: '{number}'}}]}}\n")
    assert cli("render", "b.yaml", "-o", "out").code == 0
    path = Path("out/job.yaml")
    text = path.read_text()
    assert f'value: "{number}"' in text
    path.write_text(text.replace(f'value: "{number}"', f"value: {number}"))
    assert cli("diff", "--rendered", "out", "b.yaml").code == 2


def test_what_another_tool_changes_is_in_every_form(cli: Cli) -> None:
    """A comment on a pull request, and a program, must not say that nothing changes."""
    cli("render", "app.yaml", "-o", "out")
    path = Path("out/kustomization.yaml")
    path.write_text(f"{path.read_text()}  - ../other\n")
    markdown = cli("diff", "--rendered", "out", "app.yaml", "-o", "markdown")
    assert "1 file by which another tool may change what it applies" in markdown.out
    assert "out/kustomization.yaml: kustomize applies" in markdown.out
    value = json.loads(cli("diff", "--rendered", "out", "app.yaml", "-o", "json").out)
    assert [text.partition(": ")[0] for text in value["overrides"]] == ["out/kustomization.yaml"]
    assert "1 file by which" in cli("diff", "--rendered", "out", "app.yaml").out


def test_a_kustomization_of_several_applications(cli: Cli) -> None:
    """It lists their folders, all of them and no other; one of your own below does no harm."""
    Path("b.yaml").write_text(DOCUMENT.replace("name: pi", "name: b"))
    cli("render", "app.yaml", "b.yaml", "-o", "out")
    assert cli("diff", "--rendered", "out", "app.yaml", "b.yaml").code == 0
    path = Path("out/kustomization.yaml")
    whole = path.read_text()
    for text in (f"{whole}  - evil.yaml\n", whole.replace("  - b\n", "")):
        path.write_text(text)
        assert cli("diff", "--rendered", "out", "app.yaml", "b.yaml").code == 1


@pytest.mark.parametrize("resources", ["[pi]", "\n  - pi"])
def test_a_kustomization_above_the_applications_of_a_repository(cli: Cli, resources: str) -> None:
    """Rendering writes none there, so its header is not sparkgen's."""
    Path("apps").mkdir()
    Path("app.yaml").rename("apps/app.yaml")
    cli("render", "-R", "apps", "-o", "out")
    assert cli("render", "-R", "apps", "-o", "out", "--check").code == 0
    images = "images: [{name: docker.io/apache/spark, newName: evil}]"
    header = "# Generated by sparkgen 0.1.0; do not edit: change the document and render again.\n"
    Path("out/kustomization.yaml").write_text(f"{header}resources: {resources}\n{images}\n")
    assert cli("render", "-R", "apps", "-o", "out", "--check").code == 1


@pytest.mark.parametrize(
    ("method", "name"), [("iterdir", "out"), ("open", "out/kustomization.yaml")], ids=["folder", "file"]
)
@pytest.mark.parametrize(
    "command", [["diff", "--rendered", "out", "app.yaml"], ["render", "app.yaml", "-o", "out", "--check"]]
)
def test_a_rendered_directory_that_cannot_be_read(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, method: str, name: str, command: list[str]
) -> None:
    """As for somebody who may write to it, but not read it."""
    assert cli("render", "app.yaml", "-o", "out").code == 0
    real = getattr(Path, method)

    def refused(path: Path, *arguments: Any) -> Any:
        if path == Path(name):
            raise PermissionError(13, "Permission denied", name)
        return real(path, *arguments)

    monkeypatch.setattr(Path, method, refused)
    result = cli(*command)
    assert result.code == 2
    assert "cannot read out" in result.err
    assert "Permission denied" in result.err
    assert "internal error" not in result.err


def test_a_rendered_directory(cli: Cli) -> None:
    """Up to date, out of date, with a file too many, and whatever way it is laid out."""
    Path("b.yaml").write_text(DOCUMENT.replace("name: pi", "name: b"))
    cli("render", "app.yaml", "b.yaml", "-o", "out")
    assert cli("diff", "--rendered", "out", "app.yaml", "b.yaml").code == 0
    rewrite("  executor:\n", "  executor:\n    memory: 8g\n", "b.yaml")
    out = cli("diff", "--rendered", "out", "--brief", "app.yaml", "b.yaml").out
    assert "default/b (b.yaml)\n  starts a new run: yes" in out
    assert "executor memory" in out
    assert "1024m -> 8192m  [new run]" in out
    assert "caused by: executor memory" in out
    assert "1 unchanged" in out


def test_a_file_too_many_is_a_difference(cli: Cli) -> None:
    """An object that the document has no more is removed, and the rest of its application is unchanged."""
    rewrite("spec:\n", "spec:\n  networkPolicy: {enabled: true}\n")
    cli("render", "app.yaml", "-o", "out")
    rewrite("  networkPolicy: {enabled: true}\n", "")
    result = cli("diff", "--rendered", "out", "--brief", "app.yaml")
    assert result.code == 1
    assert "starts a new run: no: the run is unchanged" in result.out
    assert "objects:\n    - NetworkPolicy pi\n" in result.out


def test_another_version_of_the_tool_is_no_difference(cli: Cli) -> None:
    """Headers count for nothing."""
    cli("render", "app.yaml", "-o", "out")
    for path in Path("out").iterdir():
        path.write_text(path.read_text().replace("sparkgen 0", "sparkgen 9"))
    assert cli("diff", "--rendered", "out", "app.yaml").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "nope", "app.yaml"), "unknown revision nope in"),
        (("--from", "HEAD", "missing.yaml"), "no document in HEAD or in the work tree"),
        (("--from", "HEAD", "../elsewhere"), "is outside the repository"),
        (
            ("--from", "HEAD", "-f", "none.yaml", "app.yaml"),
            "overlay none.yaml does not exist in the work tree",
        ),
        (("--to", "HEAD", "app.yaml"), "need an earlier revision; add --from"),
        (("--from", "HEAD", "--rendered", "out", "app.yaml"), "leave one of them out"),
        (
            ("--from", "HEAD", "--context", "dev", "app.yaml"),
            "--context and --kubeconfig need a cluster",
        ),
        (("--from", "HEAD", "-"), "standard input"),
        (("--from=--help", "app.yaml"), "unknown revision --help in"),
        (("--rendered", "nowhere", "app.yaml"), "nowhere is not a directory"),
    ],
)
def test_what_cannot_be_compared_is_an_error(
    repository: Cli, arguments: tuple[str, ...], message: str
) -> None:
    """Exit code 2, as kubectl diff's above 1, and words that say what to do."""
    rewrite("instances: 2", "instances: 3")
    result = repository("diff", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_outside_of_a_repository(cli: Cli) -> None:
    """Git's own words say why."""
    result = cli("diff", "--from", "HEAD", "app.yaml")
    assert result.code == 2
    assert "is not in a Git repository" in result.err


BURIED = """\
[core]
\trepositoryformatversion = 1
\tbare = false
\tworktree = .
\tsshCommand = touch {mark}; false
\tfsmonitor = touch {mark}; false
\thooksPath = {folder}
[extensions]
\tpartialClone = origin
[remote "origin"]
\turl = ssh://x/y
\tpromisor = true
\tpartialclonefilter = blob:none
"""
"""A configuration that names programs to run when an object is missing, or a work tree is looked at."""


def test_a_buried_repository_is_no_repository(
    repository: Cli, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pull request can add the files of a bare one: its configuration names programs to run."""
    mark = tmp_path_factory.mktemp("mark") / "ran"
    base = git("rev-parse", "HEAD")
    apps = Path("apps")
    for folder in ("objects/info", "refs/heads"):
        (apps / folder).mkdir(parents=True)
        (apps / folder / ".keep").touch()
    (apps / "HEAD").write_text("ref: refs/heads/main\n")
    (apps / "config").write_text(BURIED.format(mark=mark, folder=apps.resolve()))
    Path("app.yaml").rename(apps / "app.yaml")
    commit("evil")
    rewrite("instances: 2", "instances: 3", "apps/app.yaml")
    assert "executor instances  2 -> 3" in repository("diff", "--from", "HEAD", "apps/app.yaml").out
    monkeypatch.chdir(apps)
    assert "executor instances  2 -> 3" in repository("diff", "--from", "HEAD", "app.yaml").out
    repository("diff", "--from", base, "app.yaml")
    assert not mark.exists()


def test_the_repository_s_own_configuration_starts_no_program(
    repository: Cli, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Somebody else may have written it, and Git's hooks: a partial clone is told how to become whole."""
    folder = tmp_path_factory.mktemp("mark")
    mark = folder / "ran"
    blob = git("rev-parse", "HEAD:app.yaml")
    rewrite("instances: 2", "instances: 3")
    Path(".git/config").write_text(BURIED.format(mark=mark, folder=folder).replace("\tworktree = .\n", ""))
    Path(".git/objects", blob[:2], blob[2:]).unlink()
    result = repository("diff", "--from", "HEAD", "app.yaml")
    assert result.code == 2
    assert "git fetch --refetch --no-filter origin" in result.err
    assert not mark.exists()


def raw_tree(entries: Sequence[tuple[str, str, str]]) -> str:
    """A tree with any names, as a client can push it: mode, name and blob or tree of each entry."""
    data = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(id_) for mode, name, id_ in entries)
    done = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        input=data,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


@pytest.mark.parametrize("inside", ["{}/stolen.yaml", "../stolen.yaml", "a/../../stolen.yaml", "a//b.yaml"])
@pytest.mark.parametrize("options", [["-R", "."], ["app.yaml"]])
def test_a_commit_that_was_only_fetched_writes_nothing_outside(
    repository: Cli, tmp_path: Path, inside: str, options: list[str]
) -> None:
    """Git takes such names when it fetches, and refuses them only at a checkout."""
    document = git("hash-object", "-w", "app.yaml").strip()
    names = inside.format(tmp_path)
    tree = raw_tree([("100644", "app.yaml", document), ("100644", names, document)])
    evil = git("commit-tree", tree, "-m", "evil").strip()
    rewrite("instances: 2", "instances: 3")
    for points in (["--from", evil], ["--from", "HEAD", "--to", evil]):
        done = repository("diff", *points, *options)
        if "-R" in options:
            assert done.code == 2
            assert "leads out of the repository" in done.err
    assert not [*tmp_path.parent.rglob("stolen.yaml")]


def test_a_commit_that_no_checkout_can_write_is_an_error_in_words(repository: Cli) -> None:
    """A file and a folder of one name."""
    document = git("hash-object", "-w", "app.yaml").strip()
    inner = raw_tree([("100644", "b.yaml", document)])
    tree = raw_tree([("100644", "a.yaml", document), ("40000", "a.yaml", inner)])
    evil = git("commit-tree", tree, "-m", "evil").strip()
    done = repository("diff", "--from", "HEAD", "--to", evil, "-R", ".")
    assert done.code == 2
    assert "cannot check out a.yaml" in done.err


def test_a_broken_document_ends_it_and_one_that_was_broken_does_not(repository: Cli) -> None:
    """What is to be applied must be right; what was there before counts as not there."""
    good = Path("app.yaml").read_text()
    Path("app.yaml").write_text(good.replace("instances: 2", "instanzes: 2"))
    commit()
    rewrite("type: Python", "type: python")
    result = repository("diff", "--from", "HEAD", "app.yaml")
    assert result.code == 2
    assert "\napp.yaml:11:5: error[SG010]" in result.err
    Path("app.yaml").write_text(good)
    result = repository("diff", "--from", "HEAD", "--brief", "app.yaml")
    assert result.code == 1
    assert "HEAD:app.yaml:11:5: error[SG010]" in result.err
    assert "default/pi (app.yaml): added\n" in result.out


def test_colours_are_the_reader_s_choice(repository: Cli) -> None:
    """As for the other commands."""
    rewrite("instances: 2", "instances: 3")
    assert (
        '\x1b[31m-        "instances": 2\x1b[0m'
        in repository("diff", "--from", "HEAD", "--color", "always", "app.yaml").out
    )
