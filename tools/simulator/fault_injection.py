"""The immediate effects of faults.

Other faults last for a time.
The file active_faults.py says which last now; network.py, cluster.py and driver.py ask it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from simulator.cluster import Cluster, Executor
from simulator.nodes import BY_QUEUE
from simulator.schedule import FaultKind, InjectedFault
from sparkgen.runtime.allocator.values.observed import Cause

if TYPE_CHECKING:
    from simulator.world import World


def _to_executor(what: Callable[[Cluster, Executor], None]) -> Callable[[World, InjectedFault], None]:
    """A fault that calls `what` with a random running executor on a reachable node."""

    def act(world: World, _: InjectedFault) -> None:
        reachable = [one for one in world.cluster.running() if world.cluster.nodes[one.host].takes]
        executor = world.one_of(reachable)
        if executor is not None:
            what(world.cluster, executor)

    return act


def _take_back(cause: Cause, why: str, cluster: Cluster, executor: Executor) -> None:
    """Let the queue evict an executor, with the reason that Kueue writes."""
    cluster.disrupt(executor, cause, f"WorkloadEvictedDueTo{why}", BY_QUEUE)


def _to_pod(world: World, fault: InjectedFault) -> None:
    """Delete a random pod, in any state, as a user does."""
    pods = [one for one in world.cluster.executors.values() if world.cluster.pod(one) is not None]
    executor = world.one_of(pods)
    if executor is not None:
        world.cluster.delete(executor, forced=fault.kind is FaultKind.DELETED_BY_FORCE)


def _to_node(world: World, fault: InjectedFault) -> None:
    node = world.random.choice(sorted(world.cluster.nodes.values(), key=lambda node: node.name))
    if node.takes:
        seconds = None if fault.kind is FaultKind.NODE_GONE else fault.amount
        world.cluster.node_lost(node, seconds=seconds, dead=fault.kind is not FaultKind.NODE_SILENT)


def _to_streams(world: World, fault: InjectedFault) -> None:
    if fault.kind is FaultKind.WATCH_GONE:
        world.server.compact()
    for stream in tuple(world.network.streams):
        if fault.kind is FaultKind.WATCH_ENDED:
            stream.end()
        elif fault.kind is FaultKind.WATCH_ERROR:
            stream.error()
        elif fault.kind is FaultKind.WATCH_SILENT:
            stream.fall_silent()
        else:
            stream.break_off("the connection to the API server broke")


def _to_process(world: World, fault: InjectedFault) -> None:
    process = world.process
    if process is None:
        return
    if fault.kind is FaultKind.CRASH:
        process.crash_in = fault.count * 3 - 3
        if process.crash_in == 0:
            process.die("is killed")
    elif fault.kind is FaultKind.TERM:
        world.tell_to_end(process)
    elif fault.kind is FaultKind.FREEZE:
        process.frozen_until = world.event_queue.now + fault.amount
    else:
        process.jumped += fault.amount * 10
        process.now(process.mailbox.notify)


def _to_driver(world: World, fault: InjectedFault) -> None:
    if world.driver is None:
        return
    if fault.kind is FaultKind.CUT:
        world.driver.later(0.0, world.driver.look)  # its pending request is interrupted
    elif fault.kind is FaultKind.DRIVER_RESTART:
        world.restart_driver()
    elif fault.kind is FaultKind.HINTS:
        world.driver.hint()
    elif fault.kind is FaultKind.LIES:
        world.driver.speak()
        world.driver.later(fault.amount, world.driver.speak)
    else:
        world.driver.hangs_until = world.event_queue.now + fault.amount


def _to_people(world: World, fault: InjectedFault) -> None:
    if world.people is None:
        return
    if fault.kind is FaultKind.DRIVER_KILLED:
        world.people.driver_killed()
    elif fault.kind is FaultKind.SECOND_DRIVER:
        world.people.next_driver(second=True)
    else:
        world.people.command_lives = False


INJECTIONS: Mapping[FaultKind, Callable[[World, InjectedFault], None]] = {
    FaultKind.AWAY: _to_streams,
    FaultKind.WATCH_CUT: _to_streams,
    FaultKind.WATCH_ENDED: _to_streams,
    FaultKind.WATCH_GONE: _to_streams,
    FaultKind.WATCH_ERROR: _to_streams,
    FaultKind.WATCH_SILENT: _to_streams,
    FaultKind.NODE_SILENT: _to_node,
    FaultKind.NODE_DEAD: _to_node,
    FaultKind.NODE_GONE: _to_node,
    FaultKind.EVICTED: _to_executor(Cluster.evict),
    FaultKind.DRAINED: _to_executor(lambda c, e: c.disrupt(e, Cause.EVICTED, "EvictionByEvictionAPI")),
    FaultKind.PREEMPTED: _to_executor(lambda c, e: c.disrupt(e, Cause.PREEMPTED, "PreemptionByScheduler")),
    FaultKind.QUEUE_EVICTS: _to_executor(partial(_take_back, Cause.EVICTED, "ClusterQueueStopped")),
    FaultKind.QUEUE_PREEMPTS: _to_executor(partial(_take_back, Cause.PREEMPTED, "Preempted")),
    FaultKind.DELETED: _to_pod,
    FaultKind.DELETED_BY_FORCE: _to_pod,
    FaultKind.OOM: _to_executor(lambda c, e: c.exits(e, out_of_memory=True)),
    FaultKind.EXITED: _to_executor(lambda c, e: c.exits(e, out_of_memory=False)),
    FaultKind.CRASH: _to_process,
    FaultKind.TERM: _to_process,
    FaultKind.FREEZE: _to_process,
    FaultKind.CLOCK: _to_process,
    FaultKind.DRIVER_RESTART: _to_driver,
    FaultKind.DRIVER_HANGS: _to_driver,
    FaultKind.LIES: _to_driver,
    FaultKind.HINTS: _to_driver,
    FaultKind.DRIVER_STILL: _to_driver,
    FaultKind.CUT: _to_driver,
    FaultKind.DRIVER_KILLED: _to_people,
    FaultKind.SECOND_DRIVER: _to_people,
    FaultKind.COMMAND_GONE: _to_people,
}
"""The immediate effect of each kind."""
