"""Spark properties that mean something else, or nothing, when sparkgen runs the driver.

The driver is an ordinary pod and the allocator makes the executors, so that nothing but sparkgen reads
`spark.kubernetes.*`. Source of the names: org.apache.spark.deploy.k8s.Config and "Running Spark on
Kubernetes".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

KERBEROS = "set `kerberos`: krb5ConfigMap, and keytab, ticketCache or delegationToken, each a key of a Secret"

READ = frozenset(
    {
        "spark.kubernetes.memoryOverheadFactor",
        "spark.kubernetes.driver.request.cores",
        "spark.kubernetes.driver.limit.cores",
        "spark.kubernetes.executor.request.cores",
        "spark.kubernetes.executor.limit.cores",
        "spark.kubernetes.allocation.batch.size",
        "spark.kubernetes.allocation.batch.delay",
        "spark.kubernetes.allocation.maxPendingPods",
        "spark.kubernetes.allocation.executor.timeout",
        "spark.kubernetes.local.dirs.tmpfs",
        "spark.kubernetes.decommission.script",
    }
)
"""What sparkgen reads of `spark.kubernetes.*`."""


def _roles(suffix: str, step: str) -> Iterable[tuple[str, str]]:
    """One entry per role: ROLE stands for driver or executor."""
    for role in ("driver", "executor"):
        yield f"spark.kubernetes.{role}.{suffix}", step.replace("ROLE", role)


MOVED: Mapping[str, str] = {
    **dict(_roles("label.", "set it in `ROLE.labels`")),
    **dict(_roles("annotation.", "set it in `ROLE.annotations`")),
    **dict(_roles("node.selector.", "set it in `ROLE.nodeSelector`")),
    **dict(_roles("secrets.", "set it in `ROLE.secrets`, with `name` and `path`")),
    **dict(_roles("secretKeyRef.", "set it in `ROLE.env`, with `valueFrom.secretKeyRef`")),
    **dict(
        _roles(
            "volumes.",
            "define it in `volumes` (`ephemeral` for a claim per pod), and mount it in `ROLE.volumeMounts`",
        )
    ),
    **dict(_roles("podTemplateFile", "move the file's content to `ROLE.template`")),
    **dict(
        _roles("podTemplateContainerName", "in `ROLE.template`, name the container spark-kubernetes-ROLE")
    ),
    **dict(_roles("container.image", "set it in `ROLE.image`")),
    **dict(_roles("scheduler.name", "set it in `ROLE.schedulerName`")),
    **dict(_roles("pod.featureSteps", "put what the steps would add into `ROLE.template`")),
    "spark.kubernetes.driverEnv.": "set it in `driver.env`",
    "spark.kubernetes.driver.service.annotation.": "set it in `sparkUIOptions.serviceAnnotations`",
    "spark.kubernetes.driver.service.label.": "set it in `sparkUIOptions.serviceLabels`",
    "spark.kubernetes.node.selector.": "set it in `driver.nodeSelector` and `executor.nodeSelector`",
    "spark.kubernetes.container.image.pullSecrets": "set it in `imagePullSecrets`",
    "spark.kubernetes.container.image.pullPolicy": "set it in `imagePullPolicy`",
    "spark.kubernetes.container.image": "set it in `image`",
    "spark.kubernetes.scheduler.name": "set it in `driver.schedulerName` and `executor.schedulerName`",
    "spark.kubernetes.authenticate.driver.serviceAccountName": "set it in `driver.serviceAccount`",
    "spark.kubernetes.authenticate.executor.serviceAccountName": "set it in `executor.serviceAccount`",
    "spark.kubernetes.authenticate.serviceAccountName": "set it in `driver.serviceAccount`",
    "spark.kubernetes.kerberos.": KERBEROS,
    "spark.kubernetes.hadoop.configMapName": "set it in `hadoopConfigMap`",
}
"""Property, or prefix that ends in a dot -> where it is said here. Native Spark applies it to a pod."""

UNUSED: Mapping[str, str] = {
    "spark.master": "delete it: the driver's master is the allocator in its pod",
    "spark.submit.deployMode": "delete it: the driver always runs in its own pod",
    "spark.submit.": "delete it: nothing is submitted",
    "spark.driver.host": "delete it: the driver is reached at its pod's address",
    "spark.driver.bindAddress": "delete it: the driver listens on its pod's address",
    "spark.driver.port": "delete it: the port is 7078",
    "spark.driver.blockManager.port": "delete it: the port is 7079",
    "spark.blockManager.port": "delete it: the port is 7079",
    "spark.ui.port": "delete it: the port is 4040; `sparkUIOptions.servicePort` is the port of the Service",
    "spark.local.dir": (
        "delete it; for scratch space, mount a volume named `spark-local-dir-1` in both roles"
    ),
    "spark.authenticate.secret": "delete it: each run gets its own secret",
    "spark.authenticate.secret.file": "delete it: each run gets its own secret",
    "spark.authenticate.secret.driver.file": "delete it: each run gets its own secret",
    "spark.authenticate.secret.executor.file": "delete it: each run gets its own secret",
    "spark.kubernetes.namespace": "delete it: everything runs in `metadata.namespace`",
    "spark.kubernetes.authenticate.": "delete it: only the allocator talks to Kubernetes, with its own token",
    "spark.kubernetes.driver.pod.name": "delete it: the driver's pod is named after its run",
    "spark.kubernetes.executor.podNamePrefix": "delete it: executor pods are named after the run",
    "spark.kubernetes.executor.deleteOnTermination": (
        "delete it: executor pods are removed when the driver ends"
    ),
    "spark.kubernetes.report.interval": "delete it: no process outside the cluster waits for the application",
    "spark.kubernetes.submission.": "delete it: nothing is submitted",
    "spark.kubernetes.file.upload.path": (
        "delete it: push local files with `sparkgen push`, or put them into the image or an object store"
    ),
    "spark.kubernetes.allocation.": "delete it: the allocator supports only the fields of `allocation`",
    "spark.kubernetes.": "delete it: only native Spark on Kubernetes reads it",
}
"""Property, or prefix that ends in a dot -> what to do with it. Nothing is lost without it."""


SAME_FIELD: Mapping[str, tuple[str, ...]] = {
    "spark.kubernetes.container.image": ("image",),
    "spark.kubernetes.container.image.pullPolicy": ("imagePullPolicy",),
    "spark.kubernetes.driver.container.image": ("driver", "image"),
    "spark.kubernetes.executor.container.image": ("executor", "image"),
    "spark.kubernetes.driver.scheduler.name": ("driver", "schedulerName"),
    "spark.kubernetes.executor.scheduler.name": ("executor", "schedulerName"),
    "spark.kubernetes.authenticate.driver.serviceAccountName": ("driver", "serviceAccount"),
    "spark.kubernetes.authenticate.executor.serviceAccountName": ("executor", "serviceAccount"),
    "spark.kubernetes.authenticate.serviceAccountName": ("driver", "serviceAccount"),
    "spark.kubernetes.hadoop.configMapName": ("hadoopConfigMap",),
    "spark.kubernetes.kerberos.krb5.configMapName": ("kerberos", "krb5ConfigMap"),
    "spark.kubernetes.kerberos.tokenSecret.name": ("kerberos", "delegationToken", "name"),
    "spark.kubernetes.kerberos.tokenSecret.itemKey": ("kerberos", "delegationToken", "key"),
    "spark.kubernetes.driver.label.": ("driver", "labels"),
    "spark.kubernetes.driver.annotation.": ("driver", "annotations"),
    "spark.kubernetes.driver.node.selector.": ("driver", "nodeSelector"),
    "spark.kubernetes.executor.label.": ("executor", "labels"),
    "spark.kubernetes.executor.annotation.": ("executor", "annotations"),
    "spark.kubernetes.executor.node.selector.": ("executor", "nodeSelector"),
}
"""Property, or prefix that ends in a dot -> the field that takes its very value (a prefix: a mapping)."""


def entry(table: Mapping[str, str], name: str) -> str | None:
    """A table's word on a property: that of its full name, or of the longest prefix that it has."""
    if name in table:
        return table[name]
    prefix = name
    while "." in prefix:
        prefix = prefix.rpartition(".")[0]
        if f"{prefix}." in table:
            return table[f"{prefix}."]
    return None
