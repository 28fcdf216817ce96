"""The verdicts on `spark.kubernetes.*`: what native Spark applies to pods has a field here.

The driver is an ordinary pod and the allocator makes the executors, so nothing but sparkgen reads these.
Source of the names: org.apache.spark.deploy.k8s.Config and "Running Spark on Kubernetes". ROLE stands for
driver and executor.
"""

from __future__ import annotations

from sparkgen.properties.verdicts import Form, Judgement, Verdict

NAMESPACE = "spark.kubernetes.namespace"
_KERBEROS = (
    "set `kerberos`: krb5ConfigMap, and keytab, ticketCache or delegationToken, each a key of a Secret"
)
_VOLUMES = "define it in `volumes` (`ephemeral` for a claim per pod), and mount it in `ROLE.volumeMounts`"
_VOLCANO = (
    "set `batchScheduler: volcano`, and the content of the template in `batchSchedulerOptions` (`queue`, "
    "`priorityClassName`, `minExecutors`, `resources`)"
)
_UI_SERVICE = "goes to the UI's Service: executors need no Service to find the driver"
_IN_A_FILE = "nothing reads this property, and its content is in a file"
_UNREAD = "only native Spark on Kubernetes reads it"
_WATCH = "the allocator watches its pods, and lists them again when it must"
_NO_CLIENT = "only the allocator talks to Kubernetes, with its own token"
_NO_ROLLING = "sparkgen does not replace executors that work"
_NO_LABEL = "the allocator does not label executors that are leaving"
_NO_RESIZING = "sparkgen does not resize running pods and claims"
NO_SERVICE = "executors need no Service to find the driver"
_NO_SUBMISSION = "nothing is submitted"
_NO_STEPS = "Spark does not create the pods"
_CLAIMS = "a claim per pod ends with its pod"


READ_BY_SPARKS_BACKEND = (
    "spark.kubernetes.driver.connectionTimeout",
    "spark.kubernetes.driver.requestTimeout",
    "spark.kubernetes.dynamicAllocation.deleteGracePeriod",
    "spark.kubernetes.executor.apiPollingInterval",
    "spark.kubernetes.executor.checkAllContainers",
    "spark.kubernetes.executor.enableApiPolling",
    "spark.kubernetes.executor.enableApiWatcher",
    "spark.kubernetes.executor.enablePollingWithResourceVersion",
    "spark.kubernetes.executor.eventProcessingInterval",
    "spark.kubernetes.executor.missingPodDetectDelta",
)
"""How the driver looks after its executors, with `allocator: spark`; otherwise without effect."""


def _field(
    name: str, step: str = "", *fields: str, form: Form = Form.TEXT, remark: str = "", reason: str = ""
) -> Judgement:
    """Returns the row of a property that a field replaces; `reason`: why `import` cannot fill it in."""
    if not step:
        step = "set it in " + " and ".join(f"`{field.removesuffix('.*')}`" for field in fields)
    return Judgement(f"spark.kubernetes.{name}", Verdict.FIELD, reason, step, fields, form, remark)


def _read(name: str, reason: str) -> Judgement:
    return Judgement(f"spark.kubernetes.{name}", Verdict.READ, reason)


def _none(name: str, reason: str = _UNREAD) -> Judgement:
    """Returns the row of a property without effect, which nobody needs to replace."""
    return Judgement(f"spark.kubernetes.{name}", Verdict.NO_EFFECT, reason)


def _lost(name: str, reason: str, step: str = "", same: tuple[str, ...] = ()) -> Judgement:
    """Returns the row of a property without effect whose loss matters, unless its value is in `same`."""
    return Judgement(f"spark.kubernetes.{name}", Verdict.NO_EFFECT, reason, step, lost=True, same=same)


