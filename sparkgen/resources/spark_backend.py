"""The properties of a driver that creates its executors itself, by Spark's own Kubernetes backend.

The backend starts from the rendered template. It adds to each executor its name, owner, labels, command,
ports and variables, and sets the sizes and the image of these properties (BasicExecutorFeatureStep and the
other steps of org.apache.spark.deploy.k8s.features). So these properties repeat what the template has, and a
reviewer sees the pods as they will be.
"""

from __future__ import annotations

from collections.abc import Mapping

from sparkgen import contract
from sparkgen.model.application import Application, Executors
from sparkgen.model.build import executors_of
from sparkgen.model.delivery import PYTHON_FILES, image_modules
from sparkgen.properties.kubernetes_table import READ_BY_SPARKS_BACKEND
from sparkgen.resources.delivery import python_path
from sparkgen.runtime.allocator.driver.properties import parse

MASTER = "k8s://https://kubernetes.default.svc"
"""The address that Spark itself has for the API server in a driver's pod (KUBERNETES_DRIVER_MASTER_URL)."""
PROPERTIES: Mapping[str, str] = {
    "spark.master": MASTER,
    # As in a driver's pod that spark-submit has made: files are fetched into the working directory, and the
    # token is that of the pod (SparkSubmit, KubernetesClusterManager).
    "spark.kubernetes.submitInDriver": "true",
    "spark.kubernetes.executor.podTemplateFile": f"{contract.EXECUTOR_DIR}/{contract.EXECUTOR_TEMPLATE_FILE}",
    # The template mounts the run's configuration. Without the next four, Spark would need rights for
    # ConfigMaps, Services and claims.
    "spark.kubernetes.executor.disableConfigMap": "true",
    "spark.kubernetes.driver.service.deleteOnTermination": "false",
    "spark.kubernetes.driver.ownPersistentVolumeClaim": "false",
    "spark.kubernetes.driver.reusePersistentVolumeClaim": "false",
    "spark.executorEnv.SPARK_CONF_DIR": contract.CONF_DIR,
}
PASSED: tuple[str, ...] = (
    "spark.kubernetes.allocation.batch.size",
    "spark.kubernetes.allocation.batch.delay",
    "spark.kubernetes.allocation.maxPendingPods",
    "spark.kubernetes.allocation.executor.timeout",
    "spark.kubernetes.decommission.script",
    "spark.kubernetes.local.dirs.tmpfs",
    *READ_BY_SPARKS_BACKEND,
)
"""Properties of a document, or of its fields, that Spark's backend follows."""
RESOURCE_TYPES: Mapping[str, str] = {"Java": "java", "Scala": "java", "Python": "python", "R": "r"}
"""Language -> what Spark calls it: with `python`, executors get `spark.executor.pyspark.memory`."""
_ENV = "spark.executorEnv."


def spark_properties(application: Application) -> dict[str, str]:
    """The properties that Spark's backend needs, whatever the document says."""
    role, given = application.executor, application.properties
    found = {
        "spark.kubernetes.executor.container.image": role.image,
        "spark.kubernetes.container.image.pullPolicy": role.image_pull_policy,
        "spark.kubernetes.executor.request.cores": role.core_request,
        "spark.kubernetes.executor.limit.cores": role.core_limit,
        "spark.kubernetes.resource.type": RESOURCE_TYPES[application.language],
        "spark.jars": _jars(application),
        PYTHON_FILES: _python_files(given),
        **{name: given.get(name) for name in PASSED},
    }
    for spec in ((role.spec.get("template") or {}).get("spec") or {}, role.spec):
        if "terminationGracePeriodSeconds" in spec:  # since 4.1, Spark overwrites the template's
            seconds = spec["terminationGracePeriodSeconds"]
            found["spark.kubernetes.executor.terminationGracePeriodSeconds"] = f"{seconds}s"
    if not application.executors.dynamic:
        found["spark.executor.instances"] = str(application.executors.instances)
    return {**PROPERTIES, **{name: text for name, text in found.items() if text}}


def executors_in(files: Mapping[str, str]) -> Executors | None:
    """The executors that a run's `-conf` ConfigMap asks Spark for; None if the allocator creates them."""
    properties = parse(files.get(contract.SPARK_DEFAULTS_FILE, ""))
    return executors_of(properties) if properties.get("spark.master") == MASTER else None


def without_template_variables(application: Application, properties: Mapping[str, str]) -> dict[str, str]:
    """The properties without the variables that the template has: Spark's would come after them, and win."""
    typed = {item["name"] for item in application.executor.spec.get("env") or ()}
    if python_path(application, application.executor) is not None:
        typed.add(contract.ENV_PYTHON_PATH)
    return {name: text for name, text in properties.items() if name.removeprefix(_ENV) not in typed}


def _jars(application: Application) -> str:
    """The jars for executors: in a driver's pod, spark-submit expects the main jar among them."""
    main = application.main_file
    is_jar = application.language in ("Java", "Scala") and main not in (None, contract.SPARK_INTERNAL)
    return ",".join(filter(None, (application.properties.get("spark.jars"), main if is_jar else None)))


def _python_files(properties: Mapping[str, str]) -> str:
    """The Python files for spark-submit. It sends executors a file of the image only by the scheme `file`."""
    return ",".join(_as_file(entry) for entry in image_modules(properties).submitted if entry)


def _as_file(entry: str) -> str:
    is_module = entry.startswith("local:") and entry.endswith(".py")
    return f"file:{entry.removeprefix('local:')}" if is_module else entry
