"""What import must conserve: each value as kubectl and the operator read it, or one finding at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from sparkgen.importing import Choices, Entry, Imported, Outcome, Result, import_all
from sparkgen.usecases.validate import examine

SPEC = """\
  type: Scala
  mode: cluster
  image: r.example.com/app:1
  sparkVersion: "3.5.6"
  mainClass: a.B
  mainApplicationFile: local:///opt/app.jar
"""
HEAD = f"""\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {{name: app, namespace: ns}}
spec:
{SPEC}"""
FIRST = HEAD.count("\n") + 1
"""The line on which a test's own text begins."""


def result_of(text: str, choices: Choices | None = None) -> Result:
    """What becomes of a text."""
    return import_all(["-"], choices or Choices(), examine, text.encode)


def imported(more: str, choices: Choices | None = None) -> Imported:
    """What becomes of an application with more in its spec."""
    (item,) = result_of(HEAD + more, choices).imported
    assert item.problems == ()
    return item


def spec_of(item: Imported) -> dict[str, Any]:
    """The spec of the document."""
    spec: dict[str, Any] = yaml.safe_load(item.text)["spec"]
    return spec


def found(item: Imported) -> list[tuple[Outcome, tuple[str | int, ...], int]]:
    """What is found, with its source and its line in the test's own text, from 1."""
    return [(entry.outcome, entry.source, entry.position.line - FIRST + 1) for entry in item.findings]


def only(item: Imported) -> Entry:
    """The one finding."""
    (entry,) = item.findings
    return entry


def test_keys_that_are_no_strings_become_what_kubectl_makes_of_them() -> None:
    """Measured with kubectl; a key whose text changes is a finding at its own place."""
    item = imported(
        "  hadoopConf: {fs.ok: a, no: b}\n  driver:\n    nodeSelector: {on: spot}\n"
        "    labels: {team: data, 2024: budget}\n    annotations: {1e3: x}\n    envVars: {OK: a, N: b}\n"
    )
    spec = spec_of(item)
    assert spec["hadoopConf"] == {"fs.ok": "a", "false": "b"}
    assert spec["driver"]["nodeSelector"] == {"true": "spot"}
    assert spec["driver"]["labels"] == {"team": "data", "2024": "budget"}
    assert spec["driver"]["annotations"] == {"1000": "x"}
    assert spec["driver"]["env"] == [{"name": "OK", "value": "a"}, {"name": "false", "value": "b"}]
    assert found(item) == [
        (Outcome.CHANGED, ("spec", "hadoopConf", "false"), 1),
        (Outcome.CHANGED, ("spec", "driver", "nodeSelector", "true"), 3),
        (Outcome.CHANGED, ("spec", "driver", "annotations", "1000"), 5),
        (Outcome.CHANGED, ("spec", "driver", "envVars", "false"), 6),
    ]
    assert item.findings[0].reason == "kubectl reads the key `no` as `false`"


def test_a_key_that_kubectl_refuses_is_lost() -> None:
    """Null is no key, and 2^64 - 1 is none either."""
    item = imported("  driver:\n    labels: {a: b, null: c}\n    annotations: {18446744073709551615: d}\n")
    assert spec_of(item)["driver"] == {"labels": {"a": "b"}}
    assert found(item) == [
        (Outcome.LOST, ("spec", "driver", "labels", "null"), 2),
        (Outcome.LOST, ("spec", "driver", "annotations", "18446744073709551615"), 3),
    ]


def test_a_template_keeps_its_text_and_is_a_finding() -> None:
    """`{{ x }}` without quotes, in every kind of field."""
    item = imported(
        "  arguments:\n  - {{ run_date }}\n  hadoopConf:\n    fs.x: {{ endpoint }}\n"
        "  driver: {env: [{name: B, value: {{ bucket }} }], javaOptions: {{ opts }} }\n"
    )
    spec = spec_of(item)
    assert spec["arguments"] == ["{{ run_date }}"]
    assert spec["hadoopConf"] == {"fs.x": "{{ endpoint }}"}
    assert spec["driver"]["env"] == [{"name": "B", "value": "{{ bucket }}"}]
    assert spec["driver"]["javaOptions"] == "{{ opts }}"
    assert found(item) == [
        (Outcome.CHANGED, ("spec", "arguments", 0), 2),
        (Outcome.CHANGED, ("spec", "hadoopConf", "fs.x"), 4),
        (Outcome.CHANGED, ("spec", "driver", "env", 0, "value"), 5),
        (Outcome.CHANGED, ("spec", "driver", "javaOptions"), 5),
    ]


