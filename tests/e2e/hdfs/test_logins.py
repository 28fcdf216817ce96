"""What `kerberos` is rendered to, with a real KDC, a real secure HDFS and the real jar; Java only."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from local_driver import Ended, document, run
from secure import SHORT, Secure, on_loopback

from spark.trial_driver import Trial
from sparkgen.live.driverlog import failure_in
from sparkgen.spark_versions import COMPILED

Trials = Callable[[str], Trial]

NEW = max(COMPILED)
NO_LOGIN = "executors: [(False, [], []), (False, [], [])]"
"""What executors have of a login: no folder, no variable, no ticket cache."""


def check(ended: Ended, user: str, gateway: str | None = None) -> None:
    """The application has read and written as `user`, and its executors had nothing to log in with."""
    assert ended.code == 0, ended.log[-6000:] + ended.executors[-3000:]
    assert f"user: {user} for: {gateway}" in ended.log
    assert NO_LOGIN in ended.log
    assert ("sum: 499500" in ended.log, "even: 50" in ended.log) == (True, True)


def reason(ended: Ended) -> str:
    """Why the driver failed, as `sparkgen status` says it."""
    assert ended.code != 0
    found = failure_in(ended.log)
    assert found is not None, ended.log[-6000:]
    assert found.code == "login", (found, ended.log[-6000:])
    return found.cause


@pytest.mark.parametrize("line", [pytest.param(NEW, marks=pytest.mark.core), min(COMPILED)])
def test_a_keytab_is_enough(trial: Trials, loopback: Secure, line: str) -> None:
    """The main file is fetched, files are written as the user, and another user's stay closed."""
    login = loopback.login("keytab", "alice")
    value = document(loopback, login, f"/user/alice/{line}", "--of-others", "/user/bob/closed.txt")
    ended = run(trial(line), loopback, value, loopback.keytabs["alice"])
    check(ended, "alice")
    assert "refused: True" in ended.log
    assert " alice " in loopback.hdfs.shell(f"-ls /user/alice/{line}")


def test_a_gateway_acts_for_whom_hdfs_lets_it(trial: Trials, loopback: Secure) -> None:
    """As bob, whom the NameNode lists; files are bob's, and the gateway is behind it."""
    login = loopback.login("keytab", "gateway")
    value = document(loopback, login, "/user/bob/out", proxyUser="bob")
    check(run(trial(NEW), loopback, value, loopback.keytabs["gateway"]), "bob", "gateway")
    assert " bob " in loopback.hdfs.shell("-ls /user/bob/out")


def test_a_gateway_acts_for_nobody_else(trial: Trials, loopback: Secure) -> None:
    """HDFS refuses, and the gateway's own rights are not used instead."""
    login = loopback.login("keytab", "gateway")
    value = document(loopback, login, "/user/alice/out", proxyUser="alice")
    ended = run(trial(NEW), loopback, value, loopback.keytabs["gateway"])
    assert reason(ended).startswith("HDFS does not allow the gateway to impersonate this user")


def test_a_ticket_cache_is_enough(trial: Trials, loopback: Secure, tmp_path: Path) -> None:
    """The driver is whoever has the tickets; executors get tokens."""
    loopback.kdc.ticket("alice", loopback.keytabs["alice"], tmp_path / "tickets")
    value = document(loopback, loopback.login("ticketCache", "alice"), "/user/alice/tickets")
    check(run(trial(NEW), loopback, value, tmp_path / "tickets"), "alice")


def test_tokens_of_a_secret_are_enough(trial: Trials, loopback: Secure, tmp_path: Path) -> None:
    """Whoever has a file of tokens needs no keytab: to HDFS it is their owner."""
    loopback.hdfs.tokens(tmp_path / "tokens", "alice", ("alice", loopback.keytabs["alice"]))
    value = document(loopback, loopback.login("delegationToken"), "/user/alice/tokens")
    ended = run(trial(NEW), loopback, value, tmp_path / "tokens")
    assert ended.code == 0, ended.log[-6000:]
    assert ("sum: 499500" in ended.log, NO_LOGIN in ended.log) == (True, True)
    assert " alice " in loopback.hdfs.shell("-ls /user/alice/tokens")


def test_the_keytab_of_somebody_else_is_one_clear_reason(trial: Trials, loopback: Secure) -> None:
    """The driver ends before it begins."""
    value = document(loopback, loopback.login("keytab", "alice"), "/user/alice/wrong")
    ended = run(trial(NEW), loopback, value, loopback.keytabs["bob"])
    assert reason(ended) == "the keytab has no key for alice@SPARKGEN.TEST"


def test_what_travels_may_be_encrypted(trial: Trials, tmp_path: Path) -> None:
    """An HDFS that takes nothing else: encrypted calls, and encrypted data; executors do as it wants."""
    with on_loopback(tmp_path / "private", protection="privacy") as secure:
        value = document(secure, secure.login("keytab", "alice"), "/user/alice/private")
        check(run(trial(NEW), secure, value, secure.keytabs["alice"]), "alice")


def test_protection_that_hdfs_does_not_have_is_one_clear_reason(trial: Trials, loopback: Secure) -> None:
    """The application would encrypt its calls, and the NameNode does not."""
    value = document(loopback, loopback.login("keytab", "alice"), "/user/alice/protected")
    value["spec"]["hadoopConf"]["hadoop.rpc.protection"] = "privacy"
    ended = run(trial(NEW), loopback, value, loopback.keytabs["alice"])
    assert reason(ended) == "HDFS and the application have no hadoop.rpc.protection in common"


@pytest.mark.full
def test_a_keytab_outlives_tickets_and_tokens(trial: Trials, tmp_path: Path) -> None:
    """It goes on after the end of the first ticket, its renewable life, and the longest life of a token."""
    with on_loopback(tmp_path / "short", SHORT) as secure:
        seconds = SHORT.maximum + 60
        value = document(secure, secure.login("keytab", "alice"), "/user/alice/long", "--for", str(seconds))
        ended = run(trial(NEW), secure, value, secure.keytabs["alice"], seconds + 900)
    check(ended, "alice")
    sums = re.findall(r"round \d+: (\d+)", ended.log)
    assert len(sums) >= 20
    assert set(sums) == {"499500"}
    assert not re.search(r"round \d+ failed", ended.log)
