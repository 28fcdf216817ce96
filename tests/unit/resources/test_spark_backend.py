"""Spark's own backend in place of the allocator: its properties, its template, and its rights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sparkgen.properties.kubernetes_table import READ_BY_SPARKS_BACKEND
from sparkgen.runtime.allocator.driver.properties import parse
from sparkgen.semantics.rules_backend import RESTRICTIONS
from tests.unit.resources.conftest import Rendered

Render = Callable[..., Rendered]
PAGE = Path(__file__).parents[3] / "docs" / "spark-backend.md"
TABLE = "| with the allocator | with Spark's own backend | field |\n|---|---|---|\n"
PYTHON = {"type": "Python", "mainClass": None, "mainApplicationFile": "local:///opt/app/job.py"}


def properties(made: Rendered) -> dict[str, str]:
    """The driver's properties."""
    return parse(made.config_map("conf")["data"]["spark-defaults.conf"])


def test_the_driver_is_the_only_container_and_has_the_only_token(rendered: Render) -> None:
    """Nothing of sparkgen runs in the pods, and executors get no credentials."""
    made = rendered(allocator="spark")
    assert [one["name"] for one in made.driver["spec"]["containers"]] == ["spark-kubernetes-driver"]
    assert "initContainers" not in made.driver["spec"]
    mounts = {one["name"] for one in made.spark("driver")["volumeMounts"]}
    assert {"sparkgen-token", "sparkgen-executor"} <= mounts
    assert "sparkgen-token" not in made.volumes("executor")
    pods = [made.driver["spec"], made.executor["spec"]]
    assert [pod["automountServiceAccountToken"] for pod in pods] == [False, False]


