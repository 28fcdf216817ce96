"""The table of all policy rules, in the order of their codes, and their profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sparkgen import semantics
from sparkgen.errors import Problem, Severity
from sparkgen.lint import rules_cost as cost
from sparkgen.lint import rules_evidence as recorded
from sparkgen.lint import rules_gitops as gitops
from sparkgen.lint import rules_hardening as hardening
from sparkgen.lint import rules_images as images
from sparkgen.lint import rules_kerberos as kerberos
from sparkgen.lint import rules_reliability as reliability
from sparkgen.lint import rules_restricted as restricted
from sparkgen.lint import rules_servers as servers
from sparkgen.lint import rules_trust as trust
from sparkgen.lint.evidence import Evidence
from sparkgen.lint.findings import Edit, Finding, Rule
from sparkgen.lint.serversubject import ServerSubject
from sparkgen.lint.settings import Settings
from sparkgen.lint.subject import Subject
from sparkgen.model import SERVER_KINDS
from sparkgen.model.historyserver import HISTORY_KIND
from sparkgen.model.shuffle import SERVICE_KIND
from sparkgen.model.staging import STAGING_KIND
from sparkgen.semantics.findings import nothing
from sparkgen.semantics.registry import problem

if TYPE_CHECKING:
    from sparkgen.document.node import Document

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

PROFILES: Mapping[str, str] = {
    "gitops": "Safe to sync with Argo CD or Flux: nothing runs twice, is killed, or changes unnoticed.",
    "pss-restricted": 'What Pod Security "restricted" would refuse, in driver and executor pods.',
    "production": "What makes a run fail, hang, leak data or leave no trace; what scanners ask for.",
    "cost": "What costs money without need.",
}
"""Profile -> its purpose."""

DEFAULT_PROFILES = ("gitops", "pss-restricted", "production")

RAISED: Mapping[str, Mapping[str, Severity]] = {
    "gitops": {"SG135": ERROR, "SG188": ERROR},
    "pss-restricted": {"SG157": ERROR},
    "production": {"SG117": ERROR, "SG118": ERROR},
}
"""Profile -> warnings of `sparkgen validate` that are errors in it."""

_G, _P, _S, _C = ("gitops",), ("production",), ("pss-restricted",), ("cost",)


# ruff: noqa: E501 - a table reads best with one rule per line
# fmt: off
RULES: tuple[Rule, ...] = (
    # syncing
    Rule("SG201", "prune", WARNING, _G, "A run that is pruned while it runs.", gitops.prune),
    Rule("SG202", "rerun-at-sync", ERROR, _G, "A job that runs again at every sync.", gitops.rerun_at_sync),
    Rule("SG203", "early-wave", WARNING, _G, "A job that later waves wait for.", gitops.early_wave),
    Rule("SG204", "namespace", WARNING, _G + _P, "A document without a namespace.", gitops.namespace, gitops.namespace, gitops.namespace, gitops.namespace),
    Rule("SG205", "expiry", INFO, _G, "A run that a new cluster would run again.", gitops.expiry),
    Rule("SG206", "moving-dependency", WARNING, _G + _P, "A library without a fixed version.", gitops.moving_dependency),
    Rule("SG207", "moving-code", INFO, _G, "Code that can change without a commit.", gitops.moving_code),
    Rule("SG208", "moving-conf-file", INFO, _G, "A configuration file that can change without a commit.", gitops.moving_conf_file),
    # Pod Security "restricted"
    Rule("SG210", "host-access", ERROR, _S, "A pod that uses a namespace or a port of the node.", restricted.host_access),
    Rule("SG211", "privileged", ERROR, _S, "A privileged container.", restricted.privileged, history=restricted.privileged, staging=restricted.privileged),
    Rule("SG212", "privilege-escalation", ERROR, _S, "A container that may gain privileges.", restricted.privilege_escalation),
    Rule("SG213", "capabilities", ERROR, _S, "A container with kernel capabilities.", restricted.capabilities),
    Rule("SG214", "root", ERROR, _S, "A container that runs, or may run, as root.", restricted.root, history=restricted.root, staging=restricted.root),
    Rule("SG215", "seccomp", ERROR, _S, "A container without a seccomp profile.", restricted.seccomp, history=restricted.seccomp, staging=restricted.seccomp),
    Rule("SG216", "volume-type", ERROR, _S, "A volume of a type that is not allowed.", restricted.volume_types),
    Rule("SG217", "confinement", ERROR, _S, "Changed AppArmor, SELinux or kernel settings.", restricted.confinement, history=restricted.confinement, staging=restricted.confinement),
    # images, and what else is fetched
    Rule("SG220", "image-digest", WARNING, _P, "An image with a tag instead of a digest.", images.digest, images.digest, images.digest, images.digest),
    Rule("SG221", "image-registry", WARNING, _P, "An image without a registry.", images.unqualified, images.unqualified, images.unqualified, images.unqualified),
    Rule("SG222", "allowed-registry", ERROR, _P, "An image from a registry that is not allowed.", images.registries, images.registries, images.registries, images.registries),
    Rule("SG223", "pull-policy", INFO, _P, "A pull policy that lets nodes run different images.", images.pull_policy, images.pull_policy, images.pull_policy, images.pull_policy),
    Rule("SG224", "download-at-start", WARNING, _P, "A download at every start.", images.download_at_start),
    Rule("SG225", "plain-http", WARNING, _P, "Code that is downloaded over plain HTTP.", images.plain_http),
    # hardening
    Rule("SG230", "writable-root", INFO, _P, "A container that can write to its own programs.", hardening.writable_root),
    Rule("SG231", "low-user", INFO, _P, "A user ID below 10000.", hardening.low_user, history=hardening.low_user, staging=hardening.low_user),
    Rule("SG232", "cpu-limit", INFO, _P, "A Spark container without a CPU limit.", hardening.cpu_limit, servers.cpu_limit, servers.cpu_limit, servers.cpu_limit),
    Rule("SG233", "container-resources", WARNING, _P, "A sidecar or init container without requests and limits.", hardening.container_resources),
    Rule("SG234", "network-policy", WARNING, _P, "Pods that everyone can connect to.", hardening.network_policy, history=servers.network_policy, staging=servers.staging_network_policy),
    Rule("SG235", "exposed-ui", WARNING, _P, "A Spark UI that is reachable from outside the cluster.", hardening.exposed_ui, history=hardening.exposed_ui),
    Rule("SG236", "api-token", WARNING, _P, "A token for the Kubernetes API in a user container.", hardening.api_token),
    Rule("SG237", "secret-in-variable", INFO, _P, "A Secret in an environment variable.", hardening.secret_in_env, history=hardening.secret_in_env_of_server),
    Rule("SG238", "clear-traffic", INFO, _P, "Data that is sent unencrypted.", hardening.clear_traffic),
    Rule("SG239", "open-debugger", ERROR, _P, "A JVM that is open to a debugger.", hardening.open_debugger, hardening.open_debugger_of_server, hardening.open_debugger_of_server),
    Rule("SG240", "kill-in-ui", INFO, _P, "A UI in which everyone can kill jobs.", hardening.kill_in_ui),
    # reliability
    Rule("SG241", "deadline", WARNING, _P, "A run that may hang forever.", reliability.deadline),
    Rule("SG242", "driver-on-spot", WARNING, _P, "A driver on a node that may be reclaimed.", reliability.driver_on_spot),
    Rule("SG243", "executors-on-spot", WARNING, _P, "Executors on nodes that may be reclaimed, without decommissioning.", reliability.executors_on_spot),
    Rule("SG244", "short-grace", WARNING, _P, "Too little time to hand over data.", reliability.short_grace),
    Rule("SG245", "unbounded-scratch", WARNING, _P, "Scratch space that may fill a node's disk.", reliability.unbounded_scratch),
    Rule("SG246", "driver-priority", INFO, _P, "A driver without a priority.", reliability.driver_priority),
    Rule("SG247", "verbose-log", WARNING, _P, "A log level that logs too much.", reliability.verbose_log, reliability.verbose_log, reliability.verbose_log),
    Rule("SG248", "event-log", INFO, _P, "A run that leaves no event log.", reliability.event_log),
    Rule("SG249", "overlapping-runs", WARNING, _P, "Scheduled runs that may overlap.", reliability.overlapping_runs),
    Rule("SG250", "time-zone", WARNING, _P, "A schedule without a time zone.", reliability.time_zone),
    Rule("SG251", "late-start", INFO, _P, "A missed run that may start very late.", reliability.late_start),
    Rule("SG252", "disruption-budget", INFO, _P, "A driver that a drain evicts.", reliability.disruption_budget),
    Rule("SG253", "evictable-driver", WARNING, _P, "A driver that an autoscaler may evict.", reliability.evictable_driver),
    Rule("SG254", "required-labels", WARNING, _P, "A missing label that your settings require.", reliability.required_labels, reliability.required_labels, reliability.required_labels, reliability.required_labels),
    Rule("SG255", "unlimited-result", WARNING, _P, "Results without a size limit.", reliability.unlimited_result),
    Rule("SG256", "small-overhead", WARNING, _P, "Too little memory outside the heap for Python or R.", reliability.small_overhead),
    # what serves people
    Rule("SG257", "plain-ingress", WARNING, _P, "An Ingress without a certificate.", hardening.plain_ingress, history=hardening.plain_ingress, staging=servers.plain_staging_ingress),
    Rule("SG258", "endless-logs", WARNING, _P, "Event logs that nothing removes.", nothing, history=servers.endless_logs),
    Rule("SG259", "open-connect-server", WARNING, _P, "A Connect server without a token.", hardening.open_connect_server),
    # cost
    Rule("SG260", "large-pointers", INFO, _P + _C, "A heap just above 32g.", reliability.large_pointers, reliability.large_pointers_of_server, reliability.large_pointers_of_server),
    Rule("SG261", "fixed-fleet", WARNING, _C, "Many executors that stay until the end.", cost.fixed_fleet),
    Rule("SG262", "idle-executors", INFO, _C, "Executors that are kept long after their last task.", cost.idle_executors),
    Rule("SG263", "high-minimum", WARNING, _C, "A high minimum of executors.", cost.high_minimum),
    Rule("SG264", "over-requested-cpu", WARNING, _C, "More CPU than tasks can use.", cost.over_requested),
    Rule("SG265", "memory-per-core", WARNING, _C, "Much memory for few cores.", cost.memory_per_core),
    Rule("SG266", "small-executors", INFO, _C, "Many executors with one core.", cost.small_executors),
    Rule("SG267", "budget", ERROR, _C + _P, "More resources than one application may use.", cost.budget),
    Rule("SG268", "driver-gpu", WARNING, _C, "A GPU for the driver.", cost.driver_gpu),
    Rule("SG269", "large-driver", INFO, _C, "A very large driver.", cost.large_driver),
    # what applications share
    Rule(trust.CODE, "shared-shuffle-service", WARNING, _P, "A shuffle service that several namespaces share.", nothing, trust.many_namespaces),
    # Connect servers and notebooks
    Rule("SG271", "plain-connect-port", WARNING, _P, "A Connect server or notebook whose traffic leaves the cluster unencrypted.", hardening.plain_port),
    Rule("SG272", "notebook-without-claim", WARNING, _P, "A notebook whose files are lost with its pod.", reliability.notebook_without_claim),
    # Staging servers
    Rule("SG273", "plain-staging-server", WARNING, _P, "A staging server whose passwords are sent unencrypted.", nothing, staging=servers.plain_staging_server),
    Rule("SG274", "endless-artifacts", WARNING, _P, "Artifacts that nothing removes.", nothing, staging=servers.endless_artifacts),
    Rule("SG275", "single-staging-replica", INFO, _P, "A staging server without a second pod.", nothing, staging=servers.single_replica),
    # Kerberos
    Rule("SG276", "clear-tokens", ERROR, _P, "Tokens that are sent to executors unencrypted.", kerberos.clear_tokens),
    Rule("SG277", "ending-tokens", WARNING, _P, "Tokens that nothing renews.", kerberos.ending_tokens),
    Rule("SG278", "keytab-on-executors", ERROR, _P, "A keytab that a field other than `kerberos` passes on.", kerberos.spread_keytab),
    Rule("SG279", "login-by-hand", WARNING, _P, "A Kerberos login that only Spark uses.", kerberos.login_by_hand),
    Rule("SG280", "slow-encryption", WARNING, _P + _C, "HDFS data that is encrypted with a slow cipher.", cost.slow_encryption),
    # priorities
    Rule("SG282", "preemptible-driver", WARNING, _P, "A driver that executors may preempt.", reliability.preemptible_driver),
    # what recorded runs show (`--evidence`)
    Rule("SG283", "unused-memory", WARNING, _P + _C, "More than twice the memory that executors used.", recorded.unused_memory),
    Rule("SG284", "useless-executors", WARNING, _P + _C, "More executors than the application can use.", recorded.useless_executors),
    Rule("SG285", "held-executors", WARNING, _P + _C, "Idle executors that are kept for their shuffle output.", recorded.held_executors),
)
# fmt: on


def levels(profiles: Iterable[str]) -> dict[str, Severity]:
    """Code -> severity with these profiles, for their rules and all warnings of `validate`."""
    chosen = tuple(profiles)
    found = dict.fromkeys(validity_warnings(), WARNING)
    found |= {rule.code: rule.severity for rule in RULES if set(rule.profiles) & set(chosen)}
    for profile in chosen:
        found |= RAISED.get(profile, {})
    return found


@cache
def validity_warnings() -> tuple[str, ...]:
    """The codes of warnings of `sparkgen validate`, whose severity a policy may set, too.

    SG020 is not among them: validate, render and apply report it, and a policy for it would not be useful.
    """
    meaning = [rule.code for rule in semantics.RULES if rule.severity is WARNING]
    return ("SG008", "SG018", *meaning)


def check(
    document: Document, settings: Settings, evidence: tuple[Evidence, ...] = ()
) -> list[tuple[Problem, tuple[Edit, ...]]]:
    """The findings of all rules of all profiles in a valid document, each with the edits that would end it.

    `evidence`: the evidence of recorded runs, of this application and of others. All findings are warnings
    here, so that a comment can ignore them; the policy sets their severity later.
    """
    found: dict[Problem, tuple[Edit, ...]] = {}
    for rule, finding in findings_of(document.value, settings, evidence):
        found.setdefault(_problem(document, rule.code, finding), finding.fix)
    return list(found.items())


def check_together(documents: Sequence[Document]) -> list[tuple[int, Problem]]:
    """The findings that only several valid documents together show, each with the index of its document."""
    found = trust.shared_services([document.value for document in documents])
    return [(index, _problem(documents[index], trust.CODE, finding)) for index, finding in found]


def _problem(document: Document, code: str, finding: Finding) -> Problem:
    on_key = finding.on_key or document.node.find(finding.path) is None
    return problem(document.node, code, WARNING, replace(finding, on_key=on_key))


def findings_of(
    value: Mapping[str, Any],
    settings: Settings,
    evidence: tuple[Evidence, ...] = (),
    rules: Iterable[Rule] = RULES,
) -> Iterator[tuple[Rule, Finding]]:
    """Yields what the rules find in a valid document's value, in their order."""
    checked = column(value["kind"])
    server = value["kind"] in SERVER_KINDS
    subject = ServerSubject.of(value, settings) if server else Subject.of(value, settings, evidence)
    for rule in rules:
        yield from ((rule, finding) for finding in checked(rule)(subject))


def column(kind: str) -> Callable[[Rule], Any]:
    """Returns what takes a rule's check of documents of this kind from it."""
    return attrgetter(_COLUMNS.get(kind, "check"))


_COLUMNS = {SERVICE_KIND: "service", HISTORY_KIND: "history", STAGING_KIND: "staging"}
