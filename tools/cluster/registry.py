"""Registries for tests: CNCF distribution, on the control plane's address of the cluster's own network.

Only pods, kubelets and the nodes' containerd can reach them. In a test:

    with registry.running(folder) as it:                        # TLS, and passwords
        with network.inside(NAME):
            digest = it.client("team-a").push("team/etl", image)
        it.blob(layer).truncate(...)

`plain=True` uses plain HTTP, without passwords. `on_loopback` runs one without a cluster.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster import certificates, configs, network, nodes, processes
from cluster.argocd import listening
from cluster.certificates import Certificate
from cluster.plan import CONTROL_HOST, LAYOUT, NAME, NODES, Layout
from cluster.registry_client import Client
from gotools import gotools

PORT, PLAIN_PORT = 5443, 5080
PASSWORDS = {
    "team-a": ("team-a-secret", "$2b$04$Y9lVO6RlYfmKuU5MsI4qAOBMoXhRgZt4zFNFKL8IJDT6FcSRwZANi"),
    "team-b": ("team-b-secret", "$2b$04$jiNtYGKO2kJUhYHWLq4L8uiZyjt6fxtpdHBzV8OiM6BWSplZWbzvO"),
    "reader": ("reader-secret", "$2b$04$psCs0MG8/9r3/2JcMaO55.YctTsrCdvyuMnXMMKONUys/oXNP5ZKK"),
}
"""The users of tests: password, and its hash by bcrypt (with the fewest rounds), the only algorithm that
distribution supports."""

START_SECONDS = 30.0
"""The most seconds until it listens; on an idle machine it takes half a second."""


def htpasswd(*users: str) -> str:
    """The text of a password file with these users of `PASSWORDS`."""
    return "".join(f"{user}:{PASSWORDS[user][1]}\n" for user in users)


def trust(address: str, layout: Layout = LAYOUT, *, tls: bool = True) -> None:
    """Let all nodes' containerd pull from `address`; `tls`: by TLS, certified by the cluster's CA."""
    for node in NODES:
        folder = layout.node_var(node) / Path(configs.HOSTS).relative_to("/var") / address
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hosts.toml").write_text(configs.hosts(address, tls=tls))


def docker_config(address: str, user: str, password: str) -> str:
    """The text of a config.json, as for docker, helm and Secrets of type kubernetes.io/dockerconfigjson."""
    word = base64.b64encode(f"{user}:{password}".encode()).decode()
    return json.dumps({"auths": {address: {"username": user, "password": password, "auth": word}}})


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry. `folder`: its files; `plain`: it uses plain HTTP without passwords."""

    folder: Path
    plain: bool = False
    layout: Layout = field(default=LAYOUT, repr=False)

    @property
    def address(self) -> str:
        """The prefix of the names of its images."""
        return f"{CONTROL_HOST}:{PLAIN_PORT if self.plain else PORT}"

    @property
    def push_address(self) -> str:
        """The address for pushing images, which is the same."""
        return self.address

    @property
    def authority(self) -> Path | None:
        """The file with the certificate authority that signed its certificate; None for plain HTTP."""
        return None if self.plain else self.layout.pki / "ca.crt"

    def client(self, user: str = "") -> Client:
        """A client with the name and password of a user of `PASSWORDS`, or for "" without them."""
        password = PASSWORDS[user][0] if user else ""
        return Client(self.address, self.authority, user, password)

    def config_json(self, user: str) -> str:
        """The text of a config.json with this user's password."""
        return docker_config(self.address, user, PASSWORDS[user][0])

    def blob(self, digest: str) -> Path:
        """The file of a blob or manifest, which tests may change, truncate or remove."""
        kind, _, word = digest.partition(":")
        return self.folder / "data/docker/registry/v2/blobs" / kind / word[:2] / word / "data"

    def start(self) -> None:
        """Start it, if it does not run. Raises ToolError if it does not listen in time."""
        name = self._name
        file = self.layout.pids / f"{name}.pid"
        if processes.alive(processes.read(file)):
            return
        log = self.layout.logs / f"{name}.log"
        serve = command(self.folder, self.address, None if self.plain else self.layout.pki)
        identity = processes.start([*network.enter(NAME), *serve], log, file)
        processes.wait_until(
            lambda: int(self.address.rpartition(":")[2]) in listening(identity.pid),
            *("the registry does not listen on its port", log, START_SECONDS),
            runs=lambda: processes.alive(identity),
        )

    def stop(self) -> None:
        """Kill it, as a crash would: connections are then refused; `start` restores it with all its data."""
        processes.stop(self.layout.pids / f"{self._name}.pid", kill=True)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Stop it during the block."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    @property
    def requests(self) -> list[str]:
        """The requests in its log: "GET /v2/...", the oldest first."""
        text = (self.layout.logs / f"{self._name}.log").read_text(errors="replace")
        done = (json.loads(line) for line in text.splitlines() if '"http.response.status"' in line)
        return [f"{line['http.request.method']} {line['http.request.uri']}" for line in done]

    @property
    def _name(self) -> str:
        return "registry-plain" if self.plain else "registry"


