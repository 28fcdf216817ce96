"""An application as values: with every default and unit resolved, and nothing about Kubernetes objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sparkgen.model.batch import BatchScheduler
from sparkgen.model.delivery import Delivery
from sparkgen.model.kerberos import Kerberos
from sparkgen.model.notebook import Notebook
from sparkgen.model.runtime import Runtime

RoleName = Literal["driver", "executor"]
Target = Literal["kubectl", "argocd", "flux"]
Allocator = Literal["sparkgen", "spark"]

DEFAULT_NAMESPACE = "default"
"""The namespace of documents that name none, as with kubectl and an unchanged kubeconfig."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What documents of all kinds have in common."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    target: Target
    image_pull_policy: str | None
    network_policy: Mapping[str, Any] | None
    log_level: str
    loggers: Mapping[str, str]


def common_fields(
    metadata: Mapping[str, Any], spec: Mapping[str, Any], namespace: str | None
) -> dict[str, Any]:
    """The fields of `Described`; `namespace` is the caller's choice for documents without a namespace."""
    logging = spec.get("logging") or {}
    return {
        "name": metadata["name"],
        "namespace": metadata.get("namespace") or namespace or DEFAULT_NAMESPACE,
        "labels": metadata.get("labels") or {},
        "annotations": metadata.get("annotations") or {},
        "target": metadata.get("target") or "kubectl",
        "image_pull_policy": spec.get("imagePullPolicy"),
        "network_policy": if_enabled(spec.get("networkPolicy")),
        "log_level": logging.get("level", "INFO"),
        "loggers": logging.get("loggers") or {},
    }


def if_enabled(section: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A section of a document, which is on unless it says otherwise; None if it is off."""
    return section if section is not None and section.get("enabled", True) else None


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one Spark process in MiB, in Spark's own parts."""

    heap: int
    overhead: int
    off_heap: int = 0
    pyspark: int = 0

    @property
    def total(self) -> int:
        """The container's memory in MiB, for request and limit."""
        return self.heap + self.overhead + self.off_heap + self.pyspark


@dataclass(frozen=True, slots=True)
class Role:
    """The driver or the executors: sizes are resolved, other fields are as the document has them."""

    name: RoleName
    image: str
    image_pull_policy: str | None
    cores: int
    core_request: str
    core_limit: str | None
    memory: Memory
    java_options: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Executors:
    """The number of executors: fixed (`instances`), or bounds between which Spark decides."""

    dynamic: bool
    instances: int
    minimum: int
    initial: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class Account:
    """The service account of driver and executors, and whether its permissions are rendered (`rbac`)."""

    name: str
    create: bool
    annotations: Mapping[str, str]
    rbac: bool


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The shuffle service of an application. `heap` and `memory` (MiB) are those of the sidecar."""

    mode: Literal["daemonset", "sidecar"]
    name: str
    namespace: str
    port: int
    directories: tuple[str, ...]
    secret_name: str | None
    host_ports: str
    host_network: bool
    heap: int
    memory: int
    resources: Mapping[str, Any]

    @property
    def on_node(self) -> bool:
        """Whether all executors of a node share the service."""
        return self.mode == "daemonset"


@dataclass(frozen=True, slots=True)
class LogClaim:
    """A claim for event logs, and the path at which pods mount it."""

    name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogArchive:
    """Where the logs of an application are archived, and how.

    `root`: what rclone calls the place; `kib`: how much of a pod may wait to be copied.
    """

    root: str
    claim: str | None
    endpoint: str | None
    region: str | None
    secret_name: str | None
    image: str
    interval_seconds: int
    kib: int
    max_age_seconds: int | None
    resources: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A file in a key of a ConfigMap or Secret of the namespace; `file` is its name for Spark."""

    file: str
    kind: Literal["configMap", "secret"]
    name: str
    key: str


@dataclass(frozen=True, slots=True)
class ConfFiles:
    """Files that the document adds to Spark's configuration folder: texts by name, keys of other objects."""

    texts: Mapping[str, str]
    keys: tuple[KeyFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Application(Described):
    """The values of a document, ready to render."""

    language: Literal["Java", "Scala", "Python", "R"]
    spark_version: str
    scala_version: str
    runtime: Runtime
    allocator: Allocator
    """What creates the executors: the allocator, or Spark's own Kubernetes backend in the driver."""
    image_pull_secrets: tuple[str, ...]
    main_class: str | None
    main_file: str | None
    arguments: tuple[str, ...]
    proxy_user: str | None
    properties: Mapping[str, str]
    hadoop: Mapping[str, str]
    """The properties in the rendered core-site.xml; empty if no such file is rendered."""
    hadoop_config_map: str | None
    """The document's ConfigMap with Hadoop's files, which replaces the rendered one."""
    kerberos: Kerberos | None
    conf_files: ConfFiles
    volumes: tuple[Mapping[str, Any], ...]
    delivery: Delivery | None
    """How pods get the document's pushed files; None if pods get no files from it."""
    staging: Mapping[str, str] | None
    """Name and namespace of the staging server whose garbage collection may read this namespace."""
    driver: Role
    executor: Role
    executors: Executors
    tuning: Mapping[str, Any]
    """The allocator's settings that the document sets, by their names in the tuning file."""
    on_mismatch: str
    allocator_resources: Mapping[str, Any] | None
    restart: str
    retries: int
    deadline_seconds: int | None
    ttl_seconds: int | None
    suspend: bool
    concurrency_policy: str | None
    """What happens while another run is active; None if both run.

    For a scheduled application, `schedule` has the CronJob's.
    """
    batch: BatchScheduler | None
    run: Mapping[str, Any]
    """The section `run` of the document."""
    history: Mapping[str, int] | None
    """How many ended runs are kept beside the current one, as in `run.history`; None: all."""
    schedule: Mapping[str, Any] | None
    """The spec of a scheduled application, with its defaults; None for others."""
    account: Account
    disruption_budget: Mapping[str, Any] | None
    ui: Mapping[str, Any]
    metrics_properties: str | None
    shuffle: Shuffle | None
    log_claim: LogClaim | None
    log_archive: LogArchive | None
    connect: Mapping[str, Any] | None
    """How clients reach the Connect server; None for other kinds."""
    notebook: Notebook | None
    """JupyterLab in the driver's container; None for other kinds."""

    @property
    def by_spark(self) -> bool:
        """Whether Spark's own Kubernetes backend creates the executors."""
        return self.allocator == "spark"
