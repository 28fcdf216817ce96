"""`sparkgen verify`: whether the runtime in manifests or in a namespace is what this version makes."""

from __future__ import annotations

import base64
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen import contract
from sparkgen.image.runtime_files import FILES, RuntimeFiles
from sparkgen.usecases import verify
from sparkgen.usecases.runtime import files_of
from sparkgen.usecases.verify import MOST_BYTES
from sparkgen.yamltext import dump
from tests.fake_runtime import small

from .conftest import DOCUMENT, Cli, Result
from .kube import Kube

OLD, NEW = small("2.12").name, small("2.13").name
FILE = f"config-map-{OLD}.yaml"
EARLIER = RuntimeFiles("2.12", b"earlier", b"jar")
CONFIG_MAPS = "/api/v1/namespaces/analytics/configmaps"
SYNC = "argocd.argoproj.io/sync-options"


@pytest.fixture(autouse=True)
def read_again() -> Iterator[None]:
    """No test gets the runtime of another one, which may have had another variable."""
    files_of.cache_clear()
    yield
    files_of.cache_clear()


@pytest.fixture
def unnamed(cli: Cli) -> Cli:
    """The command line, in a folder without a configuration."""
    Path(".sparkgen.yaml").unlink()
    return cli


@pytest.fixture
def rendered(unnamed: Cli) -> Cli:
    """The command line, with an application in `deploy`."""
    assert unnamed("render", "app.yaml", "-o", "deploy").code == 0
    return unnamed