def configuration(folder: Path, address: str, pki: Path | None) -> Mapping[str, Any]:
    """The configuration of a registry with its files in `folder`; with a `pki`, it has TLS and passwords."""
    whole: dict[str, Any] = {
        "version": 0.1,
        "log": {"level": "info", "formatter": "json", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(folder / "data")}, "delete": {"enabled": True}},
        "http": {"addr": address, "secret": "of tests"},
    }
    if pki:
        whole["http"]["tls"] = {"certificate": str(pki / "registry.crt"), "key": str(pki / "registry.key")}
        whole["auth"] = {"htpasswd": {"realm": "tests", "path": str(folder / "htpasswd")}}
    return whole


def command(folder: Path, address: str, pki: Path | None) -> list[str]:
    """Write what a registry reads to `folder`. Returns the command that serves it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "htpasswd").write_text(htpasswd(*PASSWORDS))
    (folder / "config.yml").write_text(configs.text(configuration(folder, address, pki)))
    program = str(gotools.ensure("registry"))
    return ["env", "OTEL_TRACES_EXPORTER=none", program, "serve", str(folder / "config.yml")]


@contextmanager
def on_loopback(folder: Path) -> Iterator[str]:
    """A registry with TLS and passwords for programs of this machine, without a cluster. Yields its address.

    `folder` gets its files; `folder`/pki/ca.crt is the authority that signed its certificate.
    """
    pki = folder / "pki"
    certificates.make_authority(pki)
    certificates.issue(pki, Certificate("registry", "/CN=registry", ("IP:127.0.0.1",)))
    log, file = folder / "registry.log", folder / "registry.pid"
    identity = processes.start(command(folder, "127.0.0.1:0", pki), log, file)
    try:
        processes.wait_until(
            lambda: bool(_ports(log)),
            *("the registry does not listen", log, START_SECONDS),
            runs=lambda: processes.alive(identity),
        )
        yield f"127.0.0.1:{_ports(log)[0]}"
    finally:
        processes.stop(file)


def _ports(log: Path) -> list[str]:
    """The port that a registry's log says it listens on."""
    return re.findall(r"listening on 127\.0\.0\.1:(\d+)", log.read_text(errors="replace"))


@contextmanager
def running(folder: Path, *, plain: bool = False, layout: Layout = LAYOUT) -> Iterator[Registry]:
    """A registry with its files in `folder`, from which the nodes can pull; it ends with the block."""
    it = Registry(folder, plain, layout)
    it.stop()  # the registry of an interrupted test
    (layout.logs / f"{it._name}.log").unlink(missing_ok=True)
    trust(it.address, layout, tls=not plain)
    it.start()
    try:
        yield it
    finally:
        it.stop()


def forget(address: str) -> None:
    """Remove all images that were pulled from `address` from every node, so that the next pod pulls again."""
    for node in NODES:
        names = [name for name in nodes.images_on(LAYOUT, node) if name.startswith(f"{address}/")]
        if names:
            nodes.remove_images(LAYOUT, node, names)
