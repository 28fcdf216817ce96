"""The table for the SparkApplication of Apache's spark-kubernetes-operator (spark.apache.org).

Versions v1alpha1 to v1 have the same fields.

Source of the fields: apache/spark-kubernetes-operator, spark-operator-api, package
org.apache.spark.k8s.operator.spec; of their meaning: SparkAppSubmissionWorker.
"""

from __future__ import annotations

from dataclasses import replace

from sparkgen.importing import metadata, transforms
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import Row, Take, copy, table
from sparkgen.spark_versions import scala_line

GROUP = "spark.apache.org"
_PYTHON_RUNNER = "org.apache.spark.deploy.PythonRunner"
_TOLERATIONS = "spec.applicationTolerations"
_NO_LIMIT = "sparkgen has no time limit for starts"
_LIMIT_STEP = (
    "limit the whole run with `activeDeadlineSeconds`, and pending executors with `allocation.pendingTimeout`"
)


def main_class(given: Take) -> None:
    """Copy the main class, except PythonRunner: Spark itself starts Python programs with this class."""
    if given.node.text == _PYTHON_RUNNER:
        given.needless("Spark uses this class for Python programs anyway")
    else:
        copy(given)


def _starts_python(draft: Draft) -> bool:
    """Whether PythonRunner is the main class: then the first argument is the Python file to run."""
    return any(item.source == ("spec", "mainClass") and not item.target for item in draft.entries)


def arguments(given: Take) -> None:
    """Copy the arguments; those of PythonRunner start with the main file and the modules that it imports."""
    texts = [child.text for child in given.node.items]
    if not _starts_python(given.draft) or not texts:
        copy(given)
        return
    file, modules, *others = [*texts, ""][: max(len(texts), 2)]
    given.draft.put(("spec", "mainApplicationFile"), file)
    given.draft.put(("spec", "type"), "Python")
    if modules:
        given.draft.put(("spec", "deps", "pyFiles"), modules.split(","))
    if others:
        given.draft.put(("spec", "arguments"), others)
    given.tell(Outcome.REWRITTEN, ("spec", "mainApplicationFile"))


def files_of_program(given: Take) -> None:
    """Copy the first file as the main file, and the others to `deps`; with PythonRunner, all go to `deps`."""
    field = str(given.path[-1])
    first, *others = [part.strip() for part in given.node.text.split(",") if part.strip()] or [""]
    if _starts_python(given.draft):
        given.put(("spec", "deps", field), [first, *others])
        return
    if given.draft.get("spec", "mainApplicationFile") is not None:
        given.lost("another field already sets the main file, and takes precedence", "keep one of the two")
        return
    given.put(("spec", "mainApplicationFile"), first, Outcome.REWRITTEN if others else Outcome.CARRIED)
    if others:
        given.draft.put(("spec", "deps", "jars" if field == "jars" else "pyFiles"), others)
    kind = {"pyFiles": "Python", "sparkRFiles": "R"}.get(field)
    if kind:
        given.draft.put(("spec", "type"), kind)


def restart_policy(given: Take) -> None:
    """Copy `Never`, `OnFailure` and `Always`, which changes its meaning; other policies are lost."""
    target, word = ("spec", "restartPolicy", "type"), given.node.text
    if word in ("Never", "OnFailure"):
        given.put(target, word)
    elif word == "Always":
        given.put(
            target,
            word,
            Outcome.CHANGED,
            "becomes a Deployment: the driver always restarts, without a limit",
        )
    else:
        given.lost(
            f"sparkgen has no policy that retries only after {word}",
            "to retry after every failure, set `type: OnFailure` and `onFailureRetries`",
        )


def attempts(given: Take) -> None:
    """Copy the number of retries; it has no effect with `Never`."""
    parent = given.draft.get("spec", "restartPolicy", "type")
    if parent == "OnFailure":
        given.put(("spec", "restartPolicy", "onFailureRetries"), given.node.value)
    elif parent == "Always":
        given.lost("a Deployment restarts without a limit", "to limit retries, set `type: OnFailure`")
    else:
        given.needless("the policy has no retries")


def back_off(given: Take) -> None:
    """Report the time between two retries: Kubernetes sets its own."""
    if given.draft.get("spec", "restartPolicy", "type") in (None, "Never"):
        given.needless("the policy has no retries")
    else:
        given.lost(
            "the time between retries cannot be set: Kubernetes waits 10 s, 20 s, 40 s and so on", "delete it"
        )


def scala_version(given: Take) -> None:
    """Copy the Scala version, unless it follows from Spark's version."""
    version = str(given.draft.get("spec", "sparkVersion") or "")
    if given.node.text == scala_line(version):
        given.needless("the Spark version determines it")
    else:
        given.put(("spec", "scalaVersion"), given.node.text)


def retries(draft: Draft) -> None:
    """Add the operator's default of three retries if the policy is `OnFailure` without a number."""
    policy = draft.get("spec", "restartPolicy") or {}
    if policy.get("type") == "OnFailure" and "onFailureRetries" not in policy:
        target = ("spec", "restartPolicy", "onFailureRetries")
        draft.add(Outcome.ADDED, target, 3, "the operator's default; sparkgen's is 0")


