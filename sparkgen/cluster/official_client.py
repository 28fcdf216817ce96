"""Sends requests with the official client, which supports every login. Only this module imports it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger
from kubernetes.dynamic import DynamicClient
from urllib3 import HTTPHeaderDict

from sparkgen.cluster import identity
from sparkgen.cluster.channel import (
    CONNECTIONS,
    Answer,
    Call,
    Forwarded,
    Refused,
    with_scheme,
)
from sparkgen.cluster.errors import ClusterError
from sparkgen.cluster.place import Chosen
from sparkgen.cluster.urllib3_client import Again, accepted

HANDSHAKE = 30.0
"""The longest time in seconds to open a port: the API server asks the kubelet, and it asks the runtime."""
_forwarding = threading.local()
"""`impersonation`: the headers of the websocket that the thread opens."""


class Official:
    """A channel of the official client.

    Its requests share a pool of connections and no changing state, so threads may share it; but `forward`
    replaces its transport during a call, and so needs a channel of its own.
    """

    def __init__(self, api: client.ApiClient, impersonation: identity.Headers = ()) -> None:
        self.server = str(api.configuration.host)
        self._api = api
        self._impersonation = impersonation
        pool = api.rest_client.pool_manager
        request = pool.request

        def send(*args: Any, headers: Any = None, **options: Any) -> Any:
            # The client reads the whole body of a refusal, however long, and sends no header twice.
            several = HTTPHeaderDict(headers or {})
            several.extend(impersonation)
            return accepted(request(*args, headers=several, **options))

        pool.request = send
        # The dynamic client uses JSON, whichever version of the typed clients is installed. Its discovery
        # needs a dozen requests and a cache in /tmp that others may write: routes.py has the paths instead.
        self._client = DynamicClient(api, discoverer=_NoDiscovery)

    def send(self, call: Call) -> Answer:
        """Returns the answer. Raises Refused, or an HTTPError."""
        headers = dict(call.headers)
        with _plainly():
            answer = self._client.request(
                call.method.lower(),
                call.path,
                body=None if call.body is None else dict(call.body),
                query_params=list(call.query),
                content_type=headers.pop("Content-Type", None),
                header_params=headers,
                serialize=False,
                _request_timeout=call.timeout,
            )
        return cast(Answer, answer)

    def forward(self, pod: str, port: int, namespace: str) -> Forwarded:
        """Opens a connection to a pod's port. Raises Refused or OSError; a TimeoutError breaks this channel.

        The client has no timeout for a handshake, and no setting for one, so the handshake runs on a thread.
        """
        from kubernetes.stream import portforward, ws_client  # noqa: PLC0415 - for one of many commands

        ws_client.WebSocket = _direct(ws_client.WebSocket)
        opened: Future[Any] = Future()

        def open_() -> None:
            _forwarding.impersonation = self._impersonation
            core = client.CoreV1Api(self._api)
            try:
                found = portforward(
                    core.connect_get_namespaced_pod_portforward, pod, namespace, ports=str(port)
                )
            except BaseException as error:  # noqa: BLE001 - it comes up where the result is asked for
                opened.set_exception(error)
            else:
                opened.set_result(found)

        threading.Thread(target=open_, daemon=True).start()
        try:
            with _plainly():
                return cast(Forwarded, opened.result(HANDSHAKE))
        except TimeoutError:
            opened.add_done_callback(_close)
            raise TimeoutError(f"no answer for {HANDSHAKE:.0f} seconds") from None


def _direct(kind: Any) -> Any:
    """Returns a class of websockets that follow no redirect: the token would go to the other address, too."""
    if getattr(kind, "follows_no_redirect", False):
        return kind

    class Direct(kind):  # type: ignore[misc] # the client has no types
        follows_no_redirect = True

        def connect(self, url: str, **options: Any) -> None:
            """Connect to the address. Raises WebSocketException if the server redirects."""
            more = [f"{name}: {value}" for name, value in getattr(_forwarding, "impersonation", ())]
            super().connect(
                url, **{**options, "header": [*(options.get("header") or ()), *more], "redirect_limit": 0}
            )

    return Direct


def _close(late: Future[Any]) -> None:
    """Close a connection that was opened after the timeout."""
    if late.exception() is None:
        late.result().close()


def channel(chosen: Chosen) -> Official:
    """Returns the channel to a cluster. Raises ClusterError if its kubeconfig cannot be used."""
    settings = client.Configuration()
    settings.retries = Again(1, redirect=0, raise_on_redirect=False)
    settings.connection_pool_maxsize = CONNECTIONS
    impersonation: identity.Headers = ()
    try:
        if chosen.files:
            impersonation = _load(chosen, settings)
        else:
            config.load_incluster_config(settings)
    except (config.ConfigException, OSError, KeyError, TypeError, ValueError) as error:
        where = f"the context {chosen.context} of {chosen.files}" if chosen.files else chosen.context
        raise ClusterError(f"cannot use {where}: {error}") from error
    try:
        return Official(client.ApiClient(settings), impersonation)
    except ImportError:
        raise ClusterError(
            "the proxy is a SOCKS proxy, which needs another library: pip install pysocks"
        ) from None


def _load(chosen: Chosen, settings: client.Configuration) -> identity.Headers:
    """Read a kubeconfig into the settings; returns the headers that impersonate.

    Raises ClusterError, or errors of the client or of its parser. The client alone would log in, and send
    the credentials, over plain HTTP, too.
    """
    merged = KubeConfigMerger(chosen.files).config
    context = merged["contexts"].get_with_name(chosen.context)["context"]
    cluster = merged["clusters"].get_with_name(context["cluster"])["cluster"]
    cluster.value["server"] = with_scheme(str(cluster["server"]))
    name = str(context.safe_get("user") or "")
    user = merged["users"].get_with_name(name, safe=True)
    said = dict((user.safe_get("user") if user else None) or {})
    folder = Path(user.path if user else "").absolute().parent
    login, impersonation = identity.acting(cluster.value, name, said, folder, datetime.now(UTC))
    if user:
        user.value["user"] = login
    KubeConfigLoader(merged, chosen.context, config_base_path=None).load_and_set(settings)
    return impersonation


@contextlib.contextmanager
def _plainly() -> Iterator[None]:
    """Turn the client's ApiException into Refused."""
    try:
        yield
    except ApiException as error:
        raise Refused(int(error.status or 0), str(error.reason or ""), error.body) from error


class _NoDiscovery:
    """A discoverer that does nothing: the dynamic client requires one, and sparkgen does not need it."""

    def __init__(self, client: Any, cache_file: Any) -> None:
        pass
