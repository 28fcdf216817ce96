"""A secure HDFS with those who may use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.ports import free_ports
from hadoop import hdfs
from hadoop.hdfs import Hdfs, Lives
from hadoop.kdc import REALM, Kdc
from hadoop.place import LOOPBACK, Place

SHORT = Lives(120, 300)
"""Lives of tokens that a test can see the end of."""
LONG = Lives()
"""Lives that no test on a slow machine outlasts."""
USERS = ("alice", "bob", "gateway")
HERE = Path(__file__).parent
SCRIPT = HERE.parent / "runtime" / "applications" / "secure_hdfs.py"


@dataclass(frozen=True)
class Secure:
    """An HDFS, and the keytabs of `USERS`, each of whom has a closed folder /user/NAME."""

    hdfs: Hdfs
    keytabs: Mapping[str, Path]

    def login(self, field: str, user: str = "") -> dict[str, Any]:
        """A section `kerberos` with the key of a Secret."""
        principal = {"principal": f"{user}@{REALM}"} if user else {}
        return {**principal, field: {"name": "login", "key": "it"}, "krb5ConfigMap": "krb5"}


@contextmanager
def on_loopback(folder: Path, lives: Lives = LONG) -> Iterator[Secure]:
    """KDC and HDFS on this machine's loopback address; gone afterwards. `lives`: of tickets, too."""
    kdc_port, port = free_ports(2)
    kdc = Kdc(folder / "kdc", kdc_port, lives.renewal, lives.maximum)
    keytabs = {user: kdc.keytab(user) for user in USERS}
    kdc.start()
    try:
        with hdfs.running(folder / "hdfs", kdc, LOOPBACK, (Place(name="node1"),), lives, port) as it:
            homes = [f"/user/{user}" for user in USERS]
            it.shell(
                f"-mkdir -p /apps {' '.join(homes)}",
                *(f"-chown {user} /user/{user}" for user in USERS),
                f"-chmod 700 {' '.join(homes)}",
                f"-put {SCRIPT} /apps/secure_hdfs.py",
                f"-put {SCRIPT} /user/bob/closed.txt",
            )
            yield Secure(it, keytabs)
    finally:
        kdc.stop()
