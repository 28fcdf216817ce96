"""`sparkgen render`: streams, directories, checks, and nothing written when anything is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkgen.usecases import parallel
from tests import reading

from .conftest import DOCUMENT, Cli

WARNED = DOCUMENT + "  timeToLiveSeconds: 600\n"


def kinds(stream: str) -> list[str]:
    """The kinds in a YAML stream."""
    return [item["kind"] for item in reading.load_all(stream)]


def test_a_stream_on_standard_output_and_nothing_else(cli: Cli) -> None:
    """Manifests can be piped: no note is among them, and without warnings none beside them."""
    result = cli("render", "app.yaml")
    assert (result.code, result.err) == (0, "")
    assert kinds(result.out)[0] == "ServiceAccount"
    assert kinds(result.out)[-1] == "Job"


def test_standard_input(cli: Cli) -> None:
    """`-` reads a document from a pipe, and gives the same bytes."""
    assert cli("render", "-", stdin=DOCUMENT).out == cli("render", "app.yaml").out


def test_a_directory_gets_one_file_per_object(cli: Cli) -> None:
    """Standard output stays empty; what was done is a note."""
    result = cli("render", "app.yaml", "-o", "deploy/pi")
    written = {path.name for path in Path("deploy/pi").iterdir()}
    assert {"job.yaml", "config-map-conf.yaml", "kustomization.yaml"} <= written
    assert (result.code, result.out) == (0, "")
    assert result.err == f"deploy/pi: {len(written)} files, {len(written)} written\n"
    assert cli("render", "app.yaml", "-o", "deploy/pi").err.endswith("files, all up to date\n")


def test_the_files_are_the_stream(cli: Cli) -> None:
    """The same objects in the same order, whichever way they go out."""
    cli("render", "app.yaml", "-o", "out")
    listed = reading.load(Path("out/kustomization.yaml").read_text())["resources"]
    assert (
        "".join(f"---\n{Path('out', name).read_text()}" for name in listed) == cli("render", "app.yaml").out
    )


def test_several_applications_have_folders(cli: Cli) -> None:
    """Each application in its folder; a smaller render later removes what is needed no more."""
    Path("b.yaml").write_text(DOCUMENT.replace("name: pi", "name: b"))
    cli("render", "app.yaml", "b.yaml", "-o", "out")
    assert Path("out/pi/job.yaml").is_file()
    assert Path("out/b/job.yaml").is_file()
    cli("render", "b.yaml", "-o", "out")
    assert Path("out/job.yaml").is_file()
    assert not Path("out/pi").exists()


def test_an_error_stops_everything(cli: Cli, broken: str) -> None:
    """One bad document among good ones.

    Exit 1, all problems on standard error, nothing written or printed.
    """
    Path("bad.yaml").write_text(broken.replace("name: pi", "name: bad"))
    result = cli("render", "app.yaml", "bad.yaml", "-o", "out")
    assert (result.code, result.out) == (1, "")
    assert "bad.yaml:6:9: error[SG013] spec.type: " in result.err
    assert "bad.yaml:11:5: error[SG010] spec.executor.instanzes: " in result.err
    assert result.err.endswith("2 errors in 1 file\n")
    assert not Path("out").exists()


def test_warnings_are_shown_and_stop_nothing(cli: Cli) -> None:
    """Manifests on standard output, warnings on standard error; --quiet hides them."""
    Path("app.yaml").write_text(WARNED)
    result = cli("render", "app.yaml")
    assert result.code == 0
    assert ": warning[SG1" in result.err
    assert kinds(result.out)[-1] == "Job"
    assert cli("render", "app.yaml", "-q").err == ""


def test_overlays_and_single_values(cli: Cli) -> None:
    """The document, then overlays from left to right, then --set."""
    Path("one.yaml").write_text("spec: {driver: {memory: 2g}, executor: {memory: 2g}}")
    Path("two.yaml").write_text("spec: {executor: {memory: 3g}}")
    options = ["-f", "one.yaml", "-f", "two.yaml", "--set", "spec.driver.cores=2"]
    result = cli("render", "app.yaml", *options, "--set-string", "metadata.labels.team=7")
    assert result.code == 0
    data = [item.get("data", {}) for item in reading.load_all(result.out)]
    [text] = [files["spark-defaults.conf"] for files in data if "spark-defaults.conf" in files]
    properties = dict(line.split(maxsplit=1) for line in text.splitlines() if line.startswith("spark."))
    assert properties["spark.driver.memory"] == "2048m"
    assert properties["spark.executor.memory"] == "3072m"
    assert properties["spark.driver.cores"] == "2"
    assert 'team: "7"' in result.out


def test_a_namespace_from_the_command(cli: Cli) -> None:
    """It fills in what a document leaves open, and contradicts none."""
    assert "namespace: prod" in cli("render", "app.yaml", "-n", "prod").out
    named = DOCUMENT.replace("  name: pi\n", "  name: pi\n  namespace: test\n")
    Path("named.yaml").write_text(named)
    assert cli("render", "named.yaml", "-n", "test").code == 0
    result = cli("render", "named.yaml", "-n", "prod")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        "sparkgen: named.yaml:5:14: metadata.namespace is test, but --namespace is prod; "
    )


def test_a_name_that_no_namespace_has(cli: Cli) -> None:
    """A wrong option is wrong usage."""
    result = cli("render", "app.yaml", "-n", "Prod_1")
    assert (result.code, result.out) == (2, "")
    assert "use at most 63 lower-case letters" in result.err


def test_check_of_an_up_to_date_directory(cli: Cli) -> None:
    """Exit 0, no diff, and a note unless --quiet."""
    cli("render", "app.yaml", "-o", "out")
    result = cli("render", "app.yaml", "-o", "out", "--check")
    assert (result.code, result.out, result.err) == (0, "", "out: up to date\n")
    assert cli("render", "app.yaml", "-o", "out", "--check", "-q").err == ""


def test_check_of_a_directory_that_is_out_of_date(cli: Cli) -> None:
    """Exit 1, a diff on standard output, the command that fixes it on standard error, and nothing written."""
    cli("render", "app.yaml", "-o", "out")
    before = {path: path.read_bytes() for path in Path("out").iterdir()}
    result = cli("render", "app.yaml", "-o", "out", "--check", "--set", "spec.executor.instances=3")
    assert result.code == 1
    assert '-        "instances": 2' in result.out
    assert '+        "instances": 3' in result.out
    assert {line[4:] for line in result.out.splitlines() if line.startswith("+++")} == {
        "out/config-map-tuning.yaml",
        "out/kustomization.yaml",
    }
    assert result.err == (
        "out is out of date; next: sparkgen render app.yaml --set spec.executor.instances=3 -o out\n"
    )
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == before


@pytest.mark.parametrize("end", ["\r", "\x85", "\u2028", "\u2029"], ids=ascii)
@pytest.mark.parametrize("before", [";", "\n"], ids=["in the version", "at the end of the line"])
def test_nothing_hides_in_the_header_of_a_file(cli: Cli, end: str, before: str) -> None:
    """For YAML, a comment ends at other characters, too: what follows one is applied."""
    cli("render", "app.yaml", "-o", "out")
    file = Path("out/role.yaml")
    first, _, rest = file.read_text().partition(before)
    hidden = f'{end}{{"kind":"Role","rules":[]}}{end}--- # x'
    file.write_bytes(f"{first}{hidden}{before}{rest}".encode())
    assert cli("render", "app.yaml", "-o", "out", "--check").code != 0
    assert cli("diff", "--rendered", "out", "app.yaml").code != 0
    kept = Path("out/kustomization.yaml")
    kept.write_bytes(kept.read_text().replace(";", f"{end}{{}}{end}--- # ;", 1).encode())
    cli("render", "app.yaml", "-o", "elsewhere")
    file.write_bytes(Path("elsewhere/role.yaml").read_bytes())
    assert cli("render", "app.yaml", "-o", "out", "--check").code != 0


def test_check_needs_a_directory(cli: Cli) -> None:
    """--check alone is wrong usage."""
    result = cli("render", "app.yaml", "--check")
    assert result.code == 2
    assert result.err == "sparkgen: --check needs a directory to compare with; add --output-dir DIR\n"


def test_a_target_that_is_a_file(cli: Cli) -> None:
    """The message names it and the way out."""
    result = cli("render", "app.yaml", "-o", "app.yaml")
    assert (result.code, result.err) == (
        2,
        "sparkgen: app.yaml is not a directory; choose another --output-dir\n",
    )
    assert cli("render", "app.yaml", "-o", "app.yaml", "--check").code == 2


def test_the_same_application_as_two_kinds(cli: Cli) -> None:
    """They share objects, so that one render cannot hold both."""
    spec = DOCUMENT.partition("spec:\n")[2].replace("\n", "\n    ").rstrip()
    scheduled = DOCUMENT.partition("spec:\n")[0].replace("SparkApplication", "ScheduledSparkApplication")
    Path("b.yaml").write_text(f'{scheduled}spec:\n  schedule: "0 * * * *"\n  template:\n    {spec}\n')
    result = cli("render", "app.yaml", "b.yaml")
    assert (result.code, result.out) == (1, "")
    assert "b.yaml:4:9: error[SG019] metadata.name: ScheduledSparkApplication pi renders" in result.err


def many(number: int) -> None:
    """Write that many documents, some in one file."""
    Path("many").mkdir()
    for index in range(0, number, 2):
        pair = "---\n".join(DOCUMENT.replace("name: pi", f"name: app-{n}") for n in (index, index + 1))
        Path("many", f"{index:03}.yaml").write_text(pair)


def test_many_documents_give_what_few_give(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes or one: the same bytes in the same order."""
    many(80)
    monkeypatch.setattr(parallel, "_processors", lambda: 2)
    together = cli("render", "many")
    monkeypatch.setattr(parallel, "_processors", lambda: 1)
    alone = cli("render", "many")
    assert together == alone
    names = [
        item["metadata"]["name"] for item in reading.load_all(alone.out) if item["kind"] == "ServiceAccount"
    ]
    assert names == [f"app-{n}" for n in range(80)]


