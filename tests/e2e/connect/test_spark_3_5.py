"""A Connect server of Spark 3.5, which no image has: its package comes from a repository."""

from __future__ import annotations

import pytest
from deployed import deploy, spark_image, wait_until

from cluster import web
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from spark import maven_folder
from tests.e2e.connect.test_connect import RESULT, connect, server

pytestmark = [pytest.mark.full, pytest.mark.own_cluster]
VERSION = TESTED_VERSIONS[0]
PACKAGE = "org.apache.spark:spark-connect_2.12:3.5.7"
"""Not every patch of Spark is published there; one of the same minor version serves."""
PORT = 8081


def test_a_server_of_spark_3_5(cluster: Cluster, restricted: str) -> None:
    """Queries, Python functions, shuffles; the jar finds the sessions, of which its clients end none."""
    with web.serving(maven_folder.ensure(VERSION, PACKAGE), PORT) as address:
        document = server(
            "older",
            sparkVersion=VERSION,
            image=spark_image(VERSION),
            deps={"packages": [PACKAGE], "repositories": [address]},
            connect={"idleTimeout": "10s"},
        )
        application = deploy(cluster, restricted, document)
        idle = "No session for 10 s"
        wait_until(lambda: idle in application.logs(), 180, "the server is idle", application.story)
        done = connect(cluster, restricted, "older", "work.py", "shuffle", full=VERSION)
        assert done == [*RESULT, "groups: 7"], application.story()
        assert "IdleSessions: A session started." in application.logs()
