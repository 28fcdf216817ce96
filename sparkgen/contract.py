"""How the containers of an application meet: names, ports, paths and file formats, in one place.

The generator writes manifests that follow this module; the runtime image (install, allocator) and the
scheduler jar follow it from the other side. Standard library only, because the allocator imports it.
The prose, with the reasons, is docs/design/contract.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

VERSION = 1
"""Major version of the contract. A side that reads another version refuses with a clear message."""

RUNTIME_IMAGE = f"runtime.sparkgen.invalid/sparkgen-runtime:{VERSION}"
"""Default of `spec.runtimeImage`: tagged with the contract's version, never with the tool's.

Nobody publishes an image yet, so the name is one that nobody can publish: hosts below `.invalid` never
resolve (RFC 2606). Under a name that somebody else could take, the allocator's credential would be theirs.
"""

PYTHON_IMAGE = (
    "docker.io/library/python:3.13-slim"
    "@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b"
)
"""Default of `spec.pythonImage`: what runs the runtime of a ConfigMap, and the base of the runtime image."""
RUNTIME_NAME = "sparkgen-runtime"
"""How the name of a ConfigMap with the runtime begins (Scala line and digest follow), and its component."""
RUNTIME_PROGRAM_FILE = "runtime.pyz"
"""The key of the zip application in that ConfigMap: the commands of the runtime image."""
RUNTIME_JAR_FILE = "scheduler.jar"
"""The key of the scheduler jar in that ConfigMap."""

# --- names ----------------------------------------------------------------------------------------

DRIVER_CONTAINER = "spark-kubernetes-driver"
"""The driver's Spark container: Spark's own name (Constants.DEFAULT_DRIVER_CONTAINER_NAME)."""
EXECUTOR_CONTAINER = "spark-kubernetes-executor"
"""The executor's Spark container: Spark's own name (Constants.DEFAULT_EXECUTOR_CONTAINER_NAME)."""
INSTALL_CONTAINER = "install"
FETCH_CONTAINER = "fetch"
"""It downloads the document's artifacts, before Spark's container starts."""
ALLOCATOR_CONTAINER = "allocator"
CONCURRENCY_CONTAINER = "concurrency"
"""It waits until no other driver of the application runs, before everything else (spec.concurrencyPolicy)."""
LOG_ARCHIVE_CONTAINER = "log-archive"
"""It copies what the other containers print to an archive (spec.logging.archive)."""
DRIVER_HELPERS = (CONCURRENCY_CONTAINER, INSTALL_CONTAINER, ALLOCATOR_CONTAINER)
"""The containers that any driver's pod may have beside its own, with the allocator's token or its volumes.

No document gives a container one of these names, also where the pod has no such container."""
TURN_SUFFIX = "-concurrency"
"""How the name of the ConfigMap ends that says whose turn it is; no Lease, because Argo CD applies none."""
ANNOTATION_HOLDER = "sparkgen.dev/holder"
"""On this ConfigMap: name and UID of the pod whose turn it is."""
ANNOTATION_TURNS = "sparkgen.dev/turns"
"""On this ConfigMap: how many pods have had their turn."""
ANNOTATION_NEWEST = "sparkgen.dev/newest-job"
"""On this ConfigMap, with `Replace`: time, UID and run of the newest Job that has had its turn."""
HISTORY = "history"
"""The component that removes ended runs: its label, its container, and the end of its objects' names."""
SESSION = "session"
"""The component of a session in client mode: on its Job, its ConfigMaps and its pod. It is no run of the
document."""
SHUFFLE_CONTAINER = "shuffle-service"
"""Spark's ExternalShuffleService: in the DaemonSet's pods, or beside each executor (mode `sidecar`)."""
HISTORY_SERVER_CONTAINER = "history-server"
"""Spark's HistoryServer: its container, and the component that its objects are."""
STAGING_SERVER = "staging-server"
"""A registry of a SparkStagingServer: the component that its objects are."""
REGISTRY_CONTAINER = "registry"
"""CNCF distribution, which serves a staging server's artifacts."""
REGISTRY_GC = "registry-gc"
"""What removes the artifacts of a staging server that nothing names: its container, and its command."""
SWEEP_CONTAINER = "sweep"
"""Of the same pod: it gives the room of what was removed back."""
PREPARE_CONTAINER = "prepare"
JANITOR_CONTAINER = "janitor"

