"""The table for kubeflow's SparkApplication and ScheduledSparkApplication.

Source of the fields: kubeflow/spark-operator, api/v1beta2/sparkapplication_types.go and
scheduledsparkapplication_types.go, with those of later releases that the documentation names.
"""

from __future__ import annotations

from sparkgen.importing import metadata, monitoring, transforms
from sparkgen.importing.table import Row, table

GROUP = "sparkoperator.k8s.io"
_DEAD = "the operator ignores it as well"
_INGRESS = "an Ingress needs its host, and that is in the operator's own configuration"
_INGRESS_STEP = (
    "name the host in `spec.sparkUIOptions.ingress.host`, and what stands here in its `annotations`, "
    "`className` and `tlsSecretName`"
)
_HEADLESS = "executors need no Service to find the driver"

SPEC_ROWS = (
    Row("spec.type", "spec.type"),
    Row("spec.sparkVersion", "spec.sparkVersion"),
    Row("spec.image", "spec.image"),
    Row("spec.imagePullPolicy", "spec.imagePullPolicy"),
    Row("spec.imagePullSecrets", "spec.imagePullSecrets"),
    Row("spec.mainClass", "spec.mainClass"),
    Row("spec.mainApplicationFile", "spec.mainApplicationFile"),
    Row("spec.arguments", "spec.arguments"),
    Row(
        "spec.sparkConf", "spec.sparkConf", how=transforms.properties, words="property by property, see below"
    ),
    Row("spec.hadoopConf", "spec.hadoopConf"),
    Row("spec.memoryOverheadFactor", "spec.memoryOverheadFactor"),
    Row("spec.volumes", "spec.volumes"),
    Row("spec.suspend", "spec.suspend"),
    Row(
        "spec.restartPolicy",
        "spec.restartPolicy",
        how=transforms.restart,
        words="`Always` becomes a Deployment; the time between tries is Kubernetes' own",
    ),
    Row(
        "spec.timeToLiveSeconds",
        "spec.timeToLiveSeconds",
        how=transforms.time_to_live,
        words="deletes the driver's Job, which GitOps tools make again",
    ),
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
        reason="names a ConfigMap and none of its files, some of which sparkgen writes itself",
        step="name its files one by one in `spec.sparkConfFiles`, with `configMapKeyRef`; copy the "
        "properties of its spark-defaults.conf to `spec.sparkConf`, and its log levels to `spec.logging`",
    ),
    Row("spec.hadoopConfigMap", "spec.hadoopConfigMap"),
    Row(
        "spec.mode",
        same=("cluster",),
        reason="the driver always runs in a pod of its own",
        step="check what the application expects of the machine that submits it",
    ),
    Row(
        "spec.nodeSelector.*",
        "spec.driver.nodeSelector.*",
        how=transforms.both_roles,
        words="the same in both roles",
    ),
    Row(
        "spec.pythonVersion",
        same=("3",),
        reason="the image decides which Python runs",
        step="use an image with the Python that is needed, or set PYSPARK_PYTHON in `env` of both roles",
    ),
    *(
        Row(f"spec.{name}", needless=True, reason=_DEAD)
        for name in ("failureRetries", "retryInterval", "initContainerImage")
    ),
    Row(
        "spec.monitoring",
        "spec.driver.javaOptions",
        how=monitoring.monitoring,
        words="the Java agent, its port and annotations, if there is `prometheus.configFile`",
    ),
    Row(
        "spec.batchScheduler",
        "spec.batchScheduler",
        how=transforms.batch_scheduler,
        words="`volcano`, `yunikorn` and `kube-scheduler`; any other becomes `schedulerName` of both roles",
    ),
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
        reason="the port is named `spark-ui`",
        step="change what uses the name",
    ),
    *(
        Row(f"spec.sparkUIOptions.{name}", reason=_INGRESS, step=_INGRESS_STEP)
        for name in ("ingressAnnotations", "ingressTLS")
    ),
    Row(
        "spec.sparkUIOptions.ingressURLFormat",
        reason="host and path are fields of their own here, and a path takes a gateway",
        step="name the host in `spec.sparkUIOptions.ingress.host`, or both in `spec.sparkUIOptions.route`",
    ),
    Row(
        "spec.driverIngressOptions",
        reason="no Service or Ingress for further ports is rendered",
        step="name the ports in `spec.driver.ports`, and commit a Service and an Ingress of your own",
    ),
    Row(
        "spec.driverPodDisruptionBudget",
        "spec.podDisruptionBudget",
        how=transforms.disruption_budget,
        words="`enabled: true`",
    ),
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
    Row(
        "spec.ROLE.template",
        "spec.ROLE.template",
        how=transforms.template,
        words="the container that is Spark's is named spark-kubernetes-ROLE here",
    ),
    Row(
        "spec.ROLE.envVars",
        "spec.ROLE.env",
        how=transforms.listed_variables,
        words="a list",
    ),
    Row(
        "spec.ROLE.envSecretKeyRefs",
        "spec.ROLE.env",
        how=transforms.listed_secret_variables,
        words="a list, with `valueFrom.secretKeyRef`",
    ),
    Row("spec.ROLE.runtimeClassName", "spec.ROLE.template.spec.runtimeClassName"),
    Row(
        "spec.ROLE.hostNetwork",
        same=(False,),
        reason="driver and executors need addresses of their own",
        step="expose what has to be reached by a Service, or by `hostPort` in `ports`",
    ),
    Row(
        "spec.ROLE.shareProcessNamespace",
        same=(False,),
        reason="the code must not see the allocator's processes",
        step="look at processes of the pod with `kubectl debug`",
    ),
    Row("spec.executor.instances", "spec.executor.instances"),
    Row(
        "spec.executor.deleteOnTermination",
        same=(True,),
        reason="executor pods are always removed when they have ended",
        step="collect logs while they run, or set `executor.lifecycle`",
    ),
    Row(
        "spec.driver.podName",
        reason="the driver's pod is named after the run",
        step="look for it by its labels: sparkgen.dev/application and spark-role",
    ),
    Row(
        "spec.driver.kubernetesMaster",
        needless=True,
        reason="the allocator uses the cluster that it runs in",
    ),
    Row(
        "spec.driver.serviceAnnotations",
        reason=_HEADLESS,
        step="annotations of the UI's Service go to `spec.sparkUIOptions.serviceAnnotations`",
    ),
    Row(
        "spec.driver.serviceLabels",
        reason=_HEADLESS,
        step="labels of the UI's Service go to `spec.sparkUIOptions.serviceLabels`",
    ),
)

OUTER_ROWS = (
    Row(
        "spec.schedule",
        "outer.schedule",
        how=transforms.schedule,
        words="`CRON_TZ=` becomes `timeZone`",
    ),
    Row("spec.timeZone", "outer.timeZone", how=transforms.time_zone, words="`Local` is left out"),
    Row("spec.concurrencyPolicy", "outer.concurrencyPolicy"),
    Row("spec.suspend", "outer.suspend"),
    Row("spec.successfulRunHistoryLimit", "outer.successfulRunHistoryLimit"),
    Row("spec.failedRunHistoryLimit", "outer.failedRunHistoryLimit"),
)

ROWS = (*metadata.ROWS, *SPEC_ROWS, *ROLE_ROWS)
TABLE = table(ROWS)
OUTER = table((*metadata.ROWS, *OUTER_ROWS))
