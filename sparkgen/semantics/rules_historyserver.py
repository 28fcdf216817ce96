"""The rules about documents of the kind SparkHistoryServer."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.grammar import duration
from sparkgen.model import HISTORY_KIND
from sparkgen.model.historyserver import CLEANER_PROPERTIES
from sparkgen.semantics.facts import ServerFacts
from sparkgen.semantics.fields import HISTORY_FIELDS
from sparkgen.semantics.findings import ERROR, WARNING, Finding, server_rule
from sparkgen.semantics.secret import has_secret, in_git, is_secret
from sparkgen.semantics.servers import always_set
from sparkgen.semantics.wording import refusals

SETTINGS = {
    "spark.history.fs.logDirectory": "eventLog.dir",
    "spark.history.ui.port": "",
}
"""Property that sparkgen always sets -> the field that configures it; "" if no field does."""


@server_rule("SG103", ERROR, kinds=(HISTORY_KIND,))
def durations(facts: ServerFacts) -> Iterator[Finding]:
    """Durations that JavaUtils.timeStringAs refuses."""
    texts = [
        (facts.path(section, name), facts.spec[section][name])
        for section, name in HISTORY_FIELDS["duration"]
        if name in (facts.spec.get(section) or {})
    ]
    return refusals(texts, duration.to_microseconds, duration.ALLOWED, "60s")


@server_rule("SG117", WARNING, kinds=(HISTORY_KIND,))
def secrets_in_conf(facts: ServerFacts) -> Iterator[Finding]:
    """Secrets in properties, variables and Java options."""
    step = "put it into a Secret, and read it with `env`, `envFrom` or `secrets`"
    for field in ("sparkConf", "hadoopConf"):
        for name, text in (facts.spec.get(field) or {}).items():
            if is_secret(name, text):
                yield in_git(facts.path(field, name), step)
    if has_secret(facts.spec.get("javaOptions") or ""):
        yield in_git(facts.path("javaOptions"), step)


@server_rule("SG118", WARNING, kinds=(HISTORY_KIND,))
def secrets_in_env(facts: ServerFacts) -> Iterator[Finding]:
    """Secrets in variables."""
    for index, variable in enumerate(facts.spec.get("env") or ()):
        text = variable.get("value")
        if text is not None and is_secret(variable["name"], text):
            yield Finding(
                facts.path("env", index, "value"),
                "seems to be a secret in plain text, which would end up in Git",
                next_step="put it into a Secret, and refer to it with `valueFrom.secretKeyRef`",
            )


@server_rule("SG119", WARNING, kinds=(HISTORY_KIND,))
def contradictions(facts: ServerFacts) -> Iterator[Finding]:
    """Properties that sparkgen always sets itself, or that fields of `cleaner` set."""
    settings = dict(SETTINGS)
    cleaner = facts.spec.get("cleaner")
    if cleaner is not None:
        settings["spark.history.fs.cleaner.enabled"] = "cleaner.enabled"
        settings |= {
            name: f"cleaner.{field}" for field, name in CLEANER_PROPERTIES.items() if field in cleaner
        }
    yield from always_set(facts, settings)


@server_rule("SG176", WARNING, kinds=(HISTORY_KIND,))
def cleaner_without_section(facts: ServerFacts) -> Iterator[Finding]:
    """A cleaner that a property switches on, although its claim is mounted read-only."""
    name = "spark.history.fs.cleaner.enabled"
    if "cleaner" in facts.spec or "claim" not in facts.spec["eventLog"]:
        return
    if facts.conf.get(name, "").strip().lower() == "true":
        yield Finding(
            facts.path("sparkConf", name),
            "cannot remove anything: the claim is mounted read-only",
            facts.conf[name],
            next_step="delete it, and add `cleaner: {}` beside `eventLog`",
        )
