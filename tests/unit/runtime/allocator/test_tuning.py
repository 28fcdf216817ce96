"""tuning.json as settings, and followed while it changes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sparkgen.runtime.allocator.driver.tuning import BadTuning, FixedSettings, TuningChange, TuningFile, parse
from sparkgen.runtime.allocator.values.settings import AllocationSettings, MemoryRecovery


def text(**sections: Any) -> str:
    """A tuning.json of this version."""
    return json.dumps({"version": 1, **sections})


def test_dynamic_allocation() -> None:
    """Bounds and the start; a start below the minimum is the minimum, as in Spark."""
    settings = parse(text(executors={"minimum": 2, "initial": 1, "maximum": 10})).settings
    assert settings == AllocationSettings(dynamic=True, minimum=2, initial=2, maximum=10)
    assert parse(text(executors={})).settings == AllocationSettings(dynamic=True)


def test_static_allocation() -> None:
    """`instances` says that it is static, also when it is 0."""
    assert parse(text(executors={"instances": 0})).settings == AllocationSettings(dynamic=False, instances=0)


def test_times_are_milliseconds() -> None:
    """All that is in the file arrives, in seconds."""
    allocation = {
        "batchSize": 20,
        "batchDelayMs": 1500,
        "maxPendingPods": 50,
        "maxUnschedulablePods": 30,
        "waitForRegistration": True,
        "hold": True,
        "locality": {"enabled": False, "hosts": {"dn-1": "node-b", "dn-0": "node-a"}},
        "memoryOverheadRecovery": {"stepMiB": 512, "maxIncreaseMiB": 2048},
        "executorTimeoutMs": 60000,
        "pendingTimeoutMs": 30000,
        "maxExecutorFailures": 0,
        "executorFailuresValidityIntervalMs": 1000,
    }
    settings = parse(text(executors={"instances": 1}, allocation=allocation)).settings
    assert settings == AllocationSettings(
        batch_size=20,
        batch_delay=1.5,
        max_pending=50,
        max_unschedulable=30,
        wait_for_registration=True,
        hold=True,
        locality=False,
        data_hosts=(("dn-0", "node-a"), ("dn-1", "node-b")),
        memory_recovery=MemoryRecovery(512, 2048),
        executor_timeout=60.0,
        pending_timeout=30.0,
        max_failures=0,
        failures_interval=1.0,
    )


@pytest.mark.parametrize("moment", ["2026-12-31T00:00:00Z", "2026-12-31T01:00:00+01:00"])
def test_the_end_of_a_run(moment: str) -> None:
    """RFC 3339, in any zone."""
    assert parse(text(run={"expiresAt": moment})).expires_at == datetime(2026, 12, 31, tzinfo=UTC)


def test_every_problem_at_once() -> None:
    """One look at the message is enough to fix the file."""
    with pytest.raises(BadTuning) as caught:
        parse(
            text(
                executors={"minimum": 5, "maximum": 3, "initial": "two"},
                allocation={"batchSize": 0, "maxPendingPods": True},
                run={"expiresAt": "2026-12-31"},
            )
        )
    problems = " | ".join(caught.value.problems)
    for expected in (
        "executors.maximum (3) must not be less than executors.minimum (5)",
        "from 0 to 2147483647, not 'two'",
        "allocation.batchSize must be a whole number from 1 to 2147483647, not 0",
        "allocation.maxPendingPods must be a whole number from 1 to 2147483647, not True",
        "not '2026-12-31'",
    ):
        assert expected in problems
    assert len(caught.value.problems) == 5


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "it is not JSON"),
        ("[" * 200_000, "it is not JSON"),
        ("[]", "it must be an object"),
        ('{"version": 2}', "its version is 2, but this runtime image reads version 1"),
        ("{}", "its version is None"),
        (text(executors=[]), "executors must be an object, not \\[\\]"),
    ],
)
def test_what_cannot_be_used(content: str, expected: str) -> None:
    """Another version is refused with both numbers."""
    with pytest.raises(BadTuning, match=expected):
        parse(content)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A ConfigMap volume: the file is a link to one in a folder that is swapped."""
    (tmp_path / "kept").mkdir()
    swap(tmp_path, text(executors={"instances": 1}))
    return tmp_path


def swap(folder: Path, content: str) -> None:
    """Change the volume as the kubelet does: a new folder, and a link that is put in the old one's place."""
    new = folder / f"..{len(list(folder.iterdir()))}"
    new.mkdir()
    (new / "tuning.json").write_text(content)
    (folder / "..draft").symlink_to(new.name)
    (folder / "..draft").replace(folder / "..data")
    if not (folder / "tuning.json").is_symlink():
        (folder / "tuning.json").symlink_to("..data/tuning.json")


def followed(folder: Path) -> TuningFile:
    """The file, followed."""
    return TuningFile(folder / "tuning.json", FixedSettings(45.0), folder / "kept" / "tuning.json")


def test_a_change_is_seen_once(folder: Path) -> None:
    """The kubelet swaps a link; the template's grace stays."""
    tuned = followed(folder)
    assert tuned.look() is None
    swap(folder, text(executors={"instances": 3}))
    assert tuned.look() == TuningChange(AllocationSettings(instances=3, grace=45.0))
    assert tuned.look() is None
    assert tuned.settings.instances == 3


def test_a_bad_edit_changes_nothing_and_is_told_once(folder: Path) -> None:
    """Also when the file is gone; and that it is well again is news."""
    tuned = followed(folder)
    swap(folder, "{")
    change = tuned.look()
    assert change is not None
    assert (change.settings.instances, "not JSON" in (change.bad or "")) == (1, True)
    assert tuned.look() is None
    swap(folder, text(executors={"instances": 1}))
    assert tuned.look() == TuningChange(AllocationSettings(instances=1, grace=45.0))
    assert tuned.look() is None


def test_a_restart_after_a_bad_edit_goes_on_with_what_was_good(folder: Path) -> None:
    """The driver runs; a typo must not keep its allocator from coming back."""
    followed(folder)
    swap(folder, "{")
    tuned = followed(folder)
    assert tuned.settings.instances == 1
    change = tuned.look()
    assert change is not None
    assert change.bad


def test_a_bad_file_at_the_very_start(folder: Path) -> None:
    """Nothing is guessed."""
    swap(folder, "{")
    with pytest.raises(BadTuning):
        followed(folder)


@pytest.mark.parametrize("value", ["true", 1, []])
def test_a_switch_is_true_or_false(value: object) -> None:
    """What is neither is refused, and what held before still holds."""
    with pytest.raises(BadTuning, match=r"waitForRegistration must be true or false, not "):
        parse(text(allocation={"waitForRegistration": value}))


def test_an_allocator_that_restarts_after_a_bad_edit_stays_held(folder: Path) -> None:
    """The last good file says that it is held."""
    path, kept = folder / "tuning.json", folder / "kept.json"
    path.write_text(text(executors={"instances": 2}, allocation={"hold": True}))
    TuningFile(path, FixedSettings(30.0), kept)
    path.write_text("{")
    assert TuningFile(path, FixedSettings(30.0), kept).settings.hold