def test_null_is_no_value_and_a_property_is_no_collection() -> None:
    """Nulls are left out, as by Kubernetes; lists and mappings where a string must be are lost."""
    item = imported(
        "  arguments: [null, a]\n  sparkConf:\n    spark.jars: [local:///a.jar, local:///b.jar]\n"
        "    spark.map: {a: b}\n    spark.null: ~\n"
        "  driver: {env: [{name: A, value: null}, {name: C, value: ~}], labels: {x: null}}\n"
        "  executor: {envVars: {D: null}}\n"
    )
    spec = spec_of(item)
    assert spec["arguments"] == ["a"]
    assert "sparkConf" not in spec
    assert spec["driver"] == {"env": [{"name": "A"}, {"name": "C"}], "labels": {}}
    assert spec["executor"] == {"env": [{"name": "D"}]}
    assert found(item) == [
        (Outcome.LOST, ("spec", "arguments", 0), 1),
        (Outcome.LOST, ("spec", "sparkConf", "spark.jars"), 3),
        (Outcome.LOST, ("spec", "sparkConf", "spark.map"), 4),
    ]


def test_each_lost_variable_has_its_own_place() -> None:
    """Also where several fields of the input become one list."""
    item = imported(
        "  executor:\n    envVars:\n      FIRST: keep\n      SPARK_EXECUTOR_MEMORY: 1g\n"
        '      SPARK_EXECUTOR_CORES: "2"\n'
        "      LAST: keep\n    envSecretKeyRefs:\n      SPARK_CONF_DIR: {name: s, key: k}\n"
    )
    assert [one["name"] for one in spec_of(item)["executor"]["env"]] == ["FIRST", "LAST"]
    assert found(item) == [
        (Outcome.LOST, ("spec", "executor", "envVars", "SPARK_EXECUTOR_MEMORY"), 4),
        (Outcome.LOST, ("spec", "executor", "envVars", "SPARK_EXECUTOR_CORES"), 5),
        (Outcome.LOST, ("spec", "executor", "envSecretKeyRefs", "SPARK_CONF_DIR"), 8),
    ]
    kept = [entry for entry in item.entries if entry.source[-1:] == ("LAST",)]
    assert kept[0].target == ("spec", "executor", "env", 1)


def test_a_finding_about_an_item_that_moved_up_has_its_own_place() -> None:
    """The item before it was lost; what is said of one is not said of the other."""
    item = imported(
        "  executor:\n    envVars: {password: word}\n    env:\n    - {name: SPARK_CONF_DIR, value: x}\n"
    )
    assert found(item) == [
        (Outcome.LOST, ("spec", "executor", "env", 0), 4),
        (Outcome.CHANGED, ("spec", "executor", "envVars", "password"), 2),
    ]


def test_what_import_removes_itself_is_no_further_finding() -> None:
    """Neither the rest of the item, nor the list that is empty then."""
    item = imported(
        "  volumes: [{name: v, emptyDir: {}}]\n  driver:\n    volumeMounts:\n"
        "    - {name: v, mountPath: /ok}\n"
        "    - {name: v, mountPath: /opt/sparkgen/x}\n    env: [{name: SPARK_CONF_DIR, value: /x}]\n"
    )
    assert spec_of(item)["driver"] == {"volumeMounts": [{"name": "v", "mountPath": "/ok"}]}
    assert found(item) == [
        (Outcome.LOST, ("spec", "driver", "volumeMounts", 1), 5),
        (Outcome.LOST, ("spec", "driver", "env", 0), 6),
    ]
    assert "everything below /opt/sparkgen is reserved" in item.findings[0].reason


@pytest.mark.parametrize(
    ("role", "field", "expected"),
    [
        ("driver", "serviceAccountName", "from-conf"),
        ("driver", "serviceAccount", "from-conf"),
        ("executor", "serviceAccountName", "from-conf"),
        ("executor", "serviceAccount", "from-template"),
    ],
)
def test_the_account_of_the_configuration_wins_where_it_does_for_spark(
    role: str, field: str, expected: str
) -> None:
    """Over a template's, except that an executor keeps what its template has in the old field."""
    item = imported(
        f"  sparkConf: {{spark.kubernetes.authenticate.{role}.serviceAccountName: from-conf}}\n"
        f"  {role}: {{template: {{spec: {{{field}: from-template}}}}}}\n"
    )
    assert spec_of(item)[role]["serviceAccount"] == expected
    assert item.findings == ()


