"""`sparkgen whatif`, as typer declares it. What it does is in replaying.py."""

from __future__ import annotations

from typing import Annotated

import typer

SUMMARY = "Replay an application's event log with other settings: time and cost."
HELP = """Replay an application's event log with other settings, and say what time and cost they take.

LOG is an event log of Spark 3.4 to 4.x: a file, plain or compressed (gz, lz4, snappy, zstd), or the directory
of a rolling log. The recorded configuration is replayed first: its error stands above all that follows.
Executors come as Spark's own dynamic allocation asks for them and as sparkgen's allocator creates them. What
a replay can and cannot say: docs/whatif.md. This needs the extra `sparkgen[whatif]`.

Exits 1 if the best configuration, or without others the recorded one, costs more than --max-cost.
"""
EXAMPLES = """\b
Examples:
  sparkgen whatif app-1234.zstd          # where the time goes, and the limit
  sparkgen whatif LOG --set spec.executor.instances=5,10,20,50
  sparkgen whatif LOG --overlay prod.yaml --prices prices.yaml
  sparkgen whatif LOG --search --prices prices.yaml --best best.yaml
  sparkgen whatif LOG --search --html report.html
  sparkgen whatif LOG --json --prices prices.yaml --max-cost 2.50
"""


def command(
    logs: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG", help="Event logs: files, or directories of rolling logs.", show_default=False
        ),
    ],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=V1,V2",
            help="A field of the document and its values: a replay of each. Repeatable: each with each.",
            show_default=False,
        ),
    ] = None,
    overlays: Annotated[
        list[str] | None,
        typer.Option(
            "--overlay", metavar="FILE", help="An overlay: a replay of it. Repeatable.", show_default=False
        ),
    ] = None,
    search: Annotated[
        bool,
        typer.Option(
            "--search", help="Try numbers and sizes of executors, dynamic allocation and a service."
        ),
    ] = False,
    prices: Annotated[
        str,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="Prices of cores and memory, or of nodes, on demand and spot.",
            show_default=False,
        ),
    ] = "",
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost", metavar="NUMBER", help="With --prices: exit 1 above this cost.", show_default=False
        ),
    ] = None,
    capacity: Annotated[
        int | None,
        typer.Option(
            "--capacity",
            metavar="N",
            min=1,
            help="So many executors fit into the cluster.",
            show_default=False,
        ),
    ] = None,
    ready: Annotated[
        int | None,
        typer.Option(
            "--ready",
            metavar="N",
            min=0,
            help="So many fit on nodes that are there; the others wait for --scale-up.",
            show_default=False,
        ),
    ] = None,
    scale_up: Annotated[
        float, typer.Option("--scale-up", metavar="SECONDS", min=0, help="How long a new node takes.")
    ] = 90.0,
    losses: Annotated[
        float,
        typer.Option(
            "--spot-losses",
            metavar="PER-HOUR",
            min=0,
            help="How often in an hour of an executor its spot node is taken back.",
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of chance: spot losses.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    page: Annotated[
        str,
        typer.Option(
            "--html", metavar="FILE", help="Write a page with drawings, for a browser.", show_default=False
        ),
    ] = "",
    best: Annotated[
        str,
        typer.Option(
            "--best",
            metavar="FILE",
            help="Write the best configuration as an overlay; - prints it and nothing else.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Replay, and print what came of it."""
    from sparkgen.cli import replaying  # noqa: PLC0415 - the extra is not for every command's help

    cluster = replaying.cluster(capacity, ready, scale_up, losses, seed)
    asked = replaying.Asked(
        tuple(logs),
        tuple(sets or ()),
        tuple(overlays or ()),
        search,
        prices,
        max_cost,
        cluster,
        as_json,
        best,
        page,
    )
    if code := replaying.whatif(asked):
        raise typer.Exit(code)
