"""What lint says about encrypted traffic with HDFS."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sparkgen.lint.rules_cost import CIPHER_SUITES, FAST_SUITE, slow_encryption
from sparkgen.lint.settings import Settings
from sparkgen.lint.subject import Subject
from tests.unit.semantics.documents import BASE

PROTECTION = "dfs.data.transfer.protection"
PRIVACY = {PROTECTION: "privacy"}


def reported(**spec: Any) -> list[tuple[str | int, ...]]:
    """The places that lint reports."""
    value = copy.deepcopy(BASE)
    value["spec"] |= spec
    return [found.path for found in slow_encryption.check(Subject.of(value, Settings()))]


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"hadoopConf": PRIVACY}, ("hadoopConf", PROTECTION)),
        ({"hadoopConf": {PROTECTION: " Privacy "}}, ("hadoopConf", PROTECTION)),
        ({"hadoopConf": {PROTECTION: "privacy, integrity"}}, ("hadoopConf", PROTECTION)),
        ({"hadoopConf": {"dfs.encrypt.data.transfer": "true"}}, ("hadoopConf", "dfs.encrypt.data.transfer")),
        (
            {"sparkConf": {f"spark.hadoop.{PROTECTION}": "privacy"}},
            ("sparkConf", f"spark.hadoop.{PROTECTION}"),
        ),
        (
            {"hadoopConf": PRIVACY, "sparkConf": {f"spark.hadoop.{CIPHER_SUITES}": " "}},
            ("hadoopConf", PROTECTION),
        ),
        ({"hadoopConf": {**PRIVACY, "dfs.encrypt.data.transfer": "true"}}, ("hadoopConf", PROTECTION)),
    ],
)
def test_encryption_without_a_cipher_is_reported_once_where_it_is_set(
    spec: dict[str, Any], place: tuple[str, ...]
) -> None:
    """In Hadoop, blanks around a value and its case do not matter, nor does a cipher that is blank."""
    assert reported(**spec) == [("spec", *place)]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"hadoopConf": {PROTECTION: "integrity"}},
        {"hadoopConf": {"dfs.encrypt.data.transfer": "false"}},
        {"hadoopConf": {**PRIVACY, CIPHER_SUITES: FAST_SUITE}},
        {"hadoopConf": PRIVACY, "sparkConf": {f"spark.hadoop.{CIPHER_SUITES}": FAST_SUITE}},
        {"hadoopConf": PRIVACY, "hadoopConfigMap": "hadoop"},
        {"hadoopConf": {PROTECTION: "integrity"}, "sparkConf": {f"spark.hadoop.{PROTECTION}": "privacy"}},
    ],
)
def test_no_encryption_and_a_named_or_an_unknown_cipher_are_not_reported(spec: dict[str, Any]) -> None:
    """`hadoopConf` takes precedence over `sparkConf`, and a ConfigMap may name a cipher."""
    assert reported(**spec) == []