@pytest.fixture
def cluster(unnamed: Cli, kube: Kube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line, with an application in a cluster."""
    monkeypatch.setenv("KUBECONFIG", kube.kubeconfig(tmp_path))
    assert unnamed("apply", "app.yaml", "--skip-preflight").code == 0
    return unnamed


def rows(result: Result) -> list[tuple[str, str, list[str]]]:
    """State, name and applications of each runtime in the JSON that a command printed."""
    found = json.loads(result.out)["runtimes"]
    return [(row["state"], row["name"], row["applications"]) for row in found]


def test_a_directory_of_this_version(rendered: Cli) -> None:
    """The same for the files of several applications, a stream, and the runtime alone."""
    Path("two.yaml").write_text(
        DOCUMENT.replace("name: pi", "name: two\n  namespace: a").replace("3.5.8", "4.3.0")
    )
    assert rendered("render", "app.yaml", "two.yaml", "-o", "both").code == 0
    result = rendered("verify", "deploy", "both")
    assert (result.code, result.err) == (0, "")
    assert [line.split() for line in result.out.splitlines()] == [
        ["STATE", "NAMESPACE", "RUNTIME", "APPLICATIONS"],
        ["current", "a", NEW, "two"],
        ["current", "default", OLD, "pi"],
        ["current", "default", OLD, "pi"],
    ]
    stream = rendered("render", "app.yaml").out
    assert rows(rendered("verify", "-", "-o", "json", stdin=stream)) == [("current", OLD, ["pi"])]
    assert rows(rendered("verify", f"deploy/{FILE}", "-o", "json")) == [("current", OLD, [])]


def test_a_list_of_kubectl(rendered: Cli) -> None:
    """Each of its items is an object of its own."""
    items = [*yaml.safe_load_all(rendered("render", "app.yaml").out)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    assert rows(rendered("verify", "-", "-o", "json", stdin=text)) == [("current", OLD, ["pi"])]


def test_another_version_passes_only_if_it_is_accepted(unnamed: Cli) -> None:
    """Its name has the digest of its content, which says nothing about who made it."""
    Path("other.yaml").write_text(dump(EARLIER.config_map("default")))
    result = unnamed("verify", "other.yaml")
    assert result.code == 1
    assert "add --allow-other here" in result.err
    assert unnamed("verify", "other.yaml", "--allow-other").code == 0
    assert rows(unnamed("verify", "other.yaml", "-o", "json")) == [("other version", EARLIER.name, [])]


ALTERATIONS: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda item: item["binaryData"].update({"runtime.pyz": "AA=="}), ":16:1: binaryData has another digest"),
    (
        lambda item: item["binaryData"].update({"runtime.pyz": "?"}),
        'binaryData["runtime.pyz"] must be base64',
    ),
    (lambda item: item["binaryData"].update({"runtime.pyz": 5}), 'binaryData["runtime.pyz"] must be base64'),
    (lambda item: item["binaryData"].pop("scheduler.jar"), 'binaryData["scheduler.jar"] is missing'),
    (lambda item: item["binaryData"].update(more="AA=="), "binaryData.more is not in what sparkgen writes"),
    (lambda item: item.update(binaryData=["a"]), "binaryData must be a mapping"),
    (lambda item: item.update(data={"more": "a"}), "data is not in what sparkgen writes"),
    (lambda item: item.update(immutable=False), ":15:1: immutable must be true"),
    (lambda item: item.pop("immutable"), "immutable is missing"),
    (lambda item: item.update(kind="RoleBinding"), 'kind must be "ConfigMap"'),
    (lambda item: item["metadata"].update(name="other"), "metadata.name has no Scala version and digest"),
    (lambda item: item["metadata"].update(ownerReferences=[]), "metadata.ownerReferences is not in what"),
    (lambda item: item["metadata"]["labels"].update({contract.LABEL_RUN: "a"}), "is not in what sparkgen"),
    (
        lambda item: item["metadata"]["annotations"].update({SYNC: "Prune=true"}),
        f'["{SYNC}"] must be "Prune=f',
    ),
    (lambda item: item["metadata"].update(annotations=7), "metadata.annotations must be a mapping"),
    (lambda item: item["metadata"].pop("annotations"), "metadata.annotations is missing"),
]


@pytest.mark.parametrize(("change", "said"), ALTERATIONS)
def test_what_is_altered(rendered: Cli, change: Callable[[dict[str, Any]], object], said: str) -> None:
    """With the line of what is wrong, and the next step; also if another version is accepted."""
    item = yaml.safe_load(Path("deploy", FILE).read_text())
    change(item)
    Path("deploy", FILE).write_text(f"# Generated\n{dump(item)}")
    result = rendered("verify", "deploy", "--allow-other")
    assert result.code == 1
    assert any(line.startswith(f"deploy/{FILE}:") and said in line for line in result.err.splitlines()), (
        result
    )
    assert f"deploy/{FILE}:2:1: altered; find out who changed it" in result.err
    assert result.out.splitlines()[1].startswith("altered")


def test_everything_that_is_altered_is_reported_at_once(rendered: Cli) -> None:
    """Ten lines are enough for people; programs get all."""
    item = yaml.safe_load(Path("deploy", FILE).read_text())
    item["binaryData"] |= {f"more-{number}": "" for number in range(20)}
    Path("deploy", FILE).write_text(dump(item | {"immutable": 1}))
    result = rendered("verify", "deploy")
    assert (result.err.count("more-"), "and 11 more" in result.err) == (9, True)
    (row,) = json.loads(rendered("verify", "deploy", "-o", "json").out)["runtimes"]
    assert len(row["problems"]) == 21


def test_a_key_that_is_twice_in_the_file(rendered: Cli) -> None:
    """Programs differ in which of the two they read."""
    path = Path("deploy", FILE)
    path.write_text(path.read_text().replace("binaryData:\n", "binaryData: {a: b}\nbinaryData:\n"))
    result = rendered("verify", "deploy")
    assert result.code == 1
    assert "duplicate key `binaryData`" in result.err


def test_an_escape_hides_no_runtime(rendered: Cli) -> None:
    """Neither its name nor its files need to be in the text as they are."""
    item = json.dumps({**EARLIER.config_map("default"), "immutable": False})
    for word in (contract.RUNTIME_NAME, "runtime.pyz", "scheduler.jar"):
        item = item.replace(word, f"\\u{ord(word[0]):04x}{word[1:]}")
    Path("deploy/hidden.yaml").write_text(item)
    assert ("altered", EARLIER.name, []) in rows(rendered("verify", "deploy", "-o", "json"))


def _hidden(text: str) -> dict[str, tuple[str, bytes]]:
    """Forms in which kubectl reads an object that a search for its words in YAML files misses."""
    listed = f"apiVersion: v1\nkind: ConfigMap\nitems:\n- {json.dumps(yaml.safe_load(text))}\n"
    coded = text.replace(OLD, f"!!binary {base64.b64encode(OLD.encode()).decode()}")
    for word in (contract.RUNTIME_NAME, "runtime.pyz", "scheduler.jar"):
        coded = coded.replace(f": {word}\n", f": !!binary {base64.b64encode(word.encode()).decode()}\n")
    return {
        "a list by its items": ("a.yaml", listed.encode()),
        "a list in a list": ("a.yaml", json.dumps({"items": [{"items": [yaml.safe_load(text)]}]}).encode()),
        "JSON": ("a.json", json.dumps(yaml.safe_load(text)).encode()),
        "UTF-16": ("a.yaml", text.encode("utf-16")),
        "a hidden folder": (".d/a.yaml", text.encode()),
        "base64": ("a.yaml", coded.encode()),
    }


@pytest.mark.parametrize("form", list(_hidden(dump({"a": 1}))))
def test_whatever_kubectl_reads_is_found_or_said_not_to_be_checked(rendered: Cli, form: str) -> None:
    """Another program under the name of the right one, beside it."""
    text = Path("deploy", FILE).read_text("utf-8")
    item = yaml.safe_load(text)
    item["binaryData"] = dict.fromkeys(item["binaryData"], "ZXZpbA==")
    name, data = _hidden(dump(item))[form]
    Path("deploy", name).parent.mkdir(exist_ok=True)
    Path("deploy", name).write_bytes(data)
    result = rendered("verify", "deploy", "-o", "json")
    found = json.loads(result.out)
    assert result.code == 1
    assert "altered" in [row["state"] for row in found["runtimes"]] or found["unread"]


def test_what_a_kustomization_lists_is_found_whatever_its_name(rendered: Cli) -> None:
    """A kustomization may name files of any suffix; others are not read by it."""
    item = yaml.safe_load(Path("deploy", FILE).read_text("utf-8"))
    item["binaryData"] = dict.fromkeys(item["binaryData"], "ZXZpbA==")
    Path("deploy/notes.txt").write_text(dump(item))
    assert rendered("verify", "deploy").code == 0
    Path("deploy/base").mkdir()
    Path("deploy/base/Kustomization").write_text("resources: [a, ./b/notes.txt]\n")
    Path("deploy/base/b").mkdir()
    Path("deploy/notes.txt").rename("deploy/base/b/notes.txt")
    found = json.loads(rendered("verify", "deploy", "-o", "json").out)
    assert "altered" in [row["state"] for row in found["runtimes"]]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("rt..txt", "rt..txt"),
        ("sub/rt.txt", "sub/../sub/rt.txt"),
        ("my rt", "my rt"),
        ("rt+x", "rt+x"),
        ("rt.txt", '"r\\x74.txt"'),
        ("../other/rt.txt", "../other"),
    ],
)
def test_a_kustomization_names_its_files_as_yaml_does(rendered: Cli, file: str, said: str) -> None:
    """Whatever the name, and also in a folder outside."""
    item = yaml.safe_load(Path("deploy", FILE).read_text("utf-8"))
    item["binaryData"] = dict.fromkeys(item["binaryData"], "ZXZpbA==")
    path = Path("deploy", file)
    path.parent.mkdir(exist_ok=True)
    path.write_text(dump(item))
    if path.parent.name == "other":
        (path.parent / "kustomization.yaml").write_text(f"resources: [{path.name}]\n")
    kustomization = Path("deploy/kustomization.yaml")
    kustomization.write_text(kustomization.read_text().replace(f"- {FILE}", f"- {said}"))
    result = rendered("verify", "deploy", "-o", "json")
    assert result.code == 1
    assert "altered" in [row["state"] for row in json.loads(result.out)["runtimes"]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("patches: [{path: a.yaml}]\nresources: [deploy]\n", "fields may change any object: patches"),
        ("resources: [deploy, https://example.com/x]\n", "`https://example.com/x` is not here"),
        ("resources: [deploy]\n---\nresources: []\n", "no single mapping"),
        ("resources: [deploy]\nresources: [deploy]\n", "no single mapping"),
        ("resources: [a\n", "cannot be read"),
        ("Resources: [deploy]\n", "fields may change any object: Resources"),
        ("resources: [deploy]\nnew: {}\n", "fields may change any object: new"),
        ("components: [deploy]\npatches: [{path: a.yaml}]\n", "any object: components, patches"),
    ],
)
@pytest.mark.parametrize("beside", [False, True])
def test_what_kustomize_may_change_is_not_called_current(
    rendered: Cli, text: str, why: str, beside: bool
) -> None:
    """Only kustomize knows what it makes of it; its output can be checked. In any folder above the files."""
    path = Path("deploy/kustomization.yaml" if beside else "kustomization.yaml")
    path.write_text(text.replace("deploy", FILE) if beside else text)
    result = rendered("verify", ".")
    assert result.code == 1
    assert why in result.err
    assert "kubectl kustomize FOLDER | sparkgen verify -" in result.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("resources: [../deploy]\nresources: [../deploy]\npatches: [{path: p.txt}]\n", "no single mapping"),
        ("components: [../deploy]\npatches: [{path: p.txt}]\n", "components, patches"),
        ("RESOURCES: [../deploy]\n", "RESOURCES"),
    ],
)
def test_an_overlay_beside_the_runtime_is_followed(rendered: Cli, text: str, why: str) -> None:
    """It may be in any folder."""
    Path("prod").mkdir()
    Path("prod/kustomization.yaml").write_text(text)
    result = rendered("verify", ".")
    assert result.code == 1
    assert why in result.err


@pytest.mark.parametrize(
    "name", ["https://example.com/cm.yaml", "GitHub.com/o/r", "git@x/r", "a//r", "r?ref=b"]
)
def test_what_kustomize_fetches_is_not_what_lies_here(rendered: Cli, name: str) -> None:
    """A file or folder of the same name is a decoy."""
    runtime = Path("deploy", FILE).read_text("utf-8")
    decoy = Path("deploy", name)
    decoy.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".yaml"):
        decoy.write_text(runtime)
    else:
        decoy.mkdir(exist_ok=True)
        (decoy / "kustomization.yaml").write_text("resources: [cm.yaml]\n")
        (decoy / "cm.yaml").write_text(runtime)
    kustomization = Path("deploy/kustomization.yaml")
    kustomization.write_text(kustomization.read_text().replace(f"- {FILE}", f"- {name}"))
    result = rendered("verify", "deploy")
    assert result.code == 1
    assert f"`{name}` is not here" in result.err


def test_a_link_does_not_lead_verify_elsewhere(rendered: Cli) -> None:
    """For kustomize, `..` of a linked folder is above the real one; and it refuses files that are outside."""
    Path("other/sub").mkdir(parents=True)
    Path("other/sub/kustomization.yaml").write_text("resources: [../base]\n")
    Path("other/base").mkdir()
    Path("deploy/link").symlink_to("../other/sub")
    Path("secret.txt").write_text("no YAML: {\n")
    Path("deploy/inner.txt").symlink_to("../secret.txt")
    kustomization = Path("deploy/kustomization.yaml")
    before = kustomization.read_text()
    for name in ("link", "inner.txt", "../secret.txt", str(Path("secret.txt").absolute())):
        kustomization.write_text(before.replace(f"- {FILE}", f"- {name}"))
        result = rendered("verify", "deploy")
        assert result.code == 1
        assert f"`{name}` is not here" in result.err
        assert "secret.txt:1" not in result.err


def test_many_names_that_are_not_here_take_no_time_of_their_own(rendered: Cli) -> None:
    """Each is looked up once, and compared with no other one."""
    compared = 0

    class Name(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return super().__eq__(other)

        __hash__ = str.__hash__

    names = tuple(Name(f"missing-{number}") for number in range(300))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify, "_listed_in", lambda _: verify._Listed(names=names))
        assert rendered("verify", "deploy").code == 1
    assert compared < 3_000


def test_a_kustomization_that_makes_the_runtime_is_not_called_current(rendered: Cli) -> None:
    """Whatever it makes beside the right one."""
    Path("else").mkdir()
    Path("else/kustomization.yaml").write_text(f"configMapGenerator: [{{name: {OLD}, files: [a]}}]\n")
    result = rendered("verify", ".")
    assert result.code == 1
    assert "configMapGenerator" in result.err


def test_a_kustomization_without_the_runtime_is_no_concern(rendered: Cli) -> None:
    """A repository has others beside it."""
    Path("else").mkdir()
    Path("else/kustomization.yaml").write_text("resources: [https://example.com/x]\npatches: []\n")
    assert rendered("verify", ".").code == 0


def test_mistakes_of_a_document_are_told_once(rendered: Cli) -> None:
    """And not all of them for each of its runtimes, which a small file makes gigabytes."""
    item = f'{{metadata: {{name: "{OLD}"}}}}'
    Path("deploy/many.yaml").write_text("a: 1\n" * 2_000 + f"items: [&a {item}{', *a' * 500}]\n")
    result = rendered("verify", "deploy", "-o", "json")
    assert result.code == 1
    assert len(result.out) < 600_000
    assert result.out.count("these are the first of 1999 mistakes") == 1
    assert result.out.count(": the mistakes of this document are named there") == 500
    states = [row["state"] for row in json.loads(result.out)["runtimes"] if row["name"] == OLD]
    assert sorted(states) == ["altered"] * 501 + ["current"]


def _other_readings() -> dict[str, str]:
    """Files that kubectl or others may read as another program of the same name, and not as they are in YAML.

    `EVIL`: this program; `HIDDEN`: the same with escapes. `META`, `DATA`: its parts.
    """
    tagged = "".join(f"  !!bin%61ry {base64.b64encode(file.encode()).decode()}: ZXZpbA==\n" for file in FILES)
    name = f"!!bin%61ry {base64.b64encode(OLD.encode()).decode()}"
    verbatim = name.replace("!!bin%61ry", "!<tag:yaml.org,2002:bin%61ry>")
    innocent = '"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}'
    return {
        "a.json": f'{{{innocent}, "metadata": META, "binaryData": {{}}, "binaryData": DATA}}',
        "twice.yaml": "kind: ConfigMap\nmetadata: {}\nmetadata: META\nbinaryData: {}\nbinaryData: DATA\n",
        "merged.yaml": "a: &a {metadata: META}\nkind: ConfigMap\nmetadata: {name: a}\n<<: *a\n",
        "tag.yaml": f"apiVersion: v1\nkind: ConfigMap\nbinaryData:\n{tagged}metadata:\n  name: {name}\n",
        "verbatim.yaml": f"kind: ConfigMap\nmetadata:\n  name: {verbatim}\n",
        "surrogate.json": '{"x": "\\ud83d\\ude00", "items": [HIDDEN]}',
        "stream.json": f"{{{innocent}}}HIDDEN",
        "byte.yaml": "# \udcff\nHIDDEN\n",
        "mark.yaml": "---\n\ufeffHIDDEN\n",
        "separator.yaml": "~\n---#\nEVIL\n",
        "space.yaml": "~\n---\u00a0\nHIDDEN\n",
        "comment.yaml": "--- # a\r'\nEVIL\n# '\n",
    }


@pytest.mark.parametrize("name", list(_other_readings()))
def test_a_file_that_programs_read_differently_is_not_passed_over(rendered: Cli, name: str) -> None:
    """Beside a current runtime, so that nothing else is wrong."""
    item = yaml.safe_load(Path("deploy", FILE).read_text("utf-8"))
    item["binaryData"] = dict.fromkeys(item["binaryData"], "ZXZpbA==")
    evil = hidden = json.dumps(item).replace(": ", ":")
    for word in (contract.RUNTIME_NAME, *FILES):
        hidden = hidden.replace(word, f"\\u{ord(word[0]):04x}{word[1:]}")
    text = _other_readings()[name].replace("EVIL", evil).replace("HIDDEN", hidden)
    text = text.replace("META", json.dumps(item["metadata"])).replace("DATA", json.dumps(item["binaryData"]))
    Path("deploy", name).write_bytes(text.encode("utf-8", "surrogateescape"))
    result = rendered("verify", "deploy")
    assert (result.code, f"deploy/{name}:" in result.err) == (1, True), result


def test_a_job_whose_volumes_are_there_twice(rendered: Cli) -> None:
    """Kubectl takes the last ones, which may have another program."""
    path = next(path for path in Path("deploy").rglob("*.yaml") if "kind: Job" in path.read_text("utf-8"))
    first = path.read_text("utf-8").rstrip().partition("      volumes:\n")
    assert all(first)
    evil = '{"name": "sparkgen-runtime", "configMap": {"name": "evil"}}'
    path.write_text(f"{''.join(first)}\n      volumes: [{evil}]\n")
    result = rendered("verify", "deploy")
    assert result.code == 1
    assert "not checked: duplicate key `volumes`" in result.err


def test_files_of_other_programs_are_no_finding(rendered: Cli) -> None:
    """Templates, tags that only another program knows, and mistakes in what has nothing of the runtime."""
    for name, text in {
        "helm.yaml": '{{ if .Values.a }}\na: "\\x41!"\n{{ end }}\n',
        "cloud.yaml": "a: !Ref b\nc: !Sub\n- !GetAtt d.e\n",
        "vault.yaml": "a: !vault |\n  $ANSIBLE\nb: {{ c }}\n",
        "twice.yaml": "a: 1\na: 2\n",
        "settings.json": '// a comment\n{"a": 1,}\n',
        "many.json": "{}{}",
        "pem.yaml": "-----BEGIN\n",
    }.items():
        Path("deploy", name).write_text(text)
    result = rendered("verify", "deploy")
    assert (result.code, result.err) == (0, "")


def test_the_runtime_comes_from_its_config_map_alone(rendered: Cli) -> None:
    """A volume of its name may have other files."""
    path = next(path for path in Path("deploy").rglob("*.yaml") if "kind: Job" in path.read_text("utf-8"))
    item = yaml.safe_load(path.read_text("utf-8"))
    for volume in item["spec"]["template"]["spec"]["volumes"]:
        if volume["name"] == contract.RUNTIME_VOLUME:
            volume["projected"] = {"sources": [{"configMap": volume.pop("configMap")}]}
    path.write_text(dump(item))
    result = rendered("verify", "deploy")
    assert result.code == 1
    assert "the files of its volume `sparkgen-runtime` come from projected" in result.err


def test_an_application_without_its_runtime(rendered: Cli) -> None:
    """The pods would take whatever is under this name: nothing has been verified."""
    Path("deploy", FILE).unlink()
    result = rendered("verify", "deploy")
    assert (result.code, rows(rendered("verify", "deploy", "-o", "json"))) == (1, [("missing", OLD, ["pi"])])
    assert "sparkgen verify -n default" in result.err


def test_another_name_for_the_runtime(rendered: Cli) -> None:
    """Applications may take the program from any ConfigMap."""
    for path in Path("deploy").glob("*.yaml"):
        path.write_text(path.read_text().replace(OLD, "tools"))
    assert rows(rendered("verify", "deploy", "-o", "json")) == [("altered", "tools", ["pi"])]


def test_nothing_to_verify_is_no_success(unnamed: Cli) -> None:
    """A check that has checked nothing must not pass."""
    result = unnamed("verify", "app.yaml")
    assert (result.code, result.out) == (1, "")
    assert "no ConfigMap with the runtime in app.yaml" in result.err


def test_what_cannot_be_read_is_reported(rendered: Cli) -> None:
    """Each file with its place, also beside a current runtime; but no template of something else."""
    Path("deploy/one.yaml").write_text(f"name: {contract.RUNTIME_NAME}-2.12\n{{\n")
    Path("deploy/large.yaml").write_text("#")
    with Path("deploy/large.yaml").open("r+b") as file:
        file.truncate(MOST_BYTES + 1)
    Path("deploy/template.yaml").write_text('name: "\\x41"\n{{ if }}\n')
    Path("deploy/pipe.yaml").symlink_to("/dev/zero")
    result = rendered("verify", "deploy")
    assert result.code == 1
    assert "deploy/one.yaml:2:1: not checked: " in result.err
    assert "deploy/large.yaml:1:1: not checked: the file is larger than 16 MiB" in result.err
    assert "template.yaml" not in result.err
    assert len(json.loads(rendered("verify", "deploy", "-o", "json").out)["unread"]) == 2
    long = rendered("verify", "-", stdin=b"#" * (MOST_BYTES + 1))
    assert "<stdin>:1:1: not checked: the file is larger than 16 MiB" in long.err


def test_hostile_shapes_end_in_no_internal_error(unnamed: Cli) -> None:
    """Values of any type, wherever an object has one of another."""
    named = {"kind": "ConfigMap", "metadata": {"name": OLD}}
    for value in (
        {**named, "metadata": {"name": OLD, "namespace": ["a"], "labels": ["a"]}},
        {
            **named,
            "metadata": {"name": OLD, "labels": {contract.LABEL_APPLICATION: [1]}},
            "spec": {"volumes": 7},
        },
        {**named, "spec": {"volumes": [7, {"name": contract.RUNTIME_VOLUME, "configMap": {"name": ["a"]}}]}},
        {"kind": ["List"], "items": [named, 7], "metadata": {"name": OLD}},
        {"kind": "List", "items": [7, named, {"metadata": 7}]},
    ):
        Path("it.yaml").write_text(json.dumps(value))
        result = unnamed("verify", "it.yaml")
        assert (result.code, "internal error" in result.err) == (1, False), result.err
        assert "altered" in result.out


def test_a_large_file_costs_no_more_than_a_few_times_its_size(unnamed: Cli) -> None:
    """Of thousands of objects, one is in memory; aliases that multiply are refused."""
    Path("many.yaml").write_text("---\nkind: ConfigMap\nmetadata: {name: sparkgen-runtime}\n" * 20_000)
    bomb = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
    Path("bomb.yaml").write_text(f"# sparkgen-runtime\na0: &a0 [a]\n{bomb}\n")
    tracemalloc.start()
    try:
        result = unnamed("verify", "many.yaml", "bomb.yaml")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (result.code, "bomb.yaml" in result.err) == (1, True)
    assert peak < 60 << 20


def test_wrong_usage(unnamed: Cli) -> None:
    """All paths that do not exist at once."""
    result = unnamed("verify", "app.yaml", "none", "neither")
    assert (result.code, "none, neither" in result.err) == (2, True)
    assert unnamed("verify", "app.yaml", "-n", "analytics").code == 2


def test_a_namespace(cluster: Cli, kube: Kube) -> None:
    """With what the server and a controller add; a tampered copy, and one of no label, are altered."""
    item = small("2.12").config_map("analytics")
    tracked = {**item["metadata"]["annotations"], "argocd.argoproj.io/tracking-id": "a:b"}
    live = {**item, "metadata": {**item["metadata"], "uid": "1", "annotations": tracked}}
    kube.put(f"{CONFIG_MAPS}/{OLD}", live)
    assert rows(cluster("verify", "-o", "json")) == [("current", OLD, ["pi"])]
    assert cluster("verify", "-n", "analytics").code == 0
    kube.put(f"{CONFIG_MAPS}/tools", {**item, "metadata": {**item["metadata"], "name": "tools"}})
    result = cluster("verify")
    assert result.code == 1
    assert "kubectl delete configmap tools -n analytics" in result.err
    assert rows(cluster("verify", "-o", "json"))[1] == ("altered", "tools", [])
    del item["metadata"]["labels"]
    kube.put(f"{CONFIG_MAPS}/{OLD}", item)
    assert rows(cluster("verify", "-o", "json"))[0] == ("altered", OLD, ["pi"])
    kube.objects.pop(f"{CONFIG_MAPS}/{OLD}")
    assert rows(cluster("verify", "-o", "json"))[0] == ("missing", OLD, ["pi"])


def test_a_namespace_in_which_workloads_may_not_be_listed(cluster: Cli, kube: Kube) -> None:
    """The ConfigMaps are verified all the same; without them, there is nothing to verify."""
    kube.refuse["GET", "/apis/batch/v1/namespaces/analytics/jobs"] = (403, "may not list")
    kube.kinds["/apis/batch/v1"] = ["Job"]
    result = cluster("verify")
    assert (result.code, "not checked: " in result.err) == (0, True), result.err
    kube.refuse["GET", CONFIG_MAPS] = (403, "may not list")
    assert cluster("verify").code == 2


def test_a_review_says_which_runtime_this_version_has_not_made(unnamed: Cli) -> None:
    """Under its own digest, another program is up to date: only a person can tell who made it."""
    item = EARLIER.config_map("default")
    Path("deploy").mkdir()
    opening = "# Generated by sparkgen 0.0.9; do not edit: change the document and render again.\n"
    file = f"deploy/config-map-{EARLIER.name}.yaml"
    Path(file).write_text(opening + dump(item))
    Path(".sparkgen.yaml").write_text(f"runtimeConfigMap: {EARLIER.name}\n")
    assert unnamed("render", "app.yaml", "-o", "deploy").code == 0
    said = f"{file}: this version of sparkgen has not made this runtime; to check it, run: sparkgen verify"
    for arguments in (("render", "-o", "deploy", "--check"), ("diff", "--rendered", "deploy")):
        result = unnamed(*arguments, "app.yaml")
        assert (result.code, f"{said} deploy" in result.err) == (0, True), result.err
    Path("apps").mkdir()
    Path("app.yaml").rename("apps/app.yaml")
    assert unnamed("render", "-R", "apps", "-o", "all").code == 0
    Path("all/sparkgen-runtime").mkdir()
    Path("all", "sparkgen-runtime", FILE).write_text(opening + dump(item))
    assert (
        f"all/sparkgen-runtime/{FILE}: this version"
        in unnamed("render", "-R", "apps", "-o", "all", "--check").err
    )


def test_a_review_of_this_versions_runtime_says_nothing(rendered: Cli) -> None:
    """And an altered one has the command that says what is wrong."""
    for arguments in (("render", "-o", "deploy", "--check"), ("diff", "--rendered", "deploy")):
        assert "sparkgen verify" not in rendered(*arguments, "app.yaml").err
    path = Path("deploy", FILE)
    path.write_text(path.read_text().replace("immutable: true", "immutable: false"))
    for arguments in (("render", "-o", "deploy", "--check"), ("diff", "--rendered", "deploy")):
        result = rendered(*arguments, "app.yaml")
        assert (result.code > 0, "run: sparkgen verify deploy" in result.err) == (True, True), result.err
