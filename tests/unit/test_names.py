"""Names: they fit where Kubernetes puts them, and two things never share one."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sparkgen import contract, names
from sparkgen.runtime.allocator.values.attempt import ATTEMPT_LENGTH

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
OBJECT_NAMES = st.from_regex(
    r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?){0,5}", fullmatch=True
)
KINDS = st.sampled_from(["secret", "config"])


def test_the_arithmetic_of_the_longest_names() -> None:
    """The longest application name leaves room for run, attempt and every suffix, as the module explains."""
    run = names.run_name("a" * names.MAX_APPLICATION_NAME, "0" * names.RUN_HASH_LENGTH)
    application_id = f"{run}-{'0' * ATTEMPT_LENGTH}"
    assert len(application_id) <= 63  # a label's value
    assert len(run) <= 63  # a Job, whose pods get its name as a label
    assert names.MAX_APPLICATION_NAME <= 52  # a CronJob
    assert len(f"{'a' * names.MAX_APPLICATION_NAME}-ui") <= 63  # a Service


def test_run_name() -> None:
    """A run is its application and a hash."""
    assert names.run_name("pi", "0a1b2c3d") == "pi-0a1b2c3d"
    assert len(names.RUN_PLACEHOLDER) == names.RUN_HASH_LENGTH


def test_volume_names_are_readable() -> None:
    """In the common case the name says what it is."""
    assert names.volume_name("s3-credentials", "secret") == "sparkgen-secret-s3-credentials"


@given(OBJECT_NAMES, KINDS)
def test_volume_names_are_labels(source: str, kind: str) -> None:
    """Whatever a Secret is called, its volume's name is accepted, and no document's volume can have it."""
    name = names.volume_name(source, kind)
    assert LABEL.fullmatch(name)
    assert name.startswith(contract.VOLUME_PREFIX)


@given(st.tuples(OBJECT_NAMES, KINDS), st.tuples(OBJECT_NAMES, KINDS))
def test_volume_names_are_distinct(one: tuple[str, str], two: tuple[str, str]) -> None:
    """Two objects have two volumes."""
    assert (names.volume_name(*one) == names.volume_name(*two)) is (one == two)


def test_what_shortening_loses_is_in_the_digest() -> None:
    """Names that differ in dots, or at the end only, stay apart."""
    long = "a" * 100
    for one, two in (("a.b", "a-b"), (f"{long}1", f"{long}2"), ("a-b-c.d", "a.b.c-d")):
        assert names.volume_name(one, "secret") != names.volume_name(two, "secret")


def test_no_volume_of_an_object_is_one_of_the_contract() -> None:
    """The volumes through which containers meet cannot be a Secret's."""
    fixed = {value for name, value in vars(contract).items() if name.endswith("_VOLUME")}
    assert not any(name.startswith(("sparkgen-secret-", "sparkgen-config-")) for name in fixed)
