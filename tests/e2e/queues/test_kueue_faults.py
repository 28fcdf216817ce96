"""A Kueue that is away: its webhooks refuse what is made in a queue, or its controller never answers."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from admission import webhook
from deployed import Deployed, deploy, document, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from sparkgen.codes import Code
from tests.e2e.commands.acting import on, scripts
from tests.e2e.queues.stand_in import StandIn
from tests.e2e.queues.test_kueue import QUEUED, created, reason

VERSION = TESTED_VERSIONS[0]
NOBODY = "https://127.0.0.1:9/mutate"
"""An address at which nothing listens, as with Kueue's Service while its pods are away."""
JOBS = {
    "rules": [
        {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}
    ],
    "objectSelector": {},
}


def tries(application: Deployed) -> list[float]:
    """When the allocator tried to create an executor, in seconds since the first time."""
    calls = application.cluster.calls(application.namespace, application.name)
    times = sorted(one.time for one in calls if (one.verb, one.resource) == ("create", "pods"))
    return [(time - times[0]).total_seconds() for time in times]


@pytest.mark.own_cluster
def test_executors_wait_for_a_webhook_that_is_away_and_for_a_queue_that_never_answers(
    cluster: Cluster, restricted: str, queue: StandIn, tmp_path: Path
) -> None:
    """One message, ever fewer tries; then both are made, once, and asked for no more while they are gated."""
    queue.room = 0
    queue.start()
    with webhook(cluster, restricted, "Mutating", NOBODY):
        value = document("app", VERSION, "hold.py", "2", "nothing", "1", **QUEUED)
        application = deploy(cluster, restricted, value)

        def told() -> bool:
            return "an admission webhook of the cluster does not answer" in reason(
                cluster, restricted, tmp_path
            )

        wait_until(told, 90, "status says what is away", application.story)
        wait_until(lambda: tries(application)[-1] > 6, 60, "it has tried for a while", application.story)
        refused = tries(application)
        assert not application.executors()
    wait_until(lambda: len(application.executors()) == 2, 90, "both are made", application.story)
    pauses = [after - before for before, after in pairwise(refused)]
    assert all(pause >= 0.4 for pause in pauses[1:]), f"the webhook is asked at speed: {pauses}"
    codes = {each.code for entry in application.decisions() for each in entry.hindrances}
    assert Code.WEBHOOK_FAILED in codes
    made = tries(application)
    time.sleep(10)
    assert tries(application) == made, "the queue does not answer, and nobody asks again"
    assert "0 of 2 executors admitted, 2 wait in the queue team-a" in reason(cluster, restricted, tmp_path)
    queue.room = 2
    assert application.wait() == "Complete", application.story()
    assert len(created(application)) == 2


@pytest.mark.own_cluster
def test_a_run_is_refused_while_the_webhook_for_jobs_is_away(
    cluster: Cluster, restricted: str, queue: StandIn, tmp_path: Path
) -> None:
    """The command says what is away, in one line, and leaves nothing behind that runs."""
    value = document("app", VERSION, "hold.py", "2", "nothing", "1", **QUEUED)
    (tmp_path / "app.yaml").write_text(yaml.safe_dump(value))
    scripts(cluster, restricted)
    sparkgen = on(cluster, restricted, tmp_path)
    with webhook(cluster, restricted, "Mutating", NOBODY, **JOBS):
        done = sparkgen("apply", "app.yaml")
        assert done.returncode == 1, done
        assert "an admission webhook of the cluster does not answer" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
        assert cluster.objects("jobs", restricted) == []