def fill_in(draft: Draft) -> None:
    """Replace `{{SPARK_VERSION}}` in the names of images: only the operator expands it."""
    version = str(draft.get("spec", "sparkVersion") or "")
    for target in (("spec", "image"), ("spec", "driver", "image"), ("spec", "executor", "image")):
        image = draft.get(*target)
        if isinstance(image, str) and "{{SPARK_VERSION}}" in image and version:
            draft.put(target, image.replace("{{SPARK_VERSION}}", version))
            draft.comment(target, "{{SPARK_VERSION}} is replaced by the version")
            draft.entries[:] = [
                replace(item, outcome=Outcome.REWRITTEN) if item.target == target else item
                for item in draft.entries
            ]


ROWS = (
    *metadata.ROWS,
    Row("spec.mainClass", "spec.mainClass", how=main_class),
    Row("spec.jars", "spec.mainApplicationFile", how=files_of_program),
    Row("spec.pyFiles", "spec.mainApplicationFile", how=files_of_program),
    Row("spec.sparkRFiles", "spec.mainApplicationFile", how=files_of_program),
    Row("spec.files", "spec.deps.files", how=transforms.comma_list),
    Row("spec.driverArgs", "spec.arguments", how=arguments),
    Row("spec.proxyUser", "spec.proxyUser"),
    Row(
        "spec.deploymentMode",
        same=("ClusterMode",),
        reason="the driver always runs in its own pod",
        step="check whether the application needs files or settings of the submitting machine",
    ),
    Row("spec.sparkConf", "spec.sparkConf", how=transforms.properties),
    Row("spec.runtimeVersions.sparkVersion", "spec.sparkVersion"),
    Row("spec.runtimeVersions.scalaVersion", "spec.scalaVersion", how=scala_version),
    Row("spec.runtimeVersions.jdkVersion", needless=True, reason="the image determines the Java version"),
    *(
        Row(f"spec.{role}Spec.podTemplateSpec", f"spec.{role}.template", how=transforms.template)
        for role in ("driver", "executor")
    ),
    Row(
        "spec.driverServiceIngressList",
        reason="sparkgen renders no Service or Ingress for other ports",
        step="commit your own Service and Ingress beside the rendered files; for the Spark UI, set "
        "`spec.sparkUIOptions.ingress`",
    ),
    Row(
        "spec.configMapSpecs",
        reason="sparkgen renders no ConfigMaps of your own",
        step="commit the ConfigMap beside the rendered files, and mount it with `configMaps`",
    ),
    Row(f"{_TOLERATIONS}.restartConfig.restartPolicy", "spec.restartPolicy.type", how=restart_policy),
    *(
        Row(f"{_TOLERATIONS}.restartConfig.{name}", "spec.restartPolicy.onFailureRetries", how=attempts)
        for name in ("maxRestartAttempts", "maxRestartOnFailure")
    ),
    *(
        Row(f"{_TOLERATIONS}.restartConfig.{name}", how=back_off)
        for name in (
            "restartBackoffMillis",
            "restartBackoffMillisForFailure",
            "restartBackoffMillisForSchedulingFailure",
        )
    ),
    Row(
        f"{_TOLERATIONS}.restartConfig.restartCounterResetMillis",
        same=(-1,),
        reason="the count of retries is never reset",
        step="to allow more retries, increase `onFailureRetries`",
    ),
    Row(
        f"{_TOLERATIONS}.restartConfig.maxRestartOnSchedulingFailure",
        reason="a pod that cannot be scheduled stays pending",
        step="delete the field; for executors, see `allocation.pendingTimeout`",
    ),
    *(
        Row(f"{_TOLERATIONS}.applicationTimeoutConfig.{name}", reason=_NO_LIMIT, step=_LIMIT_STEP)
        for name in ("driverStartTimeoutMillis", "driverReadyTimeoutMillis", "executorStartTimeoutMillis")
    ),
    *(
        Row(
            f"{_TOLERATIONS}.applicationTimeoutConfig.{name}",
            needless=True,
            reason="Kubernetes deletes all objects that belong to the driver's Job",
        )
        for name in ("forceTerminationGracePeriodMillis", "terminationRequeuePeriodMillis")
    ),
    *(
        Row(
            f"{_TOLERATIONS}.instanceConfig.{name}",
            reason="`executor.instances` and `dynamicAllocation` set the number of executors; "
            "an application with fewer executors keeps running",
            step="to wait for executors, set `spark.scheduler.minRegisteredResourcesRatio` in `sparkConf`",
        )
        for name in ("initExecutors", "minExecutors", "maxExecutors")
    ),
    Row(
        f"{_TOLERATIONS}.resourceRetainPolicy",
        same=("Always",),
        reason="an ended driver is kept with its log, and executors are always deleted",
        step="to delete ended drivers, set `run.history` or `timeToLiveSeconds`",
    ),
    Row(
        f"{_TOLERATIONS}.resourceRetainDurationMillis",
        same=(-1,),
        reason="an ended driver is kept until its Job is deleted",
        step="to delete the Job, set `timeToLiveSeconds`",
    ),
    Row(f"{_TOLERATIONS}.ttlAfterStopMillis", "spec.timeToLiveSeconds", how=transforms.milliseconds_to_live),
)
TABLE = table(ROWS)
