"""A Connect server as an application: Spark's own server is the main class of a driver that never ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract

CONNECT_KIND = "SparkConnectServer"
"""The kind of documents that describe a Connect server."""

MAIN_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
"""What Spark's sbin/start-connect-server.sh starts."""
NO_MAIN_FILE = contract.SPARK_INTERNAL
"""SparkLauncher.NO_RESOURCE: the class is on the class path."""

APPLICATION_FIELDS: Mapping[str, Any] = {
    "type": "Scala",
    "mainClass": MAIN_CLASS,
    "mainApplicationFile": NO_MAIN_FILE,
    "restartPolicy": {"type": "Always"},
}
"""Fields of an application's spec that a Connect server's has none of."""

DEFAULT_PROPERTIES: Mapping[str, str] = {
    # One user's long query does not keep the others from executors.
    "spark.scheduler.mode": "FAIR",
}
PORT_PROPERTY = "spark.connect.grpc.binding.port"
CONTRACT_PROPERTIES: Mapping[str, str] = {PORT_PROPERTY: str(contract.CONNECT_PORT)}
"""What the Service and the probes need, whatever the document says."""
ADDRESS_PROPERTY = "spark.connect.grpc.binding.address"
TOKEN_PROPERTY = "spark.connect.authenticate.token"  # noqa: S105 - a name
"""One of two places of a server's token; the other is a variable, contract.ENV_CONNECT_TOKEN."""
ASKS_FOR_TOKEN = "4."  # noqa: S105 - a version
"""What the versions of Spark begin with that know tokens (PreSharedKeyAuthenticationInterceptor), and the
property of the server's address."""
BRINGS_SERVER = "4."
"""What the versions begin with whose images hold the server's jar; before, it is a package."""
REMOTE = "SPARK_REMOTE"
"""Where Spark's clients look for the server's address."""
IDLE_PROPERTY = "spark.sparkgen.connect.idleTimeout"
"""The scheduler jar reads it: after so long without a session it lets all executors go."""


def address(port: int) -> str:
    """A server at a port of this machine, as Spark's clients take it.

    They send a token without TLS to the host `localhost` only, by this name.
    """
    return f"sc://localhost:{port}"