def test_the_typed_account_wins_over_both() -> None:
    """The operator writes it into the configuration."""
    item = imported(
        "  sparkConf: {spark.kubernetes.authenticate.driver.serviceAccountName: from-conf}\n"
        "  driver: {serviceAccount: typed, template: {spec: {serviceAccountName: from-template}}}\n"
    )
    assert spec_of(item)["driver"]["serviceAccount"] == "typed"


def named(*names: str) -> Result:
    """What becomes of applications with these names."""
    texts = [HEAD.replace("name: app, namespace: ns", f"name: {name}, namespace: ns") for name in names]
    return result_of("---\n".join(texts))


def test_names_stay_different_and_say_what_they_were() -> None:
    """Those that are reserved, too long, or alike when they are cleaned."""
    long = "a-long-name-of-an-application-that-runs-each-night-"
    old = (
        "sales-history",
        "hr-history",
        f"{long}one",
        f"{long}two",
        "a.b",
        "a-b",
        "default",
        "1st",
        "app-1st",
    )
    result = named(*old)
    names = [item.name for item in result.imported]
    assert len(set(names)) == len(old)
    assert names[:2] == ["sales-history-app", "hr-history-app"]
    assert names[4:] == ["a-b-2", "a-b", "default-app", "app-1st-2", "app-1st"]
    assert all(len(name) <= 45 for name in names)
    for before, item in zip(old, result.imported, strict=True):
        if before != item.name:
            assert f"was '{before}': " in only(item).reason


def test_two_applications_of_one_name_are_a_finding() -> None:
    """At the second one; in another namespace, they are no twins."""
    first, second = named("twin", "twin").imported
    assert first.findings == ()
    assert (second.name, only(second).source) == ("twin", ("metadata", "name"))
    assert only(second).reason.startswith("the application at <stdin>:3:18 has this name, too")
    one, other = result_of(HEAD + "---\n" + HEAD.replace("namespace: ns", "namespace: other")).imported
    assert (one.findings, other.findings) == ((), ())


AFFINITY = """\
  executor:
    affinity:
      podAntiAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: kubernetes.io/hostname
          labelSelector: {matchLabels: {sparkoperator.k8s.io/app-name: app, spark-role: executor}}
        - topologyKey: kubernetes.io/hostname
          labelSelector:
            matchExpressions: [{key: sparkoperator.k8s.io/app-name, operator: Exists}]
"""


def test_a_selector_on_labels_of_the_operator_is_a_finding() -> None:
    """Unless the pods keep these labels."""
    item = imported(AFFINITY)
    assert [(outcome, source[-1], line) for outcome, source, line in found(item)] == [
        (Outcome.CHANGED, "sparkoperator.k8s.io/app-name", 6),
        (Outcome.CHANGED, "key", 9),
    ]
    assert imported(AFFINITY, Choices(labels=True)).findings == ()


def test_root_stays_root() -> None:
    """With what makes it start here."""
    item = imported(
        "  driver:\n    podSecurityContext: {runAsUser: 0}\n"
        "    initContainers: [{name: c, image: busybox:1.36, securityContext: {runAsUser: 0}}]\n"
    )
    driver = spec_of(item)["driver"]
    assert driver["podSecurityContext"] == {"runAsUser": 0, "runAsNonRoot": False}
    assert driver["initContainers"][0]["securityContext"]["runAsUser"] == 0
    assert item.findings == ()
    strict = imported("  driver:\n    podSecurityContext: {runAsUser: 0, runAsNonRoot: true}\n")
    assert [entry.source for entry in strict.findings] == [
        ("spec", "driver", "podSecurityContext", "runAsUser")
    ]


@pytest.mark.parametrize(
    "variable",
    [
        "  driver: {env: [{name: HADOOP_CONF_DIR, value: /etc/h}]}\n",
        "  executor: {envVars: {HADOOP_CONF_DIR: /etc/h}}\n",
        "  driver:\n    template:\n      spec:\n        containers:\n"
        "        - {name: x, env: [{name: HADOOP_CONF_DIR, value: /etc/h}]}\n",
    ],
)
def test_hadoop_properties_stay_beside_an_own_folder(variable: str) -> None:
    """As the properties that the operator makes of them."""
    item = imported(f'  hadoopConf: {{fs.x: "1"}}\n{variable}')
    spec = spec_of(item)
    assert spec["sparkConf"] == {"spark.hadoop.fs.x": "1"}
    assert "hadoopConf" not in spec
    assert "HADOOP_CONF_DIR" in item.text
    assert item.findings == ()


