"""Imports of generated inputs: every value is accounted for, and every document validates."""

from __future__ import annotations

import json
import shlex
import string
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparkgen.errors import Severity
from sparkgen.importing import Choices, Imported, import_all
from sparkgen.importing.repair import problems_of
from sparkgen.importing.shell import Unclosed, commands
from sparkgen.usecases.validate import examine
from tests import scale

SLOW = settings(
    max_examples=scale.count("tests/property/test_importing.py", 50, 8),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=12)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5000), TEXTS, st.just("1g"), st.just("local:///a.py")
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
ROLE_FIELDS = (
    "cores memory coreLimit env envVars envSecretKeyRefs labels template ports volumeMounts tolerations "
    "securityContext sidecars hostNetwork instances odd"
)
TEMPLATE = st.fixed_dictionaries({"spec": st.fixed_dictionaries({}, optional={"containers": ANYTHING})})
ROLE = st.dictionaries(st.sampled_from(ROLE_FIELDS.split()), ANYTHING | TEMPLATE, max_size=5)
PROPERTIES = st.dictionaries(
    st.sampled_from(
        [
            "spark.kubernetes.driver.label.a",
            "spark.kubernetes.executor.secretKeyRef.B",
            "spark.kubernetes.executor.volumes.emptyDir.c.mount.path",
            "spark.kubernetes.driver.volumes.persistentVolumeClaim.d.options.claimName",
            "spark.kubernetes.container.image",
            "spark.kubernetes.namespace",
            "spark.executor.instances",
            "spark.executor.memory",
            "spark.dynamicAllocation.enabled",
            "spark.ui.port",
            "spark.kubernetes.unheard.of",
            "not.spark",
            "spark.mine",
        ]
    ),
    SCALARS,
    max_size=5,
)
MONITORING = st.fixed_dictionaries(
    {"prometheus": ANYTHING}, optional={"exposeDriverMetrics": SCALARS, "metricsProperties": ANYTHING}
)
AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory"]), SCALARS | st.just("4Gi"))
RESOURCES = st.builds(
    lambda requests, limits: {"resources": {"requests": requests, "limits": limits}}, AMOUNTS, AMOUNTS
)
ALLOCATION = st.dictionaries(st.sampled_from(["enabled", "maxExecutors", "odd"]), SCALARS)
SPEC = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["Python", "Scala", "Cobol"]),
        "sparkVersion": st.sampled_from(["3.5.8", 3.5, "2.4.0", 4]),
        "image": TEXTS,
        "mainClass": TEXTS,
        "mainApplicationFile": SCALARS,
        "arguments": ANYTHING,
        "sparkConf": PROPERTIES | ANYTHING,
        "volumes": ANYTHING,
        "restartPolicy": st.dictionaries(st.sampled_from(["type", "onFailureRetries", "x"]), SCALARS),
        "timeToLiveSeconds": SCALARS,
        "monitoring": MONITORING | ANYTHING,
        "nodeSelector": ANYTHING,
        "dynamicAllocation": ANYTHING,
        "runtimeVersions": ANYTHING,
        "applicationTolerations": ANYTHING,
        "jars": SCALARS,
        "driverArgs": ANYTHING,
        "driver": ROLE | SCALARS,
        "executor": ROLE,
        "unheardOf": ANYTHING,
    },
)
SERVICE = st.fixed_dictionaries({}, optional={"metadata": ANYTHING, "spec": ANYTHING, "kind": SCALARS})
CONTAINER = st.dictionaries(
    st.sampled_from(["name", "image", "command", "env", "resources", "lifecycle"]), ANYTHING
)
SERVER = st.fixed_dictionaries(
    {},
    optional={
        "cores": SCALARS,
        "memory": SCALARS,
        "template": TEMPLATE
        | st.builds(lambda item: {"spec": {"containers": [item]}}, CONTAINER | RESOURCES),
        "service": SERVICE | ANYTHING,
    },
)
CONNECT = st.fixed_dictionaries(
    {},
    optional={
        "sparkVersion": st.sampled_from(["3.5.8", "4.0.1", 4]),
        "image": TEXTS,
        "sparkConf": PROPERTIES | ANYTHING,
        "hadoopConf": ANYTHING,
        "dynamicAllocation": ALLOCATION | ANYTHING,
        "server": SERVER | SCALARS,
        "executor": SERVER | ROLE,
        "unheardOf": ANYTHING,
    },
)
METADATA = st.fixed_dictionaries({"name": NAMES | TEXTS}, optional={"labels": ANYTHING, "namespace": SCALARS})


