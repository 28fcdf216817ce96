"""The Kubernetes objects of a shuffle service: Spark's own on every node, and a janitor beside it."""

from __future__ import annotations

from sparkgen import contract
from sparkgen.model.shuffle import ShuffleService
from sparkgen.objects import Object
from sparkgen.resources import layers, pod, server
from sparkgen.resources.conf import log4j2_text
from sparkgen.resources.gitops import for_target
from sparkgen.resources.layers import DEFAULT_RUNTIME_RESOURCES, token_sources
from sparkgen.resources.merge import merge
from sparkgen.resources.order import ordered
from sparkgen.resources.security import RESTRICTED, SPARK_UID
from sparkgen.resources.shuffle import SERVICE_ARGS, SERVICE_PORT, daemon_resources
from sparkgen.resources.text import properties_text

SERVICE_REQUEST = {"cpu": "500m"}
AS_SPARK = {
    "runAsUser": SPARK_UID,
    "runAsGroup": SPARK_UID,
    "runAsNonRoot": True,
    **RESTRICTED,
}
AS_ROOT = {
    "runAsUser": 0,
    "runAsGroup": SPARK_UID,
    "runAsNonRoot": False,
    **RESTRICTED,
    "readOnlyRootFilesystem": True,
}
"""For the container that prepares directories of the node: their owner, without any capability."""


def render_service(service: ShuffleService) -> tuple[Object, ...]:
    """All objects of a service, in the order in which they are applied."""
    made = [
        server.service_account(service),
        server.config_map(service, files(service)),
        network_policy(service),
        daemon_set(service),
    ]
    return tuple(ordered(for_target(item, service.target)) for item in made if item is not None)


def spark_properties(service: ShuffleService) -> dict[str, str]:
    """The service's properties, sorted by name (ExternalShuffleService.main reads spark-defaults.conf)."""
    fixed = {
        SERVICE_PORT: str(service.port),
        "spark.shuffle.service.enabled": "true",
        # With its database a service that starts again knows what executors told the one before.
        "spark.shuffle.service.db.enabled": "true",
        "spark.local.dir": ",".join(service.directories),
        "spark.authenticate": "false" if service.secret_name is None else "true",
    }
    return dict(sorted({**service.properties, **fixed}.items()))


def files(service: ShuffleService) -> dict[str, str]:
    """What the service's configuration directory holds."""
    found = {
        contract.LOG4J2_FILE: log4j2_text(service.log_level, service.loggers),
        contract.SPARK_DEFAULTS_FILE: properties_text(spark_properties(service).items()),
    }
    if service.metrics_properties:
        found[contract.METRICS_FILE] = service.metrics_properties
    return found


def network_policy(service: ShuffleService) -> Object | None:
    """Who may reach the pods: the service's port, and the janitor's metrics; nothing else."""
    given = service.network_policy
    if given is None:
        return None
    rules: list[Object] = [{"ports": [{"protocol": "TCP", "port": service.port}]}]
    if given.get("ingressFrom"):
        rules[0]["from"] = list(given["ingressFrom"])
    if given.get("metricsFrom"):
        ports = [{"protocol": "TCP", "port": service.janitor.port}]
        rules.append({"from": list(given["metricsFrom"]), "ports": ports})
    return server.network_policy(service, rules)


def daemon_set(service: ShuffleService) -> Object:
    """One pod per node, replaced on a few nodes at a time: its port keeps two of them apart."""
    strategy = {"maxUnavailable": service.spec.get("maxUnavailable", 1)}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": server.metadata_of(service, service.name),
        "spec": {
            "selector": server.selector(service),
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": strategy},
            "template": {
                "metadata": server.pod_metadata(service, files(service)),
                "spec": _pod_spec(service),
            },
        },
    }


def _pod_spec(service: ShuffleService) -> Object:
    spec: Object = {
        "serviceAccountName": service.account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {"fsGroup": SPARK_UID, "seccompProfile": {"type": "RuntimeDefault"}},
        "terminationGracePeriodSeconds": 30,
        **pod.picked(service.spec, "nodeSelector", "affinity", "tolerations", "priorityClassName"),
        **server.pull_secrets(service),
        "initContainers": [_prepare(service)],
        "containers": [_service(service), _janitor(service)],
        "volumes": _volumes(service),
    }
    if service.host_network:
        spec |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    return spec


