"""Declares `sparkgen shell`; shell_session.py does its work."""

from __future__ import annotations

from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CHANGES, PLACE, QUIET
from sparkgen.cli.shell_session import ShellOptions, run

HELP = """Run a shell, a script or a notebook on this machine, with Spark's executors in a cluster.

COMMAND runs on this machine, and contains the driver. The default is pyspark for Python documents, and
spark-shell for others. The document describes the executors; its main file does not run. A Job in the cluster
creates and deletes the executors. The Job ends when COMMAND ends, or one minute after the Job loses contact
with this machine. In both cases, no pod is left in the cluster.

Executors connect to the driver, so pods must be able to reach this machine. sparkgen finds the address of
this machine, or you set the address with --driver-host. A pod then tests the address. If pods cannot reach
this machine, use a Connect server: `sparkgen connect`.

The exit code is that of COMMAND, and COMMAND handles Ctrl-C.
"""
EXAMPLES = """\b
Examples:
  sparkgen shell app.yaml                           # pyspark, or spark-shell
  sparkgen shell app.yaml -- python report.py 2026-01-01
  sparkgen shell app.yaml -n analytics -- spark-sql
  sparkgen shell app.yaml --set spec.dynamicAllocation.maxExecutors=4 -- jupyter lab
  sparkgen shell app.yaml --driver-host 10.1.2.3 --driver-port 7078
"""

COMMAND = command(
    ShellOptions,
    run,
    Option("source", "PATH", "Document: a file, a directory, or -.", required=True),
    Option("arguments", "[-- COMMAND...]", "Program that uses Spark, and its arguments.", many=True),
    *CHANGES,
    Option("name", "--name NAME", "Use the application with this metadata.name, if there are several."),
    Option(
        "driver_host", "--driver-host HOST", "Address of this machine that pods can reach. Default: detected."
    ),
    Option(
        "driver_port",
        "--driver-port PORT",
        "Port of the driver, for executors; 0 for any free port.",
        kind=int,
        default=0,
        least=0,
        most=65535,
    ),
    Option(
        "block_manager_port",
        "--block-manager-port PORT",
        "Port of the driver's block manager, for executors; 0 for any free port.",
        kind=int,
        default=0,
        least=0,
        most=65535,
    ),
    Option(
        "timeout",
        "--timeout TIME",
        "Maximum time to wait for the session's pod, for example 30m.",
        default="5m",
    ),
    *PLACE,
    QUIET,
)
