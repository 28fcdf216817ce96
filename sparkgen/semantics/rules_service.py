"""The rules about documents of the kind SparkShuffleService."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen import contract
from sparkgen.grammar import memory
from sparkgen.model import HISTORY_KIND, SERVER_KINDS, SERVICE_KIND
from sparkgen.semantics import software
from sparkgen.semantics.facts import ServerFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, server_rule
from sparkgen.semantics.secret import has_secret, in_git, is_secret
from sparkgen.semantics.servers import always_set, nested
from sparkgen.semantics.wording import refusals, shortened

SETTINGS = {
    "spark.shuffle.service.enabled": "",
    "spark.shuffle.service.db.enabled": "",
    "spark.shuffle.service.port": "port",
    "spark.local.dir": "directories",
    "spark.authenticate": "secretName",
}
"""Property that sparkgen always sets -> the field that configures it; "" if no field does."""


@server_rule("SG101", ERROR, kinds=(SERVICE_KIND, HISTORY_KIND))
def memory_sizes(facts: ServerFacts) -> Iterator[Finding]:
    """A memory size that Spark's launcher would pass to a JVM, which would refuse it."""
    texts = [(facts.path("memory"), facts.spec["memory"])] if "memory" in facts.spec else []
    return refusals(texts, memory.to_bytes, memory.ALLOWED, "4g")


@server_rule("SG117", WARNING, kinds=(SERVICE_KIND,))
def secrets_in_conf(facts: ServerFacts) -> Iterator[Finding]:
    """Secrets in properties and Java options."""
    for name, text in facts.conf.items():
        if is_secret(name, text):
            yield in_git(facts.path("sparkConf", name), "put it into a Secret, and set that in `secretName`")
    if has_secret(facts.spec.get("javaOptions") or ""):
        yield in_git(facts.path("javaOptions"), "put it into a Secret")


@server_rule("SG119", WARNING, kinds=(SERVICE_KIND,))
def contradictions(facts: ServerFacts) -> Iterator[Finding]:
    """Properties of `sparkConf` that sparkgen always sets itself."""
    yield from always_set(facts, SETTINGS)


@server_rule("SG135", WARNING, kinds=SERVER_KINDS)
def moving_tag(facts: ServerFacts) -> Iterator[Finding]:
    """An image of a server that can change without a change in Git."""
    if "image" in facts.spec:
        yield from software.moving_images([(facts.path("image"), facts.spec["image"])])


@server_rule("SG137", WARNING, kinds=(SERVICE_KIND, HISTORY_KIND))
def image_version(facts: ServerFacts) -> Iterator[Finding]:
    """An image whose tag names another version of Spark than `sparkVersion`."""
    images = [(facts.path("image"), facts.spec["image"])]
    yield from software.images_of_another_version(facts.spec["sparkVersion"], images)


@server_rule("SG146", WARNING, kinds=(SERVICE_KIND,))
def pod_security(_: ServerFacts) -> Iterator[Finding]:
    """What a service always needs from its nodes: directories, a port, and an init container that is root."""
    yield about_key(
        ("kind",),
        "its pods need directories and a port of their nodes, and an init container that runs as root "
        "(without "
        'capabilities): Pod Security "baseline" refuses them',
        "give it its own namespace, with the label `pod-security.kubernetes.io/enforce: privileged`",
    )


@server_rule("SG158", ERROR, kinds=(SERVICE_KIND,))
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
            next_step="choose another port for the janitor in `janitor.port`",
        )


@server_rule("SG159", WARNING, kinds=(SERVICE_KIND,))
def open_to_all(facts: ServerFacts) -> Iterator[Finding]:
    """A service without a secret: everybody who reaches its port can read all shuffle data on the node."""
    if "secretName" not in facts.spec:
        yield about_key(
            ("spec",),
            "the service has no `secretName`: anyone who reaches its port can read all shuffle data "
            "on the node",
            "add `secretName:` with a Secret in its namespace that has the key `secret`",
        )


@server_rule("SG319", WARNING, kinds=(SERVICE_KIND,))
def accounts(facts: ServerFacts) -> Iterator[Finding]:
    """An account with another name than the service's, to which applications bind their Role.

    If the janitor may not read an application's pods, it considers the application ended after a while,
    unless it waits forever (runtime/janitor/decide.py).
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
            next_step=(
                "delete it; if you bind this account in each namespace, set `janitor.withoutAccessSeconds: 0`"
            ),
        )
