"""The verdicts on properties beside `spark.kubernetes.*` of spark-submit and Spark's Kubernetes module."""

from __future__ import annotations

from sparkgen.properties.verdicts import Judgement, Verdict

_OWN_SECRET = "each run gets its own secret"  # noqa: S105 - a sentence
_LAUNCHER = "no launcher waits for the application"
_TESTS = "only Spark's own tests read it"
_STANDALONE = "only a standalone cluster reads it"
_YARN = "only YARN reads it"
_POD_SIZE = "the pod's memory and CPU follow from it"


def _passed(*names: str) -> tuple[Judgement, ...]:
    return tuple(Judgement(f"spark.{name}", Verdict.PASSED) for name in names)


def _read(reason: str, *names: str) -> tuple[Judgement, ...]:
    return tuple(Judgement(f"spark.{name}", Verdict.READ, reason) for name in names)


def _done(name: str, reason: str, step: str = "") -> Judgement:
    """Returns the row of a property that sparkgen sets itself."""
    return Judgement(f"spark.{name}", Verdict.DONE, reason, step)


def _none(name: str, reason: str, step: str = "") -> Judgement:
    """Returns the row of a property that nothing reads; with a step, its loss matters."""
    return Judgement(f"spark.{name}", Verdict.NO_EFFECT, reason, step, lost=bool(step))


_DONE = (
    _done("master", "the driver's master is the allocator in its pod"),
    _done("submit.deployMode", "the driver always runs in its own pod"),
    _done("driver.host", "the driver is reached at its pod's address"),
    _done("driver.bindAddress", "the driver listens on its pod's address"),
    _done("driver.port", "the port is 7078"),
    _done("driver.blockManager.port", "the port is 7079"),
    _done("blockManager.port", "the port is 7079"),
    Judgement(
        "spark.ui.port",
        Verdict.DONE,
        "the UI always has port 4040 in the pod",
        "for another port of its Service, set `sparkUIOptions.servicePort`",
        lost=True,
        same=("4040",),
    ),
    Judgement(
        "spark.local.dir",
        Verdict.DONE,
        "the pod's volumes are the scratch space",
        "to choose one, mount a volume named `spark-local-dir-1` in both roles",
        lost=True,
    ),
    _done("authenticate.secret", _OWN_SECRET),
    _done("authenticate.secret.file", _OWN_SECRET),
    _done("authenticate.secret.driver.file", _OWN_SECRET),
    _done("authenticate.secret.executor.file", _OWN_SECRET),
    _done("executor.id", "the allocator numbers the executors"),
    _done("app.submitTime", "spark-submit sets it in the driver's pod"),
)

_READ = (
    *_read(
        _POD_SIZE,
        *("driver.memoryOverheadFactor", "driver.minMemoryOverhead"),
        *("executor.memoryOverheadFactor", "executor.minMemoryOverhead"),
    ),
    *_read(
        "the executors' command follows from it",
        *("executor.extraClassPath", "executor.defaultJavaOptions", "executor.extraLibraryPath"),
    ),
    *_read("executor pods get a preStop hook", "decommission.enabled"),
    *_read("the scheduler jar comes before it", "driver.extraClassPath"),
    *_read("the driver logs in with it, unless `kerberos` is set", "kerberos.keytab"),
    Judgement(
        "spark.kerberos.principal",
        Verdict.READ,
        "the driver logs in with it, unless `kerberos` is set",
        fields=("kerberos.principal",),
    ),
    *_read("its default is a folder that the driver may write to", "jars.ivy"),
    *_read("gangs of executors set its default", "scheduler.minRegisteredResourcesRatio"),
)

_PASSED = _passed(
    *("api.mode", "app.id", "app.name", "hadoop.", "home", "jars.ivySettings", "local.connect"),
    *("driver.defaultExtraClassPath", "driver.defaultJavaOptions", "driver.extraLibraryPath"),
    *(
        "driver.userClassPathFirst",
        "executor.defaultExtraClassPath",
        "pyspark.driver.python",
        "pyspark.python",
    ),
    *("r.shell.command", "redaction.string.regex", "repl.local.jars"),
    *(
        "shuffle.checksum.algorithm",
        "shuffle.checksum.enabled",
        "submit.callSystemExitOnMainExit",
        "submit.proxyUser.allowCustomClasspathInClusterMode",
    ),
    *(
        "submit.pyFiles",
        "task.cpus",
        "task.maxFailures",
        "ui.custom.executor.log.url",
        "ui.showConsoleProgress",
    ),
)

_NO_EFFECT = (
    Judgement(
        "spark.remote",
        Verdict.REFUSED,
        "spark-submit refuses it together with a master",
        "to use a Connect server, call `SparkSession.builder.remote(...)` in a program of its own",
        lost=True,
    ),
    _none("submit.", "nothing is submitted"),
    _none("cores.max", _STANDALONE, "limit the executors with `dynamicAllocation.maxExecutors`"),
    _none("driver.supervise", _STANDALONE, "set `restartPolicy`"),
    _none("master.rest.enabled", _STANDALONE),
    _none("launcher.", _LAUNCHER),
    *(_none(f"test.{name}", _TESTS) for name in ("appId", "home", "master")),
    _none("mesos.", "only Mesos reads it"),
)

_OF_YARN = (
    *_passed("yarn.security."),
    _none("yarn.queue", _YARN, "set `batchScheduler` and `batchSchedulerOptions.queue`"),
    _none("yarn.dist.archives", _YARN, "set them in `deps.archives`"),
    _none("yarn.dist.files", _YARN, "set them in `deps.files`"),
    _none("yarn.dist.jars", _YARN, "set them in `deps.jars`"),
    _none("yarn.dist.pyFiles", _YARN, "set them in `deps.pyFiles`"),
    _none("yarn.appMasterEnv.", _YARN, "set the variable in `driver.env`"),
    _none("yarn.maxAppAttempts", _YARN, "set `restartPolicy.onFailureRetries`"),
    _none("yarn.priority", _YARN, "set `batchSchedulerOptions.priorityClassName`"),
    _none("yarn.executor.nodeLabelExpression", _YARN, "set `executor.nodeSelector`"),
    _none("yarn.am.nodeLabelExpression", _YARN, "set `driver.nodeSelector`"),
    _none("yarn.tags", _YARN, "set `metadata.labels`"),
    _none("yarn.", _YARN),
)

ROWS = (*_DONE, *_READ, *_PASSED, *_NO_EFFECT, *_OF_YARN)
