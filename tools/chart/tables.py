"""The tables of the generator that the chart follows: charts/spark-app/files/tables.json.

Nothing that is a table is written in Helm's language. `make golden` writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from chart import hooks
from sparkgen import contract, names
from sparkgen.grammar import duration, memory
from sparkgen.model import completion, connect, delivery, kerberos, properties
from sparkgen.model import historyserver as historyserver_model
from sparkgen.model import logarchive as logarchive_model
from sparkgen.model import shuffle as shuffle_model
from sparkgen.model import staging as staging_model
from sparkgen.model.batch import DEFAULT_QUEUE
from sparkgen.model.build import DEFAULT_HISTORY, GITOPS
from sparkgen.properties.older import older_names
from sparkgen.resources import (
    batch,
    conf,
    executor,
    exposure,
    fill,
    gitops,
    historyserver,
    layers,
    logarchive,
    merge,
    object_layers,
    pod,
    requests,
    run,
    security,
    server,
    service,
    shuffle,
    spark_backend,
    staging,
    staging_layers,
)
from sparkgen.semantics import rules_kerberos, rules_pods
from sparkgen.semantics.findings import APPLICATION, rules_for
from sparkgen.semantics.registry import RULES, RULES_OF_FILES

Table = dict[str, Any]

SERVERS = {
    shuffle_model.SERVICE_KIND: "service",
    historyserver_model.HISTORY_KIND: "historyServer",
    staging_model.STAGING_KIND: "stagingServer",
}
"""Kind of what is no application -> how the names of its templates begin."""

TUNING_COUNTS = {
    "batchSize": "spark.kubernetes.allocation.batch.size",
    "maxPendingPods": "spark.kubernetes.allocation.maxPendingPods",
    "maxExecutorFailures": "spark.executor.maxNumFailures",
}
TUNING_DURATIONS = {
    "batchDelayMs": "spark.kubernetes.allocation.batch.delay",
    "executorTimeoutMs": "spark.kubernetes.allocation.executor.timeout",
    "executorFailuresValidityIntervalMs": "spark.executor.failuresValidityInterval",
}


def tables() -> Table:
    """All tables, as values of JSON."""
    return {**_contract(), **_resources(), **_grammars(), **_semantics()}


def _contract() -> Table:
    constants = {
        name: value
        for name, value in vars(contract).items()
        if name.isupper() and isinstance(value, str | int | tuple)
    }
    return {
        "contract": constants,
        "runPlaceholder": names.RUN_PLACEHOLDER,
    }


def _resources() -> Table:
    return {
        "appended": sorted(merge.APPENDED),
        "gatewayApi": object_layers.GATEWAY_API,
        "changeable": run.CHANGEABLE,
        "contractProperties": conf.CONTRACT_PROPERTIES,
        "allocatorMaster": conf.MASTER,
        "sparkProperties": spark_backend.PROPERTIES,
        "sparkPassed": spark_backend.PASSED,
        "resourceTypes": spark_backend.RESOURCE_TYPES,
        "artifactNames": delivery.ARTIFACT_NAMES,
        "deliveredLists": delivery.DELIVERED_LISTS,
        "deliveredListsInOrder": list(delivery.DELIVERED_LISTS),
        "deliveredMainFile": delivery.DELIVERED_MAIN_FILE,
        "dependencies": delivery.DEPENDENCIES,
        "decommissionScript": executor.DECOMMISSION_SCRIPT,
        "preferIPv6": executor.PREFER_IPV6,
        "eventLogDefaults": properties.EVENT_LOG_DEFAULTS,
        "redirectProperties": exposure.REDIRECT,
        "fixedPorts": sorted(executor.FIXED_PORTS),
        "rpcPasswords": executor.RPC_PASSWORDS,
        "defaultHistory": DEFAULT_HISTORY,
        "ivyDir": conf.IVY_DIR,
        "kerberos": _kerberos(),
        "loginFields": list(kerberos.LOGINS),
        "logArchive": {
            "interval": logarchive_model.INTERVAL,
            "maxSize": logarchive_model.MAX_SIZE,
            "store": logarchive_model.STORE,
            "scheme": logarchive_model.SCHEME,
            "resources": logarchive.RESOURCES,
        },
        "layers": {name: marked(layer) for name, layer in ALL_LAYERS.items()},
        "mainContainer": pod.MAIN_CONTAINER,
        "mergeKeys": merge.MERGE_KEYS,
        "podSecurity": security.POD_SECURITY,
        "restricted": security.RESTRICTED,
        "runtimeResources": layers.DEFAULT_RUNTIME_RESOURCES,
        "secretTypes": pod.SECRET_TYPES,
        **_servers(),
        **_batch(),
        **_completions(),
        **_gitops(),
        "steps": _steps(),
        "thousandths": _countable(requests.THOUSANDTHS),
        "tunable": sorted(properties.TUNABLE),
        "tuningCounts": TUNING_COUNTS,
        "tuningDurations": TUNING_DURATIONS,
        "typedProperties": {name: path for path, name in properties.TYPED_PROPERTIES.items()},
        "whole": sorted(merge.WHOLE),
    }


def _batch() -> Table:
    return {
        "defaultQueue": DEFAULT_QUEUE,
        "gangRatio": {
            "ratio": batch.RATIO,
            "patience": batch.PATIENCE,
            "forEver": batch.FOR_EVER,
            "parts": batch.PARTS,
        },
        "placement": batch.PLACEMENT,
        "podGroups": f"{contract.POD_GROUPS_OF_VOLCANO}/podgroups",
        "taskGroups": batch.TASK_GROUPS,
    }


def _completions() -> Table:
    return {
        "completions": {
            kind: {
                "section": one.section,
                "applicationFields": one.application_fields,
                "defaultProperties": one.default_properties,
                "sectionProperties": one.section_properties,
                "contractProperties": one.contract_properties,
            }
            for kind, one in completion.COMPLETIONS.items()
        },
        "completedAllocation": completion.DYNAMIC_ALLOCATION,
        "connectKind": connect.CONNECT_KIND,
        "connectTokenProperty": connect.TOKEN_PROPERTY,
    }


def _gitops() -> Table:
    return {
        "gitops": GITOPS,
        "historyAnnotations": gitops.HISTORY_ANNOTATIONS,
        "jobAnnotations": gitops.JOB_ANNOTATIONS,
        "keptKinds": gitops.KEPT_KINDS,
        "listAnnotations": gitops.LISTS,
        "runAnnotations": gitops.RUN_ANNOTATIONS,
        "serverSide": gitops.SERVER_SIDE,
        "syncOptions": gitops.SYNC_OPTIONS,
        "verbatim": gitops.VERBATIM,
    }


ALL_LAYERS = {
    **layers.LAYERS,
    **object_layers.OBJECT_LAYERS,
    **staging_layers.STAGING_LAYERS,
    **hooks.HOOK_LAYERS,
}


def marked(part: Any) -> Any:
    """A part of a layer as the chart fills it: what holds no place stands apart, so that nobody searches it.

    `@fixed` is all of a part, or of a map, that has no place; `@places` is the rest of the map.
    `@value` is the path of a value, `@items` of one whose items are meant, and `@if` of a condition.
    A text that stays one has places inside.
    """
    if "@" not in json.dumps(part):
        return {"@fixed": part}
    if isinstance(part, Mapping):
        members = {key: marked(member) for key, member in part.items() if key != "@if"}
        fixed = {key: part[key] for key, member in members.items() if "@fixed" in member and len(member) == 1}
        places = {key: member for key, member in members.items() if key not in fixed}
        condition = {"@if": part["@if"].split(".")} if "@if" in part else {}
        return {"@fixed": fixed, "@places": places, **condition}
    if isinstance(part, str):
        if part.startswith("@{*"):
            return {"@items": part[3:-1].split(".")}
        return {"@value": part[2:-1].split(".")} if fill.PLACE.fullmatch(part) else part
    return [marked(item) for item in part]


def _kerberos() -> Table:
    return {
        "anyRenewer": kerberos.ANY_RENEWER,
        "authentication": kerberos.AUTHENTICATION,
        "credentialsProperty": kerberos.CREDENTIALS_PROPERTY,
        "defaults": kerberos.DEFAULTS,
        "keytab": kerberos.KEYTAB,
        "keytabProperty": kerberos.KEYTAB_PROPERTY,
        "logins": kerberos.LOGINS,
        "loginProperties": rules_kerberos.PROPERTIES,
        "principalProperty": kerberos.PRINCIPAL_PROPERTY,
        "renewer": kerberos.RENEWER,
        "ticketCache": kerberos.TICKET_CACHE,
        "token": kerberos.TOKEN,
    }


def _countable(thousandths: Mapping[str, tuple[int, int]]) -> Table:
    """Those that fit Go's integers: the chart refuses the others."""
    return {suffix: pair for suffix, pair in thousandths.items() if pair[0] < 2**63}


