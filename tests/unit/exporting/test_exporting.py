"""What `sparkgen export` writes, held by `import`: there and back renders the same pods."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from sparkgen import api, contract
from sparkgen.document import Document
from sparkgen.errors import SparkgenError
from sparkgen.exporting import apache, kubeflow, submit
from sparkgen.exporting.convert import EXPORTED_KINDS, Exported, Tool, export
from sparkgen.exporting.rows import DEFAULT_ACCOUNT, in_the_image
from sparkgen.importing import FINDINGS, Choices, Outcome, import_all
from sparkgen.importing.table import Table
from sparkgen.schema.store import application_schema
from sparkgen.usecases.validate import examine

TESTS = Path(__file__).parents[2]
GOOD = sorted((TESTS / "golden/good").glob("*.yaml"))
IMPORTED = sorted((TESTS / "golden/import/expected").glob("*.yaml"))
TABLES = {Tool.KUBEFLOW: kubeflow.TABLE, Tool.APACHE: apache.TABLE, Tool.SPARK_SUBMIT: submit.TABLE}
OTHER_FORM = {
    "dynamic-allocation-in-spark-conf.yaml": "import writes True as true",
}
"""Documents that come back in another form from the tools with pod templates."""
MINIMAL = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: {name: pi}
spec:
  type: Python
  sparkVersion: "3.5.8"
  image: registry.example.com/spark:3.5.8
  runtimeImage: registry.example.com/runtime:1
  mainApplicationFile: local:///opt/pi.py
"""


def _documents(path: Path) -> list[Document]:
    checked = api.load(api.Inputs((str(path),), local_files="present"))
    return [] if checked.errors else list(checked.documents)


def _document(folder: Path, text: str = MINIMAL) -> Document:
    path = folder / "app.yaml"
    path.write_text(text, "utf-8")
    (document,) = _documents(path)
    return document


@pytest.mark.parametrize("tool", list(Tool))
def test_an_archive_of_logs_is_lost_without_a_word_about_log_levels(tool: Tool, tmp_path: Path) -> None:
    """A document with nothing but an archive has no log4j2.properties."""
    archive = "  logging:\n    archive: {url: s3://data-logs/x, image: docker.io/rclone/rclone:1.76.0}\n"
    report = export(_document(tmp_path, MINIMAL + archive), tool).report
    (told,) = [one for one in report.entries if "logging" in one.source]
    assert told.outcome is Outcome.LOST
    assert told.source[-1] == "archive"
    assert "log4j2" not in told.reason + told.step


def _spec(document: Mapping[str, Any]) -> Any:
    spec = document["spec"]
    return spec["template"] if document["kind"] == "ScheduledSparkApplication" else spec


def _prepared(path: Path, folder: Path, tool: Tool) -> Path | None:
    """A document with an account, and for properties without `hadoopConf`, which comes back as properties."""
    documents = [item for item in yaml.safe_load_all(path.read_text("utf-8")) if item]
    if len(documents) != 1 or documents[0]["kind"] not in EXPORTED_KINDS:
        return None
    spec = _spec(documents[0])
    spec.setdefault("driver", {}).setdefault("serviceAccount", DEFAULT_ACCOUNT)
    if tool is not Tool.KUBEFLOW:
        hadoop = {f"spark.hadoop.{name}": text for name, text in spec.pop("hadoopConf", {}).items()}
        spec["sparkConf"] = {**spec.get("sparkConf", {}), **hadoop}
    result = folder / "app.yaml"
    result.write_text(yaml.safe_dump(documents[0], sort_keys=False), "utf-8")
    return result


