"""An application in pods that outlives its ticket, its tokens, and the absence of who gives them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from deployed import Deployed, deploy, wait_until
from in_pods import NEW, check, job, says, told
from secure import OTHER_PORTS, on_cluster

from cluster.handle import Cluster
from hadoop.hdfs import Lives

BRIEF = Lives(60, 240)
"""Tokens are renewed each 45 seconds: once an outage has begun, one is due soon."""
SECONDS = BRIEF.maximum + 100
"""For which the application goes on: past the longest life of a token, and of the first ticket."""
FEWEST = 20
"""Executors that come and go meanwhile: each round of the application asks for new ones."""

pytestmark = [pytest.mark.own_cluster, pytest.mark.full]


@dataclass(frozen=True)
class Around:
    """A part of the application, from its beginning to its end, in seconds since 1970."""

    began: float
    ended: float

    def touches(self, other: Around) -> bool:
        """Whether both were going on at a time."""
        return self.began <= other.ended and other.began <= self.ended


@contextmanager
def away(
    application: Deployed, stop: Callable[[], None], start: Callable[[], None], outages: list[Around]
) -> Iterator[None]:
    """A server is away until `sparkgen status` says so, and the block is over; then wait for new tokens."""
    began = time.time()
    stop()
    try:
        wait_until(lambda: cannot_renew(application), 120, "it is said that tokens end", application.story)
        yield
    finally:
        start()
    wait_until(lambda: not cannot_renew(application), 120, "there are new tokens", application.story)
    outages.append(Around(began, time.time()))


def cannot_renew(application: Deployed) -> bool:
    """Whether `sparkgen status` says that tokens are not renewed, and when they end."""
    found = told(application)
    if found is None or found["code"] != "tokens":
        return False
    assert "hadoopfs" in found["cause"], found
    assert re.search(r"expire, at 20\d\d-\d\d-\d\dT", found["cause"]), found
    return True


def test_tokens_are_renewed_though_namenode_and_kdc_were_away(
    cluster: Cluster, restricted: str, tmp_path: Path
) -> None:
    """It is said, and over when they are back: after the longest life of a token all rounds go well.

    Executors stay for one round each, so that many come before, during and after a renewal; an executor that
    missed one would fail its round.
    """
    with on_cluster(tmp_path / "brief", BRIEF, OTHER_PORTS) as hadoop:
        hadoop.prepare(cluster, restricted, login=hadoop.keytabs["alice"])
        value = job(
            *("long", NEW, hadoop.login("keytab", "alice"), "/user/alice/long", "--for", str(SECONDS)),
            dynamicAllocation={"enabled": True, "maxExecutors": 2, "executorIdleTimeout": "1s"},
            sparkConf={
                "spark.security.credentials.retryWait": "5s",
                "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
            },
        )
        application = deploy(cluster, restricted, value)
        says(application, "round 2: 499500")
        began, outages = time.time(), list[Around]()
        with away(application, hadoop.hdfs.stop_namenode, hadoop.hdfs.start_namenode, outages):
            assert "TokensNotRenewed" in [event["reason"] for event in application.events()]
        with away(application, hadoop.kdc.stop, hadoop.kdc.start, outages):
            pass
        wait_until(lambda: bool(application.finished()), SECONDS + 240, "its end", application.story)
        log = check(application, "alice")
    (tmp_path / "driver.log").write_text(application.logs("spark-kubernetes-driver", "--timestamps"))
    assert [line for line in failures(log) if not any(line.touches(each) for each in outages)] == [], log
    well = [float(time) for time in re.findall(r"round \d+: 499500 begun (\d+)", log)]
    assert max(well) > began + BRIEF.maximum, log
    assert len(set(re.findall(r"Registered executor .* with ID (\d+)", log))) >= FEWEST
    assert log.count("Got new tokens of hadoopfs") == len(outages)


def failures(log: str) -> list[Around]:
    """The rounds that failed."""
    found = re.findall(r"round \d+ failed: begun (\d+) ended (\d+)", log)
    return [Around(float(began), float(ended)) for began, ended in found]
