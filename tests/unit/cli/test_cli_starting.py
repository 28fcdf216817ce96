"""What a newcomer meets first: init, explain, schema, rule."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from .conftest import Cli

LANGUAGES = ["python", "java", "scala", "r"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("scheduled", [False, True])
def test_what_init_writes_is_valid(cli: Cli, language: str, scheduled: bool) -> None:
    """Without an error or a warning, for every language, once and on a schedule."""
    options = ["--scheduled"] if scheduled else []
    result = cli("init", "--type", language, *options, "new.yaml")
    assert (result.code, result.out) == (0, "")
    assert result.err == "wrote new.yaml; next: sparkgen validate new.yaml, then sparkgen render new.yaml\n"
    assert cli("validate", "--strict", "new.yaml").out == "1 document valid\n"
    kinds = [item["kind"] for item in yaml.safe_load_all(cli("render", "new.yaml").out)]
    assert kinds[-1] == ("CronJob" if scheduled else "Job")


def test_what_init_writes_leaves_the_log_to_the_program(cli: Cli) -> None:
    """Spark's information would be hundreds of lines around a newcomer's one."""
    assert cli("init", "new.yaml").code == 0
    assert "rootLogger.level = warn" in cli("render", "new.yaml").out


def test_the_shuffle_service_of_init_is_valid(cli: Cli) -> None:
    """As it is, and with every field that is commented out; options of an application are refused."""
    result = cli("init", "--shuffle-service", "-")
    commented = r"^( *)# ( *(?!sparkgen|yaml)[a-zA-Z-]+:(?: .*)?|  - /.*)$"
    opened = re.sub(commented, r"\1\2", result.out, flags=re.MULTILINE)
    for text in (result.out, opened):
        Path("service.yaml").write_text(text)
        assert cli("validate", "--strict", "service.yaml").out == "1 document valid\n"
    spec = yaml.safe_load(opened)["spec"]
    assert {"directories", "nodeSelector", "janitor"} <= set(spec) - set(yaml.safe_load(result.out)["spec"])
    assert "DaemonSet" in [item["kind"] for item in yaml.safe_load_all(cli("render", "service.yaml").out)]
    for option in (["--scheduled"], ["--type", "java"]):
        assert cli("init", "--shuffle-service", *option, "-").code == 2


def test_the_history_server_of_init_is_valid(cli: Cli) -> None:
    """As it is, and with every field that is commented out; it is one document, and no application."""
    result = cli("init", "--history-server", "-")
    opened = re.sub(
        r"^( *)# ( *(?!sparkgen|yaml)[a-zA-Z./-]+:(?: .*)?| +- .*)$", r"\1\2", result.out, flags=re.M
    )
    for text in (result.out, opened):
        Path("history.yaml").write_text(text)
        assert cli("validate", "--strict", "history.yaml").out == "1 document valid\n"
    spec = yaml.safe_load(opened)["spec"]
    assert "sparkUIOptions" in spec.keys() - yaml.safe_load(result.out)["spec"].keys()
    assert spec["networkPolicy"]["ingressFrom"]
    assert "Deployment" in [item["kind"] for item in yaml.safe_load_all(cli("render", "history.yaml").out)]
    for option in (["--scheduled"], ["--type", "java"], ["--shuffle-service"]):
        assert cli("init", "--history-server", *option, "-").code == 2
    assert "name: old-runs\n" in cli("init", "--history-server", "--name", "old-runs", "-").out


def test_the_connect_server_of_init_is_valid(cli: Cli) -> None:
    """As it is, and with every field that is commented out; its Secret is named after it."""
    result = cli("init", "--connect", "--name", "true", "-")
    opened = re.sub(r"^( *)# (?!sparkgen: )( *(?:- )?[a-zA-Z./]+: ?.*)$", r"\1\2", result.out, flags=re.M)
    opened = re.sub(r"^.*(?:kubectl|Spark 4 has|Functions|A way in|What a field).*\n", "", opened, flags=re.M)
    for text in (result.out, opened):
        Path("server.yaml").write_text(text)
        assert cli("validate", "--strict", "server.yaml").out == "1 document valid\n"
    spec = yaml.safe_load(opened)["spec"]
    assert spec["connect"]["token"]["name"] == "true-connect"
    assert spec["connect"].keys() - yaml.safe_load(result.out)["spec"]["connect"].keys() == {
        "route",
        "ingressFrom",
    }
    assert spec["networkPolicy"]["ingressFrom"]
    assert "Service" in [item["kind"] for item in yaml.safe_load_all(cli("render", "server.yaml").out)]
    assert "name: team-a\n" in cli("init", "--connect", "-").out
    for option in (["--scheduled"], ["--type", "java"], ["--shuffle-service"]):
        assert cli("init", "--connect", *option, "-").code == 2


def test_the_notebook_of_init_is_valid(cli: Cli) -> None:
    """As it is, and with every field that is commented out; Secret and claim are named after it."""
    result = cli("init", "--notebook", "--name", "ada", "-")
    opened = re.sub(r"^( *)# (?!sparkgen: )( *(?:- )?[a-zA-Z]+: ?.*)$", r"\1\2", result.out, flags=re.M)
    opened = re.sub(r"^.*(?:kubectl|A Spark image|A way in|What a field).*\n", "", opened, flags=re.M)
    for text in (result.out, opened):
        Path("ada.yaml").write_text(text)
        assert cli("validate", "--strict", "ada.yaml").out == "1 document valid\n"
    section = yaml.safe_load(opened)["spec"]["notebook"]
    assert (section["token"]["name"], section["claim"]) == ("ada-notebook", "ada-home")
    assert section.keys() - yaml.safe_load(result.out)["spec"]["notebook"].keys() == {"route"}
    for option in (["--scheduled"], ["--type", "java"], ["--connect"]):
        assert cli("init", "--notebook", *option, "-").code == 2


@pytest.mark.parametrize("option", ["--history-server", "--shuffle-service", "--connect", "--notebook"])
def test_of_what_init_writes_lint_asks_for_a_digest_and_a_place(cli: Cli, option: str) -> None:
    """What nobody can know beforehand; all else that a reviewer wants is there."""
    cli("init", option, "new.yaml")
    found = json.loads(cli("lint", "new.yaml", "--isolated", "--format", "json").out)
    assert {problem["code"] for problem in found if problem["severity"] != "info"} <= {
        "SG204",
        "SG220",
    }


@pytest.mark.parametrize("scheduled", [[], ["--scheduled"]])
def test_what_init_suggests_in_comments_is_valid(cli: Cli, scheduled: list[str]) -> None:
    """Taking the `# ` away from any field that is commented out gives a valid document."""
    text = cli("init", "-", *scheduled).out
    opened = re.sub(r"^( *)# (?!sparkgen: )( *(?:- )?[a-zA-Z]+:(?: .*)?)$", r"\1\2", text, flags=re.MULTILINE)
    assert opened.count("dynamicAllocation:") == 1
    without_instances = re.sub(r"^ *instances: 2\n", "", opened, flags=re.MULTILINE)
    Path("opened.yaml").write_text(without_instances)
    assert len(yaml.safe_load(without_instances)["spec"]) > len(yaml.safe_load(text)["spec"]) or scheduled
    assert cli("validate", "--strict", "opened.yaml").out == "1 document valid\n"


def test_init_tells_editors_about_the_schema(cli: Cli) -> None:
    """The first line is the language server's, and names a file that `sparkgen schema` makes."""
    first, *rest = cli("init", "-").out.splitlines()
    assert first == "# yaml-language-server: $schema=spark-application.schema.json"
    assert "#   sparkgen schema > spark-application.schema.json" in rest


