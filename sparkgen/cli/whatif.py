"""Declares `sparkgen whatif` for typer; replaying.py does its work."""

from __future__ import annotations

from typing import Annotated

import typer

SUMMARY = "Predict an application's time and cost with other settings, from its event log."
HELP = """Predict an application's time and cost with other settings, by replaying its event log.

LOG is an event log of Spark 3.4 to 4.x, or an older one. It is a file, plain or compressed (gz, lz4,
snappy, zstd), or the directory of a rolling log. sparkgen first replays the recorded configuration, and
reports how much this replay differs from the real run. Expect at least this error in every prediction.

The replay requests executors by the rules of Spark's dynamic allocation, and creates them as sparkgen's
allocator does. For what a replay can and cannot predict, see docs/whatif.md. Install the extra
`sparkgen[whatif]` first.

The command exits 1 if a replay never ends. With --max-cost, it also exits 1 if the best configuration costs
more. If you give no other configuration, it compares the cost of the recorded one.
"""
EXAMPLES = """\b
Examples:
  sparkgen whatif app-1234.zstd          # where time is lost, and how many executors help
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
            help="Replay with each of these values of a field. If repeated, replay every combination.",
            show_default=False,
        ),
    ] = None,
    overlays: Annotated[
        list[str] | None,
        typer.Option(
            "--overlay", metavar="FILE", help="Replay with this overlay. Repeatable.", show_default=False
        ),
    ] = None,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Try different numbers and sizes of executors, dynamic allocation, and a shuffle service.",
        ),
    ] = False,
    prices: Annotated[
        str,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="On-demand and spot prices, per core and GiB or per node.",
            show_default=False,
        ),
    ] = "",
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            metavar="NUMBER",
            help="Exit 1 if the best configuration costs more. Needs --prices.",
            show_default=False,
        ),
    ] = None,
    capacity: Annotated[
        int | None,
        typer.Option(
            "--capacity",
            metavar="N",
            min=1,
            help="Maximum number of executors that the cluster has room for.",
            show_default=False,
        ),
    ] = None,
    ready: Annotated[
        int | None,
        typer.Option(
            "--ready",
            metavar="N",
            min=0,
            help="Number of executors that fit on existing nodes. The others wait for --scale-up.",
            show_default=False,
        ),
    ] = None,
    scale_up: Annotated[
        float, typer.Option("--scale-up", metavar="SECONDS", min=0, help="Time until a new node is ready.")
    ] = 90.0,
    losses: Annotated[
        float,
        typer.Option(
            "--spot-losses",
            metavar="PER-HOUR",
            min=0,
            help="How many spot nodes are reclaimed per executor-hour.",
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed for spot losses.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    page: Annotated[
        str,
        typer.Option(
            "--html", metavar="FILE", help="Write a report with charts as an HTML page.", show_default=False
        ),
    ] = "",
    best: Annotated[
        str,
        typer.Option(
            "--best",
            metavar="FILE",
            help="Write the best configuration as an overlay. With -, print only the overlay.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Replay the logs, and print the results."""
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
