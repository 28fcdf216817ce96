"""Documents that name no runtime: a ConfigMap beside them brings it, once for each folder or namespace."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen import contract
from sparkgen.document import load
from sparkgen.image.runtime_files import RuntimeFiles
from sparkgen.usecases.apply import wanted
from sparkgen.usecases.runtime import files_of, with_own_runtime
from sparkgen.yamltext import dump
from tests.fake_runtime import VARIABLE, small

from .conftest import DOCUMENT, Cli
from .kube import Kube

OLD, NEW = small("2.12").name, small("2.13").name
FILE = f"config-map-{OLD}.yaml"
EARLIER = RuntimeFiles("2.12", b"earlier", b"jar")
CONFIG_MAPS = "/api/v1/namespaces/analytics/configmaps"


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


def listed(folder: str) -> list[str]:
    """What a folder's kustomization lists."""
    return list(yaml.safe_load(Path(folder, "kustomization.yaml").read_text())["resources"])


def names(text: str) -> list[str]:
    """Kind and name of the objects in a stream."""
    return [f"{item['kind']} {item['metadata']['name']}" for item in yaml.safe_load_all(text)]


def write_two(folder: str = ".") -> None:
    """Two applications, of Spark 3.5 and of Spark 4."""
    Path(folder, "app.yaml").write_text(DOCUMENT)
    newer = DOCUMENT.replace("name: pi", "name: newer").replace("3.5.8", "4.3.0")
    Path(folder, "newer.yaml").write_text(newer)


def test_one_application(unnamed: Cli) -> None:
    """The ConfigMap is one of its files, before what mounts it; a check finds nothing to do."""
    assert unnamed("validate", "app.yaml", "--strict").out == "1 document valid\n"
    assert unnamed("render", "app.yaml", "-o", "deploy").code == 0
    assert listed("deploy")[0] == FILE
    item = yaml.safe_load(Path("deploy", FILE).read_text())
    assert base64.b64decode(item["binaryData"]["runtime.pyz"]) == b"program"
    job = Path("deploy/job.yaml").read_text()
    assert contract.PYTHON_IMAGE in job
    assert f"name: {OLD}\n" in job
    assert unnamed("render", "app.yaml", "-o", "deploy", "--check").code == 0
    assert unnamed("diff", "--rendered", "deploy", "app.yaml").code == 0
    assert names(unnamed("render", "app.yaml").out)[0] == f"ConfigMap {OLD}"


def test_several_applications_share_it(unnamed: Cli) -> None:
    """Once for each Scala version, above the folders of the applications."""
    write_two()
    Path("again.yaml").write_text(DOCUMENT.replace("name: pi", "name: again"))
    assert unnamed("render", ".", "-o", "deploy").code == 0
    assert listed("deploy") == [FILE, f"config-map-{NEW}.yaml", "again", "newer", "pi"]
    assert unnamed("render", ".", "-o", "deploy", "--check").code == 0
    assert unnamed("diff", "--rendered", "deploy", ".").code == 0
    told = names(unnamed("render", ".").out)
    assert told[:2] == [f"ConfigMap {OLD}", f"ConfigMap {NEW}"]
    assert told.count(f"ConfigMap {OLD}") == 1


def test_each_namespace_has_its_own(unnamed: Cli) -> None:
    """Pods mount only what is in their namespace."""
    for space in ("one", "two"):
        Path(f"{space}.yaml").write_text(DOCUMENT.replace("name: pi", f"name: pi\n  namespace: {space}"))
    Path("app.yaml").unlink()
    assert unnamed("render", ".", "-o", "deploy").code == 0
    files = [f"config-map-{space}.{OLD}.yaml" for space in ("one", "two")]
    assert listed("deploy") == [*files, "one.pi", "two.pi"]
    spaces = [yaml.safe_load(Path("deploy", file).read_text())["metadata"]["namespace"] for file in files]
    assert spaces == ["one", "two"]