def test_init_never_overwrites(cli: Cli) -> None:
    """app.yaml is there: exit 2 and a way out; --force is one."""
    before = Path("app.yaml").read_text()
    result = cli("init")
    assert (result.code, result.err) == (
        2,
        "sparkgen: app.yaml exists already; give another file, or overwrite it with --force\n",
    )
    assert Path("app.yaml").read_text() == before
    assert cli("init", "--force", "--name", "other").code == 0
    assert yaml.safe_load(Path("app.yaml").read_text())["metadata"]["name"] == "other"


def test_init_follows_no_link_to_another_file(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A repository of somebody else may have one where the document goes; --force replaces it."""
    home = tmp_path_factory.mktemp("home")
    (home / "theirs").write_text("theirs")
    for name, target in (("new.yaml", home / "theirs"), ("dangling.yaml", home / "new")):
        Path(name).symlink_to(target)
        assert cli("init", name).code == 2
        assert cli("init", "--force", name).code == 0
        assert not Path(name).is_symlink()
    Path("folder").symlink_to(home)
    Path(".git").mkdir()
    for force in ([], ["--force"]):
        result = cli("init", "folder/new.yaml", *force)
        assert (result.code, "a symbolic link out of the repository" in result.err) == (2, True)
    assert [(path.name, path.read_text()) for path in home.iterdir()] == [("theirs", "theirs")]


def test_init_makes_folders_and_says_why_not(cli: Cli) -> None:
    """A path may lead to a new folder; one that cannot be is explained."""
    assert cli("init", "jobs/nightly.yaml").code == 0
    assert Path("jobs/nightly.yaml").is_file()
    result = cli("init", "app.yaml/new.yaml")
    assert result.code == 2
    assert result.err.startswith("sparkgen: cannot write app.yaml/new.yaml: ")


@pytest.mark.parametrize("name", ["Report", "a_b", "1st", "x" * 46, "a-"])
def test_init_refuses_a_name_that_is_none(cli: Cli, name: str) -> None:
    """Before the document would be refused."""
    result = cli("init", "--name", name, "new.yaml")
    assert result.code == 2
    assert "use at most 45 lower-case letters" in result.err
    assert not Path("new.yaml").exists()


@pytest.mark.parametrize("name", ["yes", "n", "off", "null", "e1"])
def test_init_quotes_a_name_that_yaml_would_misread(cli: Cli, name: str) -> None:
    """A name is a name, whatever YAML thinks of it."""
    cli("init", "--name", name, "new.yaml")
    assert yaml.safe_load(Path("new.yaml").read_text())["metadata"]["name"] == name
    assert cli("validate", "--strict", "new.yaml").code == 0


def test_explain(cli: Cli) -> None:
    """A field, with or without the leading spec; a field that is not there is an error with a guess."""
    result = cli("explain", "spec.executor.memory")
    assert result.out.startswith("KIND:     SparkApplication\n")
    assert "FIELD:    spec.executor.memory <string>" in result.out
    assert cli("explain", "executor.memory").out == result.out
    assert cli("explain", "schedule", "--kind", "ScheduledSparkApplication").code == 0
    wrong = cli("explain", "spec.executor.memroy")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean memory?" in wrong.err


def test_the_schema_stands_alone(cli: Cli) -> None:
    """One file that a checker takes without any other."""
    schema = json.loads(cli("schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(
        yaml.safe_load(Path("app.yaml").read_text()), schema, cls=jsonschema.Draft202012Validator
    )


def test_rules_are_listed_and_shown(cli: Cli) -> None:
    """All of them in order, each with its title; a page by its code in any case."""
    lines = cli("rule").out.splitlines()
    codes = [line.split()[0] for line in lines]
    assert codes == sorted(codes)
    assert {"SG002", "SG010", "SG104"} <= set(codes)
    assert cli("rule", "sg104").out.startswith("# SG104: ")
    assert cli("rule", "104").out == cli("rule", "SG104").out
    assert cli("rule", "2").out == cli("rule", "SG002").out
    wrong = cli("rule", "SG999")
    assert (wrong.code, wrong.err) == (
        2,
        "sparkgen: unknown rule SG999; to list all rules: sparkgen rule\n",
    )
