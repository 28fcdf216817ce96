"""The table for kubeflow's SparkApplication and ScheduledSparkApplication.

Source of the fields: kubeflow/spark-operator, api/v1beta2/sparkapplication_types.go and
scheduledsparkapplication_types.go, with those of later releases that the documentation names.
"""

from __future__ import annotations

from sparkgen.importing import metadata, monitoring, transforms
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import Row, table
from sparkgen.properties.kubernetes_table import NO_SERVICE

GROUP = "sparkoperator.k8s.io"
_DEAD = "the operator ignores this field, too"
_INGRESS = "an Ingress needs a host, which is in the operator's configuration"
_INGRESS_STEP = (
    "set `spec.sparkUIOptions.ingress.host`, and move this value to `annotations`, `className` and "
    "`tlsSecretName` beside it"
)

SPEC_ROWS = (
    Row("spec.type", "spec.type"),
    Row("spec.sparkVersion", "spec.sparkVersion"),
    Row("spec.image", "spec.image"),
    Row("spec.imagePullPolicy", "spec.imagePullPolicy"),
    Row("spec.imagePullSecrets", "spec.imagePullSecrets"),
    Row("spec.mainClass", "spec.mainClass"),
    Row("spec.mainApplicationFile", "spec.mainApplicationFile"),
    Row("spec.arguments", "spec.arguments"),
    Row("spec.sparkConf", "spec.sparkConf", how=transforms.properties),
    Row("spec.hadoopConf", "spec.hadoopConf"),
    Row("spec.memoryOverheadFactor", "spec.memoryOverheadFactor"),
    Row("spec.volumes", "spec.volumes"),
    Row("spec.suspend", "spec.suspend"),
    Row("spec.restartPolicy", "spec.restartPolicy", how=transforms.restart),
    Row("spec.timeToLiveSeconds", "spec.timeToLiveSeconds", how=transforms.time_to_live),
    *(
        Row(f"spec.deps.{name}", f"spec.deps.{name}")
        for name in ("jars", "files", "pyFiles", "archives", "packages", "excludePackages", "repositories")
    ),
    *(
        Row(f"spec.deps.{name}", needless=True, reason=_DEAD)
        for name in ("jarsDownloadDir", "filesDownloadDir", "downloadTimeout", "maxSimultaneousDownloads")
    ),
    *(
        Row(f"spec.dynamicAllocation.{name}", f"spec.dynamicAllocation.{name}")
        for name in (
            "enabled",
            "initialExecutors",
            "minExecutors",
            "maxExecutors",
            "shuffleTrackingEnabled",
            "shuffleTrackingTimeout",
        )
    ),
    Row("spec.proxyUser", "spec.proxyUser"),
    Row(
        "spec.sparkConfigMap",
        reason="the import cannot see the files of the ConfigMap, and sparkgen writes some of them itself",
        step="list its files in `spec.sparkConfFiles`, each with `configMapKeyRef`; copy the properties "
        "of its spark-defaults.conf to `spec.sparkConf`, and its log levels to `spec.logging`",
    ),
    Row("spec.hadoopConfigMap", "spec.hadoopConfigMap"),
    Row(
        "spec.mode",
        same=("cluster",),
        reason="the driver always runs in its own pod",
        step="check whether the application needs files or settings of the submitting machine",
    ),
    Row("spec.nodeSelector.*", "spec.driver.nodeSelector.*", how=transforms.both_roles),
    Row(
        "spec.pythonVersion",
        same=("3",),
        reason="the image determines the Python version",
        step="use an image with the right Python, or set PYSPARK_PYTHON in `env` of both roles",
    ),
    *(
        Row(f"spec.{name}", needless=True, reason=_DEAD)
        for name in ("failureRetries", "retryInterval", "initContainerImage")
    ),
    Row("spec.monitoring", "spec.driver.javaOptions", how=monitoring.monitoring),
    Row("spec.batchScheduler", "spec.batchScheduler", how=transforms.batch_scheduler),
    *(
        Row(f"spec.batchSchedulerOptions.{name}", f"spec.batchSchedulerOptions.{name}")
        for name in ("queue", "priorityClassName")
    ),
    Row("spec.batchSchedulerOptions.resources.*", "spec.batchSchedulerOptions.resources.*"),
    *(
        Row(f"spec.sparkUIOptions.{name}", f"spec.sparkUIOptions.{name}")
        for name in ("servicePort", "serviceType", "serviceAnnotations", "serviceLabels")
    ),
    Row(
        "spec.sparkUIOptions.servicePortName",
        reason="the port is always named `spark-ui`",
        step="use this name where you refer to the port",
    ),
    *(
        Row(f"spec.sparkUIOptions.{name}", reason=_INGRESS, step=_INGRESS_STEP)
        for name in ("ingressAnnotations", "ingressTLS")
    ),
    Row(
        "spec.sparkUIOptions.ingressURLFormat",
        reason="in a document, host and path are separate fields, and a path needs a gateway",
        step="set the host in `spec.sparkUIOptions.ingress.host`, or both in `spec.sparkUIOptions.route`",
    ),
    Row(
        "spec.driverIngressOptions",
        reason="sparkgen renders no Service or Ingress for other ports",
        step="list the ports in `spec.driver.ports`, and commit your own Service and Ingress for them",
    ),
    Row("spec.driverPodDisruptionBudget", "spec.podDisruptionBudget", how=transforms.disruption_budget),
)

