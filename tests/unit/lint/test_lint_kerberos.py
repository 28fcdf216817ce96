"""Where a login to Kerberos leaks: its file on executors, its tokens on the network."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sparkgen.lint.rules_hardening import clear_traffic
from sparkgen.lint.rules_kerberos import clear_tokens, spread_keytab
from sparkgen.lint.settings import Settings
from sparkgen.lint.subject import Subject
from tests.unit.semantics.documents import BASE

LOGIN = {"principal": "alice@EXAMPLE.COM", "keytab": {"name": "alice-keytab", "key": "alice.keytab"}}
SECRET = {"name": "s", "secret": {"secretName": "alice-keytab"}}
PROJECTED = {"name": "s", "projected": {"sources": [{"secret": {"name": "alice-keytab"}}]}}
MOUNTS = {"volumeMounts": [{"name": "s", "mountPath": "/mnt/s"}]}


def subject(version: str = "4.0.1", **spec: Any) -> Subject:
    """An application that logs in."""
    value = copy.deepcopy(BASE)
    value["spec"] |= {"kerberos": LOGIN, "sparkVersion": version, **spec}
    return Subject.of(value, Settings())


@pytest.mark.parametrize(
    ("version", "conf", "encrypted"),
    [
        ("4.0.1", {}, True),
        ("3.5.8", {}, True),
        ("4.0.1", {"spark.network.crypto.enabled": "false", "spark.ssl.rpc.enabled": "true"}, True),
        ("3.5.8", {"spark.network.crypto.enabled": "false", "spark.ssl.rpc.enabled": "true"}, False),
        ("4.0.1", {"spark.network.crypto.enabled": "false", "spark.ssl.enabled": "true"}, False),
        ("3.5.8", {"spark.network.crypto.enabled": "false", "spark.ssl.enabled": "true"}, False),
        ("4.0.1", {"spark.network.crypto.enabled": "false"}, False),
    ],
)
def test_tokens_are_encrypted_by_what_encrypts_rpc(
    version: str, conf: dict[str, str], encrypted: bool
) -> None:
    """`spark.ssl.enabled` is for web pages, and TLS between driver and executors came with Spark 4."""
    made = subject(version, sparkConf=conf)
    assert bool(list(clear_tokens.check(made))) is not encrypted
    assert bool(list(clear_traffic.check(made))) is not encrypted


@pytest.mark.parametrize(
    "spec",
    [
        {"sparkConf": {"spark.files": "/opt/a,/opt/sparkgen/kerberos/keytab"}},
        {"sparkConf": {"spark.files": "file:///opt/sparkgen/kerberos/keytab"}},
        {"sparkConf": {"spark.archives": "file:/opt/sparkgen/kerberos/..data/keytab#k"}},
        {"sparkConf": {"spark.files": "file://localhost/opt/x/../sparkgen//kerberos/*"}},
        {"sparkConf": {"spark.jars": "/opt/sparkgen/kerb*/keytab"}},
        {"deps": {"files": ["local:///opt/sparkgen/kerberos/keytab"]}},
        {"deps": {"pyFiles": ["local:///opt/sparkgen/kerberos"]}},
        {"volumes": [SECRET], "executor": MOUNTS},
        {"volumes": [PROJECTED], "driver": MOUNTS},
        {"executor": {"template": {"spec": {"volumes": [SECRET]}}, **MOUNTS}},
    ],
)
def test_the_file_of_a_login_that_reaches_executors_is_found(spec: dict[str, Any]) -> None:
    """Sent by Spark itself, or mounted in some other way than by `secrets`."""
    assert list(spread_keytab.check(subject(**spec)))


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {
            "sparkConf": {
                "spark.files": "/opt/sparkgen/conf/x,/opt/kerberos/keytab,https://a/opt/sparkgen/kerberos/x"
            }
        },
        {"deps": {"files": ["s3a://opt/sparkgen/kerberos/keytab"]}},
        {"volumes": [{"name": "s", "secret": {"secretName": "other"}}], "executor": MOUNTS},
    ],
)
def test_other_files_and_secrets_are_none_of_it(spec: dict[str, Any]) -> None:
    """Paths elsewhere, URLs, other Secrets."""
    assert not list(spread_keytab.check(subject(**spec)))
