"""When an application runs, ends, is kept and starts again.

The grammars are imported where they are used: most documents have no schedule, and every render imports
this module.
"""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.grammar import GrammarError
from sparkgen.model.build import GITOPS
from sparkgen.semantics.facts import DocumentFacts, texts
from sparkgen.semantics.fields import SCHEDULE_FIELDS
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.wording import refusals, refused, shortened

JOB_FIELDS = {
    "activeDeadlineSeconds": "delete it: a streaming application ends when its document is deleted",
    "timeToLiveSeconds": "delete it: a Deployment never finishes",
}
"""Fields of a Job that a Deployment does not have -> what to do."""


def _schedules(facts: DocumentFacts, grammar: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for field in SCHEDULE_FIELDS[grammar]:
        text = facts.value["spec"].get(field[0])
        if isinstance(text, str):
            yield ("spec", *field), text


@rule("SG180", ERROR)
def schedules(facts: DocumentFacts) -> Iterator[Finding]:
    """Schedules that the API server refuses."""
    if not facts.scheduled:
        return
    from sparkgen.grammar import cron  # noqa: PLC0415

    for path, text in _schedules(facts, "cron"):
        try:
            cron.parse(text)
        except GrammarError as error:
            finding = refused(path, text, error, cron.ALLOWED, "30 3 * * *")
            if "TZ" in text:
                step = f"{finding.next_step}, and set the zone in `spec.timeZone`"
                finding = Finding(path, finding.message, finding.found, finding.allowed, step)
            yield finding


@rule("SG181", WARNING)
def surprising_schedules(facts: DocumentFacts) -> Iterator[Finding]:
    """Schedules that Kubernetes takes and that do not do what they seem to."""
    if not facts.scheduled:
        return
    from sparkgen.grammar import cron  # noqa: PLC0415

    for path, text in _schedules(facts, "cron"):
        try:
            schedule = cron.parse(text)
        except GrammarError:
            continue
        if schedule.never:
            message = "no date matches this schedule, so it never runs"
            yield Finding(
                path, message, shortened(text), next_step="choose a day that exists in these months"
            )
        elif schedule.every is not None:
            yield Finding(
                path,
                "counts from the creation of the CronJob, and @every is not documented by Kubernetes",
                shortened(text),
                cron.ALLOWED,
                "write the minutes and hours, as in `*/15 * * * *`",
            )


@rule("SG182", ERROR)
def time_zones(facts: DocumentFacts) -> Iterator[Finding]:
    """Time zones that the API server refuses."""
    if not facts.scheduled:
        return
    from sparkgen.grammar import timezone  # noqa: PLC0415

    yield from refusals(_schedules(facts, "timezone"), timezone.check, timezone.ALLOWED, "Europe/Berlin")


@rule("SG183", WARNING)
def unknown_time_zones(facts: DocumentFacts) -> Iterator[Finding]:
    """Time zones that sparkgen's list does not have; a newer one in the cluster may."""
    if not facts.scheduled:
        return
    from sparkgen.grammar import timezone  # noqa: PLC0415

    for path, text in _schedules(facts, "timezone"):
        try:
            timezone.check(text)
        except GrammarError:
            continue
        if not timezone.is_known(text):
            near = timezone.suggest(text)
            yield Finding(
                path,
                "is not in the 2025 time zone database, and Kubernetes refuses unknown names",
                shortened(text),
                timezone.ALLOWED,
                f"write `timeZone: {near}` if you mean that" if near else "check the name",
            )


@rule("SG184", ERROR)
def moments(facts: DocumentFacts) -> Iterator[Finding]:
    """Moments that are not written as RFC 3339 has them."""
    if found := [*texts(facts, "timestamp")]:
        from sparkgen.grammar import timestamp  # noqa: PLC0415

        yield from refusals(found, timestamp.to_seconds, timestamp.ALLOWED, "2026-03-01T06:00:00Z")


def _restart(facts: DocumentFacts) -> str:
    return str(facts.get("restartPolicy", "type") or "Never")


@rule("SG185", ERROR)
def job_fields_of_a_deployment(facts: DocumentFacts) -> Iterator[Finding]:
    """Fields of a Job on an application that always restarts, which is a Deployment: they would be lost."""
    if _restart(facts) != "Always" or facts.scheduled:
        return
    for field, step in JOB_FIELDS.items():
        value = facts.get(field)
        if value is not None and value is not False:
            yield about_key(
                facts.path(field),
                "has no effect with `restartPolicy.type: Always`, which makes a Deployment",
                step,
            )


@rule("SG186", ERROR)
def always_on_a_schedule(facts: DocumentFacts) -> Iterator[Finding]:
    """A scheduled application that always restarts: the API server refuses such a Job."""
    if facts.scheduled and _restart(facts) == "Always":
        yield Finding(
            facts.path("restartPolicy", "type"),
            "a run of a schedule must end, and Kubernetes refuses a Job that always restarts",
            "Always",
            "Never, OnFailure",
            "write `type: OnFailure` with `onFailureRetries`, or make it a SparkApplication",
        )


@rule("SG187", WARNING)
def retries(facts: DocumentFacts) -> Iterator[Finding]:
    """Retries that do not happen: OnFailure without a number (as in kubeflow), a number without OnFailure."""
    number = facts.get("restartPolicy", "onFailureRetries")
    if _restart(facts) == "OnFailure" and not number:
        yield Finding(
            facts.path("restartPolicy", "type"),
            "without `onFailureRetries`, a failed driver is not restarted",
            "OnFailure",
            next_step="add `onFailureRetries: 2`, or write `type: Never`",
        )
    elif _restart(facts) != "OnFailure" and number:
        yield about_key(
            facts.path("restartPolicy", "onFailureRetries"),
            f"has no effect with `type: {_restart(facts)}`",
            "delete it, or write `type: OnFailure`",
        )


@rule("SG188", WARNING)
def time_to_live(facts: DocumentFacts) -> Iterator[Finding]:
    """A finished Job that deletes itself: Argo CD and Flux create it again, and it runs again."""
    seconds = facts.get("timeToLiveSeconds")
    if seconds is not None and not facts.scheduled and _restart(facts) != "Always":
        target = facts.value["metadata"].get("target")
        left_out = f"is not rendered for `target: {target}`: " if target in GITOPS else ""
        yield about_key(
            facts.path("timeToLiveSeconds"),
            f"{left_out}Argo CD and Flux create a deleted Job again, which runs the application again",
            "delete it; use `run.history` to set how many finished runs are kept",
        )


@rule("SG189", WARNING)
def fields_without_meaning(facts: DocumentFacts) -> Iterator[Finding]:
    """Fields of `run`, and `suspend`, where they do something other than they say."""
    if facts.scheduled:
        for field, step in (
            ("id", "delete it: only the schedule decides when it runs"),
            ("history", "use `spec.successfulRunHistoryLimit` and `spec.failedRunHistoryLimit`"),
        ):
            if facts.get("run", field) is not None:
                message = "has no effect on a scheduled application"
                yield about_key(facts.path("run", field), message, step)
        if facts.get("suspend") is True:
            yield about_key(
                facts.path("suspend"),
                "every Job of the schedule would be created suspended, and would wait until someone "
                "resumes it",
                "write `suspend: true` directly below `spec:` to pause the schedule",
            )
    elif _restart(facts) == "Always":
        for field, step in (
            ("history", "delete it: a Deployment has no finished runs"),
            ("expiresAt", "delete it: after that time, the driver could not be restarted"),
        ):
            if facts.get("run", field) is not None:
                message = "cannot be used with an application that always restarts"
                yield about_key(facts.path("run", field), message, step)


@rule("SG195", WARNING)
def loggers(facts: DocumentFacts) -> Iterator[Finding]:
    """Names of loggers that are whole settings of log4j."""
    for name in facts.get("logging", "loggers") or {}:
        plain = name
        for prefix in ("log4j.logger.", "logger."):
            plain = plain.removeprefix(prefix)
        if plain != name or name in ("log4j.rootCategory", "rootLogger", "rootLogger.level", "root"):
            root = plain == name
            yield about_key(
                facts.path("logging", "loggers", name),
                "is a Log4j setting, not the name of a package or class",
                "set `logging.level` instead" if root else f"write `{shortened(plain)}`",
                "the name of a package or class",
            )
