"""What leads to Spark's pages from outside of the cluster: an Ingress, or an HTTPRoute of the Gateway API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sparkgen.objects import Object

GATEWAY_API = "gateway.networking.k8s.io"
PREFIX_HEADER = "X-Forwarded-Context"
"""What Spark's links start with, request by request (UIUtils.uiRoot)."""
REDIRECT = {"spark.ui.proxyRedirectUri": "/"}
"""With it redirects start with that, too, and lead to the host that was asked (ProxyRedirectHandler)."""


def redirect_properties(options: Mapping[str, Any]) -> dict[str, str]:
    """What Spark is told where its pages are below a path."""
    return dict(REDIRECT) if _path(options.get("route") or {}) != "/" else {}


def _path(route: Mapping[str, Any]) -> str:
    return str(route.get("path", "/"))


def exposures(
    options: Mapping[str, Any], metadata: Callable[[], Object], service: Mapping[str, Any]
) -> list[Object]:
    """The objects that `ingress` and `route` of a section `sparkUIOptions` ask for.

    `metadata` makes that of one more object of the pages' Service, `service`.
    """
    made = []
    for field, make in (("ingress", _ingress), ("route", _route)):
        given = options.get(field)
        if given is not None:
            found = metadata()
            if given.get("annotations"):
                found["annotations"] = {**found.get("annotations", {}), **given["annotations"]}
            made.append(make(found, given, service))
    return made


def _ingress(metadata: Object, given: Mapping[str, Any], service: Mapping[str, Any]) -> Object:
    (port,) = service["spec"]["ports"]
    backend = {"service": {"name": service["metadata"]["name"], "port": {"name": port["name"]}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    spec: Object = {"rules": [{"host": given["host"], "http": {"paths": [path]}}]}
    if "className" in given:
        spec["ingressClassName"] = given["className"]
    if "tlsSecretName" in given:
        spec["tls"] = [{"hosts": [given["host"]], "secretName": given["tlsSecretName"]}]
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec}


def _route(metadata: Object, given: Mapping[str, Any], service: Mapping[str, Any]) -> Object:
    """Written out as the API server completes it, so that GitOps controllers find no difference."""
    (port,) = service["spec"]["ports"]
    backend = {
        "group": "",
        "kind": "Service",
        "name": service["metadata"]["name"],
        "port": port["port"],
        "weight": 1,
    }
    path = _path(given)
    rule: Object = {
        "matches": [{"path": {"type": "PathPrefix", "value": path}}],
        "backendRefs": [backend],
    }
    if path != "/":
        header = {"set": [{"name": PREFIX_HEADER, "value": path}]}
        rewrite = {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}}
        rule["filters"] = [
            {"type": "RequestHeaderModifier", "requestHeaderModifier": header},
            {"type": "URLRewrite", "urlRewrite": rewrite},
        ]
    parents = [{"group": GATEWAY_API, "kind": "Gateway", **parent} for parent in given["parentRefs"]]
    spec: Object = {"parentRefs": parents, "rules": [rule]}
    if "host" in given:
        spec["hostnames"] = [given["host"]]
    return {"apiVersion": f"{GATEWAY_API}/v1", "kind": "HTTPRoute", "metadata": metadata, "spec": spec}
