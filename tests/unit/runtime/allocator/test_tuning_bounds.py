"""Whatever number a valid document says, the allocator takes: it would end a run that was checked before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sparkgen.contract import TUNING_FILE
from sparkgen.model import describe
from sparkgen.resources.conf import tuning_files
from sparkgen.runtime.allocator.driver.tuning import GREATEST, BadTuning, parse
from sparkgen.schema import accepts
from tests import reading

DOCUMENT = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: {name: pi}
spec:
  type: Python
  sparkVersion: "3.5.8"
  image: registry.example.com/spark:3.5.8
  runtimeImage: registry.example.com/sparkgen-runtime:1
  mainApplicationFile: local:///opt/app/pi.py
"""
NUMBERS = (
    ("executor", "instances"),
    ("dynamicAllocation", "minExecutors"),
    ("dynamicAllocation", "initialExecutors"),
    ("dynamicAllocation", "maxExecutors"),
    ("allocation", "batchSize"),
    ("allocation", "maxPendingPods"),
    ("allocation", "maxUnschedulablePods"),
    ("allocation", "maxExecutorFailures"),
)
DURATIONS = ("batchDelay", "executorTimeout", "pendingTimeout", "executorFailuresValidityInterval")


def with_(section: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A document with a section of its spec."""
    value: dict[str, Any] = reading.load(DOCUMENT)
    value["spec"][section] = dict(values)
    return value


def tuned(value: Mapping[str, Any]) -> str:
    """The tuning.json that is rendered from it."""
    application: Any = describe(value)
    return tuning_files(application)[TUNING_FILE]


@pytest.mark.parametrize(("section", "name"), NUMBERS)
def test_the_largest_number_of_a_document_is_read(section: str, name: str) -> None:
    """And one more is refused by the schema and by the allocator alike."""
    values = {"enabled": True} if section == "dynamicAllocation" else {}
    if name in ("minExecutors", "initialExecutors"):
        values = {**values, "maxExecutors": GREATEST}
    largest = with_(section, {**values, name: GREATEST})
    assert accepts(largest)
    assert str(GREATEST) in tuned(largest)
    parse(tuned(largest))
    larger = with_(section, {**values, name: GREATEST + 1})
    assert not accepts(larger)
    with pytest.raises(BadTuning, match=f"from [01] to {GREATEST}"):
        parse(tuned(larger))


@pytest.mark.parametrize(
    "text", ["30d", "3650d", "9223372036854775807ms", "106751991167d", "9223372036854775807d"]
)
@pytest.mark.parametrize("name", DURATIONS)
def test_every_duration_of_a_document_is_read(name: str, text: str) -> None:
    """Spark reads durations into a long, so thirty days are more than an int of milliseconds, and valid."""
    value = with_("allocation", {name: text})
    assert accepts(value)
    parse(tuned(value))