@st.composite
def applications(draw: st.DrawFn) -> dict[str, Any]:
    """An application of either operator, right or wrong."""
    version = draw(st.sampled_from(["sparkoperator.k8s.io/v1beta2", "spark.apache.org/v1"]))
    kind, spec = "SparkApplication", draw(SPEC)
    if version.startswith("sparkoperator") and draw(st.booleans()):
        kind = "ScheduledSparkApplication"
        spec = {"schedule": draw(SCALARS), "template": spec, "suspend": draw(SCALARS)}
    elif version.startswith("sparkoperator") and draw(st.booleans()):
        version, kind, spec = "sparkoperator.k8s.io/v1alpha1", "SparkConnect", draw(CONNECT)
    return {"apiVersion": version, "kind": kind, "metadata": draw(METADATA), "spec": spec}


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The places of all scalars and empty collections."""
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, (*path, index))]
    return [path]


def silent(value: Any, item: Imported) -> list[tuple[str | int, ...]]:
    """Values of which nothing is said."""
    said = {entry.source for entry in item.entries if entry.source}
    return [leaf for leaf in leaves(value) if not any(leaf[:end] in said for end in range(1, len(leaf) + 1))]


@SLOW
@given(applications())
def test_whatever_comes_in_is_accounted_for_and_what_goes_out_validates(value: dict[str, Any]) -> None:
    """For any application: one document, without an error, and a word on every value."""
    result = import_all(["-"], Choices(), examine, lambda: json.dumps(value).encode())
    if result.problems:  # text that no YAML reader takes, such as a key that stands twice
        assert all(problem.severity is Severity.ERROR for problem in result.problems)
        return
    (item,) = result.imported
    assert silent(value, item) == []
    assert item.problems == ()
    assert {one.severity for one in problems_of(item.text, examine)} <= {Severity.WARNING, Severity.INFO}


@SLOW
@given(
    st.lists(
        TEXTS | st.sampled_from(["--conf", "--name", "spark.a=b", "--class", "a.py", "--jars"]), max_size=8
    )
)
def test_any_command_line_is_accounted_for(words: list[str]) -> None:
    """For any words behind spark-submit: each has an entry, or its option has, and the document validates."""
    result = import_all(["spark-submit", *words], Choices(), examine, lambda: b"")
    for item in result.imported:
        said = {entry.position.column for entry in item.entries if entry.source}
        for column, word in enumerate(words, start=2):
            assert column in said or (word.startswith("-") and column + 1 in said), word
        assert item.problems == ()


@given(st.lists(st.text(string.printable, min_size=1, max_size=8), min_size=1, max_size=5))
def test_words_come_out_as_they_were_quoted(words: list[str]) -> None:
    """Words that Python quotes for a shell are the same words, with a place, and without a variable."""
    words = [word.replace("\r", "") or "x" for word in words]
    (command,) = commands("run " + " ".join(shlex.quote(word) for word in words))
    assert [word.text for word in command.words[1:]] == words
    assert all(word.variables == () for word in command.words)


@given(st.text(string.ascii_letters + "'\"\\$`(){}<>|&;# \n=-", max_size=40))
def test_any_script_is_read_or_refused_with_a_place(text: str) -> None:
    """No text makes the reader of scripts fail otherwise than by saying what has no end."""
    try:
        found = commands(text)
    except Unclosed:
        return
    lines = text.split("\n")
    for command in found:
        for word in command.words:
            assert 1 <= word.line <= len(lines)
