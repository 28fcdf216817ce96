"""Access to Spark's pages and to a Connect server: a Service, an Ingress, a route of the Gateway API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen.model.properties import is_true
from sparkgen.resources.object_layers import GATEWAY_API

REDIRECT = {"spark.ui.proxyRedirectUri": "/"}
"""Makes redirects start with "/" as well, so that they lead to the requested host (ProxyRedirectHandler)."""


def shows_pages(properties: Mapping[str, str]) -> bool:
    """Whether the driver serves Spark's pages: if not, no port and no Service leads to them."""
    return is_true(properties, "spark.ui.enabled", default=True)


def redirect_properties(options: Mapping[str, Any]) -> dict[str, str]:
    """The properties for Spark if its pages are below a path."""
    return dict(REDIRECT) if _path(options.get("route") or {}) != "/" else {}


def _path(route: Mapping[str, Any]) -> str:
    return str(route.get("path", "/"))


def values(
    options: Mapping[str, Any], labels: Mapping[str, str], annotations: Mapping[str, str], port: int
) -> dict[str, Any]:
    """The values for object_layers.exposed.

    `options` is a section `sparkUIOptions` or `connect`; `port` is the Service's default port.
    """
    ingress, route = options.get("ingress"), options.get("route")
    return {
        "type": options.get("serviceType", "ClusterIP"),
        "port": options.get("servicePort", port),
        "nodePort": options.get("nodePort"),
        "labels": {**(options.get("serviceLabels") or {}), **labels},
        "annotations": {**annotations, **(options.get("serviceAnnotations") or {})},
        "ingress": ingress and {**ingress, "annotations": _noted(annotations, ingress)},
        "route": route
        and {
            **route,
            "annotations": _noted(annotations, route),
            "path": _path(route),
            "below": _path(route) != "/",
            "parentRefs": [
                {"group": GATEWAY_API, "kind": "Gateway", **parent} for parent in route["parentRefs"]
            ],
        },
    }


def _noted(annotations: Mapping[str, str], section: Mapping[str, Any]) -> dict[str, str]:
    return {**annotations, **(section.get("annotations") or {})}
