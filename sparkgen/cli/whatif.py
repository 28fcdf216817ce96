"""Declares `sparkgen whatif`; replaying.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command

if TYPE_CHECKING:
    from sparkgen.cli.replaying import WhatifOptions

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


def _load() -> Work[WhatifOptions]:
    from sparkgen.cli import replaying  # noqa: PLC0415 - the extra is not for every command's help

    return replaying.WhatifOptions, replaying.whatif


COMMAND = command(
    _load,
    Option("logs", "LOG", "Event logs: files, or directories of rolling logs.", many=True, required=True),
    Option(
        "sets",
        "--set PATH=V1,V2",
        "Replay with each of these values of a field. If repeated, replay every combination.",
        many=True,
    ),
    Option("overlays", "--overlay FILE", "Replay with this overlay. Repeatable.", many=True),
    Option(
        "search",
        "--search",
        "Try different numbers and sizes of executors, dynamic allocation, and a shuffle service.",
    ),
    Option("prices", "--prices FILE", "On-demand and spot prices, per core and GiB or per node."),
    Option(
        "max_cost",
        "--max-cost NUMBER",
        "Exit 1 if the best configuration costs more. Needs --prices.",
        kind=float,
    ),
    Option(
        "capacity",
        "--capacity N",
        "Maximum number of executors that the cluster has room for.",
        kind=int,
        least=1,
    ),
    Option(
        "ready",
        "--ready N",
        "Number of executors that fit on existing nodes. The others wait for --scale-up.",
        kind=int,
        least=0,
    ),
    Option(
        "scale_up", "--scale-up SECONDS", "Time until a new node is ready.", kind=float, default=90.0, least=0
    ),
    Option(
        "losses",
        "--spot-losses PER-HOUR",
        "How many spot nodes are reclaimed per executor-hour.",
        kind=float,
        default=0.0,
        least=0,
    ),
    Option("seed", "--seed N", "Random seed for spot losses.", kind=int, default=1),
    Option("as_json", "--json", "Print JSON."),
    Option("page", "--html FILE", "Write a report with charts as an HTML page."),
    Option(
        "best", "--best FILE", "Write the best configuration as an overlay. With -, print only the overlay."
    ),
)
