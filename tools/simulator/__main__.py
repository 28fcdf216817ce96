"""`python -m simulator`: replay a schedule, or play many."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from simulator.run import run
from simulator.soak import PLANS, Plan, report_text, smallest, soak

ABOUT = {
    "sessions": "schedules in which drivers come and go",
    "gangs": "schedules with executors that are useful only together",
    "files": "schedules in which executors wait for their files, or cannot get them",
    "memory": "schedules in which executors have too little memory",
    "pools": "schedules with pools of nodes, of which one has no room",
}
"""Sort of schedules -> the help of its option."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit code: 1 if an invariant was broken."""
    options = _parser().parse_args(arguments)
    plan: Plan = options.plan
    seed = options.seed
    if options.command == "soak":
        return soak(options.count, seed, options.jobs, tell, plan)
    result = smallest(seed, plan) if options.shrink else run(PLANS[plan](seed), verbose=True)
    for line in report_text(result, plan):
        tell(line)
    return 0 if result.broken is None else 1


def tell(text: str) -> None:
    """Print a line immediately."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m simulator",
        description="The allocator in a modelled cluster with faults (docs/design/simulator.md).",
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def about(command: argparse.ArgumentParser) -> None:
        kinds = command.add_mutually_exclusive_group()
        command.set_defaults(plan="plain")
        for plan, help_text in ABOUT.items():
            kinds.add_argument(f"--{plan}", action="store_const", const=plan, dest="plan", help=help_text)

    replay = commands.add_parser(
        "replay", help="play the schedule of a seed, and print each event with its time"
    )
    replay.add_argument("seed", type=int)
    replay.add_argument(
        "--shrink",
        action="store_true",
        help="first remove from the schedule what is not needed to break an invariant",
    )
    about(replay)
    many = commands.add_parser("soak", help="play many schedules, on all cores")
    many.add_argument("count", type=int)
    many.add_argument("--seed", type=int, default=1, help="first seed (default 1)")
    about(many)
    many.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="number of processes (default: one for each core)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
