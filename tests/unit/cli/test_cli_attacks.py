"""Documents, revisions and names that were made to do harm, and do none (docs/security.md).

Each test is a kind of attack: text that wants to become structure, templates that want to be filled in,
revisions that want to be options, and small inputs that want to become large.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from .conftest import DOCUMENT, Cli

BREAKOUTS = (
    "a\n---\napiVersion: v1\nkind: Secret",
    'a"\n  evil: "b',
    "a'\n  evil: 'b",
    "a: b # c",
    "&a [*a, *a]",
    "!!python/object/apply:os.system ['touch owned']",
    "- a\n- b",
    "a\n\n    image: evil",
    "</value></property><property><name>evil</name><value>b",
    "]]><!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    "a\nspark.evil=b",
    "a\\\nspark.evil b",
    "spark.evil\tb",
    "$(touch owned)",
    "`touch owned`",
    "; touch owned",
    "${IFS}touch${IFS}owned",
    "| touch owned",
)
"""Values that end the text around them in YAML, XML, a properties file or a shell."""
TEMPLATES = (
    "{{ 7 * 7 }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    "{{ cycler.__init__.__globals__.os.popen('touch owned').read() }}",
    "{{ .Release.Name }}",
    '{{ tpl "x" . }}',
    '{{ env "HOME" }}',
    "{{/* */}}",
    "{# #}",
)
"""Values that are programs for Jinja or for Go's templates."""
REVISIONS = (
    "--upload-pack=touch owned",
    "--output=owned",
    "-h",
    "HEAD;touch owned",
    "$(touch owned)",
    "@{-1}",
)
"""Names of revisions that git, or a shell, might take for something else."""


def document(**spec: Any) -> str:
    """The valid document with more in its spec, as JSON, so that a text is that text."""
    value = yaml.safe_load(DOCUMENT)
    value["spec"] |= spec
    return json.dumps(value)


def objects(text: str) -> list[dict[str, Any]]:
    """The objects that were rendered."""
    return [value for value in yaml.safe_load_all(text) if value]


def shape(values: list[dict[str, Any]]) -> list[tuple[str, tuple[str, ...]]]:
    """Which objects there are, and which keys and files they have."""
    return [(value["kind"], (*sorted(value), *sorted(value.get("data", {})))) for value in values]


@pytest.fixture
def expected(cli: Cli) -> list[tuple[str, tuple[str, ...]]]:
    """The objects of a document in which nobody means harm."""
    Path("app.yaml").write_text(document(arguments=["a"], sparkConf={"spark.x": "a"}, hadoopConf={"x": "a"}))
    return shape(objects(cli("render", "app.yaml").out))


