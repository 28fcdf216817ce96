"""The Kubernetes objects of a history server: Spark's own, in the stock image, behind a Service."""

from __future__ import annotations

from typing import Any

from sparkgen import contract, names
from sparkgen.model.historyserver import HistoryServer
from sparkgen.objects import Object
from sparkgen.resources import layers, pod, server
from sparkgen.resources.conf import log4j2_text
from sparkgen.resources.exposure import exposures, redirect_properties
from sparkgen.resources.gitops import for_target
from sparkgen.resources.merge import merge
from sparkgen.resources.order import ordered
from sparkgen.resources.security import POD_SECURITY, RESTRICTED
from sparkgen.resources.shuffle import daemon_resources
from sparkgen.resources.text import properties_text

HISTORY_ARGS = ("/opt/spark/bin/spark-class", "org.apache.spark.deploy.history.HistoryServer")
"""What the stock entrypoint hands on as it is; it stays in the foreground."""
HISTORY_REQUEST = {"cpu": "500m"}
PORT_NAME = "history"
TEMPORARY = "/tmp"  # noqa: S108 - the JVM's own, on a volume: the root file system is read-only
FILTERS = "spark.ui.filters"
"""Servlet filters, which may ask who is there: then only the port can be probed."""


def render_history_server(history: HistoryServer) -> tuple[Object, ...]:
    """All objects of a server, in the order in which they are applied."""
    pages = service(history)
    made = [
        server.service_account(history),
        server.config_map(history, files(history)),
        network_policy(history),
        pages,
        *exposures(history.ui, lambda: server.metadata_of(history, history.name), pages),
        deployment(history),
    ]
    return tuple(ordered(for_target(item, history.target)) for item in made if item is not None)


def spark_properties(history: HistoryServer) -> dict[str, str]:
    """The server's properties, sorted by name (HistoryServerArguments reads spark-defaults.conf)."""
    fixed = {
        "spark.history.fs.logDirectory": history.directory,
        "spark.history.ui.port": str(contract.HISTORY_PORT),
    }
    return dict(sorted({**redirect_properties(history.ui), **history.properties, **fixed}.items()))


def files(history: HistoryServer) -> dict[str, str]:
    """What the server's configuration directory holds."""
    return {
        contract.LOG4J2_FILE: log4j2_text(history.log_level, history.loggers),
        contract.SPARK_DEFAULTS_FILE: properties_text(spark_properties(history).items()),
    }


def network_policy(history: HistoryServer) -> Object | None:
    """Who may reach the server: whom the document names, or the pods of its namespace."""
    if history.network_policy is None:
        return None
    ports = [{"protocol": "TCP", "port": contract.HISTORY_PORT}]
    peers = list(history.network_policy.get("ingressFrom") or [{"podSelector": {}}])
    return server.network_policy(history, [{"from": peers, "ports": ports}])


def service(history: HistoryServer) -> Object:
    """The server's pages, by a name."""
    options = history.ui
    metadata = server.metadata_of(history, history.name)
    metadata["labels"] = {**(options.get("serviceLabels") or {}), **metadata["labels"]}
    if options.get("serviceAnnotations"):
        metadata["annotations"] = {**metadata.get("annotations", {}), **options["serviceAnnotations"]}
    port = options.get("servicePort", contract.HISTORY_PORT)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "type": options.get("serviceType", "ClusterIP"),
            "selector": server.selector(history)["matchLabels"],
            "ports": [{"name": PORT_NAME, "port": port, "targetPort": PORT_NAME}],
        },
    }


def deployment(history: HistoryServer) -> Object:
    """One pod. With a claim, which two nodes may not have at once, it goes before the next one comes."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": server.metadata_of(history, history.name),
        "spec": {
            "replicas": 1,
            "strategy": {"type": "RollingUpdate" if history.claim is None else "Recreate"},
            "selector": server.selector(history),
            "template": {
                "metadata": server.pod_metadata(history, files(history)),
                "spec": _pod_spec(history),
            },
        },
    }


def _pod_spec(history: HistoryServer) -> Object:
    security: Object = dict(POD_SECURITY)
    if history.claim is not None:
        # Else the kubelet hands every log to the group anew, whenever the server starts.
        security["fsGroupChangePolicy"] = "OnRootMismatch"
    return {
        "serviceAccountName": history.account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": merge(security, history.spec.get("podSecurityContext") or {}),
        **server.pull_secrets(history),
        **pod.picked(history.spec, "nodeSelector", "affinity", "tolerations", "priorityClassName"),
        "containers": [_container(history)],
        "volumes": _volumes(history),
    }


def _volumes(history: HistoryServer) -> list[Object]:
    found = [
        layers.config_map_volume(contract.CONF_VOLUME, f"{history.name}-conf"),
        {"name": contract.SCRATCH_VOLUME, "emptyDir": {}},
    ]
    if history.claim is not None:
        found.append(layers.claim_volume(contract.EVENT_LOG_VOLUME, history.claim.name))
    for secret in _secrets(history):
        name = names.volume_name(secret["name"], "secret")
        found.append({"name": name, "secret": {"secretName": secret["name"]}})
    return found


def _secrets(history: HistoryServer) -> list[dict[str, Any]]:
    return list(history.spec.get("secrets") or ())


def _mounts(history: HistoryServer) -> list[Object]:
    found = [
        layers.read_only(contract.CONF_VOLUME, contract.CONF_DIR),
        {"name": contract.SCRATCH_VOLUME, "mountPath": TEMPORARY},
    ]
    if history.claim is not None:
        mount = layers.read_only(contract.EVENT_LOG_VOLUME, history.claim.path)
        if history.cleans:
            del mount["readOnly"]
        found.append(mount)
    return found + [
        layers.read_only(names.volume_name(secret["name"], "secret"), secret["path"])
        for secret in _secrets(history)
    ]


def _env(history: HistoryServer) -> list[Object]:
    env = server.daemon_env(history)
    for secret in _secrets(history):
        env += pod.secret_env(secret)
    return env + list(history.spec.get("env") or ())


def _container(history: HistoryServer) -> Object:
    answers: Object = {"httpGet": {"path": "/", "port": contract.HISTORY_PORT}}
    if FILTERS in history.properties:
        answers = {"tcpSocket": {"port": contract.HISTORY_PORT}}
    resources = daemon_resources(history.memory, HISTORY_REQUEST)
    return {
        "name": contract.HISTORY_SERVER_CONTAINER,
        "image": history.image,
        **server.pull_policy(history),
        "args": list(HISTORY_ARGS),
        "env": _env(history),
        **pod.picked(history.spec, "envFrom"),
        "ports": [{"name": PORT_NAME, "containerPort": contract.HISTORY_PORT}],
        "startupProbe": {**answers, "periodSeconds": 2, "failureThreshold": 90},
        "readinessProbe": {**answers, "periodSeconds": 10, "timeoutSeconds": 5},
        "livenessProbe": {**answers, "periodSeconds": 20, "timeoutSeconds": 10, "failureThreshold": 6},
        "resources": merge(resources, history.spec.get("resources") or {}),
        "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True},
        "volumeMounts": _mounts(history),
    }