def test_the_role_has_one_rule(rendered: Render) -> None:
    """Spark makes no ConfigMap, Service or claim: the properties switch that off."""
    made = rendered(allocator="spark")
    verbs = ["create", "delete", "deletecollection", "get", "list", "watch"]
    assert made.one("Role")["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]
    assert not [one for one in made.all("ConfigMap") if one["metadata"]["name"].endswith("-tuning")]


def test_the_template_leaves_to_spark_what_spark_adds(rendered: Render) -> None:
    """A second port of one name would break the pod; scratch space has the name that Spark knows."""
    made = rendered(allocator="spark", executor={"terminationGracePeriodSeconds": 45})
    container = made.spark("executor")
    assert not {"args", "command", "ports"} & container.keys()
    assert container["volumeMounts"][0] == {"name": "spark-local-dir-1", "mountPath": "/var/data/spark"}
    grace = "spark.kubernetes.executor.terminationGracePeriodSeconds"
    assert properties(made)[grace] == "45s"


@pytest.mark.parametrize(
    ("executor", "text"),
    [
        ({"terminationGracePeriodSeconds": 0}, "0s"),
        ({"template": {"spec": {"terminationGracePeriodSeconds": 45}}}, "45s"),
        (
            {
                "terminationGracePeriodSeconds": 5,
                "template": {"spec": {"terminationGracePeriodSeconds": 45}},
            },
            "5s",
        ),
        ({}, None),
    ],
)
def test_the_grace_period_is_that_of_the_template(
    executor: dict[str, Any], text: str | None, rendered: Render
) -> None:
    """Spark 4.1 and later would give each executor 30 seconds."""
    made = rendered(allocator="spark", executor=executor)
    assert properties(made).get("spark.kubernetes.executor.terminationGracePeriodSeconds") == text
    seconds = made.executor["spec"].get("terminationGracePeriodSeconds")
    assert text == (None if seconds is None else f"{seconds}s")


def test_image_and_sizes_are_those_of_the_template(rendered: Render) -> None:
    """Spark sets them again, from these properties."""
    executor = {
        "image": "own:1",
        "imagePullPolicy": "Always",
        "cores": 2,
        "coreRequest": "500m",
        "memory": "2g",
    }
    made = rendered(allocator="spark", executor={**executor, "coreLimit": "2"})
    found = properties(made)
    assert found["spark.kubernetes.executor.container.image"] == "own:1"
    assert found["spark.kubernetes.container.image.pullPolicy"] == "Always"
    assert found["spark.kubernetes.executor.request.cores"] == "500m"
    assert found["spark.kubernetes.executor.limit.cores"] == "2"
    assert (found["spark.executor.memory"], found["spark.executor.memoryOverhead"]) == ("2048m", "384m")
    assert made.spark("executor")["resources"]["limits"] == {"memory": "2432Mi", "cpu": "2"}


@pytest.mark.parametrize(
    ("spec", "jars"),
    [
        ({}, "local:///opt/app/main.jar"),
        ({"deps": {"jars": ["local:///opt/a.jar"]}}, "local:///opt/a.jar,local:///opt/app/main.jar"),
        ({"mainApplicationFile": "spark-internal"}, None),
        (PYTHON, None),
    ],
)
def test_executors_get_the_main_jar(spec: dict[str, Any], jars: str | None, rendered: Render) -> None:
    """In a driver's pod, spark-submit takes it to be among the jars already."""
    assert properties(rendered(allocator="spark", **spec)).get("spark.jars") == jars


def test_modules_of_the_image_reach_executors(rendered: Render) -> None:
    """Spark sends executors a file only by the scheme `file`; archives are on Python's path."""
    files = ["local:///opt/app/one.py", "local:///opt/app/two.zip", "https://example.org/three.py"]
    made = rendered(allocator="spark", **PYTHON, deps={"pyFiles": files})
    found = properties(made)
    sent = "file:///opt/app/one.py,local:///opt/app/two.zip,https://example.org/three.py"
    assert found["spark.submit.pyFiles"] == sent
    assert found["spark.kubernetes.resource.type"] == "python"
    assert made.env("executor")["PYTHONPATH"] == "/opt/app/two.zip"


def test_typed_variables_win(rendered: Render) -> None:
    """Spark adds variables of properties behind those of the template, where they would win."""
    conf = {f"spark.executorEnv.{name}": "of-conf" for name in ("A", "B")}
    made = rendered(allocator="spark", sparkConf=conf, executor={"env": [{"name": "A", "value": "typed"}]})
    assert made.env("executor")["A"] == "typed"
    found = {name: text for name, text in properties(made).items() if "Env.SPARK" not in name}
    assert {name: text for name, text in found.items() if "executorEnv" in name} == {
        "spark.executorEnv.B": "of-conf"
    }


def test_the_driver_gets_what_its_backend_reads(rendered: Render) -> None:
    """With the allocator, nothing reads these; the token and the address stay those of the pod."""
    conf = dict.fromkeys(READ_BY_SPARKS_BACKEND, "1")
    client = {"spark.kubernetes.authenticate.oauthToken": "a", "spark.kubernetes.driver.master": "b"}
    found = properties(rendered(allocator="spark", sparkConf={**conf, **client}))
    assert conf.items() <= found.items()
    assert not client.keys() & found.keys()
    assert not conf.keys() & properties(rendered(sparkConf=conf)).keys()


def test_what_sparkgen_sets_itself_is_not_the_documents(rendered: Render) -> None:
    """SG121 says that these have no effect: no allocator replaces them here."""
    conf = {"spark.driver.host": "a", "spark.local.dir": "/b", "spark.authenticate.secret": "c"}
    found = properties(rendered(allocator="spark", sparkConf={**conf, "spark.executor.id": "3"}))
    assert not {*conf, "spark.executor.id"} & found.keys()


@pytest.mark.parametrize(
    ("spec", "changed"),
    [({"executor": {"instances": 2}}, {"executor": {"instances": 3}}), ({}, {"allocator": "sparkgen"})],
)
def test_each_change_is_a_new_run(spec: dict[str, Any], changed: dict[str, Any], rendered: Render) -> None:
    """Nothing reads new bounds while the application runs, so they are in the run's hash."""
    before, after = rendered(**{"allocator": "spark", **spec}), rendered(**{"allocator": "spark", **changed})
    assert before.workload["metadata"]["name"] != after.workload["metadata"]["name"]


def test_the_default_is_the_allocator(rendered: Render) -> None:
    """Whether the document says so or not."""
    assert rendered(allocator="sparkgen").objects == rendered().objects


def test_the_page_has_the_table(*, regenerate: bool) -> None:
    """The page lists what only the allocator does, row by row."""
    fields = ((".".join(row.field), row.value) for row in RESTRICTIONS)
    cells = [f"`{field}: {value}`" if value else f"`{field}`" if field else "" for field, value in fields]
    rows = [
        f"| {row.what} | {row.instead} | {cell} |\n" for row, cell in zip(RESTRICTIONS, cells, strict=True)
    ]
    text = PAGE.read_text("utf-8")
    before, head, rest = text.partition(TABLE)
    expected = "".join((before, head, *rows, "\n", rest.partition("\n\n")[2]))
    if regenerate:
        PAGE.write_text(expected, "utf-8")
    assert PAGE.read_text("utf-8") == expected
