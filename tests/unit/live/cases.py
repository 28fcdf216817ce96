"""Ways in which a run is stuck, as a cluster shows them: what `status` makes of each.

The texts are those of Kubernetes 1.36, Spark 3.5 and 4.x, and of sparkgen's own containers; names are made
up. What tests/e2e/commands/test_status.py causes for real was compared with a cluster's own words, and is
held there to the codes and next steps of here; the others follow their known form. docs/troubleshooting.md
has a table of them, made from here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sparkgen.codes import Code, Hindrance
from sparkgen.live.explain import explain
from sparkgen.live.facts import RunFacts
from sparkgen.live.find import find
from sparkgen.live.gangs import Gang
from sparkgen.live.queue import QueuePlace
from sparkgen.live.reason import Reason
from sparkgen.live.state import life_of
from sparkgen.runtime.allocator.report import log_form
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLine
from sparkgen.runtime.allocator.values.observed import Waiting
from sparkgen.runtime.kubernetes.answers import Reply, verdict
from tests.unit.live.objects import (
    ENDED,
    Cluster,
    Object,
    allocator_pod,
    connect_driver,
    connect_server,
    deployment,
    driver,
    ends,
    executor,
    job,
    notebook,
    runs,
    session,
)

NOW = datetime(2026, 11, 22, 1, 12, tzinfo=UTC)
NO_QUOTA = "insufficient unused quota for cpu in flavor default, 2 more needed"
GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "gates"}
OVER = Hindrance(Code.SESSION_ENDED, "the session is over: nobody was heard")
IMAGE = "registry.example/etl:7"
WITHOUT_FILES = "executor 3 (on node-1) did not start because its files are unavailable"
PUSHED = f"registry.example/etl@sha256:{'0' * 64}"
DRIVER = "spark-kubernetes-driver"
ENDING = job(annotations={"sparkgen.dev/killed": "2026-11-22T01:09:00Z"})


@dataclass(frozen=True)
class Case:
    """`what`: has happened. The objects there are, the facts beside them, and what is made of it.

    `cause`: words that the cause has; `step`: words of the next step.
    """

    what: str
    code: str
    cause: str
    step: str
    objects: Sequence[Object]
    more: Mapping[str, Any] = field(default_factory=dict)
    table: bool = True
    """Whether the table of the docs has it."""

    def facts(self) -> RunFacts:
        """All that is known."""
        [run] = find(Cluster(*self.objects)).applications[0].runs
        return RunFacts(run, life_of(run), **self.more)

    def reason(self) -> Reason:
        """What is made of it."""
        found = explain(self.facts(), NOW)
        assert found is not None
        return found


def event(reason: str, message: str, kind: str = "Warning", last: str = ENDED) -> Object:
    """An Event about the driver's object or pod."""
    return {
        "kind": "Event",
        "metadata": {"name": "e", "creationTimestamp": last},
        "involvedObject": {"name": "pi-1a2b3c4d"},
        "reason": reason,
        "message": message,
        "type": kind,
        "lastTimestamp": last,
    }


def queued_without_class() -> Object:
    """A Job that Kueue holds back."""
    made = job(spec={"suspend": True})
    made["metadata"]["labels"] |= {
        "kueue.x-k8s.io/queue-name": "team-a",
        "kueue.x-k8s.io/priority-class": "urgent",
    }
    return made


def refused(message: str) -> Mapping[str, Any]:
    """A Job that cannot make its pod."""
    text = f'Error creating: pods "pi-1a2b3c4d-x7k2p" is forbidden: {message}'
    return {"events": (event("FailedCreate", text),)}


def failed(state: Object | None = None, *, of: Object | None = None, **more: Any) -> list[Object]:
    """A Job that has failed, and its driver's pod."""
    made = of or job(ended="Failed", reason="BackoffLimitExceeded")
    return [made, driver(made, state=state, phase="Failed", **more)]


def log_of(text: str) -> Mapping[str, Any]:
    """The end of the driver's log."""
    return {"driver_log": text}


def mounts(volume: Object) -> list[Object]:
    """A driver's pod that waits for its volumes, of which this is one."""
    made = waits("ContainerCreating", "")
    made[1]["spec"]["volumes"] = [volume]
    return made


def waits_for_a_run() -> list[Object]:
    """A driver's pod whose first container waits for the end of another run."""
    made = job()
    status = {"name": "concurrency", "state": {"running": {"startedAt": ENDED}}}
    return [made, driver(made, initContainerStatuses=[status])]