VOLUME_PREFIX = "sparkgen-"
"""Every volume that sparkgen adds to a pod starts so; a document may not."""
LIB_VOLUME = f"{VOLUME_PREFIX}lib"
RUNTIME_VOLUME = f"{VOLUME_PREFIX}runtime"
"""The zip application, from the ConfigMap with the runtime."""
SESSION_VOLUME = f"{VOLUME_PREFIX}session"
CONF_VOLUME = f"{VOLUME_PREFIX}conf"
CONF_FILES_VOLUME = f"{VOLUME_PREFIX}conf-files"
"""In place of CONF_VOLUME in Spark's containers, where the document names files of other objects as well."""
HADOOP_VOLUME = f"{VOLUME_PREFIX}hadoop"
KERBEROS_VOLUME = f"{VOLUME_PREFIX}kerberos"
"""What the driver logs in with: a keytab, a ticket cache or tokens. No other container mounts it."""
KRB5_VOLUME = f"{VOLUME_PREFIX}krb5"
EXECUTOR_VOLUME = f"{VOLUME_PREFIX}executor"
TUNING_VOLUME = f"{VOLUME_PREFIX}tuning"
TOKEN_VOLUME = f"{VOLUME_PREFIX}token"
SCRATCH_VOLUME = f"{VOLUME_PREFIX}scratch"
EVENT_LOG_VOLUME = f"{VOLUME_PREFIX}event-log"
ARTIFACTS_VOLUME = f"{VOLUME_PREFIX}artifacts"
"""What `fetch` has unpacked."""
REGISTRY_VOLUME = f"{VOLUME_PREFIX}registry"
"""Credentials of the registry, for `fetch` alone; in a staging server's pod, the claim with what it keeps."""
REGISTRY_CA_VOLUME = f"{VOLUME_PREFIX}registry-ca"
ARTIFACT_VOLUME_PREFIX = f"{VOLUME_PREFIX}artifact-"
"""An artifact as an image volume; its name follows."""
REGISTRY_USERS_VOLUME = f"{VOLUME_PREFIX}users"
"""The passwords of one of a staging server's two sides."""
REGISTRY_TLS_VOLUME = f"{VOLUME_PREFIX}tls"
HOME_VOLUME = f"{VOLUME_PREFIX}home"
"""The home directory of a notebook: its claim, or an emptyDir."""
NOTEBOOK_VOLUME = f"{VOLUME_PREFIX}notebook"
"""The token of a notebook, from its Secret."""
LOGS_VOLUME = f"{VOLUME_PREFIX}logs"
"""What the containers of a pod have printed, until it is in the archive; each has a folder of its own."""
LOG_ARCHIVE_VOLUME = f"{VOLUME_PREFIX}log-archive"
"""The archive, if it is a claim."""
LOG_ARCHIVE_LOGIN_VOLUME = f"{VOLUME_PREFIX}log-archive-login"
"""The credentials of the archive's object store."""
LOG_ARCHIVE_SCRIPT_VOLUME = f"{VOLUME_PREFIX}log-archive-script"
SHUFFLE_VOLUME_PREFIX = f"{VOLUME_PREFIX}shuffle-"
"""A directory of the shuffle service on the node; its number follows."""

LOCAL_DIR_VOLUME_PREFIX = "spark-local-dir-"
"""A volume named so is a scratch directory of Spark (LocalDirsFeatureStep)."""

# --- paths ----------------------------------------------------------------------------------------

ROOT = "/opt/sparkgen"
"""Everything that sparkgen mounts lies below it; a document may mount nothing there."""
LIB_DIR = f"{ROOT}/lib"
RUNTIME_DIR = f"{ROOT}/runtime"
SESSION_DIR = f"{ROOT}/session"
CONF_DIR = f"{ROOT}/conf"
LOGS_DIR = f"{ROOT}/logs"
LOG_ARCHIVE_DIR = f"{ROOT}/log-archive"
LOG_ARCHIVE_LOGIN_DIR = f"{ROOT}/log-archive-login"
LOG_ARCHIVE_SCRIPT_DIR = f"{ROOT}/log-archive-script"
HADOOP_DIR = f"{ROOT}/hadoop"
KERBEROS_DIR = f"{ROOT}/kerberos"
KRB5_PATH = "/etc/krb5.conf"
"""Where Java, Hadoop's commands and MIT's programs look for it without being told."""
KRB5_FILE = "krb5.conf"
"""Its key in the document's ConfigMap, as with spark.kubernetes.kerberos.krb5.configMapName."""
EXECUTOR_DIR = f"{ROOT}/executor"
TUNING_DIR = f"{ROOT}/tuning"
ARTIFACTS_DIR = f"{ROOT}/artifacts"
"""A folder per artifact, at the same path in driver and executors."""
ARTIFACTS_CACHE_DIR = f"{ROOT}/artifacts-cache"
"""Of `fetch` alone: the volume that pods of a node share."""
REGISTRY_DIR = f"{ROOT}/registry"
"""Of `fetch` alone: credentials of the registry, in `REGISTRY_FILE`."""
REGISTRY_FILE = "config.json"
"""As docker has it."""
REGISTRY_CA_DIR = f"{ROOT}/registry-ca"
"""Of `fetch` alone: whom it trusts to be the registry, in `REGISTRY_CA_FILE`."""
REGISTRY_CA_FILE = "ca.crt"
"""Certificates as PEM."""
REGISTRY_DATA_DIR = "/var/lib/registry"
"""Of a staging server: where its claim is."""
REGISTRY_USERS_DIR = f"{ROOT}/users"
"""Of a staging server: its passwords, in the file `htpasswd`."""
REGISTRY_TLS_DIR = f"{ROOT}/tls"
"""Of a staging server: its certificate, as a Secret of kubernetes.io/tls has it."""
NOTEBOOK_DIR = f"{ROOT}/notebook"
HOME_DIR = "/home/spark"
"""Where a notebook's people have their files."""
SCRATCH_DIR = "/var/data/spark"
TOKEN_DIR = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a path, where clients look

