"""Logins in pods that fail: `sparkgen status` says why in one line, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from deployed import deploy
from in_pods import NEW, job, reason
from secure import Secure

from cluster.handle import Cluster
from hadoop.kdc import REALM, Kdc

pytestmark = pytest.mark.own_cluster

CAUSES = {
    "wrong": "the keytab has no key for {}",
    "old": "the key of {} has changed since the keytab was created",
    "expired": "{} has expired in the KDC",
}
"""What is said of each login. The name of the application is the name of its Secret."""
OF = {"wrong": "alice", "old": "carol", "expired": "dave"}


@contextmanager
def clock(kdc: Kdc, off: str) -> Iterator[None]:
    """The KDC's clock is off meanwhile, as the clock of a node may be."""
    kdc.stop()
    kdc.start(off)
    try:
        yield
    finally:
        kdc.stop()
        kdc.start()


def test_a_login_that_fails_is_one_clear_reason(cluster: Cluster, restricted: str, hadoop: Secure) -> None:
    """Somebody else's keytab, one that is too old, a principal that has expired, and a clock that is off."""
    keytabs = hadoop.keytabs
    hadoop.kdc.change_key("carol")
    hadoop.kdc.expire("dave")
    hadoop.prepare(
        cluster,
        restricted,
        wrong=keytabs["bob"],
        old=keytabs["carol"],
        expired=keytabs["dave"],
        good=keytabs["alice"],
    )

    def document(name: str, user: str) -> dict[str, Any]:
        return job(name, NEW, hadoop.login("keytab", user, name), f"/user/{user}/out")

    failing = {name: deploy(cluster, restricted, document(name, user)) for name, user in OF.items()}
    found = {name: reason(application) for name, application in failing.items()}
    assert found == {name: text.format(f"{OF[name]}@{REALM}") for name, text in CAUSES.items()}
    with clock(hadoop.kdc, "+1h"):
        skewed = reason(deploy(cluster, restricted, document("good", "alice")))
    assert skewed == f"the clocks of the node and of the KDC differ too much for a login of alice@{REALM}"
