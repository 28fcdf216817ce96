"""`sparkgen whatif`: prints the predictions of replays."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.errors import SparkgenError
from sparkgen.eventlog import read_recording
from sparkgen.phrases import number_of
from sparkgen.whatif import json_report, overlay_report, page, text_report
from sparkgen.whatif.candidates import from_overlay, from_sets
from sparkgen.whatif.cluster import Cluster
from sparkgen.whatif.price_file import read_prices
from sparkgen.whatif.study import Question, Run, Study, study
from sparkgen.writers import own_files

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

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class WhatifOptions:
    """The logs, the configurations to replay them with, and where the results go.

    `capacity`, `ready`, `scale_up`, `losses`, `seed`: see Cluster; `max_cost`: in the currency of `prices`.
    """

    logs: tuple[str, ...]
    sets: tuple[str, ...]
    overlays: tuple[str, ...]
    search: bool
    prices: str
    max_cost: float | None
    capacity: int | None
    ready: int | None
    scale_up: float
    losses: float
    seed: int
    as_json: bool
    page: str
    best: str

    @property
    def cluster(self) -> Cluster:
        """The cluster that the replays run in."""
        return Cluster(self.capacity, self.ready, self.scale_up, self.losses, seed=self.seed)


def whatif(options: WhatifOptions) -> int:
    """Replay each log and print the results; 1 if the best one costs too much, or a replay never ends."""
    _agree(options)
    prices = read_prices(options.prices) if options.prices else None
    candidates = [*from_sets(options.sets), *(from_overlay(name) for name in options.overlays)]
    question = Question(candidates, options.search, bool(options.page), prices, options.cluster)
    studies = [_study(log, question) for log in options.logs]
    if options.best == "-":
        output.data(_best(studies[0]))
    elif options.as_json:
        output.data(json_report.text(studies))
    else:
        output.write("\n".join(text_report.text(one) for one in studies))
    if options.page:
        own_files.write(Path(options.page), page.text(studies[0]))
        output.note(f"wrote {options.page}")
    if options.best and options.best != "-":
        own_files.write(Path(options.best), _best(studies[0]))
        word = shlex.quote(options.best)
        output.note(f"wrote {options.best}; next: sparkgen diff --from HEAD -f {word} APP.yaml")
    dear = [one for one in studies if _too_dear(one, options.max_cost)]
    stuck = [run for one in studies for run in _stuck(one)]
    return int(bool(dear or stuck))


def _agree(options: WhatifOptions) -> None:
    """Raise SparkgenError for options that do not go together."""
    if options.max_cost is not None and not options.prices:
        raise SparkgenError("--max-cost needs prices; add --prices FILE")
    if options.best and not (options.sets or options.overlays or options.search):
        raise SparkgenError("--best needs configurations to choose from; add --set, --overlay or --search")
    if (options.best or options.page) and len(options.logs) > 1:
        raise SparkgenError("--best and --html take only one LOG")


def _study(log: str, question: Question) -> Study:
    with output.live_line() as say:
        recording = read_recording(log, lambda read: say(f"read {read // MIB} MiB of {log}"))
        return study(
            recording,
            question,
            lambda done: say(f"replayed {number_of(done, 'configuration')}"),
        )


def _best(one: Study) -> str:
    if one.baseline.outcome is None:
        raise SparkgenError(f"{one.baseline.label}: {one.baseline.stopped}; there is nothing to compare with")
    if one.best is None:
        raise SparkgenError(
            "every configuration takes over 10% longer than the recorded one; try larger ones"
        )
    return overlay_report.text(one, one.best)


def _stuck(one: Study) -> tuple[Run, ...]:
    """Returns the replays that never end, and reports them, except those that only --search tried."""
    stuck = tuple(run for run in one.stuck if run.candidate is None or not run.candidate.searched)
    for run in stuck:
        output.note(f"error: {one.recording.source}: {run.label}: {run.stopped}")
    return stuck


def _too_dear(one: Study, most: float | None) -> bool:
    if most is None:
        return False
    chosen = one.best or one.baseline
    cost = chosen.cost.on_demand if chosen.cost is not None else None
    if cost is None or cost <= most:
        return False
    output.note(f"{one.recording.source}: {chosen.label} costs {cost:.4f} {one.currency}, more than {most:g}")
    return True


COMMAND = command(
    WhatifOptions,
    whatif,
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