SCHEDULER_JAR = f"{LIB_DIR}/scheduler.jar"
"""What `install` puts there, or the ConfigMap with the runtime: the jar of the application's Scala line."""
RUNTIME_COMMAND = ("python3", "-I", f"{RUNTIME_DIR}/{RUNTIME_PROGRAM_FILE}")
"""The command of containers that run the runtime of a ConfigMap; `-I` as in the runtime image."""
RUNTIME_JARS = "/opt/sparkgen-runtime/jars"
"""Where the runtime image has the jars of all Scala lines."""
RUNTIME_JAR_PREFIX = "sparkgen-scheduler_"
"""How the name of each begins; the Scala line follows."""
SESSION_PROPERTIES = f"{SESSION_DIR}/spark.properties"
"""What the allocator writes before its startup probe answers: the rendered properties, plus the
application id, the pod's address, the executor bounds and the RPC secret. In memory only."""
SESSION_LAUNCH_PROPERTIES = f"{SESSION_DIR}/launch.properties"
"""The properties with which the driver's JVM starts, for `DRIVER_SUBMIT`: those of `spark.driver.`, which
Spark's launcher reads, and the name of the file with all properties."""
ATTEMPT_FILE = f"{SESSION_DIR}/attempt"
"""The number of this pod's turn, from the application's ConfigMap: what started later has a greater one."""
ATTEMPT_PROPERTY = "spark.sparkgen.attempt"
"""The same number, for the program."""
PROPERTIES_FILE_PROPERTY = "spark.sparkgen.propertiesFile"
"""In the launch properties: the path of `SESSION_PROPERTIES`."""
DRIVER_PORT_PROPERTY = "spark.sparkgen.driver.port"
"""The port that executors connect to, for a driver on a machine with other users: it refuses any other."""
DRIVER_SUBMIT = "org.apache.spark.deploy.sparkgen.DriverSubmit"
"""The class of the scheduler jar that submits the application as Spark's own Kubernetes backend would."""
SPARK_INTERNAL = "spark-internal"
"""What spark-submit takes for the file of a class that is on the class path already
(SparkLauncher.NO_RESOURCE)."""
DRIVER_ARGUMENTS = (
    *("driver", "--properties-file", SESSION_LAUNCH_PROPERTIES),
    *("--class", DRIVER_SUBMIT, SPARK_INTERNAL),
)
"""How the stock entrypoint's `driver` starts `DRIVER_SUBMIT`; spark-submit's options for the application
follow."""
DRIVER_ARGUMENTS_OF_SPARK = (
    *("driver", "--conf", "spark.kubernetes.driver.pod.name=$(SPARKGEN_POD_NAME)"),
    *("--conf", "spark.kubernetes.namespace=$(SPARKGEN_POD_NAMESPACE)"),
)
"""How it starts the application itself with `allocator: spark`: what is known only when the pod runs.
The other properties are in the folder `SPARK_CONF_DIR`."""
LOGGED_SCRIPT_FILE = "logged.sh"
"""What Spark's containers start with where their logs are archived."""
LOGGED_ARGUMENTS = ("bash", f"{CONF_DIR}/{LOGGED_SCRIPT_FILE}")
"""How: the arguments that they have otherwise follow."""

# --- files in the ConfigMaps of a run -------------------------------------------------------------

