"""A Connect server as an application: Spark's server is the main class of a driver that never ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract

CONNECT_KIND = "SparkConnectServer"
"""The kind of documents that describe a Connect server."""

MAIN_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
"""The class that Spark's sbin/start-connect-server.sh starts."""
NO_MAIN_FILE = contract.SPARK_INTERNAL
"""SparkLauncher.NO_RESOURCE: the class is on the class path."""

APPLICATION_FIELDS: Mapping[str, Any] = {
    "type": "Scala",
    "mainClass": MAIN_CLASS,
    "mainApplicationFile": NO_MAIN_FILE,
    "restartPolicy": {"type": "Always"},
}
"""Fields of an application's spec that a Connect server's document does not have."""

DEFAULT_PROPERTIES: Mapping[str, str] = {
    # So that one user's long query does not keep the others from executors.
    "spark.scheduler.mode": "FAIR",
}
PORT_PROPERTY = "spark.connect.grpc.binding.port"
CONTRACT_PROPERTIES: Mapping[str, str] = {PORT_PROPERTY: str(contract.CONNECT_PORT)}
"""Properties that the Service and the probes need, whatever the document says."""
ADDRESS_PROPERTY = "spark.connect.grpc.binding.address"
TOKEN_PROPERTY = "spark.connect.authenticate.token"  # noqa: S105 - a name
"""One of two places for a server's token; the other is the variable contract.ENV_CONNECT_TOKEN."""
ASKS_FOR_TOKEN = "4."  # noqa: S105 - a version
"""The prefix of Spark versions that support tokens (PreSharedKeyAuthenticationInterceptor), and the property
of the server's address."""
BRINGS_SERVER = "4."
"""The prefix of Spark versions whose images have the server's jar; before, it is a package."""
REMOTE = "SPARK_REMOTE"
"""The variable from which Spark's clients read the server's address."""
IDLE_PROPERTY = "spark.sparkgen.connect.idleTimeout"
"""A property for the scheduler jar: after this long without a session, it gives up all executors."""


def address(port: int) -> str:
    """The URL of a server at a port of this machine, for Spark's clients.

    They send a token without TLS only to the host `localhost`, by this name.
    """
    return f"sc://localhost:{port}"
