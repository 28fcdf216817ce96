"""Documents of the kind SparkShuffleService: the rules about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sparkgen import contract
from sparkgen.grammar import GrammarError, memory
from sparkgen.semantics import rules_versions
from sparkgen.semantics.facts import ServerFacts
from sparkgen.semantics.findings import Finding, about_key
from sparkgen.semantics.rules_shuffle import nested
from sparkgen.semantics.secret import has_secret, is_secret
from sparkgen.semantics.wording import refused, shortened

IN_GIT = "seems to be a secret in plain text, which would end up in Git and in a ConfigMap"

SETTINGS = {
    "spark.shuffle.service.enabled": "",
    "spark.shuffle.service.db.enabled": "",
    "spark.shuffle.service.port": "port",
    "spark.local.dir": "directories",
    "spark.authenticate": "secretName",
}
"""Property that is always set -> the field that says it; "" where it cannot be otherwise."""


def memory_sizes(facts: ServerFacts) -> Iterator[Finding]:
    """Sizes that Spark's launcher hands to a JVM that refuses them."""
    text = facts.spec.get("memory")
    if text is None:
        return
    try:
        memory.to_bytes(text)
    except GrammarError as error:
        yield refused(facts.path("memory"), text, error, memory.ALLOWED, "4g")


def secrets_in_conf(facts: ServerFacts) -> Iterator[Finding]:
    """Secrets in properties and Java options."""
    for name, text in facts.conf.items():
        if is_secret(name, text):
            yield Finding(
                facts.path("sparkConf", name),
                IN_GIT,
                next_step="put it into a Secret, and set that in `secretName`",
            )
    if has_secret(facts.spec.get("javaOptions") or ""):
        yield Finding(facts.path("javaOptions"), IN_GIT, next_step="put it into a Secret")


def contradictions(facts: ServerFacts) -> Iterator[Finding]:
    """Properties that are set whatever `sparkConf` says."""
    yield from always_set(facts, SETTINGS)


def always_set(facts: ServerFacts, settings: Mapping[str, str]) -> Iterator[Finding]:
    """Those of these properties that `sparkConf` has; each with the field that says it, or ""."""
    for name, field in settings.items():
        if name in facts.conf:
            yield about_key(
                facts.path("sparkConf", name),
                "has no effect: sparkgen sets it",
                f"delete it, and set `{field}`" if field else "delete it",
            )


def moving_tag(facts: ServerFacts) -> Iterator[Finding]:
    """An image that can change without a change in Git."""
    yield from rules_versions.moving_images([(facts.path("image"), facts.spec["image"])])


def image_version(facts: ServerFacts) -> Iterator[Finding]:
    """An image whose tag names another version of Spark than `sparkVersion`."""
    images = [(facts.path("image"), facts.spec["image"])]
    yield from rules_versions.images_of_another_version(facts.spec["sparkVersion"], images)


def pod_security(_: ServerFacts) -> Iterator[Finding]:
    """What a service needs of its nodes: nothing of it is left to choose."""
    yield about_key(
        ("kind",),
        "its pods need directories and a port of their nodes, and an init container that runs as root "
        "(without "
        'capabilities): Pod Security "baseline" refuses them',
        "give it its own namespace, with the label `pod-security.kubernetes.io/enforce: privileged`",
    )


def directories(facts: ServerFacts) -> Iterator[Finding]:
    """Directories that overlap, and a port that two containers of the pod would listen on."""
    yield from nested(facts.path("directories"), facts.spec.get("directories") or ())
    port = facts.spec.get("port", contract.SHUFFLE_PORT)
    janitor = facts.spec.get("janitor") or {}
    if janitor.get("port", contract.JANITOR_PORT) == port:
        yield Finding(
            facts.path("janitor", "port") if "port" in janitor else facts.path("port"),
            "is the port of both the service and its janitor, which share a pod",
            shortened(str(port)),
            "",
            "choose another port for the janitor in `janitor.port`",
        )


def open_to_all(facts: ServerFacts) -> Iterator[Finding]:
    """A service without a secret: whoever reaches its port reads all shuffle data on the node."""
    if "secretName" not in facts.spec:
        yield about_key(
            ("spec",),
            "the service has no `secretName`: anyone who reaches its port can read all shuffle data "
            "on the node",
            "add `secretName:` with a Secret in its namespace that has the key `secret`",
        )


def accounts(facts: ServerFacts) -> Iterator[Finding]:
    """An account with a name of its own: applications bind their Role to the one with the service's name.

    What the janitor may not look at is over for it after a while (runtime/janitor/decide.py), unless it waits
    for ever.
    """
    section = facts.spec.get("serviceAccount") or {}
    name, service = section.get("name"), facts.value["metadata"]["name"]
    waits = (facts.spec.get("janitor") or {}).get("withoutAccessSeconds")
    if name is not None and name != service and waits != 0:
        yield Finding(
            facts.path("serviceAccount", "name"),
            f"applications let only the service account {shortened(service)} look at their drivers' pods, so "
            "the janitor would remove data of running applications",
            shortened(name),
            "",
            "delete it; if you bind this account in each namespace, set `janitor.withoutAccessSeconds: 0`",
        )