def test_a_memory_limit_is_lost_with_the_reason() -> None:
    """In the words of `validate`."""
    entry = only(imported("  executor: {memory: 2g, memoryLimit: 10g}\n"))
    assert entry.outcome is Outcome.LOST
    assert "a pod's memory limit is its request" in entry.reason
    assert "raise `memoryOverhead`" in entry.step


def test_a_time_to_live_in_a_schedule_means_the_same() -> None:
    """Nothing creates the Job of a schedule again; without a schedule, a next step says what to do."""
    text = HEAD.replace("SparkApplication", "ScheduledSparkApplication").replace(
        f"spec:\n{SPEC}", 'spec:\n  schedule: "0 3 * * *"\n  template:\n' + SPEC.replace("  ", "    ")
    )
    (item,) = result_of(f"{text}    timeToLiveSeconds: 600\n").imported
    assert item.findings == ()
    assert spec_of(item)["template"]["timeToLiveSeconds"] == 600
    assert "delete the field" in only(imported("  timeToLiveSeconds: 600\n")).step


def test_without_a_program_the_guess_fits_the_language() -> None:
    """A Scala application gets a jar and a class, each with its own finding."""
    text = HEAD.replace("  mainClass: a.B\n", "").replace("  mainApplicationFile: local:///opt/app.jar\n", "")
    (item,) = result_of(text).imported
    assert spec_of(item)["mainApplicationFile"].endswith("main.jar")
    assert [(entry.outcome, entry.target[-1]) for entry in item.findings] == [
        (Outcome.GUESSED, "mainApplicationFile"),
        (Outcome.GUESSED, "mainClass"),
    ]


def test_a_name_that_yaml_takes_for_a_boolean_stays_the_name() -> None:
    """With a finding, because kubectl would refuse it."""
    item = imported('  driver: {env: [{name: N, value: "5"}]}\n')
    assert spec_of(item)["driver"]["env"] == [{"name": "N", "value": "5"}]
    assert only(item).source == ("spec", "driver", "env", 0, "name")
    assert only(item).step == 'check that the string is meant, and quote it: "N"'


def test_what_validate_warns_of_import_reports() -> None:
    """Secrets, placeholders that nothing replaces, and files that Spark does not read."""
    item = imported(
        "  sparkConf:\n    spark.my.password: hunter22\n    spark.my.date: '{{ ds }}'\n    spark.my.x: $(X)\n"
        "  volumes: [{name: c, configMap: {name: hive}}]\n  driver:\n"
        "    env: [{name: DB_PASSWORD, value: hunter23}]\n"
        "    javaOptions: -Dpw=${TOKEN}\n"
        "    volumeMounts: [{name: c, mountPath: /opt/spark/conf/hive-site.xml, subPath: hive-site.xml}]\n"
    )
    assert [(source[-1], line) for _, source, line in found(item)] == [
        ("spark.my.password", 2),
        ("spark.my.date", 3),
        ("spark.my.x", 4),
        ("value", 7),
        ("javaOptions", 8),
        ("mountPath", 9),
    ]
    assert not any("hunter" in entry.reason + entry.step for entry in item.findings)
    assert item.text.count("hunter22") == 1


MANIFEST = """\
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: w}
spec:
  templates:
  - name: spark
    resource:
      action: create
      manifest: |
        apiVersion: sparkoperator.k8s.io/v1beta2
        kind: SparkApplication
        metadata: {generateName: job-}
        spec:
          type: Python
          sparkVersion: 3.5.6
          image: r.example.com/app:1
          mainApplicationFile: local:///a.py
          arguments: [{{inputs.parameters.day}}]
          executor: {instances: 2, hostNetwork: true}
"""