def test_a_repository_has_it_beside_the_applications_of_a_folder(unnamed: Cli) -> None:
    """In a directory of its own, as every application; it goes with the last application that needs it."""
    for folder in ("apps/team/one", "apps/team/two", "apps/environments"):
        Path(folder).mkdir(parents=True)
    for name in ("one", "two"):
        Path("apps/team", name, "app.yaml").write_text(DOCUMENT.replace("name: pi", f"name: {name}"))
    for name in ("dev", "prod"):
        Path("apps/environments", f"{name}.yaml").write_text(f"metadata: {{namespace: {name}}}\n")
    assert unnamed("render", "-R", "apps", "-o", "deploy").code == 0
    for name in ("dev", "prod"):
        folder = f"deploy/{name}/team"
        assert sorted(path.name for path in Path(folder).iterdir()) == ["one", "sparkgen-runtime", "two"]
        assert listed(f"{folder}/sparkgen-runtime") == [FILE]
        assert FILE not in listed(f"{folder}/one")
    assert unnamed("render", "-R", "apps", "-o", "deploy", "--check").code == 0
    Path(".sparkgen.yaml").write_text(f"runtimeImage: {contract.RUNTIME_IMAGE}\n")
    assert unnamed("render", "-R", "apps", "-o", "deploy").code == 0
    assert not Path("deploy/dev/team/sparkgen-runtime").exists()


def test_a_document_stays_with_an_earlier_runtime(unnamed: Cli) -> None:
    """It is in the cluster already: nothing is written, and an upgrade starts no new run."""
    earlier = f"{contract.RUNTIME_NAME}-2.12-{'0' * 32}"
    Path(".sparkgen.yaml").write_text(
        f"runtimeConfigMap: {earlier}\npythonImage: registry.example.com/python:3.13\n"
    )
    result = unnamed("render", "app.yaml").out
    assert f"ConfigMap {OLD}" not in names(result)
    assert f"name: {earlier}\n" in result
    assert "image: registry.example.com/python:3.13\n" in result


def pin(name: str) -> None:
    """Name the runtime of an earlier version for all documents."""
    Path(".sparkgen.yaml").write_text(f"runtimeConfigMap: {name}\n")


def write_earlier(folder: str, item: dict[str, Any]) -> None:
    """Put a ConfigMap where the earlier version rendered it, with its kustomization."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = f"config-map-{EARLIER.name}.yaml"
    opening = "# Generated by sparkgen 0.0.9; do not edit: change the document and render again.\n"
    Path(folder, file).write_text(opening + yaml.safe_dump(item))
    Path(folder, "kustomization.yaml").write_text(f"{opening}resources:\n- {file}\n")


def test_an_earlier_runtime_stays_while_a_document_names_it(unnamed: Cli) -> None:
    """Also without what keeps it; and it goes with the last document that names it."""
    item = EARLIER.config_map("default")
    item["metadata"]["annotations"].popitem()
    write_earlier("deploy", item)
    pin(EARLIER.name)
    assert unnamed("render", "app.yaml", "-o", "deploy").code == 0
    file = f"config-map-{EARLIER.name}.yaml"
    assert listed("deploy")[0] == file
    assert yaml.safe_load(Path("deploy", file).read_text()) == EARLIER.config_map("default")
    assert unnamed("render", "app.yaml", "-o", "deploy", "--check").code == 0
    assert unnamed("diff", "--rendered", "deploy", "app.yaml").code == 0
    Path(".sparkgen.yaml").unlink()
    assert unnamed("render", "app.yaml", "-o", "deploy").code == 0
    assert not Path("deploy", file).exists()


def test_another_program_under_an_earlier_name_does_not_stay(unnamed: Cli) -> None:
    """The check reports it, as every file that no document renders."""
    write_earlier("deploy", {**EARLIER.config_map("default"), "binaryData": {"runtime.pyz": "AA=="}})
    pin(EARLIER.name)
    result = unnamed("render", "app.yaml", "-o", "deploy", "--check")
    assert result.code == 1
    assert f"--- deploy/config-map-{EARLIER.name}.yaml\n+++ /dev/null" in result.out


def test_a_repository_keeps_an_earlier_runtime_for_the_folders_that_name_it(unnamed: Cli) -> None:
    """Wherever a file of it is: for a new folder and namespace, too."""
    for name in ("one", "two"):
        Path("apps", name).mkdir(parents=True)
        text = DOCUMENT.replace("name: pi", f"name: app\n  namespace: {name}")
        Path("apps", name, "app.yaml").write_text(text)
    write_earlier("deploy/gone/sparkgen-runtime", EARLIER.config_map("gone"))
    write_earlier("deploy/one/sparkgen-runtime", EARLIER.config_map("one"))
    pin(EARLIER.name)
    assert unnamed("render", "-R", "apps", "-o", "deploy").code == 0
    for name in ("one", "two"):
        (file,) = listed(f"deploy/{name}/sparkgen-runtime")
        text = Path("deploy", name, "sparkgen-runtime", file).read_text()
        assert yaml.safe_load(text) == EARLIER.config_map(name)
    assert not Path("deploy/gone").exists()
    assert unnamed("render", "-R", "apps", "-o", "deploy", "--check").code == 0


def test_folders_of_one_namespace_have_it_once(unnamed: Cli) -> None:
    """Else two Applications would own one object; other environments may be other clusters."""
    for name in ("one", "two"):
        Path("apps", name).mkdir(parents=True)
        Path("apps", name, "app.yaml").write_text(DOCUMENT.replace("name: pi", f"name: {name}-app"))
    Path("apps/environments").mkdir()
    for name in ("dev", "prod"):
        Path("apps/environments", f"{name}.yaml").write_text("metadata: {namespace: shared}\n")
    assert unnamed("render", "-R", "apps", "-o", "deploy").code == 0
    found = sorted(path.as_posix() for path in Path("deploy").rglob("config-map-sparkgen-runtime-*"))
    assert found == [f"deploy/{name}/one/sparkgen-runtime/{FILE}" for name in ("dev", "prod")]
    assert unnamed("render", "-R", "apps", "-o", "deploy", "--check").code == 0


def test_nothing_is_compiled_for_a_named_runtime(unnamed: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is all that is needed, also where this version's runtime has not been made."""
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("SPARKGEN_CACHE", "/dev/null/none")
    pin(EARLIER.name)
    result = unnamed("render", "app.yaml")
    assert (result.code, f"name: {EARLIER.name}\n" in result.out) == (0, True), result.err


