"""What people are told about the mistakes that they make: place, words and the next step."""

from __future__ import annotations

import pytest

from sparkgen.errors import Severity, path_text
from tests.unit.schema.documents import SCHEDULED, VALID, only, problems, replaced, with_spec

ALL_KINDS = (
    "SparkApplication, ScheduledSparkApplication, SparkConnectServer, SparkNotebook, "
    "SparkShuffleService, SparkHistoryServer or SparkStagingServer"
)

EXECUTOR = "executor:\n  {}"
DRIVER = "driver:\n  {}"


def spec(line: str, role: str = "") -> str:
    """A valid application with one more line in its spec, or in a role's."""
    return with_spec(role.format(line) if role else line)


# code, line:column, path, message, found, allowed, next step
CASES = {
    "an unquoted version": (
        replaced('"3.5.8"', "3.5"),
        ("SG012", "7:17", "spec.sparkVersion", "`sparkVersion` must be a string, not a number"),
        ("3.5", "a string", 'quote it: `sparkVersion: "3.5"`'),
    ),
    "an unquoted Scala line": (
        spec("scalaVersion: 2.13"),
        ("SG012", "10:17", "spec.scalaVersion", "`scalaVersion` must be a string, not a number"),
        ("2.13", "a string", 'quote it: `scalaVersion: "2.13"`'),
    ),
    "a number in sparkConf": (
        with_spec("sparkConf:\n  spark.executor.cores: 4"),
        (
            "SG012",
            "11:27",
            'spec.sparkConf["spark.executor.cores"]',
            "`spark.executor.cores` must be a string, not a number",
        ),
        ("4", "a string", 'quote it: `spark.executor.cores: "4"`'),
    ),
    "a boolean in sparkConf": (
        with_spec("sparkConf:\n  spark.eventLog.enabled: true"),
        (
            "SG012",
            "11:29",
            'spec.sparkConf["spark.eventLog.enabled"]',
            "`spark.eventLog.enabled` must be a string, not a boolean",
        ),
        ("true", "a string", 'quote it: `spark.eventLog.enabled: "true"`'),
    ),
    "a property over several lines": (
        with_spec("sparkConf:\n  spark:\n    executor:\n      cores: 4"),
        ("SG012", "11:5", "spec.sparkConf.spark", "`spark` must be a string, not a mapping"),
        ("", "a string", 'write the whole name on one line: `spark.executor.cores: "4"`'),
    ),
    "a list in sparkConf": (
        with_spec("sparkConf:\n  spark.jars.packages: [a:b:1, c:d:2]"),
        (
            "SG012",
            "11:5",
            'spec.sparkConf["spark.jars.packages"]',
            "`spark.jars.packages` must be a string, not a list",
        ),
        ("", "a string", 'write `spark.jars.packages: "a:b:1,c:d:2"`'),
    ),
    "a number among the arguments": (
        spec("arguments: [--partitions, 1000]"),
        ("SG012", "10:29", "spec.arguments[1]", "an item of `arguments` must be a string, not a number"),
        ("1000", "a string", 'quote it: `"1000"`'),
    ),
    "a label that is a boolean": (
        spec("labels: {spot: true}", DRIVER),
        ("SG012", "11:20", "spec.driver.labels.spot", "`spot` must be a string, not a boolean"),
        ("true", "a string", 'quote it: `spot: "true"`'),
    ),
    "memory without a unit": (
        spec("memory: 4", EXECUTOR),
        ("SG012", "11:13", "spec.executor.memory", "`memory` must be a string, not a number"),
        ("4", "a string", "write `memory: 4g`"),
    ),
    "memory in MiB without a unit": (
        spec("memoryOverhead: 512", EXECUTOR),
        ("SG012", "11:21", "spec.executor.memoryOverhead", "`memoryOverhead` must be a string, not a number"),
        ("512", "a string", "write `memoryOverhead: 512m`"),
    ),
    "a duration without a unit": (
        spec("allocation: {batchDelay: 2}"),
        ("SG012", "10:28", "spec.allocation.batchDelay", "`batchDelay` must be a string, not a number"),
        ("2", "a string", "write `batchDelay: 2s`"),
    ),
    "a part of a core": (
        spec("cores: 1.5", EXECUTOR),
        (
            "SG012",
            "11:12",
            "spec.executor.cores",
            "`cores` must be a whole number, not a number with a fraction",
        ),
        ("1.5", "a whole number", "for example `cores: 2`"),
    ),
    "a number in quotes": (
        spec('instances: "2"', EXECUTOR),
        ("SG012", "11:16", "spec.executor.instances", "`instances` must be a whole number, not a string"),
        ('"2"', "a whole number", "write `instances: 2`"),
    ),
    "seconds with a unit": (
        spec("activeDeadlineSeconds: 4h"),
        (
            "SG012",
            "10:26",
            "spec.activeDeadlineSeconds",
            "`activeDeadlineSeconds` must be a whole number, not a string",
        ),
        ('"4h"', "a whole number", "write `activeDeadlineSeconds: 14400`"),
    ),
    "a boolean in quotes": (
        spec('dynamicAllocation: {enabled: "true"}'),
        ("SG012", "10:32", "spec.dynamicAllocation.enabled", "`enabled` must be true or false, not a string"),
        ('"true"', "true or false", "write `enabled: true`"),
    ),
    "a text for a list": (
        spec("deps: {jars: 'a.jar, b.jar'}"),
        ("SG012", "10:16", "spec.deps.jars", "`jars` must be a list, not a string"),
        ('"a.jar, b.jar"', "a list", "write `jars: [a.jar, b.jar]`"),
    ),
    "a mapping of variables": (
        spec("env: {STAGE: prod, SIZE: 3}", DRIVER),
        ("SG012", "11:5", "spec.driver.env", "`env` must be a list, not a mapping"),
        ("", "a list", 'write `env: [{name: STAGE, value: "prod"}, {name: SIZE, value: "3"}]`'),
    ),
    "a variable as a text": (
        spec("env: [STAGE=prod]", DRIVER),
        ("SG012", "11:11", "spec.driver.env[0]", "an item of `env` must be a mapping, not a string"),
        ('"STAGE=prod"', "a mapping", 'write `- {name: STAGE, value: "prod"}`'),
    ),
    "a list's item without its dash": (
        spec("tolerations: {key: spot}", DRIVER),
        ("SG012", "11:5", "spec.driver.tolerations", "`tolerations` must be a list, not a mapping"),
        (
            "",
            "a list",
            "put `- ` before its first field: it is a list, and each item starts with `- `",
        ),
    ),
    "a dash too many": (
        with_spec("driver:\n  - cores: 2"),
        ("SG012", "10:3", "spec.driver", "`driver` must be a mapping, not a list"),
        ("", "a mapping", "remove the `- `: it is one mapping, not a list"),
    ),
    "a word for a mapping": (
        spec("restartPolicy: Never"),
        ("SG012", "10:18", "spec.restartPolicy", "`restartPolicy` must be a mapping, not a string"),
        ('"Never"', "a mapping", "write `restartPolicy: {type: Never}`"),
    ),
    "a pull secret as Kubernetes has it": (
        spec("imagePullSecrets: [{name: registry}]"),
        (
            "SG012",
            "10:22",
            "spec.imagePullSecrets[0]",
            "an item of `imagePullSecrets` must be a string, not a mapping",
        ),
        ("", "a string", "write `- registry`"),
    ),
    "arguments as a shell has them": (
        spec("arguments: --date 2026-01-01 --tags a,b"),
        ("SG012", "10:14", "spec.arguments", "`arguments` must be a list, not a string"),
        (
            '"--date 2026-01-01 --tags a,b"',
            "a list",
            'write `arguments: ["--date", "2026-01-01", "--tags", "a,b"]`',
        ),
    ),
    "arguments with commas between": (
        spec("arguments: a, b"),
        ("SG012", "10:14", "spec.arguments", "`arguments` must be a list, not a string"),
        ('"a, b"', "a list", "write `arguments: [a, b]`"),
    ),
    "the name of a Secret in place of a reference": (
        spec("envFrom: [{secretRef: s3}]", DRIVER),
        ("SG012", "11:27", "spec.driver.envFrom[0].secretRef", "`secretRef` must be a mapping, not a string"),
        ('"s3"', "a mapping", "write `secretRef: {name: s3}`"),
    ),
    "nothing below a key": (
        spec("driver:"),
        ("SG012", "10:3", "spec.driver", "`driver` has no value"),
        ("", "a mapping", "for example `driver: {cores: 1, memory: 2g}`; or delete the line"),
    ),
    "no value of a required field": (
        replaced("name: report", "name:"),
        ("SG012", "4:3", "metadata.name", "`name` has no value"),
        ("", "a string", "for example `name: daily-report`"),
    ),
    "an empty spec": (
        VALID[: VALID.index("  type")],
        ("SG012", "5:1", "spec", "`spec` has no value"),
        ("", "a mapping", "write type, sparkVersion, image, mainApplicationFile below it"),
    ),
    "an emptyDir without braces": (
        with_spec("volumes:\n  - name: scratch\n    emptyDir:"),
        ("SG012", "12:7", "spec.volumes[0].emptyDir", "`emptyDir` has no value"),
        ("", "a mapping", "write `emptyDir: {}`, or fields below it; or delete the line"),
    ),
    "a misspelt value": (
        replaced("Python", "Pyhton"),
        ("SG013", "6:9", "spec.type", "`type` cannot be `Pyhton`"),
        ("Pyhton", "Java, Scala, Python, R", "write `type: Python`"),
    ),
    "a value in another case": (
        spec("imagePullPolicy: always"),
        ("SG013", "10:20", "spec.imagePullPolicy", "`imagePullPolicy` cannot be `always`"),
        ("always", "Always, IfNotPresent, Never", "write `imagePullPolicy: Always`"),
    ),
    "a value of Kubernetes": (
        spec("tolerations: [{operator: Exist}]", DRIVER),
        ("SG013", "11:30", "spec.driver.tolerations[0].operator", "`operator` cannot be `Exist`"),
        ("Exist", "Equal, Exists, Gt, Lt", "write `operator: Exists`"),
    ),
    "a misspelt field": (
        spec("memry: 4g", EXECUTOR),
        ("SG010", "11:5", "spec.executor.memry", "`memry` is not a field of `spec.executor`"),
        ("memry", "", "write `memory`"),
    ),
    "a misspelt required field": (
        replaced("mainApplicationFile", "main_application_file"),
        ("SG010", "9:3", "spec.main_application_file", "`main_application_file` is not a field of `spec`"),
        ("main_application_file", "", "write `mainApplicationFile`"),
    ),
    "a field of a role in the spec": (
        spec("memory: 4g"),
        ("SG010", "10:3", "spec.memory", "`memory` is not a field of `spec`"),
        ("memory", "", "move it to `spec.driver.memory` or `spec.executor.memory`"),
    ),
    "a field of the spec in a role": (
        spec("sparkConf: {}", DRIVER),
        ("SG010", "11:5", "spec.driver.sparkConf", "`sparkConf` is not a field of `spec.driver`"),
        ("sparkConf", "", "it is a field of `spec`: move it there, with less indentation"),
    ),
    "a property beside sparkConf": (
        spec("spark.executor.cores: '4'"),
        (
            "SG010",
            "10:3",
            'spec["spark.executor.cores"]',
            "`spark.executor.cores` is not a field of `spec`",
        ),
        ("spark.executor.cores", "", "it is a Spark property: move it to `spec.sparkConf`"),
    ),
    "a source that is not indented": (
        with_spec("volumes:\n  - name: data\n    claimName: data"),
        ("SG010", "12:7", "spec.volumes[0].claimName", "`claimName` is not a field of `spec.volumes[0]`"),
        ("claimName", "", "indent it below `persistentVolumeClaim:`"),
    ),
    "a container's resources": (
        spec("resources: {}", EXECUTOR),
        ("SG010", "11:5", "spec.executor.resources", "`resources` is not a field of `spec.executor`"),
        ("resources", "", "use `cores`, `coreRequest`, `coreLimit`, `memory` and `memoryOverhead`"),
    ),
    "a whole pod as template": (
        with_spec("driver:\n  template:\n    kind: Pod"),
        ("SG010", "12:7", "spec.driver.template.kind", "`kind` is not a field of `spec.driver.template`"),
        ("kind", "metadata, spec", "delete it: a template has only `metadata` and `spec`"),
    ),
    "a container's security on a pod": (
        spec("podSecurityContext: {capabilities: {}}", DRIVER),
        (
            "SG010",
            "11:26",
            "spec.driver.podSecurityContext.capabilities",
            "`capabilities` is not a field of `spec.driver.podSecurityContext`",
        ),
        (
            "capabilities",
            "",
            "move it to `securityContext` of the same role: it is a field of containers, not of pods",
        ),
    ),
    "a field that nobody knows": (
        spec("zebra: 1"),
        ("SG010", "10:3", "spec.zebra", "`zebra` is not a field of `spec`"),
        ("zebra", "", "delete it, or list the valid fields: `sparkgen explain spec`"),
    ),
    "kubeflow's mode": (
        spec("mode: cluster"),
        ("SG016", "10:3", "spec.mode", "`mode` is not a field of `spec`"),
        ("mode", "", "delete it: the driver always runs in its own pod"),
    ),
    "kubeflow's envVars": (
        spec("envVars: {A: b}", DRIVER),
        ("SG016", "11:5", "spec.driver.envVars", "`envVars` is not a field of `spec.driver`"),
        ("envVars", "", "write a list in `env`, with `name` and `value` in each item"),
    ),
    "kubeflow's retry interval": (
        spec("restartPolicy: {onFailureRetryInterval: 10}"),
        (
            "SG016",
            "10:19",
            "spec.restartPolicy.onFailureRetryInterval",
            "`onFailureRetryInterval` is not a field of `spec.restartPolicy`",
        ),
        (
            "onFailureRetryInterval",
            "type, onFailureRetries",
            "delete it: Kubernetes waits 10 s, 20 s, 40 s and so on between retries",
        ),
    ),
    "kubeflow's node selector, scheduled": (
        SCHEDULED + "    nodeSelector: {a: b}\n",
        ("SG016", "12:5", "spec.template.nodeSelector", "`nodeSelector` is not a field of `spec.template`"),
        (
            "nodeSelector",
            "",
            "move it to `spec.template.driver.nodeSelector` and `spec.template.executor.nodeSelector`",
        ),
    ),
    "a missing field": (
        replaced("  type: Python\n", ""),
        ("SG011", "5:1", "spec.type", "`type` is missing (language)"),
        ("", "", "add `type: Python` below `spec:`"),
    ),
    "a missing field of a list's item": (
        with_spec("driver:\n  secrets:\n    - name: key"),
        ("SG011", "12:9", "spec.driver.secrets[0].path", "`path` is missing (directory)"),
        ("", "", "add `path: /mnt/secrets` to this item of `secrets`"),
    ),
    "a sidecar without an image": (
        spec("sidecars: [{name: proxy}]", DRIVER),
        ("SG011", "11:16", "spec.driver.sidecars[0].image", "`image` is missing"),
        ("", "", "add `image:` to this item of `sidecars`"),
    ),
    "no metadata": (
        replaced("metadata:\n  name: report\n", ""),
        ("SG011", "1:1", "metadata", "`metadata` is missing (name and labels)"),
        ("", "", "add `metadata: {name: daily-report}`"),
    ),
    "no spec": (
        VALID[: VALID.index("spec:")],
        ("SG011", "1:1", "spec", "`spec` is missing (application)"),
        ("", "", "add `spec:` with type, sparkVersion, image, mainApplicationFile below it"),
    ),
    "a name that Kubernetes refuses": (
        replaced("name: report", "name: Daily_Report.v2"),
        ("SG014", "4:9", "metadata.name", "`name` cannot be `Daily_Report.v2`"),
        (
            "Daily_Report.v2",
            "lower-case letters, digits and '-', starting with a letter and ending with a letter or a digit",
            "for example `name: daily-report-v2`",
        ),
    ),
    "a version with a v": (
        replaced('"3.5.8"', "v3.5.8"),
        ("SG014", "7:17", "spec.sparkVersion", "`sparkVersion` cannot be `v3.5.8`"),
        ("v3.5.8", "a version such as 3.5.8 or 4.0.1", 'for example `sparkVersion: "3.5.8"`'),
    ),
    "a control character in a directory": (
        with_spec('eventLog: {dir: "s3a://logs/\\e[2J"}'),
        ("SG014", "10:19", "spec.eventLog.dir", "`dir` cannot be `s3a://logs/\x1b[2J`"),
        (
            "s3a://logs/\x1b[2J",
            "a URL such as s3a://logs/spark, hdfs://namenode/logs or file:///mnt/event-logs",
            "for example `dir: file:///mnt/event-logs`",
        ),
    ),
    "a quantity with a blank": (
        with_spec("allocation:\n  resources: {limits: {memory: 1 Gi}}"),
        ("SG014", "11:34", "spec.allocation.resources.limits.memory", "`memory` cannot be `1 Gi`"),
        (
            "1 Gi",
            "a Kubernetes quantity: a number, and m, k, M, G, T, Ki, Mi, Gi, Ti, an exponent up to e30 or "
            "nothing right after it",
            "for example `memory: 1Gi`",
        ),
    ),
    "a key with a blank": (
        with_spec("driver:\n  labels:\n    cost center: a"),
        ("SG014", "12:7", 'spec.driver.labels["cost center"]', "`cost center` is not a valid key here"),
        (
            "cost center",
            "letters, digits, '-', '_' and '.', with an optional prefix such as example.com/",
            "for example `cost-center`",
        ),
    ),
    "a name that is too long": (
        replaced("name: report", f"name: {'r' * 50}"),
        ("SG015", "4:9", "metadata.name", "`name` is too long: 50 characters"),
        ("r" * 50, "at most 45 characters", "shorten it by 5"),
    ),
    "a number that is too small": (
        spec("cores: 0", EXECUTOR),
        ("SG015", "11:12", "spec.executor.cores", "`cores` must be at least 1"),
        ("0", "1 or more", "write a number from 1 up"),
    ),
    "a number that is too large": (
        spec("sparkUIOptions: {servicePort: 70000}"),
        ("SG015", "10:33", "spec.sparkUIOptions.servicePort", "`servicePort` must be at most 65535"),
        ("70000", "65535 or less", "write a number up to 65535"),
    ),
    "a ratio of nothing": (
        spec("dynamicAllocation: {executorAllocationRatio: 0}"),
        (
            "SG015",
            "10:48",
            "spec.dynamicAllocation.executorAllocationRatio",
            "`executorAllocationRatio` must be more than 0",
        ),
        ("0", "more than 0", "write a number above 0"),
    ),
    "an empty text": (
        replaced("mainApplicationFile: local:///opt/app/report.py", "mainApplicationFile: ''"),
        ("SG015", "9:24", "spec.mainApplicationFile", "`mainApplicationFile` is empty"),
        ("", "at least 1 character", "for example `mainApplicationFile: local:///opt/app/report.py`"),
    ),
    "a volume with two sources": (
        with_spec("volumes:\n  - {name: a, emptyDir: {}, hostPath: {path: /a}}"),
        ("SG015", "11:7", "spec.volumes[0]", "an item of `volumes` can have only one of emptyDir, hostPath"),
        ("", "one of them", "keep one: emptyDir or hostPath"),
    ),
    "a variable from nowhere": (
        spec("env: [{name: A, valueFrom: {}}]", DRIVER),
        ("SG015", "11:32", "spec.driver.env[0].valueFrom", "`valueFrom` is empty"),
        ("", "at least 1 field", "write configMapKeyRef, fieldRef, fileKeyRef or resourceFieldRef below it"),
    ),
    "a misspelt kind": (
        replaced("kind: SparkApplication", "kind: SparkAplication"),
        ("SG007", "2:7", "kind", "there is no kind `SparkAplication`"),
        (
            "SparkAplication",
            ALL_KINDS,
            "write `kind: SparkApplication`",
        ),
    ),
    "another kind": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {}\n",
        ("SG007", "2:7", "kind", "this is a ConfigMap of v1, not a sparkgen document"),
        (
            "ConfigMap",
            ALL_KINDS,
            "don't pass it to sparkgen, which reads only its own documents; "
            "commit it beside the rendered files",
        ),
    ),
    "another kind without a version": (
        "kind: ConfigMap\nmetadata: {name: a}\n",
        ("SG007", "1:7", "kind", "this is a ConfigMap, not a sparkgen document"),
        (
            "ConfigMap",
            ALL_KINDS,
            "don't pass it to sparkgen, which reads only its own documents; "
            "commit it beside the rendered files",
        ),
    ),
    "no kind": (
        SCHEDULED.replace("kind: ScheduledSparkApplication\n", ""),
        ("SG007", "1:1", "kind", "`kind` is missing"),
        (
            "",
            ALL_KINDS,
            "add `kind: ScheduledSparkApplication`",
        ),
    ),
    "no apiVersion": (
        replaced("apiVersion: sparkgen.dev/v1alpha1\n", ""),
        ("SG007", "1:1", "apiVersion", "`apiVersion` is missing"),
        ("", "sparkgen.dev/v1alpha1", "add `apiVersion: sparkgen.dev/v1alpha1`"),
    ),
    "neither kind nor apiVersion": (
        "image: spark\nreplicas: 2\n",
        (
            "SG007",
            "1:1",
            "apiVersion",
            "this is not a sparkgen document: it has neither `apiVersion` nor `kind`",
        ),
        (
            "",
            "sparkgen.dev/v1alpha1",
            "start it with `apiVersion: sparkgen.dev/v1alpha1` and `kind: SparkApplication`, or leave this "
            "file out",
        ),
    ),
    "another version of the format": (
        replaced("v1alpha1", "v1"),
        ("SG007", "1:13", "apiVersion", "there is no SparkApplication with the apiVersion sparkgen.dev/v1"),
        ("sparkgen.dev/v1", "sparkgen.dev/v1alpha1", "write `apiVersion: sparkgen.dev/v1alpha1`"),
    ),
    "kubeflow's resource": (
        replaced("sparkgen.dev/v1alpha1", "sparkoperator.k8s.io/v1beta2"),
        ("SG007", "1:13", "apiVersion", "this is the spark-operator's SparkApplication, not sparkgen's"),
        (
            "sparkoperator.k8s.io/v1beta2",
            "sparkgen.dev/v1alpha1",
            "convert it with `sparkgen import`, or write `apiVersion: sparkgen.dev/v1alpha1`: "
            "most fields have the same names",
        ),
    ),
    "Apache's resource": (
        replaced("sparkgen.dev/v1alpha1", "spark.apache.org/v1") + "  driverArgs: []\n",
        (
            "SG007",
            "1:13",
            "apiVersion",
            "this is a SparkApplication of Apache's spark-kubernetes-operator, not sparkgen's",
        ),
        (
            "spark.apache.org/v1",
            "sparkgen.dev/v1alpha1",
            "its fields have other names here: convert it with `sparkgen import`",
        ),
    ),
    "a schedule in an application": (
        spec('schedule: "0 3 * * *"'),
        ("SG010", "10:3", "spec.schedule", "`schedule` is a field only of a ScheduledSparkApplication"),
        (
            "schedule",
            "",
            "write `kind: ScheduledSparkApplication`, and the application's fields below `spec.template`",
        ),
    ),
    "a scheduled application under the other kind": (
        SCHEDULED.replace("ScheduledSpark", "Spark"),
        ("SG010", "6:3", "spec.schedule", "`schedule` is a field only of a ScheduledSparkApplication"),
        (
            "schedule",
            "",
            "write `kind: ScheduledSparkApplication`, and the application's fields below `spec.template`",
        ),
    ),
    "an application that is not below template": (
        VALID.replace("kind: ", "kind: Scheduled").replace("spec:", 'spec:\n  schedule: "@daily"'),
        (
            "SG010",
            "7:3",
            "spec.type",
            "a ScheduledSparkApplication has its application's fields below `spec.template`",
        ),
        (
            "type, sparkVersion, image, mainApplicationFile",
            "",
            "write `template:` below `spec:` and indent these fields below it",
        ),
    ),
}
"""Mistake -> the document with it; code, place, path and message; found, allowed and next step."""


