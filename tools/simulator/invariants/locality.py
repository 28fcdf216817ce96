"""The invariant about the nodes that new executors prefer (decide/locality.py of the allocator)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.invariants.invariant import Invariant
from sparkgen.runtime.allocator.decide.locality import MAX_WISHES
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import Create

if TYPE_CHECKING:
    from simulator.process import AllocatorProcess


class WishesFollowHints(Invariant):
    """A new executor prefers few nodes, only those where its profile has tasks now, and none to be avoided.

    `target-reached` checks that a preference keeps no executor from starting: some hints are no nodes.
    """

    name = "wishes-follow-hints"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        for action in now.decision.actions:
            if not isinstance(action, Create) or not action.wishes:
                continue
            hinted = {
                host.partition(".")[0].lower() for host in now.target.host_tasks.get(action.profile, {})
            }
            wished = {wish.node or wish.hostnames[-1] for wish in action.wishes}
            if not wished <= hinted - {*action.avoid}:
                raise self.broken(
                    f"executor {action.id} wishes for {sorted(wished)}; hints are {sorted(hinted)}"
                )
            if len(action.wishes) > MAX_WISHES:
                raise self.broken(f"executor {action.id} has {len(action.wishes)} wishes")
