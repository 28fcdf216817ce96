"""The table of all semantic rules, in the order of their codes. It is their specification.

An error is something that the API server or Spark would refuse or silently ignore. Everything else is a
warning, which a comment beside it can switch off. The Helm chart has the few rules with a `chart`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sparkgen.errors import Problem, Severity
from sparkgen.model import HISTORY_KIND, SERVICE_KIND, STAGING_KIND
from sparkgen.semantics import rules_access as access
from sparkgen.semantics import rules_conffiles as conffiles
from sparkgen.semantics import rules_connect as connect
from sparkgen.semantics import rules_containers as containers
from sparkgen.semantics import rules_delivery as delivery
from sparkgen.semantics import rules_eventlog as eventlog
from sparkgen.semantics import rules_executors as executors
from sparkgen.semantics import rules_exposure as exposure
from sparkgen.semantics import rules_historyserver as historyserver
from sparkgen.semantics import rules_kerberos as kerberos
from sparkgen.semantics import rules_lifecycle as lifecycle
from sparkgen.semantics import rules_metadata as metadata
from sparkgen.semantics import rules_names as names
from sparkgen.semantics import rules_pods as pods
from sparkgen.semantics import rules_program as program
from sparkgen.semantics import rules_properties as props
from sparkgen.semantics import rules_queue as queue
from sparkgen.semantics import rules_secrets as secrets
from sparkgen.semantics import rules_service as service
from sparkgen.semantics import rules_settings as settings
from sparkgen.semantics import rules_shuffle as shuffle
from sparkgen.semantics import rules_sizes as sizes
from sparkgen.semantics import rules_staging as staging
from sparkgen.semantics import rules_texts as texts
from sparkgen.semantics import rules_versions as versions
from sparkgen.semantics import rules_volumes as volumes
from sparkgen.semantics.facts import DocumentFacts, ServerFacts
from sparkgen.semantics.findings import Finding, Rule, nothing
from sparkgen.semantics.secret import redacted

if TYPE_CHECKING:
    from sparkgen.document.node import Document, Node

ERROR, WARNING = Severity.ERROR, Severity.WARNING

# ruff: noqa: E501 - a table reads best with one rule per line
# fmt: off
RULES: tuple[Rule, ...] = (
    # sizes, numbers and names
    Rule("SG101", "memory-size", ERROR, "A memory size that Spark cannot parse.", sizes.memory_sizes, service.memory_sizes, service.memory_sizes),
    Rule("SG102", "cpu", ERROR, "A CPU quantity that Kubernetes cannot parse.", sizes.amounts_of_cpu),
    Rule("SG103", "duration", ERROR, "A duration that Spark cannot parse.", sizes.durations, history=historyserver.durations),
    Rule("SG104", "name-too-long", ERROR, "A name that is too long for Kubernetes.", metadata.names_too_long),
    Rule("SG105", "factor", ERROR, "A factor that is not a decimal number above zero.", sizes.factors),
    Rule("SG106", "setting-value", ERROR, "A number or boolean that Spark cannot parse.", sizes.setting_values),
    Rule("SG107", "memory-without-unit", WARNING, "A heap size without a unit.", sizes.memory_without_unit),
    Rule("SG108", "memory-minimum", ERROR, "A heap that is too small for Spark to start.", sizes.memory_below_minimum),
    Rule("SG109", "request-above-limit", ERROR, "A request above its limit.", sizes.requests_above_limits),
    Rule("SG110", "template-resources", WARNING, "Resources that Spark's own settings override.", sizes.template_resources),
    # executors
    Rule("SG111", "executor-bounds", ERROR, "Executor counts that Spark refuses.", executors.executor_bounds),
    Rule("SG112", "executor-numbers", WARNING, "Executor counts that contradict each other.", executors.executor_numbers),
    Rule("SG113", "shuffle-data", ERROR, "Dynamic allocation that would lose shuffle data.", executors.shuffle_data),
    Rule("SG114", "allocation-timer", ERROR, "A dynamic allocation timeout that Spark refuses.", executors.allocation_timers),
    Rule("SG115", "task-cores", ERROR, "Tasks that need more cores than an executor has.", executors.task_larger_than_executor),
    Rule("SG116", "unbounded-executors", WARNING, "Dynamic allocation without an upper bound.", executors.unbounded),
    # secrets
    Rule("SG117", "secret-in-conf", WARNING, "A secret in plain text in a property or argument.", secrets.secrets_in_conf, service.secrets_in_conf, historyserver.secrets_in_conf),
    Rule("SG118", "secret-in-env", WARNING, "A secret in plain text in an environment variable.", secrets.secrets_in_env, history=historyserver.secrets_in_env),
    # properties
    Rule("SG119", "contradicted-setting", WARNING, "A property that contradicts a field.", settings.contradictions, service.contradictions, historyserver.contradictions),
    Rule("SG120", "moved-setting", ERROR, "A pod property that would be lost.", props.moved_settings, chart="money: a node selector, a toleration or a limit would be lost, and pods would run where they should not"),
    Rule("SG121", "unused-setting", WARNING, "A property that nothing reads.", props.unused_settings),
    Rule("SG122", "not-a-spark-property", ERROR, "A property that spark-submit drops.", settings.not_spark_properties),
    Rule("SG123", "hadoop-prefix", ERROR, "A property that Hadoop does not know.", settings.hadoop_prefixes),
    Rule("SG124", "java-options", ERROR, "A JVM option that Spark refuses.", settings.java_options),
    Rule("SG125", "setting-clash", ERROR, "Properties that cannot be combined.", settings.settings_that_clash),
    Rule("SG126", "lost-resource", WARNING, "A GPU that Spark expects but no pod gets.", settings.lost_resources),
    Rule("SG127", "shuffle-service", WARNING, "A shuffle service that executors cannot find.", executors.shuffle_service),
    Rule("SG128", "conf-file", ERROR, "A file in Spark's configuration directory that you cannot set.", conffiles.files),
    Rule("SG129", "conf-file-unread", WARNING, "A file in Spark's configuration directory that is not read everywhere.", conffiles.unread_files),
    # the program
    Rule("SG130", "type-and-file", WARNING, "A main file in another language.", program.type_against_file),
    Rule("SG131", "main-class-missing", ERROR, "A main class that spark-submit cannot determine.", program.main_class_missing),
    Rule("SG132", "main-class-in-manifest", WARNING, "A main class that only the jar can name.", program.main_class_in_manifest),
    Rule("SG133", "main-class-unused", WARNING, "A main class beside a Python or R file.", program.main_class_unused),
    Rule("SG134", "main-file", ERROR, "A script that spark-submit would treat as a jar.", program.main_file),
    Rule("SG135", "moving-tag", WARNING, "An image that can change without a change in Git.", versions.moving_tag, service.moving_tag, service.moving_tag, service.moving_tag),
    Rule("SG136", "spark-version", ERROR, "A Spark version without a scheduler jar.", versions.spark_version),
    Rule("SG137", "image-version", WARNING, "An image tagged with another Spark version.", versions.image_version, service.image_version, service.image_version),
    Rule("SG138", "scala-version", ERROR, "A Scala version that Spark was never built for.", versions.scala_version),
    Rule("SG139", "artifact-version", WARNING, "A library for another Scala or Spark version.", versions.artifact_versions),
    Rule("SG140", "coordinates", ERROR, "A package that is not a Maven coordinate.", versions.coordinates),
    Rule("SG141", "file-location", WARNING, "A file that is not where it seems to be.", program.file_locations),
    Rule("SG142", "unexpanded-text", WARNING, "A placeholder that nothing expands.", program.unexpanded),
    # the shuffle service
    Rule("SG143", "shuffle-service-name", ERROR, "A shuffle service without a name.", shuffle.names),
    Rule("SG144", "shuffle-service-secret", ERROR, "A shuffle service and a driver that cannot authenticate each other.", shuffle.secrets, chart="money: executors start and fail, one after another"),
    Rule("SG145", "host-ports", ERROR, "Host ports that executors cannot use.", shuffle.host_ports),
    Rule("SG146", "shuffle-pod-security", WARNING, "Pods that need directories and ports of the node.", shuffle.pod_security, service.pod_security),
    Rule("SG147", "shuffle-data-in-pod", WARNING, "Shuffle data that is lost with its executor.", shuffle.sidecar_data),
    Rule("SG148", "shuffle-setting", WARNING, "A setting that has no effect with the shuffle service.", shuffle.meaningless),
    Rule("SG149", "shuffle-group", WARNING, "Executors that cannot write to the shuffle service's directories.", shuffle.groups),
    # volumes
    Rule("SG150", "mount-without-volume", ERROR, "A mount of a volume that the pod does not have.", volumes.mounts_without_volume),
    Rule("SG151", "volume-twice", ERROR, "Two volumes with the same name.", volumes.volumes_twice),
    Rule("SG152", "volume-unused", WARNING, "A volume that no container mounts.", volumes.unused_volumes),
    Rule("SG153", "mount-clash", ERROR, "Mounts that Kubernetes refuses.", volumes.mount_clashes),
    Rule("SG154", "relative-mount", WARNING, "A mount path that is not absolute.", volumes.relative_mounts),
    Rule("SG155", "reserved-mount", ERROR, "A mount over a directory that is reserved for sparkgen.", volumes.reserved_mounts, chart="security: user code could read the allocator's token"),
    Rule("SG156", "hidden-spark", WARNING, "A mount that hides Spark's files.", volumes.hidden_spark),
    Rule("SG157", "host-path", WARNING, "A volume that mounts a directory of the node.", volumes.host_paths),
    Rule("SG158", "shuffle-directories", ERROR, "Shuffle service directories that overlap.", shuffle.directories, service.directories),
    Rule("SG159", "open-shuffle-service", WARNING, "A shuffle service that answers everyone.", nothing, service.open_to_all),
    # containers
    Rule("SG160", "reserved-name", ERROR, "A name that is reserved for sparkgen.", containers.reserved_names, chart="names: a container or volume would be merged into one of sparkgen's own"),
    Rule("SG161", "duplicate-name", ERROR, "Container or port names that clash.", containers.duplicate_names),
    Rule("SG162", "reserved-port", ERROR, "A port that is already in use.", containers.reserved_ports),
    Rule("SG163", "reserved-variable", ERROR, "An environment variable that sparkgen sets itself.", containers.reserved_variables),
    Rule("SG164", "variable-twice", WARNING, "An environment variable that is set twice.", containers.variables_twice),
    Rule("SG165", "variable-source", ERROR, "An environment variable that Kubernetes refuses.", containers.variable_sources),
    Rule("SG166", "shared-pod", ERROR, "A driver pod that would expose the allocator.", pods.shared_pods, chart="security: user code could reach the allocator from outside its container"),
    Rule("SG167", "root-user", ERROR, "A container that runs as root but must not.", pods.root_users, chart="a nightly run: the pod never starts, and its Job waits forever"),
    Rule("SG168", "template-replaced", WARNING, "A part of a template that is overridden.", pods.template_replaced),
    Rule("SG169", "template-account", ERROR, "A service account in a template, which would be lost.", pods.template_accounts),
    Rule("SG170", "token-in-template", WARNING, "A template that asks for Kubernetes credentials.", pods.tokens),
    # metadata and scheduling
    Rule("SG171", "label-syntax", ERROR, "A label or annotation that Kubernetes refuses.", metadata.label_syntax),
    Rule(
        "SG172",
        "owned-label",
        WARNING,
        "A label or annotation that sparkgen or a controller owns.",
        metadata.owned_labels,
    ),
    Rule("SG173", "toleration", ERROR, "A toleration that Kubernetes refuses.", metadata.tolerations),
    # the event log
    Rule("SG174", "event-log-directory", ERROR, "An event log directory that Spark cannot write to.", eventlog.directories, history=eventlog.history_directories),
    Rule("SG175", "event-log-lost", WARNING, "An event log that is lost with the driver.", eventlog.lost),
    Rule("SG176", "read-only-cleaner", WARNING, "A history server that cannot remove anything.", nothing, history=historyserver.cleaner_without_section),
    Rule("SG177", "path-of-ui", ERROR, "A path at which the Spark UI stays empty.", exposure.paths, history=exposure.server_paths),
    # Spark's version and user
    Rule("SG178", "untested-spark", WARNING, "A Spark version that sparkgen was not tested with.", versions.untested_spark),
    Rule("SG179", "proxy-user", WARNING, "An environment variable that contradicts the proxy user.", conffiles.proxy_users),
    # when it runs
    Rule("SG180", "schedule", ERROR, "A schedule that Kubernetes refuses.", lifecycle.schedules, staging=staging.schedules),
    Rule("SG181", "surprising-schedule", WARNING, "A schedule that does not do what it seems to do.", lifecycle.surprising_schedules),
    Rule("SG182", "time-zone", ERROR, "A time zone that Kubernetes refuses.", lifecycle.time_zones),
    Rule("SG183", "unknown-time-zone", WARNING, "A time zone that sparkgen does not know.", lifecycle.unknown_time_zones),
    Rule("SG184", "moment", ERROR, "A time that is not in RFC 3339 format.", lifecycle.moments),
    Rule("SG185", "job-field", ERROR, "A deadline or a time to live on a Deployment.", lifecycle.job_fields_of_a_deployment, chart="money: nothing ends the application at its deadline"),
    Rule("SG186", "always-on-schedule", ERROR, "A scheduled application that always restarts.", lifecycle.always_on_a_schedule),
    Rule("SG187", "retries", WARNING, "Retries that never happen.", lifecycle.retries),
    Rule("SG188", "time-to-live", WARNING, "A finished run that deletes itself.", lifecycle.time_to_live),
    Rule("SG189", "meaningless-field", WARNING, "A field that has no effect here.", lifecycle.fields_without_meaning),
    # accounts and the rest
    Rule("SG190", "two-accounts", ERROR, "Two service accounts for the driver.", access.contradicting_accounts, chart="security: the permissions would go to `driver.serviceAccount`, although `serviceAccount.name` names another account"),
    Rule("SG191", "missing-account", WARNING, "A service account that is neither rendered nor named.", access.missing_accounts),
    Rule("SG192", "account-annotations", ERROR, "Annotations of a service account that is not rendered.", access.lost_account_annotations),
    Rule("SG193", "budget-with-both", ERROR, "A disruption budget with both a minimum and a maximum.", access.budget_with_both),
    Rule("SG194", "budget-of-job", WARNING, "A disruption budget that Kubernetes cannot compute.", access.budget_of_a_job),
    Rule("SG195", "logger-name", WARNING, "A logger whose name is a setting of Log4j.", lifecycle.loggers),
    Rule("SG196", "shared-name", ERROR, "A name that would give one object two owners.", names.shared_names, names.shared_server_names, names.shared_server_names, names.shared_server_names, chart="names and security: one object would replace another; or, with an account named `default`, every pod without its own account would get permissions"),
    Rule("SG197", "unrepresentable-text", ERROR, "A string with a character that is not allowed.", texts.unrepresentable, texts.unrepresentable_of_server, texts.unrepresentable_of_server, texts.unrepresentable_of_server),
    # Connect servers
    Rule("SG198", "connect-token", ERROR, "A token for a Connect server of Spark 3.", connect.unknown_tokens, chart="security: anyone who reaches the server could run code with its permissions"),
    Rule("SG199", "connect-setting", ERROR, "A setting that breaks a Connect server.", connect.own_settings),
    Rule("SG301", "connect-package", WARNING, "A Connect server without its package.", connect.missing_package),
    # Notebooks
    Rule("SG302", "notebook-setting", ERROR, "A setting that a notebook cannot have.", connect.notebook_settings),
    Rule("SG303", "connect-server-for-all", WARNING, "A Connect server that lets everyone in.", connect.open_to_all),
    # queues
    Rule("SG304", "queue-without-effect", WARNING, "A queue that is bypassed, or queue settings that nothing reads.", queue.queues),
    # Local files
    Rule("SG310", "cache-without-volume", ERROR, "An artifact cache in a volume that does not exist.", delivery.cache_without_volume),
    Rule("SG311", "delivery-setting-without-effect", WARNING, "A `fetch` setting that nothing reads.", delivery.settings_without_fetch),
    # Staging servers
    Rule("SG313", "collection-without-claim", ERROR, "Garbage collection on an object store, which does not support it.", nothing, staging=staging.collection_without_claim),
    Rule("SG314", "node-port-without-type", ERROR, "A node port for a Service that cannot have one.", nothing, staging=staging.node_ports),
    Rule("SG315", "same-node-port", ERROR, "The same node port for two Services.", nothing, staging=staging.same_node_port),
    # Gangs
    Rule("SG316", "gang-never-complete", ERROR, "A gang that is never complete, or a queue that cannot exist.", queue.gangs),
    # Kerberos
    Rule("SG317", "kerberos-login", ERROR, "A Kerberos login that cannot work.", kerberos.logins),
    Rule("SG318", "somebody-else", ERROR, "A proxy user that Spark would ignore.", kerberos.somebody_else, chart="security: the application would silently act as another user"),
    # the shuffle service again
    Rule("SG319", "janitor-account", WARNING, "A janitor that no application lets look at its pods.", nothing, service.accounts),
    # accounts again
    Rule("SG320", "default-account", WARNING, "Permissions for every pod without an account of its own.", access.default_account),
)

RULES_OF_FILES: tuple[Rule, ...] = (
    Rule("SG306", "not-pushed", ERROR, "Local files that were not pushed.", delivery.not_pushed, chart="a nightly run: each driver would fail because its program is missing"),
    Rule("SG307", "pushed-otherwise", ERROR, "Local files that are not in the pushed artifact.", delivery.pushed_otherwise, chart="a nightly run: each driver would fail because a file is missing"),
)
"""Rules about local files that need only the document. If the files can be read, `usecases/local_files.py`
finds these problems and those that only the files show, and knows which command to run."""
# fmt: on


_CHECKS_OF_SERVERS = {
    SERVICE_KIND: attrgetter("service"),
    HISTORY_KIND: attrgetter("history"),
    STAGING_KIND: attrgetter("staging"),
}
"""Kind -> a rule's check of such a document."""


def findings_of(value: Mapping[str, Any], rules: Iterable[Rule] = RULES) -> list[tuple[Rule, Finding]]:
    """Returns all findings in a document's value that the schema accepts, in the order of the rules."""
    of_server = _CHECKS_OF_SERVERS.get(value["kind"])
    if of_server is not None:
        server = ServerFacts.of(value)
        return [(rule, finding) for rule in rules for finding in of_server(rule)(server)]
    facts = DocumentFacts.of(value)
    return [(rule, finding) for rule in rules for finding in rule.check(facts)]


def problem(node: Node, code: str, severity: Severity, finding: Finding) -> Problem:
    """Returns a finding in a document as a problem, at its place in the text."""
    locate = node.locate_key if finding.on_key else node.locate
    return Problem(
        code,
        severity,
        locate(finding.path),
        finding.path,
        redacted(finding.message),
        redacted(finding.found),
        finding.allowed,
        redacted(finding.next_step),
    )


def check(document: Document) -> list[Problem]:
    """Returns the problems that the rules find in a schema-valid document, in the order of its text."""
    problems = [
        problem(document.node, rule.code, rule.severity, finding)
        for rule, finding in findings_of(document.value)
    ]
    return sorted(problems, key=lambda problem: problem.sort_key)
