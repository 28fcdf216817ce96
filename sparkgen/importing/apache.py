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
_NO_LIMIT = "nothing here gives up on a start that takes long"
_LIMIT_STEP = (
    "bound the whole run with `activeDeadlineSeconds`, a waiting executor with `allocation.pendingTimeout`"
)


def main_class(given: Take) -> None:
    """The main class; PythonRunner is how Spark itself starts a Python program, and is no program."""
    if given.node.text == _PYTHON_RUNNER:
        given.needless("Spark starts Python programs with this class by itself")
    else:
        copy(given)


def _starts_python(draft: Draft) -> bool:
    """Whether PythonRunner is the main class: then the first argument is the Python file to run."""
    return any(item.source == ("spec", "mainClass") and not item.target for item in draft.entries)


def arguments(given: Take) -> None:
    """The arguments; PythonRunner's first two are the main file and what it imports."""
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
    """The main file, and after commas what else it needs."""
    field = str(given.path[-1])
    first, *others = [part.strip() for part in given.node.text.split(",") if part.strip()] or [""]
    if _starts_python(given.draft):
        given.put(("spec", "deps", field), [first, *others])
        return
    if given.draft.get("spec", "mainApplicationFile") is not None:
        given.lost("another field names the main file already, and that wins", "name one of the two")
        return
    given.put(("spec", "mainApplicationFile"), first, Outcome.REWRITTEN if others else Outcome.CARRIED)
    if others:
        given.draft.put(("spec", "deps", "jars" if field == "jars" else "pyFiles"), others)
    kind = {"pyFiles": "Python", "sparkRFiles": "R"}.get(field)
    if kind:
        given.draft.put(("spec", "type"), kind)


def restart_policy(given: Take) -> None:
    """When a driver that ended is started again."""
    target, word = ("spec", "restartPolicy", "type"), given.node.text
    if word in ("Never", "OnFailure"):
        given.put(target, word)
    elif word == "Always":
        given.put(
            target,
            word,
            Outcome.CHANGED,
            "becomes a Deployment: the driver starts again whenever it ended, and there is no last try",
        )
    else:
        given.lost(
            f"no policy here tries again after {word} only",
            "write `type: OnFailure` and `onFailureRetries` to try again after every failure",
        )


def attempts(given: Take) -> None:
    """How often a driver is started again; it means nothing with `Never`."""
    parent = given.draft.get("spec", "restartPolicy", "type")
    if parent == "OnFailure":
        given.put(("spec", "restartPolicy", "onFailureRetries"), given.node.value)
    elif parent == "Always":
        given.lost("a Deployment starts again forever", "write `type: OnFailure` for so many tries")
    else:
        given.needless("nothing is tried again")


def back_off(given: Take) -> None:
    """The time between two tries, which is Kubernetes' own."""
    if given.draft.get("spec", "restartPolicy", "type") in (None, "Never"):
        given.needless("nothing is tried again")
    else:
        given.lost(
            "the time between tries cannot be set: Kubernetes waits 10 s, 20 s, 40 s and so on", "delete it"
        )


def scala_version(given: Take) -> None:
    """The Scala line; left out where it follows from Spark's version."""
    version = str(given.draft.get("spec", "sparkVersion") or "")
    if given.node.text == scala_line(version):
        given.needless("it follows from the version of Spark")
    else:
        given.put(("spec", "scalaVersion"), given.node.text)


def retries(draft: Draft) -> None:
    """The operator tries three times more where the policy says `OnFailure` and no number."""
    policy = draft.get("spec", "restartPolicy") or {}
    if policy.get("type") == "OnFailure" and "onFailureRetries" not in policy:
        target = ("spec", "restartPolicy", "onFailureRetries")
        draft.add(Outcome.ADDED, target, 3, "the operator's default; sparkgen's would be 0")


def fill_in(draft: Draft) -> None:
    """`{{SPARK_VERSION}}` and the like in the names of images: the operator expands them there only."""
    version = str(draft.get("spec", "sparkVersion") or "")
    for target in (("spec", "image"), ("spec", "driver", "image"), ("spec", "executor", "image")):
        image = draft.get(*target)
        if isinstance(image, str) and "{{SPARK_VERSION}}" in image and version:
            draft.put(target, image.replace("{{SPARK_VERSION}}", version))
            draft.comment(target, "the operator's {{SPARK_VERSION}} is written out")
            draft.entries[:] = [
                replace(item, outcome=Outcome.REWRITTEN) if item.target == target else item
                for item in draft.entries
            ]


