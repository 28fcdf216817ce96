"""What a machine is too small for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sparkgen.local.machine import Machine, available, complaints, group_limit, here
from sparkgen.model import build
from sparkgen.model.application import Application


def _application(**executor: object) -> Application:
    dynamic = executor.pop("dynamic", None)
    spec = {
        "type": "Scala",
        "sparkVersion": "3.5.8",
        "image": "x",
        "driver": {"memory": "1g"},
        "executor": {"memory": "2g", **executor},
    }
    if dynamic:
        spec["dynamicAllocation"] = dynamic
    return build({"kind": "SparkApplication", "metadata": {"name": "a"}, "spec": spec})


def test_a_large_machine_is_told_nothing() -> None:
    """Driver 1408 MiB and two executors of 2432 MiB have room."""
    assert complaints(_application(instances=2), Machine(4, 8000)) == []
    assert complaints(_application(instances=2), Machine(4, None)) == []


def test_too_little_memory_is_told_with_numbers() -> None:
    """At the start, and for what it may grow to."""
    (said,) = complaints(_application(instances=4), Machine(4, 8000))
    assert "driver (1408 MiB) and 4 executors (2432 MiB each)" in said
    assert "8000 MiB" in said
    bounds = {"enabled": True, "initialExecutors": 1, "maxExecutors": 9}
    (said,) = complaints(_application(dynamic=bounds), Machine(4, 8000))
    assert said.startswith("up to 9 executors, of 2432 MiB each")
    assert said.endswith("--set spec.dynamicAllocation.maxExecutors=2")
    (said,) = complaints(_application(dynamic={"enabled": True}), Machine(4, 8000))
    assert said.startswith("without a limit")


def test_too_few_cores_only_make_it_slower() -> None:
    """It is a note and no obstacle."""
    (said,) = complaints(_application(instances=2, cores=4), Machine(2, 100_000))
    assert "2 executors of 4 cores share this machine's 2" in said


def test_what_the_kernel_says_is_read(tmp_path: Path) -> None:
    """The smaller of what is free and what a container may have; `max` is no limit."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   4096000 kB\n")
    assert here(tmp_path).memory == 4000
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text(f"{1024 * 2**20}\n")
    assert here(tmp_path).memory == 1024
    assert group_limit("max\n") is None
    assert available("") is None
    assert replace(here(tmp_path / "none"), cores=1) == Machine(1, None)