def waits(reason: str, message: str, name: str = DRIVER) -> list[Object]:
    """A driver's pod of which a container waits."""
    made = job()
    status = {"name": name, "state": {"waiting": {"reason": reason, "message": message}}}
    pod = driver(made, containerStatuses=[status])
    pod["spec"]["containers"][0]["image"] = IMAGE
    return [made, pod]


def with_files(made: list[Object]) -> list[Object]:
    """The same, of a document whose files are in a ConfigMap of the run."""
    made[1]["spec"]["volumes"] = [{"name": "sparkgen-artifact-code", "configMap": {"name": "pi-1-code"}}]
    return made


def unscheduled(message: str) -> list[Object]:
    """A driver's pod without a node."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return [job(), driver(job(), conditions=[condition])]


def running(*pods: Object) -> list[Object]:
    """A driver that runs, and executors' pods."""
    return [job(), driver(job(), state=runs()), *pods]


def install_ended(message: str, name: str = "install", code: int = 1) -> list[Object]:
    """A pod whose first container has refused to let the driver start."""
    status = {"name": name, "state": ends(code, message=message)}
    waiting = {"name": DRIVER, "state": {"waiting": {"reason": "PodInitializing"}}}
    return failed(initContainerStatuses=[status], containerStatuses=[waiting])


def event_of(reason: str, hindrance: Hindrance, kind: str = "Warning", last: str = ENDED) -> Object:
    """An Event of the allocator's, with its code as an annotation."""
    made = event(reason, str(hindrance), kind, last)
    made["metadata"]["annotations"] = {"sparkgen.dev/hindrance": json.dumps(hindrance.facts)}
    return made


def lost(code: Code, message: str) -> Mapping[str, Any]:
    """An executor that has ended."""
    return {"events": (event_of("ExecutorLost", Hindrance(code, message)),), "target": 2}


NO_CLASS = """\
26/11/22 01:00:31 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform...
Error: Failed to load class org.example.Pie.
26/11/22 01:00:31 INFO ShutdownHookManager: Shutdown hook called
"""
NO_CONNECT = "Error: Failed to load class org.apache.spark.sql.connect.service.SparkConnectServer.\n"
NO_JAR = """\
26/11/22 01:00:30 WARN DependencyUtils: Local jar /opt/app/pie.jar does not exist, skipping.
26/11/22 01:00:31 INFO ShutdownHookManager: Shutdown hook called
Error: Failed to load class org.example.Pi.
"""
NOT_COPIED = """\
26/11/22 01:00:30 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform...
Exception in thread "main" java.nio.file.NoSuchFileException: /opt/app/pie.jar
\tat java.base/sun.nio.fs.UnixException.translateToIOException(UnixException.java:92)
\tat java.base/java.nio.file.Files.copy(Files.java:1305)
\tat org.apache.spark.deploy.SparkSubmit.$anonfun$prepareSubmitEnvironment$14(SparkSubmit.scala:446)
\tat scala.collection.TraversableLike.$anonfun$map$1(TraversableLike.scala:286)
\tat org.apache.spark.deploy.SparkSubmit.prepareSubmitEnvironment(SparkSubmit.scala:458)
"""
NO_ARCHIVE = """\
Exception in thread "main" java.io.FileNotFoundException: /opt/app/dep.tar.gz
\tat org.apache.spark.util.Utils$.unpack(Utils.scala:507)
\tat org.apache.spark.deploy.SparkSubmit.$anonfun$prepareSubmitEnvironment$14(SparkSubmit.scala:444)
\tat scala.collection.TraversableLike.$anonfun$map$1(TraversableLike.scala:286)
"""
NO_SCRIPT = "python3: can't open file '/opt/app/pie.py': [Errno 2] No such file or directory\n"
NO_INPUT = """\
Traceback (most recent call last):
  File "/opt/app/pi.py", line 4, in <module>
    spark.read.parquet("/data/in").count()
pyspark.errors.exceptions.captured.AnalysisException: [PATH_NOT_FOUND] Path does not exist: file:/data/in. \
SQLSTATE: 42K03
"""
WRONG_KEYTAB = """\
Exception in thread "main" org.apache.hadoop.security.KerberosAuthException: failure to login: for \
principal: alice@EXAMPLE.COM from keytab /opt/sparkgen/kerberos/keytab \
javax.security.auth.login.LoginException: Unable to obtain password from user

\tat org.apache.hadoop.security.UserGroupInformation.doSubjectLogin(UserGroupInformation.java:2065)
"""
NEWER_JAVA = """\
Exception in thread "main" java.lang.UnsupportedClassVersionError: org/example/Pi has been compiled by a \
more recent version of the Java Runtime (class file version 65.0), this version of the Java Runtime only \
recognizes class file versions up to 61.0
\tat java.base/java.lang.ClassLoader.defineClass1(Native Method)
"""
EXECUTORS_OUT_OF_MEMORY = """\
26/11/22 01:09:58 ERROR TaskSetManager: Task 0 in stage 1.0 failed 4 times; aborting job
org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most \
recent failure: Lost task 0.3 in stage 1.0 (TID 7) (10.88.1.9 executor 4): ExecutorLostFailure (executor 4 \
exited caused by one of the running tasks) Reason: [OutOfMemory] executor 4 (on node2) was killed: \
out of memory (limit 1408Mi: raise spark.executor.memoryOverhead)
Driver stacktrace:
"""
NO_RIGHTS = """\
26/11/22 01:02:40 ERROR SparkgenSchedulerBackend: sparkgen: [Forbidden] no executor can start, and \
waiting does not help: cannot create an executor: the service account lacks a permission that the rendered \
Role and RoleBinding grant: pods is forbidden: User "system:serviceaccount:analytics:pi" cannot \
create resource "pods" in API group "" in the namespace "analytics"
"""
PROGRAM = """\
Traceback (most recent call last):
  File "/opt/app/pi.py", line 4, in <module>
    raise ValueError("no partitions")
ValueError: no partitions
"""
QUOTA = "exceeded quota: compute, requested: pods=1, used: pods=4, limited: pods=4"
WEBHOOK = 'admission webhook "validate.kyverno.svc" denied the request: label cost-centre is required'
EXPIRED = (
    "[RunExpired] this run expired at 2026-11-01T00:00:00Z, so it does not start (the time is now "
    "2026-11-22T01:00:05Z)\nchange spec.run.expiresAt (or spec.run.id, for a new run), and render the "
    "document again\n"
)
LACKS = "the service account lacks a permission that the rendered Role and RoleBinding grant"
SERVICE_ACCOUNT = 'User "system:serviceaccount:analytics:pi" cannot'


