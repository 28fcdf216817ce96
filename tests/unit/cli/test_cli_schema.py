"""`sparkgen schema --kubernetes`: Kubernetes' schemas as kubeconform reads them, without a network."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gotools import gotools
from k8s import kubernetes_schemas
from sparkgen.schema import manifests
from tests.unit.cli.conftest import Cli


def conform(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run kubeconform; a lookup on the network would end at once."""
    return subprocess.run(
        [str(gotools.ensure("kubeconform")), *arguments],
        env={"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("minor", manifests.minors())
def test_kubeconform_reads_what_is_written(cli: Cli, minor: str) -> None:
    """The command that is printed passes what was rendered, and finds a field that Kubernetes has not."""
    assert cli("render", "app.yaml", "-o", "deploy").code == 0
    written = cli("schema", "--kubernetes", minor, "-o", "schemas")
    assert (written.code, written.out) == (0, "")
    command = written.err.partition("next: kubeconform ")[2].replace("RENDERED", "deploy").split()
    assert (done := conform(*command)).returncode == 0, done.stdout + done.stderr
    job = Path("deploy/job.yaml")
    job.write_text(job.read_text().replace("backoffLimit:", "backofLimit:"))
    done = conform(*command)
    assert done.returncode == 1
    assert "additional properties 'backofLimit' not allowed" in done.stdout


def test_each_schema_is_complete_and_can_be_taken(cli: Cli) -> None:
    """All kinds that are rendered, for several versions in one call, with nothing to look up."""
    assert cli("schema", "--kubernetes", "1.30", "--kubernetes", "1.36", "-o", "a/b").code == 0
    folders = sorted(path.name for path in Path("a/b").iterdir())
    assert folders == ["v1.30.0-standalone-strict", "v1.36.0-standalone-strict"]
    names = {path.stem for path in Path("a/b", folders[0]).iterdir()}
    assert names == {*kubernetes_schemas.KINDS, *kubernetes_schemas.GATEWAY}
    parts: dict[str, Any] = {}
    for path in Path("a/b").rglob("*.json"):
        schema = json.loads(path.read_text())
        definitions = schema.pop("$defs", {})
        assert set(manifests.references([schema, definitions])) <= set(definitions)
        parts |= {json.dumps(part, sort_keys=True): part for part in (schema, *definitions.values())}
    for part in parts.values():  # most definitions are in several files: each is looked at once
        Draft202012Validator.check_schema(part)


def test_a_newer_field_is_known_from_its_version_on(cli: Cli) -> None:
    """1.30 has no `resources` of a whole pod; 1.34 has."""
    for minor in ("1.30", "1.34"):
        assert cli("schema", "--kubernetes", minor, "-o", "schemas").code == 0
    fields = {
        minor: json.loads(Path(f"schemas/v{minor}.0-standalone-strict/pod-v1.json").read_text())["$defs"][
            "io.k8s.api.core.v1.PodSpec"
        ]["properties"]
        for minor in ("1.30", "1.34")
    }
    assert "resources" not in fields["1.30"]
    assert "resources" in fields["1.34"]


def test_a_patch_is_taken_as_kubeconform_looks_for_it(cli: Cli) -> None:
    """The same schemas, in the folder of that version; a `v` before it does no harm."""
    for version in ("1.33.4", "v1.33.4"):
        assert "-kubernetes-version 1.33.4 " in cli("schema", "--kubernetes", version, "-o", "schemas").err
    assert [path.name for path in Path("schemas").iterdir()] == ["v1.33.4-standalone-strict"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kubernetes", "1.29", "-o", "x"], "sparkgen has schemas of Kubernetes 1.30 to 1.36"),
        (["--kubernetes", "1.3", "-o", "x"], 'did you mean 1.30? In YAML, quote it: "1.30"'),
        (["--kubernetes", "latest", "-o", "x"], "'latest' is not a version"),
        (["--kubernetes", "1.33/../..", "-o", "x"], "is not a version"),
        (["--kubernetes", "1.33"], "--kubernetes writes many files; add -o DIR"),
        (["-o", "x"], "-o needs --kubernetes VERSION"),
    ],
)
def test_wrong_usage_writes_nothing(cli: Cli, arguments: list[str], said: str) -> None:
    """It says what there is, and what to do."""
    result = cli("schema", *arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert not Path("x").exists()


def test_what_is_there_stays_unless_it_is_ours(cli: Cli) -> None:
    """An earlier version's is replaced; somebody else's file is not, and then nothing is written."""
    folder = Path("schemas/v1.33.0-standalone-strict")
    folder.mkdir(parents=True)
    (folder / "service-v1.json").write_text('{"mine": 1}')
    refused = cli("schema", "--kubernetes", "1.33", "-o", "schemas")
    assert refused.code == 2
    assert "service-v1.json was not written by sparkgen" in refused.err
    assert [path.name for path in folder.iterdir()] == ["service-v1.json"]
    (folder / "service-v1.json").write_text(json.dumps({"$comment": manifests.COMMENT}))
    assert cli("schema", "--kubernetes", "1.33", "-o", "schemas").code == 0
    assert "properties" in json.loads((folder / "service-v1.json").read_text())


def test_no_link_leads_out_of_the_folder(cli: Cli) -> None:
    """Neither of a folder nor of a file; the folder that was named may be one."""
    Path("elsewhere").mkdir()
    Path("schemas").mkdir()
    Path("schemas/v1.33.0-standalone-strict").symlink_to(Path("elsewhere").resolve())
    assert "is a symbolic link" in cli("schema", "--kubernetes", "1.33", "-o", "schemas").err
    assert list(Path("elsewhere").iterdir()) == []
    Path("schemas/v1.34.0-standalone-strict").mkdir()
    Path("schemas/v1.34.0-standalone-strict/pod-v1.json").symlink_to("nowhere")
    assert "is a symbolic link" in cli("schema", "--kubernetes", "1.34", "-o", "schemas").err
    Path("named").symlink_to("elsewhere")
    assert cli("schema", "--kubernetes", "1.34", "-o", "named").code == 0


def test_a_folder_that_cannot_be_written_is_told(cli: Cli) -> None:
    """A file in its place."""
    Path("x").write_text("")
    result = cli("schema", "--kubernetes", "1.33", "-o", "x")
    assert (result.code, "x" in result.err) == (2, True)
    assert "Traceback" not in result.err