SPARK_DEFAULTS_FILE = "spark-defaults.conf"
LOG4J2_FILE = "log4j2.properties"
METRICS_FILE = "metrics.properties"
EXECUTOR_SCRIPT_FILE = "executor.sh"
SHUFFLE_SCRIPT_FILE = "shuffle.sh"
"""What executors start with where a shuffle service of their node serves their files; it ends in
executor.sh, in which `HOSTNAME_OPTION` is `SHUFFLE_HOSTNAME_OPTION` then."""
NOTEBOOK_SCRIPT_FILE = "notebook.sh"
"""What a notebook's container starts with: JupyterLab, with what the pod knows."""
LOG_ARCHIVE_SCRIPT_FILE = "archive.sh"
"""What the container that archives logs runs."""
LOG_ARCHIVE_LOGIN_FILE = "credentials"
"""The key of the archive's Secret: a credentials file as AWS' programs read it."""
REGISTRY_PULL_FILE = "pull.json"
REGISTRY_PUSH_FILE = "push.json"
REGISTRY_GC_FILE = "gc.json"
"""Configurations of the registry: of the side for pods, of the side for pushes, and of garbage collection."""
REGISTRY_PUSH_SCRIPT_FILE = "push.sh"
REGISTRY_GC_SCRIPT_FILE = "gc.sh"
"""What starts the registry where several write to one claim: by a lock, nobody writes while one collects."""
HOSTNAME_OPTION = '--hostname "$(url_host "$SPARK_EXECUTOR_POD_IP")"'
SHUFFLE_HOSTNAME_OPTION = '--hostname "$(url_host "$SPARKGEN_EXECUTOR_HOST")"'
EXECUTOR_TEMPLATE_FILE = "executor.json"
"""A PodTemplate for the allocator, or a Pod for Spark's own backend, which reads no other kind."""
TUNING_FILE = "tuning.json"
HADOOP_FILE = "core-site.xml"

# --- ports of the driver's pod --------------------------------------------------------------------

UI_PORT = 4040
DRIVER_PORT = 7078
"""Spark's default for drivers in pods (Constants.DEFAULT_DRIVER_PORT)."""
BLOCK_MANAGER_PORT = 7079
"""Spark's default for block managers in pods (Constants.DEFAULT_BLOCKMANAGER_PORT)."""
SCHEDULER_PORT = 7090
"""The allocator's loopback listener for the scheduler jar: `spark.master` points at it."""
ALLOCATOR_PORT = 7091
"""The allocator's listener on the pod's address: readiness, health, metrics, executors' start answer."""

CONNECT_PORT = 15002
"""Spark's default for Connect servers (spark.connect.grpc.binding.port), in the driver's container."""
CONNECT_PORT_NAME = "connect"
"""Of a Connect server's port, in its pod and in its Service."""

NOTEBOOK_PORT_NAME = "notebook"
"""Of JupyterLab's port, in its pod and in its Service."""
NOTEBOOK_PORT = 8888
"""Jupyter's default (ServerApp.port), in the driver's container."""
NOTEBOOK_PATH = "/api"
"""Of a notebook: Jupyter answers it to everybody, and says its version alone (APIVersionHandler)."""

HISTORY_PORT = 18080
"""Spark's default for history servers (spark.history.ui.port)."""
REGISTRY_PORT = 5000
"""Distribution's own default; of both sides of a staging server."""
SHUFFLE_PORT = 7337
"""Spark's default for shuffle services (spark.shuffle.service.port)."""
JANITOR_PORT = 7338
"""The janitor's listener on its pod's address: readiness, health, metrics, status."""
BLOCK_MANAGER_PORT_NAME = "blockmanager"
"""The port of the executor's container that gets a host port of its own beside a shuffle service."""

READY_PATH = "/readyz"
HEALTH_PATH = "/healthz"
STATUS_PATH = "/status"
"""For people: every set of executors, the last decisions and errors, as JSON."""
METRICS_PATH = "/metrics"
CONNECT_PATH = "/connect"
"""Of a Connect server's allocator: 200 when `CONNECT_PORT` answers as gRPC does, else 503."""
START_PATH = "/v1/executors"
"""An executor asks `GET <START_PATH>/<id>/start`: 200 go, 202 wait, 410 leave."""

SESSION_DRIVER_PATH = "/v1/session/driver"
"""Where the driver of a session in client mode listens: told once, before it starts; on loopback."""
SESSION_ALIVE_PATH = "/v1/session/alive"
"""The command that has begun a session in client mode says that it is there; on loopback."""
SESSION_JAR_PATH = "/v1/session/jar"
"""The scheduler jar for the driver of a session in client mode, by `?scala=<line>`; on loopback."""

# --- environment ----------------------------------------------------------------------------------

