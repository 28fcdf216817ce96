"""Driver and executors in a queue: with Kueue's published definitions and a stand-in for its controller."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import Deployed, deploy, document, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from sparkgen.codes import Code
from tests.e2e.commands.acting import on, scripts
from tests.e2e.queues.stand_in import StandIn

VERSION = TESTED_VERSIONS[0]
ROOT = Path(__file__).parents[3]
QUEUED = {
    "batchScheduler": "kueue",
    "batchSchedulerOptions": {"queue": "team-a"},
    "driver": {"terminationGracePeriodSeconds": 1},
    "executor": {"terminationGracePeriodSeconds": 1},
}


def elastic(most: int) -> dict[str, Any]:
    """Dynamic allocation up to so many executors."""
    return {"enabled": True, "minExecutors": 0, "maxExecutors": most}


def reason(cluster: Cluster, namespace: str, folder: Path, *name: str) -> str:
    """What `sparkgen status` says of the one application, or of the one with this name."""
    done = on(cluster, namespace, folder)("status", *name, "-o", "json")
    [row] = [one for one in json.loads(done.stdout)["runs"] if one["latest"]]
    return str((row.get("reason") or {}).get("cause", ""))


def created(application: Deployed) -> list[str]:
    """The pods that the allocator has created."""
    calls = application.cluster.calls(application.namespace, application.name)
    return [one.name for one in calls if (one.verb, one.resource, one.code) == ("create", "pods", 201)]


@pytest.mark.core
@pytest.mark.own_cluster
def test_an_application_gets_what_its_queue_has_room_for(
    cluster: Cluster, restricted: str, queue: StandIn, tmp_path: Path
) -> None:
    """A third of what it wants; each is asked for once; what is taken back waits again, behind the others."""
    wanted = document(
        "elastic", VERSION, "hold.py", "14", "nothing", "3", dynamicAllocation=elastic(6), **QUEUED
    )
    application = deploy(cluster, restricted, wanted)
    queue.drivers = False
    queue.look()
    assert not application.drivers(), "a suspended Job has no pod"
    assert "queued in team-a, 1st of 1" in reason(cluster, restricted, tmp_path)
    queue.room, queue.drivers = 2, True
    queue.start()

    def waiting() -> int:
        return sum("schedulingGates" in pod["spec"] for pod in application.executors("Pending"))

    wait_until(
        lambda: len(application.executors("Running")) == 2 and waiting() == 4, 90, "2 run", application.story
    )
    assert "2 of 6 executors admitted, 4 wait in the queue team-a" in reason(cluster, restricted, tmp_path)
    queue.evict(application.executors("Running")[0]["metadata"]["name"])
    wait_until(lambda: len(queue.order) == 3, 30, "another one is admitted in its place", application.story)
    assert [int(name.rpartition("-")[2]) for name in queue.order] == [1, 2, 3], "the oldest first"
    wait_until(lambda: waiting() == 4, 30, "it is asked for again, and waits", application.story)
    queue.die()
    assert application.wait() == "Complete", application.story()
    assert "total: 91" in application.logs()
    assert [loss.facts["code"] for loss in application.losses()] == [Code.PREEMPTED]
    names = created(application)
    assert len(names) == len(set(names)) == 7, "six, and one again: nothing is asked for twice"


BEGINS = "is ready for scheduling beginning after reached minRegisteredResourcesRatio: 0.499999"


@pytest.mark.own_cluster
def test_a_gang_begins_when_its_minimum_is_there(
    cluster: Cluster, restricted: str, queue: StandIn, tmp_path: Path
) -> None:
    """One executor registers, and no task runs. The second one is enough, though four are asked for."""
    value = document("gang", VERSION, "hold.py", "4", "nothing", "1", **QUEUED)
    value["spec"]["batchSchedulerOptions"] = {"queue": "team-a", "minExecutors": 2}
    bounds = {"enabled": True, "minExecutors": 2, "initialExecutors": 4, "maxExecutors": 4}
    value["spec"]["dynamicAllocation"] = bounds
    del value["spec"]["executor"]["instances"]
    queue.room = 1
    queue.start()
    application = deploy(cluster, restricted, value)
    wait_until(application.has_driver, 60, "its Job is let go")
    wait_until(lambda: "Registered executor" in application.logs(), 120, "one registers", application.story)
    time.sleep(5)
    assert "ready for scheduling" not in application.logs(), "it does not begin with one"
    said = reason(cluster, restricted, tmp_path)  # Spark wants its minimum only, after a minute of waiting
    assert re.match(r"1 of [24] executors admitted, [13] waits? in the queue team-a", said), said
    queue.room = 2
    assert application.wait() == "Complete", application.story()
    assert BEGINS in application.logs(), "neither earlier, nor after a time"
    assert "total: 6" in application.logs()
    names = created(application)
    assert len(names) == len(set(names)), "nothing is asked for twice"


@pytest.mark.own_cluster
def test_a_preempted_driver_starts_again_and_never_twice(
    cluster: Cluster, restricted: str, queue: StandIn, tmp_path: Path
) -> None:
    """A run by hand waits in the queue of its application; its driver is taken back, and restarts."""
    value = document("app", VERSION, "hold.py", "2", "nothing", "8", **QUEUED)
    value["spec"]["executor"]["instances"] = 1
    (tmp_path / "app.yaml").write_text(yaml.safe_dump(value))
    scripts(cluster, restricted)
    sparkgen = on(cluster, restricted, tmp_path)
    queue.only = "none-yet"
    queue.room = 1
    queue.start()
    assert sparkgen("apply", "app.yaml", "-q").returncode == 0
    run = sparkgen("run", "app").stdout.strip()
    application = Deployed(cluster, restricted, "app", run)
    assert application.job()["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert application.job()["spec"]["suspend"] is True
    assert not application.drivers()
    queue.only = run
    wait_until(lambda: bool(application.executors("Running")), 90, "it runs", application.story)
    first = set(application.drivers())
    queue.preempt_driver(run)
    wait_until(lambda: not application.drivers(), 60, "the driver is gone", application.story)
    wait_until(lambda: not application.executors(), 60, "so are its executors", application.story)
    assert application.job()["spec"]["suspend"] is True, "nothing puts back what Kueue decides"
    queue.drivers = True
    wait_until(lambda: bool(application.drivers()), 60, "another driver", application.story)
    second = set(application.drivers())
    assert len(first) == len(second) == 1
    assert not first & second
    assert application.wait() == "Complete", application.story()
    assert set(application.drivers()) == second


@pytest.mark.core
def test_kueues_api_takes_what_the_pages_show(
    cluster: Cluster, kueue_definitions: None, namespace: str
) -> None:
    """Every object of Kueue's in the documentation, by a server-side dry run."""
    pages = [*ROOT.glob("docs/queues*.md"), *ROOT.glob("docs/queues/*.md")]
    blocks = [
        text for page in pages for text in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    ]
    objects = [
        {
            **item,
            "metadata": {
                **item["metadata"],
                **({"namespace": namespace} if item["kind"] == "LocalQueue" else {}),
            },
        }
        for block in blocks
        for item in yaml.safe_load_all(block)
        if str(item.get("apiVersion", "")).startswith("kueue.x-k8s.io/")
    ]
    assert {item["kind"] for item in objects} >= {"ResourceFlavor", "ClusterQueue", "LocalQueue"}
    for item in objects:
        cluster.kubectl("create", "--dry-run=server", "-f", "-", input_text=json.dumps(item))


@pytest.mark.own_cluster
def test_status_says_whose_turn_it_is(
    cluster: Cluster, restricted: str, queue: StandIn, tmp_path: Path
) -> None:
    """Five applications wait in one queue, the oldest of them in front."""
    names = ("a", "b", "c", "d", "e")
    queue.drivers = False
    for name in names:
        deploy(cluster, restricted, document(name, VERSION, "hold.py", "1", "nothing", "0", **QUEUED))
        queue.look()
    places = {name: reason(cluster, restricted, tmp_path, name) for name in names}
    assert {name: text.partition(" (")[0] for name, text in places.items()} == {
        "a": "queued in team-a, 1st of 5",
        "b": "queued in team-a, 2nd of 5",
        "c": "queued in team-a, 3rd of 5",
        "d": "queued in team-a, 4th of 5",
        "e": "queued in team-a, 5th of 5",
    }
    assert "insufficient unused quota for cpu" in places["c"]
