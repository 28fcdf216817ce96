"""Fields of other formats that users know, and what to write instead of each.

`ELSEWHERE` has the fields of the spark-operator's v1beta2 resources (kubeflow/spark-operator,
api/v1beta2/sparkapplication_types.go) and of Apache's spark-kubernetes-operator that a sparkgen document
does not have under the same name. `MISTAKES` has Kubernetes fields that users write in the wrong place.
"""

from __future__ import annotations

from collections.abc import Mapping

ROLE = "role"
"""Stands for both `spec.driver` and `spec.executor`."""

_BACK_OFF = "delete it: Kubernetes waits 10 s, 20 s, 40 s and so on between retries"
_NO_SUBMISSION = "delete it: nothing is submitted, so no submission can fail"
_INGRESS = (
    "set the host in `spec.sparkUIOptions.ingress.host`, and the rest in its `annotations`, "
    "`className` and `tlsSecretName`"
)

ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "spec": {
        "applicationTolerations": "use `spec.restartPolicy` and `spec.allocation` instead",
        "deploymentMode": "delete it: the driver always runs in its own pod",
        "driverArgs": "rename it to `spec.arguments`",
        "driverIngressOptions": (
            "add the ports to `spec.driver.ports`; sparkgen renders no Service or Ingress for them: "
            "commit those beside the rendered files"
        ),
        "driverPodDisruptionBudget": "write `podDisruptionBudget: {enabled: true}` instead",
        "driverSpec": "rename it to `driver`, and move its podTemplateSpec to `driver.template`",
        "executorSpec": "rename it to `executor`, and move its podTemplateSpec to `executor.template`",
        "failureRetries": "write `restartPolicy: {type: OnFailure, onFailureRetries: ...}` instead",
        "jars": "move it to `spec.deps.jars`, or to `spec.mainApplicationFile` if it is the application",
        "mode": "delete it: the driver always runs in its own pod",
        "nodeSelector": "move it to `spec.driver.nodeSelector` and `spec.executor.nodeSelector`",
        "pyFiles": (
            "move the main Python file to `spec.mainApplicationFile`, and the others to `spec.deps.pyFiles`"
        ),
        "pythonVersion": "delete it: the image decides; or set PYSPARK_PYTHON in `env` of both roles",
        "retryInterval": _BACK_OFF,
        "runtimeVersions": "write `sparkVersion` and, if necessary, `scalaVersion` below `spec` instead",
        "sparkConfigMap": (
            "list its files in `spec.sparkConfFiles`, with `configMapKeyRef`; copy the properties "
            "of its spark-defaults.conf to `spec.sparkConf`, and its log levels to `spec.logging`"
        ),
        "sparkRFiles": "move the R file to `spec.mainApplicationFile`",
    },
    ROLE: {
        "deleteOnTermination": "delete it: executor pods are always removed when the driver ends",
        "envSecretKeyRefs": "write a list in `env`, with `valueFrom.secretKeyRef` in each item",
        "envVars": "write a list in `env`, with `name` and `value` in each item",
        "hostNetwork": "delete it: driver and executors need their own addresses",
        "kubernetesMaster": "delete it: the allocator uses the cluster that it runs in",
        "memoryLimit": (
            "delete it: a pod's memory limit is its request, `memory` and `memoryOverhead` together; "
            "raise `memoryOverhead` for more"
        ),
        "podName": "delete it: the driver's pod is named after the run",
        "podTemplateSpec": "rename it to `template`",
        "serviceAnnotations": (
            "executors need no Service to find the driver; put annotations of the UI's Service in "
            "`spec.sparkUIOptions.serviceAnnotations`"
        ),
        "serviceLabels": (
            "executors need no Service to find the driver; put labels of the UI's Service in "
            "`spec.sparkUIOptions.serviceLabels`"
        ),
        "shareProcessNamespace": "delete it: user code must not see the allocator's processes",
    },
    "spec.monitoring": {
        "exposeDriverMetrics": "delete it: they are always served, at /metrics/prometheus of the driver's UI",
        "exposeExecutorMetrics": (
            'set `spark.ui.prometheus.enabled` to "true" in `spec.sparkConf`: then they are served at '
            "/metrics/executors/prometheus of the driver's UI"
        ),
        "metricsPropertiesFile": "set `spark.metrics.conf` to the file in `spec.sparkConf`",
        "prometheus": (
            "start the exporter with `javaOptions` (-javaagent:...) of `spec.driver` and `spec.executor`, "
            "and add its port to their `ports`"
        ),
    },
    "spec.restartPolicy": {
        "onFailureRetryInterval": _BACK_OFF,
        "onSubmissionFailureRetries": _NO_SUBMISSION,
        "onSubmissionFailureRetryInterval": _NO_SUBMISSION,
    },
    "spec.sparkUIOptions": {
        "ingressAnnotations": _INGRESS,
        "ingressTLS": _INGRESS,
        "servicePortName": "delete it: the port is named `spark-ui`",
    },
}
"""The place of a field (`spec`, `role`, `spec.monitoring`) -> its name -> what to do instead."""