ENV_CONTRACT = "SPARKGEN_CONTRACT"
ENV_ARTIFACTS = "SPARKGEN_ARTIFACTS"
"""For `fetch`: a JSON list of name, reference, digest, size and unpackedSize."""
ENV_ARTIFACTS_INSECURE = "SPARKGEN_ARTIFACTS_INSECURE"
"""For `fetch`: `true` where the registry speaks plain HTTP."""
ENV_CONCURRENCY_POLICY = "SPARKGEN_CONCURRENCY_POLICY"
"""For `concurrency`: `Forbid` or `Replace`."""
ENV_LOG_FOLDER = "SPARKGEN_LOG_FOLDER"
"""For the allocator: a folder for files with what it prints."""
ENV_LOG_ARCHIVE = "SPARKGEN_LOG_ARCHIVE"
"""For `log-archive`: where rclone keeps the logs of an application, by run and pod."""
ENV_LOG_ARCHIVE_SECONDS = "SPARKGEN_LOG_ARCHIVE_SECONDS"
ENV_LOG_ARCHIVE_KIB = "SPARKGEN_LOG_ARCHIVE_KIB"
ENV_LOG_MAX_AGE = "SPARKGEN_LOG_MAX_AGE"
"""For `log-archive`: how often it copies, how much waits for it, and how old a log may be (`2592000s`)."""
ENV_CHECK_EXPIRY = "SPARKGEN_CHECK_EXPIRY"
"""For the allocator: `true` where no `install` has looked whether the run has expired."""
ENV_PYTHON_PATH = "PYTHONPATH"
"""Python's own: directories in which it looks for modules."""
ENV_APPLICATION = "SPARKGEN_APPLICATION"
ENV_RUN = "SPARKGEN_RUN"
ENV_SCALA_VERSION = "SPARKGEN_SCALA_VERSION"
ENV_POD_NAME = "SPARKGEN_POD_NAME"
ENV_POD_NAMESPACE = "SPARKGEN_POD_NAMESPACE"
ENV_POD_UID = "SPARKGEN_POD_UID"
ENV_POD_IP = "SPARKGEN_POD_IP"
ENV_CONNECT_PORT = "SPARKGEN_CONNECT_PORT"
"""For the allocator of a Connect server: the port at which the driver serves gRPC."""
ENV_CONNECT_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 - a name; the value comes from a Secret
"""Spark's own: what clients of a Connect server have to show."""
ENV_SESSIONS = "SPARKGEN_SESSIONS"
"""For the allocator: drivers come and go at it, one after the other; how, say the two values."""
SESSIONS_CLIENT = "client"
"""The driver is outside of the allocator's pod, which has no other container."""
SESSIONS_NOTEBOOK = "notebook"
"""The drivers are kernels in the main container of the allocator's pod."""
ENV_SESSION_TOKEN_HASH = "SPARKGEN_SESSION_TOKEN_SHA256"  # noqa: S105 - a name
"""For the allocator of a session in client mode: SHA-256, in hex, of the token that its command keeps."""
ENV_NOTEBOOK_TOKEN = "SPARKGEN_NOTEBOOK_TOKEN"  # noqa: S105 - a name; the value is a path
"""For notebook.sh: the file with the token that people have to show."""
ENV_NOTEBOOK_PORT = "SPARKGEN_NOTEBOOK_PORT"
ENV_NOTEBOOK_ADDRESS = "SPARKGEN_NOTEBOOK_ADDRESS"
"""For notebook.sh: where Jupyter listens; without the variable at every address of the pod."""
ENV_NOTEBOOK_FOLDER = "SPARKGEN_NOTEBOOK_FOLDER"
"""For notebook.sh: what JupyterLab shows; without the variable the home directory."""
ENV_KERNEL_IDLE_SECONDS = "SPARKGEN_KERNEL_IDLE_SECONDS"
"""For notebook.sh: after how long without work a kernel ends; without the variable none does."""
ENV_HOME = "HOME"
ENV_JOB_NAME = "SPARKGEN_JOB_NAME"
ENV_WORKLOAD = "SPARKGEN_WORKLOAD"
"""For `history`: the kind of the driver's object, Job, CronJob or Deployment."""
ENV_KEEP_SUCCEEDED = "SPARKGEN_KEEP_SUCCEEDED"
ENV_KEEP_FAILED = "SPARKGEN_KEEP_FAILED"
"""For `history`: how many ended runs stay; without the variable all do."""

ENV_POD_GROUPS = "SPARKGEN_POD_GROUPS"
"""For `history`: `true` where runs have a PodGroup of Volcano's, which goes with their files."""

ENV_EXECUTOR_ID = "SPARK_EXECUTOR_ID"
ENV_DRIVER_URL = "SPARK_DRIVER_URL"
ENV_APPLICATION_ID = "SPARK_APPLICATION_ID"
ENV_RESOURCE_PROFILE_ID = "SPARK_RESOURCE_PROFILE_ID"
ENV_AUTH_SECRET = "_SPARK_AUTH_SECRET"  # noqa: S105 - a name; the value comes from a Secret
ENV_START_URL = "SPARKGEN_START_URL"
ENV_BLOCK_MANAGER_PORT = "SPARKGEN_BLOCK_MANAGER_PORT"
"""With a shuffle service on the node: the executor's own host port."""
ENV_SHUFFLE_FOLDER = "SPARKGEN_SHUFFLE_FOLDER"
"""With a shuffle service on the node: `<namespace>_<driver pod's UID>`, the application's sub-directory in
each directory of the service. The allocator replaces `$(SPARKGEN_SHUFFLE_FOLDER)` in the mounts, too."""
ADDED_BY_ALLOCATOR = (
    ENV_EXECUTOR_ID,
    ENV_DRIVER_URL,
    ENV_APPLICATION_ID,
    ENV_RESOURCE_PROFILE_ID,
    ENV_AUTH_SECRET,
    ENV_START_URL,
    ENV_BLOCK_MANAGER_PORT,
    ENV_SHUFFLE_FOLDER,
)
"""What the rendered executor template leaves to the allocator, per executor."""

