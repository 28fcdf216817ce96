"""A connection to one cluster: objects as plain dicts, errors in words."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from sparkgen.cluster.errors import ClusterError, in_words, not_installed
from sparkgen.cluster.place import Chosen, Place, choose
from sparkgen.cluster.routes import route

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

FIELD_MANAGER = "sparkgen"
"""Who sets fields by server-side apply, unless the caller is somebody else."""
PIECE = 64 * 1024
"""Bytes of a stream that are read at once, at most."""
PAGE = 500
"""Objects in one answer to a list."""
TIMEOUT = (10.0, 60.0)
"""Seconds to wait for a connection, and for an answer."""
METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Asks for an object without its content: what is in a Secret stays in the API server."""

Object = dict[str, Any]


class Forwarded(Protocol):
    """A connection to a port of a pod: the official client's PortForward."""

    def socket(self, port_number: int) -> socket.socket:
        """What is written to it comes out there, and the other way round."""
        ...

    def error(self, port_number: int) -> str | None:
        """What went wrong at the other end."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Cluster:
    """One cluster and the namespace that is meant.

    `context`: its name in the kubeconfig; `namespace`: where objects go whose document names none; `server`:
    its address; `api`: the official client, for what is not here (logs, watches): use it within `in_words`.
    """

    def __init__(self, api: ApiClient, chosen: Chosen) -> None:
        from kubernetes.dynamic import DynamicClient  # noqa: PLC0415 - see the package

        self.api = api
        self.context = chosen.context
        self.namespace = chosen.namespace
        self.server = str(api.configuration.host)
        self._swapped = threading.Lock()
        # The dynamic client speaks JSON, whichever version of the typed clients is installed. Its discovery
        # is a dozen requests and a cache in /tmp that others may write: the paths are in routes.py instead.
        self._client = DynamicClient(api, discoverer=_NoDiscovery)  # type: ignore[no-untyped-call]

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Object | None:
        """An object; None if there is none."""
        path = route(api_version, kind, namespace or self.namespace, name)
        try:
            return self._ask(f"read {kind} {name} in {namespace or self.namespace}", "get", path)
        except ClusterError as error:
            if error.status == 404:
                return None
            raise

    def has(self, api_version: str, kind: str, name: str, namespace: str = "") -> bool:
        """Whether there is such an object; its content is not read."""
        path = route(api_version, kind, namespace or self.namespace, name)
        try:
            doing = f"look for {kind} {name} in {namespace or self.namespace}"
            self._ask(doing, "get", path, header_params={"Accept": METADATA_ONLY})
        except ClusterError as error:
            if error.status == 404:
                return False
            raise
        return True

    def version(self) -> str:
        """The version of Kubernetes, as in `v1.34.1`."""
        return str(self._ask("ask for the version", "get", "/version")["gitVersion"])

    def list(
        self, api_version: str, kind: str, namespace: str = "", selector: str = "", fields: str = ""
    ) -> list[Object]:
        """The objects of a kind that label and field selectors choose, each with its apiVersion and kind."""
        where = namespace or self.namespace
        path = route(api_version, kind, where)
        items: list[Object] = []
        more = ""
        while True:
            extra: Object = {"_continue": more} if more else {}
            page = self._ask(
                f"list {kind}s in {where}",
                "get",
                path,
                label_selector=selector or None,
                field_selector=fields or None,
                limit=PAGE,
                **extra,
            )
            items += [{"apiVersion": api_version, "kind": kind, **item} for item in page["items"]]
            more = page.get("metadata", {}).get("continue") or ""
            if not more:
                return items

    def apply(
        self,
        item: Mapping[str, Any],
        *,
        dry_run: bool = False,
        force: bool = False,
        manager: str = FIELD_MANAGER,
    ) -> Object:
        """Server-side apply: the object as the server would have it (`dry_run`), or has it.

        Unknown fields are refused. `force` takes fields over from other managers instead of a conflict (409).
        """
        name = str(item["metadata"]["name"])
        namespace = str(item["metadata"].get("namespace") or self.namespace)
        path = route(str(item["apiVersion"]), str(item["kind"]), namespace, name)
        return self._ask(
            f"{'compare' if dry_run else 'apply'} {item['kind']} {name} in {namespace}",
            "patch",
            path,
            body=dict(item),
            content_type="application/apply-patch+yaml",
            field_manager=manager,
            force_conflicts=force,
            dry_run="All" if dry_run else None,
            query_params=[("fieldValidation", "Strict")],
        )

    def create(self, item: Mapping[str, Any], *, dry_run: bool = False) -> Object:
        """The object as the server has it, or would have it; a ClusterError (409) if it is there already."""
        metadata = item["metadata"]
        namespace = str(metadata.get("namespace") or self.namespace)
        return self._ask(
            f"create {item['kind']} {metadata.get('name') or metadata['generateName']} in {namespace}",
            "post",
            route(str(item["apiVersion"]), str(item["kind"]), namespace),
            body=dict(item),
            field_manager=FIELD_MANAGER,
            dry_run="All" if dry_run else None,
        )

    def patch(
        self,
        item: Mapping[str, Any],
        change: Mapping[str, Any],
        *,
        manager: str = FIELD_MANAGER,
    ) -> Object:
        """Change some fields of an object that is there (JSON merge patch)."""
        metadata = item["metadata"]
        namespace = str(metadata.get("namespace") or self.namespace)
        path = route(str(item["apiVersion"]), str(item["kind"]), namespace, str(metadata["name"]))
        return self._ask(
            f"change {item['kind']} {metadata['name']} in {namespace}",
            "patch",
            path,
            body=dict(change),
            content_type="application/merge-patch+json",
            field_manager=manager,
        )

    def watch(self, item: Mapping[str, Any], seconds: float) -> Iterator[Object]:
        """What becomes of an object after the state that `item` has, for so long at most.

        Each is an event: `type` (ADDED, MODIFIED, DELETED, ERROR) and `object`. It may end early, at any
        time: then look at the object, and watch again.
        """
        metadata = item["metadata"]
        path = route(str(item["apiVersion"]), str(item["kind"]), str(metadata["namespace"]))
        with in_words(f"watch {item['kind']} {metadata['name']}", self.server):
            answer = self._client.request(
                "get",
                path,
                serialize=False,
                _request_timeout=(TIMEOUT[0], seconds + TIMEOUT[0]),
                field_selector=f"metadata.name={metadata['name']}",
                resource_version=metadata["resourceVersion"],
                timeout_seconds=max(int(seconds), 1),
                watch="true",
            )
            try:
                yield from _events(answer.stream(PIECE, decode_content=True))
            finally:
                answer.close()

    def delete(self, api_version: str, kind: str, name: str, namespace: str = "") -> bool:
        """Delete an object, and in the background what it owns; False if there was none."""
        path = route(api_version, kind, namespace or self.namespace, name)
        doing = f"delete {kind} {name} in {namespace or self.namespace}"
        try:
            self._ask(doing, "delete", path, propagation_policy="Background")
        except ClusterError as error:
            if error.status == 404:
                return False
            raise
        return True

    def log(
        self,
        pod: str,
        container: str,
        namespace: str = "",
        *,
        tail: int | None = None,
        previous: bool = False,
    ) -> str:
        """The log of a container, or its last lines; `previous`: of the time before it was restarted."""
        return b"".join(self.follow(pod, container, namespace, tail=tail, previous=previous)).decode(
            errors="replace"
        )

    def follow(
        self,
        pod: str,
        container: str,
        namespace: str = "",
        *,
        tail: int | None = None,
        previous: bool = False,
        follow: bool = False,
    ) -> Iterator[bytes]:
        """The log of a container as it comes, in pieces; with `follow` until the container ends.

        https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
        """
        where = namespace or self.namespace
        query = {
            "container": container,
            "tailLines": tail,
            "previous": "true" if previous else None,
            "follow": "true" if follow else None,
        }
        with in_words(f"read the log of {container} in pod {pod} in {where}", self.server):
            answer = self._client.request(
                "get",
                f"{route('v1', 'Pod', where, pod)}/log",
                serialize=False,
                query_params=[(key, value) for key, value in query.items() if value is not None],
                header_params={"Accept": "text/plain, application/json, */*"},
                _request_timeout=(TIMEOUT[0], None) if follow else TIMEOUT,
            )
            yield from answer.stream(PIECE, decode_content=True)

    def forward(self, pod: str, port: int, namespace: str = "") -> Forwarded:
        """One connection to a port of a pod, through the API server.

        https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.34/#portforward-pod-v1-core
        """
        from kubernetes import client  # noqa: PLC0415 - see the package
        from kubernetes.stream import portforward  # noqa: PLC0415

        where = namespace or self.namespace
        # The client swaps its transport for the time of this call.
        with self._swapped, in_words(f"forward port {port} of pod {pod} in {where}", self.server):
            core = client.CoreV1Api(self.api)
            opened: Forwarded = portforward(
                core.connect_get_namespaced_pod_portforward, pod, where, ports=str(port)
            )
            return opened

    def _ask(self, doing: str, method: str, path: str, **parameters: Any) -> Object:
        with in_words(doing, self.server):
            answer = self._client.request(
                method, path, serialize=False, _request_timeout=TIMEOUT, **parameters
            )
        value: Object = json.loads(answer.data)
        return value


def _events(pieces: Iterator[bytes]) -> Iterator[Object]:
    """The JSON objects of a stream, one in each line."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from (json.loads(line) for line in lines if line)


class _NoDiscovery:
    """What the dynamic client asks for and sparkgen does not need."""

    def __init__(self, client: Any, cache_file: Any) -> None:
        pass


def connect(place: Place, environment: Mapping[str, str] = os.environ) -> Cluster:
    """A connection to the cluster that is meant; nothing is sent before the first question.

    ClusterError when there is no such cluster, or the official client is not installed.
    """
    try:
        from kubernetes import client, config  # noqa: PLC0415 - see the package
    except ImportError as error:
        raise not_installed() from error
    chosen = choose(place, environment)
    settings = client.Configuration()
    settings.retries = 1
    try:
        if chosen.files:
            # Its functions have no types.
            config.load_kube_config(  # type: ignore[no-untyped-call]
                chosen.files, chosen.context, settings, persist_config=False
            )
        else:
            config.load_incluster_config(settings)  # type: ignore[no-untyped-call]
    except (config.ConfigException, OSError, KeyError, TypeError, ValueError) as error:
        where = f"the context {chosen.context} of {chosen.files}" if chosen.files else chosen.context
        raise ClusterError(f"{where} cannot be used: {error}") from error
    return Cluster(client.ApiClient(settings), chosen)
