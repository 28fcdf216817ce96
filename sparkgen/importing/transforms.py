"""Conversions that a table's row cannot express: functions from a value and its place to the draft."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sparkgen.document import Node
from sparkgen.importing.draft import Property, Source
from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import NOTHING, ROLES, Take, copy

_TTL_STEP = "if a GitOps tool applies the manifests, delete the field; `run.history` removes ended runs"
_WAITS = "Kubernetes waits 10 s, 20 s, 40 s and so on"


def properties(given: Take) -> None:
    """Collect Spark properties; they are placed later, when all typed fields are set."""
    for key in given.node.entries:
        item = given.at(key)
        text = text_of(item)
        if text is not None:
            given.draft.properties.append(Property(key, text, item.path, item.node.position))


def text_of(given: Take) -> str | None:
    """Returns the text of a scalar; None for other values, which are reported."""
    node = given.node
    if node.value is None:
        given.needless(NOTHING)
    elif node.is_mapping:
        given.lost("must be a string, not a mapping", "write it as one string")
    elif node.is_list:
        given.lost("must be a string, not a list", "write it as one string, with commas between the items")
    else:
        return node.text
    return None


def both_roles(given: Take) -> None:
    """Copy an entry of a mapping to driver and executors; a role's own value takes precedence."""
    key = given.keys[0]
    placed = []
    for role in ROLES:
        target = ("spec", role, str(given.target[-2]), key)
        if key not in (given.draft.get(*(str(part) for part in target[:-1])) or {}):
            given.draft.copy(target, given.node.value, Source(given.path, given.node))
            placed.append(target)
    if placed:
        given.tell(Outcome.CARRIED, placed[0])
    else:
        given.needless("each role has its own value, which takes precedence")


def listed_variables(given: Take) -> None:
    """Convert a mapping of variables to a list."""
    for key, child in given.node.entries.items():
        item = given.at(key)
        if child.value is None:
            _variable(item, {"name": key})  # Kubernetes sets it to ""
        elif (text := text_of(item)) is not None:
            _variable(item, {"name": key, "value": text})


def listed_secret_variables(given: Take) -> None:
    """Convert a mapping from variables to keys of Secrets to a list."""
    for key, child in given.node.entries.items():
        reference = {name: item.value for name, item in child.entries.items()}
        _variable(given.at(key), {"name": key, "valueFrom": {"secretKeyRef": reference}})


def _variable(given: Take, variable: dict[str, Any]) -> None:
    target = ("spec", given.role, "env")
    if given.draft.item(target, variable["name"]) is not None:
        given.lost("`env` also has a variable of this name", "keep one of the two")
        return
    given.append(target, variable)


OwnFields = Callable[[Take, Mapping[str, Any]], Mapping[str, Any]]


def template(given: Take, own_fields: OwnFields | None = None) -> None:
    """Convert a pod template: its account gets its own field; Spark's container gets the name it must have.

    `own_fields`: gets Spark's place and container, and returns the container without fields that go
    elsewhere.
    """
    spec = given.node.find(("spec",))
    if spec is None or not spec.is_mapping:
        copy(given)
        return
    value = {**given.node.value, "spec": dict(spec.value)}
    field = ("spec", given.role, "serviceAccount")
    named, old = (spec.entries.get(key) for key in ("serviceAccountName", "serviceAccount"))
    if named is not None and named.text and old is not None:
        del value["spec"]["serviceAccount"]
        given.at("spec", "serviceAccount").needless("`serviceAccountName` takes precedence")
        old = None
    for key, account in (("serviceAccountName", named), ("serviceAccount", old)):
        if account is None or not account.text or given.draft.get(*field) is not None:
            continue
        del value["spec"][key]
        if _account_property(given):
            given.at("spec", key).needless("the account in `sparkConf` takes precedence, as for Spark")
        else:
            given.at("spec", key).put(field, account.text)
    wanted = f"spark-kubernetes-{given.role}"
    index = spark_container(spec, wanted, _container_name(given))
    if index is not None:
        item = spec.value["containers"][index]
        containers = value["spec"]["containers"] = list(spec.value["containers"])
        place = given.at("spec", "containers", index)
        containers[index] = {**(own_fields(place, item) if own_fields else item), "name": wanted}
    given.put(given.target, value)
    if index is not None and item.get("name") != wanted:
        was = f"the container {item['name']!r}" if item.get("name") else "the first container"
        name = place.at("name") if item.get("name") else place
        name.tell(Outcome.REWRITTEN, given.target, f"{was} is Spark's, and is renamed to {wanted}")


def spark_container(spec: Node, wanted: str, chosen: str = "") -> int | None:
    """Returns the index of Spark's container in a template's spec; None if there is none.

    Native Spark uses the container that a property names, or else the first
    (KubernetesUtils.selectSparkContainer).
    """
    containers = spec.entries.get("containers")
    items = containers.items if containers is not None else []
    names = [item.value.get("name") if item.is_mapping else None for item in items]
    if not items or not all(item.is_mapping for item in items):
        return None
    return next((names.index(name) for name in (wanted, chosen) if name in names), 0)


def _account_property(given: Take) -> bool:
    """Whether a property names the role's account, so that Spark ignores the template's.

    An executor keeps the account in its template's old field `serviceAccount`
    (ExecutorKubernetesCredentials).
    """
    name = f"spark.kubernetes.authenticate.{given.role}.serviceAccountName"
    kept = given.role == "executor" and given.node.find(("spec", "serviceAccount")) is not None
    return not kept and any(item.name == name for item in given.draft.properties)