def _volumes(service: ShuffleService) -> list[Object]:
    return [
        *(
            {"name": name, "hostPath": {"path": path, "type": "DirectoryOrCreate"}}
            for name, path in _named_directories(service)
        ),
        layers.config_map_volume(contract.CONF_VOLUME, f"{service.name}-conf"),
        {"name": contract.TOKEN_VOLUME, "projected": {"sources": token_sources()}},
    ]


def _named_directories(service: ShuffleService) -> list[tuple[str, str]]:
    return [
        (f"{contract.SHUFFLE_VOLUME_PREFIX}{index}", path) for index, path in enumerate(service.directories)
    ]


def _directory_mounts(service: ShuffleService) -> list[Object]:
    """The node's directories at the very paths that executors tell the service."""
    return [{"name": name, "mountPath": path} for name, path in _named_directories(service)]


def _prepare(service: ShuffleService) -> Object:
    """Makes the directories fit for executors that are not root."""
    return {
        "name": contract.PREPARE_CONTAINER,
        "image": service.runtime_image,
        **server.pull_policy(service),
        "args": ["janitor", "prepare"],
        "env": _shared_env(service),
        "resources": merge(DEFAULT_RUNTIME_RESOURCES, service.janitor.resources),
        "securityContext": AS_ROOT,
        "volumeMounts": _directory_mounts(service),
    }


def _service(service: ShuffleService) -> Object:
    env = server.daemon_env(service)
    if service.secret_name is not None:
        source = {"secretKeyRef": {"name": service.secret_name, "key": contract.SECRET_KEY}}
        env.append({"name": contract.ENV_AUTH_SECRET, "valueFrom": source})
    if service.host_network:
        env.append(layers.field_env(contract.ENV_LOCAL_IP, "status.podIP"))
    answers = {"tcpSocket": {"port": service.port}}
    port: Object = {"name": "shuffle", "containerPort": service.port, "hostPort": service.port}
    return {
        "name": contract.SHUFFLE_CONTAINER,
        "image": service.image,
        **server.pull_policy(service),
        "args": list(SERVICE_ARGS),
        "env": env,
        "ports": [port],
        "startupProbe": {**answers, "periodSeconds": 1, "failureThreshold": 120},
        "readinessProbe": {**answers, "periodSeconds": 5},
        "livenessProbe": {**answers, "periodSeconds": 10, "failureThreshold": 6},
        "resources": merge(
            daemon_resources(service.memory, SERVICE_REQUEST), service.spec.get("resources") or {}
        ),
        "securityContext": AS_SPARK,
        "volumeMounts": [
            *_directory_mounts(service),
            layers.read_only(contract.CONF_VOLUME, contract.CONF_DIR),
        ],
    }


def _janitor(service: ShuffleService) -> Object:
    """Removes what ended applications left, by the group that it shares with executors."""
    janitor = service.janitor
    numbers = {
        contract.ENV_JANITOR_INTERVAL: janitor.interval,
        contract.ENV_JANITOR_GRACE: janitor.grace,
        contract.ENV_JANITOR_UNKNOWN: janitor.without_access,
        contract.ENV_JANITOR_PRESSURE: janitor.pressure,
        contract.ENV_JANITOR_PORT: janitor.port,
    }
    return {
        "name": contract.JANITOR_CONTAINER,
        "image": service.runtime_image,
        **server.pull_policy(service),
        "args": ["janitor"],
        "env": [
            *_shared_env(service),
            *({"name": name, "value": str(number)} for name, number in numbers.items()),
            {"name": contract.ENV_JANITOR_DRY_RUN, "value": "true" if janitor.dry_run else "false"},
            layers.field_env(contract.ENV_NODE_NAME, "spec.nodeName"),
        ],
        "ports": [{"name": contract.JANITOR_CONTAINER, "containerPort": janitor.port}],
        "livenessProbe": {
            "httpGet": {"path": contract.HEALTH_PATH, "port": janitor.port},
            "periodSeconds": 10,
            "failureThreshold": 6,
        },
        "resources": merge(DEFAULT_RUNTIME_RESOURCES, janitor.resources),
        "securityContext": {**AS_SPARK, "readOnlyRootFilesystem": True},
        "volumeMounts": [
            *_directory_mounts(service),
            layers.read_only(contract.TOKEN_VOLUME, contract.TOKEN_DIR),
        ],
    }


def _shared_env(service: ShuffleService) -> list[Object]:
    return [
        {"name": contract.ENV_CONTRACT, "value": str(contract.VERSION)},
        {"name": contract.ENV_JANITOR_DIRECTORIES, "value": ",".join(service.directories)},
    ]