def _servers() -> Table:
    return {
        "cleanerProperties": historyserver_model.CLEANER_PROPERTIES,
        "historyFilters": historyserver.FILTERS,
        "historyHeap": historyserver_model.HISTORY_HEAP,
        "historyRequest": historyserver.HISTORY_REQUEST,
        "collectionDefaults": staging_model.COLLECTION_DEFAULTS,
        "lockedPush": staging.LOCKED_COMMAND,
        "plainPush": staging.PLAIN_COMMAND,
        "registryImage": staging_model.IMAGE,
        "registryResources": staging.REGISTRY_RESOURCES,
        "stagingReplicas": staging_model.REPLICAS,
        "stagingSides": (*staging_model.SIDES, staging_layers.GC),
        "sweepCommand": staging.SWEEP_COMMAND,
        "sweepDryRun": staging.DRY_RUN,
        "janitorDefaults": shuffle_model.JANITOR_DEFAULTS,
        "serverConfigAnnotation": server.CONFIG_ANNOTATION,
        "serverKinds": SERVERS,
        "serviceHeap": shuffle_model.SERVICE_HEAP,
        "serviceRequest": service.SERVICE_REQUEST,
        "shuffleDefaults": shuffle.NODE_DEFAULTS,
        "shuffleDirectory": shuffle_model.DIRECTORY,
        "shuffleHostPorts": shuffle_model.HOST_PORTS,
        "sidecarHeap": shuffle_model.SIDECAR_HEAP,
        "sidecarRequest": shuffle.SIDECAR_REQUEST,
    }


def _steps() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Role -> its steps in their order; `perRun` starts with the first one that holds the run's name.

    What is before it is the same for every run.
    """
    found = {}
    for role, steps in layers.STEPS.items():
        start = ["@{run" in json.dumps(layers.LAYERS[step]) for step in steps].index(True)
        found[role] = {"once": steps[:start], "perRun": steps[start:]}
    return found


def _grammars() -> Table:
    return {"bytes": memory.UNITS, "microseconds": duration.UNITS}


def _semantics() -> Table:
    every = sorted((*RULES, *RULES_OF_FILES), key=lambda rule: rule.code)
    return {
        "rules": {
            name: [rule.code for rule in rules_for(kind, every) if rule.chart]
            for kind, name in {APPLICATION: "", **SERVERS}.items()
        },
        "olderNames": older_names(),
        "passedSettings": conf.PASSED_KUBERNETES,
        "setBySparkgen": conf.SET_BY_SPARKGEN,
        "reservedSuffixes": names.RESERVED_SUFFIXES,
        "sharedPods": rules_pods.SHARED,
    }
