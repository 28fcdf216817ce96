"""A namespace that is full: drivers get on with what there is, and the quota is not asked at speed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from deployed import allow_pods, deploy, document

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

VERSION = TESTED_VERSIONS[0]
AT_ONCE = {"spark.scheduler.maxRegisteredResourcesWaitingTime": "2s"}
"""Spark begins with one executor, and does not wait half a minute for others."""


@pytest.mark.own_cluster
def test_two_applications_on_a_full_namespace_get_on(cluster: Cluster, restricted: str) -> None:
    """Room for both drivers and one executor: they take turns with it, and both end."""
    allow_pods(cluster, restricted, 3)
    executor = {"instances": 2, "terminationGracePeriodSeconds": 1}
    both = [
        deploy(
            cluster,
            restricted,
            document(name, VERSION, "hold.py", "4", "nothing", "3", sparkConf=AT_ONCE, executor=executor),
        )
        for name in ("one", "two")
    ]
    for application in both:
        assert application.wait(240) == "Complete", application.story()
        assert "total: 6" in application.logs()
    for application in both:
        tries = [
            call
            for call in cluster.calls(restricted, application.name)
            if (call.verb, call.resource) == ("create", "pods")
        ]
        refused = sorted(call.time for call in tries if call.code == 403)
        pauses = [(after - before).total_seconds() for before, after in pairwise(refused)]
        assert all(pause >= 0.4 for pause in pauses[2:]), f"the quota is asked at speed: {pauses}"
    told = [application.logs("allocator") for application in both]
    assert any("the namespace's quota is used up" in text for text in told), "it is said why some are missing"