def test_the_command_prints_it(unnamed: Cli) -> None:
    """For Helm: the same bytes as beside a document, and its name."""
    assert unnamed("runtime", "4.3.0", "--name").out == f"{NEW}\n"
    assert unnamed("runtime", "--scala", "2.13", "--name").out == f"{NEW}\n"
    unnamed("render", "app.yaml", "-o", "deploy")
    assert unnamed("runtime", "3.5.8").out == Path("deploy", FILE).read_text()
    assert "namespace: team\n" in unnamed("runtime", "-n", "team").out
    assert unnamed("runtime", "4.3.0", "--scala", "2.13").code == 2


def test_between_revisions_it_is_a_new_run(unnamed: Cli) -> None:
    """The image that a document no longer names is a difference, with its cause."""
    Path("app.yaml").write_text(f"{DOCUMENT}  runtimeImage: a.b/c:1\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "Begin")):
        person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *person, *words], check=True, capture_output=True)
    Path("app.yaml").write_text(DOCUMENT)
    result = unnamed("diff", "--brief", "--from", "HEAD", ".")
    assert result.code == 1
    assert "runtime" in result.out


@pytest.fixture
def cluster(unnamed: Cli, kube: Kube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line with a cluster."""
    monkeypatch.setenv("KUBECONFIG", kube.kubeconfig(tmp_path))
    return unnamed


def test_apply_creates_it_once_and_first(cluster: Cli, kube: Kube) -> None:
    """For all applications of the namespace, also without the right to change ConfigMaps."""
    write_two()
    dry = cluster("apply", "app.yaml", "--dry-run", "--skip-preflight")
    assert dry.out.splitlines()[0] == f"configmap/{OLD} created (dry run)"
    assert OLD not in kube.named("ConfigMap")
    kube.refuse["PATCH", f"{CONFIG_MAPS}/{OLD}"] = (403, "may not patch")
    first = cluster("apply", ".")
    assert first.code == 0, first.err
    assert first.out.splitlines()[:2] == [f"configmap/{OLD} created", f"configmap/{NEW} created"]
    jobs = [number for number, line in enumerate(kube.asked) if line.startswith("PATCH") and "/jobs/" in line]
    made = kube.asked.index(f"POST {CONFIG_MAPS}")
    assert made < min(number for number in jobs if "dry" not in kube.asked[number])
    again = cluster("apply", ".")
    assert again.out.splitlines()[:2] == [f"configmap/{OLD} unchanged", f"configmap/{NEW} unchanged"]


def test_another_program_under_its_name_is_refused(cluster: Cli, kube: Kube) -> None:
    """Whoever put it there would get the allocator's token: nothing is applied."""
    item = small("2.12").config_map("analytics")
    kube.put(f"{CONFIG_MAPS}/{OLD}", {**item, "binaryData": {**item["binaryData"], "runtime.pyz": "AA=="}})
    result = cluster("apply", "app.yaml")
    assert result.code != 0
    assert f"kubectl delete configmap {OLD} -n analytics" in result.err
    assert not [line for line in kube.asked if line.startswith("PATCH") and not line.endswith(" dry")]


def test_another_program_under_an_earlier_name_is_refused(cluster: Cli, kube: Kube) -> None:
    """The digest in a name that a document gives is compared, too."""
    pin(EARLIER.name)
    item = EARLIER.config_map("analytics")
    path = f"{CONFIG_MAPS}/{EARLIER.name}"
    kube.put(path, {**item, "binaryData": {**item["binaryData"], "runtime.pyz": "AA=="}})
    result = cluster("apply", "app.yaml")
    assert result.code != 0
    assert f"kubectl delete configmap {EARLIER.name} -n analytics" in result.err
    assert not [line for line in kube.asked if line.startswith("PATCH") and not line.endswith(" dry")]
    kube.put(path, item)
    assert cluster("apply", "app.yaml").code == 0


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"ownerReferences": [{"kind": "Job", "name": "a", "uid": "1", "apiVersion": "batch/v1"}]}, "owner"),
        ({"labels": {contract.LABEL_APPLICATION: "other"}}, f"the label {contract.LABEL_APPLICATION}"),
        ({"labels": {contract.LABEL_RUN: "other-0a1b2c3d"}}, f"the label {contract.LABEL_RUN}"),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, "is being deleted"),
    ],
)
def test_a_runtime_that_would_not_stay_is_refused(
    cluster: Cli, kube: Kube, metadata: dict[str, Any], said: str
) -> None:
    """With the right content: whoever owns it can take it away while runs use it."""
    item = small("2.12").config_map("analytics")
    kube.put(f"{CONFIG_MAPS}/{OLD}", {**item, "metadata": {**item["metadata"], **metadata}})
    result = cluster("apply", "app.yaml", "--skip-preflight")
    assert result.code != 0
    assert said in result.err
    assert not [line for line in kube.asked if line.startswith("PATCH") and not line.endswith(" dry")]


