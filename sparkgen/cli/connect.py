"""Declares `sparkgen connect`; connecting.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command
from sparkgen.cli.options import PLACE

if TYPE_CHECKING:
    from sparkgen.cli.connecting import ConnectOptions

SUMMARY = "Forward a Connect server or a notebook to this machine."
HELP = """Forward a local port to a Spark Connect server or a notebook, until Ctrl-C or until the server ends.

If the server has not started or does not answer yet, the command waits. Then it prints the local address to
standard output. With COMMAND, it runs that program with the address in SPARK_REMOTE, and exits with the exit
code of the program.

If the server needs a token, sparkgen reads the token from its Secret with your permissions, and gives it to
COMMAND in SPARK_CONNECT_AUTHENTICATE_TOKEN. If you may not read the Secret, set that variable yourself, or
put a token in SPARK_REMOTE.

For a notebook, open the printed address in a browser. JupyterLab asks for its token.

A server that is suspended or scaled to 0 has no driver. With --start, the command scales the Deployment of
the server to 1 and waits; you need permission to patch the Deployment.

The connection goes through the API server, as with kubectl port-forward: you need permission to get and
create pods/portforward. If Kubernetes replaces the server's driver, new connections go to the new driver, and
the state of sessions is lost.
"""
EXAMPLES = """\b
Examples:
  sparkgen connect team-a               # prints sc://localhost:15002
  sparkgen connect team-a --port 0      # any free port
  sparkgen connect team-a -- python report.py 2026-01-01
  sparkgen connect team-a -n analytics -- pyspark
  sparkgen connect team-a -- jupyter lab
  sparkgen connect ada                  # a notebook: prints http://localhost:8888
  sparkgen connect team-a --start       # start it if it is suspended
"""


def _load() -> Work[ConnectOptions]:
    from sparkgen.cli import connecting  # noqa: PLC0415 - not for every command's help

    return connecting.ConnectOptions, connecting.connect_to


COMMAND = command(
    _load,
    Option("name", "NAME", "Application: a Connect server or a notebook.", required=True),
    Option("arguments", "[-- COMMAND...]", "Client program and its arguments.", many=True),
    Option(
        "port",
        "--port PORT",
        "Local port; 0 for any free port (default 15002, or 8888 for a notebook).",
        kind=int,
        least=0,
        most=65535,
    ),
    Option(
        "timeout", "--timeout TIME", "Maximum time to wait for the server, for example 30m.", default="5m"
    ),
    Option("start", "--start", "Start the server if it is suspended."),
    *PLACE,
)
