"""Lists the differences between sparkgen and Spark's own Kubernetes support, with reasons.

The page docs/spark-differences.md is generated from it. The tests in tests/e2e/differential run the same
spark-submit command both ways, and fail at a difference that is not in the table, or at a row without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """Where a test finds a difference: shell patterns for the place and for both values.

    Places are like "driver/jvm/conf/spark.master"; "-" stands for a value that one side does not have.
    """

    at: str
    native: str = "*"
    sparkgen: str = "*"


@dataclass(frozen=True, slots=True)
class Difference:
    """A row: what differs, what native Spark and sparkgen do, and why sparkgen's way is better or necessary.

    `lost`: the properties and variables that `import` reports as lost because of it. The reasons for
    properties are in the table of sparkgen.properties.
    """

    name: str
    what: str
    native: str
    sparkgen: str
    reason: str
    seen: tuple[Seen, ...]
    lost: tuple[str, ...] = ()


def _only_ours(*places: str) -> tuple[Seen, ...]:
    return tuple(Seen(place, native="-") for place in places)


def _only_native(*places: str) -> tuple[Seen, ...]:
    return tuple(Seen(place, sparkgen="-") for place in places)


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "allocator",
        "who creates executors",
        "the driver, with Kubernetes credentials that your code can use, too. When it is killed, the pods of "
        "its executors stay. When too many have failed, it exits with 11",
        "the allocator, a container beside the driver; `spark.kubernetes.*` are fields of the document. "
        "It starts executors with the driver, and deletes them when the driver has ended. "
        "When too many have failed, the driver exits with 1",
        "your code holds no Kubernetes credentials, and a reviewer sees every value before the run",
        (
            Seen("*/spark.master", "k8s://*", "sparkgen://*"),
            Seen("*/environment/MASTER", "k8s://*", "sparkgen://*"),
            *_only_native("*/spark.kubernetes.*", "*/kubernetes.request.retry.backoffLimit"),
            *_only_ours("*/spark.sparkgen.*"),
            *_only_ours("driver/pod/initContainers[[]]"),
            *_only_native("*/pod/mounts//var/run/secrets/kubernetes.io/serviceaccount/*"),
            Seen("*/properties/sun.java.command"),
            Seen("ended/exitCode", "11", "1"),
            *_only_native("*/spark.executor.maxNumFailures"),
        ),
    ),
    Difference(
        "own-files",
        "Spark's configuration folder",
        "`/opt/spark/conf`, from the submitting machine",
        "`/opt/sparkgen/conf`, from the document, beside the allocator's jar",
        "the configuration is part of the reviewed run, and cannot hide files of the image",
        (
            Seen("*/environment/SPARK_CONF_DIR", "/opt/spark/conf", "/opt/sparkgen/conf"),
            Seen("*/classPath[[]]", "/opt/spark/conf*", "-"),
            Seen("*/classPath[[]]", "-", "/opt/sparkgen/*"),
            *_only_native("*/pod/mounts//opt/spark/conf/*"),
            *_only_ours("*/pod/mounts//opt/sparkgen/*"),
            Seen("*/spark.driver.extraClassPath", "*", "/opt/sparkgen/lib/scheduler.jar*"),
            Seen("*/jvm/texts[[]]", "folder", "-"),
        ),
        ("SPARK_CONF_DIR",),
    ),
    Difference(
        "names",
        "names of the application's id, pods, addresses and folders",
        "random, such as `spark-0f3c...`; the driver's address is a Service",
        "made of the run's name; the driver's address is its pod's",
        "the same document has the same names, so that a second `apply` starts nothing",
        (
            Seen("*/environment/HOSTNAME"),
            Seen("driver/pod/labels/spark-app-selector", "APP-ID", "-"),
            Seen("*/spark.driver.host", "*.svc", "IP"),
            Seen("*/environment/SPARK_DRIVER_URL", "*.svc:7078", "*@IP:PORT"),
            Seen("*SPARK_LOCAL_DIRS", "/var/data/spark-UUID*", "/var/data/spark*"),
            Seen("*SPARK_LOCAL_DIRS", "/tmp/scratch*", "/var/data/spark*"),  # noqa: S108
            Seen("*[[]]", "/tmp/scratch/*", "-"),  # noqa: S108
            *_only_native("*/spark.local.dir"),
            Seen("*[[]]", "*/var/data/spark-UUID*", "-"),
            Seen("*[[]]", "-", "*/var/data/spark/*"),
            Seen("*/pod/mounts//var/data/spark*"),
            Seen("executor/pod/labels/spark-app-name"),
        ),
        ("spark.kubernetes.driver.pod.name", "spark.kubernetes.executor.podNamePrefix", "spark.local.dir"),
    ),
    Difference(
        "authentication",
        "connections between driver and executors",
        "open, unless you set `spark.authenticate`",
        "each run has a secret, and driver and executors authenticate each other with it",
        "another pod of the cluster can neither read blocks nor run code in executors",
        (
            *_only_ours("*/spark.authenticate*", "executor/*/environment/_SPARK_AUTH_SECRET"),
            *_only_ours("executor/jvm/options[[]]"),
        ),
    ),
    Difference(
        "restricted",
        "security context of pods",
        "that of the image",
        'as Pod Security "restricted" requires, unless the document sets another. No variables of Services, '
        "no mesh sidecars; mounted Secrets are read-only",
        "namespaces that enforce the level accept the pods; a sidecar would keep a finished pod alive",
        (
            Seen("*/process/CapBnd"),
            Seen("*/process/Seccomp", "0", "2"),
            Seen("*/process/NoNewPrivs", "0", "1"),
            Seen("*/pod/mounts//etc/probe/readOnly", "-", "True"),
            *_only_ours("*/securityContext/*", "*/linkerd.io/inject", "*/sidecar.istio.io/inject"),
            *_only_ours("*/cluster-autoscaler.kubernetes.io/safe-to-evict", "*/karpenter.sh/do-not-disrupt"),
            *_only_native("*/environment/*_UI_*", "*/environment/CASE_*"),
        ),
    ),
    Difference(
        "user",
        "the user that executors report to Hadoop",
        "the name of whoever ran `spark-submit`",
        "the container's user; `HADOOP_USER_NAME` or `proxyUser` set another",
        "a document in Git has no submitting user",
        (
            Seen("*/environment/SPARK_USER", "*", "-"),
            Seen("executor/*/environment/SPARK_USER", "root", "spark"),
            Seen("executor/*/environment/SPARK_USER", "root", "alice"),
            Seen("executor/jvm/user/hadoop", "*", "spark"),
            Seen("executor/jvm/user/hadoop", "root", "alice"),
        ),
    ),
    Difference(
        "written-out",
        "sizes, counts and ports in the configuration",
        "what you set; Spark's defaults are not written",
        "all of them, older names as the newer ones. With dynamic allocation, the number of executors is "
        "`initialExecutors`. Event logs roll and are compressed, as by Spark 4's defaults",
        "driver, executors and their pods get the same numbers, whatever the Spark version's default is",
        (
            *_only_ours("*/spark.driver.cores", "*/spark.executor.cores", "*/spark.*.memoryOverhead"),
            *_only_ours(
                "*/spark.ui.port", "*/spark.blockManager.port", "driver/python/environment/OMP_NUM_THREADS"
            ),
            *_only_ours("*/spark.dynamicAllocation.*Executors", "*/spark.eventLog.*"),
            *_only_native("*/spark.executor.instances", "*/spark.yarn.*.memoryOverhead"),
        ),
    ),
    Difference(
        "objects",
        "objects in the namespace",
        "a driver pod, ConfigMaps and a Service; in 4.3 a NetworkPolicy",
        "a Job with its pod, ConfigMaps, a Service for the UI, a Secret, a Role, as rendered",
        "each object is in Git, and the history Job removes old runs",
        (
            Seen("left[[]]"),
            Seen("ended/executors[[]]", "-", "deleted"),
            Seen("ended/executors[[]]", "Succeeded", "-"),
            *_only_ours("*/pod/labels/*"),
            *_only_native("driver/pod/ports/spark-connect", "driver/pod/ports/spark-ui"),
        ),
        ("spark.kubernetes.executor.deleteOnTermination",),
    ),
    Difference(
        "executor-command",
        "how command lines and variables carry settings to driver and executors",
        "`SPARK_JAVA_OPT_*`, `PYSPARK_PYTHON` and the stock entrypoint",
        "`SPARKGEN_*`, `LD_LIBRARY_PATH`, `PYTHONPATH` and a script of the run, which waits until the driver "
        "accepts executors. The driver reads `spark.pyspark.python` in its properties",
        "each setting has its effect, and an executor never starts before its driver can answer",
        (
            *_only_ours("executor/*/environment/SPARKGEN_*"),
            Seen("executor/*/environment/SPARK_JAVA_OPT_*"),
            *_only_native("driver/*/environment/SPARK_APPLICATION_ID"),
            Seen("executor/jvm/options[[]order[]]"),
            *_only_native("executor/*/environment/SPARK_DRIVER_POD_IP"),
            *_only_native("driver/*/environment/PYSPARK_*PYTHON"),
            *_only_ours("executor/*/environment/LD_LIBRARY_PATH", "executor/python/path[[]]"),
            Seen("executor/jvm/properties/java.library.path", "*", "/opt/native:/opt/more:*"),
            Seen("*/environment/PYTHONPATH", "*", "*/opt/probe/zipped.zip:/opt/probe/egged.egg"),
            *_only_native("executor/jvm/options[[]]", "executor/jvm/properties/spark.driver.*port"),
            Seen("executor/jvm/classPath[[]]", "", "-"),
        ),
    ),
)

BY_SPARKS_BACKEND: tuple[Difference, ...] = (
    Difference(
        "backend-properties",
        "properties and command of the driver",
        "those of the command, and of the `spark-submit` that made the driver's pod",
        "those that sparkgen renders, and the driver's address by variables of its pod",
        "the executors' template is part of the reviewed run",
        (
            Seen("*/spark.kubernetes.*"),
            Seen("*/spark.master", "k8s://*", "k8s://https://kubernetes.default.svc"),
            Seen("*/environment/MASTER", "k8s://*", "k8s://https://kubernetes.default.svc"),
            Seen("*/spark.executorEnv.SPARK_CONF_DIR", "-", "/opt/sparkgen/conf"),
            *_only_ours(
                "driver/*/environment/SPARKGEN_POD_NAME*", "driver/*/environment/SPARK_LOCAL_HOSTNAME"
            ),
            *_only_native("driver/jvm/properties/spark.app.id", "driver/jvm/properties/spark.driver.host"),
            Seen("*/properties/sun.java.command"),
        ),
    ),
    Difference(
        "token",
        "tokens for Kubernetes",
        "in each container of driver and executors",
        "in the driver's Spark container only",
        "only Spark in the driver creates pods",
        (
            *_only_native("*/pod/mounts//var/run/secrets/kubernetes.io/serviceaccount/*"),
            *_only_ours("driver/pod/mounts//var/run/secrets/kubernetes.io/serviceaccount/projected/*"),
        ),
    ),
)
"""What an application with `allocator: spark` has beyond `DIFFERENCES`."""
TABLES: Mapping[str, tuple[Difference, ...]] = {
    "sparkgen": DIFFERENCES,
    "spark": (*(row for row in DIFFERENCES if row.name != "allocator"), *BY_SPARKS_BACKEND),
}
"""Value of `spec.allocator` -> the rows for it."""
