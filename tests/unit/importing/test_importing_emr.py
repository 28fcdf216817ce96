"""Jobs of Amazon EMR on EKS: in a script, in a file that it names, and alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.importing import Choices, Imported, LeftAlone, Outcome, Result, import_all
from sparkgen.usecases.validate import examine

SUBMIT = {
    "entryPoint": "s3a://bucket/app.py",
    "entryPointArguments": ["2024", "two words"],
    "sparkSubmitParameters": "--conf spark.executor.instances=3 --conf spark.mine='a b' --executor-memory 8g",
}
DEFAULTS = {"spark.executor.memory": "2g", "spark.more": "x"}
CONFIGURATION = [{"classification": "spark-defaults", "properties": DEFAULTS}]
REQUEST: dict[str, Any] = {
    "name": "Nightly Job",
    "jobDriver": {"sparkSubmitJobDriver": SUBMIT},
    "configurationOverrides": {"applicationConfiguration": CONFIGURATION},
}
CALL = "aws emr-containers start-job-run --region us-east-1"


def result_of(*names: str) -> Result:
    """What becomes of files."""
    return import_all(names, Choices(image="r/x:1", spark_version="3.5.8"), examine, lambda: b"")


def only(*names: str) -> Imported:
    """The one application in files, of which nothing else is said."""
    result = result_of(*names)
    assert result.problems == ()
    (item,) = result.imported
    assert item.problems == ()
    return item


def left(*names: str) -> LeftAlone:
    """What is said of files without an application."""
    result = result_of(*names)
    assert result.imported == ()
    return result.left_alone[0]


def has_the_job(item: Imported) -> None:
    """The document says what the request does; options count more than properties of a classification."""
    document = yaml.safe_load(item.text)
    assert document["metadata"] == {"name": "nightly-job"}
    assert document["spec"] == {
        "type": "Python",
        "sparkVersion": "3.5.8",
        "image": "r/x:1",
        "mainApplicationFile": "s3a://bucket/app.py",
        "arguments": ["2024", "two words"],
        "sparkConf": {"spark.more": "x", "spark.mine": "a b"},
        "executor": {"instances": 3, "memory": "8g"},
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_options_with_json(folder: Path) -> None:
    """Also where a variable of the script holds it, and the options stand in variables."""
    driver, overrides = (json.dumps(REQUEST[key]) for key in ("jobDriver", "configurationOverrides"))
    driver = driver.replace("'", "'\\''")
    text = (
        f"DRIVER='{driver}'\n"
        f"{CALL} --name 'Nightly Job' --job-driver \"$DRIVER\" --configuration-overrides='{overrides}'\n"
    )
    (folder / "job.sh").write_text(text)
    item = only("job.sh")
    has_the_job(item)
    assert item.findings == ()
    assert (item.kind, item.origin.line) == ("job driver", 2)


def test_files_that_a_script_names(folder: Path) -> None:
    """Read with the script, and not once more among the other inputs."""
    (folder / "jobs").mkdir()
    (folder / "jobs/job.json").write_text(json.dumps(REQUEST, indent=2))
    (folder / "jobs/run.sh").write_text(f"{CALL} --cli-input-json file://job.json\n")
    has_the_job(only("jobs"))
    (folder / "jobs/driver.json").write_text(json.dumps(REQUEST["jobDriver"]))
    (folder / "jobs/run.sh").write_text(f"{CALL} --job-driver file://driver.json\n")
    assert yaml.safe_load(only("jobs/run.sh").text)["spec"]["arguments"] == ["2024", "two words"]


def test_a_request_alone(folder: Path) -> None:
    """As `--generate-cli-skeleton` makes it. Fields of EMR have a place and a next step."""
    request = {
        **REQUEST,
        "virtualClusterId": "v",
        "executionRoleArn": "r",
        "releaseLabel": "emr-7.1.0-latest",
        "clientToken": "c",
        "configurationOverrides": {
            "applicationConfiguration": [*CONFIGURATION, {"classification": "spark-hive-site"}],
            "monitoringConfiguration": {"persistentAppUI": "ENABLED"},
        },
        "jobDriver": {"sparkSubmitJobDriver": {**SUBMIT, "more": 1}},
        "other": 1,
    }
    (folder / "job.json").write_text(json.dumps(request, indent=1))
    item = only("job.json")
    has_the_job(item)
    assert {(entry.outcome, entry.source) for entry in item.findings} == {
        (Outcome.LOST, path)
        for path in (
            ("virtualClusterId",),
            ("executionRoleArn",),
            ("releaseLabel",),
            ("configurationOverrides", "applicationConfiguration", 1),
            ("configurationOverrides", "monitoringConfiguration"),
            ("jobDriver", "sparkSubmitJobDriver", "more"),
            ("other",),
        )
    }
    assert all(entry.position.line > 1 and entry.step for entry in item.findings)


def test_a_variable_in_the_json_is_a_finding(folder: Path) -> None:
    """It is copied, as by spark-submit."""
    submit = {**SUBMIT, "entryPointArguments": ["$DAY"]}
    driver = json.dumps({"sparkSubmitJobDriver": submit}).replace('"', '\\"')
    (folder / "job.sh").write_text(f'{CALL} --name x --job-driver "{driver}"\n')
    (found,) = only("job.sh").findings
    assert (found.outcome, found.source) == (Outcome.CHANGED, ("argument 1",))
    assert "$DAY" in found.reason


def test_a_job_whose_id_a_script_keeps_is_read(folder: Path) -> None:
    """The call stands in `$(...)` or in backticks, and a variable in the JSON has quotes."""
    driver = json.dumps({"sparkSubmitJobDriver": {**SUBMIT, "entryPoint": "s3a://@/app.py"}})
    driver = driver.replace("@", "'$BUCKET'").replace(" --conf spark.mine='a b'", "")
    for opening, closing in (("$(", ")"), ("`", "`")):
        call = f"{CALL} --name x --job-driver '{driver}'"
        text = f'BUCKET=$(terraform output -raw "b")\nID={opening}{call}{closing}\n'
        (folder / "job.sh").write_text(text)
        item = only("job.sh")
        assert item.origin.line == 2
        assert (
            yaml.safe_load(item.text)["spec"]["mainApplicationFile"]
            == 's3a://$(terraform output -raw "b")/app.py'
        )
        (found,) = item.findings
        assert (found.outcome, found.source) == (Outcome.CHANGED, ("main file",))


def test_emr_s_own_file_system_and_variables_in_properties_are_findings(folder: Path) -> None:
    """`s3://` is for EMR's images; a property keeps what only the shell knows."""
    configuration = [{"classification": "spark-defaults", "properties": {"spark.a": "$X", "spark.b": "b"}}]
    overrides = json.dumps({"applicationConfiguration": configuration}).replace('"', '\\"')
    submit = {"entryPoint": "s3://b/app.py", "entryPointArguments": ["1", "s3://b/out"]}
    driver = json.dumps({"sparkSubmitJobDriver": submit})
    text = f"{CALL} --name x --job-driver '{driver}' --configuration-overrides \"{overrides}\"\n"
    (folder / "job.sh").write_text(text)
    item = only("job.sh")
    job = ("jobDriver", "sparkSubmitJobDriver")
    assert {entry.source for entry in item.findings} == {
        (*job, "entryPoint"),
        (*job, "entryPointArguments", 1),
        ("configurationOverrides", "applicationConfiguration", 0, "properties", "spark.a"),
    }


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--job-driver sparkSubmitJobDriver={entryPoint=a.py}", "has no sparkSubmitJobDriver"),
        ("--name x", "has no sparkSubmitJobDriver"),
        ("--job-driver '{\"sparkSqlJobDriver\": {}}'", "has no sparkSubmitJobDriver"),
        ("--job-driver '{\"sparkSubmitJobDriver\": {}}'", "has no entryPoint"),
        ("--cli-input-json file://missing.json", "did not find the file file://missing.json"),
        ("--cli-input-json file://../job.json", "did not find the file file://../job.json"),
        ("--job-driver '{x'", "starts like JSON, but is not valid"),
        (f'--name "{"".join(f"$V{number}" for number in range(201))}"', "more than 200 variables"),
        (
            '--job-driver \'{"sparkSubmitJobDriver": {"entryPoint": "a", "sparkSubmitParameters": "\\""}}\'',
            "a quote that is not closed",
        ),
    ],
)
def test_what_cannot_be_read_has_a_reason(folder: Path, options: str, reason: str) -> None:
    """And a next step."""
    (folder / "job.json").write_text(json.dumps(REQUEST))
    (folder / "jobs").mkdir()
    (folder / "jobs/.git").mkdir()
    (folder / "jobs/job.sh").write_text(f"{CALL} {options}\n")
    found = left("jobs/job.sh")
    assert reason in found.reason
    assert "spark-submit command" in found.step
    assert found.finding


def test_a_job_as_a_kubernetes_object_has_a_reason(folder: Path) -> None:
    """As the controllers of AWS and Crossplane take it."""
    text = (
        "apiVersion: emrcontainers.services.k8s.aws/v1alpha1\nkind: JobRun\nmetadata: {name: x}\nspec: {}\n"
    )
    (folder / "job.yaml").write_text(text)
    found = left("job.yaml")
    assert (found.kind, found.name, found.finding) == ("JobRun", "x", True)
    assert "JSON file" in found.step