@pytest.mark.parametrize("hostile", [*BREAKOUTS, *TEMPLATES])
def test_a_value_stays_a_value(hostile: str, cli: Cli, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    """As argument, variable, property and Hadoop setting it is refused, or is there as it was written."""
    spec = {
        "arguments": [hostile],
        "driver": {"env": [{"name": "HOSTILE", "value": hostile}]},
        "sparkConf": {"spark.x": hostile},
        "hadoopConf": {"x": hostile},
    }
    Path("app.yaml").write_text(document(**spec))
    result = cli("render", "app.yaml")
    assert not Path("owned").exists()
    assert "Traceback" not in result.err
    if result.code:
        assert result.code == 1, result.err
        assert result.out == ""
        return
    rendered = objects(result.out)
    assert shape(rendered) == expected
    (driver,) = driver_containers(rendered)
    # Kubernetes replaces $(NAME) in arguments and variables: `$$` is how a document's own dollar is written.
    assert hostile in [text.replace("$$", "$") for text in driver["args"]]
    (value,) = [entry["value"] for entry in driver["env"] if entry["name"] == "HOSTILE"]
    assert value.replace("$$", "$") == hostile
    files = {name: text for value in rendered for name, text in value.get("data", {}).items()}
    (site,) = [text for name, text in files.items() if name.endswith("-site.xml")]
    settings = {item.findtext("name"): item.findtext("value") for item in ET.fromstring(site)}  # noqa: S314
    assert settings["x"] == hostile
    assert "spark.evil" not in properties(files["spark-defaults.conf"])


def driver_containers(rendered: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Spark's container of the driver's pod."""
    (job,) = [value for value in rendered if value["kind"] == "Job"]
    found = job["spec"]["template"]["spec"]["containers"]
    return [container for container in found if container["name"] == "spark-kubernetes-driver"]


def properties(text: str) -> dict[str, str]:
    """A properties file as java.util.Properties reads lines: the first `=`, `:` or blank ends the key."""
    found: dict[str, str] = {}
    going_on = False
    for line in text.splitlines():
        begins, going_on = not going_on, (len(line) - len(line.rstrip("\\"))) % 2 == 1
        if begins and line.strip() and line.lstrip()[0] not in "#!":
            key, _, value = line.strip().replace("\t", " ").replace("=", " ").partition(" ")
            found[key] = value
    return found


NAMES = ("../../owned", "/etc/owned", "a/b", "a\nb", "a b", "-rf", "..", "{{x}}", "A" * 300)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_no_path(name: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be written elsewhere is refused before anything is written."""
    value = yaml.safe_load(DOCUMENT)
    value["metadata"]["name"] = name
    (tmp_path / "here").mkdir()
    monkeypatch.chdir("here")
    Path("app.yaml").write_text(json.dumps(value))
    before = sorted(tmp_path.rglob("*"))
    result = cli("render", "app.yaml", "-o", "out")
    assert result.code == 1
    assert "Traceback" not in result.err
    assert sorted(tmp_path.rglob("*")) == before
    assert not Path("/etc/owned").exists()


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_revision_is_no_option(revision: str, cli: Cli) -> None:
    """Git gets it as a name, behind the end of its options; there is none of that name."""
    for command in (["init", "-q"], ["add", "app.yaml"]):
        subprocess.run(["git", *command], check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *who, "commit", "-qm", "one"], check=True)
    result = cli("diff", f"--from={revision}", "app.yaml")
    assert result.code == 2
    assert "unknown revision" in result.err
    assert not Path("owned").exists()


BOMBS = {
    "aliases": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)),
    "an alias of itself": "a: &a [*a]\n",
    "merges": "a: &a {x: 1}\n" + "".join(f"k{i}: &k{i} {{<<: [*a, *a]}}\n" for i in range(20_000)),
    "depth": "a: " + "[" * 100_000 + "]" * 100_000,
    "mappings": "a: " + "{a: " * 50_000 + "}" * 50_000,
    "size": "a: " + "x" * 2_000_000,
    "a number": "a: " + "9" * 900_000,
    "an exponent": "spec: {executor: {instances: 1e999999999}}",
    "a quantity": f"spec: {{executor: {{memory: {'9' * 100_000}g}}}}",
    "a pattern": f"metadata: {{name: {'a-' * 100_000}!}}",
    "a cron": f"spec: {{schedule: {{cron: '{'*/1,' * 100_000}'}}}}",
    "a key": f"{'k' * 500_000}: 1",
    "keys": "\n".join(f"k{number}: 1" for number in range(90_000)),
    "binary": "\0\x01\x02" * 1000,
}
"""Small inputs that would be large when they are read."""


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused(kind: str, cli: Cli) -> None:
    """As a document and as an overlay: problems with their places, and no output."""
    bomb = BOMBS[kind]
    Path("bomb.yaml").write_text(bomb)
    for arguments in (["bomb.yaml"], ["app.yaml", "-f", "bomb.yaml"]):
        result = cli("render", *arguments)
        assert result.code in (1, 2), (kind, arguments, result.err[:300])
        assert result.out == ""
        assert "Traceback" not in result.err
        assert "internal error" not in result.err
        assert len(result.err) < 100_000, "the message is no bomb either"


SETS = {"an index": "spec.driver.env[999999999].name=a", "a path": "a" + ".a" * 100_000 + "=1"}
"""Values of `--set` that would make a document large, or deep."""


@pytest.mark.parametrize("kind", SETS)
def test_a_value_of_the_command_line_is_no_bomb(kind: str, cli: Cli) -> None:
    """A list is not filled up to any index, and a path is not followed to any depth."""
    result = cli("render", "app.yaml", "--set", SETS[kind])
    assert result.code in (1, 2), result.err[:300]
    assert "Traceback" not in result.err
    assert "internal error" not in result.err