def told(line: LogLine, *, as_json: bool = False) -> str:
    """A line of the allocator's log, as it writes it."""
    form = log_form.json_line if as_json else log_form.text_line
    return form("2026-11-22T01:10:00.000Z", line) + "\n"


def hinders(*hindrances: Hindrance, wanted: int = 2) -> Mapping[str, Any]:
    """The facts of a run whose allocator says so."""
    facts = {"wanted": {"0": wanted}, "hindrances": [each.facts for each in hindrances]}
    line = LogLine(LogEvent.DECISION, "in words that may change", facts=facts)
    return {"target": wanted, "allocator_log": told(line)}


def refuses(status: int, message: str, what: str = "create an executor") -> Hindrance:
    """What the allocator makes of an API server's answer."""
    found = verdict(Reply(status, {"message": message}), what).hindrance
    assert found is not None
    return found


CASES = {
    "quota": Case(
        "the namespace's quota has no room for the driver",
        "quota",
        "the namespace's quota is used up (compute, requested: pods=1, used: pods=4, limited: pods=4)",
        "wait for other pods to end, raise the quota, or request less in spec.driver",
        [job()],
        refused(QUOTA),
    ),
    "quota-executors": Case(
        "the namespace's quota has no room for executors",
        "quota",
        "the namespace's quota is used up (compute, requested",
        "request less in spec.executor",
        running(),
        hinders(refuses(403, f'pods "pi-1a2b3c4d-7bab1-exec-1" is forbidden: {QUOTA}')),
    ),
    "image": Case(
        "the image does not exist, or the node has no permission to pull it",
        "image",
        f"the image {IMAGE} cannot be pulled (Back-off pulling image",
        "fix spec.image, or add the registry's Secret to spec.imagePullSecrets",
        waits("ImagePullBackOff", f'Back-off pulling image "{IMAGE}": ErrImagePull: {IMAGE}: not found'),
    ),
    "image-with-files": Case(
        "an image that cannot be pulled, of an application with files in a ConfigMap",
        "image",
        f"the image {IMAGE} cannot be pulled (Back-off pulling image",
        "fix spec.image, or add the registry's Secret to spec.imagePullSecrets",
        with_files(waits("ImagePullBackOff", f'Back-off pulling image "{IMAGE}": not found')),
        table=False,
    ),
    "pulling": Case(
        "a node is pulling the image",
        "pulling",
        f"its node pulls the image {IMAGE} (since 2026-11-22T01:10:00Z)",
        f"wait; if it takes too long, check that the node reaches the registry and that {IMAGE} exists",
        waits("ContainerCreating", ""),
        {"events": (event("Pulling", f'Pulling image "{IMAGE}"', "Normal", "2026-11-22T01:10:00Z"),)},
    ),
    "concurrency": Case(
        "another run of the application is still active, and `concurrencyPolicy` is `Forbid`",
        "concurrency",
        "another run of the application is active, and spec.concurrencyPolicy lets it end first",
        "wait, or see which: kubectl logs pi-1a2b3c4d-x7k2p -c concurrency",
        waits_for_a_run(),
    ),
    "pull-failed": Case(
        "the first pull of an image has failed, and only an Event says so",
        "image",
        f"the image {IMAGE} cannot be pulled (not found)",
        "fix spec.image, or add the registry's Secret to spec.imagePullSecrets",
        waits("ContainerCreating", ""),
        {
            "events": (
                event("Pulling", f'Pulling image "{IMAGE}"', "Normal", "2026-11-22T01:10:00Z"),
                event("Failed", f'Failed to pull image "{IMAGE}": not found', last="2026-11-22T01:11:00Z"),
            )
        },
        table=False,
    ),
    "driver-memory": Case(
        "the driver's container needs more memory than its limit",
        "driver-memory",
        "the driver was killed because it ran out of memory (its container's limit is 1408Mi)",
        "raise spec.driver.memoryOverhead",
        failed(ends(137, "OOMKilled")),
    ),
    "driver-heap": Case(
        "the driver's Java heap is full",
        "driver-memory",
        "the driver's Java heap was full (Java heap space)",
        "raise spec.driver.memory, or collect less data in the driver",
        failed(ends(1)),
        log_of(
            'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat Pi.main(Pi.java)\n'
        ),
    ),
    "executor-memory": Case(
        "an executor's container needs more memory than its limit",
        "executor-memory",
        "executors run out of memory; executor 3 (on node2) was killed: out of memory (limit 1Gi)",
        "raise spec.executor.memoryOverhead",
        running(),
        lost(
            Code.OUT_OF_MEMORY,
            "executor 3 (on node2) was killed: out of memory (limit 1Gi: raise spec.executor.memoryOverhead)",
        ),
    ),
    "executor-memory-raised": Case(
        "executors had too little memory, and get more",
        "memory-raised",
        "executors were killed for lack of memory, so new ones get 512 MiB more",
        "commit this: spec.executor.memoryOverhead: 896m",
        running(executor(driver(job()), 1)),
        hinders(
            Hindrance(
                Code.MEMORY_RAISED,
                "executors were killed for lack of memory, so new ones get 512 MiB more; commit this: "
                "spec.executor.memoryOverhead: 896m",
            ),
            wanted=1,
        ),
    ),
    "held": Case(
        "the document holds the application",
        "held",
        "the application is held, so it gets no executors",
        "to resume it, delete spec.allocation.hold",
        running(),
        hinders(
            Hindrance(
                Code.HELD,
                "the application is held, so it gets no executors; to resume it, delete spec.allocation.hold",
            ),
            wanted=0,
        ),
    ),
    "executor-memory-failed": Case(
        "a task has lost four executors for want of memory",
        "executor-memory",
        "executors run out of memory; executor 4 (on node2) was killed: out of memory (limit 1408Mi)",
        "raise spec.executor.memoryOverhead",
        failed(ends(1)),
        log_of(EXECUTORS_OUT_OF_MEMORY),
        table=False,
    ),
    "main-class": Case(
        "the main class is in no jar",
        "main-class",
        "no jar of the application has the class org.example.Pie",
        "fix spec.mainClass",
        failed(ends(101)),
        log_of(NO_CLASS),
    ),
    "connect-package": Case(
        "a Connect server of Spark 3.5 has no Connect package",
        "main-class",
        "Spark's Connect server is neither in the image nor in the document (org.apache.spark.sql.connect.",
        "add its package to spec.deps.packages, or its jar to spec.image (sparkgen rule SG301)",
        [connect_server(), driver(connect_server(), state=ends(101))],
        log_of(NO_CONNECT),
    ),
    "not-answering": Case(
        "a Connect server is still starting, or no longer answers",
        "not-answering",
        "the Connect server does not answer",
        "wait until it has started, or read its log: sparkgen logs team-a",
        [connect_server(), connect_driver(ready=False)],
        {"target": 0},
    ),
    "notebook-not-answering": Case(
        "a notebook that is still starting, or no longer answers",
        "not-answering",
        "the notebook does not answer",
        "wait until it has started, or read its log: sparkgen logs ada",
        [notebook(), driver(notebook(), state=runs())],
        {"target": 0},
        table=False,
    ),
    "missing-jar": Case(
        "a jar, file or archive of the application is not in the image",
        "missing-file",
        "the image has no file /opt/app/pie.jar",
        "fix its path (spec.mainApplicationFile, spec.deps), or add the file to spec.image",
        failed(ends(1)),
        log_of(NOT_COPIED),
    ),
    "missing-archive": Case(
        "an archive of the application is not in the image",
        "missing-file",
        "the image has no file /opt/app/dep.tar.gz",
        "fix its path (spec.mainApplicationFile, spec.deps), or add the file to spec.image",
        failed(ends(1)),
        log_of(NO_ARCHIVE),
        table=False,
    ),
    "skipped-jar": Case(
        "the main jar is not in the image of a session",
        "missing-file",
        "the image has no file /opt/app/pie.jar",
        "fix spec.mainApplicationFile, or add the file to spec.image",
        failed(ends(101)),
        log_of(NO_JAR),
        table=False,
    ),
    "missing-script": Case(
        "the main Python file is not in the image",
        "missing-file",
        "the image has no file /opt/app/pie.py",
        "fix spec.mainApplicationFile",
        failed(ends(2)),
        log_of(NO_SCRIPT),
        table=False,
    ),
    "missing-input": Case(
        "a file that the program reads does not exist",
        "missing-file",
        "there is no file file:/data/in",
        "fix the path, or mount the volume that has the file",
        failed(ends(1)),
        log_of(NO_INPUT),
    ),
    "secret": Case(
        "a Secret that the driver names does not exist",
        "secret",
        "the Secret db does not exist",
        "create it, or fix its name in spec.driver or spec.volumes",
        waits("CreateContainerConfigError", 'secret "db" not found'),
    ),
    "secret-volume": Case(
        "a Secret that a volume names is not there",
        "secret",
        "the Secret db does not exist",
        "create it",
        waits("ContainerCreating", ""),
        {
            "events": (
                event("FailedMount", 'MountVolume.SetUp failed for volume "db" : secret "db" not found'),
            )
        },
        table=False,
    ),
    "no-key-of-keytab": Case(
        "the Secret of the keytab has another key",
        "secret",
        "the Secret etl-keytab has no key krb.keytab",
        "fix spec.kerberos.keytab.key, or add the key",
        mounts(
            {
                "name": "sparkgen-kerberos",
                "secret": {
                    "secretName": "etl-keytab",
                    "items": [{"key": "krb.keytab", "path": "keytab"}],
                },
            }
        ),
        {
            "events": (
                event(
                    "FailedMount",
                    'MountVolume.SetUp failed for volume "sparkgen-kerberos" : references non-existent '
                    "secret key: krb.keytab",
                ),
            )
        },
    ),
    "no-key-of-volume": Case(
        "a ConfigMap that a volume takes a file from has no such key",
        "config-map",
        "the ConfigMap settings has no key log4j.xml",
        "fix the key in spec.volumes, or add the key",
        mounts({"name": "settings", "configMap": {"name": "settings"}}),
        {
            "events": (
                event(
                    "FailedMount",
                    'MountVolume.SetUp failed for volume "settings" : references non-existent config key: '
                    "log4j.xml",
                ),
            )
        },
        table=False,
    ),
    "queued": Case(
        "the driver waits in a queue of Kueue",
        "queued",
        "queued in team-a, 3rd of 5 (insufficient unused quota for cpu in flavor default, 2 more needed)",
        "the pod starts when its queue has room; to see why it waits: kubectl get workloads.kueue.x-k8s.io",
        [job(spec={"suspend": True})],
        {"place": QueuePlace("team-a", 3, 5, NO_QUOTA)},
    ),
    "queued-without-class": Case(
        "the priority class of Kueue does not exist",
        "queued",
        "not in the queue team-a: there is no WorkloadPriorityClass urgent",
        "create it, or correct batchSchedulerOptions.priorityClassName; to see which exist: "
        "kubectl get workloadpriorityclasses.kueue.x-k8s.io",
        [queued_without_class()],
        {
            "place": QueuePlace("team-a"),
            "events": (event("WorkloadPriorityClassNotFound", 'WorkloadPriorityClass "urgent" not found'),),
        },
    ),
    "queued-executors": Case(
        "executors wait in a queue of Kueue",
        "queued",
        "2 of 10 executors admitted, 1 waits in the queue team-a (insufficient unused quota for cpu",
        "they start when their queue has room",
        running(
            executor(driver(job()), 1),
            executor(driver(job()), 2, "Pending"),
            executor(driver(job()), 3, "Pending", conditions=[GATED]),
        ),
        {
            **hinders(Waiting("SchedulingGated", "gates").hindering("1 pending, "), wanted=10),
            "place": QueuePlace("team-a", 1, 1, NO_QUOTA),
        },
    ),
    "queued-in-volcano": Case(
        "Volcano has no room for the driver and its first executors",
        "queued",
        "queued in team-a until Volcano has room for the driver and its first executors; its PodGroup is "
        "Pending",
        "the pod starts when its queue has room; to see why it waits: kubectl describe "
        "podgroups.scheduling.volcano.sh",
        [job(), driver(job())],
        {"gang": Gang("volcano", "team-a", "Pending")},
    ),
    "gang": Case(
        "the executors of a gang, which start together or not at all, find no room",
        "gang",
        "3 executors wait until there is room on the nodes for all of them",
        "wait, request less in spec.executor, lower batchSchedulerOptions.minExecutors, or add nodes",
        running(executor(driver(job()), 1, "Pending")),
        {"gang": Gang("kube-scheduler", size=3), "target": 3},
    ),
    "gated-executors": Case(
        "executors wait at a scheduling gate of somebody else's",
        "queued",
        "0 of 1 executors admitted, 1 waits at a scheduling gate",
        "wait for their queue or controller to remove the gate",
        running(executor(driver(job()), 1, "Pending", conditions=[GATED])),
        hinders(Waiting("SchedulingGated", "gates").hindering("1 pending, "), wanted=1),
        table=False,
    ),
    "tokens": Case(
        "the driver cannot renew delegation tokens",
        "tokens",
        "the driver has failed to renew the tokens of hadoopfs since 2026-11-22T01:00:00Z: the current",
        "look in the driver's log for the reason",
        running(executor(driver(job()), 1)),
        hinders(
            Hindrance(
                Code.TOKENS_NOT_RENEWED,
                "the driver has failed to renew the tokens of hadoopfs since 2026-11-22T01:00:00Z: the "
                "current ones expire at 2026-11-22T07:00:00Z, and tasks fail from then on",
            ),
            wanted=1,
        ),
    ),
    "no-node": Case(
        "no node has room for the driver, or the nodes with room do not allow it",
        "no-node",
        "no node fits the driver's pod (0/2 nodes are available: 2 Insufficient cpu",
        "in spec.driver, request less or fix nodeSelector, affinity and tolerations; or add nodes",
        unscheduled("0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available."),
    ),
    "unbound-claim": Case(
        "a claim of the driver is not bound, because no StorageClass makes a volume for it",
        "claim",
        "no volume fits a claim of the driver's pod (0/2 nodes are available: pod has unbound immediate",
        "see why: kubectl get pvc,storageclass; give the claim a storageClassName that makes volumes",
        unscheduled(
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found. "
            "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        ),
    ),
    "no-storage-class": Case(
        "a claim of the driver names a StorageClass that does not exist",
        "claim",
        "a claim of the driver's pod names the StorageClass fast, which does not exist",
        "create the claim again with a StorageClass that kubectl get storageclass lists",
        unscheduled('0/2 nodes are available: storageclass.storage.k8s.io "fast" not found.'),
        table=False,
    ),
    "no-volume": Case(
        "no volume is free for a claim",
        "claim",
        "no volume fits a claim of the driver's pod (0/1 nodes are available: 1 node(s) didn't find",
        "see why: kubectl get pvc,storageclass",
        unscheduled("0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."),
        table=False,
    ),
    "no-node-executors": Case(
        "no node has room for executors, or the nodes with room do not allow them",
        "no-node",
        "no node fits the executor's pod (0/2 nodes are available: 2 Insufficient memory",
        "in spec.executor, request less or fix",
        running(executor(driver(job()), 1, "Pending")),
        hinders(
            Waiting("Unschedulable", "0/2 nodes are available: 2 Insufficient memory").hindering(
                "1 pending, "
            ),
            wanted=1,
        ),
    ),
    "webhook": Case(
        "an admission webhook denied the driver's pod",
        "webhook",
        f"an admission webhook denied the driver's pod ({WEBHOOK})",
        "change spec.driver",
        [job()],
        {"events": (event("FailedCreate", f"Error creating: {WEBHOOK}"),)},
    ),
    "webhook-executors": Case(
        "an admission webhook denied executors",
        "webhook",
        "an admission webhook denied the executor's pod",
        "change spec.executor",
        running(),
        hinders(refuses(403, WEBHOOK)),
        table=False,
    ),
    "rights": Case(
        "the Role or the RoleBinding has not been applied",
        "rights",
        f"{LACKS} ({SERVICE_ACCOUNT} create",
        "apply the rendered Role and RoleBinding",
        failed(ends(1)),
        log_of(NO_RIGHTS),
    ),
    "rights-early": Case(
        "the Role or the RoleBinding has not been applied, and the application still waits for them",
        "rights",
        f"{LACKS} ({SERVICE_ACCOUNT} list",
        "apply the rendered Role and RoleBinding",
        running(),
        hinders(refuses(403, f'pods is forbidden: {SERVICE_ACCOUNT} list resource "pods"', "list executors")),
        table=False,
    ),
    "expired": Case(
        "the run is older than spec.run.expiresAt allows",
        "expired",
        "this run expired at 2026-11-01T00:00:00Z",
        "change spec.run.expiresAt (or spec.run.id, for a new run), and render the document again",
        install_ended(EXPIRED),
    ),
    "artifact": Case(
        "the files that sparkgen push uploaded are no longer in the registry, or differ from the pushed ones",
        "artifact",
        f"{PUSHED} is not in the registry",
        "push it again: sparkgen push FILE",
        install_ended(
            f"[BadArtifact] {PUSHED} is not in the registry: the layer is missing\n"
            "push it again: sparkgen push FILE\n",
            "fetch",
            81,
        ),
    ),
    "registry": Case(
        "the registry with the pushed files has not answered for minutes",
        "registry",
        "registry.example does not answer",
        "check that the registry runs, and that pods can reach it",
        install_ended(
            "[RegistryAway] registry.example does not answer: timed out (for 242 s)\n"
            "check that the registry runs, and that pods can reach it\n",
            "fetch",
        ),
    ),
    "artifact of executors": Case(
        "executors cannot have what was pushed",
        "artifact",
        "executor 3 (on node-1) did not start because its files are unavailable",
        "push it again: sparkgen push FILE",
        running(),
        hinders(Hindrance(Code.BAD_ARTIFACT, f"{WITHOUT_FILES}: {PUSHED} is not in the registry")),
        table=False,
    ),
    "java": Case(
        "the program was compiled for a newer Java than the image has",
        "java",
        "org.example.Pi was compiled for Java 21, but the image has Java 17",
        "set spec.image to an image with Java 21, or compile for Java 17",
        failed(ends(1)),
        log_of(NEWER_JAVA),
    ),
    "pod-security": Case(
        "the namespace's Pod Security level does not allow the driver",
        "pod-security",
        "the namespace's Pod Security level does not allow the driver's pod",
        "to find it before you apply: sparkgen lint --profile pss-restricted",
        [job()],
        refused(
            'violates PodSecurity "restricted:latest": runAsNonRoot != true '
            "(pod must not set securityContext.runAsNonRoot=false)"
        ),
    ),
    "account": Case(
        "the service account does not exist",
        "account",
        'the service account does not exist (analytics/pi: serviceaccount "pi" not found)',
        "apply the rendered ServiceAccount",
        [job()],
        refused('error looking up service account analytics/pi: serviceaccount "pi" not found'),
    ),
    "deadline": Case(
        "the run takes longer than spec.activeDeadlineSeconds",
        "deadline",
        "it exceeded activeDeadlineSeconds",
        "raise spec.activeDeadlineSeconds, or find out what takes so long: sparkgen logs pi",
        [job(ended="Failed", reason="DeadlineExceeded")],
    ),
    "killed": Case(
        "somebody has ended the run with sparkgen kill",
        "killed",
        "sparkgen kill ended it at 2026-11-22T01:09:00Z",
        "run it again: sparkgen run pi -n analytics",
        [
            job(
                ended="Failed",
                reason="DeadlineExceeded",
                annotations={"sparkgen.dev/killed": "2026-11-22T01:09:00Z"},
            )
        ],
    ),
    "replaced": Case(
        "a newer run has ended the run, because `concurrencyPolicy` is `Replace`",
        "replaced",
        "the run pi-5e6f7a8b replaced it at 2026-11-22T01:09:00Z (spec.concurrencyPolicy)",
        "run it again: sparkgen run pi -n analytics",
        [
            job(
                ended="Failed",
                reason="DeadlineExceeded",
                annotations={
                    "sparkgen.dev/killed": "2026-11-22T01:09:00Z",
                    "sparkgen.dev/replaced-by": "pi-5e6f7a8b",
                },
            )
        ],
    ),
    "ending": Case(
        "somebody has ended the run with sparkgen kill, and its pods are still stopping",
        "ending",
        "sparkgen kill is ending it: its pods have their grace period to stop",
        f"sparkgen wait pi --run {ENDING['metadata']['name']}",
        [ENDING, driver(ENDING)],
    ),
    "evicted": Case(
        "the driver's node was drained, or ran short of memory or disk space",
        "evicted",
        "the driver was evicted by its node (The node was low on resource: memory",
        "spec.restartPolicy.onFailureRetries",
        failed(ends(137), reason="Evicted", message="The node was low on resource: memory."),
    ),
    "login": Case(
        "the driver cannot log in to Kerberos",
        "login",
        "the keytab has no key for alice@EXAMPLE.COM",
        "fix spec.kerberos.principal, or name the Secret with its keytab",
        failed(ends(1)),
        log_of(WRONG_KEYTAB),
    ),
    "program": Case(
        "the program fails by itself",
        "program",
        "the program failed (ValueError: no partitions)",
        "read its log: sparkgen logs pi",
        failed(ends(1)),
        log_of(PROGRAM),
    ),
    "exit": Case(
        "the program ends with a code and says nothing",
        "exit",
        "the driver's program ended with code 3",
        "read its log: sparkgen logs pi",
        failed(ends(3)),
        log_of("done so far\n"),
        table=False,
    ),
    "gone": Case(
        "a run has failed, and its pod no longer exists",
        "gone",
        "its driver's pod and log are gone",
        "look for the log in your cluster's log collection, or run it again",
        [job(ended="Failed", reason="BackoffLimitExceeded")],
    ),
    "restarting": Case(
        "a streaming driver ends again and again",
        "program",
        "the program failed (ValueError: no partitions)",
        "sparkgen logs stream",
        [
            deployment(),
            driver(
                deployment(),
                containerStatuses=[
                    {
                        "name": DRIVER,
                        "restartCount": 3,
                        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                        "lastState": ends(1),
                    }
                ],
            ),
        ],
        log_of(PROGRAM),
        table=False,
    ),
    "allocator-of-session": Case(
        "the allocator of a session cannot begin",
        "allocator",
        "allocator does not start the driver (it lacks SPARKGEN_RUN)",
        "",
        [
            session(),
            allocator_pod(
                session(),
                {"waiting": {"reason": "CrashLoopBackOff"}},
                lastState=ends(2, message="it lacks SPARKGEN_RUN"),
                restartCount=2,
            ),
        ],
        table=False,
    ),
    "image-of-session": Case(
        "the runtime image of a session cannot be pulled",
        "image",
        "an image of the session cannot be pulled (not found)",
        "fix spec.runtimeImage",
        [
            session(),
            allocator_pod(session(), {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}),
        ],
        table=False,
    ),
    "no-node-for-session": Case(
        "no node has room for a session",
        "no-node",
        "no node fits the session's pod (0/3 nodes are available)",
        "in spec.driver, request less or fix",
        [
            session(),
            {
                **allocator_pod(session(), {}),
                "status": {
                    "conditions": [
                        {
                            "type": "PodScheduled",
                            "status": "False",
                            "reason": "Unschedulable",
                            "message": "0/3 nodes are available",
                        }
                    ]
                },
            },
        ],
        table=False,
    ),
    "killed-session": Case(
        "a session was killed",
        "killed",
        "sparkgen kill ended it",
        "",
        [session(ended="Failed", annotations={"sparkgen.dev/killed": "2026-11-22T01:00:00Z"})],
        table=False,
    ),
    "session-over": Case(
        "a session has ended by itself",
        "session-over",
        "the session is over: nobody was heard",
        "",
        [session(ended="Complete")],
        {"allocator_log": told(LogLine(LogEvent.END, "so", facts={"hindrance": OVER.facts}))},
        table=False,
    ),
    "suspended-session": Case(
        "the command of a session was killed in between",
        "suspended",
        "it is suspended",
        "if that command was killed, the next one removes it",
        [session(spec={"suspend": True})],
        table=False,
    ),
    "suspended": Case(
        "the run waits because spec.suspend is true",
        "suspended",
        "it is suspended",
        "set spec.suspend to false in the document, and apply it",
        [job(spec={"suspend": True})],
    ),
}