def test_delete_says_when_nothing_uses_it_any_more(cluster: Cli, kube: Kube) -> None:
    """It stays while another application has it, and is never deleted unasked."""
    write_two()
    Path("again.yaml").write_text(DOCUMENT.replace("name: pi", "name: again"))
    assert cluster("apply", ".").code == 0
    first = cluster("delete", "pi", "--yes")
    assert (first.code, OLD in first.err) == (0, False), first.err
    second = cluster("delete", "again", "--yes")
    command = f"kubectl delete configmap {OLD} -n analytics"
    assert (second.code, command in second.err, NEW in second.err) == (0, True, False)
    assert {OLD, NEW} <= set(kube.named("ConfigMap"))


def test_delete_advises_to_delete_no_config_map_that_only_looks_like_one(cluster: Cli, kube: Kube) -> None:
    """Anybody can set its labels, and a name; only its content tells it."""
    write_two()
    assert cluster("apply", "app.yaml").code == 0
    item = small("2.12").config_map("analytics")
    theirs = {**item, "metadata": {**item["metadata"], "name": "passwords"}, "binaryData": {"a": "AA=="}}
    kube.put(f"{CONFIG_MAPS}/passwords", theirs)
    result = cluster("delete", "pi", "--yes")
    assert (result.code, OLD in result.err, "passwords" in result.err) == (0, True, False), result.err