def _pods(document: Document) -> Any:
    """The driver's pod, the executors' template, and the files of the run, without the run's hash."""
    (bundle,) = api.render([document])
    found: dict[str, Any] = {}
    for manifest in bundle.manifests:
        item = json.loads(json.dumps(manifest.object))
        if item["kind"] in ("Job", "Deployment", "CronJob"):
            spec = item["spec"]["jobTemplate"]["spec"] if item["kind"] == "CronJob" else item["spec"]
            found |= {"kind": item["kind"], "driver": spec["template"]}
        for key, text in item.get("data", {}).items():
            found[key] = json.loads(text) if key.endswith(".json") else text
    found["driver"]["metadata"].pop("annotations", None)
    for pod in (found["driver"], found["executor.json"]["template"]):
        # sparkgen's own are between those of a field, and after those of a template
        pod["spec"].get("initContainers", []).sort(key=lambda item: str(item["name"]))
    text = json.dumps(found, sort_keys=True)
    text = re.sub(r'"SPARKGEN_SCALA_VERSION", "value": "[0-9.]+"', '"SPARKGEN_SCALA_VERSION"', text)
    text = re.sub(r'("name": "[A-Z_]*SCALA[A-Z_]*", "value": )"[0-9.]+"', r"\1null", text)
    text = re.sub(rf"{contract.RUNTIME_NAME}-[0-9.]+-[0-9a-f]+", contract.RUNTIME_NAME, text)
    text = re.sub(r'("nvidia.com/gpu": )"?([0-9]+)"?', r"\1\2", text)
    return json.loads(re.sub(r"-[0-9a-f]{8}\b", "-RUN", text))


def _back(exported: Exported, folder: Path, spark: str) -> Document:
    for name, text in exported.files.items():
        (folder / name).write_text(text, "utf-8")
    first = str(folder / next(iter(exported.files)))
    choices = Choices(name=exported.report.name, spark_version=spark)
    result = import_all([first], choices, examine, lambda: b"")
    (item,) = result.imported
    assert item.problems == result.problems == ()
    return _document(folder, item.text)


@pytest.mark.parametrize("tool", list(Tool), ids=lambda tool: tool.value)
@pytest.mark.parametrize("path", [*GOOD, *IMPORTED], ids=lambda path: path.stem)
def test_what_was_exported_without_findings_imports_to_the_same_pods(
    path: Path, tool: Tool, tmp_path: Path
) -> None:
    """A law: there and back is the same run, unless a finding says what is not."""
    prepared = _prepared(path, tmp_path, tool)
    documents = _documents(prepared) if prepared else []
    if not documents or (path.name in OTHER_FORM and tool is not Tool.KUBEFLOW):
        return
    (document,) = documents
    if _spec(document.value).get("allocator") == "spark":
        return  # what comes back has sparkgen's allocator, the default
    exported = export(document, tool)
    findings = [entry for entry in exported.report.findings if "its account needs rights" not in entry.reason]
    if any("krb5" in entry for entry in exported.report.text.split()) or findings:
        return
    back = _back(exported, tmp_path, str(_spec(document.value)["sparkVersion"]))
    assert _pods(back) == _pods(document)


def test_most_documents_come_back(tmp_path: Path) -> None:
    """The law above is about something: documents without findings, for each tool."""
    for tool in Tool:
        without = 0
        for path in GOOD:
            prepared = _prepared(path, tmp_path, tool)
            for document in _documents(prepared) if prepared else []:
                findings = export(document, tool).report.findings
                without += all("its account needs rights" in entry.reason for entry in findings)
        assert without >= 12, tool