_BY_THE_SERVER = "delete it: the API server sets it"
_SIZES = "use `cores`, `coreRequest`, `coreLimit`, `memory` and `memoryOverhead`"
_POD = "delete it: a template has only `metadata` and `spec`"
_IN_TEMPLATE = "move it to `template.spec` of the same role"

MISTAKES: Mapping[str, Mapping[str, str]] = {
    "": {"status": _BY_THE_SERVER},
    "metadata": dict.fromkeys(
        (
            "creationTimestamp",
            "deletionTimestamp",
            "finalizers",
            "generateName",
            "generation",
            "managedFields",
            "ownerReferences",
            "resourceVersion",
            "selfLink",
            "uid",
        ),
        "delete it: it has no effect on a rendered object",
    ),
    ROLE: {
        "containers": "move it to `template.spec`, or use `sidecars` for more containers",
        "cpu": "use `cores`, or `coreRequest` for a fraction of a CPU",
        "limits": _SIZES,
        "replicas": "use `spec.executor.instances`",
        "requests": _SIZES,
        "resources": _SIZES,
        "runtimeClassName": _IN_TEMPLATE,
        "dnsPolicy": _IN_TEMPLATE,
        "hostname": _IN_TEMPLATE,
        "preemptionPolicy": _IN_TEMPLATE,
        "serviceAccountName": "rename it to `serviceAccount`",
        "volumes": "move it to `spec.volumes`, which both roles share",
    },
    "role.template": {"apiVersion": _POD, "kind": _POD, "status": _POD},
    "role.podSecurityContext": dict.fromkeys(
        ("allowPrivilegeEscalation", "capabilities", "privileged", "readOnlyRootFilesystem"),
        "move it to `securityContext` of the same role: it is a field of containers, not of pods",
    ),
    "role.template.spec.securityContext": dict.fromkeys(
        ("allowPrivilegeEscalation", "capabilities", "privileged", "readOnlyRootFilesystem"),
        "move it to `securityContext` of a container: it is a field of containers, not of pods",
    ),
    "role.securityContext": dict.fromkeys(
        ("fsGroup", "fsGroupChangePolicy", "supplementalGroups", "supplementalGroupsPolicy", "sysctls"),
        "move it to `podSecurityContext` of the same role: it is a field of pods, not of containers",
    ),
}
"""Place -> name -> what to do instead, for fields that neither operator has."""


def _place(parent: tuple[str | int, ...]) -> str:
    """The place of a field, as the tables write it: `spec`, `role`, `role.template`."""
    names = [part for part in parent if isinstance(part, str)]
    if names[:2] == ["spec", "template"]:
        del names[1]
    if names[:2] in (["spec", "driver"], ["spec", "executor"]):
        names[:2] = [ROLE]
    return ".".join(names)


def instead(parent: tuple[str | int, ...], name: str) -> tuple[str, str] | None:
    """The code and the next step for a field that `parent` does not have; None if the tables lack it.

    The code is SG016 for fields of the Spark operators, SG010 for others.
    """
    place = _place(parent)
    for code, table in (("SG016", ELSEWHERE), ("SG010", MISTAKES)):
        step = table.get(place, {}).get(name)
        if step is not None:
            return code, step
    return None
