"""What Argo CD makes of runs that people asked for, or ended, by hand: nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from argo import waiting
from conftest import Make
from deployed import wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from tests.e2e.commands.acting import on


@pytest.mark.full
def test_a_requested_run_stays_and_a_killed_one_stays_ended(
    cluster: Cluster, make: Make, restricted: str, tmp_path: Path
) -> None:
    """Neither pruned nor a difference; the deadline that Git has comes back, and runs nothing again."""
    application = make("daily")
    value = waiting("daily", restricted, TESTED_VERSIONS[-1], activeDeadlineSeconds=3600)
    application.repository.release(value, "Begin")
    application.synced()
    sparkgen = on(cluster, restricted, tmp_path)
    asked = sparkgen("run", "daily", "-q")
    assert asked.returncode == 0, asked.stderr
    name, run = asked.stdout.strip(), application.run()

    def running() -> set[str]:
        return set(application.drivers().values())

    wait_until(lambda: running() == {run.run, name}, 60, "both have a driver", application.story)
    killed = sparkgen("kill", "daily", "--run", run.run, "--yes")
    assert (killed.returncode, killed.stdout) == (0, f"job.batch/{run.run} killed\n"), killed.stderr
    wait_until(lambda: run.finished() == "Failed" and running() == {name}, 60, "it is killed", run.story)
    jobs, drivers = application.jobs(), application.drivers()
    application.sync()
    application.refresh("hard")
    application.synced()
    assert application.differences() == [], application.story()
    assert (application.jobs(), application.drivers()) == (jobs, drivers)
    assert run.job()["spec"]["activeDeadlineSeconds"] == 3600, "Git has the last word"
    assert run.finished() == "Failed"
