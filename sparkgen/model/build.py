"""From a valid document's value to an `Application`: all defaults are applied here, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen.grammar.duration import to_milliseconds
from sparkgen.grammar.memory import to_mib
from sparkgen.model import sizes
from sparkgen.model.application import (
    Account,
    Application,
    Executors,
    Role,
    RoleName,
    common_fields,
    if_enabled,
)
from sparkgen.model.batch import batch_scheduler
from sparkgen.model.completion import as_application, section_of
from sparkgen.model.conffiles import conf_files
from sparkgen.model.connect import CONNECT_KIND
from sparkgen.model.delivery import delivered, delivery, staging_server
from sparkgen.model.eventlog import log_claim
from sparkgen.model.kerberos import hadoop_properties, kerberos
from sparkgen.model.logarchive import log_archive
from sparkgen.model.notebook import NOTEBOOK_KIND, notebook
from sparkgen.model.properties import effective_properties, is_true, lookup
from sparkgen.model.runtime import runtime
from sparkgen.model.shuffle import application_shuffle
from sparkgen.spark_versions import scala_line

GITOPS = ("argocd", "flux")
"""Targets that apply the content of Git repeatedly."""

DEFAULT_HISTORY: Mapping[str, int] = {"succeeded": 3, "failed": 1}
"""The default with a GitOps controller: as many as a CronJob keeps."""

SCHEDULE_DEFAULTS: Mapping[str, Any] = {"concurrencyPolicy": "Forbid", "suspend": False}


def build(value: Mapping[str, Any], namespace: str | None = None) -> Application:
    """The application that a document describes.

    `value` is valid (schema and semantics); `namespace` is the caller's choice for documents without a
    namespace.
    """
    scheduled = value["kind"] == "ScheduledSparkApplication"
    value = as_application(value)
    outer = value["spec"]
    written = outer["template"] if scheduled else outer
    spec = delivered(written)
    metadata = value["metadata"]
    properties = effective_properties(spec)
    restart = spec.get("restartPolicy") or {}
    common = common_fields(metadata, spec, namespace)
    executors = executors_of(properties)
    return Application(
        **common,
        language=spec["type"],
        spark_version=spec["sparkVersion"],
        scala_version=spec.get("scalaVersion") or scala_line(spec["sparkVersion"]),
        runtime=runtime(spec),
        allocator=spec.get("allocator") or "sparkgen",
        image_pull_secrets=tuple(spec.get("imagePullSecrets") or ()),
        main_class=spec.get("mainClass"),
        main_file=spec.get("mainApplicationFile"),
        arguments=tuple(spec.get("arguments") or ()),
        proxy_user=spec.get("proxyUser"),
        properties=properties,
        hadoop=hadoop_properties(spec),
        hadoop_config_map=spec.get("hadoopConfigMap"),
        kerberos=kerberos(spec),
        conf_files=conf_files(spec.get("sparkConfFiles") or {}),
        volumes=tuple(spec.get("volumes") or ()),
        delivery=delivery(written),
        staging=staging_server(written, common["namespace"]),
        driver=_role("driver", spec, properties),
        executor=_role("executor", spec, properties),
        executors=executors,
        tuning=_tuning(spec, properties),
        on_mismatch=lookup(spec, ("allocation", "onMismatch")) or "fail",
        allocator_resources=lookup(spec, ("allocation", "resources")),
        restart=restart.get("type", "Never"),
        # OnFailure without a count retries nothing: as in kubeflow's operator, on purpose.
        retries=restart.get("onFailureRetries", 0) if restart.get("type") == "OnFailure" else 0,
        deadline_seconds=spec.get("activeDeadlineSeconds"),
        ttl_seconds=_time_to_live(value),
        suspend=bool(spec.get("suspend", False)),
        concurrency_policy=_concurrency_policy(spec),
        batch=batch_scheduler(spec, executors.minimum, executors.initial),
        run=spec.get("run") or {},
        history=_history(value, spec),
        schedule={**SCHEDULE_DEFAULTS, **outer} if scheduled else None,
        account=_account(metadata["name"], spec),
        disruption_budget=if_enabled(spec.get("podDisruptionBudget")),
        ui=spec.get("sparkUIOptions") or {},
        metrics_properties=lookup(spec, ("monitoring", "metricsProperties")),
        shuffle=application_shuffle(spec.get("shuffleService"), common["namespace"]),
        log_claim=log_claim(spec.get("eventLog")),
        log_archive=log_archive(spec.get("logging")),
        connect=section_of(value, CONNECT_KIND),
        notebook=notebook(section_of(value, NOTEBOOK_KIND)),
    )


def _role(name: RoleName, spec: Mapping[str, Any], properties: Mapping[str, str]) -> Role:
    role = spec.get(name) or {}
    cores = properties.get(f"spark.{name}.cores", "1")
    return Role(
        name=name,
        image=role.get("image") or spec["image"],
        image_pull_policy=role.get("imagePullPolicy") or spec.get("imagePullPolicy"),
        cores=int(cores),
        core_request=properties.get(f"spark.kubernetes.{name}.request.cores", cores),
        core_limit=properties.get(f"spark.kubernetes.{name}.limit.cores"),
        memory=sizes.memory(name, properties, spec["type"]),
        java_options=_java_options(name, properties),
        labels=role.get("labels") or {},
        annotations=role.get("annotations") or {},
        spec=role,
    )


def _java_options(role: RoleName, properties: Mapping[str, str]) -> str:
    """The administrator's options, then the user's (`withPrepended` in Spark's config package)."""
    both = (properties.get(f"spark.{role}.{kind}JavaOptions") for kind in ("default", "extra"))
    return " ".join(filter(None, both))


def executors_of(properties: Mapping[str, str]) -> Executors:
    """The number of executors.

    Source: Utils.getDynamicAllocationInitialExecutors (the largest of the three initial numbers) and
    SchedulerBackendUtils.getInitialTargetExecutorNumber. Spark's own default number is 2, kubeflow's is 1;
    documents follow kubeflow's.
    """
    dynamic = is_true(properties, "spark.dynamicAllocation.enabled")
    prefix = "spark.dynamicAllocation."
    instances = int(properties.get("spark.executor.instances", "0" if dynamic else "1"))
    minimum = int(properties.get(f"{prefix}minExecutors", "0"))
    initial = max(minimum, int(properties.get(f"{prefix}initialExecutors", minimum)), instances)
    maximum = properties.get(f"{prefix}maxExecutors")
    return Executors(
        dynamic=dynamic,
        instances=instances,
        minimum=minimum if dynamic else instances,
        initial=initial if dynamic else instances,
        maximum=(int(maximum) if maximum is not None else None) if dynamic else instances,
    )


def _concurrency_policy(spec: Mapping[str, Any]) -> str | None:
    """The policy of runs that do not overlap.

    None also with Spark's own backend, for which SG321 refuses one: its driver has the account's rights.
    """
    policy: str | None = spec.get("concurrencyPolicy")
    return None if policy == "Allow" or spec.get("allocator") == "spark" else policy


def _tuning(spec: Mapping[str, Any], properties: Mapping[str, str]) -> dict[str, Any]:
    """The allocator's settings, in counts and milliseconds; `locality` is as the document has it."""
    given, prefix = spec.get("allocation") or {}, "spark.kubernetes.allocation."
    settings = {
        "batchSize": _number(properties.get(f"{prefix}batch.size")),
        "batchDelayMs": _milliseconds(properties.get(f"{prefix}batch.delay")),
        "maxPendingPods": _number(properties.get(f"{prefix}maxPendingPods")),
        "maxUnschedulablePods": given.get("maxUnschedulablePods"),
        "waitForRegistration": given.get("waitForRegistration"),
        "hold": given.get("hold"),
        "locality": given.get("locality"),
        "memoryOverheadRecovery": _memory_recovery(given.get("memoryOverheadRecovery")),
        "executorTimeoutMs": _milliseconds(properties.get(f"{prefix}executor.timeout")),
        "pendingTimeoutMs": _milliseconds(given.get("pendingTimeout")),
        "poolTimeoutMs": _milliseconds(given.get("poolTimeout")),
        "maxExecutorFailures": _number(properties.get("spark.executor.maxNumFailures")),
        "executorFailuresValidityIntervalMs": _milliseconds(
            properties.get("spark.executor.failuresValidityInterval")
        ),
    }
    return {name: value for name, value in settings.items() if value is not None}


def _memory_recovery(given: Mapping[str, str] | None) -> dict[str, int] | None:
    """The steps in which executors get more memory, in MiB; None if they get none."""
    return {f"{name}MiB": to_mib(size) for name, size in given.items()} if given else None


def _time_to_live(value: Mapping[str, Any]) -> int | None:
    """The seconds after which a finished Job deletes itself; None: never.

    Never with a GitOps controller: it would create the Job again, which would run the application again. The
    controller does not create the Jobs of a CronJob.
    """
    if value["kind"] == "ScheduledSparkApplication":
        seconds: int | None = value["spec"]["template"].get("timeToLiveSeconds")
        return seconds
    gitops = value["metadata"].get("target") in GITOPS
    return None if gitops else value["spec"].get("timeToLiveSeconds")


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _milliseconds(text: str | None) -> int | None:
    """A duration in milliseconds; a bare number is milliseconds, too, as in these properties of Spark."""
    return None if text is None else to_milliseconds(text, default_unit="ms")


def _history(value: Mapping[str, Any], spec: Mapping[str, Any]) -> Mapping[str, int] | None:
    """How many ended runs to keep; None if nothing removes ended runs.

    GitOps controllers are configured to keep the objects of a run, so something else has to remove them.
    """
    if not (spec.get("rbac") or {}).get("create", True):
        return None
    given: Mapping[str, int] = (spec.get("run") or {}).get("history") or {}
    once = value["kind"] == "SparkApplication" and (spec.get("restartPolicy") or {}).get("type") != "Always"
    if once and given:
        return given
    return DEFAULT_HISTORY if value["metadata"].get("target") in GITOPS else None


def _account(application: str, spec: Mapping[str, Any]) -> Account:
    """The service account; `driver.serviceAccount`, kubeflow's field, names an existing one."""
    own = spec.get("serviceAccount") or {}
    existing = (spec.get("driver") or {}).get("serviceAccount")
    return Account(
        name=existing or own.get("name") or application,
        create=bool(own.get("create", existing is None)),
        annotations=own.get("annotations") or {},
        rbac=bool((spec.get("rbac") or {}).get("create", True)),
    )
