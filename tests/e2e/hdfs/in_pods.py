"""Applications in pods that use a secure HDFS: what they are, and what they say."""

from __future__ import annotations

from typing import Any

import pytest
from deployed import Deployed, document, wait_until
from looking import status

from cluster.images import TESTED_VERSIONS

OLD, NEW = TESTED_VERSIONS
MAIN_FILE = "hdfs:///apps/secure_hdfs.py"
NO_LOGIN = "executors: [(False, [], []), (False, [], [])]"
"""What executors have of a login: no folder, no variable, no ticket cache."""


def job(name: str, version: str, kerberos: dict[str, Any], *arguments: str, **spec: Any) -> dict[str, Any]:
    """An application whose main file is in HDFS."""
    made = document(name, version, "", *arguments, kerberos=kerberos, hadoopConfigMap="hadoop-conf", **spec)
    made["spec"]["mainApplicationFile"] = MAIN_FILE
    if "dynamicAllocation" not in spec:
        made["spec"]["executor"]["instances"] = 1
    return made


def check(application: Deployed, user: str, gateway: str | None = None) -> str:
    """The application has read and written as `user`; its log."""
    assert application.wait() == "Complete", application.story()
    log = application.logs()
    assert f"user: {user} for: {gateway}" in log
    assert NO_LOGIN in log
    assert ("sum: 499500" in log, "even: 50" in log) == (True, True)
    return log


def says(application: Deployed, word: str) -> None:
    """Wait until the driver has said something."""

    def there() -> bool:
        if application.finished() == "Failed":
            pytest.fail(application.story())
        return application.has_driver() and word in application.logs()

    wait_until(there, 240, f"the driver says {word!r}", application.story)


def reason(application: Deployed, within: float = 240) -> str:
    """Why an application has failed, as `sparkgen status` says it in one line."""
    assert application.wait(within) == "Failed", application.story()
    found = told(application)
    assert found is not None, application.story()
    assert found["code"] == "login", (found, application.story())
    return str(found["cause"])


def told(application: Deployed) -> dict[str, Any] | None:
    """The reason that `sparkgen status` tells of an application; None when it tells none."""
    row = status(application.cluster, application.namespace, application.name)[application.name]
    found: dict[str, Any] | None = row["reason"]
    return found
