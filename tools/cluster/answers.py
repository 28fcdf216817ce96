"""Simple servers for tests: admission webhooks that deny or are slow, and a registry without images.

The context managers below run them in a network namespace of the cluster, as a program of its own:

    answers.py webhooks ADDRESS PORT CERTIFICATE KEY
    answers.py registry ADDRESS PORT
"""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

if __name__ == "__main__":  # as a script: find the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cluster import network
from cluster.plan import CONTROL_ADDRESS, CONTROL_HOST, LAYOUT, NAME, NODES, Layout
from common.cachedir import ToolError

WEBHOOK_PORT = 9443
REGISTRY_PORT = 5000
REGISTRY = f"localhost:{REGISTRY_PORT}"
"""The registry's name on every node; containerd uses no TLS for a local registry."""
DENIAL = "sparkgen's test denies it"


class Quiet(BaseHTTPRequestHandler):
    """Answers in JSON, and writes no log."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Write nothing: the output is not read, and a full pipe would block the answers."""

    def say(self, status: int, value: object) -> None:
        """Send an answer with this status and JSON value."""
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class Webhook(Quiet):
    """Admission webhooks: `/deny` denies at once, `/slow/SECONDS` allows after a while."""

    def do_POST(self) -> None:
        """Answer an AdmissionReview according to the path."""
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, kind, *rest = self.path.partition("?")[0].split("/")
        if kind == "slow":
            time.sleep(float(rest[0]))
        denied = {"allowed": False, "status": {"code": 403, "message": DENIAL}}
        response = {"uid": review["request"]["uid"], **(denied if kind == "deny" else {"allowed": True})}
        answer = {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}
        self.say(200, answer)


class Registry(Quiet):
    """A registry without images: it answers every request for a manifest with the distribution API's 404."""

    def do_GET(self) -> None:
        """Answer 200 for `/v2/`, and 404 for everything else."""
        if self.path == "/v2/":
            self.say(200, {})
        else:
            self.say(404, {"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]})

    do_HEAD = do_GET  # noqa: N815 - the base class calls it by this name


def main(arguments: list[str]) -> int:
    """Serve until killed."""
    kind, address, port, *files = arguments
    handler = {"webhooks": Webhook, "registry": Registry}[kind]
    server = ThreadingHTTPServer((address, int(port)), handler)
    if files:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print("ready", flush=True)
    server.serve_forever()
    return 0


@contextmanager
def webhooks(layout: Layout = LAYOUT) -> Iterator[str]:
    """Run webhooks that the API server can call. Yields their URL, `https://...`, without a path."""
    # The API server's own certificate is valid for this address, and signed by the cluster's authority.
    files = (str(layout.pki / "apiserver.crt"), str(layout.pki / "apiserver.key"))
    with _running(NAME, "webhooks", CONTROL_ADDRESS, str(WEBHOOK_PORT), *files):
        yield f"https://{CONTROL_HOST}:{WEBHOOK_PORT}"


@contextmanager
def empty_registry() -> Iterator[str]:
    """Run a registry without images on every node. Yields its name, the prefix of image names."""
    with ExitStack() as stack:
        for node in NODES:
            stack.enter_context(_running(node.network_namespace, "registry", "127.0.0.1", str(REGISTRY_PORT)))
        yield REGISTRY


@contextmanager
def _running(namespace: str, *arguments: str) -> Iterator[None]:
    command = [*network.enter(namespace), sys.executable, str(Path(__file__).resolve()), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                process.kill()
                said = process.stderr.read() if process.stderr else ""
                raise ToolError(f"cannot serve {arguments[0]}: {said.strip()}")
            yield
        finally:
            process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