def test_an_application_in_a_workflow_is_imported() -> None:
    """With its places in the file, and a word on the workflow around it."""
    result = result_of(MANIFEST)
    (item,) = result.imported
    below = ("spec", "templates", 0, "resource", "manifest")
    assert spec_of(item)["arguments"] == ["{{inputs.parameters.day}}"]
    assert [(entry.source, entry.position.line, entry.position.column) for entry in item.findings] == [
        ((*below, "spec", "executor", "hostNetwork"), 19, 49),
        ((*below, "metadata", "generateName"), 12, 34),
        ((*below, "spec", "arguments", 0), 18, 23),
    ]
    (left,) = result.left_alone
    assert (left.kind, left.name, left.finding) == ("WorkflowTemplate", "w", True)
    assert "it starts them itself" in left.reason


def test_a_manifest_in_quotes_has_the_place_of_its_text() -> None:
    """The lines in it are none of the file's."""
    manifest = json.dumps(HEAD + "  nonsense: 1\n")
    (item,) = result_of(f"kind: ConfigMap\napiVersion: v1\ndata:\n  job.yaml: {manifest}\n").imported
    assert [entry.position.line for entry in item.findings] == [4]
    assert only(item).source == ("data", "job.yaml", "spec", "nonsense")


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" , ", " : ")])
def test_a_manifest_of_json_on_one_line_is_imported(separators: tuple[str, str]) -> None:
    """As `kubectl get -o json` and templates write it."""
    manifest = json.dumps(json.dumps(yaml.safe_load(HEAD), separators=separators))
    result = result_of(f"kind: ConfigMap\napiVersion: v1\ndata:\n  job.json: {manifest}\n")
    assert [item.kind for item in result.imported] == ["SparkApplication"]
    assert [left.finding for left in result.left_alone] == [True]


def test_a_foreign_group_has_a_reason_and_a_next_step() -> None:
    """An operator that import does not know, and a template that is no YAML yet."""
    result = result_of(
        "apiVersion: sparkoperator.hpe.com/v1beta2\nkind: SparkApplication\nspec: {type: Scala}\n"
    )
    (left,) = result.left_alone
    assert left.finding
    assert "does not know this API group" in left.reason
    assert "change `apiVersion` to sparkoperator.k8s.io/v1beta2" in left.step
    (problem,) = result_of(
        HEAD + "  {{- if .Values.pull }}\n  imagePullPolicy: Always\n  {{- end }}\n"
    ).problems
    assert problem.position.line == FIRST
    assert "helm template" in problem.next_step


def test_an_empty_property_is_kept() -> None:
    """Spark has it then, as an empty text; and a variable of that name is set, and empty."""
    item = imported('  sparkConf: {spark.x: "", spark.executorEnv.A: ""}\n')
    assert spec_of(item)["sparkConf"] == {"spark.x": "", "spark.executorEnv.A": ""}
    assert found(item) == []


def test_names_that_the_operator_overrides_are_not_kept() -> None:
    """It names application and driver itself, whatever `sparkConf` says."""
    item = imported("  sparkConf: {spark.app.name: a b, spark.kubernetes.driver.pod.name: c}\n")
    assert "sparkConf" not in spec_of(item)
    told = [entry for entry in item.entries if entry.source[:2] == ("spec", "sparkConf")]
    assert [(entry.outcome, entry.source[2]) for entry in told] == [
        (Outcome.NEEDLESS, "spark.app.name"),
        (Outcome.NEEDLESS, "spark.kubernetes.driver.pod.name"),
    ]


def test_properties_of_event_logs_are_kept_as_they_are() -> None:
    """The section `eventLog` compresses and rolls logs, which Spark 3.5 does not by itself."""
    text = (
        "spark-submit --conf spark.eventLog.enabled=true --conf spark.eventLog.dir=s3a://b/l local:///a.py\n"
    )
    (item,) = result_of(text).imported
    spec = spec_of(item)
    assert "eventLog" not in spec
    assert spec["sparkConf"] == {"spark.eventLog.enabled": "true", "spark.eventLog.dir": "s3a://b/l"}


def test_a_shell_s_variable_in_a_property_or_an_image_is_a_finding() -> None:
    """With braces or without; a dollar at the end of a pattern is none."""
    item = imported(
        "  sparkConf: {spark.my.dir: s3a://$BUCKET/l, spark.redaction.string.regex: 'key$'}\n"
        "  driver: {image: $REGISTRY/x:1}\n"
    )
    assert found(item) == [
        (Outcome.CHANGED, ("spec", "sparkConf", "spark.my.dir"), 1),
        (Outcome.CHANGED, ("spec", "driver", "image"), 2),
    ]
