"""`sparkgen wait`, `kill` and `delete` on a run with executors that would go on forever."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from deployed import wait_until

from cluster.handle import Cluster
from tests.e2e.commands.acting import command, on, scripts, write

EXECUTORS = "spark-role=executor"
DRIVERS = "spark-role=driver"


def test_detached_timed_out_killed_and_deleted(cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """Ctrl-C and a timeout leave it running; a kill ends it for good; a delete removes all of it."""
    scripts(cluster, restricted)
    sparkgen = on(cluster, restricted, tmp_path)
    write(tmp_path, "hold.py", "2", "nothing", "3600", activeDeadlineSeconds=3600)
    assert sparkgen("apply", "app.yaml", "-q").returncode == 0

    def running(selector: str) -> int:
        pods = cluster.objects("pods", restricted, selector)
        return sum(pod["status"].get("phase") == "Running" for pod in pods)

    wait_until(lambda: running(EXECUTORS) == 2, 150, "two executors run")
    late = sparkgen("wait", "app", "--timeout", "2s")
    assert (late.returncode, "has not ended after 2s and is still running" in late.stderr) == (124, True), (
        late.stderr
    )
    interruptible = ["env", "--default-signal=INT"]  # whoever runs the tests may ignore it
    words = [*interruptible, *command(cluster, restricted, "wait", "app")]
    waits = subprocess.Popen(words, cwd=tmp_path, text=True, stderr=subprocess.PIPE)
    assert waits.stderr is not None
    assert ": Running" in waits.stderr.readline()
    waits.send_signal(signal.SIGINT)
    assert "is still running; to wait again: sparkgen wait app --run app-" in waits.communicate(timeout=20)[1]
    assert (waits.returncode, running(DRIVERS)) == (130, 1)

    assert "Cannot ask without a terminal; add --yes" in sparkgen("kill", "app").stderr
    killed = sparkgen("kill", "app", "--yes")
    assert (killed.returncode, killed.stdout.endswith(" killed\n")) == (0, True), killed.stderr
    assert sparkgen("wait", "app", "--timeout", "90s").returncode in (1, 143)
    wait_until(lambda: not cluster.objects("pods", restricted, EXECUTORS), 60, "the executors are gone")
    unchanged = sparkgen("apply", "app.yaml").stdout.splitlines()[-1]
    assert unchanged.startswith("job.batch/app-")
    assert "unchanged (killed; " in unchanged

    listed = sparkgen("delete", "app", "--dry-run").stdout.splitlines()
    deleted = sparkgen("delete", "app", "--yes").stdout.splitlines()
    assert [line.partition(" ")[0] for line in deleted] == [line.partition(" ")[0] for line in listed]
    for kind in ("jobs", "configmaps", "services", "roles", "rolebindings", "serviceaccounts"):
        assert not cluster.objects(kind, restricted, "sparkgen.dev/application=app"), kind
    gone = sparkgen("delete", "app", "--yes")
    assert (gone.returncode, "there is no application app" in gone.stderr) == (2, True)
