"""What a function of the importer does with a value: field of the other format -> words for the page."""

from __future__ import annotations

from collections.abc import Mapping

_PROPERTIES = "the section [Spark properties](#spark-properties) shows what becomes of each property"
SPARK_APPLICATION: Mapping[str, str] = {
    "metadata.name": "the name is shortened to 45 characters",
    "metadata.generateName": "the application has a fixed name, and each run adds a hash to the name",
    "metadata.labels.*": "all are copied, except those that a deployment tool sets",
    "metadata.annotations.*": (
        "all are copied, except those that a deployment tool sets, or that a document must not set (SG323)"
    ),
    "spec.sparkConf": _PROPERTIES,
    "spec.restartPolicy": (
        "with `Always`, sparkgen renders a Deployment. Kubernetes sets the time between retries"
    ),
    "spec.timeToLiveSeconds": (
        "Kubernetes deletes the driver's Job after this time, and GitOps tools then create the Job again"
    ),
    "spec.nodeSelector.*": "the value is copied to both roles, except to a role that has its own value",
    "spec.monitoring": (
        "if `prometheus.configFile` is set, the document gets the Java agent, its port and its annotations"
    ),
    "spec.batchScheduler": (
        "`volcano`, `yunikorn` and `kube-scheduler` are copied, and any other name becomes "
        "`schedulerName` of both roles"
    ),
    "spec.driverPodDisruptionBudget": "the budget becomes `enabled: true`, and its numbers are not copied",
    "spec.ROLE.template": "Spark's container is renamed to `spark-kubernetes-ROLE`",
    "spec.ROLE.envVars": "the mapping becomes a list",
    "spec.ROLE.envSecretKeyRefs": (
        "the mapping becomes a list, in which each item has `valueFrom.secretKeyRef`"
    ),
}
SCHEDULED: Mapping[str, str] = {
    "spec.schedule": "a time zone in `CRON_TZ=` becomes `timeZone`",
    "spec.timeZone": "the value `Local` is left out",
}
SPARK_CONNECT: Mapping[str, str] = {
    "spec.server.template": (
        "the image, the CPU, the memory and the token (`SPARK_CONNECT_AUTHENTICATE_TOKEN`) of Spark's "
        "container become fields of the document. Spark's container is renamed to "
        "`spark-kubernetes-driver`"
    ),
    "spec.executor.template": (
        "the image becomes a field of the document. Spark's container is renamed to "
        "`spark-kubernetes-executor`"
    ),
    "spec.sparkConf": _PROPERTIES,
    "spec.hadoopConf": "the prefix `spark.hadoop.` is removed",
    "spec.dynamicAllocation": "if dynamic allocation is not enabled, the document gets `enabled: false`",
    "spec.executor.instances": "if the field is not set, the document gets 2, which is Spark's default",
}
_RETRIES = "the number is copied only if the policy is `OnFailure`"
_BACK_OFF = (
    "if the policy has retries, the value is lost, because Kubernetes sets the time between retries. "
    "Otherwise, the value is not needed"
)
_RESTART = "spec.applicationTolerations.restartConfig"
APACHE: Mapping[str, str] = {
    "spec.mainClass": "the class PythonRunner is left out",
    "spec.jars": "the first jar becomes the main file, and the others become `deps.jars`",
    "spec.pyFiles": "the first file becomes the main file, and the others become `deps.pyFiles`",
    "spec.sparkRFiles": "the file becomes the main file",
    "spec.files": "the text becomes a list",
    "spec.driverArgs": (
        "with the class PythonRunner, the first argument becomes the main file, and the second "
        "`deps.pyFiles`. All other arguments are copied"
    ),
    "spec.sparkConf": _PROPERTIES,
    "spec.runtimeVersions.scalaVersion": (
        "the value is left out if the Spark version determines the Scala version"
    ),
    "spec.driverSpec.podTemplateSpec": "Spark's container is renamed to `spark-kubernetes-driver`",
    "spec.executorSpec.podTemplateSpec": "Spark's container is renamed to `spark-kubernetes-executor`",
    f"{_RESTART}.restartPolicy": (
        "with `Always`, sparkgen renders a Deployment. The value `OnInfrastructureFailure` is lost"
    ),
    f"{_RESTART}.maxRestartAttempts": _RETRIES,
    f"{_RESTART}.maxRestartOnFailure": _RETRIES,
    f"{_RESTART}.restartBackoffMillis": _BACK_OFF,
    f"{_RESTART}.restartBackoffMillisForFailure": _BACK_OFF,
    f"{_RESTART}.restartBackoffMillisForSchedulingFailure": _BACK_OFF,
    "spec.applicationTolerations.ttlAfterStopMillis": (
        "the value is converted to whole seconds. Kubernetes deletes the driver's Job after this "
        "time, and GitOps tools then create the Job again"
    ),
}
