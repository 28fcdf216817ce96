"""Where findings point, what they say of secrets, and that rules leave documents alone."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen import semantics
from sparkgen.document import load
from sparkgen.errors import Problem, path_text
from tests.unit.semantics.documents import application, found, scheduled, whole

SECRET = "s3cr3t-Value-9f8e7d"  # noqa: S105 - looks like one, on purpose


def problems(text: str, tmp_path: Path) -> list[Problem]:
    """What the rules say about a file."""
    path = tmp_path / "app.yaml"
    path.write_text(text, encoding="utf-8")
    (document,) = load([str(path)]).documents
    return semantics.check(document)


def test_paths_of_a_scheduled_application_are_the_true_ones() -> None:
    """A reader must be able to find the field: the application is below spec.template."""
    value = scheduled({"template": {"executor": {"memory": "4Gi"}}})
    assert [path_text(finding.path) for finding in found(value, "SG101")] == ["spec.template.executor.memory"]


def test_a_finding_about_a_key_points_at_the_key(tmp_path: Path) -> None:
    """And one about a value at the value."""
    text = (
        "apiVersion: sparkgen.dev/v1alpha1\nkind: SparkApplication\nmetadata: {name: a}\nspec:\n"
        '  type: Python\n  sparkVersion: "3.5.8"\n  image: example.com/a:1\n'
        "  mainApplicationFile: local:///a.py\n  timeToLiveSeconds: 60\n  driver:\n    memory: 4Gi\n"
    )
    places = {one.code: (one.position.line, one.position.column) for one in problems(text, tmp_path)}
    assert places == {"SG188": (9, 3), "SG101": (11, 13)}


def test_problems_come_in_the_order_of_the_text(tmp_path: Path) -> None:
    """Rules run in the order of their codes, which says nothing to a reader."""
    text = (
        "apiVersion: sparkgen.dev/v1alpha1\nkind: SparkApplication\nmetadata: {name: a}\nspec:\n"
        '  timeToLiveSeconds: 60\n  type: Python\n  sparkVersion: "3.5.8"\n  image: example.com/a:latest\n'
        "  mainApplicationFile: local:///a.py\n  driver:\n    memory: 4Gi\n"
    )
    assert [one.code for one in problems(text, tmp_path)] == ["SG188", "SG135", "SG101"]


@pytest.mark.parametrize(
    "spec",
    [
        {"sparkConf": {"spark.hadoop.fs.s3a.secret.key": SECRET}},
        {"hadoopConf": {"fs.s3a.secret.key": SECRET}},
        {"hadoopConf": {"spark.hadoop.fs.s3a.secret.key": SECRET}},
        {"sparkConf": {"db.password": SECRET}},
        {"sparkConf": {"spark.kubernetes.driverEnv.DB_PASSWORD": SECRET}},
        {"sparkConf": {"spark.executorEnv.DB_PASSWORD": SECRET}},
        {"sparkConf": {"spark.authenticate.secret": SECRET}},
        {"driver": {"env": [{"name": "DB_PASSWORD", "value": SECRET}]}},
        {"driver": {"env": [{"name": "SPARKGEN_TOKEN", "value": SECRET}] * 2}},
        {
            "driver": {
                "sidecars": [{"name": "x", "image": "x:1", "env": [{"name": "TOKEN", "value": SECRET}]}]
            }
        },
        {"driver": {"javaOptions": f"-Dx.password={SECRET} -Xmx1g"}},
        {
            "driver": {"javaOptions": f"-Dx.password={SECRET}"},
            "sparkConf": {"spark.driver.extraJavaOptions": f"-Dy.password={SECRET}"},
        },
        {"arguments": ["--password", SECRET]},
        {"arguments": [f"--db-password={SECRET}"]},
        {"arguments": [f"jdbc:postgresql://db/x?user=a&password={SECRET}"]},
        {"arguments": [f"https://user:{SECRET}@example.com/{{{{ path }}}}"]},
        {"mainApplicationFile": f"https://user:{SECRET}@example.com/app_2.11.jar", "type": "Scala"},
        {"deps": {"jars": [f"https://user:{SECRET}@example.com/lib_2.13.jar"]}},
        {"deps": {"packages": [f"https://user:{SECRET}@example.com/lib_2.13.jar"]}},
        {"deps": {"repositories": [f"https://user:{SECRET}@maven.example.com"]}},
    ],
    ids=str,
)
def test_a_secret_is_found_and_never_repeated(spec: dict[str, Any], tmp_path: Path) -> None:
    """Reports end in build logs, which more people read than the document."""
    told = problems(yaml.safe_dump(application(spec)), tmp_path)
    assert {"SG117", "SG118"} & {one.code for one in told}
    for one in told:
        assert SECRET not in f"{one.message}{one.found}{one.allowed}{one.next_step}"


def test_rules_leave_the_document_as_it_is() -> None:
    """The same value is rendered afterwards."""
    value = application({"executor": {"memory": "4Gi", "env": [{"name": "A"}]}, "sparkConf": {"a": "b"}})
    before = copy.deepcopy(value)
    for rule in semantics.RULES:
        found(value, rule.code)
    assert value == before


@pytest.mark.parametrize(
    ("spec", "code", "said"),
    [
        (
            {"executor": {"cores": 2}, "sparkConf": {"spark.kubernetes.executor.limit.cores": "1"}},
            "SG109",
            "sparkConf",
        ),
        (
            {
                "driver": {
                    "cores": 2,
                    "template": {
                        "spec": {"containers": [{"name": "x", "resources": {"limits": {"cpu": 1}}}]}
                    },
                }
            },
            "SG109",
            "driver",
        ),
        ({"sparkConf": {"spark.executor.memory": "100m"}}, "SG108", "sparkConf"),
        ({"executor": {"memory": "100m"}}, "SG108", "executor"),
        (
            {
                "dynamicAllocation": {"enabled": True},
                "sparkConf": {"spark.dynamicAllocation.maxExecutors": "0"},
            },
            "SG111",
            "sparkConf",
        ),
    ],
)
def test_a_property_is_blamed_where_it_is_said(spec: dict[str, Any], code: str, said: str) -> None:
    """In the field if there is one, else in sparkConf."""
    assert [finding.path[1] for finding in found(application(spec), code)] == [said]


def test_the_longest_name_of_an_application_is_45_characters() -> None:
    """The schema refuses more already; the rule says it if the schema should not."""
    value = application({})
    value["metadata"]["name"] = "a" * 46
    assert [finding.found for finding in found(value, "SG104")] == ["a" * 46]
    value["metadata"]["name"] = "a" * 45
    assert found(value, "SG104") == []


@pytest.mark.parametrize(
    ("text", "code", "step"),
    [
        (
            "spec: {shuffleService: {mode: sidecar}, sparkConf: {spark.shuffle.service.port: '7447'}}",
            "SG189",
            "delete it, and set `shuffleService.port`",
        ),
        (
            "spec: {deps: {jars: [lib/a.jar]}}",
            "SG141",
            "write `./lib/a.jar` if it is beside the document, or `local:///lib/a.jar` if the image has it",
        ),
        (
            "spec: {deps: {jars: [/lib/a.jar]}}",
            "SG141",
            "write `local:///lib/a.jar` if the image has it",
        ),
        # `create: false` would bind the application's Role to the account of every pod without its own.
        ("spec: {serviceAccount: {name: default}}", "SG196", "choose another account"),
    ],
)
def test_a_step_is_what_the_reader_wants(text: str, code: str, step: str) -> None:
    """Not only what ends the problem: the setting must not get lost, or open something else."""
    assert [finding.next_step for finding in found(whole(text), code)] == [step]


def test_a_short_idle_timeout_of_a_notebook_is_said_to_keep_kernels() -> None:
    """Jupyter reads half a second as 0, with which it never ends a kernel."""
    value = whole("kind: SparkNotebook\nspec: {notebook: {kernelIdleTimeout: 500ms}}")
    (finding,) = found(value, "SG199")
    assert finding.message.endswith("0 keeps idle kernels forever")


@pytest.mark.parametrize(
    ("shuffle", "port", "said"),
    [
        ("mode: sidecar", 7337, ["the shuffle service listens on this port of the executor's pod"]),
        (
            "mode: sidecar, port: 7447",
            7447,
            ["the shuffle service listens on this port of the executor's pod"],
        ),
        ("mode: sidecar, port: 7447", 7337, []),
        ("name: shuffle-35, secretName: shuffle-35", 7337, []),
    ],
)
def test_the_port_of_a_shuffle_service_in_the_pod_is_taken(shuffle: str, port: int, said: list[str]) -> None:
    """Where the service is in the executor's pod, a sidecar beside it cannot have its port."""
    sidecar = f"{{name: proxy, image: 'a/b:1', ports: [{{containerPort: {port}}}]}}"
    value = whole(f"spec: {{shuffleService: {{{shuffle}}}, executor: {{sidecars: [{sidecar}]}}}}")
    assert [finding.message for finding in found(value, "SG162")] == said


def test_a_port_of_the_shuffle_service_is_not_one_of_the_spark_container() -> None:
    """Kubernetes refuses two ports of one container with the same name, whoever else has the number."""
    ports = "ports: [{containerPort: 7337, name: blockmanager}]"
    (finding,) = found(whole(f"spec: {{shuffleService: {{mode: sidecar}}, executor: {{{ports}}}}}"), "SG161")
    assert finding.found == "blockmanager"