ROLE_ROWS = (
    *(
        Row(f"spec.ROLE.{name}", f"spec.ROLE.{name}")
        for name in (
            "cores",
            "coreRequest",
            "coreLimit",
            "memory",
            "memoryOverhead",
            "gpu",
            "image",
            "env",
            "envFrom",
            "secrets",
            "configMaps",
            "volumeMounts",
            "labels",
            "annotations",
            "nodeSelector",
            "affinity",
            "tolerations",
            "priorityClassName",
            "schedulerName",
            "securityContext",
            "podSecurityContext",
            "initContainers",
            "sidecars",
            "hostAliases",
            "dnsConfig",
            "terminationGracePeriodSeconds",
            "lifecycle",
            "javaOptions",
            "serviceAccount",
            "ports",
        )
    ),
    Row("spec.ROLE.template", "spec.ROLE.template", how=transforms.template),
    Row("spec.ROLE.envVars", "spec.ROLE.env", how=transforms.listed_variables),
    Row("spec.ROLE.envSecretKeyRefs", "spec.ROLE.env", how=transforms.listed_secret_variables),
    Row(
        "spec.ROLE.memoryLimit",
        reason="a pod's memory limit is its request: `memory` and `memoryOverhead` together",
        step="for more memory, raise `memoryOverhead`",
    ),
    Row("spec.ROLE.runtimeClassName", "spec.ROLE.template.spec.runtimeClassName"),
    Row(
        "spec.ROLE.hostNetwork",
        same=(False,),
        reason="driver and executors need their own addresses",
        step="expose ports with a Service, or with `hostPort` in `ports`",
    ),
    Row(
        "spec.ROLE.shareProcessNamespace",
        same=(False,),
        reason="your code must not see the allocator's processes",
        step="to see the processes of a pod, use `kubectl debug`",
    ),
    Row("spec.executor.instances", "spec.executor.instances"),
    Row(
        "spec.executor.deleteOnTermination",
        same=(True,),
        reason="executor pods are always deleted when they end",
        step="collect their logs while they run, or set `executor.lifecycle`",
    ),
    Row(
        "spec.driver.podName",
        reason="the driver's pod is named after the run",
        step="find the pod by its labels sparkgen.dev/application and spark-role",
    ),
    Row(
        "spec.driver.kubernetesMaster",
        needless=True,
        reason="the allocator uses the cluster in which it runs",
    ),
    Row(
        "spec.driver.serviceAnnotations",
        reason=NO_SERVICE,
        step="for the UI's Service, set `spec.sparkUIOptions.serviceAnnotations`",
    ),
    Row(
        "spec.driver.serviceLabels",
        reason=NO_SERVICE,
        step="for the UI's Service, set `spec.sparkUIOptions.serviceLabels`",
    ),
)

OUTER_ROWS = (
    Row("spec.schedule", "outer.schedule", how=transforms.schedule),
    Row("spec.timeZone", "outer.timeZone", how=transforms.time_zone),
    Row("spec.concurrencyPolicy", "outer.concurrencyPolicy"),
    Row("spec.suspend", "outer.suspend"),
    Row("spec.successfulRunHistoryLimit", "outer.successfulRunHistoryLimit"),
    Row("spec.failedRunHistoryLimit", "outer.failedRunHistoryLimit"),
)

ROWS = (*metadata.ROWS, *SPEC_ROWS, *ROLE_ROWS)
TABLE = table(ROWS)
OUTER = table((*metadata.ROWS, *OUTER_ROWS))

NAMES = ("spark.app.name", "spark.kubernetes.driver.pod.name")
"""Properties that the operator overrides, as its nameOption and sparkConfOption do."""
NAMED = "the operator overrides it with a name that it makes of `metadata.name`"


def leave_out_names(draft: Draft) -> None:
    """Drop the properties that the operator overrides."""
    for item in draft.properties:
        if item.name in NAMES:
            draft.tell(Outcome.NEEDLESS, item.source, item.position, (), NAMED)
    draft.properties[:] = [item for item in draft.properties if item.name not in NAMES]