@pytest.mark.parametrize(("text", "what", "details"), CASES.values(), ids=CASES.keys())
def test_mistakes(text: str, what: tuple[str, ...], details: tuple[str, ...]) -> None:
    """Each mistake is one problem, with its place, what was found, what is allowed and what to do."""
    problem = only(text)
    place = f"{problem.position.line}:{problem.position.column}"
    assert (problem.code, place, path_text(problem.path), problem.message) == what
    assert (problem.found, problem.allowed, problem.next_step) == details
    assert problem.severity is Severity.ERROR
    assert problem.position.file == "app.yaml"


@pytest.mark.parametrize("text", [VALID, SCHEDULED, with_spec("driver: {}\nvolumes: []\n")])
def test_valid_documents(text: str) -> None:
    """A valid document has no problem."""
    assert problems(text) == []


def test_null_in_generated_templates() -> None:
    """`creationTimestamp: null`, which kubectl writes into every template, is no mistake."""
    assert problems(with_spec("driver: {template: {metadata: {creationTimestamp: null}}}")) == []


def test_all_problems_in_the_order_of_the_text() -> None:
    """Every problem is told at once, from top to bottom, and independent of each other."""
    text = with_spec("mode: cluster\ndriver: {cores: 0, memry: 1g}\nexecutor: {instances: two}").replace(
        "name: report", "name: Report"
    )
    assert [(problem.code, problem.position.line) for problem in problems(text)] == [
        ("SG014", 4),
        ("SG016", 10),
        ("SG015", 11),
        ("SG010", 11),
        ("SG012", 12),
    ]


def test_kubeflow_documents_are_checked_further() -> None:
    """For a document of the spark-operator the version and every field that differs are told at once."""
    text = (
        replaced("sparkgen.dev/v1alpha1", "sparkoperator.k8s.io/v1beta2")
        + "  mode: cluster\n  sparkConfigMap: v\n"
    )
    assert [problem.code for problem in problems(text)] == ["SG007", "SG016", "SG016"]


def test_one_cause_is_told_once() -> None:
    """A wrong kind hides everything that follows from it."""
    text = with_spec("zebra: 1").replace("kind: SparkApplication", "kind: Deployment")
    assert only(text).code == "SG007"


@pytest.mark.parametrize("value", ["1", "[]", "true", "{a: 1}", "null"])
@pytest.mark.parametrize("key", ["apiVersion", "kind"])
def test_identity_of_another_type(key: str, value: str) -> None:
    """An apiVersion or a kind that is not even a text is an unknown one."""
    old = {"apiVersion": "apiVersion: sparkgen.dev/v1alpha1", "kind": "kind: SparkApplication"}[key]
    assert only(replaced(old, f"{key}: {value}")).code == "SG007"