MANY = "9" * 5000
"""More digits than `int` reads (sys.get_int_max_str_digits)."""
TWO = "\u00b2"
"""A digit for `str.isdigit`, and none for `int`."""
FIELDS = (
    ("executor", "cores"),
    ("executor", "instances"),
    ("sparkVersion",),
    ("deps", "packages"),
    ("sparkConf", "spark.task.cpus"),
    ("sparkConf", "spark.executor.cores"),
)
LIKE_NUMBERS = {
    "many digits": MANY,
    "no digit of ASCII": TWO,
    "seconds": f"{MANY}s",
    "a version": f"3.{MANY}",
    "a package": f"org.apache.spark:spark-avro_2.12:{MANY}.{MANY}",
}
COMMANDS = (
    "spark-submit --class A --num-executors {} local:///a.jar",
    "spark-submit --class A --conf spark.executor.instances={} local:///a.jar",
    "spark-submit --class A --conf spark.kubernetes.allocation.batch.size={} local:///a.jar",
)
OPERATOR = """apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: a}
spec:
  type: Scala
  sparkVersion: 3.5.8
  image: x
  mainClass: A
  mainApplicationFile: local:///a.jar
  timeToLiveSeconds: "{}"
  executor: {cores: "{}", instances: "{}"}
"""


@pytest.mark.parametrize("field", FIELDS, ids=".".join)
@pytest.mark.parametrize("text", LIKE_NUMBERS.values(), ids=LIKE_NUMBERS)
def test_a_text_like_a_number_is_a_problem_with_a_place(text: str, field: tuple[str, ...], cli: Cli) -> None:
    """Where a number, or one with dots, is expected: it is refused, or no number."""
    value: Any = [text] if field[0] == "deps" else text
    for key in reversed(field[1:]):
        value = {key: value}
    Path("numbers.yaml").write_text(document(**{field[0]: value}))
    result = cli("lint", "numbers.yaml")
    assert "internal error" not in result.err + result.out


@pytest.mark.parametrize("text", [MANY, TWO], ids=["many digits", "no digit of ASCII"])
@pytest.mark.parametrize("form", [*COMMANDS, OPERATOR], ids=["option", "property", "count", "operator"])
def test_a_text_like_a_number_is_imported_or_named(form: str, text: str, cli: Cli) -> None:
    """An importer never fails by it."""
    Path("other").write_text(form.replace("{}", text))
    result = cli("import", "other")
    assert "internal error" not in result.err


SHELL = "it's $(touch owned); touch owned #.yaml"
"""A file's name in a repository that somebody has cloned, or a path in a script that they import."""


def test_a_command_to_copy_is_a_command_of_its_words(cli: Cli) -> None:
    """A shell that runs what a message proposes runs nothing else."""
    word, keytab = shlex.quote(SHELL), f"/{SHELL}/k.keytab"
    Path("ks.sh").write_text(
        f"spark-submit --principal a@X --keytab {shlex.quote(keytab)} --class A local:///a.jar\n"
    )
    key = shlex.quote(f"--from-file=k.keytab={keytab}")
    assert f"kubectl create secret generic spark-keytab {key}" in cli("import", "ks.sh").err
    said = cli("init", SHELL).err + cli("run", SHELL).err + cli(SHELL).err
    for command in ("validate", "render", "apply", "run --local"):
        assert f"sparkgen {command} {word}" in said
        assert f"sparkgen {command} {SHELL}" not in said