_PODS = (
    _field("ROLE.label.", "", "ROLE.labels.*"),
    _field("ROLE.annotation.", "", "ROLE.annotations.*"),
    _field("ROLE.node.selector.", "", "ROLE.nodeSelector.*"),
    _field("node.selector.", "", "driver.nodeSelector.*", "executor.nodeSelector.*"),
    _field(
        "ROLE.secrets.",
        "set it in `ROLE.secrets`, with `name` and `path`",
        "ROLE.secrets",
        form=Form.MOUNTED_SECRET,
    ),
    _field(
        "ROLE.secretKeyRef.",
        "set it in `ROLE.env`, with `valueFrom.secretKeyRef`",
        "ROLE.env",
        form=Form.REFERENCE,
    ),
    _field("driverEnv.", "", "driver.env", form=Form.VARIABLE),
    _field("ROLE.volumes.", _VOLUMES),
    _field("ROLE.podTemplateFile", "move the file's content to `ROLE.template`", reason=_IN_A_FILE),
    _field("ROLE.podTemplateContainerName", "in `ROLE.template`, name the container spark-kubernetes-ROLE"),
    _field("ROLE.pod.featureSteps", "put what the steps would add into `ROLE.template`"),
    _none("ROLE.pod.excludedFeatureSteps", _NO_STEPS),
    _field("container.image", "", "image"),
    _field("ROLE.container.image", "", "ROLE.image"),
    _field("container.image.pullPolicy", "", "imagePullPolicy"),
    _field("container.image.pullSecrets", "", "imagePullSecrets", form=Form.LIST),
    _field("scheduler.name", "", "driver.schedulerName", "executor.schedulerName"),
    _field("ROLE.scheduler.name", "", "ROLE.schedulerName"),
    _field("scheduler.volcano.podGroupTemplateFile", _VOLCANO, reason=_IN_A_FILE),
    _field("scheduler.volcano.podGroupTemplateJson", _VOLCANO, reason="the PodGroup is rendered from fields"),
    _field(
        "securityContext.allowPrivilegeEscalation",
        "",
        "driver.securityContext.allowPrivilegeEscalation",
        "executor.securityContext.allowPrivilegeEscalation",
        form=Form.SWITCH,
    ),
    _field(
        "ROLE.securityContext.allowPrivilegeEscalation",
        "",
        "ROLE.securityContext.allowPrivilegeEscalation",
        form=Form.SWITCH,
    ),
    _field(
        "executor.terminationGracePeriodSeconds",
        "",
        "executor.terminationGracePeriodSeconds",
        form=Form.SECONDS,
    ),
    _field(
        "appKillPodDeletionGracePeriod",
        "",
        "driver.terminationGracePeriodSeconds",
        form=Form.SECONDS,
        remark="applies whenever the driver's pod is deleted, also by `sparkgen kill`",
    ),
    _field(
        "driver.service.annotation.",
        "",
        "sparkUIOptions.serviceAnnotations.*",
        remark=_UI_SERVICE,
    ),
    _field("driver.service.label.", "", "sparkUIOptions.serviceLabels.*", remark=_UI_SERVICE),
)
"""What native Spark applies to pods and to the driver's Service."""

_ACCOUNTS = (
    _field("authenticate.driver.serviceAccountName", "", "driver.serviceAccount"),
    _field("authenticate.executor.serviceAccountName", "", "executor.serviceAccount"),
    _field("authenticate.serviceAccountName", "", "driver.serviceAccount"),
    _none("authenticate.", _NO_CLIENT),
    _field("hadoop.configMapName", "", "hadoopConfigMap"),
    _field("executor.hadoopConfigMapName", "", "hadoopConfigMap"),
    _field("kerberos.krb5.configMapName", _KERBEROS, "kerberos.krb5ConfigMap"),
    _field("kerberos.tokenSecret.name", _KERBEROS, "kerberos.delegationToken.name"),
    _field("kerberos.tokenSecret.itemKey", _KERBEROS, "kerberos.delegationToken.key"),
    _field("kerberos.", _KERBEROS),
)

_LIKE_FIELDS = (
    *("memoryOverheadFactor", "ROLE.request.cores", "ROLE.limit.cores", "allocation.batch.size"),
    *("allocation.batch.delay", "allocation.maxPendingPods", "allocation.executor.timeout"),
)
"""sparkgen/model/properties.py has their fields."""