ENV_EXECUTOR_CORES = "SPARK_EXECUTOR_CORES"
ENV_EXECUTOR_MEMORY = "SPARK_EXECUTOR_MEMORY"
ENV_EXECUTOR_POD_IP = "SPARK_EXECUTOR_POD_IP"
ENV_EXECUTOR_POD_NAME = "SPARK_EXECUTOR_POD_NAME"
ENV_JAVA_OPT_PREFIX = "SPARK_JAVA_OPT_"
ENV_EXECUTOR_JAVA_OPTIONS = "SPARKGEN_EXECUTOR_JAVA_OPTIONS"
ENV_CLASSPATH = "SPARK_CLASSPATH"
ENV_LIBRARY_PATH = "SPARK_EXECUTOR_LIBRARY_PATH"
"""Spark's own since 4.3 (Constants.ENV_EXECUTOR_LIBRARY_PATH): what stands first in LD_LIBRARY_PATH."""
ENV_ATTRIBUTE_APP_ID = "SPARK_EXECUTOR_ATTRIBUTE_APP_ID"
ENV_ATTRIBUTE_EXECUTOR_ID = "SPARK_EXECUTOR_ATTRIBUTE_EXECUTOR_ID"
"""Spark's own: what `{{APP_ID}}` and `{{EXECUTOR_ID}}` of spark.ui.custom.executor.log.url become."""
ENV_ATTRIBUTE_POD_NAME = "SPARK_EXECUTOR_ATTRIBUTE_POD_NAME"
ENV_ATTRIBUTE_RUN = "SPARK_EXECUTOR_ATTRIBUTE_RUN"
"""With a log archive, `{{POD_NAME}}` and `{{RUN}}` as well: the names of the folders in it."""
ENV_PYTHON_FILES = "SPARKGEN_PYTHON_FILES"
"""For executor.sh: Python files of the image, with colons, that it copies to where Spark puts such files."""
ENV_CLASS_ARCHIVE = "SPARKGEN_CLASS_ARCHIVE"
"""Set by an image that has an archive of Spark's classes: its file. `<file>.classpath` is beside it."""
ENV_BIND_ADDRESS = "SPARK_DRIVER_BIND_ADDRESS"
ENV_EXECUTOR_HOST = "SPARKGEN_EXECUTOR_HOST"
"""The node's address, by which executors are known that a shuffle service of their node works for."""
ENV_SHUFFLE_PORT = "SPARKGEN_SHUFFLE_PORT"
ENV_SERVICE_SECRET = "SPARKGEN_AUTH_SECRET"  # noqa: S105 - a name; the value comes from a Secret
"""For the allocator: the shuffle service's secret, which then is the application's RPC secret, too."""
ENV_LOCAL_DIRS = "SPARK_LOCAL_DIRS"
ENV_LOCAL_HOSTNAME = "SPARK_LOCAL_HOSTNAME"
"""Spark's own: the address by which executors know the driver. Spark adds the brackets of IPv6 to it."""
ENV_LOCAL_IP = "SPARK_LOCAL_IP"
"""Spark's own address. Without it Spark looks up the machine's name (Utils.findLocalInetAddress), which in a
node's network is the node's, and no name server may know that."""
ENV_SPARK_CONF_DIR = "SPARK_CONF_DIR"
ENV_SPARK_USER = "SPARK_USER"
"""The user in whose name an executor speaks to Hadoop's services (SparkHadoopUtil.runAsSparkUser)."""
ENV_HADOOP_PROXY_USER = "HADOOP_PROXY_USER"
ENV_HADOOP_CONF_DIR = "HADOOP_CONF_DIR"
ENV_KRB5_PRINCIPAL = "KRB5PRINCIPAL"
ENV_KRB5_KEYTAB = "KRB5KEYTAB"
ENV_KRB5_CACHE = "KRB5CCNAME"
ENV_HADOOP_TOKENS = "HADOOP_TOKEN_FILE_LOCATION"
"""What Hadoop's UserGroupInformation logs in with before any program asks."""

ENV_NODE_NAME = "SPARKGEN_NODE_NAME"
ENV_JANITOR_DIRECTORIES = "SPARKGEN_JANITOR_DIRECTORIES"
ENV_JANITOR_INTERVAL = "SPARKGEN_JANITOR_INTERVAL_SECONDS"
ENV_JANITOR_GRACE = "SPARKGEN_JANITOR_GRACE_SECONDS"
ENV_JANITOR_UNKNOWN = "SPARKGEN_JANITOR_UNKNOWN_SECONDS"
ENV_JANITOR_PRESSURE = "SPARKGEN_JANITOR_PRESSURE_PERCENT"
ENV_JANITOR_DRY_RUN = "SPARKGEN_JANITOR_DRY_RUN"
ENV_JANITOR_PORT = "SPARKGEN_JANITOR_PORT"

