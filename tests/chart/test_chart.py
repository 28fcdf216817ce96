"""The chart as a chart: its generated files, what the checkers say, umbrellas, packages."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given

from chart import generate as generator
from chart import readme as chart_readme
from chart import schema as chart_schema
from demo import variants
from k8s import crds, pod_security
from sparkgen import __version__, contract
from sparkgen.__main__ import run
from sparkgen.chart import archive, export, files, package
from sparkgen.document import load
from sparkgen.errors import Severity, SparkgenError
from sparkgen.semantics.registry import RULES, RULES_OF_FILES
from sparkgen.yamltext import dump
from tests import reading, scale
from tests.chart import parity
from tests.chart.values_schema import validator
from tests.property.strategies import Broken, broken, documents

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "spark-app"
EXAMPLES = variants(ROOT / "examples")
PI = ROOT / "examples" / "python-pi" / "app.yaml"

Call = Callable[..., subprocess.CompletedProcess[str]]
Objects = Callable[[str], list[dict[str, Any]]]


# --- generated files ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", generator.generated())
def test_generated_files_are_up_to_date(name: str, golden: Callable[[Path, str], None]) -> None:
    """Tables, schema, README and the files of the run are what the generator has now (`make golden`)."""
    golden(CHART / name, generator.generated()[name])


def test_the_page_lists_the_charts_rules(golden: Callable[[Path, str], None]) -> None:
    """docs/helm.md says which rules the chart has, and why, as the registry says it (`make golden`)."""
    page = ROOT / "docs" / "helm.md"
    golden(page, chart_readme.with_rules(page.read_text("utf-8")))


def test_schema_is_small() -> None:
    """Helm compiles it at each call: below 84 KiB with room for new fields, and without prose."""
    text = (CHART / "values.schema.json").read_text("utf-8")
    assert len(text) < 86016
    assert '"description"' not in text.replace('"description":{', "")
    assert "$schema" in text


@given(documents().flatmap(broken))
def test_schema_refuses_what_the_documents_schema_refuses(document: Broken) -> None:
    """One defect in a valid document: both refuse it, but for a null, which takes an optional field away."""
    value: Any = document.value
    assert not validator().is_valid(value) or None in value_at(value, document.path)


@given(documents())
def test_schema_takes_what_the_documents_schema_takes(value: dict[str, Any]) -> None:
    """A valid document is a valid values file, with Helm's `global` and a null beside it, too."""
    assert validator().is_valid({**value, "global": {"a": 1}})
    assert validator().is_valid(
        {**value, "spec": {**value["spec"], "driver": None}} if "schedule" not in value["spec"] else value
    )


def value_at(value: Any, path: tuple[str | int, ...]) -> list[Any]:
    """What stands at a path, in a list; nothing where there is no such place."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return []
    return [value]


def test_every_step_has_its_layer_and_every_rule_its_template() -> None:
    """A step that only the generator has is noticed before a document needs it; no rule is here unasked."""
    text = "".join(path.read_text("utf-8") for path in (CHART / "templates").glob("_*.tpl"))
    defined = set(re.findall(r'define "([^"]+)"', text))
    tables = json.loads((CHART / "files" / "tables.json").read_text("utf-8"))
    steps = {step for role in tables["steps"].values() for part in role.values() for step in part}
    assert steps <= tables["layers"].keys()
    rules = {f"{kind}Rule" if kind else "rule": codes for kind, codes in tables["rules"].items()}
    wanted = {f"sparkgen.{kind}.{code}" for kind, codes in rules.items() for code in codes}
    assert wanted == {name for name in defined if re.search(r"ule\.SG", name)}
    of_chart = [rule for rule in (*RULES, *RULES_OF_FILES) if rule.chart]
    assert {code for codes in rules.values() for code in codes} == {rule.code for rule in of_chart}
    assert all(rule.severity is Severity.ERROR for rule in of_chart)
    called = set(re.findall(r'(?:template|include) "([^"]+)"', text))
    assert called <= defined
    assert len(re.findall(r'define "', text)) == len(defined), "a template is defined twice"


def test_versions_agree() -> None:
    """The chart has sparkgen's version, and names the runtime image of its contract."""
    described = reading.load((CHART / "Chart.yaml").read_text("utf-8"))
    assert (described["version"], described["appVersion"]) == (__version__, __version__)
    (image,) = reading.load(described["annotations"]["artifacthub.io/images"])
    assert image["image"] == contract.RUNTIME_IMAGE


