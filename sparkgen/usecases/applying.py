"""The steps of `apply` before it applies: render, read the existing objects, and find what would go wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from sparkgen import model, resources, thread_map
from sparkgen.cluster.channel import CONNECTIONS
from sparkgen.errors import Severity
from sparkgen.preflight import Finding, Wanted, gather, judge, look_around, ownership, read_live
from sparkgen.preflight.judge import in_order
from sparkgen.usecases.apply_objects import Task

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.document import Document


def wanted(document: Document, namespace: str) -> Wanted:
    """Returns what a valid document describes; `namespace`: for a document that names none."""
    described = model.describe(document.value, namespace)
    objects = tuple(resources.render(described))
    return Wanted(described.name, described.namespace, objects, document.value)


def look(
    cluster: Cluster, all_wanted: Sequence[Wanted], now: datetime, *, preflight: bool, force: bool
) -> list[Task]:
    """Returns each application with facts from the cluster: without a preflight, its existing objects."""
    shared = look_around(cluster, all_wanted) if preflight else {}

    def one(wanted: Wanted) -> Task:
        if not preflight:
            return Task(wanted, read_live(cluster, wanted), None)
        facts = gather(cluster, wanted, shared[wanted.namespace], now, force=force)
        return Task(wanted, facts.live, facts)

    return thread_map.results(one, all_wanted, CONNECTIONS)


def findings(task: Task, *, take: bool) -> tuple[list[Finding], bool]:
    """Returns what would go wrong, the worst first, and whether an object has another owner.

    `take`: objects without an owner are taken over. Objects of other owners are not touched without a
    preflight, either; they are then the only findings.
    """
    owned = ownership(task.wanted, task.live, take=take)
    others = [finding for finding in owned if finding.severity is Severity.ERROR]
    if task.facts is None:
        return others, bool(others)
    return in_order([*owned, *judge(task.wanted, task.facts)]), bool(others)
