"""`explain`: what the schema says about a field, in the form of `kubectl explain`."""

from __future__ import annotations

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.schema.explain import explain

MEMORY = """\
KIND:     SparkApplication
VERSION:  sparkgen.dev/v1alpha1
FIELD:    spec.executor.memory <string>

DESCRIPTION:
    Size of the JVM's heap: a whole number with one of Spark's units k, m, g or t (powers of
    1024). The pod requests more memory than this: see `memoryOverhead`. Becomes
    `spark.driver.memory` or `spark.executor.memory`.

DEFAULT:  1g

EXAMPLES:
    memory: 4g
    memory: 512m
"""

GPU = """\
KIND:     SparkApplication
VERSION:  sparkgen.dev/v1alpha1
FIELD:    spec.driver.gpu <object>

DESCRIPTION:
    GPUs for each pod of this role (driver or executors), as a limit of an extended
    resource.

EXAMPLES:
    gpu: {name: nvidia.com/gpu, quantity: 1}

FIELDS:
  name <string> -required-
      Resource name
  quantity <integer> -required-
      Number of GPUs
"""

SOURCE = """\
FIELDS:
  secretKeyRef <SecretKeySelector>
    key <string> -required-
    name <string>
    optional <boolean>
"""


@pytest.mark.parametrize("path", ["spec.executor.memory", "executor.memory"])
def test_a_field(path: str) -> None:
    """A field with its type, description, default and examples; `spec` may be left out."""
    assert explain(path) == MEMORY


def test_a_field_with_fields() -> None:
    """An object lists its fields, and which of them are required."""
    assert explain("driver.gpu") == GPU


def test_the_document() -> None:
    """Without a path the whole document is explained."""
    text = explain()
    assert "FIELD:" not in text
    assert "  metadata <object> -required-\n      Name and labels\n" in text


def test_a_tunable_field_and_an_enum() -> None:
    """What can be changed without a new run is marked, and allowed values are listed."""
    assert "TUNABLE:  yes" in explain("executor.instances")
    assert "ALLOWED:  Java, Scala, Python, R\n" in explain("spec.type")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("spec.volumes", "spec.volumes <[]Volume>"),
        ("volumes.emptyDir.sizeLimit", "spec.volumes.emptyDir.sizeLimit <Quantity>"),
        ("driver.env[0].valueFrom", "spec.driver.env.valueFrom <EnvVarSource>"),
        (
            "driver.template.spec.containers.ports",
            "spec.driver.template.spec.containers.ports <[]ContainerPort>",
        ),
        ("driver.affinity", "spec.driver.affinity <Affinity>"),
        ("sparkConf", "spec.sparkConf <map[string]string>"),
        ("sparkConf.spark.executor.cores", "spec.sparkConf <map[string]string>"),
        ("metadata.name", "metadata.name <string> -required-"),
        ("driver.env.0.name", "spec.driver.env.name <string> -required-"),
        ("sparkapplication.spec.driver", "spec.driver <object>"),
        ("ScheduledSparkApplication.spec.schedule", "spec.schedule <string> -required-"),
        ("podDisruptionBudget.minAvailable", "spec.podDisruptionBudget.minAvailable <integer or string>"),
    ],
)
def test_paths_and_types(path: str, field: str) -> None:
    """Paths lead through lists, maps and Kubernetes' types; types are written as kubectl writes them."""
    assert f"FIELD:    {field}\n" in explain(path)


def test_links_are_paths() -> None:
    """A terminal cannot follow a link of the reference, so the text has the path of the page."""
    text = explain("batchScheduler")
    assert "Queues (docs/queues.md)" in " ".join(text.split())
    assert "](" not in text


def test_long_examples_are_blocks() -> None:
    """An example that does not fit on a line is shown as a block."""
    assert "EXAMPLES:\n    affinity:\n      nodeAffinity:\n" in explain("driver.affinity")


@pytest.mark.parametrize(
    ("kind", "default"),
    [("SparkApplication", "false"), ("SparkConnectServer", "true"), ("SparkNotebook", "true")],
)
def test_defaults_are_those_of_the_kind(kind: str, default: str) -> None:
    """What a Connect server and a notebook complete is their default."""
    assert f"DEFAULT:  {default}\n" in explain("dynamicAllocation.enabled", kind=kind)
    assert "spec.dynamicAllocation.maxExecutors <integer>" in explain(
        "dynamicAllocation.maxExecutors", kind=kind
    )


def test_values_of_a_map() -> None:
    """Fields that are below keys of the user's own are shown as such."""
    assert "FIELDS OF EACH VALUE:\n  configMapKeyRef <object>\n" in explain("sparkConfFiles")


def test_recursive() -> None:
    """With `recursive` the names of all fields below are shown as a tree."""
    text = explain("driver.env.valueFrom", recursive=True)
    assert text[text.index("FIELDS") :].endswith(SOURCE.removeprefix("FIELDS:\n"))


