"""`sparkgen connect`, as typer declares it. What it does is in connecting.py."""

from __future__ import annotations

from typing import Annotated

import typer

from sparkgen.cli.options import Context, Kubeconfig, Namespace

SUMMARY = "Connect this machine to a Connect server or a notebook in a cluster, or a program to the server."
HELP = """Forward a port of this machine to a Spark Connect server or a notebook, until Ctrl-C or its end.

A server that has not begun, or does not answer yet, is waited for. The address goes to standard output. With
COMMAND, that program runs with the address in SPARK_REMOTE, and its exit code is the command's.

If the server asks for a token, COMMAND gets it in SPARK_CONNECT_AUTHENTICATE_TOKEN, read from its Secret with
your rights. If you may not read it, set that variable yourself, or a token in SPARK_REMOTE.

JupyterLab of a notebook is opened in a browser, at the address that goes to standard output, and asks for
its token.

A server that is suspended, or was scaled to 0, serves nobody. --start scales its Deployment to 1, with the
right to patch it, and waits.

The way is through the API server, as for kubectl port-forward: it takes the rights to get and create
pods/portforward.
When the server's driver is replaced, new connections go to the next one; what sessions had is gone.
"""
EXAMPLES = """\b
Examples:
  sparkgen connect team-a               # prints sc://localhost:15002
  sparkgen connect team-a --port 0      # any free port
  sparkgen connect team-a -- python report.py 2026-01-01
  sparkgen connect team-a -n analytics -- pyspark
  sparkgen connect team-a -- jupyter lab
  sparkgen connect ada                  # a notebook: prints http://localhost:8888
  sparkgen connect team-a --start       # also when it was stopped for the night
"""


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The application: a Connect server or a notebook.", show_default=False
        ),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND...]",
            help="A program, and its arguments, that is a client of the server.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Of this machine; 0 for any (default 15002, or 8888 for a notebook).",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        str,
        typer.Option("--timeout", metavar="TIME", help="How long to wait for the server, as in 30m."),
    ] = "5m",
    start: Annotated[bool, typer.Option("--start", help="Start the server if it is suspended.")] = False,
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
) -> None:
    """Listen, and say where, or run a program."""
    from sparkgen.cli import connecting  # noqa: PLC0415 - not for every command's help
    from sparkgen.cluster import Place  # noqa: PLC0415

    place = Place(kubeconfig, context, namespace)
    options = connecting.ConnectOptions(place, name, tuple(arguments or ()), port, timeout, start=start)
    if code := connecting.connect_to(options):
        raise typer.Exit(code)
