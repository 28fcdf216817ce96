"""What only sparkgen's allocator can do: refused, or warned about, where Spark's own backend is to do it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparkgen import contract
from sparkgen.errors import Path, Severity
from sparkgen.model.properties import DYNAMIC_ALLOCATION
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule


@dataclass(frozen=True, slots=True)
class Restriction:
    """A row of the page docs/spark-backend.md: what an application does not have with `allocator: spark`.

    `instead`: what Spark does. `field`: the path below the application's spec that asks for it, empty if no
    field does; `value`: the only value, or variable, that asks for it, if not each one does; `harmless`: the
    only one that does not. `only_with`: the Spark property without which the row does not count. `severity`:
    of the finding about the field.
    """

    what: str
    instead: str
    field: tuple[str, ...] = ()
    value: str = ""
    step: str = ""
    only_with: str = ""
    harmless: str = ""
    severity: Severity = ERROR


RESTRICTIONS: tuple[Restriction, ...] = (
    Restriction(
        "code without a Kubernetes token",
        "the driver's container has a token, with which your code may create and delete pods",
    ),
    Restriction(
        "number and size of executors as reviewed, whatever the code sets",
        "the driver creates what your code asks for",
        ("allocation", "onMismatch"),
        step="delete it",
    ),
    Restriction(
        "new bounds for executors, or a new pace, while the application runs",
        "a change of these fields starts a new run",
    ),
    Restriction(
        "Connect servers, notebooks, and `sparkgen shell`",
        "these kinds have no field `allocator`, and `shell` refuses the document",
    ),
    Restriction(
        "executors that start together with the driver",
        "they start when the driver's program has created its SparkContext",
    ),
    Restriction(
        "the cause of each lost executor, and what keeps executors from starting, in Events and `status`",
        "`status` shows what the pods say, and the driver's log has the rest",
    ),
    Restriction(
        "shuffle data that outlives its executor",
        "executors use no shuffle service",
        ("shuffleService",),
        step="delete it: with dynamic allocation, Spark keeps executors whose shuffle data is in use",
    ),
    Restriction(
        "executors near their data",
        "Spark asks for no nodes",
        ("allocation", "locality"),
        step="delete it, or prefer nodes with `executor.affinity`",
    ),
    Restriction(
        "a limit for pods that no node has room for",
        "Spark limits only all pending pods",
        ("allocation", "maxUnschedulablePods"),
        step="set `allocation.maxPendingPods` in its place",
    ),
    Restriction(
        "the next batch of executors only after the last one has registered",
        "Spark has its own order",
        ("allocation", "waitForRegistration"),
        step="delete it",
    ),
    Restriction(
        "holding the application",
        "Spark reads its settings once",
        ("allocation", "hold"),
        step="delete it, or end the run with `sparkgen kill`",
    ),
    Restriction(
        "more memory for the executors after one that was killed for lack of it",
        "Spark keeps their memory, and since 4.2 gives them one task at a time",
        ("allocation", "memoryOverheadRecovery"),
        step="delete it, or raise `executor.memoryOverhead`",
    ),
    Restriction(
        "an end for executors that stay pending",
        "Spark lets them wait",
        ("allocation", "pendingTimeout"),
        step="delete it, and alert on pending pods",
    ),
    Restriction(
        "executors in pools of nodes",
        "Spark gives all executors one template",
        ("executor", "pools"),
        step="delete it, and write the node selector and tolerations of one pool into `executor`",
    ),
    Restriction(
        "gangs of Kubernetes' own scheduler",
        "nothing creates the PodGroup of a driver's executors",
        ("batchScheduler",),
        "kube-scheduler",
        "use `volcano` or `yunikorn`, for which sparkgen renders the gang",
    ),
    Restriction(
        "a Kueue queue in which executors come and go",
        "Spark does not tell executors that wait in a queue from others",
        ("batchScheduler",),
        "kueue",
        "set a fixed `executor.instances`",
        only_with=DYNAMIC_ALLOCATION,
    ),
    Restriction(
        "a date after which a run does not start",
        "nothing checks it before the driver starts",
        ("run", "expiresAt"),
        step="delete it",
    ),
    Restriction(
        "runs that do not overlap",
        "nothing lets a run wait for another",
        ("concurrencyPolicy",),
        step="delete it",
        harmless="Allow",
    ),
    Restriction(
        "resources of sparkgen's own containers",
        "there is no allocator",
        ("allocation", "resources"),
        step="delete it",
    ),
    Restriction(
        "a user of executors by a variable",
        "Spark sets the variable to the driver's user",
        ("executor", "env"),
        contract.ENV_SPARK_USER,
        "set `proxyUser`, or `spark.executorEnv.SPARK_USER` in `sparkConf`",
    ),
    Restriction(
        "hooks of executors that are decommissioned",
        "Spark replaces the container's hooks with its script for decommissioning",
        ("executor", "lifecycle"),
        step="let the script of `spark.kubernetes.decommission.script` do it",
        only_with="spark.decommission.enabled",
    ),
    Restriction(
        "a host name for executors",
        "each executor's host is named after its pod",
        ("executor", "template", "spec", "hostname"),
        step="delete it",
    ),
    Restriction(
        "no pods of earlier drivers after a restart",
        "executors of a driver that has ended stay as ended pods until the driver's pod is replaced",
        ("restartPolicy", "type"),
        "Always",
        "delete them by their label `spark-app-selector`",
        severity=WARNING,
    ),
)


@rule("SG321", ERROR)
def only_the_allocator(facts: DocumentFacts) -> Iterator[Finding]:
    """Fields that have no effect where Spark's own backend creates the executors."""
    yield from _restricted(facts, ERROR)


@rule("SG322", WARNING)
def better_with_the_allocator(facts: DocumentFacts) -> Iterator[Finding]:
    """Fields that have an effect, but another one."""
    yield from _restricted(facts, WARNING)


def _restricted(facts: DocumentFacts, severity: Severity) -> Iterator[Finding]:
    if facts.get("allocator") != "spark":
        return
    for row in RESTRICTIONS:
        if row.severity is not severity or (row.only_with and not facts.is_true(row.only_with)):
            continue
        said = f"needs the allocator; with `allocator: spark`, {row.instead}"
        step = f"{row.step}; or set `allocator: sparkgen`"
        for path in _asking(facts, row):
            if row.value:
                yield Finding(path, said, row.value, next_step=step)
            else:
                yield about_key(path, said, step)


def _asking(facts: DocumentFacts, row: Restriction) -> Iterator[Path]:
    """The places of a document that ask for what a row is about."""
    if facts.get(*row.field) == row.harmless != "":
        return
    if row.field == ("executor", "env"):
        yield from facts.variables("executor", row.value)
    elif row.field and (given := facts.get(*row.field)) is not None and row.value in ("", given):
        yield facts.path(*row.field)