ENV_GC_NAMESPACES = "SPARKGEN_GC_NAMESPACES"
"""For `registry-gc`: the namespaces whose objects name artifacts, with commas."""
ENV_GC_GRACE = "SPARKGEN_GC_GRACE_SECONDS"
ENV_GC_DRY_RUN = "SPARKGEN_GC_DRY_RUN"
ENV_REGISTRY_SECRET = "REGISTRY_HTTP_SECRET"  # noqa: S105 - a name; the value comes from a Secret
"""Distribution's own: what the state of an upload is signed with, so that any replica can go on with it."""
ENV_S3_ACCESS_KEY = "REGISTRY_STORAGE_S3_ACCESSKEY"
ENV_S3_SECRET_KEY = "REGISTRY_STORAGE_S3_SECRETKEY"  # noqa: S105 - a name; the value comes from a Secret
STAGING_PULL_KEY = "pull"
STAGING_PUSH_KEY = "push"
STAGING_UPLOADS_KEY = "uploads"
"""Keys of a staging server's Secret: the passwords of its two sides, and what uploads are signed with."""

SECRET_KEY = "secret"  # noqa: S105 - the name of a key
"""The key of the RPC secret in the attempt's Secret."""

# --- labels ---------------------------------------------------------------------------------------

OWN_PREFIX = "sparkgen.dev/"
"""How sparkgen's own labels and annotations begin, which no document sets."""
LABEL_APPLICATION = "sparkgen.dev/application"
LABEL_RUN = "sparkgen.dev/run"
LABEL_ROLE = "spark-role"
"""Spark's own label (Constants.SPARK_ROLE_LABEL): `driver` or `executor`."""
LABEL_APP_ID = "spark-app-selector"
"""Spark's own label (Constants.SPARK_APP_ID_LABEL); set by the allocator on executors."""
LABEL_APP_NAME = "spark-app-name"
"""Spark's own label (Constants.SPARK_APP_NAME_LABEL): `spark.app.name` as a label's value."""
LABEL_SPARK_VERSION = "spark-version"
"""Spark's own label (Constants.SPARK_VERSION_LABEL)."""
LABEL_EXECUTOR_ID = "spark-exec-id"
LABEL_PROFILE_ID = "spark-exec-resourceprofile-id"
"""Spark's own label (Constants.SPARK_RESOURCE_PROFILE_ID_LABEL); set by the allocator on executors."""
LABEL_ATTEMPT = "sparkgen.dev/attempt"
"""Set by the allocator on executors: it selects those of one driver pod, whatever their application id."""
LABEL_HISTORY_SERVER = "sparkgen.dev/history-server"
"""On the pod of a history server: its name. Its Service leads there."""
LABEL_SHUFFLE_SERVICE = "sparkgen.dev/shuffle-service"
"""On the pods of a shuffle service: its name. Executors are scheduled where such a pod is."""
LABEL_STAGING_SERVER = "sparkgen.dev/staging-server"
"""On the pods of a staging server: its name."""
LABEL_STAGING_SIDE = "sparkgen.dev/staging-side"
"""On the same: `pull`, `push` or `gc`. The Services select by it."""
ANNOTATION_BLOCK_MANAGER_PORTS = "sparkgen.dev/block-manager-ports"
"""On the executor's template: the range of host ports for block managers, as in `23000-23999`."""
ANNOTATION_ARTIFACTS = "sparkgen.dev/artifacts"
"""The references of the artifacts of a session's executors: a staging server keeps what an object names."""
ANNOTATION_HINDRANCE = "sparkgen.dev/hindrance"
"""On the allocator's Events: code, message and detail (`codes.Hindrance`) as JSON, for programs."""
LABEL_QUEUE = "kueue.x-k8s.io/queue-name"
"""Kueue's: the LocalQueue in which a Job, or an executor, waits."""
LABEL_QUEUE_PRIORITY = "kueue.x-k8s.io/priority-class"
"""Kueue's: the WorkloadPriorityClass."""
LABEL_QUEUE_MANAGED = "kueue.x-k8s.io/managed"
ANNOTATION_QUEUE_PARENT = "kueue.x-k8s.io/pod-suspending-parent"
"""Kueue's: whoever made the pod lets it wait. With the queue's label, and `managed`, it is a workload."""
ANNOTATION_POD_GROUP = "scheduling.k8s.io/group-name"
"""Volcano's: the PodGroup that a pod belongs to. It is named after the run."""
POD_GROUPS_OF_VOLCANO = "scheduling.volcano.sh/v1beta1"
"""Group and version of that PodGroup."""
POD_GROUP_VERSIONS = ("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha2")
"""Groups and versions of Kubernetes' own PodGroup, the newest first: of Kubernetes 1.37, and of 1.36."""
LABEL_YUNIKORN_APPLICATION = "yunikorn.apache.org/app-id"
"""YuniKorn's: pods with one id are one application. It is the run."""
LABEL_YUNIKORN_QUEUE = "yunikorn.apache.org/queue"
ANNOTATION_TASK_GROUP = "yunikorn.apache.org/task-group-name"
ANNOTATION_TASK_GROUPS = "yunikorn.apache.org/task-groups"
"""YuniKorn's, on the driver: how many pods of which size it holds places for."""
NAMED_AFTER_RUN = (ANNOTATION_POD_GROUP, LABEL_YUNIKORN_APPLICATION)
"""Labels and annotations of pods whose text is the run's name."""
ANNOTATION_GANG = "sparkgen.dev/gang"
"""On the executor's template: how many executors Kubernetes' scheduler places together or not at all."""
ANNOTATION_POOLS = "sparkgen.dev/pools"
"""On the executor's template: the pools of nodes for executors, as JSON."""
LABEL_POOL = "sparkgen.dev/pool"
"""On an executor of a document with pools: the name of its pool."""
ANNOTATION_ADDED_MEMORY = "sparkgen.dev/added-memory"
"""On an executor that got more memory than its profile says: how much more, as in `512Mi`."""
LABEL_MANAGED_BY = "app.kubernetes.io/managed-by"
LABEL_NAME = "app.kubernetes.io/name"
LABEL_COMPONENT = "app.kubernetes.io/component"