@pytest.mark.parametrize(
    "link", ["environments/prod.yaml", "app.lock.yaml", ".sparkgen.yaml", "sparkgen.dev.yaml"]
)
def test_a_link_shows_nothing_of_the_readers_files(
    link: str, cli: Cli, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A pull request may link to a file of the machine that checks it: no line of it is in a message."""
    secret = tmp_path_factory.mktemp("home") / "token"
    secret.write_text("sparkgen.dev the-token-of-the-machine\n")
    Path(".git").mkdir()
    Path("environments").mkdir()
    Path(link).unlink(missing_ok=True)
    Path(link).symlink_to(secret)
    for form in ("text", "json", "github", "sarif"):
        shown = cli("render", "-R", ".", "-o", "../out", "--format", form)
        assert shown.code != 0
        assert "symbolic link out of the repository" in shown.out + shown.err
        assert "the-token" not in shown.out + shown.err


@pytest.mark.parametrize(
    ("link", "command"),
    [
        ("apps/app.lock.yaml", ("validate", "apps/app.yaml")),
        ("apps/app.yaml", ("validate", "apps/app.yaml")),
        ("named.yaml", ("validate", "apps/app.yaml", "-f", "named.yaml")),
        ("named.yaml", ("validate", "apps/app.yaml", "--lock", "named.yaml")),
        ("named.yaml", ("lint", "apps/app.yaml", "--config", "named.yaml")),
        ("named.yaml", ("import", "named.yaml")),
        (".sparkgen.yaml", ("validate", "apps/app.yaml")),
        (".sparkgen.yaml", ("lint", "apps/app.yaml")),
    ],
)
@pytest.mark.parametrize("to_folder", [False, True])
def test_a_link_shows_nothing_of_a_file_that_git_ignores(
    link: str, command: tuple[str, ...], to_folder: bool, cli: Cli
) -> None:
    """A pull request may link to a file of the checkout that is in no commit."""
    Path(".git").mkdir()
    Path("private").mkdir()
    Path("private/creds.json").write_text(json.dumps({"aws": {"key": "AKIA0123"}, "spec": "hunter2"}))
    Path("apps").mkdir()
    Path("apps/app.yaml").write_text(DOCUMENT)
    if to_folder and Path(link).parent.name:
        Path("private", Path(link).name).write_text(Path("private/creds.json").read_text())
        if link != "apps/app.yaml":
            Path("private/app.yaml").write_text(Path("apps/app.yaml").read_text())
        shutil.rmtree("apps")
        Path("apps").symlink_to("private")
    else:
        Path(link).unlink(missing_ok=True)
        Path(link).symlink_to(Path("..") / "private/creds.json" if "/" in link else "private/creds.json")
    for form in ((), ("--format", "github"), ("--format", "json")):
        shown = cli(*command, *(form if command[0] != "import" else ()))
        said = shown.out + shown.err
        assert shown.code != 0, said
        assert "it is, or is below, a " in said
        assert "link" in said
        assert "AKIA" not in said
        assert "hunter2" not in said


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (".env", "PASSWORD=hunter2\n", "is hidden"),
        ("conf/.private/pip.txt", "hunter2\n", "is hidden"),
        ("key.txt", "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n", "seems to contain a secret"),
        ("kubeconfig", "hunter2\n", "seems to contain a secret"),
        ("token.txt", "hunter2\n", "line 1 has no exact version"),
        ("creds.json", '{"password": "hunter2"}\n', "line 1 has no exact version"),
        ("creds.txt", "word -hunter2 --hunter2\n", "line 1 has an option after its package"),
        ("link.txt", "", "is, or is below, a symbolic link"),
        ("linked/a.txt", "", "is, or is below, a symbolic link"),
    ],
)
def test_requirements_show_nothing_of_another_file(cli: Cli, name: str, text: str, message: str) -> None:
    """A pull request may name any file of the checkout, and allow it in an ignore file."""
    Path(".git").mkdir()
    Path("private").mkdir()
    Path("private/a.txt").write_text("hunter2\n")
    if name == "link.txt":
        Path(name).symlink_to("private/a.txt")
    elif name == "linked/a.txt":
        Path("linked").symlink_to("private")
    else:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    Path(".sparkgenignore").write_text(f"!{name}\n")
    Path("apps").mkdir()
    value = yaml.safe_load(DOCUMENT)
    value["spec"]["deps"] = {"requirements": f"../{name}", "pythonVersion": "3.10"}
    Path("apps/app.yaml").write_text(json.dumps(value))
    for form in ("text", "json"):
        shown = cli("validate", "apps/app.yaml", "--format", form)
        assert shown.code == 1
        assert message in shown.out + shown.err
        assert "hunter2" not in shown.out + shown.err
