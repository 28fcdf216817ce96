"""The Kubernetes objects of a history server: Spark's own, in the stock image, behind a Service."""

from __future__ import annotations

from typing import Any

from sparkgen import contract
from sparkgen.model.historyserver import HistoryServer
from sparkgen.objects import Object
from sparkgen.resources import exposure, pod, server
from sparkgen.resources.conf import log4j2_text
from sparkgen.resources.merge import merge
from sparkgen.resources.security import POD_SECURITY
from sparkgen.resources.shuffle import daemon_resources
from sparkgen.resources.text import properties_text

HISTORY_REQUEST = {"cpu": "500m"}
FILTERS = "spark.ui.filters"
"""Servlet filters, which may require a login: then only the port can be probed."""


def spark_properties(history: HistoryServer) -> dict[str, str]:
    """The server's properties, sorted by name (HistoryServerArguments reads spark-defaults.conf)."""
    fixed = {
        "spark.history.fs.logDirectory": history.directory,
        "spark.history.ui.port": str(contract.HISTORY_PORT),
    }
    return dict(sorted({**exposure.redirect_properties(history.ui), **history.properties, **fixed}.items()))


def files(history: HistoryServer) -> dict[str, str]:
    """The files of the server's configuration directory."""
    return {
        contract.LOG4J2_FILE: log4j2_text(history.log_level, history.loggers),
        contract.SPARK_DEFAULTS_FILE: properties_text(spark_properties(history).items()),
    }


def values(history: HistoryServer) -> dict[str, Any]:
    """The values for the objects' layers (object_layers.py)."""
    security: Object = dict(POD_SECURITY)
    if history.claim is not None:
        # Otherwise, the kubelet changes the group of every log file whenever the server starts.
        security["fsGroupChangePolicy"] = "OnRootMismatch"
    env, mounts, volumes = pod.mounted_objects({"secrets": history.spec.get("secrets")})
    guarded = FILTERS in history.properties
    return {
        **server.values(history, files(history)),
        "peers": server.peers(history, "ingressFrom"),
        "ui": exposure.values(history.ui, server.labels(history), history.annotations, contract.HISTORY_PORT),
        "strategy": "RollingUpdate" if history.claim is None else "Recreate",
        "podSecurity": merge(security, history.spec.get("podSecurityContext") or {}),
        "open": not guarded,
        "guarded": guarded,
        "resources": merge(
            daemon_resources(history.memory, HISTORY_REQUEST), history.spec.get("resources") or {}
        ),
        "claim": history.claim and {"name": history.claim.name, "path": history.claim.path},
        "readOnlyLog": None if history.cleans else True,
        "secretEnv": env,
        "secretVolumes": volumes,
        "secretMounts": mounts,
        "ownEnv": history.spec.get("env") or [],
    }