NO_SHUFFLE_SERVICE = 80
"""Exit code of an executor on a node whose shuffle service does not answer; none of Spark's."""

ARTIFACT_MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
ARTIFACT_LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
"""What `sparkgen push` puts into a registry, and the only kind that `fetch` unpacks.
Uncompressed: what gzip makes of the same bytes differs between versions of zlib."""

BAD_ARTIFACT = 81
"""Exit code of `fetch` where a second try would end the same way; none of Spark's."""

NEVER_ON_EXECUTORS = (
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
    "batch.kubernetes.io/",
    "job-name",
    "controller-uid",
    "pod-template-hash",
    "kueue.x-k8s.io/",
)
"""Keys of labels and annotations (or prefixes ending in `/`) that a controller reads as "this pod is mine".

Of Kueue's, an annotation alone is the worst: a pod with `pod-suspending-parent` and no queue's label gets its
scheduling gates, and nothing that would ever take them away. An executor has all of `QUEUE_MARKS`, or none.
"""
QUEUE_MARKS = (LABEL_QUEUE, LABEL_QUEUE_MANAGED, ANNOTATION_QUEUE_PARENT)
"""What makes an executor a workload of its own in a queue of Kueue's, when its owner does not control it."""
QUEUE_TOPOLOGY = (
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-unconstrained-topology",
)
"""Annotations of pods for which Kueue chooses nodes: a document's, for who waits in a queue only."""
QUEUE_KEYS = (*QUEUE_MARKS, LABEL_QUEUE_PRIORITY, *QUEUE_TOPOLOGY)
"""What an executor in a queue has of Kueue's labels and annotations."""


def executor_template(file: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pod template of executors in the content of `EXECUTOR_TEMPLATE_FILE`."""
    template: Mapping[str, Any] = file if file.get("kind") == "Pod" else file["template"]
    return template


def mounted_scheduler_jar(scala_version: str) -> str:
    """The jar of a Scala line where the runtime image itself is mounted in place of what `install` fills."""
    return f"{LIB_DIR}{RUNTIME_JARS}/{RUNTIME_JAR_PREFIX}{scala_version}.jar"


def plain_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments of a Spark container as they would be without a log archive."""
    given, begin = tuple(arguments), LOGGED_ARGUMENTS
    return given[len(begin) :] if given[: len(begin)] == begin else given


def is_session(item: Mapping[str, Any]) -> bool:
    """Say whether a Job, or a pod, is of a session in client mode, which is no run of its document.

    A Job's own labels may be the document's (`metadata.labels`); sparkgen alone says what its pods have.
    """
    pod = (item.get("spec") or {}).get("template") or item
    labels = (pod.get("metadata") or {}).get("labels") or {}
    return bool(labels.get(LABEL_COMPONENT) == SESSION)


def belongs_on_executor(key: str) -> bool:
    """Say whether a label or an annotation of the document may be copied to an executor pod."""
    return key in QUEUE_TOPOLOGY or not any(
        key == banned or (banned.endswith("/") and key.startswith(banned)) for banned in NEVER_ON_EXECUTORS
    )