_ALLOCATION = (
    *(_read(name, "it counts like its field") for name in _LIKE_FIELDS),
    _read("decommission.script", "the executor's preStop hook runs it"),
    _read("local.dirs.tmpfs", "the scratch volumes are in memory"),
    _none("allocation.driver.readinessTimeout", "executors wait until the driver answers the allocator"),
    _field(
        "allocation.maxPendingPodsPerRp",
        "set `allocation.maxPendingPods` (for all resource profiles together)",
    ),
    _field(
        "allocation.maximum",
        "set `dynamicAllocation.maxExecutors`, and `allocation.maxExecutorFailures` for those that fail",
    ),
    _lost(
        "allocation.pods.allocator",
        "the allocator creates plain pods",
        "for executors that start together, set `batchSchedulerOptions.minExecutors`",
        same=("direct",),
    ),
    _lost(
        "allocation.recoveryMode.enabled",
        "executors that replace those out of memory have as many slots as the others",
        "set `allocation.memoryOverheadRecovery`, or give executors more memory, or fewer cores",
        same=("false",),
    ),
    _none("allocation.", "the allocator supports only the fields of `allocation`"),
    _none("dynamicAllocation.deleteGracePeriod", "the driver ends an executor before its pod is deleted"),
    _none("executorSnapshotsSubscribersShutdownGracePeriod", _NO_CLIENT),
    _lost(
        "executor.deleteOnTermination",
        "executor pods are always deleted",
        "collect the logs of executors with the cluster's logging",
        same=("true",),
    ),
    _none("executor.deletedExecutorsCacheTimeout", _WATCH),
    _none("executor.enableApiPolling", _WATCH),
    _none("executor.enableApiWatcher", _WATCH),
    _none("executor.enablePollingWithResourceVersion", _WATCH),
    _none("executor.apiPollingInterval", _WATCH),
    _none("executor.eventProcessingInterval", _WATCH),
    _none("executor.missingPodDetectDelta", _WATCH),
    _none(
        "executor.checkAllContainers", "only the container of Spark decides whether an executor has failed"
    ),
    _none("executor.disableConfigMap", "all executors share the ConfigMaps of the run"),
    *(
        _lost(f"executor.{name}", _NO_LABEL, "select the pods by the labels of the run")
        for name in ("decommissionLabel", "decommissionLabelValue")
    ),
    _none("executor.podDeletionCost", "the allocator chooses itself which pods it deletes"),
    _none("executor.useDriverPodIP", "executors always use the address of the driver's pod"),
    *(
        _lost(f"executor.{name}", _NO_ROLLING, "start a new run to get new executors")
        for name in ("rollInterval", "rollPolicy", "minTasksPerExecutorBeforeRolling")
    ),
    *(
        _lost(f"executor.{kind}{name}", _NO_RESIZING, "request what the executors need at most")
        for kind in ("", "pvc.")
        for name in ("resizeInterval", "resizeThreshold", "resizeFactor")
    ),
)
"""How native Spark creates, watches and removes executors."""

_CLAIM_ROWS = (
    *(
        _lost(f"driver.{name}", _CLAIMS, "to keep shuffle data, set `shuffleService`", same=("false",))
        for name in ("reusePersistentVolumeClaim", "waitToReusePersistentVolumeClaim")
    ),
    _none("driver.ownPersistentVolumeClaim", "a claim per pod belongs to its pod"),
    _lost(
        "legacy.useReadWriteOnceAccessMode",
        "the access mode stands in the claim's template",
        "set it in `volumes`: `ephemeral.volumeClaimTemplate.spec.accessModes`",
    ),
)

_NAMES = (
    _lost("driver.pod.name", "the driver's pod is named after its run", "select the pod by labels"),
    _lost("executor.podNamePrefix", "executor pods are named after the run", "select the pods by labels"),
    _none("driver.resourceNamePrefix", "all objects are named after the application and its run"),
    Judgement(
        NAMESPACE,
        Verdict.FIELD,
        "everything runs in `metadata.namespace`",
        "set `metadata.namespace`",
    ),
    _none("driver.master", "the allocator uses the cluster in which it runs"),
    *(
        _none(f"driver.service.{name}", NO_SERVICE)
        for name in ("deleteOnTermination", "ipFamilies", "ipFamilyPolicy", "publishNotReadyAddresses")
    ),
)

_SUBMISSION = (
    _lost(
        "context",
        "a document does not say which cluster it is for",
        "give sparkgen's commands the option `--context`",
    ),
    _lost(
        "file.upload.path",
        "no files are uploaded at submission",
        "push local files with `sparkgen push`, or put them into the image or an object store",
    ),
    Judgement(
        "spark.kubernetes.jars.avoidDownloadSchemes",
        Verdict.PASSED,
        "spark-submit in the driver's pod reads it",
    ),
    _lost(
        "driver.annotateExitException",
        "the driver does not talk to Kubernetes, so it cannot annotate its pod",
        "see why a run failed with `sparkgen status` and `sparkgen logs`",
        same=("false",),
    ),
    _none("report.interval", "no process outside the cluster waits for the application"),
    _none("submission.", _NO_SUBMISSION),
    _none("submitInDriver", "sparkgen starts spark-submit in the driver's pod"),
    _none("setSubmitTimeInDriver", _NO_SUBMISSION),
    _none("driver.requestTimeout", _NO_CLIENT),
    _none("driver.connectionTimeout", _NO_CLIENT),
    _none("trust.certificates", _NO_CLIENT),
    _none("configMap.maxSize", "Kubernetes itself limits the size of a ConfigMap"),
    _none("resource.type", "`type` says in which language the application is written"),
    _lost(
        "pyspark.pythonVersion",
        "Spark runs Python 3 only",
        "choose the program with `spark.pyspark.python`",
        same=("3",),
    ),
    _none("", _UNREAD),
)

ROWS = (*_PODS, *_ACCOUNTS, *_ALLOCATION, *_CLAIM_ROWS, *_NAMES, *_SUBMISSION)
