"""Converts kubeflow's `monitoring` to fields of the two roles with the same effect."""

from __future__ import annotations

from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import Take


def monitoring(given: Take) -> None:
    """Convert metrics. Without `prometheus`, the operator does nothing; with it, a Java agent serves them."""
    prometheus = given.node.entries.get("prometheus")
    if prometheus is None or not prometheus.is_mapping:
        given.needless("the operator ignores it without `prometheus`")
        return
    served = _agent(given.at("prometheus"), given)
    for field, child in given.node.entries.items():
        part = given.at(field)
        if field in _EXPOSED:
            if child.value is not True:
                part.needless("not enabled")
            elif served:
                part.tell(Outcome.REWRITTEN, ("spec", _EXPOSED[field], "javaOptions"))
            else:
                part.lost("the exporter could not be converted", "see the finding for `prometheus`")
        elif field == "metricsProperties":
            part.put(("spec", "monitoring", "metricsProperties"), child.value)
        elif field == "metricsPropertiesFile":
            part.put(("spec", "sparkConf", "spark.metrics.conf"), child.value)
        elif field != "prometheus":
            part.lost("unknown field in this format", "find its purpose, and set that by hand")


_EXPOSED = {"exposeDriverMetrics": "driver", "exposeExecutorMetrics": "executor"}
"""Field of `monitoring` -> the role whose metrics it exposes."""


def _agent(given: Take, section: Take) -> bool:
    """Add the exporter's Java agent to the roles whose metrics are exposed. Returns whether a role has it."""
    values = {name: child.value for name, child in given.node.entries.items()}
    jar, file, port = values.get("jmxExporterJar"), values.get("configFile"), values.get("port") or 8090
    roles = [role for field, role in _EXPOSED.items() if section.node.value.get(field) is True]
    if not roles:
        given.needless("no metrics are exposed")
        return False
    if not jar or not file:
        given.lost(
            "the operator writes the exporter's configuration to its own ConfigMap",
            "add the file to the image or to a ConfigMap (`configMaps`); in both roles, add "
            f"`-javaagent:{jar or 'JAR'}={port}:FILE` to `javaOptions` and {port} to `ports`",
        )
        return False
    for role in roles:
        _expose(given, role, f"-javaagent:{jar}={port}:{file}", port, str(values.get("portName") or ""))
    for name in given.node.entries:
        if name == "configuration":
            given.at(name).needless("`configFile` takes precedence")
        else:
            given.at(name).tell(Outcome.REWRITTEN, ("spec", roles[0], "javaOptions"))
    return True


def _expose(given: Take, role: str, agent: str, port: int, name: str) -> None:
    spec = ("spec", role)
    options = given.draft.get(*spec, "javaOptions")
    given.draft.put((*spec, "javaOptions"), f"{options} {agent}" if options else agent)
    given.draft.put(
        (*spec, "ports"), [{"name": name or "jmx-exporter", "containerPort": port, "protocol": "TCP"}]
    )
    scrape = {"scrape": "true", "port": str(port), "path": "/metrics"}
    for key, text in scrape.items():
        given.draft.put((*spec, "annotations", f"prometheus.io/{key}"), text)