def _paths(section: Mapping[str, Any], prefix: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The fields of a section, and those below the sections that have no row of their own."""
    definitions = application_schema()["$defs"]
    for name, field in section["properties"].items():
        yield (*prefix, name)
        reference = str(field.get("$ref", "")).removeprefix("#/$defs/")
        if len(prefix) == 1 and definitions.get(reference, {}).get("properties"):
            yield from _paths(definitions[reference], (*prefix, name))


@pytest.mark.parametrize("tool", list(Tool), ids=lambda tool: tool.value)
def test_every_field_of_an_application_has_a_row(tool: Tool) -> None:
    """So that no field is reported as unknown."""
    rows: Table = TABLES[tool]
    known = application_schema()["$defs"]["applicationSpec"]
    missing = [
        path
        for path in _paths(known, ("spec",))
        if not any(rows.row(path[:length]) for length in range(2, len(path) + 1)) and not rows.leads_on(path)
    ]
    assert missing == []


@pytest.mark.parametrize("tool", list(Tool), ids=lambda tool: tool.value)
@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_every_value_is_in_the_report(path: Path, tool: Tool) -> None:
    """A law: each leaf of a document is covered by an entry at or above its path."""
    for document in _documents(path):
        if document.value["kind"] not in EXPORTED_KINDS:
            continue
        entries = export(document, tool).report.entries
        sources = {entry.source for entry in entries}
        assert not any("unknown field" in entry.reason for entry in entries)
        for leaf in _leaves(document.value, ()):
            covered = any(leaf[:length] in sources for length in range(1, len(leaf) + 1))
            below = any(source[: len(leaf)] == leaf for source in sources)
            assert covered or below, leaf


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path


def test_a_name_in_a_script_runs_nothing(tmp_path: Path) -> None:
    """Texts of a document are words of the command or comments, whatever is in them."""
    text = MINIMAL + (
        '  arguments: ["$(touch /tmp/x)", "a\'b", "line\\nbreak"]\n'
        '  sparkConf: {"spark.a": "`id`", "spark.b": "$HOME \\"x\\""}\n'
    )
    script = next(iter(export(_document(tmp_path, text), Tool.SPARK_SUBMIT).files.values()))
    result = import_all([str(_written(tmp_path, script))], Choices(), examine, lambda: b"")
    spec = yaml.safe_load(result.imported[0].text)["spec"]
    assert spec["arguments"] == ["$(touch /tmp/x)", "a'b", "line\nbreak"]
    own = {"spark.app.name": "pi", "spark.authenticate": "true"}
    assert spec["sparkConf"] == {"spark.a": "`id`", "spark.b": '$HOME "x"'} | own


def _written(folder: Path, script: str) -> Path:
    path = folder / "submit.sh"
    path.write_text(script, "utf-8")
    return path


def test_what_the_operator_needs_is_added(tmp_path: Path) -> None:
    """The mode, an account, and the pause without which it never retries."""
    text = MINIMAL + "  restartPolicy: {type: OnFailure, onFailureRetries: 2}\n"
    exported = export(_document(tmp_path, text), Tool.KUBEFLOW)
    spec = yaml.safe_load(exported.files["pi.yaml"])["spec"]
    assert spec["mode"] == "cluster"
    assert spec["restartPolicy"] == {"type": "OnFailure", "onFailureRetries": 2, "onFailureRetryInterval": 10}
    assert spec["driver"]["serviceAccount"] == DEFAULT_ACCOUNT
    assert [entry.outcome for entry in exported.report.findings] == [Outcome.GUESSED]


def test_a_schedule_is_lost_where_the_format_has_none(tmp_path: Path) -> None:
    """Apache's operator has no schedules; kubeflow's has other defaults."""
    text = MINIMAL.replace("kind: SparkApplication", "kind: ScheduledSparkApplication")
    head, _, body = text.partition("spec:\n")
    body = "".join(f"  {line}\n" for line in body.splitlines())
    document = _document(tmp_path, f'{head}spec:\n  schedule: "@daily"\n  template:\n{body}')
    lost = {entry.subject for entry in export(document, Tool.APACHE).report.findings}
    assert lost >= {"spec.schedule"}
    operator = yaml.safe_load(export(document, Tool.KUBEFLOW).files["pi.yaml"])
    assert operator["kind"] == "ScheduledSparkApplication"
    assert operator["spec"]["schedule"] == "@daily"
    assert operator["spec"]["concurrencyPolicy"] == "Forbid"
    assert operator["spec"]["template"]["mainApplicationFile"] == "local:///opt/pi.py"


def test_kueue_finds_the_application_by_its_label(tmp_path: Path) -> None:
    """The operator has no field for it."""
    text = MINIMAL + "  batchScheduler: kueue\n  batchSchedulerOptions: {queue: team}\n"
    document = yaml.safe_load(export(_document(tmp_path, text), Tool.KUBEFLOW).files["pi.yaml"])
    assert document["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "team"}
    assert "batchScheduler" not in document["spec"]


def test_a_field_replaces_what_the_template_has_under_its_name(tmp_path: Path) -> None:
    """As in the pods that sparkgen renders: the API server would refuse two items of one name."""
    container = {
        "name": "spark-kubernetes-driver",
        "env": [{"name": "A", "value": "template"}, {"name": "B", "value": "kept"}],
        "volumeMounts": [{"name": "new", "mountPath": "/data", "readOnly": True}],
    }
    tolerations = [{"key": "spot", "operator": "Exists"}]
    template = {"spec": {"containers": [container], "tolerations": tolerations}}
    document = yaml.safe_load(MINIMAL)
    document["spec"]["volumes"] = [{"name": "new", "emptyDir": {}}]
    document["spec"].setdefault("driver", {}).update(
        {
            "template": template,
            "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "a"}}}],
            "volumeMounts": [{"name": "new", "mountPath": "/data"}],
            "tolerations": tolerations,
        }
    )
    for tool in (Tool.SPARK_SUBMIT, Tool.APACHE):
        files = export(_document(tmp_path, yaml.safe_dump(document)), tool).files
        text = files["pi-driver.yaml"] if tool is Tool.SPARK_SUBMIT else files["pi.yaml"]
        found = yaml.safe_load(text)
        pod = (
            found["spec"]
            if tool is Tool.SPARK_SUBMIT
            else found["spec"]["driverSpec"]["podTemplateSpec"]["spec"]
        )
        main = pod["containers"][0]
        assert main["env"] == [
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "a"}}},
            {"name": "B", "value": "kept"},
        ]
        assert main["volumeMounts"] == [{"name": "new", "mountPath": "/data"}]
        assert pod["tolerations"] == tolerations


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    """With their position, and the kinds that can be exported."""
    text = (TESTS.parent / "examples/shuffle-service/app.yaml").read_text("utf-8")
    with pytest.raises(SparkgenError, match="a SparkShuffleService cannot be exported"):
        export(_document(tmp_path, text), Tool.KUBEFLOW)


def test_files_beside_a_document_are_findings(tmp_path: Path) -> None:
    """Each format has a finding."""
    (tmp_path / "job.py").write_text("", "utf-8")
    text = MINIMAL.replace("local:///opt/pi.py", "./job.py")
    text += "  delivery: {repository: registry.example.com/code}\n"
    for tool in Tool:
        findings = export(_document(tmp_path, text), tool).report.findings
        assert any("only sparkgen brings it into the pods" in entry.reason for entry in findings)


def test_templates_beside_a_script_are_read(tmp_path: Path) -> None:
    """Import reads what `spark.kubernetes.ROLE.podTemplateFile` names, and keeps its container."""
    pod = "kind: Pod\nspec:\n  containers: [{name: main, env: [{name: A, value: b}]}]\n"
    (tmp_path / "driver.yaml").write_text(pod, "utf-8")
    script = (
        "nohup spark-submit --conf spark.kubernetes.driver.podTemplateFile=driver.yaml "
        "--conf spark.kubernetes.executor.podTemplateFile=/etc/absent.yaml local:///opt/a.py\n"
    )
    (item,) = import_all([str(_written(tmp_path, script))], Choices(), examine, lambda: b"").imported
    template = yaml.safe_load(item.text)["spec"]["driver"]["template"]
    assert template["spec"]["containers"] == [
        {"name": "spark-kubernetes-driver", "env": [{"name": "A", "value": "b"}]}
    ]
    lost = {entry.subject for entry in item.entries if entry.outcome is Outcome.LOST}
    assert lost == {"--conf spark.kubernetes.executor.podTemplateFile"}
    assert FINDINGS[0] is Outcome.LOST


@pytest.mark.parametrize("tool", list(Tool), ids=lambda tool: tool.value)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("local:///opt/pi.py", '"--name=local:///opt/pi.py"'),
        ("registry.example.com/spark:3.5.8", '"r.example.com/${env:SECRET}:1"'),
    ],
)
def test_nothing_means_more_where_it_is_submitted(tool: Tool, old: str, new: str, tmp_path: Path) -> None:
    """No option in place of the main file, and no variable of the machine that submits."""
    document = _document(tmp_path, MINIMAL.replace(old, new, 1))
    with pytest.raises(SparkgenError, match="spark-submit would"):
        export(document, tool)


@pytest.mark.parametrize("tool", list(Tool), ids=lambda tool: tool.value)
def test_what_has_no_effect_under_sparkgen_gets_none_elsewhere(tool: Tool, tmp_path: Path) -> None:
    """A key file of the submitting machine would be sent to the cluster."""
    text = MINIMAL + ("  sparkConf:\n    spark.kubernetes.authenticate.driver.clientKeyFile: /home/me/key\n")
    assert "clientKeyFile" not in export(_document(tmp_path, text), tool).report.text


@pytest.mark.parametrize("tool", list(Tool), ids=lambda tool: tool.value)
def test_no_property_refers_to_what_is_where_it_is_submitted(tool: Tool, tmp_path: Path) -> None:
    """Directly, through another property, in Hadoop's words, in Java options, or behind an equals sign."""
    text = MINIMAL.replace("registry.example.com/spark:3.5.8", "r.example.com/x:${spark.my.x}") + (
        "  sparkConf:\n"
        '    spark.my.x: "${env:SECRET}"\n'
        '    spark.pyspark.driver.python: "${system:user.home}"\n'
        '    "spark.files=/home/me/key,local:///x": "y"\n'
        '  hadoopConf: {fs.defaultFS: "webhdfs://${env.SECRET}.example.com"}\n'
        '  driver: {javaOptions: "-Da=${env:SECRET}"}\n'
    )
    exported = export(_document(tmp_path, text), tool)
    body = "\n".join(line for line in exported.report.text.splitlines() if not line.startswith("#"))
    for word in ("${env", "${system", "/home/me/key"):
        assert word not in body
    lost = [entry for entry in exported.report.findings if entry.outcome is Outcome.LOST]
    assert len(lost) == 5


@pytest.mark.parametrize("tool", list(Tool), ids=lambda tool: tool.value)
def test_no_reference_of_hadoop_leaves(tool: Tool, tmp_path: Path) -> None:
    """Hadoop replaces references inside of references, and names of Java properties."""
    text = MINIMAL + (
        "  hadoopConf:\n"
        '    my.dot: "."\n'
        '    fs.defaultFS: "webhdfs://${env${my.dot}SECRET}.example.com"\n'
        "  sparkConf:\n"
        '    spark.hadoop.a: "${user.home}"\n'
    )
    report = export(_document(tmp_path, text), tool).report
    body = "\n".join(line for line in report.text.splitlines() if not line.startswith("#"))
    assert not re.search(r"\$\{(?:env|user)", body)
    assert len([entry for entry in report.findings if entry.outcome is Outcome.LOST]) == 2


@pytest.mark.parametrize("tool", [Tool.SPARK_SUBMIT, Tool.KUBEFLOW], ids=lambda tool: tool.value)
def test_a_schedule_hides_no_reference(tool: Tool, tmp_path: Path) -> None:
    """The word `template` is in the path of each of its fields."""
    image = "registry.example.com/spark:3.5.8"
    spec = MINIMAL.partition("spec:\n")[2].replace(image, '"r.example.com/${env:SECRET}:1"')
    scheduled = MINIMAL.partition("spec:\n")[0].replace("SparkApplication", "ScheduledSparkApplication")
    text = f'{scheduled}spec:\n  schedule: "0 2 * * *"\n  template:\n{indent(spec, "  ")}'
    with pytest.raises(SparkgenError, match="spark-submit would"):
        export(_document(tmp_path, text), tool)


@pytest.mark.parametrize("tool", list(Tool), ids=lambda tool: tool.value)
def test_each_address_of_an_item_is_looked_at(tool: Tool, tmp_path: Path) -> None:
    """Spark splits an item at commas: the second address is of the submitting machine, too."""
    jars, files = "local:///opt/a.jar,/home/me/b.jar", "s3a://a/b,file:///home/me/key"
    text = MINIMAL + f"  deps: {{jars: ['{jars}'], files: ['{files}']}}\n"
    body = export(_document(tmp_path, text), tool).report.text
    assert "local:///home/me/b.jar" in body
    assert "local:///home/me/key" in body
    assert not re.search(r"[,\s\"'](?:/home/me|file:)", body)


def test_packages_are_said_to_be_fetched_where_it_is_submitted(tmp_path: Path) -> None:
    """spark-submit loads their classes into its own process."""
    text = MINIMAL + (
        "  deps: {packages: ['com.example:a:1.0'], repositories: ['https://repo.example.com/maven']}\n"
        '  sparkConf: {spark.driver.userClassPathFirst: "true"}\n'
    )
    findings = export(_document(tmp_path, text), Tool.SPARK_SUBMIT).report.findings
    assert len([one for one in findings if "on the submitting machine" in one.reason]) == 3


@pytest.mark.parametrize("tool", list(Tool), ids=lambda tool: tool.value)
def test_a_file_in_the_image_stays_one(tool: Tool, tmp_path: Path) -> None:
    """spark-submit and the operators read paths without a scheme on their own machine."""
    text = MINIMAL.replace("local:///opt/pi.py", "/opt/pi.py")
    text += "  deps: {files: ['file:///etc/a.conf', 's3a://b/c'], jars: [/opt/x.jar]}\n"
    exported = export(_document(tmp_path, text), tool)
    for address in ("local:///opt/pi.py", "local:///etc/a.conf", "s3a://b/c", "local:///opt/x.jar"):
        assert address in exported.report.text
    assert "file:" not in exported.report.text


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("/opt/a.jar", "local:///opt/a.jar"),
        (" /opt/a.jar", "local:///opt/a.jar"),
        ("FILE:///opt/a.jar", "local:///opt/a.jar"),
        ("file:/opt/a.jar", "local:///opt/a.jar"),
        ("file://localhost/opt/a.jar", "local:///opt/a.jar"),
        ("file://host/opt/a.jar", None),
        ("file:./a.jar", None),
        ("../a.jar", None),
        ("home/a.jar", None),
        ("s3a://b/a.jar", "s3a://b/a.jar"),
        ("local:///opt/a.jar", "local:///opt/a.jar"),
        ("spark-internal", None),
    ],
)
def test_addresses_of_files(text: str, address: str | None) -> None:
    """Only what is in the image, or in a store, means the same where it is submitted."""
    assert in_the_image(text) == address


def test_what_spark_submit_has_no_object_for_is_lost(tmp_path: Path) -> None:
    """Annotations of the application, and the label of its queue."""
    own = "{name: pi, annotations: {a: b}, labels: {team: x, kueue.x-k8s.io/queue-name: q}}"
    exported = export(_document(tmp_path, MINIMAL.replace("{name: pi}", own)), Tool.SPARK_SUBMIT)
    lost = {entry.subject for entry in exported.report.entries if entry.outcome is Outcome.LOST}
    assert lost == {"metadata.annotations", 'metadata.labels["kueue.x-k8s.io/queue-name"]'}
    assert "label.team=x" in exported.report.text


def test_only_pods_are_templates(tmp_path: Path) -> None:
    """A Secret beside a script is not printed, whatever the script calls it."""
    (tmp_path / "t.yaml").write_text("kind: Secret\nmetadata: {annotations: {a: hunter2}}\n", "utf-8")
    script = "spark-submit --conf spark.kubernetes.driver.podTemplateFile=t.yaml local:///opt/a.py\n"
    (item,) = import_all([str(_written(tmp_path, script))], Choices(), examine, lambda: b"").imported
    assert "hunter2" not in item.text
    assert any(entry.outcome is Outcome.LOST for entry in item.entries)