def test_templates_ask_nothing_and_draw_nothing() -> None:
    """No `lookup`, nothing random or dated, and no label that changes with the chart."""
    text = "".join(path.read_text("utf-8") for path in (CHART / "templates").rglob("*") if path.is_file())
    words = r"(?<![$.\w])\w+"
    comments = r"\{\{-? ?/\*.*?\*/ ?-?\}\}"
    actions = " ".join(re.findall(r"\{\{.*?\}\}", re.sub(comments, "", text, flags=re.DOTALL), re.DOTALL))
    used = set(re.findall(words, re.sub(r'"(\\.|[^"\\])*"', "", actions)))
    assert used.isdisjoint(
        {"lookup", "uuidv4", "now", "date", "htpasswd", "env", "expandenv", "getHostByName"}
    )
    assert not [word for word in used if re.match(r"(rand|gen)[A-Z]", word)]
    assert "helm.sh/chart" not in text


@pytest.mark.parametrize("name", ["uninstall.py", "test.py"])
def test_scripts_are_python_without_libraries(name: str) -> None:
    """What a hook runs needs the standard library alone."""
    tree = ast.parse((CHART / "files" / name).read_text("utf-8"))
    imported = {
        alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= {"json", "re", "ssl", "sys", "time", "urllib", "subprocess"}


# --- checkers -------------------------------------------------------------------------------------


def test_lint(helm_call: Call) -> None:
    """`helm lint --strict` finds nothing, with each kind of workload."""
    for name in ("python-pi", "scheduled", "streaming"):
        done = helm_call("lint", "--strict", "spark-app", "-f", str(ROOT / "examples" / name / "app.yaml"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "0 chart(s) failed" in done.stdout
        assert "[" not in done.stdout, done.stdout


def test_kubernetes_accepts_every_object(
    helm_call: Call, objects: Objects, kubeconform: Callable[..., tuple[object, ...]], tmp_path: Path
) -> None:
    """Strict schemas of Kubernetes 1.30 to 1.36 find nothing in what helm prints, hooks included.

    Less the hooks it is what `sparkgen render` writes (test_parity.py), which is checked in each run.
    """
    few = [variant for variant in EXAMPLES if variant.name in parity.FEW]
    assert len(few) == len(parity.FEW)
    printed = {}
    for variant in EXAMPLES if scale.is_whole("tests/chart/test_chart.py") else few:
        overlays = [str(variant.overlay)] if variant.overlay else []
        (document,) = load([str(variant.document)], overlays, [], [], lambda: b"").documents
        namespace = document.value["metadata"].get("namespace", "default")
        values = [word for file in parity.values_files(variant, tmp_path) for word in ("-f", str(file))]
        done = helm_call("template", "x", "spark-app", "-n", namespace, *values)
        assert done.returncode == 0, done.stderr
        items = objects(done.stdout)
        assert [error for item in items if crds.is_custom(item) for error in crds.errors(item)] == []
        printed[f"{variant.name}.yaml"] = "---\n".join(
            dump(item) for item in items if not crds.is_custom(item)
        )
    newer = [name for name in printed if Path(name).stem in parity.IMAGE_VOLUMES]
    assert kubeconform(printed, image_volumes=newer) == ()


def test_hooks_are_restricted(helm_call: Call, objects: Objects) -> None:
    """Pod Security "restricted" takes the pods that Helm's hooks make; only one of them may do anything."""
    done = helm_call("template", "x", "spark-app", "-f", str(PI))
    hooks = [
        item for item in objects(done.stdout) if "helm.sh/hook" in item["metadata"].get("annotations", {})
    ]
    assert sorted(item["kind"] for item in hooks) == ["Job", "Pod", "Role", "RoleBinding", "ServiceAccount"]
    for item in hooks:
        if item["kind"] in ("Job", "Pod"):
            template = item["spec"]["template"] if item["kind"] == "Job" else item
            assert pod_security.violations(template) == []
    (role,) = [item for item in hooks if item["kind"] == "Role"]
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"list", "delete"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((), "Superseded runs stay until `helm uninstall x`"),
        (("--set", "spec.run.history.succeeded=3"), "A Job removes superseded runs"),
        (("--set", "metadata.target=argocd"), "A Job removes superseded runs"),
    ],
)
@pytest.mark.parametrize("helm", ["helm"], indirect=True)
def test_the_notes_say_what_becomes_of_earlier_runs(
    helm_call: Call, values: tuple[str, ...], said: str
) -> None:
    """They stay, unless a Job of the release removes them. Helm 3 prints notes only with a cluster."""
    done = helm_call("install", "x", "spark-app", "--dry-run=client", "-f", str(PI), *values)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert "http://python-pi.default.localhost:4040" in done.stdout  # shares nothing in the browser


BY_SPARK = ROOT / "examples" / "spark-backend" / "app.yaml"


def test_sparks_own_backend_needs_no_runtime(helm_call: Call, objects: Objects) -> None:
    """`helm uninstall` runs in the image of Python; there is no contract for `helm test`."""
    done = helm_call("template", "x", "spark-app", "-f", str(BY_SPARK))
    kinds = {
        item["kind"]
        for item in objects(done.stdout)
        if "helm.sh/hook" in item["metadata"].get("annotations", {})
    }
    assert (contract.RUNTIME_IMAGE in done.stdout, contract.PYTHON_IMAGE in done.stdout) == (False, True)
    assert kinds == {"Job", "Role", "RoleBinding", "ServiceAccount"}
    own = ("--set", "spec.pythonImage=registry.example.com/python:1", "-f", str(BY_SPARK))
    assert contract.PYTHON_IMAGE not in helm_call("template", "x", "spark-app", *own).stdout


@pytest.mark.parametrize(
    ("values", "warned"), [((), False), (("--set", "spec.run.history.succeeded=3"), True)]
)
@pytest.mark.parametrize("helm", ["helm"], indirect=True)
def test_the_notes_know_who_creates_the_executors(
    helm_call: Call, values: tuple[str, ...], warned: bool
) -> None:
    """With Spark's own backend, no allocator has a log; only the Job that removes runs has the runtime."""
    done = helm_call("install", "x", "spark-app", "--dry-run=client", "-f", str(BY_SPARK), *values)
    notes = done.stdout.partition("\nNOTES:\n")[2]
    assert "Follow the driver's log" in notes, done.stderr
    assert "-c allocator" not in notes
    assert ("WARNING: neither spec.runtimeImage" in notes) == warned


# --- umbrellas ------------------------------------------------------------------------------------


@pytest.fixture
def umbrella(tmp_path: Path) -> Path:
    """A chart with the chart twice, each application under its alias."""
    folder = tmp_path / "umbrella"
    shutil.copytree(CHART, folder / "charts" / "spark-app")
    dependencies = [
        {"name": "spark-app", "version": "*", "alias": alias, "condition": f"run.{alias}"}
        for alias in ("pi", "nightly")
    ]
    described = {"apiVersion": "v2", "name": "umbrella", "version": "0.1.0", "dependencies": dependencies}
    (folder / "Chart.yaml").write_text(yaml.safe_dump(described), encoding="utf-8")
    values = {
        "global": {"team": "analytics"},
        "pi": reading.load(PI.read_text("utf-8")),
        "nightly": reading.load((ROOT / "examples" / "scheduled" / "app.yaml").read_text("utf-8")),
    }
    (folder / "values.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    return folder


def test_several_applications_by_alias(umbrella: Path, helm_call: Call, objects: Objects) -> None:
    """Each alias gives the objects that its document gives alone; `global` is allowed; one can be off."""
    space = reading.load((umbrella / "values.yaml").read_text("utf-8"))["nightly"]["metadata"].get(
        "namespace", "default"
    )
    both = helm_call("template", "x", str(umbrella), "-n", space)
    assert both.returncode == 0, both.stderr
    alone = [
        helm_call("template", "x", "spark-app", "-n", space, "-f", str(ROOT / "examples" / name / "app.yaml"))
        for name in ("python-pi", "scheduled")
    ]
    assert [one.returncode for one in alone] == [0, 0], alone
    assert by_name(objects(both.stdout)) == by_name([item for one in alone for item in objects(one.stdout)])
    one = helm_call("template", "x", str(umbrella), "-n", space, "--set", "run.nightly=false")
    assert by_name(objects(one.stdout)) == by_name(objects(alone[0].stdout))


def by_name(items: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Objects by kind and name; no two may share one."""
    found = {(item["kind"], item["metadata"]["name"]): item for item in items}
    assert len(found) == len(items)
    return found


def test_an_alias_is_checked_too(umbrella: Path, helm_call: Call) -> None:
    """A wrong value below an alias is refused, by the schema and by the rules."""
    space = "--namespace=" + reading.load((umbrella / "values.yaml").read_text("utf-8"))["nightly"][
        "metadata"
    ].get("namespace", "default")
    form = helm_call("template", "x", str(umbrella), space, "--set", "pi.spec.exekutor=1")
    assert form.returncode != 0
    assert "additional properties 'exekutor' not allowed" in form.stderr
    inside = "pi.spec.driver.template.spec.hostPID=true"
    meaning = helm_call("template", "x", str(umbrella), space, "--set", inside)
    assert meaning.returncode != 0
    assert "error[SG166] spec.driver.template.spec.hostPID" in meaning.stderr


def test_a_driver_with_the_account_s_token_gets_no_rights_over_jobs(helm_call: Call) -> None:
    """Helm refuses no `concurrencyPolicy` beside Spark's own backend, and `validate` does (SG321)."""
    options = ("--set", "spec.allocator=spark", "--set", "spec.concurrencyPolicy=Replace")
    done = helm_call("template", "x", "spark-app", "-f", str(PI), *options)
    assert (done.returncode, done.stderr) == (0, "")
    resources = [
        resource
        for item in reading.load_all(done.stdout)
        if (item["kind"], item["metadata"]["name"]) == ("Role", "python-pi")
        for rule in item["rules"]
        for resource in rule["resources"]
    ]
    assert {*resources} == {"pods"}
    assert "-concurrency" not in done.stdout


# --- export and package ---------------------------------------------------------------------------


def test_package_is_a_chart(tmp_path: Path, helm_call: Call) -> None:
    """Helm reads the package; it is the same bytes every time; what it renders is what the folder renders."""
    path = package(tmp_path / "new")
    assert path.name == f"spark-app-{__version__}.tgz"
    assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(archive(files())).digest()
    packed = helm_call("template", "x", str(path), "-f", str(PI))
    assert (packed.returncode, packed.stderr) == (0, "")
    assert packed.stdout == helm_call("template", "x", "spark-app", "-f", str(PI)).stdout


def test_export(tmp_path: Path) -> None:
    """The folder has the chart's files, and no file of an earlier version; others' folders are left alone."""
    target = tmp_path / "chart"
    written = export(target)
    stale = target / "templates" / "_gone.tpl"
    stale.write_text("", encoding="utf-8")
    assert export(target) == written
    assert {
        path.relative_to(target).as_posix(): path.read_bytes() for path in target.rglob("*") if path.is_file()
    } == files()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x", encoding="utf-8")
    with pytest.raises(SparkgenError, match="holds something other"):
        export(tmp_path / "other")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`sparkgen chart` writes the package and says where; wrong usage is exit code 2."""
    with contextlib.chdir(tmp_path):
        assert run(["chart", "package"]) == 0
        assert run(["chart", "export", "here"]) == 0
        assert run(["chart", "export", "here"]) == 0
        assert run(["chart"]) == run(["chart", "export"]) == run(["chart", "push"]) == 2
    assert (tmp_path / f"spark-app-{__version__}.tgz").is_file()
    assert (tmp_path / "here" / "Chart.yaml").is_file()


def test_nothing_below_the_chart_is_forgotten() -> None:
    """The schema names all of the document's fields, and `global`."""
    schema = chart_schema.values_schema()
    assert set(schema["properties"]) == {"apiVersion", "kind", "metadata", "spec", "global"}
