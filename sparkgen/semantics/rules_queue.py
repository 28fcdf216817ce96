"""What of a document's queue does not do what it says."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen import contract
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import Finding, about_key


def queues(facts: DocumentFacts) -> Iterator[Finding]:
    """Settings of a queue that nothing reads, and executors that would not wait in the driver's queue."""
    queued = facts.get("batchScheduler") is not None
    if facts.get("batchSchedulerOptions") and not queued:
        yield about_key(
            facts.path("batchSchedulerOptions"),
            "nothing reads it without `batchScheduler`, so that nobody waits in a queue",
            "add `batchScheduler: kueue`, or delete it",
        )
    if contract.LABEL_QUEUE in (facts.value["metadata"].get("labels") or {}):
        path = ("metadata", "labels", contract.LABEL_QUEUE)
        if queued:
            yield about_key(path, "`batchSchedulerOptions.queue` takes its place on the Job", "delete it")
        else:
            yield about_key(
                path,
                "the driver waits in this queue, and its executors walk past it",
                "name the queue in `batchSchedulerOptions.queue`, with `batchScheduler: kueue`",
            )
    if queued and facts.get("suspend") is True and not facts.scheduled:
        yield about_key(
            facts.path("suspend"),
            "Kueue lets a suspended Job go as soon as its queue has room",
            "delete it; `stopPolicy: Hold` of the LocalQueue holds everything back",
        )
