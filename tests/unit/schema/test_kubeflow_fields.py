"""Fields of the spark-operator: each one is either a field here, or has a word about where it went."""

from __future__ import annotations

import pytest

from sparkgen.schema import fields
from sparkgen.schema.kubeflow_fields import ELSEWHERE, MISTAKES, ROLE, instead
from tests.unit.schema.documents import problems, with_spec

# The fields of kubeflow/spark-operator, api/v1beta2/sparkapplication_types.go (July 2026).
SPEC = """
    suspend type sparkVersion mode proxyUser image imagePullPolicy imagePullSecrets mainClass arguments
    mainApplicationFile sparkConf hadoopConf sparkConfigMap hadoopConfigMap volumes driver executor deps
    restartPolicy nodeSelector failureRetries retryInterval pythonVersion memoryOverheadFactor monitoring
    batchScheduler batchSchedulerOptions timeToLiveSeconds sparkUIOptions driverIngressOptions
    dynamicAllocation driverPodDisruptionBudget"""
POD = """
    template cores coreLimit memory memoryLimit memoryOverhead gpu image configMaps secrets env envVars
    envFrom envSecretKeyRefs labels annotations volumeMounts affinity tolerations podSecurityContext
    securityContext schedulerName sidecars initContainers hostNetwork nodeSelector dnsConfig
    terminationGracePeriodSeconds serviceAccount hostAliases shareProcessNamespace coreRequest javaOptions
    lifecycle ports priorityClassName"""
KUBEFLOW = {
    "spec": SPEC,
    "spec.driver": f"{POD} podName kubernetesMaster serviceAnnotations serviceLabels",
    "spec.executor": f"{POD} instances deleteOnTermination",
    "spec.deps": "jars files pyFiles packages excludePackages repositories archives",
    "spec.restartPolicy": """type onSubmissionFailureRetries onFailureRetries onSubmissionFailureRetryInterval
        onFailureRetryInterval""",
    "spec.monitoring": """exposeDriverMetrics exposeExecutorMetrics metricsProperties metricsPropertiesFile
        prometheus""",
    "spec.dynamicAllocation": """enabled initialExecutors minExecutors maxExecutors shuffleTrackingEnabled
        shuffleTrackingTimeout""",
    "spec.sparkUIOptions": """servicePort servicePortName serviceType serviceAnnotations serviceLabels
        ingressAnnotations ingressTLS""",
    "spec.driver.gpu": "name quantity",
}
CASES = [(place, name) for place, names in KUBEFLOW.items() for name in names.split()]


@pytest.mark.parametrize(("place", "name"), CASES, ids=[".".join(case) for case in CASES])
def test_every_field_of_kubeflow_is_known(place: str, name: str) -> None:
    """A field of kubeflow's has the same name here or a next step of its own, and never both."""
    path = tuple(place.split("."))
    parent = fields.document("SparkApplication").find(path)
    assert parent is not None
    same = parent.child(name) is not None
    known = instead(path, name)
    assert same == (known is None)
    assert known is None or known[0] == "SG016"


def test_scheduled_fields_of_kubeflow() -> None:
    """A ScheduledSparkApplication has all of kubeflow's fields."""
    spec = fields.document("ScheduledSparkApplication").find(("spec",))
    assert spec is not None
    names = {child.name for child in spec.children()}
    assert names >= {
        "schedule",
        "timeZone",
        "template",
        "suspend",
        "concurrencyPolicy",
        "successfulRunHistoryLimit",
        "failedRunHistoryLimit",
    }


def test_tables_name_no_field_of_ours() -> None:
    """No entry of the tables hides a field that exists."""
    document = fields.document("SparkApplication")
    for table in (ELSEWHERE, MISTAKES):
        for place, names in table.items():
            for role in ("driver", "executor"):
                path = tuple(place.replace(ROLE, f"spec.{role}", 1).split(".")) if place else ()
                parent = document.find(path)
                assert parent is not None, place
                # `instances` and its like are the executor's alone; the tables hold for both roles.
                assert not {child.name for child in parent.children()} & names.keys(), place


def test_next_steps_are_one_sentence() -> None:
    """Every next step starts in lower case and ends without a full stop, as all messages do."""
    for table in (ELSEWHERE, MISTAKES):
        for names in table.values():
            for step in names.values():
                assert step[0].islower()
                assert not step.endswith(".")


def test_advice_is_valid() -> None:
    """What the advice tells people to write is accepted."""
    text = with_spec(
        """
        podDisruptionBudget: {enabled: true}
        restartPolicy: {type: OnFailure, onFailureRetries: 2}
        sparkConf: {spark.ui.prometheus.enabled: "true", spark.metrics.conf: /etc/metrics.properties}
        driver:
          schedulerName: volcano
          env: [{name: HADOOP_PROXY_USER, value: etl}]
          template: {spec: {runtimeClassName: gvisor, dnsPolicy: Default, hostname: driver}}
        """
    )
    assert problems(text) == []
