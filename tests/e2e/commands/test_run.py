"""`sparkgen run NAME` and `sparkgen wait`: drivers that really run, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cluster.handle import Cluster
from tests.e2e.commands.acting import Sparkgen, on, scripts, write


@pytest.fixture
def sparkgen(cluster: Cluster, restricted: str, tmp_path: Path) -> Sparkgen:
    """The command line where app.yaml is."""
    scripts(cluster, restricted)
    return on(cluster, restricted, tmp_path)


def test_a_suspended_application_is_run_with_arguments_of_the_day(
    cluster: Cluster, restricted: str, sparkgen: Sparkgen, tmp_path: Path
) -> None:
    """Its exit code is the command's; the same id is the same run; what it made goes with it."""
    write(tmp_path, "ends.py", "0", suspend=True)
    assert sparkgen("apply", "app.yaml", "-q").returncode == 0
    failed = sparkgen("run", "app", "--id", "monday", "--wait", "--timeout", "3m", "--", "3")
    name = failed.stdout.strip()
    assert failed.returncode == 3, failed.stderr
    assert f"{name} failed after " in failed.stderr
    assert "the driver's exit code is 3; next: sparkgen status" in failed.stderr
    again = sparkgen("run", "app", "--id", "monday", "--wait", "--", "3")
    assert (again.returncode, again.stdout.strip()) == (3, name)
    good = sparkgen("run", "app", "--wait", "--timeout", "3m", "-o", "json")
    assert good.returncode == 0, good.stderr
    job = json.loads(good.stdout)["metadata"]["name"]
    assert f"{job} succeeded after " in good.stderr
    assert sparkgen("wait", "app", "--run", name).returncode == 3
    assert "no changes: " in sparkgen("diff", "app.yaml").stderr
    own = {f"{name}-conf", f"{name}-executor"}
    cluster.kubectl("delete", "job", name, "-n", restricted, "--wait")
    for config_map in own:
        cluster.kubectl("wait", "--for=delete", f"configmap/{config_map}", "-n", restricted, "--timeout=60s")


def test_a_firing_by_hand(cluster: Cluster, restricted: str, sparkgen: Sparkgen, tmp_path: Path) -> None:
    """Of a suspended schedule: the CronJob owns it, and it goes with the application."""
    value = write(tmp_path, "ends.py", "0")
    value["kind"] = "ScheduledSparkApplication"
    value["spec"] = {"schedule": "0 3 1 1 *", "suspend": True, "template": value["spec"]}
    (tmp_path / "app.yaml").write_text(json.dumps(value))
    assert sparkgen("apply", "app.yaml", "-q").returncode == 0
    result = sparkgen("run", "app", "--wait", "--timeout", "3m", "--", "5")
    assert result.returncode == 5, result.stderr
    [job] = cluster.objects("jobs", restricted)
    assert job["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    deleted = sparkgen("delete", "app", "--yes")
    assert "cronjob.batch/app deleted" in deleted.stdout
    cluster.kubectl(
        "wait", "--for=delete", f"job/{job['metadata']['name']}", "-n", restricted, "--timeout=60s"
    )