ROWS = (
    *metadata.ROWS,
    Row("spec.mainClass", "spec.mainClass", how=main_class, words="left out for PythonRunner"),
    Row(
        "spec.jars",
        "spec.mainApplicationFile",
        how=files_of_program,
        words="the first is the main file, the others go to `deps.jars`",
    ),
    Row(
        "spec.pyFiles",
        "spec.mainApplicationFile",
        how=files_of_program,
        words="the first is the main file, the others go to `deps.pyFiles`",
    ),
    Row("spec.sparkRFiles", "spec.mainApplicationFile", how=files_of_program, words="the main file"),
    Row("spec.files", "spec.deps.files", how=transforms.comma_list, words="a list"),
    Row("spec.driverArgs", "spec.arguments", how=arguments, words="copied"),
    Row("spec.proxyUser", "spec.proxyUser"),
    Row(
        "spec.deploymentMode",
        same=("ClusterMode",),
        reason="the driver always runs in a pod of its own",
        step="check what the application expects of the machine that submits it",
    ),
    Row(
        "spec.sparkConf", "spec.sparkConf", how=transforms.properties, words="property by property, see below"
    ),
    Row("spec.runtimeVersions.sparkVersion", "spec.sparkVersion"),
    Row(
        "spec.runtimeVersions.scalaVersion",
        "spec.scalaVersion",
        how=scala_version,
        words="left out where it follows from the version of Spark",
    ),
    Row("spec.runtimeVersions.jdkVersion", needless=True, reason="the image decides which Java runs"),
    *(
        Row(
            f"spec.{role}Spec.podTemplateSpec",
            f"spec.{role}.template",
            how=transforms.template,
            words=f"the container that is Spark's is named spark-kubernetes-{role} here",
        )
        for role in ("driver", "executor")
    ),
    Row(
        "spec.driverServiceIngressList",
        reason="no Service or Ingress for further ports is rendered",
        step="commit them beside the rendered files; for the Spark UI there is `spec.sparkUIOptions.ingress`",
    ),
    Row(
        "spec.configMapSpecs",
        reason="no ConfigMaps of the application's own are rendered",
        step="commit the ConfigMap beside the rendered files, and mount it with `configMaps`",
    ),
    Row(
        f"{_TOLERATIONS}.restartConfig.restartPolicy",
        "spec.restartPolicy.type",
        how=restart_policy,
        words="`Always` becomes a Deployment; `OnInfrastructureFailure` has no counterpart",
    ),
    *(
        Row(
            f"{_TOLERATIONS}.restartConfig.{name}",
            "spec.restartPolicy.onFailureRetries",
            how=attempts,
            words="with `OnFailure`",
        )
        for name in ("maxRestartAttempts", "maxRestartOnFailure")
    ),
    *(
        Row(f"{_TOLERATIONS}.restartConfig.{name}", how=back_off, words="Kubernetes' own back-off")
        for name in (
            "restartBackoffMillis",
            "restartBackoffMillisForFailure",
            "restartBackoffMillisForSchedulingFailure",
        )
    ),
    Row(
        f"{_TOLERATIONS}.restartConfig.restartCounterResetMillis",
        same=(-1,),
        reason="the number of tries is never counted again",
        step="raise `onFailureRetries`",
    ),
    Row(
        f"{_TOLERATIONS}.restartConfig.maxRestartOnSchedulingFailure",
        reason="a pod that finds no place waits for one",
        step="delete it; see `allocation.pendingTimeout`",
    ),
    *(
        Row(f"{_TOLERATIONS}.applicationTimeoutConfig.{name}", reason=_NO_LIMIT, step=_LIMIT_STEP)
        for name in ("driverStartTimeoutMillis", "driverReadyTimeoutMillis", "executorStartTimeoutMillis")
    ),
    *(
        Row(
            f"{_TOLERATIONS}.applicationTimeoutConfig.{name}",
            needless=True,
            reason="Kubernetes itself removes what belongs to the driver's Job",
        )
        for name in ("forceTerminationGracePeriodMillis", "terminationRequeuePeriodMillis")
    ),
    *(
        Row(
            f"{_TOLERATIONS}.instanceConfig.{name}",
            reason="how many executors are started is in `executor.instances` and `dynamicAllocation`; "
            "having fewer does not end an application here",
            step="set `spark.scheduler.minRegisteredResourcesRatio` in `sparkConf` to wait for executors",
        )
        for name in ("initExecutors", "minExecutors", "maxExecutors")
    ),
    Row(
        f"{_TOLERATIONS}.resourceRetainPolicy",
        same=("Always",),
        reason="the ended driver stays, with its log, and executors are always removed",
        step="set `run.history` or `timeToLiveSeconds` to have ended drivers removed",
    ),
    Row(
        f"{_TOLERATIONS}.resourceRetainDurationMillis",
        same=(-1,),
        reason="the ended driver stays until its Job is removed",
        step="set `timeToLiveSeconds`",
    ),
    Row(
        f"{_TOLERATIONS}.ttlAfterStopMillis",
        "spec.timeToLiveSeconds",
        how=transforms.milliseconds_to_live,
        words="in whole seconds; GitOps tools make the deleted Job again",
    ),
)
TABLE = table(ROWS)
