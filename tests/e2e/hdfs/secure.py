"""A secure HDFS with those who may use it, and what applications need of it in their namespace."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import program_jar

from cluster.handle import Cluster
from common.ports import free_ports
from hadoop import hdfs
from hadoop.hdfs import Hdfs, Lives
from hadoop.kdc import REALM, Kdc
from hadoop.place import CONTROL, LOOPBACK, ON_NODES, Place

PORTS, OTHER_PORTS = (8088, hdfs.NAMENODE_PORT), (8089, hdfs.NAMENODE_PORT + 1)
"""The KDC's and the NameNode's, of the HDFS that tests share, and of one beside it."""
SHORT = Lives(120, 300)
"""Lives of tokens that a test can see the end of."""
SHORTEST_TICKET = 120
"""Seconds that tickets live at least: Hadoop logs in again after a minute at the earliest."""
LONG = Lives()
"""Lives that no test on a slow machine outlasts."""
USERS = ("alice", "bob", "gateway", "carol", "dave")
HERE = Path(__file__).parent
SCRIPT = HERE.parent / "runtime" / "applications" / "secure_hdfs.py"


@dataclass(frozen=True)
class Secure:
    """An HDFS, and the keytabs of `USERS`, each of whom has a closed folder /user/NAME."""

    hdfs: Hdfs
    kdc: Kdc
    keytabs: Mapping[str, Path]

    def prepare(self, cluster: Cluster, namespace: str, **logins: Path) -> None:
        """Make in a namespace what an engineer makes there: krb5.conf, Hadoop's files, Secrets.

        A Secret has its file under the key "it".
        """
        files = [self.hdfs.folder / "client" / name for name in ("core-site.xml", "hdfs-site.xml")]
        cluster.apply(
            _map(namespace, "ConfigMap", "krb5", {"krb5.conf": self.kdc.client_conf.read_text()}),
            _map(namespace, "ConfigMap", "hadoop-conf", {path.name: path.read_text() for path in files}),
            *(_map(namespace, "Secret", name, {"it": encoded(path)}) for name, path in logins.items()),
        )

    def login(self, field: str, user: str = "", name: str = "login") -> dict[str, Any]:
        """A section `kerberos` with the key of a Secret."""
        principal = {"principal": f"{user}@{REALM}"} if user else {}
        return {**principal, field: {"name": name, "key": "it"}, "krb5ConfigMap": "krb5"}


def encoded(path: Path) -> str:
    """A file, as a Secret has it."""
    return base64.b64encode(path.read_bytes()).decode()


def _map(namespace: str, kind: str, name: str, data: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


@contextmanager
def on_cluster(folder: Path, lives: Lives = LONG, ports: Sequence[int] = PORTS) -> Iterator[Secure]:
    """KDC and HDFS on the cluster's own network, a DataNode on each node; gone afterwards.

    `lives`: of tickets, too.
    """
    with _running(folder, CONTROL, ON_NODES, lives, ports) as it:
        yield it


@contextmanager
def on_loopback(folder: Path, lives: Lives = LONG, protection: str = "authentication") -> Iterator[Secure]:
    """KDC and HDFS on this machine's loopback address; gone afterwards."""
    ports = free_ports(2)
    with _running(folder, LOOPBACK, (Place(name="node1"),), lives, ports, protection) as it:
        yield it


@contextmanager
def _running(
    folder: Path,
    namenode: Place,
    datanodes: Sequence[Place],
    lives: Lives,
    ports: Sequence[int],
    protection: str = "authentication",
) -> Iterator[Secure]:
    jar = program_jar.made(folder / "programs")
    kdc_port, port = ports
    ticket = max(lives.renewal, SHORTEST_TICKET)
    kdc = Kdc(folder / "kdc", kdc_port, ticket, lives.maximum, namenode)
    keytabs = {user: kdc.keytab(user) for user in USERS}
    kdc.start()
    try:
        with hdfs.running(
            folder / "hdfs", kdc, namenode, datanodes, lives, port, protection=protection
        ) as it:
            homes = [f"/user/{user}" for user in USERS]
            it.shell(
                f"-mkdir -p /apps {' '.join(homes)}",
                *(f"-chown {user} /user/{user}" for user in USERS),
                f"-chmod 700 {' '.join(homes)}",
                f"-put {SCRIPT} {jar} /apps",
                f"-put {SCRIPT} /user/bob/closed.txt",
            )
            yield Secure(it, kdc, keytabs)
    finally:
        kdc.stop()