def test_scheduled() -> None:
    """Paths of a scheduled application start at its spec or at its template's."""
    kind = "ScheduledSparkApplication"
    assert "FIELD:    spec.schedule <string> -required-\n" in explain("schedule", kind=kind)
    assert "FIELD:    spec.template.executor.cores <integer>\n" in explain("executor.cores", kind=kind)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("spec.executer", "there is no field spec.executer: spec has no executer; did you mean executor?"),
        (
            "executor.memroy",
            "there is no field executor.memroy: spec.executor has no memroy; did you mean memory?",
        ),
        ("schedule", "spec has no schedule; a ScheduledSparkApplication has it"),
        ("spec.schedule", "a ScheduledSparkApplication has it: add --kind ScheduledSparkApplication"),
        ("memory", "spec has no memory; did you mean spec.driver.memory or spec.executor.memory?"),
        ("spec.qqq", "spec has no qqq; list its fields: sparkgen explain spec"),
        ("driver.qqq", "spec.driver has no qqq; list its fields: sparkgen explain spec.driver"),
        ("driver.env.qqq", "spec.driver.env has no qqq; it has name, value, valueFrom"),
        ("driver.cores.x", "spec.driver.cores has no x; it has no fields"),
        ("idleTimeout", "it: sparkgen explain spec.connect.idleTimeout --kind SparkConnectServer"),
    ],
)
def test_unknown_paths(path: str, message: str) -> None:
    """A path that leads nowhere is answered with the nearest name, or with what there is."""
    with pytest.raises(SparkgenError) as error:
        explain(path)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("kind", "path", "message"),
    [
        ("SparkHistoryServer", "spec.kerberos", "a SparkApplication has it: use --kind SparkApplication"),
        ("SparkHistoryServer", "storage", "a SparkStagingServer has it: use --kind SparkStagingServer"),
        (
            "SparkHistoryServer",
            "spec.qqq",
            "list its fields: sparkgen explain spec --kind SparkHistoryServer",
        ),
        ("ScheduledSparkApplication", "spec.kerberos", "did you mean spec.template.kerberos?"),
        ("SparkStagingServer", "spark.ui.port", "no field spark.ui.port: it is a Spark property"),
        ("SparkApplication", "cleaner", "a SparkHistoryServer has it: add --kind SparkHistoryServer"),
    ],
)
def test_unknown_paths_of_other_kinds(kind: str, path: str, message: str) -> None:
    """The answer never names the path that was asked for, and what it says to run works."""
    with pytest.raises(SparkgenError) as error:
        explain(path, kind=kind)
    assert str(error.value).endswith(message)


OVERHEAD = """\
PROPERTY:     spark.executor.memoryOverhead
OLDER NAME:   spark.yarn.executor.memoryOverhead
SINCE:        Spark 2.3.0
IN sparkConf: has an effect; the field takes precedence

DESCRIPTION:
    The field spec.executor.memoryOverhead sets it. Spark also reads it under its older name
    spark.yarn.executor.memoryOverhead.
"""


def test_a_property() -> None:
    """Its newest name, since when Spark has it, and what becomes of it."""
    assert explain("spark.yarn.executor.memoryOverhead") == OVERHEAD


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("spark.driver.cores", "has an effect; the field takes precedence", "The field spec.driver.cores"),
        (
            "spark.kubernetes.memoryOverheadFactor",
            "has an effect; the field",
            "spec.memoryOverheadFactor sets",
        ),
        ("spark.sql.shuffle.partitions", "has an effect: Spark gets it", "sparkgen does not read this"),
        ("spark.submit.callSystemExitOnMainExit", "has an effect: Spark gets it", "Spark reads it, as with"),
        ("spark.kubernetes.local.dirs.tmpfs", "has an effect\n", "The scratch volumes are in memory."),
        (
            "spark.kubernetes.driver.label.a.b",
            "an error: nothing would read it",
            "Set it in `driver.labels`.",
        ),
        ("spark.submit.deployMode", "has no effect: sparkgen sets it itself", "always runs in its own pod."),
        ("spark.kubernetes.context", "has no effect\n", "commands the option `--context`."),
        ("spark.remote", "an error: Spark does not start", "`SparkSession.builder.remote(...)`"),
        ("spark.plugins", "has an effect", "cluster.k8s.ExecutorRollPlugin"),
    ],
)
def test_verdicts_on_properties(name: str, verdict: str, words: str) -> None:
    """The table of properties, at the terminal."""
    text = explain(name)
    assert f"IN sparkConf: {verdict}" in text
    assert words in " ".join(text.split())


def test_unknown_kind() -> None:
    """A kind that does not exist is refused with those that do."""
    with pytest.raises(SparkgenError, match="choose SparkApplication or ScheduledSparkApplication"):
        explain("spec", kind="Pod")