def test_the_doctor_has_one_that_goes_with_it(unnamed: Cli) -> None:
    """Under its own name: nobody else starts to use it, and nothing stays behind."""
    (document,) = load(("app.yaml",), stdin=bytes).documents
    shared = wanted(document, "team")
    own = with_own_runtime(shared)
    assert (shared.runtime, own.runtime) == (OLD, "")
    assert OLD not in json.dumps(own.objects)
    assert "pi-runtime" in json.dumps(next(item for item in own.objects if item["kind"] == "Job"))
    config_map = own.objects[0]
    assert config_map["binaryData"] == small("2.12").config_map("team")["binaryData"]
    assert config_map["metadata"]["labels"][contract.LABEL_APPLICATION] == "pi"
    assert with_own_runtime(own) is own


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda item: item["binaryData"].update({"runtime.pyz": "AA=="}), 2),
        (lambda item: item["binaryData"].update(more="AA=="), 2),
        (lambda item: item.update(data={"more": "a"}), 2),
        (lambda item: item.update(immutable=False), 2),
        (lambda item: item["metadata"].update(ownerReferences=[]), 2),
        (lambda item: item["metadata"]["annotations"].update({"argocd.argoproj.io/hook": "Sync"}), 2),
        (lambda item: item["metadata"].update(name="other"), 2),
        (lambda item: item.update(kind="RoleBinding", roleRef={"kind": "ClusterRole", "name": "admin"}), 2),
        (lambda item: item["metadata"]["labels"].update({contract.LABEL_APPLICATION: "other"}), 1),
        (lambda item: item["metadata"]["annotations"].popitem(), 2),
        (
            lambda item: item["metadata"]["annotations"].update(
                {"argocd.argoproj.io/sync-options": "Prune=true"}
            ),
            2,
        ),
    ],
)
def test_diff_knows_the_runtime_by_its_content(
    unnamed: Cli, change: Callable[[dict[str, Any]], object], code: int
) -> None:
    """A file of its name with anything else is reported, as every file that no document renders."""
    assert unnamed("render", "app.yaml", "-o", "deploy").code == 0
    path = Path("deploy", FILE)
    item = yaml.safe_load(path.read_text())
    change(item)
    opening = path.read_text().partition("\n")[0]
    path.write_text(f"{opening}\n{dump(item)}")
    result = unnamed("diff", "--rendered", "deploy", "app.yaml")
    assert result.code == code
    assert (f"deploy/{FILE} has sparkgen's header, but is not a valid manifest" in result.err) == (code == 2)
    assert unnamed("render", "app.yaml", "-o", "deploy", "--check").code == 1


def test_diff_reports_a_key_that_is_twice_in_the_file_of_the_runtime(unnamed: Cli) -> None:
    """Programs differ in which of the two they read."""
    assert unnamed("render", "app.yaml", "-o", "deploy").code == 0
    path = Path("deploy", FILE)
    path.write_text(
        path.read_text().replace("binaryData:\n", "binaryData: {runtime.pyz: AA==}\nbinaryData:\n")
    )
    assert unnamed("diff", "--rendered", "deploy", "app.yaml").code == 2


def test_diff_reports_a_second_object_in_the_file_of_the_runtime(unnamed: Cli) -> None:
    """Which a controller would apply with the ConfigMap."""
    assert unnamed("render", "app.yaml", "-o", "deploy").code == 0
    with Path("deploy", FILE).open("a") as file:
        file.write("---\nkind: RoleBinding\nmetadata: {name: admin}\n")
    assert unnamed("diff", "--rendered", "deploy", "app.yaml").code == 2


def test_diff_knows_the_runtime_of_an_earlier_version_and_of_several_namespaces(unnamed: Cli) -> None:
    """Its name has the digest of its content, so nothing is compiled to recognize it."""
    write_two()
    for name in ("app", "newer"):
        text = Path(f"{name}.yaml").read_text()
        Path(f"{name}.yaml").write_text(text.replace("metadata:\n", f"metadata:\n  namespace: {name}\n"))
    Path("again.yaml").write_text(DOCUMENT.replace("name: pi", "name: again\n  namespace: newer"))
    assert unnamed("render", ".", "-o", "deploy").code == 0
    earlier = EARLIER.config_map("app")
    opening = Path("deploy/kustomization.yaml").read_text().partition("\n")[0]
    Path("deploy", f"config-map-{EARLIER.name}.yaml").write_text(f"{opening}\n{dump(earlier)}")
    assert unnamed("diff", "--rendered", "deploy", ".").code == 0