def _container_name(given: Take) -> str:
    name = f"spark.kubernetes.{given.role}.podTemplateContainerName"
    return next((item.text for item in given.draft.properties if item.name == name), "")


def restart(given: Take) -> None:
    """Convert kubeflow's restart policy. `OnFailure` without a count has no retries, there as here."""
    kind = given.node.entries.get("type")
    word = kind.text if kind is not None and kind.text else "Never"
    for field, child in given.node.entries.items():
        part = given.at(field)
        if child.value is None:
            part.needless("has no value")
        elif field == "type":
            _restart_type(part, word)
        elif field == "onFailureRetries":
            if word == "OnFailure":
                part.put(("spec", "restartPolicy", "onFailureRetries"), child.value)
            else:
                part.needless(f"the operator reads it only with OnFailure, and the type is {word}")
        elif field.startswith("onSubmissionFailure"):
            part.needless("sparkgen does not submit, so no submission can fail")
        elif field == "onFailureRetryInterval":
            if word == "Never":
                part.needless("the policy has no retries")
            else:
                part.lost(f"the time between retries cannot be set: {_WAITS}", "delete it")
        else:
            part.lost("unknown field in this format", "find its purpose, and set that by hand")


def _restart_type(given: Take, word: str) -> None:
    target = ("spec", "restartPolicy", "type")
    if word != "Always":
        given.put(target, word)
    elif given.draft.scheduled:
        given.lost(
            "a scheduled run cannot restart without a limit", "delete it; the schedule starts the next run"
        )
    else:
        given.put(
            target,
            word,
            Outcome.CHANGED,
            "becomes a Deployment: the driver always restarts, without a limit",
        )


def time_to_live(given: Take) -> None:
    """Convert the time after which an ended application is deleted: the resource there, the Job here."""
    policy = given.draft.get("spec", "restartPolicy", "type")
    if policy == "Always":
        given.lost("a Deployment never ends, so it is never deleted", "delete it")
        return
    _put_time_to_live(given, given.node.value)


def _put_time_to_live(given: Take, seconds: Any) -> None:
    """Set the time after which a Job is deleted; a schedule's Job stays deleted, as in the input."""
    if given.draft.scheduled:
        given.put(given.target, seconds)
        return
    reason = "deletes the driver's Job; Argo CD and Flux create it again, and it runs again"
    given.put(given.target, seconds, Outcome.CHANGED, reason, _TTL_STEP)


def milliseconds_to_live(given: Take) -> None:
    """Convert a time in milliseconds to whole seconds, rounded up; a negative time means forever."""
    value = given.node.value
    if not isinstance(value, int) or isinstance(value, bool):
        given.lost("not a whole number", "set `timeToLiveSeconds`")
    elif value < 0:
        given.needless("a negative value means that nothing is deleted")
    else:
        _put_time_to_live(given, math.ceil(value / 1000))


def schedule(given: Take) -> None:
    """Convert a cron expression of robfig/cron. Kubernetes has its own field for the time zone."""
    text = given.node.text.strip()
    zone = ""
    if text.startswith(("CRON_TZ=", "TZ=")):
        head, _, text = text.partition(" ")
        zone = head.partition("=")[2]
        given.draft.put(("outer", "timeZone"), zone)
    if text.startswith("@every"):
        given.put(
            given.target,
            text,
            Outcome.CHANGED,
            "counts from the creation of the CronJob; for times of the clock, use for example */15 * * * *",
        )
        return
    if zone:
        given.put(given.target, text.strip(), Outcome.REWRITTEN, "the time zone has its own field")
    else:
        given.put(given.target, text)


def time_zone(given: Take) -> None:
    """Copy the name of a time zone; `Local` is that of the operator's pod, usually UTC."""
    if given.node.text == "Local":
        given.needless("`Local` is the time zone of the controller, as in the input")
    elif given.draft.get("outer", "timeZone"):
        given.needless("the time zone in the schedule takes precedence")
    else:
        copy(given)


def disruption_budget(given: Take) -> None:
    """Convert a budget for the driver. sparkgen renders one kind, which keeps the one driver."""
    if given.node.value is False:
        given.needless("no budget is requested")
        return
    target = ("spec", "podDisruptionBudget")
    given.draft.put(target, {"enabled": True})
    if given.node.value is True:
        given.tell(Outcome.CARRIED, target)
    else:
        given.tell(Outcome.CHANGED, target, "protects the one driver, whatever numbers the input has")


def batch_scheduler(given: Take) -> None:
    """Convert a scheduler for groups of pods; the pods get the name of one that sparkgen does not know."""
    name, target = given.node.text, ("spec", "batchScheduler")
    if name == "kube-scheduler":
        reason = "a gang of Kubernetes (1.36) replaces the PodGroup of the coscheduling plugin"
        given.put(target, name, Outcome.CHANGED, reason)
        return
    if name in ("volcano", "yunikorn"):
        given.put(target, name)
        return
    for role in ROLES:
        if given.draft.get("spec", role, "schedulerName") is None:
            given.draft.put(("spec", role, "schedulerName"), given.node.text)
    given.tell(
        Outcome.CHANGED,
        ("spec", "driver", "schedulerName"),
        "the scheduler gets single pods: the operator's group (gang) is not created",
        "create the group or queue that the scheduler needs, and set it in labels or annotations",
    )


def comma_list(given: Take) -> None:
    """Convert a text with commas to a list."""
    given.put(given.target, [part.strip() for part in given.node.text.split(",") if part.strip()])