def test_a_worker_that_dies_is_a_message(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed for want of memory ends in a sentence, not in waiting forever."""
    many(80)
    monkeypatch.setattr(parallel, "_processors", lambda: 2)
    monkeypatch.setattr(parallel, "_do_part", _die)
    result = cli("render", "many")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("sparkgen: a worker process was killed, perhaps because memory ran out")


def _die(_start: int) -> None:
    import os  # noqa: PLC0415 - runs in a worker

    os._exit(1)


def test_a_dash_is_no_directory(cli: Cli) -> None:
    """`-o -`, which elsewhere means standard output, makes no directory of this name."""
    result = cli("render", "app.yaml", "-o", "-")
    assert (result.code, result.out) == (2, "")
    assert "leave it out to print to standard output" in result.err
    assert not Path("-").exists()


def test_the_target_overrules_the_document(cli: Cli) -> None:
    """`--target` wins over metadata.target; what brings a directory up to date names it."""
    Path("app.yaml").write_text(DOCUMENT.replace("  name: pi\n", "  name: pi\n  target: flux\n"))
    assert "fluxcd.io/prune: disabled" in cli("render", "app.yaml").out
    argo = cli("render", "app.yaml", "--target", "argocd").out
    assert "fluxcd" not in argo
    assert argo.count("argocd.argoproj.io/sync-options: Prune=false") == 7, "the run's, account and tuning"
    cli("render", "app.yaml", "-o", "out")
    stale = cli("render", "app.yaml", "--target", "kubectl", "-o", "out", "--check")
    assert stale.code == 1
    assert stale.err.endswith("sparkgen render app.yaml --target kubectl -o out\n")


def test_a_time_to_live_under_gitops_is_warned_about(cli: Cli) -> None:
    """It is left out, and the warning says so."""
    Path("app.yaml").write_text(WARNED)
    result = cli("render", "app.yaml", "--target", "argocd")
    assert "ttlSecondsAfterFinished" not in result.out
    assert "SG188" in result.err
    assert "is not rendered for `target: argocd`: " in result.err
