"""Delegation tokens: a real KDC and real JVMs, with a provider whose service is away for a while."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from common.ports import free_port
from hadoop import fake_tokens
from hadoop.kdc import REALM, Kdc
from spark.trial_driver import Driver, Trial
from sparkgen.spark_versions import COMPILED

lines = pytest.mark.parametrize("line", COMPILED)
LIFE, RATIO = 30, 0.75
"""Seconds that tokens live, and after which part of it Spark renews them."""
RENEWALS, COMING, PAUSE = 2, 4, 0.8
"""Executors that come around each renewal, and the seconds from one to the next."""


@pytest.fixture
def kdc(tmp_path: Path) -> Iterator[Kdc]:
    """A KDC that serves."""
    made = Kdc(tmp_path / "kdc", free_port())
    made.start()
    yield made
    made.stop()


def until(condition: Callable[[], object], what: str, seconds: float = 120.0) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def started(made: Trial, kdc: Kdc, **conf: str) -> Driver:
    """A driver with a keytab, whose only tokens are the provider's."""
    provider, keytab = fake_tokens.compiled(made.home, made.folder), kdc.keytab("alice")
    option = f"-Djava.security.krb5.conf={kdc.client_conf}"
    made.allocator.options = (option,)
    made.allocator.start()
    return made.start(
        {
            "spark.executor.instances": "1",
            "spark.driver.extraJavaOptions": option,
            "spark.hadoop.hadoop.security.authentication": "kerberos",
            "spark.kerberos.principal": f"alice@{REALM}",
            "spark.kerberos.keytab": str(keytab),
            "spark.security.credentials.hadoopfs.enabled": "false",
            "spark.faketokens.folder": str(made.folder),
            **conf,
        },
        jar=Path(f"{made.jar}:{provider}"),
    )


@lines
def test_tokens_are_renewed_after_their_service_was_away(
    trial: Callable[[str], Trial], kdc: Kdc, line: str
) -> None:
    """It is tried again and said; who comes meanwhile gets the last tokens, and after it the new ones."""
    made = trial(line)
    driver = started(made, kdc, **{"spark.faketokens.life": "8s", "spark.sparkgen.tokens.retryPause": "1s"})
    calls = made.folder / "calls"
    driver.do("sc = SparkContext()")
    until(lambda: calls.stat().st_size >= 2, "the first renewal")
    (made.folder / "away").touch()
    state = made.allocator.wait(lambda state: state.get("tokenFailures"), "the word of the failure")
    failure = state["tokenFailures"][0]
    assert (failure["service"], failure["attempts"]) == ("faketokens", 1)
    assert 0 < failure["expiresAt"] - failure["since"] <= 8
    made.allocator.wait(lambda state: state["tokenFailures"][0]["attempts"] >= 3, "more attempts")
    executor = made.allocator.launch()
    made.allocator.wait(lambda state: executor in state["registered"], "an executor that comes meanwhile")
    log = made.folder / f"executor-{executor}.log"
    until(lambda: sizes(log), "the tokens that are there")
    before = max(sizes(log))
    (made.folder / "away").unlink()
    made.allocator.wait(lambda state: not state.get("tokenFailures"), "the end of it")
    until(lambda: max(sizes(log)) > before, "new tokens")
    called = calls.stat().st_size
    until(lambda: calls.stat().st_size > called, "the next renewal, as if nothing had been")
    said = driver.output()
    assert "No new tokens of faketokens: attempt 1 failed" in said
    assert re.search(
        r"attempt 1 failed.*\. The current tokens expire at \S+Z, and tasks fail from then on", said
    )
    assert f"Got new tokens of faketokens; there were none since {utc(failure['since'])}." in said
    driver.do("sc.stop()")
    assert driver.finish() == 0


@lines
def test_a_kdc_that_is_away_at_a_renewal_is_told_of(
    trial: Callable[[str], Trial], kdc: Kdc, line: str
) -> None:
    """No login works, so that Spark asks nobody for tokens: it is said before those end that are there."""
    made = trial(line)
    driver = started(
        made, kdc, **{"spark.faketokens.life": "40s", "spark.security.credentials.retryWait": "2s"}
    )
    driver.do("sc = SparkContext()")
    kdc.stop()
    state = made.allocator.wait(lambda state: state.get("tokenFailures"), "the word of the failure")
    (failure,) = state["tokenFailures"]
    assert (failure["service"], failure["attempts"]) == ("faketokens", 1)
    assert time.time() < failure["expiresAt"], failure
    kdc.start()
    made.allocator.wait(lambda state: not state.get("tokenFailures"), "the end of it")
    said = driver.output()
    assert "no login works to request them" in said
    assert f"Got new tokens of faketokens; there were none since {utc(failure['since'])}." in said
    driver.do("sc.stop()")
    assert driver.finish() == 0


@lines
def test_executors_that_come_during_a_renewal_have_its_tokens(
    trial: Callable[[str], Trial], kdc: Kdc, line: str
) -> None:
    """Some fetch their configuration before it and register after it: each has the new tokens at once.

    Without a word after their registration these would have them with the next renewal, and that is too late.
    """
    made = trial(line)
    driver = started(made, kdc, **{"spark.faketokens.life": f"{LIFE}s"})
    calls, there = made.folder / "calls", made.folder / "executor-1.log"
    driver.do("sc = SparkContext()")
    for _ in range(RENEWALS):
        before, due = calls.stat().st_size, calls.stat().st_mtime + LIFE * RATIO
        heard = len(sizes(there))
        until(lambda due=due: time.time() > due - COMING * PAUSE, "the next renewal is near")
        came = []
        for _ in range(COMING):
            came.append(made.allocator.launch())
            time.sleep(PAUSE)
        made.allocator.wait(lambda state, came=came: {*came} <= {*state["registered"]}, "all have come")
        until(lambda before=before: calls.stat().st_size > before, "the renewal")
        until(lambda heard=heard: len(sizes(there)) > heard, "those that are there hear of it")
        for log in (made.folder / f"executor-{executor}.log" for executor in came):
            until(lambda log=log: sizes(log)[-1:] == sizes(there)[-1:], f"{log.name} has the new tokens")
        assert calls.stat().st_size == before + 1, "only with the next renewal, or the machine is too slow"
    driver.do("sc.stop()")
    assert driver.finish() == 0


def utc(seconds: int) -> str:
    """A time as the driver's log writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def sizes(log: Path) -> list[int]:
    """The sizes of the tokens that an executor was sent after it had registered, in bytes."""
    found = re.findall(r"Received tokens of (\d+) bytes", log.read_text("utf-8", "replace"))
    return list(map(int, found))
